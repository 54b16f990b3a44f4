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
    /// From the fragment up to the padding, if there is any, else up to the end.
    after: &'a [u8],
    /// From the padding up to the end.
    behind: Option<&'a [u8]>,
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

/// Which holes that are not steady the events of a pattern have beside that of their fragment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Varying {
    /// The index of the call, before it.
    index: bool,
    /// A string behind it that nothing is read from, with which some servers hide how long it is.
    padding: bool,
}

impl Template {
    /// The pattern of the events that it recognises, as long as what is steady in them does not change.
    #[inline]
    pub(crate) fn pattern(&self) -> Option<Pattern<'_>> {
        let Varying { index, padding } = self.fragment?;
        let text = usize::from(index);
        let behind = |step: usize| {
            let hole = self.holes.get(self.steps.get(step)?.next as usize)?;
            self.event.get(self.lead + hole.end as usize..self.steps.get(step + 1)?.end as usize)
        };
        let hole = self.holes.get(self.steps.get(text)?.next as usize)?;
        Some(Pattern {
            before: self.event.get(..self.steps.first()?.end as usize)?,
            between: if index { Some(behind(0)?) } else { None },
            after: behind(text)?,
            behind: if padding { Some(behind(text + 1)?) } else { None },
            is_filled: hole.kind == Hole::Filled,
            head: self.head,
        })
    }

    /// What varies in the events that it recognises, where they bring one fragment and nothing else is read from them.
    pub(super) fn varying(&self) -> Option<Varying> {
        let [Op::Choice(_), op] = &*self.body else { return None };
        let (index, text) = match op {
            Op::Text(_, text, _) => (None, text),
            Op::Call(CallDelta {
                index,
                id: Ident::Absent,
                name: Ident::Absent,
                arguments: Arguments::Text(text),
                ..
            }) => (Some(*index), text),
            _ => return None,
        };
        let lively = self.holes.iter().enumerate().filter(|(_, leaf)| !leaf.steady);
        let lively: Vec<usize> = lively.map(|(hole, _)| hole).collect();
        let place = lively.iter().position(|&hole| hole == usize::from(text.hole))?;
        let is_index = |hole: usize| matches!(index, Some(Index::At(span)) if usize::from(span.hole) == hole);
        let is_padding = |hole: usize| self.holes.get(hole).is_some_and(|leaf| leaf.kind == Hole::String);
        let (before, behind) = (lively.get(..place)?, lively.get(place + 1..)?);
        let index = match *before {
            [] => false,
            [hole] if is_index(hole) => true,
            _ => return None,
        };
        let padding = match *behind {
            [] => false,
            [hole] if is_padding(hole) && !is_index(hole) => true,
            _ => return None,
        };
        Some(Varying { index, padding })
    }
}

impl Pattern<'_> {
    /// Bytes of such an event beside its fragment.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        let [between, behind] = [self.between, self.behind].map(|part| part.map_or(0, <[u8]>::len));
        self.before.len() + between + self.after.len() + behind
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
        if end == at && self.is_filled {
            return Closing::Differs;
        }
        let closing = self.close_with(bytes, end, self.after);
        match (closing, self.behind) {
            (Closing::Whole(padding), Some(behind)) => {
                let end = scan::plain_run(bytes, padding);
                if bytes.get(end) == Some(&b'"') { self.close_with(bytes, end, behind) } else { Closing::Unclear }
            }
            (closing, _) => closing,
        }
    }

    /// Passes `fixed` at `at`.
    #[inline]
    fn close_with(&self, bytes: &[u8], at: usize, fixed: &[u8]) -> Closing {
        let rest = bytes.get(at..).unwrap_or_default();
        if rest.starts_with(fixed) {
            Closing::Whole(at + fixed.len())
        } else if rest.len() < fixed.len() || self.head.is_none() {
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
