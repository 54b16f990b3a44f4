//! JSON as the wires need it: strict, in one pass, with the source text of every value at hand.

mod block;
mod members;
pub(crate) mod scan;
mod source;
pub(crate) mod tape;
pub(crate) mod text;
mod value;

pub use members::Members;
pub(crate) use source::Sent;
pub use source::Source;
pub use value::Value;
use value::weight_on;

/// Reads one JSON text into a value; None where `bytes` is no JSON text or nests deeper than `depth`.
#[must_use]
pub fn parse(bytes: &[u8], depth: usize) -> Option<Value> {
    tape::with_spare(|tape| {
        tape.read(bytes, depth).ok()?;
        Some(Value::from_tape(bytes, tape, 0, &mut 0))
    })
}

/// What a JSON text weighs as a value; 0 where it is none.
pub(crate) fn weight(bytes: &[u8], depth: usize) -> usize {
    tape::with_spare(|tape| {
        if tape.read(bytes, depth).is_err() {
            return 0;
        }
        weight_on(bytes, tape, 0).unwrap_or_else(|| Value::from_tape(bytes, tape, 0, &mut 0).weight())
    })
}
