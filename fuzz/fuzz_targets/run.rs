//! One run of an assembler, and what is compared of it.

use std::sync::Arc;

use deltafold_core::{Assembler, Completion, Counters, Error, Event, Options, Refused};

/// What must not depend on the cuts nor on the fast path.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    /// What `close` gives, or the partial result.
    completion: Arc<Completion>,
    error: Option<Arc<Error>>,
    events: Vec<Seen>,
}

/// An event that owns its text: its name, its numbers, its texts.
#[derive(Debug, PartialEq)]
struct Seen(&'static str, i64, usize, String);

/// An outcome, and the work that it took.
pub(crate) struct Run {
    pub(crate) outcome: Outcome,
    pub(crate) counters: Counters,
}

/// Folds `stream` in the pieces that `piece` takes from what is left.
pub(crate) fn run<'a>(options: Options, stream: &'a [u8], mut piece: impl FnMut(&'a [u8]) -> &'a [u8]) -> Run {
    let mut assembler = Assembler::new(options);
    let mut events = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() && assembler.error().is_none() {
        let fed = piece(rest);
        rest = &rest[fed.len()..];
        assert_eq!(assembler.feed(fed), Ok(()), "no error was pending");
        take(&mut assembler, &mut events);
    }
    let finished = assembler.finish();
    take(&mut assembler, &mut events);
    let error = assembler.error().cloned();
    let completion = match assembler.close() {
        Ok(completion) => completion,
        Err(refused) => {
            assert_eq!(Some(&refused), error.clone().map(Refused::Error).as_ref(), "the error stands (P7)");
            assembler.snapshot()
        }
    };
    assert!(error.is_some() || finished.is_ok());
    assert!(assembler.feed(b"data: {}\n\n").is_err(), "nothing is taken behind the end");
    Run { outcome: Outcome { completion, error, events }, counters: assembler.counters() }
}

/// Takes the events that are there.
fn take(assembler: &mut Assembler, events: &mut Vec<Seen>) {
    events.extend(assembler.events().map(seen));
    assembler.clear_events();
}

fn seen(event: Event<'_>) -> Seen {
    match event {
        Event::TextDelta(choice, text) => Seen("text", choice, 0, text.text().into_owned()),
        Event::ReasoningDelta(choice, text) => Seen("reasoning", choice, 0, text.text().into_owned()),
        Event::RefusalDelta(choice, text) => Seen("refusal", choice, 0, text.text().into_owned()),
        Event::ToolCallStart(choice, call, id, name) => Seen("start", choice, call, format!("{id}\0{name}")),
        Event::ToolCallDelta(choice, call, text) => Seen("arguments", choice, call, text.text().into_owned()),
        Event::ToolCallEnd(choice, position, call) => Seen("end", choice, position, format!("{call:?}")),
        Event::Finish(choice, reason) => Seen("finish", choice, 0, reason.to_owned()),
        Event::Usage(usage) => Seen("usage", 0, 0, format!("{usage:?}")),
    }
}
