//! A JSON value that is read when somebody asks for it.

use std::sync::OnceLock;

use crate::json::{Value, parse};

/// A value of which the source text is kept until it is asked for.
#[derive(Clone, Debug, Default)]
pub struct Lazy {
    source: Box<[u8]>,
    depth: usize,
    value: OnceLock<Value>,
}

impl Lazy {
    /// The value in `source`, which nests at most `depth` levels.
    #[must_use]
    pub(crate) const fn new(source: Box<[u8]>, depth: usize) -> Self {
        Self { source, depth, value: OnceLock::new() }
    }

    /// The value.
    #[must_use]
    pub fn get(&self) -> &Value {
        self.value.get_or_init(|| parse(&self.source, self.depth).unwrap_or(Value::Null))
    }
}

impl Eq for Lazy {}

impl From<Value> for Lazy {
    fn from(value: Value) -> Self {
        Self { value: value.into(), ..Self::default() }
    }
}

impl PartialEq for Lazy {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}
