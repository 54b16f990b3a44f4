//! Recognising frames that differ from one seen before in a few values only. A template proves that a payload would be
//! read as the same operations: what stands outside its holes equals, byte for byte, and in each hole stands a value of
//! the kind that reading it needs. It never decides anything by itself.

mod learn;
mod shelf;

pub(crate) use learn::Read;
pub(crate) use shelf::{Found, Kind, Shelf};

use crate::chunk::{Fit, Op, PartForm, TextKind, View};
use crate::completion::{CallKind, Wire};
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
}

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
    /// The payload, seen through the template's operations.
    #[inline]
    pub(crate) fn view<'a>(&'a self, bytes: &'a [u8]) -> View<'a> {
        View { bytes, shifts: &self.shifts, holes: &self.holes, decoded: &self.decoded }
    }
}

/// A payload that brings one fragment of one text, where everything else was said before.
#[derive(Debug)]
pub(crate) struct Quick {
    /// What stands before the fragment, from the beginning of the event on.
    pub(crate) opening: Box<[u8]>,
    /// What stands behind it, up to the end of the event, or up to blanks before its last brace.
    pub(crate) closing: Box<[u8]>,
    /// What stands behind those blanks, if there are any.
    pub(crate) ending: Option<Box<[u8]>>,
    pub(crate) choice: i64,
    pub(crate) action: Action,
}

/// Where the fragment goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// To a text of the choice; for reasoning the member that it came in.
    Text(TextKind, &'static str),
    /// To the arguments of the call under that index.
    Arguments(i64, CallKind),
    /// To the part of that form and place of the block under that index.
    Part(i64, Fit, &'static PartForm, i64),
    /// To the input of the block under that index.
    Input(i64, Fit),
}

/// A payload that others are compared with.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) wire: Wire,
    /// The name of its event: what it says may depend on it.
    name: Box<[u8]>,
    /// Levels of JSON in it.
    pub(crate) depth: usize,
    bytes: Box<[u8]>,
    leaves: Vec<Leaf>,
    /// The leaves that are open.
    holes: Vec<Leaf>,
    /// What the payload says.
    pub(crate) ops: Vec<Op>,
    /// The same without what a stream says once and for all.
    pub(crate) body: Vec<Op>,
    /// Equal for templates that say the same once and for all; 0 where that may vary.
    pub(crate) header: u64,
    /// The length of what stands outside the holes.
    fixed: usize,
    /// What most templates are.
    pub(crate) quick: Option<Quick>,
    used: u64,
    /// The template that was recognised after this one.
    next: usize,
}

impl Template {
    /// What stands before the first hole.
    fn opening(&self) -> &[u8] {
        let end = self.holes.first().map_or(self.bytes.len(), |hole| hole.start as usize);
        self.bytes.get(..end).unwrap_or_default()
    }

    /// Where a payload first differs from the opening; its length where it does not.
    fn differs(&self, bytes: &[u8]) -> usize {
        let opening = self.opening();
        opening.iter().zip(bytes).position(|(own, other)| own != other).unwrap_or(opening.len())
    }

    /// Compares a payload that `bytes` begins with; gives where it ends, or how far the comparison came.
    #[inline]
    fn compare(&self, bytes: &[u8], marks: &mut Marks) -> Result<usize, usize> {
        let (mut at, mut done) = (0, 0);
        marks.decoded.clear();
        let slots = marks.shifts.iter_mut().skip(1).zip(&mut marks.holes);
        for (hole, (shift, mark)) in self.holes.iter().zip(slots) {
            let fixed = self.bytes.get(done..hole.start as usize).unwrap_or_default();
            let from = at + fixed.len();
            if bytes.get(at..from) != Some(fixed) {
                return Err(from);
            }
            let (end, text) = value(bytes, from, hole.kind, &mut marks.decoded)?;
            done = hole.end as usize;
            at = end;
            *shift = end as i64 - done as i64;
            *mark = text;
        }
        let fixed = self.bytes.get(done..).unwrap_or_default();
        let end = at + fixed.len();
        if bytes.get(at..end) == Some(fixed) { Ok(end) } else { Err(end) }
    }
}

/// Passes the value of a hole at `at`; gives where it ends and its text, or where it is not such a value.
#[inline]
fn value(bytes: &[u8], at: usize, kind: Hole, decoded: &mut Vec<u8>) -> Result<(usize, Text), usize> {
    match kind {
        Hole::Filled | Hole::String => {
            let start = decoded.len();
            let (end, flags) = scan::text(bytes, at, decoded)?;
            let text = match flags {
                Some(flags) if flags & flag::INVALID != 0 => return Err(end),
                Some(flags) => Text::Raw(flags),
                None => Text::Decoded(start as u32, decoded.len() as u32),
            };
            if end > at || kind == Hole::String { Ok((end, text)) } else { Err(end) }
        }
        Hole::Blanks => Ok((pass_blanks(bytes, at), Text::Raw(0))),
        Hole::Number | Hole::NonZero => {
            let end = scan::number(bytes, at)?;
            let number = bytes.get(at..end).unwrap_or_default();
            if kind == Hole::Number || !is_zero(number) { Ok((end, Text::Raw(0))) } else { Err(end) }
        }
    }
}

/// The first position from `at` on that is no blank. Line ends are none here: they may end the event.
#[inline]
pub(crate) fn pass_blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}
