//! One call being folded.

use std::sync::Arc;

use super::whole::Whole;
use crate::arguments::{Progress, Scanner};
use crate::completion::{CallKind, ToolCall};
use crate::json::Members;
use crate::json::text::{Joiner, owned};

/// A call being folded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    /// The index it was opened at, if any.
    pub(crate) opened_at: Option<i64>,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: CallKind,
    /// UTF-8; it is known to be when it is appended.
    pub(crate) arguments: Vec<u8>,
    pub(crate) joiner: Joiner,
    /// What the arguments are, looked at only by calls that ask (I2).
    pub(crate) scanner: Option<Box<Scanner>>,
    /// Its start was shown; `shown` bytes of its arguments were too (I11).
    pub(crate) started: bool,
    pub(crate) shown: usize,
    /// A second call of a known id, kept back from events until the end (I7).
    pub(crate) held: bool,
    /// It turned out to be a repeat and does not stand (I7).
    pub(crate) dropped: bool,
    pub(crate) extra: Members,
    pub(crate) item_id: Option<String>,
    pub(crate) blocks_before: usize,
    /// What the wire said that its arguments are as a whole.
    pub(crate) whole: Option<Box<Whole>>,
    /// The call as it ended.
    pub(crate) ended: Option<Arc<ToolCall>>,
}

impl Call {
    /// A delta is of that kind: until the call has a name or arguments it may turn out to be no plain function, and
    /// stays what it turned out to be (X3).
    #[inline]
    pub(crate) fn turn_out(&mut self, kind: CallKind) {
        if self.kind == CallKind::Function && self.name.is_empty() && self.arguments.is_empty() {
            self.kind = kind;
        }
    }

    /// Whether the arguments are one complete JSON value (I2); a custom tool's input never is.
    pub(crate) fn is_complete(&mut self, depth: usize) -> bool {
        self.kind != CallKind::Custom && self.scan(depth) == Progress::Complete
    }

    fn scan(&mut self, depth: usize) -> Progress {
        self.scanner.get_or_insert_default().advance(&self.arguments, depth)
    }

    /// The scanner of the arguments that were streamed.
    pub(crate) fn scanner(&self) -> Scanner {
        self.scanner.as_deref().cloned().unwrap_or_default()
    }

    /// Whether both id and name are known.
    #[inline]
    pub(crate) fn is_identified(&self) -> bool {
        !self.id.is_empty() && !self.name.is_empty()
    }

    /// The arguments as streamed, wherever they are now.
    pub(crate) fn arguments(&self) -> &[u8] {
        match &self.ended {
            Some(call) if self.standing().is_none() => call.arguments.as_bytes(),
            _ => &self.arguments,
        }
    }

    /// What stands in place of the arguments that were streamed.
    fn standing(&self) -> Option<&str> {
        self.whole.as_ref()?.standing.as_deref()
    }

    /// What the arguments are as yet, where that is not what was streamed.
    pub(crate) fn stated(&self) -> Option<&str> {
        let whole = self.whole.as_ref()?;
        self.standing().or_else(|| self.arguments.is_empty().then(|| whole.filling()))
    }

    /// Gives the arguments of a call that ends away; those that an event has shown stay.
    pub(crate) fn hand_over(&mut self) -> String {
        match self.standing() {
            Some(standing) => standing.to_owned(),
            None => owned(std::mem::take(&mut self.arguments)),
        }
    }
}
