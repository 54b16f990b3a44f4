//! JSON values that are kept as sent, and read when somebody asks for them.

use std::sync::OnceLock;

use super::{Value, parse, weight};
use crate::json::text::owned;

/// The source text of a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    raw: Box<[u8]>,
    weight: Option<usize>,
}

impl Sent {
    /// `raw` is valid JSON.
    pub(crate) fn new(raw: &[u8]) -> Self {
        let weight = match raw {
            [b'{' | b'[', ..] => None,
            [b'"', text @ .., b'"'] => (text.is_ascii() && !text.contains(&b'\\')).then_some(text.len()),
            _ => Some(Value::Null.weight()),
        };
        Self { raw: raw.into(), weight }
    }

    /// The source text.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// What it counts for against the limit on kept text (S8): what it weighs, if that is known, else more: a byte of JSON
    /// weighs eight at most.
    pub(crate) fn counted(&self) -> usize {
        self.weight.unwrap_or(Value::Null.weight() * self.raw.len())
    }

    pub(crate) const fn is_weighed(&self) -> bool {
        self.weight.is_some()
    }

    /// Finds out what it weighs; it nests at most `depth` levels.
    pub(crate) fn weigh(&mut self, depth: usize) {
        self.weight.get_or_insert_with(|| weight(&self.raw, depth));
    }

    /// The value, which nests at most `depth` levels.
    pub(crate) fn into_value(self, depth: usize) -> Value {
        match self.raw.first() {
            Some(b'"') if !self.raw.contains(&b'\\') => {
                let mut text = Vec::from(self.raw);
                text.pop();
                text.remove(0);
                Value::String(owned(text))
            }
            Some(b'-' | b'0'..=b'9') => Value::Number(owned(self.raw.into()).into()),
            _ => Value::Source(Box::new(Source { sent: self, depth, value: OnceLock::new() })),
        }
    }
}

/// A value as sent, and read once somebody has asked for it.
#[derive(Clone, Debug)]
pub struct Source {
    pub(super) sent: Sent,
    depth: usize,
    value: OnceLock<Value>,
}

impl Source {
    /// The source text.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.sent.raw
    }

    pub(super) fn value(&self) -> &Value {
        self.value.get_or_init(|| parse(&self.sent.raw, self.depth).unwrap_or(Value::Null))
    }

    pub(super) fn into_value(self) -> Value {
        self.value();
        self.value.into_inner().unwrap_or(Value::Null)
    }
}
