//! The events of a stream, kept as ranges of the texts they belong to until somebody takes them.

use std::sync::Arc;

use crate::chunk::TextKind;
use crate::completion::ToolCall;
use crate::json::Value;

/// A fragment of a text, in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment<'a>(pub &'a [u8]);

impl<'a> Fragment<'a> {
    /// The fragment as a string.
    #[must_use]
    pub fn text(self) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.0)
    }
}

/// An event, with its texts.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// A fragment of content.
    TextDelta(i64, Fragment<'a>),
    /// A fragment of reasoning.
    ReasoningDelta(i64, Fragment<'a>),
    /// A fragment of a refusal.
    RefusalDelta(i64, Fragment<'a>),
    /// A call's identity is known: choice, position, id, name.
    ToolCallStart(i64, usize, &'a str, &'a str),
    /// A fragment of a call's arguments: choice, position, text.
    ToolCallDelta(i64, usize, Fragment<'a>),
    /// A call has ended.
    ToolCallEnd(i64, usize, &'a Arc<ToolCall>),
    /// A choice's finish reason.
    Finish(i64, &'a str),
    /// A usage object.
    Usage(&'a Value),
}

/// An event as it is recorded. `choice` and `call` are slots of the fold.
#[derive(Clone, Debug)]
pub(crate) enum Record {
    Text { kind: TextKind, choice: usize, start: usize, end: usize },
    Start { choice: usize, call: usize },
    Arguments { choice: usize, call: usize, start: usize, end: usize },
    End { choice: usize, call: usize },
    Finish { choice: usize, reason: Box<str> },
    Usage(Value),
}

/// The events not taken yet.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    records: Vec<Record>,
    /// Nobody will take events: none are recorded.
    pub(crate) off: bool,
    /// Neighbouring fragments of one text become one event.
    pub(crate) coalesce: bool,
}

impl EventLog {
    #[inline]
    pub(crate) fn push(&mut self, record: Record) {
        if !self.off {
            self.records.push(record);
        }
    }

    /// Records a fragment of a text of a choice.
    #[inline]
    pub(crate) fn text(&mut self, kind: TextKind, choice: usize, start: usize, end: usize) {
        if self.off || start == end {
            return;
        }
        if let Some(Record::Text { kind: last, choice: same, end: reached, .. }) = self.records.last_mut()
            && self.coalesce
            && *last == kind
            && *same == choice
        {
            *reached = end;
            return;
        }
        self.records.push(Record::Text { kind, choice, start, end });
    }

    /// Records a fragment of a call's arguments.
    #[inline]
    pub(crate) fn arguments(&mut self, choice: usize, call: usize, start: usize, end: usize) {
        if self.off || start == end {
            return;
        }
        if let Some(Record::Arguments { choice: same, call: last, end: reached, .. }) = self.records.last_mut()
            && self.coalesce
            && *last == call
            && *same == choice
        {
            *reached = end;
            return;
        }
        self.records.push(Record::Arguments { choice, call, start, end });
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// The events were taken. Room for a few stays.
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        if self.records.capacity() > 16 {
            self.records = Vec::new();
        }
    }
}
