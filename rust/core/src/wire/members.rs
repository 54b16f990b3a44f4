//! Members of JSON objects, read so that a bad one costs nothing but itself (P4).

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{items, members};
use crate::chunk::{About, Arguments, Ident, Index, Op, Span, View};
use crate::error::Error;
use crate::fold::{Fold, report_lone};
use crate::json::tape::{Kind, Node, Tape};
use crate::json::text;
use crate::json::{Members, Value};
use crate::quirk::{Place, QuirkKind};
use crate::wire::openai_chat::integer;

/// An object in a payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) tape: &'a Tape,
    pub(crate) index: u32,
}

/// What stands in a member.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<T> {
    /// Nothing, or null.
    Nothing,
    /// Something of another type.
    Wrong,
    Given(T),
}

impl<'a> Object<'a> {
    /// The payload.
    pub(crate) const fn root(bytes: &'a [u8], tape: &'a Tape) -> Self {
        Self { bytes, tape, index: 0 }
    }

    pub(crate) fn view(self) -> View<'a> {
        View::plain(self.bytes)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.tape.node(self.index).is_none_or(|node| node.next <= self.index + 1)
    }

    /// The value of the last member of that name.
    pub(crate) fn member(self, name: &str) -> Option<u32> {
        let values = members(self.bytes, self.tape, self.index);
        values.filter(|(other, _)| &**other == name.as_bytes()).last().map(|(_, value)| value)
    }

    /// The members, each with the last value of its name (P5), where the name came first.
    pub(crate) fn members(self) -> Vec<(Cow<'a, [u8]>, u32)> {
        let mut found: Vec<(Cow<'a, [u8]>, u32)> = Vec::new();
        let mut places: BTreeMap<Cow<'a, [u8]>, usize> = BTreeMap::new();
        for (name, value) in members(self.bytes, self.tape, self.index) {
            if let Some(known) = places.get(&name).and_then(|&place| found.get_mut(place)) {
                known.1 = value;
                continue;
            }
            places.insert(name.clone(), found.len());
            found.push((name, value));
        }
        found
    }

    /// The decoded name of the member that has that value; `lone` as in [`Object::text`].
    pub(crate) fn key(self, value: u32, lone: &mut u32) -> Cow<'a, str> {
        self.tape.node(value.saturating_sub(1)).map(|node| self.text(Span::of(node), lone)).unwrap_or_default()
    }

    pub(crate) fn node(self, value: Option<u32>) -> Option<&'a Node> {
        value.and_then(|value| self.tape.node(value)).filter(|node| node.kind != Kind::Null)
    }

    fn typed<T>(self, value: Option<u32>, kind: Kind, read: impl FnOnce(&'a Node, u32) -> T) -> Found<T> {
        match (value, self.node(value)) {
            (Some(value), Some(node)) if node.kind == kind => Found::Given(read(node, value)),
            (_, None) => Found::Nothing,
            _ => Found::Wrong,
        }
    }

    /// A string; an empty one says nothing.
    pub(crate) fn string(self, value: Option<u32>) -> Found<Span> {
        match self.typed(value, Kind::String, |node, _| node) {
            Found::Given(node) if node.start < node.end => Found::Given(Span::of(node)),
            Found::Given(_) | Found::Nothing => Found::Nothing,
            Found::Wrong => Found::Wrong,
        }
    }

    pub(crate) fn object(self, value: Option<u32>) -> Found<Self> {
        self.typed(value, Kind::Object, |_, index| Self { index, ..self })
    }

    /// Identity, as it came (I1).
    pub(crate) fn ident(self, value: Option<u32>) -> Ident {
        Ident::of(value.and_then(|value| self.tape.node(value)))
    }

    /// An index (I2), and what is odd about it.
    pub(crate) fn index(self, value: Option<u32>) -> (Index, Option<QuirkKind>) {
        let Some(node) = self.node(value) else { return (Index::Missing, None) };
        let raw = self.bytes.get(node.start as usize..node.end as usize).unwrap_or_default();
        match node.kind {
            Kind::Number if integer(raw).is_some() => (Index::At(Span::of(node)), None),
            Kind::String => match integer(text::decode(raw, node.flags, &mut 0).as_bytes()) {
                Some(index) => (Index::Given(index), Some(QuirkKind::IndexType)),
                None => (Index::Missing, Some(QuirkKind::WrongType)),
            },
            _ => (Index::Missing, Some(QuirkKind::WrongType)),
        }
    }

    /// Arguments that say something: a string as sent, other JSON as its source text; null is nothing (A1, A2).
    pub(crate) fn arguments(self, value: Option<u32>) -> Option<Arguments> {
        let node = self.node(value)?;
        match node.kind {
            Kind::String => (node.start < node.end).then(|| Arguments::Text(Span::of(node))),
            _ => Some(Arguments::Source(Span::source(node))),
        }
    }

    /// The text of a string; `lone` counts the surrogates that had no partner.
    pub(crate) fn text(self, span: Span, lone: &mut u32) -> Cow<'a, str> {
        let raw = self.bytes.get(span.start as usize..span.end as usize).unwrap_or_default();
        text::decode(raw, span.flags, lone)
    }

    /// A value that is kept as sent.
    pub(crate) fn value(self, value: u32, lone: &mut u32) -> Value {
        Value::from_tape(self.bytes, self.tape, value, lone)
    }
}

/// Reads the payloads of one stream for its fold. What comes often is read to operations, which templates can learn;
/// what comes a few times in a response is folded as it is read.
pub(crate) struct Reader<'f, 'a> {
    pub(crate) fold: &'f mut Fold,
    pub(crate) chunk: Object<'a>,
    pub(crate) ops: &'f mut Vec<Op>,
    /// Values that nothing was read from: they may be anything.
    pub(crate) ignored: &'f mut Vec<u32>,
    /// All that the payload says is in the operations.
    pub(crate) is_learnable: bool,
}

impl<'a> Reader<'_, 'a> {
    /// Folds what was read to operations so far; what follows is folded as it is read.
    pub(crate) fn fold_now(&mut self) -> Result<(), Error> {
        self.is_learnable = false;
        let view = self.chunk.view();
        self.ops.drain(..).try_for_each(|op| self.fold.apply(&op, &view))
    }

    /// Folds one operation.
    pub(crate) fn apply(&mut self, op: Op) -> Result<(), Error> {
        self.fold.apply(&op, &self.chunk.view())
    }

    pub(crate) fn wrong_type(&mut self, path: &'static str) {
        self.fold.quirk(QuirkKind::WrongType, None, || path.to_owned());
    }

    /// What was found of the type that is due; another one is reported.
    pub(crate) fn given<T>(&mut self, found: Found<T>, path: &'static str) -> Option<T> {
        match found {
            Found::Given(value) => return Some(value),
            Found::Wrong => self.wrong_type(path),
            Found::Nothing => {}
        }
        None
    }

    pub(crate) fn string_in(&mut self, parent: Object<'a>, name: &'static str) -> Option<Span> {
        self.given(parent.string(parent.member(name)), name)
    }

    pub(crate) fn object_in(&mut self, parent: Object<'a>, name: &'static str) -> Option<Object<'a>> {
        self.given(parent.object(parent.member(name)), name)
    }

    /// The values in a list.
    pub(crate) fn list_in(&mut self, parent: Object<'a>, name: &'static str) -> impl Iterator<Item = u32> + use<'a> {
        let list = self.given(parent.typed(parent.member(name), Kind::Array, |_, value| value), name);
        list.into_iter().flat_map(|list| items(parent.tape, list))
    }

    /// The objects in a list, with their places; null elements are nothing (P6).
    pub(crate) fn objects_in(&mut self, parent: Object<'a>, name: &'static str) -> Vec<(usize, Object<'a>)> {
        let values: Vec<u32> = self.list_in(parent, name).collect();
        let found = values.into_iter().map(|value| self.given(parent.object(Some(value)), name));
        found.enumerate().filter_map(|(place, object)| object.map(|object| (place, object))).collect()
    }

    pub(crate) fn number_in(&mut self, parent: Object<'a>, name: &'static str) -> Option<Span> {
        self.given(parent.typed(parent.member(name), Kind::Number, |node, _| Span::of(node)), name)
    }

    pub(crate) fn index_in(&mut self, parent: Object<'a>, name: &'static str) -> Option<i64> {
        let (index, quirk) = parent.index(parent.member(name));
        if let Some(quirk) = quirk {
            self.fold.quirk(quirk, None, || name.to_owned());
        }
        index.read(&parent.view())
    }

    /// An index for an operation.
    pub(crate) fn index_op(&mut self, value: Option<u32>, path: &'static str, about: About) -> Index {
        let (index, quirk) = self.chunk.index(value);
        if let Some(quirk) = quirk {
            self.ops.push(Op::Quirk(quirk, path, about));
        }
        index
    }

    /// A decoded string; surrogates without a partner are reported.
    pub(crate) fn text(&mut self, span: Span) -> Cow<'a, str> {
        let mut lone = 0;
        let text = self.chunk.text(span, &mut lone);
        self.report_lone(lone);
        text
    }

    /// Reports surrogates without a partner.
    pub(crate) fn report_lone(&mut self, lone: u32) {
        self.report_lone_of(None, lone);
    }

    /// The same, of a call.
    pub(crate) fn report_lone_of(&mut self, call: Option<usize>, lone: u32) {
        let place = Place { call, ..self.fold.place() };
        report_lone(&mut self.fold.quirks, lone, place);
    }

    /// An accepted id or name, decoded (I1), and how many surrogates in it had no partner.
    pub(crate) fn accepted(&self, ident: Ident) -> (Option<Cow<'a, str>>, u32) {
        let mut lone = 0;
        match ident {
            Ident::Given(span) => (Some(self.chunk.text(span, &mut lone)), lone),
            _ => (None, 0),
        }
    }

    /// Reports what came in the place of an id or name of a call, and the surrogates in it.
    pub(crate) fn report_ident(&mut self, ident: Ident, lone: u32, call: usize, path: &'static str) {
        self.report_lone_of(Some(call), lone);
        let kind = match ident {
            Ident::Empty => QuirkKind::EmptyIdentity,
            Ident::Null => QuirkKind::NullIdentity,
            Ident::WrongType => QuirkKind::WrongType,
            Ident::Absent | Ident::Given(_) => return,
        };
        self.fold.quirk(kind, Some(call), || path.to_owned());
    }

    /// A value that is kept as sent; `of_choice` says whether it is the choice's or the response's.
    pub(crate) fn kept(&mut self, object: Object<'a>, value: u32, of_choice: bool) -> Value {
        let mut lone = 0;
        let kept = object.value(value, &mut lone);
        let place = if of_choice { self.fold.place() } else { Place::default() };
        report_lone(&mut self.fold.quirks, lone, place);
        kept
    }

    /// Keeps the members of a call's beginning or item that are not known (X2); null says nothing.
    pub(crate) fn keep_unknown(&mut self, entry: Object<'a>, call: usize, known: &[&str]) -> Result<(), Error> {
        let (mut unknown, mut lone) = (Members::new(), 0);
        for (name, value) in entry.members() {
            let is_known = known.iter().any(|known| known.as_bytes() == &*name);
            if !is_known && entry.node(Some(value)).is_some() {
                unknown.push(entry.key(value, &mut lone).into_owned(), entry.value(value, &mut lone));
            }
        }
        self.report_lone_of(Some(call), lone);
        self.fold.put_call_extras(call, unknown)
    }

    /// An `error` that says something, or any where the event itself is an error (E6).
    pub(crate) fn error(&mut self, is_error: bool) {
        let value = self.chunk.member("error");
        let says = match self.chunk.node(value) {
            Some(node) if node.kind == Kind::String => node.start < node.end,
            Some(node) if node.kind == Kind::Object => node.next > value.unwrap_or_default() + 1,
            Some(_) => {
                self.ops.push(Op::Quirk(QuirkKind::WrongType, "error", About::Stream));
                false
            }
            None => false,
        };
        let stated = self.chunk.node(value).filter(|_| says);
        let whole = || self.chunk.tape.node(self.chunk.index).filter(|_| is_error);
        if let Some(node) = stated.or_else(whole) {
            self.ops.push(Op::Error(Span::source(node)));
        }
    }
}
