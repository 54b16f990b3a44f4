//! Events that bring nothing but one fragment of one text, as most do: what stands before it and behind it.

use super::compare::common;
use super::{Hole, Template};
use crate::chunk::{Arguments, CallDelta, Ident, Index, Op};
use crate::json::scan;

/// What an event consists of beside its fragment, and beside the index of its call where that may differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern<'a> {
    /// Up to the index, if there is one, else up to the fragment.
    before: &'a [u8],
    /// From the index up to the fragment.
    between: Option<&'a [u8]>,
    after: &'a [u8],
    /// The fragment is not empty.
    is_filled: bool,
    /// Where all that is steady stands before that position, the position.
    head: Option<usize>,
}

/// How an event goes on from its fragment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// As it should; it ends there.
    Whole(usize),
    /// The fragment is not one of plain text and simple escapes, or what came ends too early.
    Unclear,
    /// Otherwise.
    Differs,
}

impl Closing {
    /// The same where `is_kept` says so of the end.
    #[inline]
    pub(crate) fn filter(self, is_kept: impl FnOnce(usize) -> bool) -> Self {
        match self {
            Self::Whole(end) if !is_kept(end) => Self::Unclear,
            closing => closing,
        }
    }
}

/// What of an event stands before its fragment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// The index of the call, if it may differ.
    pub(crate) index: Option<i64>,
    /// Where the fragment begins.
    pub(crate) at: usize,
}

impl Template {
    /// The pattern of the events that it recognises, as long as what is steady in them does not change.
    #[inline]
    pub(crate) fn pattern(&self) -> Option<Pattern<'_>> {
        if !self.is_fragment {
            return None;
        }
        let (between, text) = match *self.steps {
            [first, _] => (None, first),
            [first, second, _] => {
                let index = self.holes.get(first.next as usize)?;
                (self.event.get(self.lead + index.end as usize..second.end as usize), second)
            }
            _ => return None,
        };
        let hole = self.holes.get(text.next as usize)?;
        Some(Pattern {
            before: self.event.get(..self.steps.first()?.end as usize)?,
            between,
            after: self.event.get(self.lead + hole.end as usize..)?,
            is_filled: hole.kind == Hole::Filled,
            head: self.head,
        })
    }

    /// Whether the events that it recognises bring one fragment, and differ in nothing else that is read from them than
    /// the index of a call before it.
    pub(super) fn brings_fragment(&self) -> bool {
        let [Op::Choice(_), op] = &*self.body else { return false };
        let (index, text) = match op {
            Op::Text(_, text, _) => (None, text),
            Op::Call(CallDelta {
                index,
                id: Ident::Absent,
                name: Ident::Absent,
                arguments: Arguments::Text(text),
                ..
            }) => (Some(*index), text),
            _ => return false,
        };
        let mut lively = self.holes.iter().enumerate().filter(|(_, leaf)| !leaf.steady).map(|(place, _)| place);
        let is_text = |place: usize| place == usize::from(text.hole);
        match (lively.next(), lively.next(), lively.next()) {
            (Some(one), None, None) => is_text(one),
            (Some(one), Some(other), None) => {
                matches!(index, Some(Index::At(span)) if usize::from(span.hole) == one) && is_text(other)
            }
            _ => false,
        }
    }
}

impl Pattern<'_> {
    /// Bytes of such an event beside its fragment.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.before.len() + self.between.map_or(0, <[u8]>::len) + self.after.len()
    }

    /// What stands before the fragment of an event that `bytes` begins with.
    #[inline]
    pub(crate) fn open(&self, bytes: &[u8]) -> Option<Opening> {
        if !bytes.starts_with(self.before) {
            return None;
        }
        let at = self.before.len();
        let Some(between) = self.between else { return Some(Opening { index: None, at }) };
        let (index, end) = scan::index(bytes, at)?;
        let rest = bytes.get(end..)?;
        rest.starts_with(between).then_some(Opening { index: Some(index), at: end + between.len() })
    }

    /// Appends the fragment at `at` to `text`. Where the event does not end as it should, what is in `text` behind what
    /// was there means nothing.
    #[inline]
    pub(crate) fn close(&self, bytes: &[u8], at: usize, text: &mut Vec<u8>) -> Closing {
        let Some(end) = scan::decode_simple(bytes, at, text) else { return Closing::Unclear };
        let rest = bytes.get(end..).unwrap_or_default();
        if end == at && self.is_filled {
            Closing::Differs
        } else if rest.starts_with(self.after) {
            Closing::Whole(end + self.after.len())
        } else if rest.len() < self.after.len() || self.head.is_none() {
            Closing::Unclear
        } else {
            Closing::Differs
        }
    }

    /// How much of `bytes` was looked at by [`Pattern::open`] in vain, and whether it differs in something that is not
    /// steady.
    pub(crate) fn vain(&self, bytes: &[u8]) -> (usize, bool) {
        // The byte behind the last steady value shows that it is not longer.
        let head = self.head.map_or(0, |head| self.before.len().min(head + 1));
        if bytes.len() < self.before.len() || !bytes.starts_with(self.before.get(..head).unwrap_or_default()) {
            return (bytes.len().min(head), false);
        }
        let (rest, before) = (bytes.get(head..).unwrap_or_default(), self.before.get(head..).unwrap_or_default());
        let same = common(before, rest);
        (head + same, self.head.is_some() && same < before.len())
    }
}
