//! One payload: what it is, and what it says (P, E6, W1).

use super::scratch::Scratch;
use super::waiting::{KEPT, Kept};
use super::{Assembler, Malformed};
use crate::chunk::{Op, View};
use crate::completion::{End, Wire};
use crate::error::{Error, ErrorKind};
use crate::json::scan::{flag, trim};
use crate::json::tape::{Fault, Kind};
use crate::json::{Value, text};
use crate::quirk::{Place, QuirkKind};
use crate::wire;
use crate::wire::members::{Object, Reader};

impl Assembler {
    /// Handles the payload of the frame being read, and goes on to the next frame.
    pub(super) fn payload(&mut self, payload: &[u8], name: &[u8], offset: Option<u64>, scratch: &mut Scratch) {
        self.fold.quirks.frame = Some(self.frame);
        let ending = self.fold.done;
        if let Err(error) = self.classify(payload, name, offset, scratch) {
            self.fail(error, offset);
        }
        if self.fold.done && !ending && self.error.is_none() && self.end == End::Open {
            self.seal(scratch);
        }
        self.frame += 1;
    }

    fn classify(
        &mut self,
        payload: &[u8],
        name: &[u8],
        offset: Option<u64>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let trimmed = trim(payload);
        if self.fold.done {
            self.report_invalid(payload);
            self.behind_the_end(trimmed, name, scratch);
            return Ok(());
        }
        match trimmed {
            b"[DONE]" if self.wire.is_some() => {
                self.fold.done = true;
                return Ok(());
            }
            b"[DONE]" => return self.wait(payload, name, offset, scratch),
            b"" | b"null" => self.report(QuirkKind::EmptyPayload, "nothing"),
            [b':', ..] => {
                self.report_invalid(payload);
                self.report(QuirkKind::CommentAsData, "a comment");
            }
            _ if self.fast && self.recognise_whole(payload, name, scratch)? => {}
            _ => return self.json(payload, name, offset, scratch),
        }
        Ok(())
    }

    pub(super) fn report(&mut self, kind: QuirkKind, detail: &str) {
        self.fold.quirks.report(kind, Place::default(), || detail.to_owned());
    }

    /// S6: each line of a payload that is not UTF-8 is reported, but not again when it has waited.
    pub(super) fn report_invalid(&mut self, payload: &[u8]) {
        if self.replaying || std::str::from_utf8(payload).is_ok() {
            return;
        }
        for line in payload.split(|&byte| byte == b'\n') {
            if std::str::from_utf8(line).is_err() {
                self.report(QuirkKind::InvalidUtf8, "in data");
            }
        }
    }

    /// P1: nothing that follows the end is folded. A ping or a second marker behind a wire's own end is nothing odd.
    fn behind_the_end(&mut self, trimmed: &[u8], name: &[u8], scratch: &mut Scratch) {
        let is_marker = trimmed == b"[DONE]";
        if self.own_terminal && (is_marker || self.is_ping(trimmed, name, scratch)) {
            return;
        }
        self.report(QuirkKind::DataAfterDone, "not folded");
    }

    fn is_ping(&self, payload: &[u8], name: &[u8], scratch: &mut Scratch) -> bool {
        if scratch.tape.read(payload, self.fold.limits.depth).is_err() {
            return name == b"ping";
        }
        *wire::type_of(payload, &scratch.tape, name) == *b"ping"
    }

    /// A payload that should be a JSON object.
    fn json(&mut self, payload: &[u8], name: &[u8], offset: Option<u64>, scratch: &mut Scratch) -> Result<(), Error> {
        self.counters.bytes_scanned += payload.len() as u64;
        self.counters.frames_parsed += 1;
        let read = scratch.tape.read(payload, self.fold.limits.depth);
        if read.is_err() || scratch.tape.flags & flag::INVALID != 0 {
            self.report_invalid(payload);
        }
        match read {
            Ok(()) if scratch.tape.node(0).is_some_and(|node| node.kind == Kind::Object) => {}
            Err(Fault::Deep(_)) => return Err(Error::new(ErrorKind::Depth, too_deep(self.fold.limits.depth))),
            _ if name == b"error" => return Err(stated_by_text(payload)),
            Ok(()) => return self.malformed("it is JSON, but no object"),
            Err(Fault::Malformed(at, why)) => return self.malformed(&format!("{why}, at byte {at} of the payload")),
        }
        if self.wire.is_none() {
            self.wire = wire::detect(payload, &scratch.tape, name);
            if self.wire.is_none() {
                return self.wait(payload, name, offset, scratch);
            }
            if self.waiting.is_some() {
                self.replay(scratch)?;
                return self.again(payload, name, scratch);
            }
        }
        self.chunk(payload, name, scratch)
    }

    /// Handles a payload once more, after those that waited before it.
    fn again(&mut self, payload: &[u8], name: &[u8], scratch: &mut Scratch) -> Result<(), Error> {
        if self.error.is_some() {
            return Ok(());
        }
        self.fold.quirks.frame = Some(self.frame);
        if self.fold.done {
            self.behind_the_end(trim(payload), name, scratch);
            return Ok(());
        }
        scratch.tape.read(payload, self.fold.limits.depth).map_err(|_| Error::new(ErrorKind::Depth, ""))?;
        self.chunk(payload, name, scratch)
    }

    /// P3.
    fn malformed(&mut self, why: &str) -> Result<(), Error> {
        if self.malformed == Malformed::Skip {
            self.report(QuirkKind::MalformedPayload, why);
            return Ok(());
        }
        let message = format!("the payload is no JSON object: {why}; malformed=\"skip\" passes over such payloads");
        Err(Error::new(ErrorKind::MalformedPayload, message))
    }

    /// Folds a chunk of the known wire, whose nodes are on the tape.
    fn chunk(&mut self, payload: &[u8], name: &[u8], scratch: &mut Scratch) -> Result<(), Error> {
        scratch.ops.clear();
        scratch.ignored.clear();
        let (mut result, is_learnable) = self.read_chunk(payload, name, scratch);
        let view = View::plain(payload);
        if result.is_ok() {
            result = self.fold.apply_all(&scratch.ops, &view);
        }
        self.own_terminal = self.fold.done;
        if self.fast && is_learnable && result.is_ok() {
            self.learn(payload, name, scratch);
        }
        scratch.tape.shrink();
        result?;
        if name == b"error" && !scratch.ops.iter().any(|op| matches!(op, Op::Error(_))) {
            return Err(Error::provider(payload, self.fold.limits.depth));
        }
        Ok(())
    }

    /// Reads a chunk in the words of its wire; says whether the operations are all that it says.
    fn read_chunk(&mut self, payload: &[u8], name: &[u8], scratch: &mut Scratch) -> (Result<(), Error>, bool) {
        let Scratch { tape, ops, ignored, .. } = scratch;
        let read = match self.wire {
            Some(Wire::OpenaiChat) | None => {
                wire::openai_chat::read(payload, tape, ops, ignored);
                return (Ok(()), true);
            }
            Some(Wire::AnthropicMessages) => wire::anthropic::read,
            Some(Wire::OpenaiResponses) => wire::responses::read,
        };
        let chunk = Object::root(payload, tape);
        let mut reader = Reader { fold: &mut self.fold, chunk, ops, ignored, is_learnable: true };
        let result = read(&mut reader, name);
        (result, reader.is_learnable)
    }

    /// W1: the payload does not decide; it waits for one that does.
    fn wait(&mut self, payload: &[u8], name: &[u8], offset: Option<u64>, scratch: &mut Scratch) -> Result<(), Error> {
        let waiting = self.waiting.get_or_insert_default();
        waiting.payloads.push(Kept { payload: payload.to_vec(), name: name.to_vec(), frame: self.frame, offset });
        if waiting.payloads.len() > KEPT {
            self.undecided(scratch);
        }
        Ok(())
    }

    /// The wire is known: what waited is folded.
    fn replay(&mut self, scratch: &mut Scratch) -> Result<(), Error> {
        let frame = self.frame;
        self.replaying = true;
        for kept in self.waiting.take().map(|waiting| waiting.payloads).unwrap_or_default() {
            if self.error.is_some() {
                break;
            }
            self.frame = kept.frame;
            self.payload(&kept.payload, &kept.name, kept.offset, scratch);
        }
        self.replaying = false;
        self.frame = frame;
        Ok(())
    }

    /// The line `error: {json}` of some servers (S4, E6). Of a line that the end of the input cut off (`is_tail`) nothing
    /// is reported: it is no line yet.
    pub(super) fn error_line(&mut self, scratch: &mut Scratch, is_tail: bool) {
        let line = std::mem::take(&mut self.frames.rare().error_line);
        let value = trim(&line);
        let is_object = value.first() == Some(&b'{');
        let depth = self.fold.limits.depth;
        let offset = Some(self.frames.line_start);
        self.fold.quirks.frame = Some(self.frame);
        if self.fold.done && is_object {
            return self.report(QuirkKind::DataAfterDone, "not folded");
        }
        match scratch.tape.read(value, depth) {
            Ok(()) if is_object && !self.fold.done => {
                let source = wire::stated(value, &scratch.tape).unwrap_or(value);
                self.fail(Error::provider(source, depth), offset);
            }
            Err(Fault::Deep(_)) if !self.fold.done => self.fail(Error::new(ErrorKind::Depth, too_deep(depth)), offset),
            _ if is_tail => {}
            _ => self.report(QuirkKind::UnknownField, "error"),
        }
    }
}

pub(super) fn too_deep(depth: usize) -> String {
    format!("the payload nests more than {depth} levels of JSON")
}

/// The error of a payload of `event: error` that is no JSON object: its text.
fn stated_by_text(payload: &[u8]) -> Error {
    let mut error = Error::provider(trim(payload), 1);
    if !matches!(crate::json::parse(payload, 1), Some(Value::String(_))) {
        error.message = text::lossy(trim(payload)).into_owned();
    }
    error
}
