//! A JSON value that is kept as sent, and read when somebody asks for it.

use std::sync::OnceLock;

use super::{Value, parse, weight};

/// The source text of a value, and the value once it was asked for.
#[derive(Clone, Debug)]
pub struct Source {
    raw: Box<[u8]>,
    depth: usize,
    value: OnceLock<Value>,
    weight: Option<usize>,
}

impl Source {
    /// A value that nests at most `depth` levels; `raw` is valid JSON.
    pub(crate) fn new(raw: &[u8], depth: usize) -> Self {
        let weight = match raw {
            [b'{' | b'[', ..] => None,
            [b'"', text @ .., b'"'] => (text.is_ascii() && !text.contains(&b'\\')).then_some(text.len()),
            _ => Some(Value::Null.weight()),
        };
        Self { raw: raw.into(), depth, value: OnceLock::new(), weight }
    }

    /// The source text.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The value.
    pub(super) fn value(&self) -> &Value {
        self.value.get_or_init(|| parse(&self.raw, self.depth).unwrap_or(Value::Null))
    }

    pub(super) fn into_value(self) -> Value {
        self.value();
        self.value.into_inner().unwrap_or(Value::Null)
    }

    /// What it counts for against the limit on kept text (S8): what it weighs, if that is known, else more: a byte of JSON
    /// weighs eight at most.
    pub(super) fn counted(&self) -> usize {
        self.weight.unwrap_or(Value::Null.weight() * self.raw.len())
    }

    pub(super) const fn is_weighed(&self) -> bool {
        self.weight.is_some()
    }

    /// Finds out what it weighs.
    pub(super) fn weigh(&mut self) {
        self.weight.get_or_insert_with(|| weight(&self.raw, self.depth));
    }
}
