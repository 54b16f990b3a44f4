//! Recognising frames that differ from one seen before in a few values only. A template proves that a payload would be
//! read as the same operations: what stands outside its holes equals, byte for byte, and in each hole stands a value of
//! the kind that reading it needs. It never decides anything by itself.

mod learn;
mod shelf;

pub(crate) use learn::Read;
pub(crate) use shelf::{NONE, SUCCESSORS, Shelf};

use std::sync::atomic::{AtomicU64, Ordering};

use crate::chunk::{Op, View};
use crate::completion::Wire;
use crate::json::scan::{self, flag};
use crate::wire::openai_chat::is_zero;

/// What may stand in a hole, so that the payload is still read the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hole {
    /// A string that is not empty.
    Filled,
    /// Any string.
    String,
    /// Any number.
    Number,
    /// A number that is not zero.
    NonZero,
    /// An integer of at most nine digits, without a sign.
    Index,
    /// Blanks before the last brace, with which some servers hide how long a text is.
    Blanks,
}

/// A value that may be a hole: its place in the payload that the template was learnt from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) kind: Hole,
    /// It is a hole. The others are compared like everything else.
    pub(crate) open: bool,
    /// It is the same in all chunks of a stream as a rule, though not in other streams.
    pub(crate) steady: bool,
    /// The flags of its text.
    pub(crate) flags: u8,
}

impl Leaf {
    /// Passes the hole's value where a payload was compared up to it.
    #[inline]
    fn compare(&self, bytes: &[u8], progress: &mut Progress, marks: &mut Marks) -> Compared {
        let Some((end, text)) = value(bytes, progress.at, self.kind, &mut marks.decoded) else {
            return Compared::Differs;
        };
        if end >= bytes.len() {
            return Compared::SoFar;
        }
        progress.done = self.end as usize;
        progress.at = end;
        marks.set(progress.hole, progress.shift(), text);
        progress.hole += 1;
        Compared::Whole
    }
}

/// What stands behind the data of most events.
const ENDING: &[u8] = b"\n\n";

/// Holes of a template at most.
pub(crate) const HOLES: usize = 24;

/// How a payload differs from the one that its template was learnt from.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    shifts: [i64; HOLES + 1],
    holes: [Text; HOLES],
    pub(crate) decoded: Vec<u8>,
}

/// The text in a hole: its flags, or where it stands decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Text {
    Raw(u8),
    Decoded(u32, u32),
}

impl Default for Text {
    fn default() -> Self {
        Self::Raw(0)
    }
}

impl Marks {
    /// The holes from `first` on are as they are in the template.
    #[inline]
    fn set_steady(&mut self, first: usize, texts: &[Text], shift: i64) {
        let behind = first + texts.len();
        if let (Some(shifts), Some(holes)) =
            (self.shifts.get_mut(first + 1..=behind), self.holes.get_mut(first..behind))
        {
            shifts.fill(shift);
            holes.copy_from_slice(texts);
        }
    }

    #[inline]
    fn set(&mut self, hole: usize, shift: i64, text: Text) {
        if let (Some(slot), Some(mark)) = (self.shifts.get_mut(hole + 1), self.holes.get_mut(hole)) {
            (*slot, *mark) = (shift, text);
        }
    }

    /// What is to be kept of the first holes, while the rest of the payload has not come.
    pub(crate) fn save(&self, holes: usize) -> Option<Saved> {
        let mut saved = Saved::default();
        if holes > saved.len() {
            return None;
        }
        let marks = self.shifts.iter().skip(1).zip(&self.holes).take(holes);
        for (slot, (shift, text)) in saved.iter_mut().zip(marks) {
            // What was decoded is not kept, so that its raw text is decoded later.
            let flags = if let Text::Raw(flags) = text { *flags } else { flag::ESCAPED };
            *slot = (i32::try_from(*shift).ok()?, flags);
        }
        Some(saved)
    }

    /// Takes back what was kept of the first holes.
    pub(crate) fn restore(&mut self, saved: &Saved, holes: usize) {
        self.decoded.clear();
        let marks = self.shifts.iter_mut().skip(1).zip(&mut self.holes).take(holes);
        for ((shift, text), (saved_shift, flags)) in marks.zip(saved) {
            (*shift, *text) = (i64::from(*saved_shift), Text::Raw(*flags));
        }
    }

    /// The payload, seen through the template's operations.
    #[inline]
    pub(crate) fn view<'a>(&'a self, bytes: &'a [u8]) -> View<'a> {
        View { bytes, shifts: &self.shifts, holes: &self.holes, decoded: &self.decoded }
    }
}

/// What was found in the first holes of a payload whose rest has not come: the shift behind each and its text's flags.
pub(crate) type Saved = [(i32, u8); 8];

/// What is compared at once: all up to `end` of the template, where the hole `next` is, which is not steady; behind the
/// last hole all that is left.
#[derive(Clone, Copy, Debug)]
struct Step {
    end: u32,
    next: usize,
}

/// How far a payload has been compared with a template.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    step: usize,
    /// The hole that is next.
    pub(crate) hole: usize,
    /// Bytes of the template that were found.
    done: usize,
    /// Bytes of the payload that were compared.
    pub(crate) at: usize,
    /// Something steady differs from what it was in the payload last recognised.
    pub(crate) is_new: bool,
}

impl Progress {
    /// How far the payload is ahead of the template.
    const fn shift(&self) -> i64 {
        self.at as i64 - self.done as i64
    }
}

/// What comparing came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// The payload is like the template, and ends here.
    Whole,
    /// It is as far as it goes.
    SoFar,
    /// It is not.
    Differs,
}

/// A payload that others are compared with.
#[derive(Debug)]
pub(crate) struct Template {
    /// Unique in the process, so that a template that took another one's place is not taken for it.
    pub(crate) number: u64,
    pub(crate) wire: Wire,
    /// The name of its event: what it says may depend on it.
    pub(crate) name: Box<[u8]>,
    /// Levels of JSON in it.
    pub(crate) depth: usize,
    /// The event that it was learnt from, as most are written, its steady values as in the payload last recognised.
    event: Box<[u8]>,
    /// Where the payload begins in it.
    lead: usize,
    leaves: Box<[Leaf]>,
    /// The leaves that are open.
    holes: Box<[Leaf]>,
    /// What stands in them, with which the template begins to be compared where they are steady.
    texts: Box<[Text]>,
    steps: Box<[Step]>,
    /// What the payload says.
    pub(crate) ops: Box<[Op]>,
    /// The same without what a stream says once and for all.
    pub(crate) body: Box<[Op]>,
    /// Another one, unique in the process, whenever what it says once and for all becomes something else.
    pub(crate) epoch: u64,
    /// It shows its wire, whatever stands in its holes (W1).
    pub(crate) decides: bool,
    used: u64,
    /// The templates that were recognised after this one, the last one first.
    next: [u32; SUCCESSORS],
}

impl Template {
    /// The bytes that it takes, roughly.
    fn weight(&self) -> usize {
        let leaves = size_of_val(&*self.leaves) + size_of_val(&*self.holes) + size_of_val(&*self.texts);
        size_of::<Self>() + self.event.len() + leaves + size_of_val(&*self.ops) + size_of_val(&*self.body)
    }

    /// The payload.
    #[inline]
    fn bytes(&self) -> &[u8] {
        self.event.get(self.lead..self.event.len() - ENDING.len()).unwrap_or_default()
    }

    /// The template that was recognised after this one last.
    #[inline]
    pub(crate) fn successor(&self) -> u32 {
        self.next[0]
    }

    /// Compares an event that `rest` begins with, all of it, where what is steady is as expected and the event is written
    /// as most are. Gives the lengths of its lead and of itself; where it differs, how far it was looked at.
    #[inline]
    pub(crate) fn compare_event(&self, rest: &[u8], marks: &mut Marks) -> Result<(usize, usize), usize> {
        let (mut at, mut done, mut hole) = (0, 0, 0);
        for &Step { end, next } in &self.steps {
            let end = if next < self.holes.len() { self.lead + end as usize } else { self.event.len() };
            let fixed = self.event.get(done..end).unwrap_or_default();
            if rest.get(at..at + fixed.len()) != Some(fixed) {
                return Err(at + fixed.len());
            }
            at += fixed.len();
            if hole < next {
                marks.set_steady(hole, self.texts.get(hole..next).unwrap_or_default(), at as i64 - end as i64);
            }
            let Some(leaf) = self.holes.get(next) else { break };
            let (end, text) = match plain(rest, at, leaf.kind) {
                Some(end) => (end, Text::Raw(0)),
                None => value(rest, at, leaf.kind, &mut marks.decoded).ok_or(at)?,
            };
            at = end;
            done = self.lead + leaf.end as usize;
            hole = next + 1;
            marks.set(next, at as i64 - done as i64, text);
        }
        Ok((self.lead, at))
    }

    /// Goes on comparing a payload that `bytes` begins with. Texts are decoded on the way where they hold simple escapes.
    /// What is steady is expected to be as it was in the payload last recognised, and looked at hole by hole where it is not.
    #[inline]
    pub(crate) fn compare(&self, bytes: &[u8], progress: &mut Progress, marks: &mut Marks) -> Compared {
        while let Some(&Step { end, next }) = self.steps.get(progress.step) {
            match self.compare_fixed(bytes, progress, end as usize) {
                Compared::Whole => {
                    let first = progress.hole;
                    marks.set_steady(first, self.texts.get(first..next).unwrap_or_default(), progress.shift());
                    progress.hole = next;
                }
                Compared::Differs if self.is_before(progress, next) => {
                    progress.is_new = true;
                    let compared = self.compare_singly(bytes, progress, marks, next, end as usize);
                    if compared != Compared::Whole {
                        return compared;
                    }
                }
                compared => return compared,
            }
            if let Some(leaf) = self.holes.get(next) {
                let compared = leaf.compare(bytes, progress, marks);
                if compared != Compared::Whole {
                    return compared;
                }
            }
            progress.step += 1;
        }
        Compared::Whole
    }

    /// Compares the holes before `next` one by one, and what stands between them up to `end`.
    #[cold]
    fn compare_singly(
        &self,
        bytes: &[u8],
        progress: &mut Progress,
        marks: &mut Marks,
        next: usize,
        end: usize,
    ) -> Compared {
        while let Some(leaf) = self.holes.get(progress.hole).filter(|_| progress.hole < next) {
            let compared = match self.compare_fixed(bytes, progress, leaf.start as usize) {
                Compared::Whole => leaf.compare(bytes, progress, marks),
                compared => compared,
            };
            if compared != Compared::Whole {
                return compared;
            }
        }
        self.compare_fixed(bytes, progress, end)
    }

    /// Whether there are holes before `next` to look at, and comparing has not come beyond where the first of them begins.
    fn is_before(&self, progress: &Progress, next: usize) -> bool {
        let hole = self.holes.get(progress.hole).filter(|_| progress.hole < next);
        hole.is_some_and(|leaf| progress.done <= leaf.start as usize)
    }

    /// What is steady is expected to be as it is in this payload from now on, where it is as long as before.
    fn expect(&mut self, payload: &[u8], marks: &Marks) {
        self.epoch = unique();
        for (place, leaf) in self.holes.iter().enumerate().filter(|(_, leaf)| leaf.steady) {
            let (Some(before), Some(behind)) = (marks.shifts.get(place), marks.shifts.get(place + 1)) else { return };
            let (from, to) = (leaf.start as usize, leaf.end as usize);
            let start = usize::try_from(i64::from(leaf.start) + before).unwrap_or_default();
            let text = marks.holes.get(place).filter(|text| before == behind && matches!(text, Text::Raw(_)));
            if let (Some(text), Some(now), Some(own), Some(kept)) = (
                text,
                payload.get(start..start + (to - from)),
                self.event.get_mut(self.lead + from..self.lead + to),
                self.texts.get_mut(place),
            ) {
                own.copy_from_slice(now);
                *kept = *text;
            }
        }
    }

    /// Compares on to the position `end` of the template.
    #[inline]
    fn compare_fixed(&self, bytes: &[u8], progress: &mut Progress, end: usize) -> Compared {
        let fixed = self.bytes().get(progress.done..end).unwrap_or_default();
        let rest = bytes.get(progress.at..).unwrap_or_default();
        let length = fixed.len().min(rest.len());
        if fixed.get(..length) != rest.get(..length) {
            return Compared::Differs;
        }
        progress.done += length;
        progress.at += length;
        if length == fixed.len() { Compared::Whole } else { Compared::SoFar }
    }
}

/// A number that is never given twice, not to another thread either.
fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The end of the value of a hole at `at` that is a string of ASCII without escapes, as most are.
#[inline]
fn plain(bytes: &[u8], at: usize, kind: Hole) -> Option<usize> {
    let end = match kind {
        Hole::Filled | Hole::String => scan::plain_run(bytes, at),
        _ => return None,
    };
    (bytes.get(end) == Some(&b'"') && (end > at || kind == Hole::String)).then_some(end)
}

/// Passes the value of a hole at `at`; gives where it ends, at the end of `bytes` if that is not known yet, and its text.
/// None where it is not such a value.
fn value(bytes: &[u8], at: usize, kind: Hole, decoded: &mut Vec<u8>) -> Option<(usize, Text)> {
    let text = Text::Raw(0);
    match kind {
        Hole::Filled | Hole::String => {
            let start = decoded.len();
            match scan::text(bytes, at, decoded) {
                Ok((end, _)) if end == at && kind == Hole::Filled => None,
                Ok((end, None)) => Some((end, Text::Decoded(start as u32, decoded.len() as u32))),
                Ok((_, Some(flags))) if flags & flag::INVALID != 0 => None,
                Ok((end, Some(flags))) => Some((end, Text::Raw(flags))),
                Err(end) => (end + LONGEST_ESCAPE > bytes.len()).then_some((bytes.len(), text)),
            }
        }
        Hole::Blanks => Some((pass_blanks(bytes, at), text)),
        Hole::Index => {
            let digits = bytes.get(at..).unwrap_or_default().iter().take(9).take_while(|byte| byte.is_ascii_digit());
            let end = at + digits.count();
            let is_index = end == at + 1 || bytes.get(at) != Some(&b'0');
            ((end > at && is_index) || end == bytes.len()).then_some((end, text))
        }
        Hole::Number | Hole::NonZero => match scan::number(bytes, at) {
            Ok(end) if kind == Hole::NonZero && is_zero(bytes.get(at..end).unwrap_or_default()) => {
                (end == bytes.len()).then_some((end, text))
            }
            Ok(end) => Some((end, text)),
            Err(end) => (end >= bytes.len()).then_some((end, text)),
        },
    }
}

/// Bytes of `\uXXXX`: where so many are missing, an escape may go on.
const LONGEST_ESCAPE: usize = 6;

/// The first position from `at` on that is no blank. Line ends are none here: they may end the event.
#[inline]
fn pass_blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}
