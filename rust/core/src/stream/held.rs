//! Frames that several feeds bring. Short beginnings are joined, unseen, with what comes until a line ends in it. Longer
//! ones are compared where they were left, as long as a template recognises them. Framing and parsing see neither; where
//! the comparison fails they get what was held.

use memchr::memchr;

use super::Assembler;
use super::scratch::Scratch;
use crate::sse::has_line_end;
use crate::template::{Compared, Progress, SUCCESSORS, Saved, Template};

/// Bytes of an input that are added to what is held at once, beside those that the event takes if its values are as
/// long as in its template.
const STEP: usize = 64;
/// The room that is kept for what is held.
const ROOM: usize = 512;
/// Bytes that may be held unseen.
const UNSEEN: usize = 1024;

/// How far an event was recognised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// The template that recognises it so far, that one's number, and what was steady in it.
    pub(super) place: u32,
    pub(super) number: u64,
    pub(super) epoch: u64,
    pub(super) progress: Progress,
    pub(super) saved: Saved,
}

impl Pending {
    pub(super) fn of(template: &Template, place: u32, progress: Progress) -> Self {
        Self { place, number: template.number, epoch: template.epoch, progress, saved: Saved::default() }
    }
}

/// The beginning of an event: how far it was recognised, and behind that what was not looked at and in which no line ends.
#[derive(Debug)]
pub(super) struct Held {
    bytes: Vec<u8>,
    pending: Option<Box<Pending>>,
}

impl Held {
    pub(super) const fn new() -> Self {
        Self { bytes: Vec::new(), pending: None }
    }

    /// Bytes that are held.
    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn clear(&mut self) {
        self.pending = None;
        self.bytes.clear();
        if self.bytes.capacity() > ROOM {
            self.bytes = Vec::new();
        }
    }
}

impl Assembler {
    /// Keeps what came of an event that a template recognises so far.
    pub(super) fn hold(&mut self, rest: &[u8], mut pending: Pending, scratch: &mut Scratch) {
        let missing = scratch.shelf.get(pending.place).map_or(0, |(template, _)| template.missing(&pending.progress));
        self.held.bytes.reserve_exact(rest.len() + missing + STEP);
        self.held.bytes.extend_from_slice(rest);
        let is_kept = self.pause(0, rest.len(), &mut pending, scratch);
        self.held.pending = Some(Box::new(pending));
        if !is_kept {
            self.let_go(scratch);
        }
    }

    /// Notes how far comparing came in the `length` bytes there are, from the hole `first` on; says whether it could be.
    fn pause(&mut self, first: usize, length: usize, pending: &mut Pending, scratch: &mut Scratch) -> bool {
        // The value of a hole that has not ended is looked at again.
        self.looked_in_vain(length.saturating_sub(pending.progress.at));
        let hole = pending.progress.hole;
        first == hole || scratch.shelf.marks.save(first, hole, &mut pending.saved)
    }

    /// Holds all of `input`, unseen, if it may be; says whether it does.
    #[inline]
    pub(super) fn holds_unseen(&mut self, input: &[u8]) -> bool {
        let may_begin = || self.fast && self.frames.is_event_stream && self.frames.is_fresh() && !self.fold.done;
        let room = UNSEEN.min(self.limit()).min(self.allowance);
        let is_unseen =
            self.held.len() + input.len() <= room && (!self.held.is_empty() || may_begin()) && !has_line_end(input);
        if is_unseen {
            self.looked_in_vain(input.len());
            self.held.bytes.extend_from_slice(input);
        }
        is_unseen
    }

    /// Takes what is held and what of `input` belongs to it; gives how much that is.
    pub(super) fn take_held(&mut self, input: &[u8], scratch: &mut Scratch) -> usize {
        if self.held.pending.is_some() {
            return self.resume(input, scratch);
        }
        let mut length = memchr(b'\n', input).map_or(input.len(), |end| end + 1);
        length += usize::from(input.get(length) == Some(&b'\n'));
        let own = input.get(..length.min(UNSEEN)).unwrap_or(input);
        let mut joined = std::mem::take(&mut scratch.joined);
        joined.clear();
        joined.extend_from_slice(&self.held.bytes);
        joined.extend_from_slice(own);
        self.held.bytes.clear();
        self.read(&joined, 0, scratch);
        self.frames.keep(&joined);
        scratch.joined = joined;
        own.len()
    }

    /// Goes on with the event that is held; gives how much of `input` belongs to it, if it is recognised or goes on.
    fn resume(&mut self, input: &[u8], scratch: &mut Scratch) -> usize {
        let Some(mut pending) = self.held.pending.take() else { return 0 };
        let mut bytes = std::mem::take(&mut self.held.bytes);
        let before = bytes.len();
        let mut taken = 0;
        while taken < input.len() {
            let missing =
                scratch.shelf.get(pending.place).map_or(0, |(template, _)| template.missing(&pending.progress));
            let step = input.get(taken..input.len().min(taken + missing + STEP)).unwrap_or_default();
            bytes.extend_from_slice(step);
            taken += step.len();
            let mut end = 0;
            if memchr(b'\n', step).is_some() && self.resume_run(&bytes, &pending, &mut end, scratch) {
                self.held.bytes = bytes;
                self.held.clear();
                return end - before;
            }
            match self.go_on(&bytes, &mut pending, scratch) {
                Compared::Whole => {
                    self.take(&bytes, pending.place, &pending.progress, scratch);
                    self.held.bytes = bytes;
                    self.held.clear();
                    return pending.progress.at - before;
                }
                Compared::SoFar => {}
                Compared::Differs => {
                    bytes.truncate(before);
                    self.held.bytes = bytes;
                    self.let_go(scratch);
                    return 0;
                }
            }
        }
        self.held.bytes = bytes;
        self.held.pending = Some(pending);
        input.len()
    }

    /// Takes the event that is held where it goes on with a text that is open and ends in `bytes`; says whether it does.
    #[inline]
    fn resume_run(&mut self, bytes: &[u8], pending: &Pending, at: &mut usize, scratch: &mut Scratch) -> bool {
        let Some((template, _)) = scratch.shelf.get(pending.place) else { return false };
        let is_same = (template.number, template.epoch) == (pending.number, self.fold.said);
        let Some(pattern) = template.pattern().filter(|_| is_same && self.allows(template)) else { return false };
        let frame = self.frame;
        self.run(template, &pattern, false, bytes, at);
        if self.frame > frame {
            self.passed(*at, 1);
            self.template = pending.place;
        }
        self.frame > frame
    }

    /// Compares on what is there of the event.
    #[inline]
    fn go_on(&mut self, bytes: &[u8], pending: &mut Pending, scratch: &mut Scratch) -> Compared {
        let former = pending.progress;
        let template = scratch.shelf.get(pending.place).map(|(template, _)| (template.number, template.epoch));
        if let Some((number, epoch)) = template
            && number == pending.number
        {
            // What was found steady may have become something else in the meantime, for another stream.
            pending.progress.is_new |= epoch != pending.epoch;
            match self.compare(bytes, pending.place, &mut pending.progress, scratch) {
                Compared::Whole => {
                    scratch.shelf.marks.restore(&pending.saved, former.hole);
                    return Compared::Whole;
                }
                Compared::SoFar if self.pause(former.hole, bytes.len(), pending, scratch) => return Compared::SoFar,
                _ => self.looked_in_vain(pending.progress.at - former.at),
            }
        }
        self.begin_again(bytes, pending, scratch)
    }

    /// Compared from its beginning, with another template or hole by hole, the event may be recognised.
    #[cold]
    fn begin_again(&mut self, bytes: &[u8], pending: &mut Pending, scratch: &mut Scratch) -> Compared {
        for nth in 0..SUCCESSORS {
            let place = scratch.shelf.likely(self.template, nth);
            let Some((template, _)) = scratch.shelf.get(place) else { break };
            *pending = Pending::of(template, place, Progress::default());
            match self.compare(bytes, place, &mut pending.progress, scratch) {
                Compared::Whole => {
                    if nth > 0 {
                        scratch.shelf.note(self.template, place);
                    }
                    return Compared::Whole;
                }
                Compared::SoFar if self.pause(0, bytes.len(), pending, scratch) => return Compared::SoFar,
                _ => self.looked_in_vain(pending.progress.at),
            }
        }
        Compared::Differs
    }

    /// Framing gets what is held: it is no event that a template recognises.
    pub(super) fn let_go(&mut self, scratch: &mut Scratch) {
        self.held.pending = None;
        let bytes = std::mem::take(&mut self.held.bytes);
        self.read_frames(&bytes, scratch);
        self.frames.keep(&bytes);
        self.held.bytes = bytes;
        self.held.clear();
    }
}
