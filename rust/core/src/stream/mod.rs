//! The assembler: bytes in, a completion out, whatever the cuts and whatever goes wrong (P, E, W1).

mod ending;
mod fast;
mod held;
mod payload;
mod running;
mod scratch;
mod waiting;

use std::sync::Arc;

use crate::body::Body;
use crate::completion::{Completion, End, Wire};
use crate::error::Error;
use crate::event::Event;
use crate::fold::Fold;
use crate::policy::{Limits, Malformed, Policy};
use crate::quirk::{Place, QuirkKind};
use crate::sse::{Frames, Item, Payload};
use crate::template::NONE;
use held::Held;
use scratch::Scratch;
pub use scratch::with_what_was_learnt;
use waiting::Waiting;

/// How a stream is to be folded.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The wire; None where the first payload shall decide (W1).
    pub wire: Option<Wire>,
    /// The open choices (I12).
    pub policy: Policy,
    /// The limits (S8).
    pub limits: Limits,
    /// What becomes of a payload that is no JSON object (P3).
    pub malformed: Malformed,
    /// Neighbouring fragments of one text within one feed become one event.
    pub coalesce: bool,
    /// Events are wanted.
    pub events: bool,
    /// Frames may be recognised by learnt templates. Off only to prove that nothing changes.
    pub fast: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            wire: None,
            policy: Policy::default(),
            limits: Limits::default(),
            malformed: Malformed::default(),
            coalesce: true,
            events: true,
            fast: true,
        }
    }
}

/// Why input was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// The stream is in error (P7).
    Error(Arc<Error>),
    /// The stream was finished before.
    Finished,
}

/// What was done for a stream, for tests that it stays linear and bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes fed.
    pub bytes_in: u64,
    /// Bytes looked at, by framing and parsing together.
    pub bytes_scanned: u64,
    /// The most bytes that were held for frames that were not whole.
    pub bytes_buffered_peak: u64,
    /// Frames recognised by a template.
    pub frames_recognised: u64,
    /// Frames parsed.
    pub frames_parsed: u64,
}

/// Folds one stream. It is used by one thread at a time.
#[derive(Debug)]
pub struct Assembler {
    frames: Frames,
    fold: Fold,
    wire: Option<Wire>,
    malformed: Malformed,
    fast: bool,
    /// The template recognised last.
    template: u32,
    /// What came of an event that a template recognises so far.
    held: Held,
    /// Bytes that may still be looked at in vain, so that all work stays within twice the input (S7).
    allowance: usize,
    /// Frames dispatched.
    frame: u64,
    /// Payloads of an undecided wire.
    waiting: Option<Box<Waiting>>,
    body: Option<Box<Body>>,
    /// A line of an unknown field was seen.
    has_other_lines: bool,
    /// Payloads that waited are folded; what framing shows of them was reported when they came.
    replaying: bool,
    /// The wire's own terminal event ended the stream.
    own_terminal: bool,
    error: Option<Arc<Error>>,
    finished: bool,
    /// The texts were handed over with the result.
    closed: bool,
    end: End,
    /// The result, and before there is one the last snapshot.
    result: Option<Arc<Completion>>,
    counters: Counters,
}

impl Assembler {
    /// An assembler for one stream.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let mut fold = Fold::new(options.policy, options.limits.bounded());
        fold.events.coalesce = options.coalesce;
        fold.events.off = !options.events;
        Self {
            frames: Frames::default(),
            fold,
            wire: options.wire,
            malformed: options.malformed,
            fast: options.fast,
            template: NONE,
            held: Held::new(),
            allowance: fast::ALLOWANCE,
            frame: 0,
            waiting: None,
            body: None,
            has_other_lines: false,
            replaying: false,
            own_terminal: false,
            error: None,
            finished: false,
            closed: false,
            end: End::Open,
            result: None,
            counters: Counters::default(),
        }
    }

    /// Folds what came. The events are in [`Assembler::events`] until [`Assembler::clear_events`].
    ///
    /// # Errors
    /// The error that an earlier call found: what came before it was handed out then (P7).
    pub fn feed(&mut self, input: &[u8]) -> Result<(), Refused> {
        self.accepts()?;
        self.counters.bytes_in += input.len() as u64;
        // Most feeds end with an event.
        if input.last() == Some(&b'\n') || !self.holds_unseen(input) {
            scratch::with(|scratch| self.take_in(input, scratch));
        }
        let held = self.frames.held() + self.held.len() + self.body.as_ref().map_or(0, |body| body.held());
        self.counters.bytes_buffered_peak = self.counters.bytes_buffered_peak.max(held as u64);
        Ok(())
    }

    /// Reads what came.
    fn take_in(&mut self, input: &[u8], scratch: &mut Scratch) {
        let mut at = 0;
        while self.error.is_none() && at < input.len() && !self.held.is_empty() {
            at += self.take_held(input.get(at..).unwrap_or_default(), scratch);
        }
        let rest = input.get(at..).unwrap_or_default();
        if self.error.is_none() && !rest.is_empty() && (at == 0 || !self.holds_unseen(rest)) {
            self.read(input, at, scratch);
        }
        self.frames.keep(input);
        if self.frames.is_event_stream {
            self.body = None;
        } else {
            self.body.get_or_insert_default().accept(input);
        }
    }

    /// Folds one payload that has no event stream around it; it counts as a frame without offset.
    ///
    /// # Errors
    /// As [`Assembler::feed`].
    pub fn feed_payload(&mut self, payload: &[u8]) -> Result<(), Refused> {
        self.accepts()?;
        self.frames.is_event_stream = true;
        self.body = None;
        self.counters.bytes_in += payload.len() as u64;
        let limit = self.fold.limits.event;
        if payload.len() > limit {
            let message = format!("a payload is longer than {limit} bytes");
            self.fail(Error::new(crate::error::ErrorKind::Event, message), None);
            return Ok(());
        }
        scratch::with(|scratch| self.payload(payload, &[], None, scratch));
        Ok(())
    }

    fn accepts(&self) -> Result<(), Refused> {
        match &self.error {
            Some(error) => Err(Refused::Error(error.clone())),
            None if self.finished => Err(Refused::Finished),
            None => Ok(()),
        }
    }

    /// Reads frames until the input ends or an error is found.
    fn read(&mut self, input: &[u8], mut at: usize, scratch: &mut Scratch) {
        self.frames.begin(input, &mut at);
        while self.error.is_none() && at < input.len() {
            if self.fast && self.frames.is_fresh() {
                self.recognise(input, &mut at, scratch);
                if self.error.is_some() || at == input.len() {
                    break;
                }
            }
            self.read_frame(input, &mut at, scratch);
        }
        self.note_invalid_line();
    }

    /// The same without templates.
    fn read_frames(&mut self, input: &[u8], scratch: &mut Scratch) {
        let mut at = 0;
        while self.error.is_none() && at < input.len() {
            self.read_frame(input, &mut at, scratch);
        }
        self.note_invalid_line();
    }

    /// Reads on until something is found or the input ends.
    fn read_frame(&mut self, input: &[u8], at: &mut usize, scratch: &mut Scratch) {
        let limits = self.fold.limits;
        if let Some(item) = self.frames.next(input, at, &limits) {
            self.item(item, input, scratch);
        }
    }

    fn item(&mut self, item: Item, input: &[u8], scratch: &mut Scratch) {
        self.note_invalid_line();
        match item {
            Item::Event(Payload::Input(start, end)) => {
                let name = std::mem::take(&mut self.frames.name);
                let offset = Some(self.frames.event_offset);
                self.payload(input.get(start..end).unwrap_or_default(), &name, offset, scratch);
                self.give_back_name(name);
            }
            Item::Event(Payload::Own) => {
                let name = std::mem::take(&mut self.frames.name);
                let offset = Some(self.frames.event_offset);
                let data = std::mem::take(&mut self.frames.data);
                self.payload(&data, &name, offset, scratch);
                self.frames.data = data;
                self.frames.release();
                self.give_back_name(name);
            }
            Item::ErrorLine => {
                self.error_line(scratch, false);
                if self.error.is_some() {
                    self.note_pending(input);
                }
            }
            Item::Unknown(name) => {
                self.has_other_lines = true;
                self.fold.quirks.report_at(Some(self.frame), QuirkKind::UnknownField, Place::default(), || name);
            }
            Item::Limit(error) => {
                self.fail(error, Some(self.frames.offset()));
                self.note_pending(input);
            }
        }
    }

    fn give_back_name(&mut self, mut name: Vec<u8>) {
        name.clear();
        self.frames.name = name;
    }

    /// S6, for lines that are not data.
    #[inline]
    fn note_invalid_line(&mut self) {
        for _ in 0..std::mem::take(&mut self.frames.invalid) {
            let frame = Some(self.frame);
            self.fold.quirks.report_at(frame, QuirkKind::InvalidUtf8, Place::default(), || "in a line".to_owned());
        }
    }

    /// S6, for the data lines of an event that has not been dispatched.
    fn note_pending(&mut self, input: &[u8]) {
        let pending = self.frames.pending(input).to_vec();
        self.fold.quirks.frame = Some(self.frame);
        self.report_invalid(&pending);
    }

    /// P7: the error stands, at the frame being read.
    fn fail(&mut self, error: Error, offset: Option<u64>) {
        let error = if error.frame.is_none() { error.at(Some(self.frame), offset) } else { error };
        self.fail_as_is(error);
    }

    fn fail_as_is(&mut self, error: Error) {
        if self.error.is_none() {
            self.end = if self.fold.done { End::Done } else { End::Cut };
            self.error = Some(Arc::new(error));
        }
    }

    /// The error that the next call raises (P7).
    #[must_use]
    pub const fn error(&self) -> Option<&Arc<Error>> {
        self.error.as_ref()
    }

    /// The events not taken yet.
    pub fn events(&self) -> impl Iterator<Item = Event<'_>> {
        self.fold.taken()
    }

    /// The events have been taken.
    pub fn clear_events(&mut self) {
        self.fold.events.clear();
    }

    /// What was done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut counters = self.counters;
        counters.bytes_scanned += self.frames.scanned;
        counters
    }
}
