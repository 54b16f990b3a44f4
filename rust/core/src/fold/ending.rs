//! The end of calls and of the stream (A3 to A6, E, I7, I10, I12).

use std::borrow::Cow;
use std::sync::Arc;

use super::Fold;
use super::call::Call;
use super::choice::Choice;
use crate::arguments::{self, Scanner};
use crate::chunk::TextKind;
use crate::completion::{CallKind, End, IdSource, Status, ToolCall};
use crate::error::{Error, ErrorKind};
use crate::event::Record;
use crate::json::{Members, Sent};
use crate::policy::MissingId;
use crate::quirk::{Place, QuirkKind};

/// Finish reasons that cut an answer, in lower case (A5).
const CUTS: [&str; 12] = [
    "length",
    "max_tokens",
    "max_output_tokens",
    "model_context_window_exceeded",
    "content_filter",
    "safety",
    "recitation",
    "incomplete",
    "error",
    "failed",
    "cancelled",
    "aborted",
];

/// Whether a choice's finish reason lets its calls run (A5).
pub(super) fn is_whole(choice: &Choice) -> bool {
    let Some(reason) = choice.finish_reason.as_deref() else { return true };
    if reason.is_ascii() {
        return !CUTS.iter().any(|cut| cut.eq_ignore_ascii_case(reason));
    }
    !CUTS.contains(&reason.to_lowercase().as_str())
}

/// What is known of a call's end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    /// The end is proven (E3).
    pub(crate) proven: bool,
    /// Nothing about the response keeps calls from running.
    pub(crate) may_run: bool,
    /// What a call without id comes to (I10, I12); None where it may still get one.
    pub(crate) missing_id: Option<MissingId>,
}

impl Fold {
    /// The slots of the choices, by index.
    pub(crate) fn order(&self) -> Cow<'static, [usize]> {
        if self.choices.len() < 2 {
            return Cow::Borrowed(if self.choices.is_empty() { &[] } else { &[0] });
        }
        let mut slots: Vec<usize> = (0..self.choices.len()).collect();
        slots.sort_by_key(|&slot| self.choices.get(slot).map_or(0, |choice| choice.index));
        Cow::Owned(slots)
    }

    /// Makes the choice in that slot the current one; gives the message that came for it instead of deltas (X4).
    pub(crate) fn lone_message(&mut self, slot: usize) -> Option<Sent> {
        self.current = slot;
        let choice = self.choices.get_mut(slot).filter(|choice| choice.is_blank())?;
        let message = choice.rest.as_mut()?.message.take()?;
        self.discharge(message.counted());
        Some(message)
    }

    /// How the stream ended (E3), once nothing more comes; what is missing is reported.
    fn end(&mut self) -> End {
        if self.done {
            return End::Done;
        }
        let finished = self.choices.iter().all(|choice| choice.finish_reason.is_some());
        let (end, quirk, detail) = if finished && !self.choices.is_empty() {
            (End::Finished, QuirkKind::NoDone, "no end marker")
        } else {
            (End::Cut, QuirkKind::StreamCut, "no end marker and no finish reason for every choice")
        };
        self.quirks.report_at(None, quirk, Place::default(), || detail.to_owned());
        end
    }

    /// Ends all texts and all calls that have not ended; says how the stream ended.
    pub(crate) fn seal(&mut self) -> Result<End, Error> {
        self.end_blocks()?;
        self.reject_unnamed_ids()?;
        let end = self.end();
        for &slot in &*self.order() {
            self.current = slot;
            for kind in [TextKind::Reasoning, TextKind::Content, TextKind::Refusal] {
                self.flush_text(kind);
            }
            self.flush_halves();
            for call in 0..self.choices.get(slot).map_or(0, |choice| choice.calls.len()) {
                let choice = self.choices.get(slot);
                let ending = Ending {
                    proven: end == End::Done || choice.is_some_and(|choice| choice.finish_reason.is_some()),
                    may_run: end != End::Cut && choice.is_some_and(is_whole),
                    missing_id: Some(self.policy.missing_id),
                };
                self.end_call(slot, call, ending);
            }
            self.report_stop();
        }
        Ok(end)
    }

    /// I12: under `missing_id="reject"` a call without id is an error, before any call ends.
    pub(crate) fn reject_unnamed_ids(&self) -> Result<(), Error> {
        if self.policy.missing_id != MissingId::Reject {
            return Ok(());
        }
        for &slot in &*self.order() {
            let Some(choice) = self.choices.get(slot) else { continue };
            let nameless =
                |call: &&Call| call.id.is_empty() && call.ended.is_none() && call.kind != CallKind::LegacyFunction;
            if let Some(call) = choice.calls.iter().find(nameless) {
                return Err(Error::new(ErrorKind::MissingId, format!("the call of {:?} never got an id", call.name)));
            }
        }
        Ok(())
    }

    fn flush_text(&mut self, kind: TextKind) {
        let slot = self.current;
        let Some(choice) = self.choices.get_mut(slot) else { return };
        let text = choice.text(kind);
        let start = text.text.len();
        text.joiner.flush(&mut text.text);
        let (end, lone) = (text.text.len(), std::mem::take(&mut text.joiner.lone));
        let place = self.place();
        super::report_lone(&mut self.quirks, lone, place);
        self.events.text(kind, slot, start, end);
    }

    /// E4: the finish reason stays as it is; that there are calls is reported.
    fn report_stop(&mut self) {
        let stopped = self.choices.get(self.current).is_some_and(|choice| {
            choice.finish_reason.as_deref() == Some("stop") && choice.calls.iter().any(|call| !call.dropped)
        });
        if stopped {
            self.quirk(QuirkKind::FinishStopWithCalls, None, String::new);
        }
    }

    /// Ends one call: what was kept back comes, and its result.
    pub(crate) fn end_call(&mut self, slot: usize, position: usize, ending: Ending) {
        self.current = slot;
        let place = Place { call: Some(position), ..self.place() };
        let Some(call) = self.call_mut(position).filter(|call| call.ended.is_none() && !call.dropped) else { return };
        call.joiner.flush(&mut call.arguments);
        let lone = std::mem::take(&mut call.joiner.lone);
        super::report_lone(&mut self.quirks, lone, place);
        if self.is_repeat(position) {
            return;
        }
        self.settle_whole(position);
        let Some(choice) = self.choices.get(slot) else { return };
        let Some(call) = choice.calls.get(position) else { return };
        let mut result = tool_call(choice, position, call, ending, self.limits.depth);
        if result.id_source == IdSource::Synthetic && result.kind != CallKind::LegacyFunction {
            self.quirks.report(QuirkKind::SyntheticId, place, || result.id.clone());
        }
        if let Some(call) = self.call_mut(position) {
            result.arguments = call.hand_over();
            result.extra = std::mem::take(&mut call.extra);
        }
        if result.kind != CallKind::Custom
            && result.status != Status::Complete
            && let Some(recovered) = result.recovered(self.limits.depth)
        {
            self.quirks.report(QuirkKind::ArgumentsRepeated, place, || recovered.to_owned());
        }
        self.show_end(slot, position, Arc::new(result));
    }

    fn show_end(&mut self, slot: usize, position: usize, result: Arc<ToolCall>) {
        let Some(call) = self.call_mut(position) else { return };
        call.ended = Some(result);
        let length = call.arguments().len();
        let (started, shown) = (std::mem::replace(&mut call.started, true), std::mem::replace(&mut call.shown, length));
        if !started {
            self.events.push(Record::Start { choice: slot, call: position });
        }
        self.events.arguments(slot, position, shown, length);
        self.events.push(Record::End { choice: slot, call: position });
    }

    /// I7: a second call of a known id is dropped where it repeats an earlier one, else the collision is reported.
    fn is_repeat(&mut self, position: usize) -> bool {
        let Some(choice) = self.choices.get(self.current) else { return false };
        let Some(call) = choice.calls.get(position).filter(|call| call.held) else { return false };
        let repeats = choice.calls.iter().take(position).any(|earlier| {
            !earlier.dropped
                && earlier.id == call.id
                && earlier.name == call.name
                && earlier.arguments() == call.arguments()
        });
        let id = call.id.clone();
        if let Some(call) = self.call_mut(position) {
            call.dropped = repeats;
        }
        let kind = if repeats { QuirkKind::CallRepeated } else { QuirkKind::DuplicateId };
        self.quirk(kind, Some(position), || id);
        repeats
    }
}

/// The call as it is now, its arguments and extras left where they are.
pub(crate) fn tool_call(choice: &Choice, position: usize, call: &Call, ending: Ending, depth: usize) -> ToolCall {
    let status = status(call, call.stated(), ending.proven, depth);
    let (id, id_source) = if !call.id.is_empty() {
        (call.id.clone(), IdSource::Wire)
    } else if makes_id(ending.missing_id, call.kind) {
        (synthetic_id(choice, position), IdSource::Synthetic)
    } else {
        (String::new(), IdSource::None)
    };
    ToolCall {
        choice: choice.index,
        position,
        index: call.opened_at,
        id,
        name: call.name.clone(),
        arguments: String::new(),
        kind: call.kind,
        id_source,
        status,
        executable: ending.may_run && status == Status::Complete,
        extra: Members::new(),
        item_id: call.item_id.clone(),
        blocks_before: call.blocks_before,
    }
}

/// What a call came to (A4); `stated` are its arguments where those that were streamed do not stand.
pub(super) fn status(call: &Call, stated: Option<&str>, proven: bool, depth: usize) -> Status {
    if call.name.is_empty() {
        return Status::Unnamed;
    }
    match stated {
        Some(stated) => arguments::status(&mut Scanner::default(), stated.as_bytes(), call.kind, proven, depth),
        None if proven && call.kind != CallKind::Custom && arguments::is_plain_object(&call.arguments, depth) => {
            Status::Complete
        }
        None => arguments::status(&mut call.scanner(), &call.arguments, call.kind, proven, depth),
    }
}

/// I10: the id of a call that never got one, told apart from the ids seen on the wire.
fn synthetic_id(choice: &Choice, position: usize) -> String {
    let plain = format!("call-{position}");
    let taken = |id: &str| choice.ids.get(id).is_some();
    if !taken(&plain) {
        return plain;
    }
    (2..=choice.ids.len() + 2).map(|number| format!("{plain}-{number}")).find(|id| !taken(id)).unwrap_or(plain)
}

/// Whether a call that never got an id is given one (I12); a legacy call has none by design, and is never refused.
fn makes_id(missing_id: Option<MissingId>, kind: CallKind) -> bool {
    match missing_id {
        Some(MissingId::Synthesize) => true,
        Some(MissingId::Reject) => kind == CallKind::LegacyFunction,
        Some(MissingId::Empty) | None => false,
    }
}
