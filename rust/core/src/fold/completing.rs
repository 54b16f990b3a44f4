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
use crate::json::text::{grown, owned};

/// How a wire's blocks look, as they stand: of the fold and the calls of its one choice.
pub(crate) type Render = fn(&Fold, &[Arc<ToolCall>]) -> Vec<Value>;

/// How a result comes by its texts.
#[derive(Debug)]
pub(crate) enum Texts {
    /// At the end of the stream they are handed over.
    HandedOver,
    /// Before it they are copied. What they were in the result before, if there is one, is known to be UTF-8.
    Copied(Option<Arc<Completion>>),
}

impl Texts {
    /// The choice of that index in the result before.
    fn before(&self, index: i64) -> Option<&completion::Choice> {
        let Self::Copied(Some(before)) = self else { return None };
        let found = before.choices.binary_search_by_key(&index, |choice| choice.index);
        before.choices.get(found.ok()?)
    }
}

impl Fold {
    /// The result as it stands.
    pub(crate) fn completion(
        &mut self,
        wire: Option<Wire>,
        render: Render,
        end: End,
        error: Option<Arc<Error>>,
        texts: &Texts,
    ) -> Completion {
        let last = matches!(texts, Texts::HandedOver);
        let depth = self.limits.depth;
        let kept = if last { std::mem::take(&mut self.kept) } else { self.kept.clone() };
        let kept = kept.into_iter().map(|kept| (kept.name.to_owned(), kept.sent.into_value(depth)));
        let extra = self.extra.iter().cloned().chain(kept).collect();
        let ended_well = matches!(end, End::Done | End::Finished) && error.is_none();
        let ending = |choice: &Choice| Ending {
            proven: end != End::Open && (end == End::Done || choice.finish_reason.is_some()),
            may_run: ended_well && is_whole(choice),
            missing_id: (end != End::Open).then_some(self.policy.missing_id),
        };
        let order = self.order();
        let of = |&slot: &usize| {
            let choice = self.choices.get(slot)?;
            Some((slot, calls(choice, ending(choice), depth, texts.before(choice.index))))
        };
        let calls: Vec<(usize, Vec<Arc<ToolCall>>)> = order.iter().filter_map(of).collect();
        let blocks = calls.first().map_or_else(Vec::new, |(_, calls)| render(self, calls));
        let standing = [TextKind::Reasoning, TextKind::Content, TextKind::Refusal].map(|kind| self.standing_text(kind));
        let mut choices = Vec::with_capacity(calls.len());
        for (slot, calls) in calls {
            if let Some(choice) = self.choices.get_mut(slot) {
                choices.push(result(choice, calls, last, texts.before(choice.index)));
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

fn result(
    choice: &mut Choice,
    tool_calls: Vec<Arc<ToolCall>>,
    last: bool,
    before: Option<&completion::Choice>,
) -> completion::Choice {
    let text = |text: &mut Text, of: fn(&completion::Choice) -> &Option<String>| {
        let copied = |text: &[u8]| grown(text, before.and_then(|before| of(before).as_deref()).unwrap_or_default());
        let text = if last { owned(std::mem::take(&mut text.text)) } else { copied(&text.text) };
        Some(text).filter(|text| !text.is_empty())
    };
    let rest = given(&mut choice.rest, last).map(|rest| *rest).unwrap_or_default();
    completion::Choice {
        index: choice.index,
        content: text(&mut choice.content, |before| &before.content),
        reasoning: text(&mut choice.reasoning, |before| &before.reasoning),
        refusal: text(&mut choice.refusal, |before| &before.refusal),
        tool_calls,
        finish_reason: given(&mut choice.finish_reason, last).map(Into::into),
        logprobs: rest.logprobs,
        extra: rest.extra,
        reasoning_member: choice.reasoning_member,
    }
}

/// The calls that stand; those that have not ended as they are now.
fn calls(choice: &Choice, ending: Ending, depth: usize, before: Option<&completion::Choice>) -> Vec<Arc<ToolCall>> {
    let known = |position: usize| {
        let calls = &before?.tool_calls;
        let found = calls.binary_search_by_key(&position, |call| call.position);
        calls.get(found.ok()?).map(|call| call.arguments.as_str())
    };
    let standing = choice.calls.iter().enumerate().filter(|(_, call)| !call.dropped);
    standing
        .map(|(position, call)| {
            if let Some(ended) = &call.ended {
                return settled(call, ended, ending.may_run, depth);
            }
            let mut result = tool_call(choice, position, call, Ending { may_run: false, ..ending }, depth);
            let streamed = || grown(&call.arguments, known(position).unwrap_or_default());
            result.arguments = call.stated().map_or_else(streamed, str::to_owned);
            result.extra.clone_from(&call.extra);
            Arc::new(result)
        })
        .collect()
}
