//! One choice being folded.

use super::call::Call;
use super::joined::Halves;
use crate::chunk::TextKind;
use crate::few::Few;
use crate::json::text::Joiner;
use crate::json::{Members, Sent, Value};

/// A text that grows by fragments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    /// UTF-8; it is known to be when it is appended.
    pub(crate) text: Vec<u8>,
    pub(crate) joiner: Joiner,
}

impl Text {
    /// Nothing came yet, not even half of a pair.
    fn is_blank(&self) -> bool {
        self.text.is_empty() && !self.joiner.holds()
    }
}

/// The call that an index is bound to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub(crate) call: usize,
    /// Bound by I5b: only until an id or a name comes there.
    pub(crate) borrowed: bool,
}

/// A choice being folded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    pub(crate) index: i64,
    pub(crate) content: Text,
    pub(crate) reasoning: Text,
    pub(crate) refusal: Text,
    pub(crate) reasoning_member: Option<&'static str>,
    pub(crate) calls: Vec<Call>,
    pub(crate) bound: Few<i64, Binding>,
    /// The index last used of them, and its call.
    pub(crate) recent: Option<(i64, usize)>,
    /// The wire ids seen (I10), each with the newest call that has it, if any (I2).
    pub(crate) ids: Few<Box<str>, Option<usize>>,
    /// The call of `function_call`.
    pub(crate) legacy: Option<usize>,
    pub(crate) finish_reason: Option<Box<str>>,
    /// The frame that the finish reason first came in.
    pub(crate) finished_in: Option<u64>,
    /// The frame in which something behind it was last reported (E1).
    pub(crate) late_in: Option<u64>,
    pub(crate) rest: Option<Box<Rest>>,
}

/// What few choices have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rest {
    pub(crate) logprobs: Option<Value>,
    pub(crate) extra: Members,
    /// Texts in it that wait for the other half of a surrogate pair.
    pub(crate) halves: Halves,
    /// Where the pieces of `reasoning_details` stand, by index.
    pub(crate) pieces: Few<i64, usize>,
    /// A message that came instead of deltas, as sent (X4).
    pub(crate) message: Option<Sent>,
}

impl Choice {
    #[inline]
    pub(crate) fn text(&mut self, kind: TextKind) -> &mut Text {
        match kind {
            TextKind::Reasoning => &mut self.reasoning,
            TextKind::Content => &mut self.content,
            TextKind::Refusal => &mut self.refusal,
        }
    }

    /// The call that the index is bound to.
    #[inline]
    pub(crate) fn call_at(&mut self, index: i64) -> Option<usize> {
        if let Some((recent, call)) = self.recent
            && recent == index
        {
            return Some(call);
        }
        let call = self.bound.get(&index)?.call;
        self.recent = Some((index, call));
        Some(call)
    }

    /// Binds an index to a call.
    pub(crate) fn bind(&mut self, index: i64, binding: Binding) {
        self.bound.insert(index, binding);
        self.recent = None;
    }

    pub(crate) fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_default()
    }

    /// The newest call with that id (I2).
    pub(crate) fn known(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied().flatten()
    }

    /// The last call that an entry of the list opened.
    pub(crate) fn last(&self) -> Option<usize> {
        (0..self.calls.len()).rev().find(|&call| self.legacy != Some(call))
    }

    /// Whether it got content, reasoning or a call (X4).
    pub(crate) fn is_blank(&self) -> bool {
        self.content.is_blank() && self.reasoning.is_blank() && self.calls.is_empty()
    }
}
