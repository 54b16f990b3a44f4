//! Output items of a Responses stream: their kinds, how the terminal event's are found again, how they look (W3).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::response_parts::OUTPUT_TEXT;
use super::set_path;
use crate::chunk::ItemForm;
use crate::completion::{CallKind, ToolCall};
use crate::fold::Fold;
use crate::fold::blocks::{Block, Part};
use crate::json::text::lossy;
use crate::json::{Members, Value};
use crate::wire::openai_chat::is_zero;

pub(super) static MESSAGE: ItemForm<'static> = ItemForm { kind: "message", call: None };
pub(super) static REASONING: ItemForm<'static> = ItemForm { kind: "reasoning", call: None };
pub(super) static FUNCTION: ItemForm<'static> = ItemForm { kind: "function_call", call: Some(CallKind::Function) };
pub(super) static CUSTOM: ItemForm<'static> = ItemForm { kind: "custom_tool_call", call: Some(CallKind::Custom) };
pub(super) static CODE: ItemForm<'static> = ItemForm { kind: "code_interpreter_call", call: None };
pub(super) static MCP: ItemForm<'static> = ItemForm { kind: "mcp_call", call: None };
pub(super) static PATCH: ItemForm<'static> = ItemForm { kind: "apply_patch_call", call: None };

/// What kind of call an item of that type is; all others are blocks.
pub(super) fn call_kind(kind: &str) -> Option<CallKind> {
    [&FUNCTION, &CUSTOM].into_iter().find(|form| form.kind == kind).and_then(|form| form.call)
}

/// What the terminal event says of an item to find it by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed<'a> {
    pub(super) place: i64,
    pub(super) kind: &'a str,
    pub(super) call_id: Option<&'a str>,
    pub(super) id: Option<&'a str>,
}

/// The items that the terminal event has not listed yet.
#[derive(Debug)]
pub(super) struct Unlisted {
    taken: BTreeSet<usize>,
    by_call_id: BTreeMap<String, Vec<usize>>,
}

impl Unlisted {
    pub(super) fn of(fold: &Fold) -> Self {
        let mut by_call_id: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (item, block) in fold.blocks().iter().enumerate() {
            if let Some(id) = block.call.and_then(|call| fold.call_id(call)) {
                by_call_id.entry(id.to_owned()).or_default().push(item);
            }
        }
        Self { taken: BTreeSet::new(), by_call_id }
    }

    pub(super) fn take(&mut self, item: usize) {
        self.taken.insert(item);
    }

    /// The item that is listed: by call id (of several the one at the place or of the item id, else the last), then by
    /// item id, then by place.
    pub(super) fn find(&mut self, fold: &Fold, listed: Listed<'_>) -> Option<usize> {
        let at_place = fold.item_at(listed.place);
        if let Some(same) = listed.call_id.and_then(|id| self.by_call_id.get_mut(id)) {
            same.retain(|item| !self.taken.contains(item));
            let has_id = |item: usize| {
                listed.id.is_some() && fold.blocks().get(item).is_some_and(|block| block.id.as_deref() == listed.id)
            };
            let preferred = same.iter().rev().copied().find(|&item| Some(item) == at_place || has_id(item));
            if let Some(item) = preferred.or_else(|| same.last().copied()) {
                return Some(item);
            }
        }
        let by_id = listed.id.and_then(|id| fold.item_named(id));
        let fits = |item: &usize| {
            !self.taken.contains(item) && fold.blocks().get(*item).is_some_and(|block| *block.kind == *listed.kind)
        };
        [by_id, at_place].into_iter().flatten().find(fits)
    }
}

/// The items that are no calls, in order, so that they can be sent back (X6).
pub(super) fn blocks(fold: &Fold, _: &[Arc<ToolCall>]) -> Vec<Value> {
    fold.blocks().iter().filter(|block| block.call.is_none()).map(|block| item(fold, block)).collect()
}

/// An item; streamed parts stand where the wire's own word has none.
fn item(fold: &Fold, block: &Block) -> Value {
    let mut members = Members::new();
    members.push("type".to_owned(), Value::String(block.kind.to_string()));
    if let Some(id) = &block.id {
        members.push("id".to_owned(), Value::String(id.to_string()));
    }
    for (name, value) in block.members.iter() {
        members.set(name, value.clone());
    }
    let is_message = *block.kind == *MESSAGE.kind;
    let lists: &[&str] = match &*block.kind {
        "message" => &["content"],
        "reasoning" => &["content", "summary"],
        _ => &[],
    };
    for list in lists {
        fill(fold, block, &mut members, list);
    }
    if is_message {
        set_default(&mut members, "role", || Value::String("assistant".to_owned()));
        set_default(&mut members, "content", || Value::Array(Vec::new()));
    }
    if *block.kind == *REASONING.kind {
        set_default(&mut members, "summary", || Value::Array(Vec::new()));
    }
    for (path, own) in block.own.iter().filter(|_| !block.is_done) {
        set_path(&mut members, path, Value::String(lossy(&own.text).into_owned()));
    }
    Value::Object(members)
}

fn fill(fold: &Fold, block: &Block, members: &mut Members, list: &str) {
    let says = |value: &Value| match value.plain() {
        Value::Null | Value::Source(_) => false,
        Value::Bool(value) => *value,
        Value::Number(number) => !is_zero(number.as_bytes()),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    };
    if members.iter().any(|(name, value)| name == list && says(value)) {
        return;
    }
    let listed = block.parts.iter().filter(|part| part.form.list == list);
    let parts: Vec<Value> = listed.filter_map(|part| part_block(fold, part)).collect();
    if !parts.is_empty() {
        members.set(list, Value::Array(parts));
    }
}

/// A part as an item lists it.
fn part_block(fold: &Fold, part: &Part) -> Option<Value> {
    let text = Some(fold.part_value(part).into_owned()).filter(|text| !text.is_empty())?;
    let mut members = Members::new();
    members.push("type".to_owned(), Value::String(part.form.kind.to_owned()));
    members.push(part.form.member.to_owned(), Value::String(text));
    if part.form.kind == OUTPUT_TEXT.kind {
        members.push("annotations".to_owned(), Value::Array(part.annotations.clone()));
    }
    Some(Value::Object(members))
}

fn set_default(members: &mut Members, name: &str, value: impl FnOnce() -> Value) {
    if members.place(name).is_none() {
        members.push(name.to_owned(), value());
    }
}
