//! The result of a fold, at its end or before.

use std::sync::Arc;

use super::Fold;
use super::choice::{Choice, Text};
use super::ending::{Ending, synthesizes, tool_call};
use crate::completion::{self, Completion, End, ToolCall, Wire};
use crate::error::Error;
use crate::json::text::owned;
use crate::json::{self, Value};

impl Fold {
    /// The result as it stands. At the end of the stream (`last`) its texts are handed over, else copied.
    pub(crate) fn completion(
        &mut self,
        wire: Option<Wire>,
        end: End,
        error: Option<Arc<Error>>,
        last: bool,
    ) -> Completion {
        let depth = self.limits.depth;
        let parsed = |raw: &[u8]| json::parse(raw, depth).unwrap_or(Value::Null);
        let kept = self.kept.iter().map(|kept| (kept.name.to_owned(), parsed(&kept.raw)));
        let extra = self.extra.iter().cloned().chain(kept).collect();
        let ending = |choice: &Choice| Ending {
            proven: end != End::Open && (end == End::Done || choice.finish_reason.is_some()),
            may_run: false,
            synthesize: end != End::Open && synthesizes(self.policy),
        };
        let order = self.order();
        let endings: Vec<Ending> = order.iter().filter_map(|&slot| self.choices.get(slot).map(ending)).collect();
        let mut choices = Vec::with_capacity(order.len());
        for (slot, ending) in order.into_iter().zip(endings) {
            if let Some(choice) = self.choices.get_mut(slot) {
                choices.push(result(choice, ending, last, depth));
            }
        }
        Completion {
            wire,
            id: self.id.as_deref().map(Into::into),
            model: self.model.as_deref().map(Into::into),
            created: self.created.as_deref().map(|number| Value::Number(number.into())),
            choices,
            usage: self.usage.as_deref().map(parsed),
            end,
            error,
            quirks: self.quirks.sorted(),
            blocks: self.blocks.clone(),
            extra,
        }
    }
}

fn result(choice: &mut Choice, ending: Ending, last: bool, depth: usize) -> completion::Choice {
    let tool_calls = calls(choice, ending, depth);
    let text = |text: &mut Text| {
        let text = if last { std::mem::take(&mut text.text) } else { text.text.clone() };
        Some(owned(text)).filter(|text| !text.is_empty())
    };
    let rest = choice.rest.as_deref().cloned().unwrap_or_default();
    completion::Choice {
        index: choice.index,
        content: text(&mut choice.content),
        reasoning: text(&mut choice.reasoning),
        refusal: text(&mut choice.refusal),
        tool_calls,
        finish_reason: choice.finish_reason.as_deref().map(Into::into),
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
            call.ended.clone().unwrap_or_else(|| {
                let mut result = tool_call(choice, position, call, ending, depth);
                result.arguments = owned(call.arguments.clone());
                result.extra.clone_from(&call.extra);
                Arc::new(result)
            })
        })
        .collect()
}
