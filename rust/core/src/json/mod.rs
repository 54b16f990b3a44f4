//! JSON as the wires need it: strict, in one pass, with the source text of every value at hand.

mod block;
pub(crate) mod scan;
pub(crate) mod tape;
pub(crate) mod text;
mod value;

pub use value::Value;

/// Reads one JSON text into a value; None where `bytes` is no JSON text or nests deeper than `depth`.
#[must_use]
pub fn parse(bytes: &[u8], depth: usize) -> Option<Value> {
    tape::with_spare(|tape| {
        tape.read(bytes, depth).ok()?;
        Some(Value::from_tape(bytes, tape, 0, &mut 0))
    })
}
