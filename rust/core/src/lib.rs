//! The core of deltafold: server-sent events in, exact tool calls out; no Python, no I/O.
//!
//! Data goes one way: bytes ([`SseDecoder`]), payloads, operations, the fold, events. [`Assembler`] is all of it.

mod arguments;
mod body;
mod chunk;
mod completion;
mod error;
mod event;
mod few;
mod fold;
mod identity;
mod json;
mod policy;
mod quirk;
mod sse;
mod stream;
mod template;
mod wire;

pub use arguments::{PartialReader, PartialSink, Scalar};
pub use completion::{CallKind, Choice, Completion, End, IdSource, Status, ToolCall, Wire};
pub use error::{Error, ErrorClass, ErrorKind, Provider};
pub use event::{Event, Fragment};
pub use json::{Members, Source, Value, parse};
pub use policy::{Identity, Limits, Malformed, MissingId, Policy, SharedIndex};
pub use quirk::{Quirk, QuirkKind};
pub use sse::{SseDecoder, SseEvent};
pub use stream::{Assembler, Counters, Options, Refused, with_what_was_learnt};
