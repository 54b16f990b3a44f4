//! One run of the assembler, and what came of it in a form that two runs are compared by.

use std::sync::Arc;

use deltafold_core::{Assembler, Completion, Error, ErrorClass, ErrorKind, Event, Options, Quirk, Refused, ToolCall};
use serde_json::{Value as Json, json};

use super::values;

/// An event in the form of vectors. Of the call that ended the whole is kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    Plain(Json),
    CallEnd(i64, usize, Arc<ToolCall>),
}

/// All that one run gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) events: Vec<Seen>,
    /// The result, the partial one where there is an error.
    pub(crate) completion: Arc<Completion>,
    pub(crate) error: Option<Arc<Error>>,
    /// The most levels that JSON may have.
    pub(crate) depth: usize,
}

impl Run {
    /// Feeds the chunks and ends the stream.
    pub(crate) fn of(chunks: &[&[u8]], options: Options) -> Self {
        let mut assembler = Assembler::new(options);
        let mut events = Vec::new();
        let error = match feed(&mut assembler, chunks, &mut events) {
            Ok(()) => None,
            Err(Refused::Error(error)) => Some(error),
            Err(Refused::Finished) => Some(Arc::new(finished())),
        };
        Self { events, completion: assembler.snapshot(), error, depth: options.limits.depth }
    }

    /// Why the other run is not the same, in a word.
    pub(crate) fn differs(&self, other: &Self) -> Option<&'static str> {
        let (own, others) = (&self.completion, &other.completion);
        if self.events != other.events {
            return Some("events");
        }
        if self.error.as_deref().map(place) != other.error.as_deref().map(place) {
            return Some("error");
        }
        if !own.quirks.iter().map(report).eq(others.quirks.iter().map(report)) {
            return Some("quirks");
        }
        let bare = |completion: &Completion| Completion { quirks: Vec::new(), error: None, ..completion.clone() };
        (bare(own) != bare(others)).then_some("completion")
    }
}

fn feed(assembler: &mut Assembler, chunks: &[&[u8]], events: &mut Vec<Seen>) -> Result<(), Refused> {
    for chunk in chunks {
        assembler.feed(chunk)?;
        take(assembler, events);
    }
    assembler.finish()?;
    take(assembler, events);
    assembler.close().map(drop)
}

fn take(assembler: &mut Assembler, events: &mut Vec<Seen>) {
    events.extend(assembler.events().map(|event| seen(&event)));
    assembler.clear_events();
}

fn seen(event: &Event<'_>) -> Seen {
    Seen::Plain(match event {
        Event::TextDelta(choice, text) => json!(["TextDelta", choice, text.text()]),
        Event::ReasoningDelta(choice, text) => json!(["ReasoningDelta", choice, text.text()]),
        Event::RefusalDelta(choice, text) => json!(["RefusalDelta", choice, text.text()]),
        Event::ToolCallStart(choice, call, id, name) => json!(["ToolCallStart", choice, call, id, name]),
        Event::ToolCallDelta(choice, call, text) => json!(["ToolCallDelta", choice, call, text.text()]),
        Event::ToolCallEnd(choice, call, ended) => return Seen::CallEnd(*choice, *call, Arc::clone(ended)),
        Event::Finish(choice, reason) => json!(["Finish", choice, reason]),
        Event::Usage(usage) => json!(["Usage", values::json(usage)]),
    })
}

/// What counts in the equality of errors: their words may differ.
fn place(error: &Error) -> (ErrorKind, Option<u64>, Option<u64>, Option<&deltafold_core::Provider>) {
    (error.kind, error.frame, error.offset, error.provider.as_deref())
}

/// What counts in the equality of quirks: their details may differ.
fn report(quirk: &Quirk) -> (deltafold_core::QuirkKind, u64, Option<u64>, Option<i64>, Option<usize>) {
    (quirk.kind, quirk.count, quirk.frame, quirk.choice, quirk.call)
}

/// The name of an error's class, as vectors have it.
pub(crate) const fn class_name(kind: ErrorKind) -> &'static str {
    match kind.class() {
        ErrorClass::Wire => "WireError",
        ErrorClass::Limit => "LimitError",
        ErrorClass::Provider => "ProviderError",
        ErrorClass::MalformedToolCall => "MalformedToolCall",
    }
}

/// An error that no stream gives, for a run that was refused as finished: it never is.
fn finished() -> Error {
    Error {
        kind: ErrorKind::UnknownWire,
        frame: None,
        offset: None,
        message: "refused as finished before the end".to_owned(),
        provider: None,
    }
}
