//! Server-sent events (S): bytes to frames, however they are cut.

mod decoder;
mod frames;
mod style;
mod utf8;

pub use decoder::{SseDecoder, SseEvent};
pub(crate) use frames::{Frames, Item, Payload};
pub(crate) use style::Style;
