//! The fast path: frames that a template recognises are folded without being parsed.

use super::Assembler;
use super::scratch::Scratch;
use crate::completion::Wire;
use crate::error::Error;
use crate::json::scan::flag;
use crate::template::{Found, Read};

/// Bytes that may be looked at in vain at first, and at most.
pub(super) const ALLOWANCE: usize = 32 << 10;

impl Assembler {
    #[inline]
    fn find(&mut self, payload: &[u8], wire: Wire, scratch: &mut Scratch) -> Option<Found> {
        let before = self.allowance;
        let found = scratch.shelf.find(payload, wire, &mut self.template, &mut self.allowance);
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
        let rest = payload.get(found.end..).unwrap_or_default();
        let blank = if rest.starts_with(b"\n\n") {
            2
        } else if rest.starts_with(b"\r\n\r\n") {
            4
        } else {
            self.looked_in_vain(found.end);
            return false;
        };
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
