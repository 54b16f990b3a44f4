//! The tool calls of a delta (I, X3).

use super::{Reader, integer};
use crate::chunk::{About, Arguments, CallDelta, Ident, Index, Op, Span};
use crate::completion::CallKind;
use crate::json::tape::Kind;
use crate::json::text;
use crate::quirk::QuirkKind;
use crate::wire::{items, members};

impl Reader<'_> {
    pub(super) fn calls(&mut self, index: Option<u32>) {
        let Some(node) = self.node(index) else { return };
        if node.kind != Kind::Array {
            return self.wrong_type("choices[].delta.tool_calls");
        }
        for (place, entry) in items(self.tape, index.unwrap_or_default()).enumerate() {
            match self.tape.node(entry).map(|node| node.kind) {
                Some(Kind::Object) => self.entry(entry, place),
                Some(Kind::Null) | None => {}
                Some(_) => self.wrong_type("choices[].delta.tool_calls[]"),
            }
        }
    }

    fn entry(&mut self, entry: u32, place: usize) {
        let (mut index, mut id, mut kind, mut function, mut custom) = (None, None, None, None, None);
        let mut extras = Vec::new();
        for (name, value) in members(self.bytes, self.tape, entry) {
            match &*name {
                b"index" => index = Some(value),
                b"id" => id = Some(value),
                b"type" => kind = Some(value),
                b"function" => function = Some(value),
                b"custom" => custom = Some(value),
                _ => extras.push(value),
            }
        }
        let first = self.ops.len();
        let index = match self.index(index, "choices[].delta.tool_calls[].index") {
            Index::Missing if self.in_message => i64::try_from(place).map_or(Index::Missing, Index::Given),
            index => index,
        };
        let id = self.ident(id);
        let says_custom = self.says_custom(kind);
        let function = self.filled_object(function, "choices[].delta.tool_calls[].function");
        let custom = self.filled_object(custom, "choices[].delta.tool_calls[].custom");
        let is_custom = function.is_none() && (says_custom || custom.is_some()) || (says_custom && custom.is_some());
        let (kind, name, arguments) = if is_custom {
            let (name, input) = self.named(custom, b"input");
            (CallKind::Custom, name, input)
        } else {
            let (name, arguments) = self.named(function, b"arguments");
            (CallKind::Function, name, arguments)
        };
        self.call(first, CallDelta { index, id, name, arguments, kind });
        self.extras(&extras, Op::CallExtra);
    }

    /// A call, before what reading its entry reported since `first`, so that the report knows the call.
    fn call(&mut self, first: usize, call: CallDelta) {
        self.ops.push(Op::Call(call));
        for op in self.ops.get_mut(first..).unwrap_or_default() {
            if let Op::Quirk(_, _, about) = op {
                *about = About::Call;
            }
        }
        self.ops.get_mut(first..).unwrap_or_default().rotate_right(1);
    }

    /// Whether an entry says that it is of a custom tool (X3).
    fn says_custom(&mut self, kind: Option<u32>) -> bool {
        self.string(kind, "choices[].delta.tool_calls[].type").is_some_and(|span| {
            let raw = self.bytes.get(span.start as usize..span.end as usize).unwrap_or_default();
            text::decode(raw, span.flags, &mut 0) == "custom"
        })
    }

    /// The name and the arguments in the object of a function or a custom tool.
    fn named(&mut self, object: Option<u32>, member: &[u8]) -> (Ident, Arguments) {
        let Some(object) = object else { return (Ident::Absent, Arguments::Absent) };
        let (mut name, mut arguments) = (None, None);
        for (key, value) in members(self.bytes, self.tape, object) {
            if &*key == b"name" {
                name = Some(value);
            } else if &*key == member {
                arguments = Some(value);
            } else {
                self.ignored.push(value);
            }
        }
        let arguments = match self.node(arguments) {
            None => Arguments::Absent,
            Some(node) if node.kind == Kind::String => Arguments::Text(Span::of(node)),
            Some(node) => Arguments::Source(Span::source(node)),
        };
        (self.ident(name), arguments)
    }

    /// The `function_call` of old (X3); an empty one is nothing.
    pub(super) fn legacy(&mut self, index: Option<u32>) {
        let Some(object) = self.filled_object(index, "choices[].delta.function_call") else { return };
        let first = self.ops.len();
        let (name, arguments) = self.named(Some(object), b"arguments");
        let kind = CallKind::LegacyFunction;
        self.call(first, CallDelta { index: Index::Missing, id: Ident::Absent, name, arguments, kind });
    }

    fn ident(&self, index: Option<u32>) -> Ident {
        Ident::of(index.and_then(|index| self.tape.node(index)))
    }

    /// An index as it can be used (I2).
    pub(super) fn index(&mut self, index: Option<u32>, path: &'static str) -> Index {
        let Some(&node) = self.node(index) else {
            return Index::Missing;
        };
        let digits = match node.kind {
            Kind::Number => integer(self.slice(&node)),
            Kind::String => integer(text::decode(self.slice(&node), node.flags, &mut 0).as_bytes()),
            _ => None,
        };
        match digits {
            Some(index) => {
                if node.kind == Kind::Number {
                    return Index::At(Span::of(&node));
                }
                self.quirk(QuirkKind::IndexType, path);
                Index::Given(index)
            }
            None => {
                self.wrong_type(path);
                Index::Missing
            }
        }
    }
}
