//! Server-sent events (S): bytes to frames, however they are cut.

mod decoder;
mod frames;
mod line;
mod style;
mod utf8;

pub use decoder::{SseDecoder, SseEvent};
pub(crate) use frames::{Frames, Item, Payload};
pub(crate) use line::has_line_end;
pub(crate) use style::Style;
