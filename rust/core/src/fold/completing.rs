//! The result of a fold, at its end or before.

use std::sync::Arc;

use super::Fold;
use super::choice::{Choice, Text};
use super::ending::{Ending, is_whole, tool_call};
use super::whole::settled;
use crate::chunk::TextKind;
use crate::completion::{self, Completion, End, ToolCall, Wire};
use crate::error::Error;
use crate::json::Value;
use crate::json::text::owned;

/// How a wire's blocks look, as they stand: of the fold and the calls of its one choice.
pub(crate) type Render = fn(&Fold, &[Arc<ToolCall>]) -> Vec<Value>;

impl Fold {
    /// The result as it stands. At the end of the stream (`last`) its texts are handed over, else copied.
    pub(crate) fn completion(
        &mut self,
        wire: Option<Wire>,
        render: Render,
        end: End,
        error: Option<Arc<Error>>,
        last: bool,
    ) -> Completion {
        let depth = self.limits.depth;
        let kept = self.kept.iter().map(|kept| (kept.name.to_owned(), kept.value.clone()));
        let extra = self.extra.iter().cloned().chain(kept).collect();
        let ended_well = matches!(end, End::Done | End::Finished) && error.is_none();
        let ending = |choice: &Choice| Ending {
            proven: end != End::Open && (end == End::Done || choice.finish_reason.is_some()),
            may_run: ended_well && is_whole(choice),
            missing_id: (end != End::Open).then_some(self.policy.missing_id),
        };
        let order = self.order();
        let of = |&slot: &usize| self.choices.get(slot).map(|choice| (slot, calls(choice, ending(choice), depth)));
        let calls: Vec<(usize, Vec<Arc<ToolCall>>)> = order.iter().filter_map(of).collect();
        let blocks = calls.first().map_or_else(Vec::new, |(_, calls)| render(self, calls));
        let standing = [TextKind::Reasoning, TextKind::Content, TextKind::Refusal].map(|kind| self.standing_text(kind));
        let mut choices = Vec::with_capacity(calls.len());
        for (slot, calls) in calls {
            if let Some(choice) = self.choices.get_mut(slot) {
                choices.push(result(choice, calls, last));
            }
        }
        if let Some(choice) = choices.first_mut() {
            let texts = [&mut choice.reasoning, &mut choice.content, &mut choice.refusal];
            for (text, standing) in texts.into_iter().zip(standing) {
                *text = standing.or_else(|| text.take());
            }
        }
        Completion {
            wire,
            id: given(&mut self.id, last).map(Into::into),
            model: given(&mut self.model, last).map(Into::into),
            created: given(&mut self.created, last).map(Value::Number),
            choices,
            usage: given(&mut self.usage, last),
            end,
            error,
            quirks: self.quirks.sorted(),
            blocks,
            extra,
        }
    }
}

/// What is handed over with the last result, and copied before.
fn given<T: Clone>(slot: &mut Option<T>, last: bool) -> Option<T> {
    if last { slot.take() } else { slot.clone() }
}

fn result(choice: &mut Choice, tool_calls: Vec<Arc<ToolCall>>, last: bool) -> completion::Choice {
    let text = |text: &mut Text| {
        let text = if last { std::mem::take(&mut text.text) } else { text.text.clone() };
        Some(owned(text)).filter(|text| !text.is_empty())
    };
    let rest = given(&mut choice.rest, last).map(|rest| *rest).unwrap_or_default();
    completion::Choice {
        index: choice.index,
        content: text(&mut choice.content),
        reasoning: text(&mut choice.reasoning),
        refusal: text(&mut choice.refusal),
        tool_calls,
        finish_reason: given(&mut choice.finish_reason, last).map(Into::into),
        logprobs: rest.logprobs,
        extra: rest.extra,
        reasoning_member: choice.reasoning_member,
    }
}

/// The calls that stand; those that have not ended as they are now.
fn calls(choice: &Choice, ending: Ending, depth: usize) -> Vec<Arc<ToolCall>> {
    let standing = choice.calls.iter().enumerate().filter(|(_, call)| !call.dropped);
    standing
        .map(|(position, call)| {
            if let Some(ended) = &call.ended {
                return settled(call, ended, ending.may_run, depth);
            }
            let mut result = tool_call(choice, position, call, Ending { may_run: false, ..ending }, depth);
            result.arguments = call.stated().map_or_else(|| owned(call.arguments.clone()), str::to_owned);
            result.extra.clone_from(&call.extra);
            Arc::new(result)
        })
        .collect()
}
