//! Folds what the fuzzer makes in several ways that must all give the same (S7), within the bounds of the work.
//!
//! The first bytes of an input choose the options and the cuts ([`Plan`]); the rest is streams, [`BETWEEN`] between
//! them, folded one after the other in one thread: each meets the templates that those before it left.

#![no_main]

mod plan;
mod run;

use libfuzzer_sys::fuzz_target;

use plan::Plan;
use run::run;

/// Stands between the streams of one input.
const BETWEEN: &[u8] = b"\xff\xff";
/// Bytes of work beyond twice the input.
const SLACK: u64 = 65536;

fuzz_target!(|input: &[u8]| {
    let Some((plan, streams)) = Plan::read(input) else { return };
    let streams: Vec<&[u8]> = split(streams);
    // A new thread knows no templates, so what an input shows does not depend on the inputs before it.
    std::thread::scope(|scope| {
        scope.spawn(|| check(&plan, &streams));
    });
});

/// The streams of an input.
fn split(mut rest: &[u8]) -> Vec<&[u8]> {
    let mut streams = Vec::new();
    while let Some(at) = rest.windows(BETWEEN.len()).position(|bytes| bytes == BETWEEN) {
        streams.push(&rest[..at]);
        rest = &rest[at + BETWEEN.len()..];
    }
    streams.push(rest);
    streams
}

/// Every stream twice: the second time the templates of all of them are known.
fn check(plan: &Plan, streams: &[&[u8]]) {
    let expected: Vec<_> = streams.iter().map(|stream| run(plan.options(false), stream, |rest| rest)).collect();
    for round in 0..2 {
        for (place, stream) in streams.iter().enumerate() {
            let mut sizes = plan.sizes(round);
            let found = run(plan.options(true), stream, |rest| sizes.first_of(rest));
            assert_eq!(expected[place].outcome, found.outcome, "stream {place}, round {round}, {plan:?}");
            for run in [&expected[place], &found] {
                let most = 2 * stream.len() as u64 + SLACK;
                assert!(run.counters.bytes_scanned <= most, "{:?}, stream {place}, {plan:?}", run.counters);
            }
        }
    }
}
