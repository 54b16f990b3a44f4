//! The end of the input, and the result.

use std::sync::Arc;

use super::scratch::{self, Scratch};
use super::{Assembler, Refused};
use crate::chunk::View;
use crate::completion::{Completion, End};
use crate::error::{Error, ErrorKind};
use crate::fold::Texts;
use crate::json::scan::trim;
use crate::json::tape::{Fault, Kind, Tape};
use crate::quirk::{Place, QuirkKind};
use crate::sse::Item;
use crate::wire;

impl Assembler {
    /// The input has ended: the last events. A second call does nothing.
    ///
    /// # Errors
    /// An error that an earlier call found (P7).
    pub fn finish(&mut self) -> Result<(), Refused> {
        if let Some(error) = &self.error {
            return Err(Refused::Error(error.clone()));
        }
        if !std::mem::replace(&mut self.finished, true) {
            scratch::with(|scratch| {
                if !self.held.is_empty() {
                    self.let_go(scratch);
                }
                self.finish_once(scratch);
            });
        }
        Ok(())
    }

    /// Finishes, and gives the result. It may be called again.
    ///
    /// # Errors
    /// The error that the stream ended in (P7).
    pub fn close(&mut self) -> Result<Arc<Completion>, Refused> {
        self.finish()?;
        if let Some(error) = &self.error {
            return Err(Refused::Error(error.clone()));
        }
        if let Some(result) = self.handed_over() {
            return Ok(result);
        }
        self.clear_events();
        let result = self.fold.completion(self.wire, wire::render(self.wire), self.end, None, &Texts::HandedOver);
        self.closed = true;
        Ok(self.keep(result))
    }

    /// The result once the texts went with it.
    fn handed_over(&self) -> Option<Arc<Completion>> {
        self.result.clone().filter(|_| self.closed)
    }

    fn keep(&mut self, result: Completion) -> Arc<Completion> {
        self.result.insert(Arc::new(result)).clone()
    }

    /// The result as it stands: `end` is open until the stream has ended; of a stream in error it is the partial result.
    /// It is kept until the next one, which goes on from its texts.
    pub fn snapshot(&mut self) -> Arc<Completion> {
        if let Some(result) = self.handed_over() {
            return result;
        }
        let end = if self.fold.done { End::Done } else { self.end };
        // What the data lines of an event that is not whole hold is reported when they are folded; here it is known already.
        let quirks = self.pending_is_invalid().then(|| self.fold.quirks.clone());
        if quirks.is_some() {
            self.note_pending(&[]);
        }
        let texts = Texts::Copied(self.result.take());
        let result = self.fold.completion(self.wire, wire::render(self.wire), end, self.error.clone(), &texts);
        if let Some(quirks) = quirks {
            self.fold.quirks = quirks;
        }
        self.keep(result)
    }

    fn pending_is_invalid(&self) -> bool {
        self.error.is_none() && !self.finished && std::str::from_utf8(self.frames.pending(&[])).is_err()
    }

    fn finish_once(&mut self, scratch: &mut Scratch) {
        self.tail(scratch);
        self.fold.quirks.frame = None;
        if self.error.is_some() {
            return;
        }
        if !self.frames.is_event_stream && self.frame == 0 {
            let is_utf8 = !self.fold.quirks.has(QuirkKind::InvalidUtf8);
            let body = self.body.take().unwrap_or_default();
            if let Some(error) = body.error(self.has_other_lines, is_utf8, self.fold.limits.depth) {
                return self.fail_as_is(error);
            }
        }
        if self.waiting.is_some() {
            self.undecided(scratch);
        }
        if self.error.is_none() && self.end == End::Open {
            self.seal(scratch);
        }
    }

    /// S5: an event without its blank line is kept where its payload proves that it is whole.
    fn tail(&mut self, scratch: &mut Scratch) {
        let limits = self.fold.limits;
        let (item, pending) = self.frames.finish(&limits);
        match item {
            Some(Item::ErrorLine) => {
                self.error_line(scratch, true);
                if self.error.is_some() {
                    self.note_pending(&[]);
                }
            }
            Some(Item::Unknown(_)) => self.has_other_lines = true,
            Some(item) => self.item(item, &[], scratch),
            None => {}
        }
        self.note_invalid_line();
        if !pending || self.error.is_some() {
            return;
        }
        let data = std::mem::take(&mut self.frames.data);
        self.fold.quirks.report_at(None, QuirkKind::UnterminatedTail, Place::default(), || "the last event".to_owned());
        match self.is_whole(&data, scratch) {
            Ok(true) => {
                let name = std::mem::take(&mut self.frames.name);
                self.payload(&data, &name, Some(self.frames.event_offset), scratch);
            }
            outcome => {
                self.fold.quirks.frame = Some(self.frame);
                self.report_invalid(&data);
                if let Err(error) = outcome {
                    self.fail(error, Some(self.frames.event_offset));
                }
            }
        }
    }

    fn is_whole(&self, data: &[u8], scratch: &mut Scratch) -> Result<bool, Error> {
        if trim(data) == b"[DONE]" {
            return Ok(true);
        }
        match scratch.tape.read(data, self.fold.limits.depth) {
            Ok(()) => Ok(scratch.tape.node(0).is_some_and(|node| node.kind == Kind::Object)),
            Err(Fault::Malformed(..)) => Ok(false),
            Err(Fault::Deep(_)) => Err(Error::new(ErrorKind::Depth, super::payload::too_deep(self.fold.limits.depth))),
        }
    }

    /// Ends texts and calls; a message that came instead of deltas is folded first (X4).
    pub(super) fn seal(&mut self, scratch: &mut Scratch) {
        self.fold.quirks.frame = None;
        let mut result = Ok(());
        for &slot in &*self.fold.order() {
            if let Some(message) = self.fold.lone_message(slot) {
                result = result.and_then(|()| self.message(message.raw(), scratch));
            }
        }
        match result.and_then(|()| self.fold.seal()) {
            Ok(end) => self.end = end,
            Err(error) => self.fail_as_is(error),
        }
    }

    fn message(&mut self, message: &[u8], scratch: &mut Scratch) -> Result<(), Error> {
        if scratch.tape.read(message, self.fold.limits.depth).is_err() {
            return Ok(());
        }
        scratch.ops.clear();
        wire::openai_chat::read_message(message, &scratch.tape, &mut scratch.ops);
        let view = View::plain(message);
        self.fold.apply_all(&scratch.ops, &view)
    }

    /// W1: no payload decided. An error among those that waited is the error; other objects are of no wire known here.
    pub(super) fn undecided(&mut self, scratch: &mut Scratch) {
        let kept = self.waiting.take().map(|waiting| waiting.payloads).unwrap_or_default();
        let marker = kept.iter().position(|kept| trim(&kept.payload) == b"[DONE]");
        let before = kept.get(..marker.unwrap_or(kept.len())).unwrap_or_default();
        let error = before.iter().find_map(|kept| {
            let error = reported(&kept.payload, &kept.name, &mut scratch.tape, self.fold.limits.depth)?;
            Some(error.at(Some(kept.frame), kept.offset))
        });
        let object = before.first();
        let unknown = || {
            let looks = object.map_or("", |kept| wire::looks_like(&kept.payload));
            let message = format!("no payload is of a wire known here{looks}; name the wire to fold it as one");
            Error::new(ErrorKind::UnknownWire, message).at(None, Some(0))
        };
        self.fold.done = marker.is_some() && error.is_none();
        if let Some(error) = error.or_else(|| object.map(|_| unknown())) {
            return self.fail_as_is(error);
        }
        for kept in kept.get(marker.map_or(0, |marker| marker + 1)..).unwrap_or_default() {
            let frame = Some(kept.frame);
            self.fold.quirks.report_at(frame, QuirkKind::DataAfterDone, Place::default(), || "not folded".to_owned());
        }
    }
}

/// The error that a payload of an undecided wire reports, if it does.
fn reported(payload: &[u8], name: &[u8], tape: &mut Tape, depth: usize) -> Option<Error> {
    tape.read(payload, depth).ok()?;
    let stated = wire::stated(payload, tape);
    let source = stated.or_else(|| Some(payload).filter(|_| name == b"error"))?;
    Some(Error::provider(source, depth))
}
