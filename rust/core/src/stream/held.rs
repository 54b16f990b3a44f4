//! Frames that several feeds bring: as long as a template recognises what came of one, it is compared where it was left,
//! and framing and parsing do not see it. Where the comparison fails they get what was held.

use super::Assembler;
use super::fast::{ALLOWANCE, Head, head};
use super::scratch::Scratch;
use crate::template::{Compared, NONE, Progress, SUCCESSORS, Saved};

/// Bytes of an input that are added to what is held at once.
const STEP: usize = 1024;
/// The room that is kept for what is held.
const ROOM: usize = 1024;

/// How far an event was recognised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// The template that recognises it so far, and that one's number.
    pub(super) place: u32,
    pub(super) number: u64,
    /// Where its data begins; 0 where that has not come.
    pub(super) start: usize,
    pub(super) progress: Progress,
    pub(super) saved: Saved,
}

impl Pending {
    /// An event of which nothing was compared yet.
    pub(super) fn of(place: u32) -> Self {
        Self { place, number: 0, start: 0, progress: Progress::default(), saved: Saved::default() }
    }
}

/// The beginning of an event.
#[derive(Debug)]
pub(super) struct Held {
    bytes: Vec<u8>,
    pending: Option<Pending>,
}

impl Held {
    pub(super) const fn new() -> Self {
        Self { bytes: Vec::new(), pending: None }
    }

    /// Bytes that are held.
    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) const fn is_pending(&self) -> bool {
        self.pending.is_some()
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
    /// Keeps what came of an event; says whether it did.
    pub(super) fn hold(&mut self, rest: &[u8], pending: Pending) -> bool {
        if pending.place == NONE || !self.frames.is_event_stream || !self.may_hold(rest.len()) {
            return false;
        }
        self.note_open_hole(rest.len(), &pending);
        self.held.bytes.extend_from_slice(rest);
        self.held.pending = Some(pending);
        true
    }

    /// The value of a hole that has not ended is looked at again.
    fn note_open_hole(&mut self, length: usize, pending: &Pending) {
        self.looked_in_vain(length.saturating_sub(pending.start + pending.progress.at));
    }

    /// A line that is too long is found by framing.
    fn may_hold(&self, length: usize) -> bool {
        length <= self.fold.limits.line.min(self.fold.limits.event)
    }

    /// Goes on with the event that is held. What of `input` belongs to it is passed, if it is recognised or goes on.
    pub(super) fn resume(&mut self, input: &[u8], at: &mut usize, scratch: &mut Scratch) {
        let Some(mut pending) = self.held.pending else { return };
        let before = self.held.len();
        let mut bytes = std::mem::take(&mut self.held.bytes);
        let mut taken = 0;
        while taken < input.len() {
            let step = input.get(taken..input.len().min(taken + STEP)).unwrap_or_default();
            bytes.extend_from_slice(step);
            taken += step.len();
            match self.go_on(&bytes, &mut pending, scratch) {
                Some(length) if length <= bytes.len() => {
                    let data = bytes.get(pending.start..pending.start + pending.progress.at).unwrap_or_default();
                    self.take(data, length, pending.place, &pending.progress, scratch);
                    *at = length - before;
                    self.held.bytes = bytes;
                    self.held.clear();
                    return;
                }
                Some(_) if self.may_hold(bytes.len()) => {}
                _ => {
                    bytes.truncate(before);
                    self.held.bytes = bytes;
                    return self.let_go(scratch);
                }
            }
        }
        self.held.bytes = bytes;
        self.held.pending = Some(pending);
        *at = input.len();
    }

    /// The length of the event that `bytes` begins with, more than there is where it goes on; None where no template
    /// recognises it.
    fn go_on(&mut self, bytes: &[u8], pending: &mut Pending, scratch: &mut Scratch) -> Option<usize> {
        if pending.start > 0 {
            let from = pending.progress;
            if let Some((template, marks)) = scratch.shelf.get(pending.place)
                && template.number == pending.number
            {
                marks.restore(&pending.saved, from.hole);
                if let Some(length) = self.go_on_with(bytes, pending, from, scratch) {
                    return Some(length);
                }
            }
        }
        // Compared from its beginning, with another template or hole by hole, it may be recognised.
        let start = match head(bytes) {
            Head::Data(_, start) => start,
            Head::SoFar => return Some(usize::MAX),
            Head::Other => return None,
        };
        for nth in 0..SUCCESSORS {
            let place = scratch.shelf.likely(self.template, nth);
            let Some((template, _)) = scratch.shelf.get(place) else { break };
            *pending = Pending { start, number: template.number, ..Pending::of(place) };
            if let Some(length) = self.go_on_with(bytes, pending, Progress::default(), scratch) {
                if nth > 0 && length <= bytes.len() {
                    scratch.shelf.note(self.template, place);
                }
                return Some(length);
            }
        }
        None
    }

    /// The same with the template that the event is compared with; what it showed is noted.
    fn go_on_with(
        &mut self,
        bytes: &[u8],
        pending: &mut Pending,
        from: Progress,
        scratch: &mut Scratch,
    ) -> Option<usize> {
        let Head::Data(name, start) = head(bytes) else { return None };
        let mut progress = from;
        let compared = self.compare(bytes, name, start, pending.place, &mut progress, scratch);
        let length = match compared {
            Compared::Whole => self.ends(bytes, start, progress.at)?,
            Compared::SoFar => usize::MAX,
            Compared::Differs => {
                self.looked_in_vain(progress.at);
                return None;
            }
        };
        if length > bytes.len() {
            let (_, marks) = scratch.shelf.get(pending.place)?;
            pending.saved = marks.save(progress.hole)?;
            pending.progress = progress;
            self.note_open_hole(bytes.len(), pending);
        }
        pending.progress = progress;
        Some(length)
    }

    /// Framing gets what is held: it is no event that a template recognises.
    pub(super) fn let_go(&mut self, scratch: &mut Scratch) {
        self.held.pending = None;
        let bytes = std::mem::take(&mut self.held.bytes);
        self.read_frames(&bytes, &mut 0, scratch);
        self.frames.keep(&bytes);
        self.held.bytes = bytes;
        self.held.clear();
        self.allowance = self.allowance.min(ALLOWANCE);
    }
}
