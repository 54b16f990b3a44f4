//! The fast path: frames that a template recognises are folded without being parsed.

use super::Assembler;
use super::held::Pending;
use super::scratch::Scratch;
use crate::error::Error;
use crate::json::scan::flag;
use crate::template::{Compared, NONE, Progress, Read, SUCCESSORS, Template};

/// Bytes that may be looked at in vain at first, and at most.
pub(super) const ALLOWANCE: usize = 32 << 10;

/// What an event turned out to be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen {
    /// A template recognises it, and it is this long.
    Whole(usize),
    /// A template recognises what is there of it.
    SoFar(Pending),
    /// None does.
    Other,
}

impl Assembler {
    /// Takes events from `at` on, where one begins, as long as a template recognises them; what the input holds of a last
    /// one is kept.
    #[inline]
    pub(super) fn recognise(&mut self, input: &[u8], at: &mut usize, scratch: &mut Scratch) {
        while !self.fold.done && *at < input.len() {
            self.recognise_again(input, at, scratch);
            if self.error.is_some() || *at == input.len() {
                break;
            }
            let rest = input.get(*at..).unwrap_or_default();
            match self.event(rest, scratch) {
                Seen::Whole(length) => *at += length,
                Seen::SoFar(pending) if self.hold(rest, pending) => *at = input.len(),
                _ => break,
            }
            if self.error.is_some() {
                break;
            }
        }
        scratch.shelf.touch(self.template);
    }

    /// Takes events from `at` on as long as the templates expected recognise them and nothing is new but what stands in
    /// their holes: most events.
    #[inline]
    fn recognise_again(&mut self, input: &[u8], at: &mut usize, scratch: &mut Scratch) {
        let (start, frame) = (*at, self.frame);
        let limit = self.fold.limits.line.min(self.fold.limits.event);
        'events: while *at < input.len() {
            let place = scratch.shelf.likely(self.template, 0);
            let Some((template, marks)) = scratch.shelf.get(place) else { break };
            if template.epoch != self.fold.said || !self.allows(template) {
                break;
            }
            loop {
                let rest = input.get(*at..).unwrap_or_default();
                let rest = rest.get(..rest.len().min(self.allowance).min(limit)).unwrap_or_default();
                marks.decoded.clear();
                let (lead, length) = match template.compare_event(rest, marks) {
                    Ok(lengths) => lengths,
                    Err(looked_at) => {
                        self.looked_in_vain(looked_at);
                        break 'events;
                    }
                };
                self.fold.quirks.frame = Some(self.frame);
                let view = marks.view(rest.get(lead..).unwrap_or_default());
                if let Err(error) = self.fold.apply_most(&template.body, &view) {
                    let offset = self.frames.offset() + (*at - start) as u64;
                    self.fail(error, Some(offset));
                }
                self.template = place;
                self.frame += 1;
                *at += length;
                if self.error.is_some() {
                    break 'events;
                }
                if template.successor() != place || *at >= input.len() {
                    break;
                }
            }
        }
        let length = *at - start;
        if length > 0 {
            self.counters.frames_recognised += self.frame - frame;
            self.counters.bytes_scanned += length as u64;
            self.allowance = (self.allowance + length).min(ALLOWANCE);
            self.frames.pass(length);
        }
    }

    /// Folds the event that `rest` begins with, if all of it is there and a template recognises it.
    #[inline]
    fn event(&mut self, rest: &[u8], scratch: &mut Scratch) -> Seen {
        let (name, start) = match head(rest) {
            Head::Data(name, start) => (name, start),
            Head::SoFar => return Seen::SoFar(Pending::of(scratch.shelf.likely(self.template, 0))),
            Head::Other => return Seen::Other,
        };
        for nth in 0..SUCCESSORS {
            let place = scratch.shelf.likely(self.template, nth);
            if place == NONE {
                break;
            }
            let mut progress = Progress::default();
            match self.compare(rest, name, start, place, &mut progress, scratch) {
                Compared::Whole => {
                    let Some(length) = self.ends(rest, start, progress.at) else { continue };
                    if length > rest.len() {
                        return self.so_far(place, start, progress, scratch);
                    }
                    if nth > 0 {
                        scratch.shelf.note(self.template, place);
                    }
                    let payload = rest.get(start..start + progress.at).unwrap_or_default();
                    self.take(payload, length, place, &progress, scratch);
                    return Seen::Whole(length);
                }
                Compared::SoFar => return self.so_far(place, start, progress, scratch),
                Compared::Differs => self.looked_in_vain(progress.at),
            }
        }
        Seen::Other
    }

    fn so_far(&self, place: u32, start: usize, progress: Progress, scratch: &mut Scratch) -> Seen {
        let Some((template, marks)) = scratch.shelf.get(place) else { return Seen::Other };
        let Some(saved) = marks.save(progress.hole) else { return Seen::Other };
        Seen::SoFar(Pending { place, number: template.number, start, progress, saved })
    }

    /// Compares the event `rest`, whose data begins at `start`, with the template at that place.
    #[inline]
    pub(super) fn compare(
        &self,
        rest: &[u8],
        name: &[u8],
        start: usize,
        place: u32,
        progress: &mut Progress,
        scratch: &mut Scratch,
    ) -> Compared {
        let Some((template, marks)) = scratch.shelf.get(place) else { return Compared::Differs };
        if !self.allows(template) || *template.name != *name {
            return Compared::Differs;
        }
        if progress.at == 0 {
            marks.decoded.clear();
        }
        // What a hole holds may be long: no more is looked at than the allowance lets.
        let payload = rest.get(start..).unwrap_or_default();
        let within = payload.get(..payload.len().min(self.allowance)).unwrap_or_default();
        match template.compare(within, progress, marks) {
            Compared::SoFar if within.len() < payload.len() => Compared::Differs,
            compared => compared,
        }
    }

    /// Whether payloads of a template are of this wire and within the limits.
    #[inline]
    fn allows(&self, template: &Template) -> bool {
        let is_wire = match self.wire {
            Some(wire) => wire == template.wire,
            None => template.decides && self.waiting.is_none(),
        };
        is_wire && template.depth <= self.fold.limits.depth
    }

    /// The length of the event `rest` whose data are the `length` bytes from `start` on, more than there is where its end
    /// has not come; None where the data goes on, or is longer than allowed.
    #[inline]
    pub(super) fn ends(&mut self, rest: &[u8], start: usize, length: usize) -> Option<usize> {
        let end = start + length;
        let limits = &self.fold.limits;
        if rest.get(end..end + 2) == Some(b"\n\n") && end <= limits.line && length <= limits.event {
            return Some(end + 2);
        }
        let blank: &[u8] = if rest.get(end) == Some(&b'\r') { b"\r\n\r\n" } else { b"\n\n" };
        let behind = rest.get(end..rest.len().min(end + blank.len())).unwrap_or_default();
        if !blank.starts_with(behind) || end > limits.line || length > limits.event {
            self.looked_in_vain(length);
            return None;
        }
        Some(end + blank.len())
    }

    /// Folds the payload of an event of `length` bytes, which the template at that place recognises.
    #[inline]
    pub(super) fn take(
        &mut self,
        payload: &[u8],
        length: usize,
        place: u32,
        progress: &Progress,
        scratch: &mut Scratch,
    ) {
        self.counters.bytes_scanned += length as u64;
        self.allowance = (self.allowance + length).min(ALLOWANCE);
        self.frames.pass(length);
        self.fold.quirks.frame = Some(self.frame);
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
        self.counters.frames_recognised += 1;
        self.template = place;
        let Some((template, marks)) = scratch.shelf.get(place) else { return Ok(()) };
        self.wire = Some(template.wire);
        let view = marks.view(payload);
        if !template.ops.iter().all(|op| self.fold.holds(op, &view)) {
            self.fold.apply_all(&template.ops, &view)?;
        } else {
            if !progress.is_new {
                self.fold.said = template.epoch;
            }
            self.fold.apply_all(&template.body, &view)?;
        }
        if progress.is_new {
            scratch.shelf.expect(place, payload);
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
            let mut progress = Progress::default();
            let compared = self.compare(payload, name, 0, place, &mut progress, scratch);
            if compared != Compared::Whole || progress.at != payload.len() {
                self.looked_in_vain(progress.at);
                continue;
            }
            if nth > 0 {
                scratch.shelf.note(self.template, place);
            }
            self.counters.bytes_scanned += payload.len() as u64;
            return self.fold_found(payload, place, &progress, scratch).map(|()| true);
        }
        Ok(false)
    }

    /// Learns from a payload that was read and folded. An event that is an error by its name never is a template.
    pub(super) fn learn(&mut self, payload: &[u8], name: &[u8], scratch: &mut Scratch) {
        let is_plain = scratch.tape.flags & flag::INVALID == 0 && name.is_ascii() && name != b"error";
        let Some(wire) = self.wire.filter(|_| is_plain) else { return };
        let Scratch { tape, ops, ignored, shelf } = scratch;
        let read = Read { wire, name, bytes: payload, tape, ops, ignored };
        if let Some(place) = shelf.learn(&read, self.template) {
            self.template = place;
        }
    }
}

/// The bytes in which the end of a name is looked for.
const NAME: usize = 64;

/// How an event begins.
pub(super) enum Head<'a> {
    /// With its name, and its data from there on.
    Data(&'a [u8], usize),
    /// As most do, as far as it goes.
    SoFar,
    /// Otherwise.
    Other,
}

/// How the event `rest` begins.
#[inline]
pub(super) fn head(rest: &[u8]) -> Head<'_> {
    if rest.first_chunk() == Some(b"data: ") {
        return Head::Data(&[], b"data: ".len());
    }
    begun(rest)
}

/// The same of an event that does not begin as most do.
fn begun(rest: &[u8]) -> Head<'_> {
    if let Some(line) = rest.strip_prefix(b"data:") {
        return match line.first() {
            Some(b' ') => Head::Data(&[], b"data: ".len()),
            Some(_) => Head::Data(&[], b"data:".len()),
            None => Head::SoFar,
        };
    }
    named(rest)
}

/// The same of an event that begins with its name.
fn named(rest: &[u8]) -> Head<'_> {
    let Some(line) = rest.strip_prefix(b"event: ") else {
        let is_short = b"data:".starts_with(rest) || b"event: ".starts_with(rest);
        return if is_short { Head::SoFar } else { Head::Other };
    };
    let Some(end) = line.iter().take(NAME).position(|byte| matches!(byte, b'\n' | b'\r')) else {
        return if line.len() < NAME { Head::SoFar } else { Head::Other };
    };
    let (name, behind) = line.split_at(end);
    let ending: &[u8] = if behind.first() == Some(&b'\r') { b"\r\ndata: " } else { b"\ndata: " };
    if behind.starts_with(ending) {
        return Head::Data(name, b"event: ".len() + end + ending.len());
    }
    if ending.starts_with(behind) { Head::SoFar } else { Head::Other }
}
