//! Recognising frames that differ from one seen before in a few values only. A template proves that a payload would be
//! read as the same operations: what stands outside its holes equals, byte for byte, and in each hole stands a value of
//! the kind that reading it needs. It never decides anything by itself.

mod compare;
mod learn;
mod marks;
mod pattern;
mod settle;
mod shelf;
mod sight;

pub(crate) use compare::{Compared, Progress};
pub(crate) use learn::Read;
pub(crate) use marks::{Marks, Saved, Text};
pub(crate) use pattern::{Closing, Opening, Pattern};
pub(crate) use shelf::{NONE, SUCCESSORS, Shelf};
pub(crate) use sight::Look;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::chunk::Op;
use crate::completion::Wire;
use crate::sse::Style;
use compare::Step;
use pattern::Varying;

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

/// Holes of a template at most.
pub(crate) const HOLES: usize = 24;

/// A payload that others are compared with.
#[derive(Debug)]
pub(crate) struct Template {
    /// Unique in the process, so that a template that took another one's place is not taken for it.
    pub(crate) number: u64,
    pub(crate) wire: Wire,
    /// The name of its event: what it says may depend on it.
    pub(crate) name: Box<[u8]>,
    style: Style,
    /// Levels of JSON in it.
    pub(crate) depth: usize,
    /// The event that it was learnt from, its steady values as in the one last recognised.
    event: Box<[u8]>,
    /// Where its payload begins and ends in it.
    lead: usize,
    tail: usize,
    leaves: Box<[Leaf]>,
    /// The leaves that are open.
    holes: Box<[Leaf]>,
    /// What stands in them, with which the template begins to be compared where they are steady.
    texts: Box<[Text]>,
    steps: Box<[Step]>,
    /// Where all that is steady, and all that a stream says once and for all, stands before the first hole that is not
    /// steady: the position in the event behind it.
    head: Option<usize>,
    /// The number of a template that was found to begin alike, up to there, whatever is steady in both; 0 for none.
    alike: u64,
    /// What the payload says.
    pub(crate) ops: Box<[Op]>,
    /// The same without what a stream says once and for all.
    pub(crate) body: Box<[Op]>,
    /// Another one, unique in the process, whenever what it says once and for all becomes something else.
    pub(crate) epoch: u64,
    /// It shows its wire, whatever stands in its holes (W1).
    pub(crate) decides: bool,
    /// What varies in its events, where they say nothing but one fragment of one text.
    fragment: Option<Varying>,
    used: u64,
    /// A steady value was of another length in the payload last recognised: the next such payload is moved to.
    moves: bool,
    /// How often in a row another one followed than the first of these.
    misses: u8,
    /// The templates that were recognised after this one, the last one first.
    next: [u32; SUCCESSORS],
}

impl Template {
    /// The bytes that it takes, roughly.
    fn weight(&self) -> usize {
        let leaves = size_of_val(&*self.leaves) + size_of_val(&*self.holes) + size_of_val(&*self.texts);
        size_of::<Self>() + self.event.len() + leaves + size_of_val(&*self.ops) + size_of_val(&*self.body)
    }

    /// The payload that it was learnt from, its steady values as in the one last recognised.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.event.get(self.lead..self.tail).unwrap_or_default()
    }

    /// Where the payload begins in an event.
    #[inline]
    pub(crate) const fn lead(&self) -> usize {
        self.lead
    }

    /// The payload of an event that the template recognises.
    pub(crate) fn payload_of<'a>(&self, event: &'a [u8]) -> &'a [u8] {
        let ending = self.event.len() - self.tail;
        event.get(self.lead..event.len().saturating_sub(ending)).unwrap_or_default()
    }

    /// The template that was recognised after this one last.
    #[inline]
    pub(crate) const fn successor(&self) -> u32 {
        self.next[0]
    }
}

/// A number that is never given twice, not to another thread either.
fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
