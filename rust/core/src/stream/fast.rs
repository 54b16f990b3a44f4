//! The fast path: frames that a template recognises are folded without being parsed.

use super::Assembler;
use super::held::Pending;
use super::scratch::Scratch;
use crate::error::Error;
use crate::fold::Fold;
use crate::json::scan::flag;
use crate::template::{Compared, Look, Marks, NONE, Progress, Read, SUCCESSORS, Template};

/// Bytes that may be looked at in vain at first, and at most.
pub(super) const ALLOWANCE: usize = 32 << 10;

impl Assembler {
    /// Takes events from `at` on, where one begins, as long as a template recognises them; what the input holds of a last
    /// one is kept.
    pub(super) fn recognise(&mut self, input: &[u8], at: &mut usize, scratch: &mut Scratch) {
        while !self.fold.done && self.error.is_none() && *at < input.len() {
            let failed = self.recognise_again(input, at, scratch);
            if self.error.is_some() || *at == input.len() {
                break;
            }
            let rest = input.get(*at..).unwrap_or_default();
            let likely = scratch.shelf.get(scratch.shelf.likely(self.template, 0));
            let length = likely.map_or(0, |(template, _)| template.missing(&Progress::default()));
            if rest.len() < length && self.holds_unseen(rest) {
                *at = input.len();
                break;
            }
            if !self.recognise_event(input, at, failed, scratch) && !self.recognise_unexpected(input, at, scratch) {
                break;
            }
        }
        scratch.shelf.touch(self.template);
    }

    /// Takes events from `at` on as long as the templates expected recognise them and nothing is new but what stands in
    /// their holes: most events. Gives a template that is known not to recognise the next one.
    #[inline]
    fn recognise_again(&mut self, input: &[u8], at: &mut usize, scratch: &mut Scratch) -> u32 {
        while self.error.is_none() && *at < input.len() {
            let place = scratch.shelf.likely(self.template, 0);
            scratch.shelf.follow(self.template, self.fold.said, place);
            let Some((template, marks)) = scratch.shelf.get(place) else { break };
            if template.epoch != self.fold.said || !self.allows(template) {
                break;
            }
            let (start, frame) = (*at, self.frame);
            let is_repeated = template.successor() == place;
            let differs = match template.pattern() {
                Some(pattern) if input.len() - *at < pattern.length() => return NONE,
                Some(pattern) => self.run(template, &pattern, is_repeated, input, at),
                None => self.repeat(template, marks, is_repeated, input, at),
            };
            let length = *at - start;
            if length == 0 {
                return if differs { place } else { NONE };
            }
            self.passed(length, self.frame - frame);
            scratch.shelf.hit(self.template);
            self.template = place;
            if differs {
                return place;
            }
        }
        NONE
    }

    /// So many bytes of so many events were taken.
    #[inline]
    pub(super) fn passed(&mut self, length: usize, frames: u64) {
        self.counters.frames_recognised += frames;
        self.counters.bytes_scanned += length as u64;
        self.allowance = (self.allowance + length).min(ALLOWANCE);
        self.frames.pass(length);
    }

    /// Takes an event that a template recognises, and where `is_repeated` those behind it that it recognises, too. Says
    /// whether it does not recognise the next one.
    #[inline]
    fn repeat(
        &mut self,
        template: &Template,
        marks: &mut Marks,
        is_repeated: bool,
        input: &[u8],
        at: &mut usize,
    ) -> bool {
        let start = *at;
        let bound = self.limit().min(self.allowance);
        loop {
            let rest = input.get(*at..).unwrap_or_default();
            let within = rest.get(..bound).unwrap_or(rest);
            marks.decoded.clear();
            let mut progress = Progress::default();
            let compared = template.compare(within, &mut progress, marks);
            if compared != Compared::Whole || progress.is_new {
                self.looked_in_vain(progress.at);
                return compared == Compared::Differs;
            }
            self.fold.quirks.frame = Some(self.frame);
            let view = marks.view(within.get(template.lead()..).unwrap_or_default(), template.number);
            if let Err(error) = self.fold.apply_most(&template.body, &view) {
                let offset = self.frames.offset() + (*at - start) as u64;
                self.fail(error, Some(offset));
            }
            self.frame += 1;
            *at += progress.at;
            if !is_repeated || self.error.is_some() || *at >= input.len() {
                return false;
            }
        }
    }

    /// Takes the event at `at`, or what the input holds of it, if a template recognises it; `failed` does not.
    fn recognise_event(&mut self, input: &[u8], at: &mut usize, failed: u32, scratch: &mut Scratch) -> bool {
        let rest = input.get(*at..).unwrap_or_default();
        for nth in 0..SUCCESSORS {
            let place = scratch.shelf.likely(self.template, nth);
            if place == NONE {
                break;
            }
            if place == failed {
                continue;
            }
            scratch.shelf.follow(self.template, self.fold.said, place);
            let mut progress = Progress::default();
            match self.compare(rest, place, &mut progress, scratch) {
                Compared::Whole => {
                    if nth > 0 {
                        scratch.shelf.note(self.template, place);
                    }
                    *at += progress.at;
                    self.take(rest, place, &progress, scratch);
                    return true;
                }
                Compared::SoFar => {
                    *at = input.len();
                    if let Some((template, _)) = scratch.shelf.get(place) {
                        let pending = Pending::of(template, place, progress);
                        self.hold(rest, pending, scratch);
                    }
                    return true;
                }
                Compared::Differs => self.looked_in_vain(progress.at),
            }
        }
        false
    }

    /// Takes the event at `at` if a template recognises it that others which looked alike were recognised by.
    fn recognise_unexpected(&mut self, input: &[u8], at: &mut usize, scratch: &mut Scratch) -> bool {
        let rest = input.get(*at..).unwrap_or_default();
        let within = rest.get(..self.limit().min(self.allowance)).unwrap_or(rest);
        let Some(look) = Look::of(within, self.template == NONE) else { return false };
        self.looked_in_vain(look.length);
        for place in scratch.shelf.sighted(look) {
            if (0..SUCCESSORS).any(|nth| scratch.shelf.likely(self.template, nth) == place) {
                continue;
            }
            scratch.shelf.follow(self.template, self.fold.said, place);
            let mut progress = Progress::default();
            if self.compare(rest, place, &mut progress, scratch) == Compared::Whole {
                scratch.shelf.note_sight(look, self.template, place);
                *at += progress.at;
                self.take(rest, place, &progress, scratch);
                return true;
            }
            self.looked_in_vain(progress.at);
        }
        false
    }

    /// Goes on comparing the event that `rest` begins with with the template at that place.
    #[inline]
    pub(super) fn compare(&self, rest: &[u8], place: u32, progress: &mut Progress, scratch: &mut Scratch) -> Compared {
        let Some((template, marks)) = scratch.shelf.get(place) else { return Compared::Differs };
        if !self.allows(template) {
            return Compared::Differs;
        }
        marks.decoded.clear();
        // What a hole holds may be long: no more is looked at than the allowance lets, nor than a limit.
        let within = rest.get(..rest.len().min(self.limit()).min(progress.at + self.allowance)).unwrap_or_default();
        match template.compare(within, progress, marks) {
            Compared::SoFar if within.len() < rest.len() => Compared::Differs,
            compared => compared,
        }
    }

    /// The length within which no line and no event is too long (S8).
    #[inline]
    pub(super) fn limit(&self) -> usize {
        self.fold.limits.line.min(self.fold.limits.event)
    }

    /// Whether payloads of a template are of this wire and within the limits.
    #[inline]
    pub(super) fn allows(&self, template: &Template) -> bool {
        let is_wire = match self.wire {
            Some(wire) => wire == template.wire,
            None => template.decides && self.waiting.is_none(),
        };
        is_wire && template.depth <= self.fold.limits.depth
    }

    /// Folds the event that `bytes` begins with, which the template at that place recognises.
    pub(super) fn take(&mut self, bytes: &[u8], place: u32, progress: &Progress, scratch: &mut Scratch) {
        let length = progress.at;
        self.passed(length, 1);
        self.fold.quirks.frame = Some(self.frame);
        let event = bytes.get(..length).unwrap_or_default();
        let payload = scratch.shelf.get(place).map_or(event, |(template, _)| template.payload_of(event));
        if let Err(error) = self.fold_found(payload, place, progress, scratch) {
            self.fail(error, Some(self.frames.event_offset));
        }
        self.frame += 1;
    }

    /// Applies the template's operations; what was said once and for all already is left out.
    fn fold_found(
        &mut self,
        payload: &[u8],
        place: u32,
        progress: &Progress,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.template = place;
        let Some((template, marks)) = scratch.shelf.get(place) else { return Ok(()) };
        self.wire = Some(template.wire);
        let view = marks.view(payload, template.number);
        if !progress.is_new && self.fold.said == template.epoch {
            return self.fold.apply_most(&template.body, &view);
        }
        let holds = |fold: &Fold| template.ops.iter().all(|op| fold.holds(op, &view));
        let was_said = holds(&self.fold);
        self.fold.apply_all(if was_said { &template.body } else { &template.ops }, &view)?;
        let is_said = was_said || holds(&self.fold);
        let epoch = if progress.is_new { scratch.shelf.settle(place, payload) } else { Some(template.epoch) };
        if let Some(epoch) = epoch.filter(|_| is_said) {
            self.fold.said = epoch;
        }
        Ok(())
    }

    pub(super) fn looked_in_vain(&mut self, bytes: usize) {
        self.allowance = self.allowance.saturating_sub(bytes);
        self.counters.bytes_scanned += bytes as u64;
    }

    /// Folds a payload that stands alone, if a template recognises all of it.
    pub(super) fn recognise_whole(
        &mut self,
        payload: &[u8],
        name: &[u8],
        scratch: &mut Scratch,
    ) -> Result<bool, Error> {
        for nth in 0..SUCCESSORS {
            let place = scratch.shelf.likely(self.template, nth);
            let Some((template, _)) = scratch.shelf.get(place) else { continue };
            if *template.name != *name {
                continue;
            }
            let mut progress = template.of_payload();
            let compared = self.compare(payload, place, &mut progress, scratch);
            if compared != Compared::Whole || progress.at != payload.len() {
                self.looked_in_vain(progress.at);
                continue;
            }
            if nth > 0 {
                scratch.shelf.note(self.template, place);
            }
            self.counters.bytes_scanned += payload.len() as u64;
            self.counters.frames_recognised += 1;
            return self.fold_found(payload, place, &progress, scratch).map(|()| true);
        }
        Ok(false)
    }

    /// Learns from a payload that was read and folded. An event that is an error by its name never is a template.
    pub(super) fn learn(&mut self, payload: &[u8], name: &[u8], scratch: &mut Scratch) {
        let is_plain = scratch.tape.flags & flag::INVALID == 0 && name.is_ascii() && name != b"error";
        let Some(wire) = self.wire.filter(|_| is_plain) else { return };
        let style = self.frames.style();
        let Scratch { tape, ops, ignored, shelf, .. } = scratch;
        let read = Read { wire, name, style, bytes: payload, tape, ops, ignored };
        if let Some(place) = shelf.learn(&read, self.template) {
            self.template = place;
        }
    }
}
