//! `OpenAI` chat completions, and what gateways make of them (W1).

mod calls;

use crate::chunk::{About, Index, Op, Span, TextKind};
use crate::json::tape::{Kind, Node, Tape};
use crate::quirk::QuirkKind;

use super::{items, members, name};
use std::collections::HashMap;

/// The members that are kept at the top of a chunk and beside a delta (X2).
const KEPT: [&str; 8] = [
    "citations",
    "search_results",
    "provider",
    "native_finish_reason",
    "content_filter_results",
    "prompt_filter_results",
    "system_fingerprint",
    "service_tier",
];

/// The members in which reasoning comes, the first one that is not empty counts (X1).
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

/// Reads payloads into operations.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    tape: &'a Tape,
    ops: &'a mut Vec<Op>,
    /// Values that nothing was read from: they may be anything.
    ignored: &'a mut Vec<u32>,
    /// A whole message is read (X4): its calls may lack an index, their place in the list stands for it.
    in_message: bool,
    /// What is read belongs to a choice.
    in_choice: bool,
}

/// Reads the payload `bytes`, an object whose nodes are on `tape`.
pub(crate) fn read(bytes: &[u8], tape: &Tape, ops: &mut Vec<Op>, ignored: &mut Vec<u32>) {
    Reader { bytes, tape, ops, ignored, in_message: false, in_choice: false }.chunk();
}

/// Reads a whole message like a delta (X4).
pub(crate) fn read_message(bytes: &[u8], tape: &Tape, ops: &mut Vec<Op>) {
    Reader { bytes, tape, ops, ignored: &mut Vec::new(), in_message: true, in_choice: true }.delta(0);
}

impl Reader<'_> {
    fn chunk(&mut self) {
        let (mut id, mut model, mut created, mut choices, mut usage, mut groq, mut error) =
            (None, None, None, None, None, None, None);
        let mut kept = [None; KEPT.len()];
        for (name, value) in members(self.bytes, self.tape, 0) {
            let slot = match &*name {
                b"id" => &mut id,
                b"model" => &mut model,
                b"created" => &mut created,
                b"choices" => &mut choices,
                b"usage" => &mut usage,
                b"x_groq" => &mut groq,
                b"error" => &mut error,
                other => match keep(other, &mut kept) {
                    Some(slot) => slot,
                    None => {
                        self.ignored.push(value);
                        continue;
                    }
                },
            };
            *slot = Some(value);
        }
        if let Some(span) = self.string(id, "id") {
            self.ops.push(Op::Id(span));
        }
        if let Some(span) = self.string(model, "model") {
            self.ops.push(Op::Model(span));
        }
        self.created(created);
        self.choices(choices);
        self.kept(&kept);
        self.usage(usage, groq);
        self.error(error);
    }

    fn node(&self, index: Option<u32>) -> Option<&Node> {
        index.and_then(|index| self.tape.node(index)).filter(|node| node.kind != Kind::Null)
    }

    fn quirk(&mut self, kind: QuirkKind, detail: &'static str) {
        let about = if self.in_choice { About::Choice } else { About::Stream };
        self.ops.push(Op::Quirk(kind, detail, about));
    }

    fn wrong_type(&mut self, path: &'static str) {
        self.quirk(QuirkKind::WrongType, path);
    }

    /// A string that is not empty; another type but null is reported.
    fn string(&mut self, index: Option<u32>, path: &'static str) -> Option<Span> {
        let node = self.node(index)?;
        if node.kind != Kind::String {
            self.wrong_type(path);
            return None;
        }
        (node.start < node.end).then(|| Span::of(node))
    }

    fn created(&mut self, index: Option<u32>) {
        let Some(&node) = self.node(index) else { return };
        if node.kind != Kind::Number {
            return self.wrong_type("created");
        }
        if !is_zero(self.slice(&node)) {
            self.ops.push(Op::Created(Span::of(&node)));
        }
    }

    fn kept(&mut self, kept: &[Option<u32>; KEPT.len()]) {
        for (name, index) in KEPT.iter().zip(kept) {
            if let Some(node) = self.node(*index) {
                self.ops.push(Op::Keep(name, Span::source(node)));
            }
        }
    }

    fn choices(&mut self, index: Option<u32>) {
        let Some(node) = self.node(index) else { return };
        if node.kind != Kind::Array {
            return self.wrong_type("choices");
        }
        for choice in items(self.tape, index.unwrap_or_default()) {
            match self.tape.node(choice).map(|node| node.kind) {
                Some(Kind::Object) => self.choice(choice),
                Some(Kind::Null) | None => {}
                Some(_) => self.wrong_type("choices[]"),
            }
        }
    }

    fn choice(&mut self, choice: u32) {
        let (mut index, mut delta, mut finish, mut logprobs, mut message, mut text) =
            (None, None, None, None, None, None);
        let mut kept = [None; KEPT.len()];
        for (name, value) in members(self.bytes, self.tape, choice) {
            let slot = match &*name {
                b"index" => &mut index,
                b"delta" => &mut delta,
                b"finish_reason" => &mut finish,
                b"logprobs" => &mut logprobs,
                b"message" => &mut message,
                b"text" => &mut text,
                other => match keep(other, &mut kept) {
                    Some(slot) => slot,
                    None => {
                        self.ignored.push(value);
                        continue;
                    }
                },
            };
            *slot = Some(value);
        }
        self.in_choice = true;
        let first = self.ops.len();
        let index = match self.index(index, "choices[].index") {
            Index::Given(index) => index,
            Index::At(span) => self.bytes.get(span.start as usize..span.end as usize).and_then(integer).unwrap_or(0),
            Index::Missing => 0,
        };
        self.ops.push(Op::Choice(index));
        self.ops.get_mut(first..).unwrap_or_default().rotate_right(1);
        match self.node(delta).map(|node| node.kind) {
            Some(Kind::Object) => {
                self.ignored.extend(text);
                self.delta(delta.unwrap_or_default());
            }
            other => {
                if other.is_some() {
                    self.wrong_type("choices[].delta");
                }
                if let Some(span) = self.string(text, "choices[].text") {
                    self.ops.push(Op::Text(TextKind::Content, span, "text"));
                }
            }
        }
        if let Some(span) = self.string(finish, "choices[].finish_reason") {
            self.ops.push(Op::Finish(span));
        }
        self.object(logprobs, "choices[].logprobs", Op::Logprobs);
        self.kept(&kept);
        self.object(message, "choices[].message", Op::Message);
        self.in_choice = false;
    }

    /// An object, handed on as its source; another type but null is reported.
    fn object(&mut self, index: Option<u32>, path: &'static str, op: impl FnOnce(Span) -> Op) {
        match self.node(index) {
            Some(node) if node.kind == Kind::Object => self.ops.push(op(Span::source(node))),
            Some(_) => self.wrong_type(path),
            None => {}
        }
    }

    /// An object that is not empty; another type but null is reported.
    fn filled_object(&mut self, index: Option<u32>, path: &'static str) -> Option<u32> {
        let node = self.node(index)?;
        if node.kind != Kind::Object {
            self.wrong_type(path);
            return None;
        }
        index.filter(|index| node.next > index + 1)
    }

    fn delta(&mut self, delta: u32) {
        let (mut content, mut refusal, mut calls, mut legacy, mut details, mut audio) =
            (None, None, None, None, None, None);
        let mut reasoning = [None; REASONING.len()];
        let mut extras = Vec::new();
        for (name, value) in members(self.bytes, self.tape, delta) {
            let slot = match &*name {
                b"content" => &mut content,
                b"refusal" => &mut refusal,
                b"tool_calls" => &mut calls,
                b"function_call" => &mut legacy,
                b"reasoning_details" => &mut details,
                b"reasoning_content" => &mut reasoning[0],
                b"reasoning" => &mut reasoning[1],
                b"reasoning_text" => &mut reasoning[2],
                b"role" => {
                    self.ignored.push(value);
                    continue;
                }
                b"audio" => &mut audio,
                _ => {
                    extras.push(value);
                    continue;
                }
            };
            *slot = Some(value);
        }
        let content = self.content(content);
        self.reasoning(&reasoning, details);
        self.ops.extend(content);
        if let Some(span) = self.string(refusal, "choices[].delta.refusal") {
            self.ops.push(Op::Text(TextKind::Refusal, span, "refusal"));
        }
        self.calls(calls);
        self.legacy(legacy);
        if let Some(audio) = self.filled_object(audio, "choices[].delta.audio") {
            self.extras(&[audio], Op::DeltaExtra);
        }
        self.extras(&extras, Op::DeltaExtra);
    }

    /// What `content` says: a text, or a list of parts. Of another type it is reported before anything is folded.
    fn content(&mut self, index: Option<u32>) -> Option<Op> {
        match self.node(index).map(|node| (node.kind, Span::source(node))) {
            Some((Kind::Array, span)) => Some(Op::Parts(span)),
            _ => {
                let span = self.string(index, "choices[].delta.content")?;
                Some(Op::Text(TextKind::Content, span, "content"))
            }
        }
    }

    /// The text of a list of details that is one piece with one text that joins.
    fn detail_text(&self, details: u32) -> Option<Span> {
        let mut pieces = items(self.tape, details);
        let (piece, None) = (pieces.next()?, pieces.next()) else { return None };
        let joined = |name: &[u8]| matches!(name, b"text" | b"summary" | b"data");
        let mut texts = members(self.bytes, self.tape, piece).filter(|(name, _)| joined(name));
        let ((_, text), None) = (texts.next()?, texts.next()) else { return None };
        self.tape.node(text).filter(|text| text.kind == Kind::String).map(Span::of)
    }

    fn reasoning(&mut self, members: &[Option<u32>; REASONING.len()], details: Option<u32>) {
        let mut found = false;
        for (member, index) in REASONING.into_iter().zip(members) {
            if let Some(span) = self.string(*index, "choices[].delta.reasoning") {
                if found {
                    self.ignored.extend(*index);
                } else {
                    self.ops.push(Op::Text(TextKind::Reasoning, span, member));
                }
                found = true;
            }
        }
        match self.node(details) {
            Some(node) if node.kind == Kind::Array => {
                let span = Span::source(node);
                for piece in items(self.tape, details.unwrap_or_default()) {
                    if self.node(Some(piece)).is_some_and(|node| node.kind != Kind::Object) {
                        self.wrong_type("choices[].delta.reasoning_details[]");
                    }
                }
                self.ops.push(Op::Details(span, !found, self.detail_text(details.unwrap_or_default())));
            }
            Some(_) => self.wrong_type("choices[].delta.reasoning_details"),
            None => {}
        }
    }

    /// Unknown members whose values say something: `values` are the indices of the values, their names stand before them.
    fn extras(&mut self, values: &[u32], op: impl Fn(Span, Span) -> Op) {
        let mut last = HashMap::new();
        if values.len() > 1 {
            last.extend(values.iter().filter_map(|&value| Some((name(self.bytes, self.tape.node(value - 1)?), value))));
        }
        for &value in values {
            let repeated = || last.get(&name(self.bytes, self.tape.node(value - 1)?)).filter(|&&last| last != value);
            if repeated().is_some() {
                continue;
            }
            if let (Some(name), Some(node)) = (self.tape.node(value - 1), self.node(Some(value))) {
                self.ops.push(op(Span::of(name), Span::source(node)));
            }
        }
    }

    fn usage(&mut self, usage: Option<u32>, groq: Option<u32>) {
        self.usage_object(usage, "usage", false);
        if let Some(groq) = self.filled_object(groq, "x_groq") {
            let inner = members(self.bytes, self.tape, groq).filter(|(name, _)| &**name == b"usage").last();
            self.usage_object(inner.map(|(_, value)| value), "x_groq.usage", true);
        }
    }

    /// A usage object that is not empty (U1).
    fn usage_object(&mut self, index: Option<u32>, path: &'static str, aside: bool) {
        let object = self.filled_object(index, path);
        if let Some(node) = self.node(object) {
            self.ops.push(Op::Usage(Span::source(node), aside));
        }
    }

    /// An `error` that is a non-empty object or string (E6).
    fn error(&mut self, index: Option<u32>) {
        let Some(node) = self.node(index) else { return };
        let says = match node.kind {
            Kind::Object => node.next > index.unwrap_or_default() + 1,
            Kind::String => node.start < node.end,
            _ => return self.wrong_type("error"),
        };
        if says {
            self.ops.push(Op::Error(Span::source(node)));
        }
    }

    fn slice(&self, node: &Node) -> &[u8] {
        self.bytes.get(node.start as usize..node.end as usize).unwrap_or_default()
    }
}

/// The slot of a kept member.
fn keep<'a>(name: &[u8], kept: &'a mut [Option<u32>; KEPT.len()]) -> Option<&'a mut Option<u32>> {
    KEPT.iter().position(|kept| kept.as_bytes() == name).and_then(|place| kept.get_mut(place))
}

/// The integer `-?[0-9]+` of 64 bits that `digits` is.
#[inline]
pub(crate) fn integer(digits: &[u8]) -> Option<i64> {
    if let [digit @ b'0'..=b'9'] = digits {
        return Some(i64::from(digit - b'0'));
    }
    long_integer(digits)
}

fn long_integer(digits: &[u8]) -> Option<i64> {
    let unsigned = digits.strip_prefix(b"-").unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Whether a number is zero.
pub(crate) fn is_zero(number: &[u8]) -> bool {
    let digits = number.iter().take_while(|&&byte| !matches!(byte, b'e' | b'E'));
    digits.copied().all(|byte| matches!(byte, b'0' | b'.' | b'-'))
}
