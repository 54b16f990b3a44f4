//! Runs of fragments of one text, appended without looking at the whole fold for each of them.

use super::Fold;
use crate::chunk::{Arguments, CallDelta, Ident, Op, TextKind, View};
use crate::event::EventLog;

/// The least room of a text that a second fragment has come for.
const ROOM: usize = 128;

/// A text that fragments are appended to. Whatever is done for each of them (I4g, X1) would do nothing but append it.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    /// The text, and behind what stands of it what may yet be taken back.
    pub(crate) text: &'a mut Vec<u8>,
    /// Bytes of the text that stand.
    kept: usize,
    /// Bytes of it when the run began, and those that it may have (S8).
    start: usize,
    most: usize,
    slot: usize,
    into: Into<'a>,
    events: &'a mut EventLog,
    weight: &'a mut usize,
}

#[derive(Debug)]
enum Into<'a> {
    Text(TextKind),
    /// The position of a call, and what of its arguments was shown.
    Call(usize, &'a mut usize),
}

impl Fold {
    /// Begins a run of the fragments that `ops` bring, for the call of that index where one is given. None where a
    /// fragment might do more than grow a text.
    #[inline]
    pub(crate) fn begin_run(&mut self, ops: &[Op], index: Option<i64>, view: &View<'_>) -> Option<Run<'_>> {
        let [Op::Choice(choice), op] = ops else { return None };
        let slot = self.current;
        let current = self.choices.get_mut(slot).filter(|current| current.index == *choice)?;
        if current.finish_reason.is_some() {
            return None;
        }
        let (text, joiner, into) = match *op {
            Op::Text(kind, _, member) => {
                if kind == TextKind::Reasoning && current.reasoning_member.is_none() && !member.is_empty() {
                    return None;
                }
                let text = current.text(kind);
                (&mut text.text, text.joiner, Into::Text(kind))
            }
            Op::Call(CallDelta {
                index: own,
                id: Ident::Absent,
                name: Ident::Absent,
                arguments: Arguments::Text(_),
                ..
            }) => {
                let position = current.call_at(index.or_else(|| own.read(view))?)?;
                // A call that has started has a name: its kind stands.
                let call = current.calls.get_mut(position).filter(|call| call.started)?;
                (&mut call.arguments, call.joiner, Into::Call(position, &mut call.shown))
            }
            _ => return None,
        };
        if joiner.holds() {
            return None;
        }
        self.call = if let Into::Call(position, _) = into { Some(position) } else { None };
        if text.capacity() < ROOM {
            text.reserve_exact(ROOM - text.len());
        }
        let (kept, most) = (text.len(), text.len() + self.limits.text.saturating_sub(self.weight));
        Some(Run { text, kept, start: kept, most, slot, into, events: &mut self.events, weight: &mut self.weight })
    }
}

impl Run<'_> {
    /// Bytes of the text behind what stands.
    #[inline]
    pub(crate) const fn pending(&self) -> usize {
        self.text.len() - self.kept
    }

    /// What the text ends with stands, unless there is more of it than the limit lets.
    #[inline]
    pub(crate) fn keep(&mut self) -> bool {
        if self.text.len() > self.most {
            return false;
        }
        let from = std::mem::replace(&mut self.kept, self.text.len());
        if !self.events.coalesce {
            self.tell(from);
        }
        true
    }

    /// The event that the text grew behind `from`.
    fn tell(&mut self, from: usize) {
        match self.into {
            Into::Text(kind) => self.events.text(kind, self.slot, from, self.kept),
            Into::Call(call, _) => self.events.arguments(self.slot, call, from, self.kept),
        }
    }
}

/// However a run ends, what stands is counted and shown.
impl Drop for Run<'_> {
    #[inline]
    fn drop(&mut self) {
        self.text.truncate(self.kept);
        *self.weight += self.kept - self.start;
        if self.events.coalesce {
            self.tell(self.start);
        }
        if let Into::Call(_, shown) = &mut self.into {
            **shown = self.kept;
        }
    }
}
