//! Anthropic Messages: blocks by index, each with its start, deltas and stop (W2).

use std::sync::Arc;

use super::members::{Found, Object, Reader};
use super::{set_path, type_of};
use crate::chunk::{About, Fit, Index, Op, PartForm, Span, TextKind};
use crate::completion::{CallKind, ToolCall};
use crate::error::Error;
use crate::fold::Fold;
use crate::fold::blocks::Block;
use crate::json::text::{compact, lossy};
use crate::json::{self, Members, Value};
use crate::quirk::QuirkKind;

/// Members of the message that are kept.
const KEPT: [&str; 3] = ["context_management", "container", "stop_details"];
const KNOWN_IN_CALL: [&str; 4] = ["type", "id", "name", "input"];
/// The block that is a call; of other kinds that end in this word the server is the one who calls.
const CALL_BLOCK: &str = "tool_use";

/// Blocks with a text, which is the member of their own name.
static TEXT: PartForm = PartForm { kind: "text", member: "text", list: "", text: TextKind::Content };
static THINKING: PartForm = PartForm { kind: "thinking", member: "thinking", list: "", text: TextKind::Reasoning };

/// Reads the payload of one event; says whether the operations are all that it says.
pub(crate) fn read(reader: &mut Reader<'_, '_>, name: &[u8]) -> Result<(), Error> {
    let kind = type_of(reader.chunk.bytes, reader.chunk.tape, name);
    match &*kind {
        b"content_block_delta" => reader.block_delta()?,
        b"content_block_start" => reader.block_start()?,
        b"content_block_stop" => reader.block_stop()?,
        b"message_start" => reader.message_start()?,
        b"message_delta" => reader.message_delta()?,
        b"message_stop" => reader.message_stop()?,
        _ => reader.is_learnable = false,
    }
    reader.error(&*kind == b"error");
    Ok(())
}

impl<'a> Reader<'_, 'a> {
    /// Every event is about the one choice.
    fn begin(&mut self) -> Result<(), Error> {
        self.ops.push(Op::Choice(0));
        self.fold_now()
    }

    fn message_start(&mut self) -> Result<(), Error> {
        self.begin()?;
        let Some(message) = self.object_in(self.chunk, "message") else { return Ok(()) };
        if self.fold.begins() {
            if let Some(id) = self.string_in(message, "id") {
                self.apply(Op::Id(id))?;
            }
            if let Some(model) = self.string_in(message, "model") {
                self.apply(Op::Model(model))?;
            }
            self.keep(message)?;
        }
        self.usage(message);
        Ok(())
    }

    fn message_delta(&mut self) -> Result<(), Error> {
        self.begin()?;
        if let Some(delta) = self.object_in(self.chunk, "delta") {
            if let Some(reason) = self.string_in(delta, "stop_reason") {
                self.apply(Op::Finish(reason))?;
            }
            self.keep(delta)?;
        }
        self.keep(self.chunk)?;
        self.usage(self.chunk);
        Ok(())
    }

    fn message_stop(&mut self) -> Result<(), Error> {
        self.begin()?;
        self.fold.done = true;
        Ok(())
    }

    fn keep(&mut self, parent: Object<'a>) -> Result<(), Error> {
        for name in KEPT {
            if let Some(node) = parent.node(parent.member(name)) {
                self.apply(Op::Keep(name, Span::source(node)))?;
            }
        }
        Ok(())
    }

    fn usage(&mut self, parent: Object<'a>) {
        if let Some(usage) = self.object_in(parent, "usage").filter(|usage| !usage.is_empty()) {
            let usage = self.kept(usage, usage.index, false);
            self.fold.lay_usage(usage);
        }
    }

    fn block_index(&mut self) -> Option<i64> {
        let index = self.index_in(self.chunk, "index");
        if index.is_none() {
            self.fold.quirk(QuirkKind::IndexMissing, None, String::new);
        }
        index
    }

    fn block_start(&mut self) -> Result<(), Error> {
        self.begin()?;
        let index = self.block_index();
        let Some(start) = self.object_in(self.chunk, "content_block") else { return Ok(()) };
        if let Some(standing) = self.fold.unbind(index) {
            self.close(standing)?;
        }
        let kind = self.string_in(start, "type").map(|kind| start.text(kind, &mut 0)).unwrap_or_default();
        let mut block = Block::of(&kind);
        block.input = kind.ends_with(CALL_BLOCK).then_some("input");
        if kind == CALL_BLOCK {
            block.call = Some(self.start_call(start, index)?);
        }
        let is_call = block.call.is_some();
        let block = self.fold.add_block(block);
        self.fold.bind(index, block);
        if is_call { Ok(()) } else { self.start_members(start, &kind, block) }
    }

    /// Opens a call; the input of its start counts when none is streamed.
    fn start_call(&mut self, start: Object<'a>, index: Option<i64>) -> Result<usize, Error> {
        let (id, name) = (start.ident(start.member("id")), start.ident(start.member("name")));
        let ((accepted_id, lone_in_id), (accepted_name, lone_in_name)) = (self.accepted(id), self.accepted(name));
        let before = self.fold.blocks().len();
        let call = self.fold.open_call(index, accepted_id.as_deref(), CallKind::Function, before)?;
        self.report_ident(id, lone_in_id, call, "content_block.id");
        self.report_ident(name, lone_in_name, call, "content_block.name");
        let input = start.object(start.member("input"));
        if matches!(input, Found::Wrong) {
            self.fold.quirk(QuirkKind::WrongType, Some(call), || "content_block.input".to_owned());
        }
        self.fold.identify(call, accepted_id.as_deref(), accepted_name.as_deref())?;
        self.fold.show_call(call);
        self.keep_unknown(start, call, &KNOWN_IN_CALL)?;
        if let Found::Given(input) = input {
            self.take_input(input, call)?;
        }
        Ok(call)
    }

    fn take_input(&mut self, input: Object<'a>, call: usize) -> Result<(), Error> {
        let node = input.tape.node(input.index).filter(|_| !input.is_empty());
        let raw = node.and_then(|node| input.bytes.get(node.start as usize..node.end as usize));
        raw.map_or(Ok(()), |raw| self.fold.take_fallback(call, &compact(raw)))
    }

    /// Keeps the start of a block as sent, nulls too; its text counts.
    fn start_members(&mut self, start: Object<'a>, kind: &str, block: usize) -> Result<(), Error> {
        let form = [&TEXT, &THINKING].into_iter().find(|form| form.kind == kind);
        let part = form.and_then(|form| self.fold.block_mut(block).map(|block| block.part(form, 0)));
        let (mut members, mut lone) = (Members::new(), 0);
        for (name, value) in start.members() {
            let is_text = form.is_some_and(|form| form.member.as_bytes() == &*name);
            let key = start.key(value, &mut lone).into_owned();
            let kept = if is_text { Value::String(String::new()) } else { start.value(value, &mut lone) };
            members.push(key, kept);
        }
        self.report_lone(lone);
        self.fold.keep_members(block, members)?;
        let (Some(form), Some(part)) = (form, part) else { return Ok(()) };
        match self.string_in(start, form.member) {
            Some(text) => {
                let (raw, flags) = self.chunk.view().text(text);
                self.fold.part_text((block, part), raw, flags)
            }
            None => Ok(()),
        }
    }

    fn block_delta(&mut self) -> Result<(), Error> {
        self.ops.push(Op::Choice(0));
        let (mut index, mut delta) = (None, None);
        for (name, value) in super::members(self.chunk.bytes, self.chunk.tape, 0) {
            match &*name {
                b"index" => index = Some(value),
                b"delta" => delta = Some(value),
                b"type" | b"error" => {}
                _ => self.ignored.push(value),
            }
        }
        let index = self.index_op(index, "index", About::Choice);
        if matches!(index, Index::Missing) {
            self.ops.push(Op::Quirk(QuirkKind::IndexMissing, "index", About::Choice));
        }
        match self.chunk.object(delta) {
            Found::Given(delta) => self.delta_of_block(index, delta),
            Found::Nothing => Ok(()),
            Found::Wrong => {
                self.ops.push(Op::Quirk(QuirkKind::WrongType, "delta", About::Choice));
                Ok(())
            }
        }
    }

    /// A delta, for the block of its kind.
    fn delta_of_block(&mut self, index: Index, delta: Object<'a>) -> Result<(), Error> {
        let kind = match delta.string(delta.member("type")) {
            Found::Given(kind) => delta.text(kind, &mut 0),
            _ => "".into(),
        };
        match &*kind {
            "text_delta" => self.text_delta(index, delta, &TEXT),
            "thinking_delta" => self.text_delta(index, delta, &THINKING),
            "input_json_delta" => {
                self.ops.push(Op::Block(index, Fit::Input));
                if let Some(arguments) = delta.arguments(delta.member("partial_json")) {
                    self.ops.push(Op::Input(arguments));
                }
            }
            "signature_delta" => return self.member_delta(index, delta, Fit::Kind(THINKING.kind), "signature"),
            "citations_delta" => return self.member_delta(index, delta, Fit::Kind(TEXT.kind), "citation"),
            "compaction_delta" => return self.compaction_delta(index, delta),
            _ => self.ops.push(Op::Quirk(QuirkKind::WrongType, "delta.type", About::Choice)),
        }
        Ok(())
    }

    fn text_delta(&mut self, index: Index, delta: Object<'a>, form: &'static PartForm) {
        self.ops.push(Op::Block(index, Fit::Kind(form.kind)));
        match delta.string(delta.member(form.member)) {
            Found::Given(text) => self.ops.push(Op::Part(form, Index::Missing, text)),
            Found::Nothing => {}
            Found::Wrong => {
                self.ops.push(Op::Quirk(QuirkKind::WrongType, form.member, About::Block));
            }
        }
    }

    /// A delta of a summary (joined), and what is to be sent back with it (the last one stands).
    fn compaction_delta(&mut self, index: Index, delta: Object<'a>) -> Result<(), Error> {
        self.ops.push(Op::Block(index, Fit::Kind("compaction")));
        self.fold_now()?;
        let Some(block) = self.fold.block() else { return Ok(()) };
        if let Some(text) = self.string_in(delta, "content") {
            let (raw, flags) = self.chunk.view().text(text);
            self.fold.join_member(block, "content", raw, flags)?;
        }
        let Some(opaque) = self.string_in(delta, "encrypted_content") else { return Ok(()) };
        let opaque = self.text(opaque).into_owned();
        self.fold.keep_member(block, "encrypted_content", Value::String(opaque))
    }

    /// A delta of a block's signature (the last one stands) or citations (appended).
    fn member_delta(&mut self, index: Index, delta: Object<'a>, fit: Fit, member: &'static str) -> Result<(), Error> {
        self.ops.push(Op::Block(index, fit));
        self.fold_now()?;
        let Some(block) = self.fold.block() else { return Ok(()) };
        if member == "citation" {
            let Some(citation) = self.object_in(delta, member) else { return Ok(()) };
            let citation = self.kept(citation, citation.index, true);
            return self.fold.append_member(block, "citations", citation);
        }
        let Some(text) = self.string_in(delta, member) else { return Ok(()) };
        let signature = self.text(text).into_owned();
        self.fold.keep_member(block, member, Value::String(signature))
    }

    fn block_stop(&mut self) -> Result<(), Error> {
        self.begin()?;
        let index = self.block_index();
        if let Some(block) = self.fold.unbind(index) {
            return self.close(block);
        }
        self.wrong_type("index");
        Ok(())
    }

    /// Ends a block, at its stop or at the next start of its index.
    fn close(&mut self, block: usize) -> Result<(), Error> {
        if let Some(call) = self.fold.close_block(block) {
            self.fold.close_call(call)?;
        }
        self.fold.end_texts(block)
    }
}

/// The blocks in order, so that they can be sent back (X6).
pub(crate) fn blocks(fold: &Fold, calls: &[Arc<ToolCall>]) -> Vec<Value> {
    let depth = fold.limits.depth;
    let call_of = |block: &Block| block.call.and_then(|call| calls.get(call));
    let value = |block: &Block| call_of(block).map_or_else(|| plain(fold, block), |call| call_block(call, depth));
    fold.blocks().iter().map(value).collect()
}

fn call_block(call: &ToolCall, depth: usize) -> Value {
    let string = |text: &str| Value::String(text.to_owned());
    let input = if call.arguments.is_empty() { Value::Object(Members::new()) } else { parsed(&call.arguments, depth) };
    let mut members = Members::from(vec![
        ("type".to_owned(), string(CALL_BLOCK)),
        ("id".to_owned(), string(&call.id)),
        ("name".to_owned(), string(&call.name)),
        ("input".to_owned(), input),
    ]);
    members.extend(call.extra.iter().cloned());
    Value::Object(members)
}

fn plain(fold: &Fold, block: &Block) -> Value {
    let mut members = block.members.clone();
    for (path, own) in block.own.iter().filter(|(path, _)| Some(*path) != block.input) {
        set_path(&mut members, path, Value::String(lossy(&own.text).into_owned()));
    }
    for part in &block.parts {
        set_path(&mut members, part.form.member, Value::String(fold.part_value(part).into_owned()));
    }
    for (path, own) in block.own.iter().filter(|(path, own)| Some(*path) == block.input && !own.text.is_empty()) {
        set_path(&mut members, path, parsed(&lossy(&own.text), fold.limits.depth));
    }
    Value::Object(members)
}

/// An input as its object; the text itself where it is none, so that nothing is lost.
fn parsed(text: &str, depth: usize) -> Value {
    match json::parse(text.as_bytes(), depth) {
        Some(object @ Value::Object(_)) => object,
        _ => Value::String(text.to_owned()),
    }
}
