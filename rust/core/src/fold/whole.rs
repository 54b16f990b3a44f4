//! Calls whose beginning and end the wire itself says, and what it says their arguments are as a whole (A3, W2, W3).

use std::sync::Arc;

use super::Fold;
use super::call::Call;
use super::ending::{Ending, status};
use crate::chunk::{Arguments, View};
use crate::completion::{CallKind, Status, ToolCall};
use crate::error::{Error, ErrorKind};
use crate::json::Members;
use crate::policy::MissingId;
use crate::quirk::QuirkKind;

/// What the wire said that a call's arguments are as a whole; empty where it said nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whole {
    /// When the call began.
    pub(super) begun: Box<str>,
    /// When it was done.
    pub(super) done: Box<str>,
    /// What counts where nothing else came; it is not compared (W2).
    pub(super) fallback: Box<str>,
    /// Stands in place of what was streamed.
    pub(super) standing: Option<Box<str>>,
    /// Stands in place of what the call's end has shown.
    pub(super) revised: Option<Box<str>>,
}

impl Whole {
    /// What fills arguments of which nothing was streamed.
    pub(super) fn filling(&self) -> &str {
        [&self.done, &self.begun, &self.fallback].into_iter().find(|value| !value.is_empty()).map_or("", |value| value)
    }
}

impl Fold {
    /// Opens a call where the wire says that one begins, with the id that came, if any.
    pub(crate) fn open_call(
        &mut self,
        index: Option<i64>,
        id: Option<&str>,
        kind: CallKind,
        blocks_before: usize,
    ) -> Result<usize, Error> {
        self.note_late();
        if let Some(id) = id {
            self.see_id(id, None)?;
        }
        let position = self.open(index, false)?;
        if let Some(call) = self.call_mut(position) {
            call.kind = kind;
            call.blocks_before = blocks_before;
        }
        Ok(position)
    }

    /// Takes an accepted id and name (I1, I3, I12).
    pub(crate) fn identify(&mut self, call: usize, id: Option<&str>, name: Option<&str>) -> Result<(), Error> {
        if let Some(id) = id {
            self.see_id(id, None)?;
        }
        let established = self.call_mut(call).map(|call| call.id.clone()).unwrap_or_default();
        if let Some(id) = id.filter(|id| !established.is_empty() && **id != *established) {
            self.quirk(QuirkKind::IdChanged, Some(call), || format!("{established}, then {id}"));
        }
        self.accept_id(call, id)?;
        self.accept_name(call, name)
    }

    /// Keeps unknown members of a call (X2), whose names do not repeat; the last ones stand.
    pub(crate) fn put_call_extras(&mut self, call: usize, members: Members) -> Result<(), Error> {
        let mut extra = self.call_mut(call).map(|call| std::mem::take(&mut call.extra)).unwrap_or_default();
        let result = self.put_all(&mut extra, members);
        if let Some(call) = self.call_mut(call) {
            call.extra = extra;
        }
        result
    }

    /// Shows what can be shown of a call of the current choice (I11).
    pub(crate) fn show_call(&mut self, call: usize) {
        self.show(self.current, call);
    }

    /// A fragment of the input of the block that operations are about, or of its call's arguments.
    #[inline]
    pub(super) fn input(&mut self, arguments: Arguments, view: &View<'_>) -> Result<(), Error> {
        let Some(at) = self.block else { return Ok(()) };
        let Some((call, path)) = self.blocks().get(at).map(|block| (block.call, block.input)) else { return Ok(()) };
        if let Some(call) = call {
            if !matches!(arguments, Arguments::Text(span) if view.raw(span).is_empty()) {
                self.note_late();
                if matches!(arguments, Arguments::Source(_)) {
                    self.quirk(QuirkKind::ArgumentsType, Some(call), || "taken as its source text".to_owned());
                }
                return self.take_arguments(self.current, call, arguments, view);
            }
            return Ok(());
        }
        match (path, arguments) {
            (Some(path), Arguments::Text(span)) => {
                let (raw, flags) = view.text(span);
                self.own_text(at, path, raw, flags)
            }
            (Some(path), Arguments::Source(span)) => {
                self.quirk(QuirkKind::ArgumentsType, None, || "taken as its source text".to_owned());
                let source = crate::json::text::compact(view.raw(span));
                self.grow_own(at, path, |joiner, text| {
                    joiner.flush(text);
                    text.extend_from_slice(source.as_bytes());
                })
            }
            _ => Ok(()),
        }
    }

    /// The id of a call of the current choice, where it has one.
    pub(crate) fn call_id(&self, call: usize) -> Option<&str> {
        let call = self.choices.get(self.current)?.calls.get(call)?;
        Some(&*call.id).filter(|id| !id.is_empty())
    }

    /// Whether a call of the current choice has ended.
    pub(crate) fn has_ended(&self, call: usize) -> bool {
        self.choices
            .get(self.current)
            .and_then(|choice| choice.calls.get(call))
            .is_some_and(|call| call.ended.is_some())
    }

    /// A call knows the first id of its item, as long as its end has not been shown.
    pub(super) fn name_item(&mut self, call: usize, item: usize) {
        let (current, blocks) = (self.current, self.blocks.as_ref());
        let id = blocks.and_then(|blocks| blocks.all.get(item)?.id.as_deref());
        let call = self.choices.get_mut(current).and_then(|choice| choice.calls.get_mut(call));
        if let Some(call) = call.filter(|call| call.ended.is_none() && call.item_id.is_none()) {
            call.item_id = id.map(str::to_owned);
        }
    }

    /// Keeps arguments that count where none are streamed (W2).
    pub(crate) fn take_fallback(&mut self, call: usize, value: &str) -> Result<(), Error> {
        self.charge(value.len())?;
        if let Some(call) = self.call_mut(call) {
            call.whole.get_or_insert_default().fallback = value.into();
        }
        Ok(())
    }

    /// Keeps what a call's arguments were said to be, when it began or when it was done. It is compared when the call
    /// ends; of a call that has ended it stands only if none was said to be done before.
    pub(crate) fn take_whole(&mut self, position: usize, value: &str, done: bool) -> Result<(), Error> {
        let Some(call) = self.call_mut(position).filter(|_| !value.is_empty()) else { return Ok(()) };
        let whole = call.whole.get_or_insert_default();
        if let Some(ended) = &call.ended {
            let (shown, stands) = (whole.revised.as_deref().unwrap_or(&ended.arguments), whole.done.is_empty());
            if shown == value {
                return Ok(());
            }
            self.quirk(QuirkKind::SnapshotDiffers, Some(position), || value.to_owned());
            return if stands { self.revise(position, value) } else { Ok(()) };
        }
        let former = if done { whole.done.len() } else { whole.begun.len() };
        self.recharge(former, value.len())?;
        if let Some(whole) = self.call_mut(position).and_then(|call| call.whole.as_mut()) {
            *(if done { &mut whole.done } else { &mut whole.begun }) = value.into();
        }
        Ok(())
    }

    fn revise(&mut self, position: usize, value: &str) -> Result<(), Error> {
        self.charge(value.len())?;
        if let Some(whole) = self.call_mut(position).and_then(|call| call.whole.as_mut()) {
            whole.revised = Some(value.into());
        }
        Ok(())
    }

    /// Ends the text of a call: what it was said to be fills it, or is compared (W2, W3).
    pub(super) fn settle_whole(&mut self, position: usize) {
        let Some(call) = self.call_mut(position) else { return };
        let Some(whole) = &mut call.whole else { return };
        if call.arguments.is_empty() {
            call.arguments.extend_from_slice(whole.filling().as_bytes());
        }
        let differs = |value: &str| !value.is_empty() && value.as_bytes() != call.arguments;
        let (begun, done) = (differs(&whole.begun), differs(&whole.done));
        if done {
            whole.standing = Some(whole.done.clone());
        }
        if begun || done {
            self.quirk(QuirkKind::SnapshotDiffers, Some(position), String::new);
        }
    }

    /// Ends a call whose block or item has ended, which proves its end (A3, A4).
    pub(crate) fn close_call(&mut self, position: usize) -> Result<(), Error> {
        let (slot, rejects) = (self.current, self.policy.missing_id == MissingId::Reject);
        let missing_id = Some(self.policy.missing_id);
        let Some(call) = self.call_mut(position).filter(|call| call.ended.is_none()) else { return Ok(()) };
        if rejects && call.id.is_empty() {
            return Err(Error::new(ErrorKind::MissingId, format!("the call of {:?} never got an id", call.name)));
        }
        self.end_call(slot, position, Ending { proven: true, may_run: false, missing_id });
        Ok(())
    }
}

/// A call that has ended, as the completion has it: what was said of it later stands, and it may run once the response
/// has ended well (A3, A5).
pub(super) fn settled(call: &Call, ended: &Arc<ToolCall>, may_run: bool, depth: usize) -> Arc<ToolCall> {
    let revised = call.whole.as_ref().and_then(|whole| whole.revised.as_deref());
    let executable = may_run && ended.status == Status::Complete;
    if revised.is_none() && ended.executable == executable {
        return ended.clone();
    }
    let mut result = ToolCall::clone(ended);
    if let Some(revised) = revised {
        revised.clone_into(&mut result.arguments);
        result.status = status(call, Some(revised), true, depth);
    }
    result.executable = may_run && result.status == Status::Complete;
    Arc::new(result)
}
