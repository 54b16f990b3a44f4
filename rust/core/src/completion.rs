//! What a stream folds to.

use std::sync::Arc;

use crate::arguments;
use crate::error::Error;
use crate::json::{Members, Value};
use crate::quirk::Quirk;

/// The three wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// `OpenAI` chat completions.
    OpenaiChat,
    /// Anthropic messages.
    AnthropicMessages,
    /// `OpenAI` responses.
    OpenaiResponses,
}

impl Wire {
    /// The wire's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::AnthropicMessages => "anthropic-messages",
            Self::OpenaiResponses => "openai-responses",
        }
    }

    /// The wire of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::OpenaiChat, Self::AnthropicMessages, Self::OpenaiResponses].into_iter().find(|wire| wire.name() == name)
    }
}

/// How the stream ended (E3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// It has not ended yet.
    #[default]
    Open,
    /// The end marker came.
    Done,
    /// A finish reason came for every choice, but no marker.
    Finished,
    /// Neither.
    Cut,
}

impl End {
    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Finished => "finished",
            Self::Cut => "cut",
        }
    }
}

/// What kind of call it is (X3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallKind {
    /// A function with JSON arguments.
    #[default]
    Function,
    /// A custom tool with free text.
    Custom,
    /// The `function_call` of old.
    LegacyFunction,
}

impl CallKind {
    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Custom => "custom",
            Self::LegacyFunction => "legacy-function",
        }
    }
}

/// Where a call's id comes from (I10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdSource {
    /// The stream.
    Wire,
    /// The call's position.
    Synthetic,
    /// There is none.
    None,
}

impl IdSource {
    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Synthetic => "synthetic",
            Self::None => "none",
        }
    }
}

/// What a call's arguments came to (A4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// They are a JSON object, or empty at a proven end.
    Complete,
    /// They are not whole.
    Truncated,
    /// They are no JSON object.
    Invalid,
    /// The call has no name.
    Unnamed,
}

impl Status {
    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Truncated => "truncated",
            Self::Invalid => "invalid",
            Self::Unnamed => "unnamed",
        }
    }
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The index of its choice.
    pub choice: i64,
    /// Its position in the choice, by first appearance.
    pub position: usize,
    /// The index it came under, if any was usable.
    pub index: Option<i64>,
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its arguments, as sent.
    pub arguments: String,
    /// Its kind.
    pub kind: CallKind,
    /// Where the id comes from.
    pub id_source: IdSource,
    /// What the arguments came to.
    pub status: Status,
    /// Whether it may be executed (A5).
    pub executable: bool,
    /// Unknown members of its entries (X2).
    pub extra: Members,
    /// The id of its item (Responses).
    pub item_id: Option<String>,
    /// How many of the completion's blocks stand before the call.
    pub blocks_before: usize,
}

impl ToolCall {
    /// The last of the objects that cumulative or repeated arguments came to (A6); a complete call's own arguments.
    #[must_use]
    pub fn recovered(&self, depth: usize) -> Option<&str> {
        if self.status == Status::Complete || self.kind == CallKind::Custom {
            return (self.status == Status::Complete).then_some(self.arguments.as_str());
        }
        arguments::recovered(&self.arguments, depth)
    }
}

/// One choice of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Its index.
    pub index: i64,
    /// Its text; None where nothing but empty strings came (X1).
    pub content: Option<String>,
    /// Its reasoning.
    pub reasoning: Option<String>,
    /// Its refusal.
    pub refusal: Option<String>,
    /// Its calls, by position.
    pub tool_calls: Vec<Arc<ToolCall>>,
    /// Its finish reason, raw (E1).
    pub finish_reason: Option<String>,
    /// Its log probabilities, lists joined.
    pub logprobs: Option<Value>,
    /// Unknown members of its deltas (X2).
    pub extra: Members,
    /// The member that its reasoning came in, for sending it back (X6).
    pub reasoning_member: Option<&'static str>,
}

/// What a stream folds to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The wire, once known.
    pub wire: Option<Wire>,
    /// The response's id.
    pub id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// When it was made, as sent.
    pub created: Option<Value>,
    /// The choices, by index.
    pub choices: Vec<Choice>,
    /// The usage, as sent (U1).
    pub usage: Option<Value>,
    /// How the stream ended.
    pub end: End,
    /// The error it ended in.
    pub error: Option<Arc<Error>>,
    /// The departures that were tolerated.
    pub quirks: Vec<Quirk>,
    /// The blocks (Anthropic) or items (Responses), in order.
    pub blocks: Vec<Value>,
    /// Members kept from chunks (X2).
    pub extra: Members,
}
