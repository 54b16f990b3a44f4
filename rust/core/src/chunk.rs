//! What a payload says, wire by wire, as a list of small operations on the fold. Their texts stay in the payload: a
//! [`Span`] says where, a [`View`] reads it.

use crate::completion::CallKind;
use crate::json::tape::{Kind, Node};
use crate::quirk::QuirkKind;
use crate::template::Text;
use crate::wire::openai_chat::integer;

/// A text in a payload. In a learnt template the payload at hand may have its parts shifted: `before` and `upto` count the
/// holes before the start and the end, `hole` is the hole that the span is, if it is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) before: u8,
    pub(crate) upto: u8,
    pub(crate) flags: u8,
    pub(crate) hole: u8,
}

/// No hole.
pub(crate) const FIXED: u8 = u8::MAX;

impl Span {
    #[inline]
    pub(crate) fn of(node: &Node) -> Self {
        Self { start: node.start, end: node.end, before: 0, upto: 0, flags: node.flags, hole: FIXED }
    }

    /// The source text of a value, a string's quotes included.
    pub(crate) fn source(node: &Node) -> Self {
        let quote = u32::from(node.kind == Kind::String);
        Self { start: node.start - quote, end: node.end + quote, ..Self::of(node) }
    }
}

/// A payload, and how it differs from the one that its operations were read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub(crate) bytes: &'a [u8],
    /// By how much everything behind the first n holes is shifted.
    pub(crate) shifts: &'a [i64],
    /// The texts in the holes.
    pub(crate) holes: &'a [Text],
    /// Texts that were decoded on the way.
    pub(crate) decoded: &'a [u8],
    /// The number of the template that the operations are of; 0 where they were read from the payload itself.
    pub(crate) template: u64,
}

impl<'a> View<'a> {
    /// The payload that the operations were read from itself.
    #[inline]
    pub(crate) const fn plain(bytes: &'a [u8]) -> Self {
        Self { bytes, shifts: &[0], holes: &[], decoded: &[], template: 0 }
    }

    #[inline]
    pub(crate) fn raw(&self, span: Span) -> &'a [u8] {
        let shift = |holes: u8| self.shifts.get(usize::from(holes)).copied().unwrap_or(0);
        let start = i64::from(span.start) + shift(span.before);
        let end = i64::from(span.end) + shift(span.upto);
        match (usize::try_from(start), usize::try_from(end)) {
            (Ok(start), Ok(end)) => self.bytes.get(start..end).unwrap_or_default(),
            _ => &[],
        }
    }

    /// The raw text of a string and its flags; what was decoded on the way is plain text by now.
    #[inline]
    pub(crate) fn text(&self, span: Span) -> (&'a [u8], u8) {
        match self.holes.get(usize::from(span.hole)) {
            Some(&Text::Decoded(start, end)) => (self.decoded.get(start as usize..end as usize).unwrap_or_default(), 0),
            Some(&Text::Raw(flags)) => (self.raw(span), flags),
            None => (self.raw(span), span.flags),
        }
    }
}

/// One of the texts of a choice, in the order of their events within a delta (X1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    Reasoning,
    Content,
    Refusal,
}

/// What a delta says of a call's id or name (I1).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ident {
    Absent,
    Null,
    Empty,
    WrongType,
    Given(Span),
}

impl Ident {
    /// What a member says of an identity (I1); None where there is no such member.
    pub(crate) fn of(node: Option<&Node>) -> Self {
        let Some(node) = node else { return Self::Absent };
        match node.kind {
            Kind::Null => Self::Null,
            Kind::String if node.start == node.end => Self::Empty,
            Kind::String => Self::Given(Span::of(node)),
            _ => Self::WrongType,
        }
    }
}

/// Under which index a delta came (I2).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Index {
    Missing,
    Given(i64),
    /// A number in the payload that is an integer of 64 bits.
    At(Span),
}

impl Index {
    /// The index, where it is usable.
    #[inline]
    pub(crate) fn read(self, view: &View<'_>) -> Option<i64> {
        match self {
            Self::Given(index) => Some(index),
            Self::Missing => None,
            Self::At(span) => integer(view.raw(span)),
        }
    }
}

/// What a delta brings to a call's arguments (A1, A2).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arguments {
    Absent,
    Text(Span),
    /// A value that is no string: its source text.
    Source(Span),
}

/// The change that a chunk carries for one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallDelta {
    pub(crate) index: Index,
    pub(crate) id: Ident,
    pub(crate) name: Ident,
    pub(crate) arguments: Arguments,
    pub(crate) kind: CallKind,
}

/// What a departure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// The stream, whatever choice it is at.
    Stream,
    /// The current choice.
    Choice,
    /// The call last named in it.
    Call,
    /// The block last found in it; where none was found, nothing is reported.
    Block,
}

/// A kind of texts that blocks hold and that join a text of their choice, in the words of its wire.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PartForm {
    /// The kind.
    pub(crate) kind: &'static str,
    /// The member that holds the text.
    pub(crate) member: &'static str,
    /// The member of a block that lists such parts.
    pub(crate) list: &'static str,
    pub(crate) text: TextKind,
}

/// Which blocks an operation can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Those of this kind.
    Kind(&'static str),
    /// Those that an input is streamed to.
    Input,
}

/// What an event says of the item that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// That it begins, and what it is.
    Begun,
    /// That it is done, and what it is.
    Done,
    /// Something else.
    Other,
}

/// The kind of an item, in the words of its wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ItemForm<'a> {
    pub(crate) kind: &'a str,
    /// What kind of call it is, if it is one.
    pub(crate) call: Option<CallKind>,
}

/// One operation on the fold.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// The response's id (X5).
    Id(Span),
    /// The model (X5).
    Model(Span),
    /// When the response was made (X5).
    Created(Span),
    /// A member of the chunk or of a choice that is kept (X2).
    Keep(&'static str, Span),
    /// The choice that the next operations are about.
    Choice(i64),
    /// A fragment of a text; for reasoning the member that it came in.
    Text(TextKind, Span, &'static str),
    /// Content that is a list of parts (X1).
    Parts(Span),
    /// `reasoning_details`; whether their text counts as reasoning, and the text where there is but one (X1).
    Details(Span, bool, Option<Span>),
    /// A delta of a call.
    Call(CallDelta),
    /// An unknown member of the entry of the call last named (X2): its name and its value.
    CallExtra(Span, Span),
    /// An unknown member of the delta (X2).
    DeltaExtra(Span, Span),
    /// `logprobs` (X2).
    Logprobs(Span),
    /// A whole message, for a choice that gets nothing else (X4).
    Message(Span),
    /// A finish reason (E1).
    Finish(Span),
    /// A usage object (U1); whether it came where only few look for it.
    Usage(Span, bool),
    /// The operations that follow are about the block that is open under that index.
    Block(Index, Fit),
    /// The operations that follow are about the item of that index or id, which begins where none is known.
    Item(Index, Ident, &'static ItemForm<'static>),
    /// A fragment of the part of that form and place of the block.
    Part(&'static PartForm, Index, Span),
    /// A fragment of the block's input, or of its call's arguments.
    Input(Arguments),
    /// A departure that reading showed, with its path.
    Quirk(QuirkKind, &'static str, About),
    /// The provider reports an error (E6).
    Error(Span),
}
