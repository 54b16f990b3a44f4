//! The fast path: frames that a template recognises are folded without being parsed.

use super::Assembler;
use super::scratch::Scratch;
use crate::completion::Wire;
use crate::error::Error;
use crate::json::scan::{self, flag};
use crate::template::{Found, Read, Template};

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
        if length > 0 {
            scratch.shelf.touch(self.template);
        }
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
        let payload = rest.get(..rest.len().min(self.allowance))?.strip_prefix(b"data: ")?;
        let start = quick.opening.len();
        if payload.get(..start)? != &*quick.opening {
            self.looked_in_vain(start);
            return None;
        }
        decoded.clear();
        let Ok((end, flags)) = scan::text(payload, start, decoded) else { return None };
        let whole = end + quick.closing.len();
        let fits = payload.get(end..whole)? == &*quick.closing && end > start && whole <= self.fold.limits.line;
        if !fits || flags.is_some_and(|flags| flags & flag::INVALID != 0) {
            self.looked_in_vain(whole);
            return None;
        }
        let (text, flags) = match flags {
            Some(flags) => (payload.get(start..end)?, flags),
            None => (decoded.as_slice(), 0),
        };
        self.template = place;
        self.fold.quirks.frame = Some(self.frame);
        if let Err(error) = self.fold.fragment_of(quick.choice, quick.action, text, flags) {
            self.fail(error, Some(offset));
        }
        Some(b"data: ".len() + whole)
    }

    /// Whether payloads of a template are of this wire and within the limits.
    #[inline]
    fn allows(&self, template: &Template) -> bool {
        self.wire == Some(template.wire) && template.depth <= self.fold.limits.depth
    }

    #[inline]
    fn find(&mut self, payload: &[u8], wire: Wire, scratch: &mut Scratch) -> Option<Found> {
        let before = self.allowance;
        let depth = self.fold.limits.depth;
        let found = scratch.shelf.find(payload, wire, depth, &mut self.template, &mut self.allowance);
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
        let Some(wire) = self.wire.filter(|_| !self.fold.done) else { return false };
        let Some(payload) = input.get(*at..).and_then(|rest| rest.strip_prefix(b"data: ")) else { return false };
        let Some(found) = self.find(payload, wire, scratch) else { return false };
        let blank = match payload.get(found.end..).unwrap_or_default() {
            [b'\n', b'\n', ..] => 2,
            [b'\r', b'\n', b'\r', b'\n', ..] => 4,
            _ => 0,
        };
        let limits = &self.fold.limits;
        if blank == 0 || found.end > limits.event || b"data: ".len() + found.end > limits.line {
            self.looked_in_vain(found.end);
            return false;
        }
        let length = b"data: ".len() + found.end + blank;
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
        let Some(wire) = self.wire.filter(|_| name.is_empty()) else { return Ok(false) };
        let Some(found) = self.find(payload, wire, scratch) else { return Ok(false) };
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
        for op in ops {
            self.fold.apply(op, &view)?;
        }
        self.fold.header = template.header;
        Ok(())
    }

    /// Learns from a payload that was read and folded.
    pub(super) fn learn(&mut self, payload: &[u8], scratch: &mut Scratch) {
        let Some(wire) = self.wire.filter(|_| scratch.tape.flags & flag::INVALID == 0) else { return };
        let read = Read { wire, bytes: payload, tape: &scratch.tape, ops: &scratch.ops, ignored: &scratch.ignored };
        self.fold.header = scratch.shelf.learn(&read, &mut self.template);
    }
}
