//! The fast path: frames that a template recognises are folded without being parsed.

use super::Assembler;
use super::scratch::Scratch;
use crate::error::Error;
use crate::json::scan::{self, flag};
use crate::template::{Found, Kind, Read, Template, pass_blanks};

/// Bytes that may be looked at in vain at first, and at most.
pub(super) const ALLOWANCE: usize = 32 << 10;

impl Assembler {
    /// Takes events from `at` on as long as each brings nothing but one fragment and is the one expected.
    pub(super) fn recognise_quick(&mut self, input: &[u8], at: &mut usize, scratch: &mut Scratch) {
        if self.fold.done {
            return;
        }
        let (start, frame) = (*at, self.frame);
        let offset = self.frames.offset();
        while let Some(length) =
            self.quick(input.get(*at..).unwrap_or_default(), offset + (*at - start) as u64, scratch)
        {
            self.frame += 1;
            *at += length;
            if self.error.is_some() {
                break;
            }
        }
        let length = *at - start;
        if length == 0 {
            return;
        }
        scratch.shelf.touch(self.template);
        self.counters.frames_recognised += self.frame - frame;
        self.counters.bytes_scanned += length as u64;
        self.allowance = (self.allowance + length).min(ALLOWANCE);
        self.frames.pass(length);
    }

    /// The length of the event that `rest` begins with, once its fragment is folded; None where it is another one.
    #[inline]
    fn quick(&mut self, rest: &[u8], offset: u64, scratch: &mut Scratch) -> Option<usize> {
        let (template, decoded, place) = scratch.shelf.likely(self.template)?;
        let quick = template.quick.as_ref()?;
        if template.header != self.fold.header || template.header == 0 || !self.allows(template) {
            return None;
        }
        let event = rest.get(..rest.len().min(self.allowance))?;
        let start = quick.opening.len();
        if event.get(..start)? != &*quick.opening {
            self.looked_in_vain(start);
            return None;
        }
        decoded.clear();
        let (end, flags) = match scan::text(event, start, decoded) {
            Ok(text) => text,
            Err(end) => {
                self.looked_in_vain(end);
                return None;
            }
        };
        let mut whole = end + quick.closing.len();
        let mut fits = event.get(end..whole) == Some(&*quick.closing) && end > start;
        if let Some(ending) = &quick.ending {
            let blanks = pass_blanks(event, whole);
            whole = blanks + ending.len();
            fits = fits && event.get(blanks..whole) == Some(&**ending);
        }
        let limits = &self.fold.limits;
        if !fits || whole > limits.line.min(limits.event) || flags.is_some_and(|flags| flags & flag::INVALID != 0) {
            self.looked_in_vain(whole);
            return None;
        }
        let (text, flags) = match flags {
            Some(flags) => (event.get(start..end)?, flags),
            None => (decoded.as_slice(), 0),
        };
        self.template = place;
        self.fold.quirks.frame = Some(self.frame);
        if let Err(error) = self.fold.fragment_of(quick.choice, quick.action, text, flags) {
            self.fail(error, Some(offset));
        }
        Some(whole)
    }

    /// Whether payloads of a template are of this wire and within the limits.
    #[inline]
    fn allows(&self, template: &Template) -> bool {
        self.wire == Some(template.wire) && template.depth <= self.fold.limits.depth
    }

    #[inline]
    fn find(&mut self, payload: &[u8], name: &[u8], scratch: &mut Scratch) -> Option<Found> {
        let kind = Kind { wire: self.wire?, name, depth: self.fold.limits.depth };
        let before = self.allowance;
        let found = scratch.shelf.find(payload, kind, &mut self.template, &mut self.allowance);
        self.counters.bytes_scanned += (before - self.allowance) as u64;
        found
    }

    fn looked_in_vain(&mut self, bytes: usize) {
        self.allowance = self.allowance.saturating_sub(bytes);
        self.counters.bytes_scanned += bytes as u64;
    }

    /// Takes the event at `at`, where one begins, if all of it is there and a template recognises it.
    #[inline]
    pub(super) fn recognise(&mut self, input: &[u8], at: &mut usize, scratch: &mut Scratch) -> bool {
        if self.fold.done {
            return false;
        }
        let rest = input.get(*at..).unwrap_or_default();
        let Some((name, start)) = head(rest) else { return false };
        let payload = rest.get(start..).unwrap_or_default();
        let Some(found) = self.find(payload, name, scratch) else { return false };
        let blank = match payload.get(found.end..).unwrap_or_default() {
            [b'\n', b'\n', ..] => 2,
            [b'\r', b'\n', b'\r', b'\n', ..] => 4,
            _ => 0,
        };
        let limits = &self.fold.limits;
        if blank == 0 || found.end > limits.event || b"data: ".len() + found.end.max(start) > limits.line {
            self.looked_in_vain(found.end);
            return false;
        }
        let length = start + found.end + blank;
        self.counters.bytes_scanned += length as u64;
        self.allowance = (self.allowance + length).min(ALLOWANCE);
        *at += length;
        self.frames.pass(length);
        self.fold.quirks.frame = Some(self.frame);
        let payload = payload.get(..found.end).unwrap_or_default();
        if let Err(error) = self.fold_found(found, payload, scratch) {
            self.fail(error, Some(self.frames.event_offset));
        }
        self.frame += 1;
        true
    }

    /// Folds a payload that stands alone, if a template recognises all of it.
    pub(super) fn recognise_whole(
        &mut self,
        payload: &[u8],
        name: &[u8],
        scratch: &mut Scratch,
    ) -> Result<bool, Error> {
        let Some(found) = self.find(payload, name, scratch) else { return Ok(false) };
        if found.end != payload.len() {
            self.looked_in_vain(found.end);
            return Ok(false);
        }
        self.counters.bytes_scanned += payload.len() as u64;
        self.fold_found(found, payload, scratch).map(|()| true)
    }

    /// Applies the template's operations; what the last chunk said once and for all already is left out.
    #[inline]
    fn fold_found(&mut self, found: Found, payload: &[u8], scratch: &mut Scratch) -> Result<(), Error> {
        self.counters.frames_recognised += 1;
        let Some(template) = scratch.shelf.get(found.template) else { return Ok(()) };
        let view = scratch.shelf.marks.view(payload);
        let ops =
            if template.header != 0 && template.header == self.fold.header { &template.body } else { &template.ops };
        self.fold.header = 0;
        self.fold.apply_all(ops, &view)?;
        self.fold.header = template.header;
        Ok(())
    }

    /// Learns from a payload that was read and folded. An event that is an error by its name never is a template.
    pub(super) fn learn(&mut self, payload: &[u8], name: &[u8], scratch: &mut Scratch) {
        let is_plain = scratch.tape.flags & flag::INVALID == 0 && name.is_ascii() && name != b"error";
        let Some(wire) = self.wire.filter(|_| is_plain) else { return };
        let Scratch { tape, ops, ignored, shelf } = scratch;
        self.fold.header = shelf.learn(&Read { wire, name, bytes: payload, tape, ops, ignored }, &mut self.template);
    }
}

/// The bytes in which the end of a name is looked for.
const NAME: usize = 64;

/// The name of the event that `rest` begins with, and where its data does; None where it begins otherwise than most.
#[inline]
fn head(rest: &[u8]) -> Option<(&[u8], usize)> {
    let Some(line) = rest.strip_prefix(b"event: ") else {
        return rest.starts_with(b"data: ").then_some((&[], b"data: ".len()));
    };
    let end = line.iter().take(NAME).position(|byte| matches!(byte, b'\n' | b'\r'))?;
    let (name, behind) = line.split_at(end);
    let ending = if behind.starts_with(b"\r\n") { 2 } else { usize::from(behind.starts_with(b"\n")) };
    let data = behind.get(ending..).filter(|_| ending > 0)?;
    data.starts_with(b"data: ").then_some((name, b"event: ".len() + end + ending + b"data: ".len()))
}
