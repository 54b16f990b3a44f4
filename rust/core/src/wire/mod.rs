//! The wires: what each provider's payloads say. Provider words stand here and nowhere else.

pub(crate) mod anthropic;
pub(crate) mod members;
pub(crate) mod openai_chat;
mod response_items;
mod response_parts;
pub(crate) mod responses;

use crate::chunk::Span;
use crate::completion::Wire;
use crate::fold::Render;
use crate::json::tape::{Kind, Node, Tape};
use crate::json::text;
use crate::json::{Members, Value};

/// The members of the object at `index`: the decoded name and the index of the value.
pub(crate) fn members<'a>(
    bytes: &'a [u8],
    tape: &'a Tape,
    index: u32,
) -> impl Iterator<Item = (std::borrow::Cow<'a, [u8]>, u32)> + 'a {
    let end = tape.node(index).filter(|node| node.kind == Kind::Object).map_or(0, |node| node.next);
    let mut child = index + 1;
    std::iter::from_fn(move || {
        if child >= end {
            return None;
        }
        let name = name(bytes, tape.node(child)?);
        let value = child + 1;
        child = tape.node(value)?.next;
        Some((name, value))
    })
}

/// The decoded name of a member.
#[inline]
fn name<'a>(bytes: &'a [u8], node: &Node) -> std::borrow::Cow<'a, [u8]> {
    let raw = bytes.get(node.start as usize..node.end as usize).unwrap_or_default();
    if node.flags == 0 {
        return raw.into();
    }
    text::decode(raw, node.flags, &mut 0).into_owned().into_bytes().into()
}

/// The items of the list at `index`.
pub(crate) fn items(tape: &Tape, index: u32) -> impl Iterator<Item = u32> + '_ {
    let end = tape.node(index).filter(|node| node.kind == Kind::Array).map_or(0, |node| node.next);
    let mut child = index + 1;
    std::iter::from_fn(move || {
        let item = child;
        child = tape.node(item).filter(|_| item < end)?.next;
        Some(item)
    })
}

/// The `type` of a payload, or without one the name of its event.
pub(crate) fn type_of<'a>(bytes: &'a [u8], tape: &'a Tape, name: &'a [u8]) -> std::borrow::Cow<'a, [u8]> {
    let value = members(bytes, tape, 0).filter(|(name, _)| &**name == b"type").last().map(|(_, value)| value);
    match value.and_then(|value| tape.node(value)) {
        Some(node) if node.kind == Kind::String => self::name(bytes, node),
        _ => name.into(),
    }
}

/// The wire that a payload shows (W1).
pub(crate) fn detect(bytes: &[u8], tape: &Tape, name: &[u8]) -> Option<Wire> {
    if members(bytes, tape, 0).any(|(name, _)| &*name == b"choices") {
        return Some(Wire::OpenaiChat);
    }
    let kind = type_of(bytes, tape, name);
    match &*kind {
        b"message_start"
        | b"message_delta"
        | b"message_stop"
        | b"content_block_start"
        | b"content_block_delta"
        | b"content_block_stop" => Some(Wire::AnthropicMessages),
        kind if kind.starts_with(b"response.") => Some(Wire::OpenaiResponses),
        _ => None,
    }
}

/// How the blocks of a wire look.
pub(crate) fn render(wire: Option<Wire>) -> Render {
    match wire {
        Some(Wire::AnthropicMessages) => anthropic::blocks,
        Some(Wire::OpenaiResponses) => response_items::blocks,
        Some(Wire::OpenaiChat) | None => |_, _| Vec::new(),
    }
}

/// Sets the member at a path of names, within objects that are made where they are missing.
fn set_path(members: &mut Members, path: &str, value: Value) {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let Some(rest) = rest else { return members.set(name, value) };
    let Some(slot) = members.find(name) else {
        let mut inner = Members::new();
        set_path(&mut inner, rest, value);
        return members.push(name.to_owned(), Value::Object(inner));
    };
    if !matches!(slot, Value::Object(_)) {
        *slot = Value::Object(Members::new());
    }
    if let Value::Object(inner) = slot {
        set_path(inner, rest, value);
    }
}

/// What a payload of no known wire looks like, for people.
pub(crate) fn looks_like(payload: &[u8]) -> &'static str {
    let Some(value) = crate::json::parse(payload, 128) else { return "" };
    let has = |name: &str| value.get(name).is_some();
    if has("candidates") || has("usageMetadata") {
        "; it looks like Gemini's native stream"
    } else if has("message") && has("done") {
        "; it looks like Ollama's native stream"
    } else if has("event_type")
        || value.get("type").and_then(crate::json::Value::text).is_some_and(|kind| kind.contains('-'))
    {
        "; it looks like Cohere's native stream"
    } else if has("output") && has("request_id") {
        "; it looks like DashScope's native stream"
    } else if value.get("object").and_then(crate::json::Value::text).is_some_and(|kind| kind.starts_with("thread")) {
        "; it looks like a run of OpenAI's assistants"
    } else {
        ""
    }
}

/// The source of the `error` of an object, where it is a string or an object that says something (E6).
pub(crate) fn stated<'a>(bytes: &'a [u8], tape: &Tape) -> Option<&'a [u8]> {
    stated_in(bytes, tape, 0)
}

/// The same for the object at `index`.
fn stated_in<'a>(bytes: &'a [u8], tape: &Tape, index: u32) -> Option<&'a [u8]> {
    let value = members(bytes, tape, index).filter(|(name, _)| &**name == b"error").last()?.1;
    let node = tape.node(value)?;
    let says = match node.kind {
        Kind::Object => node.next > value + 1,
        Kind::String => node.start < node.end,
        _ => false,
    };
    let source = Span::source(node);
    bytes.get(source.start as usize..source.end as usize).filter(|_| says)
}
