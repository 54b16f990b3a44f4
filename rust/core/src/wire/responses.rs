//! `OpenAI` Responses: items by output index, deltas appended, snapshots compared (W3).

use super::members::{Found, Object, Reader};
use super::response_items::{CODE, CUSTOM, FUNCTION, Listed, MCP, MESSAGE, PATCH, REASONING, Unlisted, call_kind};
use super::response_parts::{OUTPUT_TEXT, REASONING_TEXT, REFUSAL, SUMMARY_TEXT};
use super::type_of;
use crate::chunk::{About, Arguments, Ident, ItemForm, Op, PartForm, Says, Span};
use crate::error::Error;
use crate::json::text::compact;
use crate::json::{Members, Value};
use crate::quirk::QuirkKind;
use crate::wire::openai_chat::is_zero;

const PREFIX: &str = "response.";
const TERMINAL: [&str; 3] = ["response.completed", "response.incomplete", "response.failed"];
const KNOWN_IN_CALL: [&str; 7] = ["type", "id", "call_id", "name", "arguments", "input", "status"];

/// What the events of one subject stream.
#[derive(Clone, Copy, Debug)]
enum Streamed {
    /// A part, and the member with its place.
    Part(&'static ItemForm<'static>, &'static PartForm, &'static str),
    /// The arguments of a call, and their member in what is said to be done.
    Call(&'static ItemForm<'static>, &'static str),
    /// A text that is an item's alone: the path of its member, and its member in what is said to be done.
    Own(&'static ItemForm<'static>, &'static str, &'static str),
}

fn streamed(subject: &str) -> Option<Streamed> {
    Some(match subject {
        "response.output_text" => Streamed::Part(&MESSAGE, &OUTPUT_TEXT, "content_index"),
        "response.refusal" => Streamed::Part(&MESSAGE, &REFUSAL, "content_index"),
        "response.reasoning_text" => Streamed::Part(&REASONING, &REASONING_TEXT, "content_index"),
        "response.reasoning_summary_text" => Streamed::Part(&REASONING, &SUMMARY_TEXT, "summary_index"),
        "response.function_call_arguments" => Streamed::Call(&FUNCTION, "arguments"),
        "response.custom_tool_call_input" => Streamed::Call(&CUSTOM, "input"),
        "response.code_interpreter_call_code" => Streamed::Own(&CODE, "code", "code"),
        "response.mcp_call_arguments" => Streamed::Own(&MCP, "arguments", "arguments"),
        "response.apply_patch_call_operation_diff" => Streamed::Own(&PATCH, "operation.diff", "diff"),
        _ => return None,
    })
}

/// Reads the payload of one event.
pub(crate) fn read(reader: &mut Reader<'_, '_>, name: &[u8]) -> Result<(), Error> {
    let kind = type_of(reader.chunk.bytes, reader.chunk.tape, name);
    let kind = String::from_utf8_lossy(&kind);
    if !kind.starts_with(PREFIX) {
        reader.is_learnable = false;
        reader.error(kind == "error");
        return Ok(());
    }
    let (subject, verb) = kind.rsplit_once('.').unwrap_or((&kind, ""));
    reader.ops.push(Op::Choice(0));
    match (subject, verb) {
        ("response.output_item", "added") => reader.item(Says::Begun)?,
        ("response.output_item", "done") => reader.item(Says::Done)?,
        ("response.content_part", "done") => reader.part_event("content_index")?,
        ("response.reasoning_summary_part", "done") => reader.part_event("summary_index")?,
        ("response.output_text.annotation", "added") => reader.annotation()?,
        (_, "delta") => match streamed(subject) {
            Some(streamed) => reader.delta(streamed)?,
            None => reader.is_learnable = false,
        },
        (_, "done") => match streamed(subject) {
            Some(streamed) => reader.done(streamed)?,
            None => reader.is_learnable = false,
        },
        _ => reader.is_learnable = false,
    }
    reader.response(&kind)?;
    reader.outcome(&kind)
}

impl<'a> Reader<'_, 'a> {
    /// The id of an item.
    pub(super) fn item_id(&mut self, parent: Object<'a>, name: &'static str) -> Option<String> {
        let id = self.string_in(parent, name)?;
        Some(self.text(id).into_owned())
    }

    /// The item of an event, begun where none is known.
    pub(super) fn locate(&mut self, kind: &str, id: Option<&str>, says: Says) -> Result<usize, Error> {
        let index = self.index_in(self.chunk, "output_index");
        self.fold.locate(index, id, &ItemForm { kind, call: call_kind(kind) }, says)
    }

    // Items.

    fn item(&mut self, says: Says) -> Result<(), Error> {
        self.fold_now()?;
        let Some(entry) = self.object_in(self.chunk, "item") else { return Ok(()) };
        let kind = self.kind_of(entry);
        let id = self.item_id(entry, "id");
        let item = self.locate(&kind, id.as_deref(), says)?;
        self.snapshot(entry, item, says)?;
        let is_open = self.fold.blocks().get(item).is_some_and(|block| !block.is_closed);
        if says == Says::Done && is_open {
            let call = self.fold.close_block(item);
            self.fold.end_texts(item)?;
            return call.map_or(Ok(()), |call| self.fold.close_call(call));
        }
        Ok(())
    }

    fn kind_of(&mut self, entry: Object<'a>) -> String {
        self.string_in(entry, "type").map(|kind| entry.text(kind, &mut 0).into_owned()).unwrap_or_default()
    }

    /// What an item is said to be as a whole.
    fn snapshot(&mut self, entry: Object<'a>, item: usize, says: Says) -> Result<(), Error> {
        let kind = match entry.string(entry.member("type")) {
            Found::Given(kind) => entry.text(kind, &mut 0),
            _ => "".into(),
        };
        let Some(block) = self.fold.block_mut(item) else { return Ok(()) };
        if let Some(call) = block.call {
            let member = if *block.kind == *CUSTOM.kind { "input" } else { "arguments" };
            return self.call_snapshot(entry, call, member, says);
        }
        if call_kind(&kind).is_some() {
            self.wrong_type("item.type");
            return Ok(());
        }
        if !kind.is_empty() {
            block.kind = (&*kind).into();
        }
        if says == Says::Done {
            self.item_snapshot(entry, item)?;
        }
        self.keep_item(entry, item, says == Says::Done)
    }

    fn keep_item(&mut self, entry: Object<'a>, item: usize, done: bool) -> Result<(), Error> {
        if self.fold.blocks().get(item).is_some_and(|block| block.is_done && block.is_closed) {
            return Ok(());
        }
        let members: Members = match self.kept(entry, entry.index, true) {
            Value::Object(members) => members,
            _ => Members::new(),
        };
        self.fold.keep_item(item, members, done)
    }

    /// Identity and whole arguments of a call; the identity of one that has ended stays (I11). Members that are not
    /// known are kept where the entry is an item.
    fn call_snapshot(&mut self, entry: Object<'a>, call: usize, member: &'static str, says: Says) -> Result<(), Error> {
        let arguments = entry.arguments(entry.member(member));
        if !self.fold.has_ended(call) {
            if matches!(arguments, Some(Arguments::Source(_))) {
                self.fold.quirk(QuirkKind::ArgumentsType, Some(call), || member.to_owned());
            }
            self.identify(entry, call)?;
            self.fold.show_call(call);
            if says != Says::Other {
                self.keep_unknown(entry, call, &KNOWN_IN_CALL)?;
            }
        }
        let value = match arguments {
            Some(Arguments::Source(span)) => compact(self.chunk.view().raw(span)),
            Some(Arguments::Text(span)) => {
                let mut lone = 0;
                let text = self.chunk.text(span, &mut lone);
                self.report_lone_of(Some(call), lone);
                text.into_owned()
            }
            Some(Arguments::Absent) | None => return Ok(()),
        };
        self.fold.take_whole(call, &value, says != Says::Begun)
    }

    /// The id and the name that come for a call.
    fn identify(&mut self, entry: Object<'a>, call: usize) -> Result<(), Error> {
        let (id, name) = (entry.ident(entry.member("call_id")), entry.ident(entry.member("name")));
        let ((accepted_id, lone_in_id), (accepted_name, lone_in_name)) = (self.accepted(id), self.accepted(name));
        self.report_ident(id, lone_in_id, call, "call_id");
        self.report_ident(name, lone_in_name, call, "name");
        self.fold.identify(call, accepted_id.as_deref(), accepted_name.as_deref())
    }

    // Texts.

    /// A fragment; one that says nothing is not looked at further.
    fn delta(&mut self, streamed: Streamed) -> Result<(), Error> {
        let (form, place_name) = match streamed {
            Streamed::Part(form, _, place) => (form, place),
            Streamed::Call(form, _) | Streamed::Own(form, ..) => (form, ""),
        };
        let (mut index, mut id, mut place, mut delta) = (None, None, None, None);
        for (name, value) in super::members(self.chunk.bytes, self.chunk.tape, 0) {
            match &*name {
                b"output_index" => index = Some(value),
                b"item_id" => id = Some(value),
                b"delta" => delta = Some(value),
                b"type" | b"response" | b"error" => {}
                other if other == place_name.as_bytes() => place = Some(value),
                _ => self.ignored.push(value),
            }
        }
        match streamed {
            Streamed::Part(_, part, name) => {
                let Some(text) = self.text_op(delta) else { return Ok(()) };
                self.item_op(index, id, form);
                let place = self.index_op(place, name, About::Block);
                self.ops.push(Op::Part(part, place, text));
            }
            Streamed::Call(..) => {
                let Some(arguments) = self.chunk.arguments(delta) else { return Ok(()) };
                self.item_op(index, id, form);
                self.ops.push(Op::Input(arguments));
            }
            Streamed::Own(_, path, _) => {
                let Some(text) = self.text_op(delta) else { return Ok(()) };
                self.item_op(index, id, form);
                self.fold_now()?;
                return self.fold.block().map_or(Ok(()), |item| self.own_text(item, path, text));
            }
        }
        Ok(())
    }

    /// A string that says something, for an operation.
    fn text_op(&mut self, value: Option<u32>) -> Option<Span> {
        match self.chunk.string(value) {
            Found::Given(text) => return Some(text),
            Found::Wrong => self.ops.push(Op::Quirk(QuirkKind::WrongType, "delta", About::Choice)),
            Found::Nothing => {}
        }
        None
    }

    fn item_op(&mut self, index: Option<u32>, id: Option<u32>, form: &'static ItemForm<'static>) {
        let id = match self.chunk.string(id) {
            Found::Given(id) => Ident::Given(id),
            Found::Nothing => Ident::Absent,
            Found::Wrong => {
                self.ops.push(Op::Quirk(QuirkKind::WrongType, "item_id", About::Choice));
                Ident::Absent
            }
        };
        let index = self.index_op(index, "output_index", About::Choice);
        self.ops.push(Op::Item(index, id, form));
    }

    /// A fragment of a text that is an item's alone.
    fn own_text(&mut self, item: usize, path: &'static str, text: Span) -> Result<(), Error> {
        let (raw, flags) = self.chunk.view().text(text);
        self.fold.own_text(item, path, raw, flags)
    }

    /// What a text or the arguments of a call are as a whole; a text that says nothing is not looked at further.
    fn done(&mut self, streamed: Streamed) -> Result<(), Error> {
        self.fold_now()?;
        match streamed {
            Streamed::Part(form, part, place) => {
                let Some(text) = self.string_in(self.chunk, part.member) else { return Ok(()) };
                let Some(item) = self.item_done(form)? else { return Ok(()) };
                let place = self.index_in(self.chunk, place).unwrap_or(0);
                let Some(at) = self.fold.block_mut(item).map(|block| block.part(part, place)) else { return Ok(()) };
                let (raw, flags) = self.chunk.view().text(text);
                self.fold.part_done((item, at), raw, flags)
            }
            Streamed::Call(form, member) => {
                let item = self.item_done(form)?;
                let call = item.and_then(|item| self.fold.blocks().get(item)?.call);
                call.map_or(Ok(()), |call| self.call_snapshot(self.chunk, call, member, Says::Other))
            }
            Streamed::Own(form, path, member) => {
                let Some(text) = self.string_in(self.chunk, member) else { return Ok(()) };
                let Some(item) = self.item_done(form)? else { return Ok(()) };
                self.fold.drop_own(item, path);
                self.own_text(item, path, text)
            }
        }
    }

    /// The item of an event that says what its text or arguments are as a whole; None where it is another one.
    fn item_done(&mut self, form: &ItemForm<'_>) -> Result<Option<usize>, Error> {
        let id = self.item_id(self.chunk, "item_id");
        let item = self.locate(form.kind, id.as_deref(), Says::Other)?;
        if self.fold.is_of(item, form, true) {
            return Ok(Some(item));
        }
        self.wrong_type("output_index");
        Ok(None)
    }

    // The response itself.

    /// What an event says of the whole response; the terminal one ends it.
    fn response(&mut self, kind: &str) -> Result<(), Error> {
        let is_terminal = TERMINAL.contains(&kind);
        if !is_terminal && self.chunk.node(self.chunk.member("response")).is_none() {
            return Ok(());
        }
        self.fold_now()?;
        let response = self.object_in(self.chunk, "response");
        if let Some(response) = response {
            self.origin(response)?;
        }
        if is_terminal {
            self.terminal(response, kind)?;
        }
        if let Some(usage) = response.and_then(|response| self.object_in(response, "usage"))
            && let (Some(node), false) = (usage.tape.node(usage.index), usage.is_empty())
        {
            self.apply(Op::Usage(Span::source(node), false))?;
        }
        self.fold.done |= is_terminal;
        Ok(())
    }

    fn origin(&mut self, response: Object<'a>) -> Result<(), Error> {
        if let Some(id) = self.string_in(response, "id") {
            self.apply(Op::Id(id))?;
        }
        if let Some(model) = self.string_in(response, "model") {
            self.apply(Op::Model(model))?;
        }
        match self.number_in(response, "created_at") {
            Some(created) if !is_zero(self.chunk.view().raw(created)) => self.apply(Op::Created(created)),
            _ => Ok(()),
        }
    }

    /// The items of the terminal event, an empty list of which erases nothing, and the finish reason.
    fn terminal(&mut self, response: Option<Object<'a>>, kind: &str) -> Result<(), Error> {
        if let Some(response) = response {
            let mut unlisted = Unlisted::of(self.fold);
            for (place, value) in self.list_in(response, "output").enumerate() {
                let Some(entry) = self.given(response.object(Some(value)), "output") else { continue };
                let item = self.listed(entry, place, &mut unlisted)?;
                unlisted.take(item);
                self.snapshot(entry, item, Says::Done)?;
            }
        }
        let details = response.and_then(|response| self.object_in(response, "incomplete_details"));
        let reason = details.and_then(|details| self.string_in(details, "reason"));
        let status = response.and_then(|response| self.string_in(response, "status"));
        if let Some(reason) = reason.or(status) {
            return self.apply(Op::Finish(reason));
        }
        self.fold.finish_with(kind.strip_prefix(PREFIX).unwrap_or(kind));
        Ok(())
    }

    /// The item that the terminal event lists at a place; one that is not known begins.
    fn listed(&mut self, entry: Object<'a>, place: usize, unlisted: &mut Unlisted) -> Result<usize, Error> {
        let kind = self.kind_of(entry);
        let id = self.item_id(entry, "id");
        let call_id = match entry.ident(entry.member("call_id")) {
            Ident::Given(id) if call_kind(&kind).is_some() => Some(entry.text(id, &mut 0)),
            _ => None,
        };
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        let listed = Listed { place, kind: &kind, call_id: call_id.as_deref(), id: id.as_deref() };
        if let Some(item) = unlisted.find(self.fold, listed) {
            return Ok(item);
        }
        let index = Some(place).filter(|&place| self.fold.item_at(place).is_none());
        self.fold.begin_item(index, id.as_deref(), &ItemForm { kind: &kind, call: call_kind(&kind) })
    }

    /// The error that an event is or brings (E6); a failed response holds its own.
    fn outcome(&mut self, kind: &str) -> Result<(), Error> {
        self.error(false);
        if kind != "response.failed" {
            return Ok(());
        }
        let response = match self.chunk.object(self.chunk.member("response")) {
            Found::Given(response) => response,
            _ => self.chunk,
        };
        let stated = [response, self.chunk]
            .into_iter()
            .find_map(|object| super::stated_in(object.bytes, object.tape, object.index));
        Err(stated.map_or_else(
            || Error::failed("the response failed"),
            |source| Error::provider(source, self.fold.limits.depth),
        ))
    }
}
