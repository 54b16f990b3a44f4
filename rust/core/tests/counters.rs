//! Work is linear and memory bounded, whatever the cuts (S7, S8): counters, never time.

mod support {
    pub(crate) mod cuts;
}

use std::fmt::Write as _;
use std::iter::repeat_n;

use deltafold_core::{Assembler, Counters, Options, Refused};

use support::cuts::{Sizes, even, pieces};

/// What may be looked at or held beyond twice the input, in bytes.
const SLACK: u64 = 64 << 10;
/// The size of the frame that is fed in small pieces; without optimisation the largest would take minutes.
const LARGE: usize = if cfg!(debug_assertions) { 2 << 20 } else { 32 << 20 };

/// The counters of a stream that is fed in these chunks, checked against the linear bound.
fn feed<'a>(chunks: impl IntoIterator<Item = &'a [u8]>, fast: bool) -> Result<Counters, Refused> {
    let mut assembler = Assembler::new(Options { fast, ..Options::default() });
    for chunk in chunks {
        assembler.feed(chunk)?;
        assembler.clear_events();
    }
    assembler.close()?;
    let counters = assembler.counters();
    assert!(counters.bytes_scanned <= 2 * counters.bytes_in + SLACK, "not linear: {counters:?}");
    Ok(counters)
}

fn frame(stream: &mut String, delta: &str) {
    let _ = write!(stream, "data: {{\"id\":\"r\",\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}}}]}}\n\n");
}

/// Calls whose fragments come in turn.
fn calls(calls: usize, fragments: usize) -> String {
    let mut stream = String::new();
    let entry = |call: usize, rest: &str| format!("\"tool_calls\":[{{\"index\":{call},{rest}}}]");
    for call in 0..calls {
        let function = r#""function":{"name":"f","arguments":"{\"a\":\""}"#;
        frame(&mut stream, &entry(call, &format!("\"id\":\"c{call}\",{function}")));
    }
    for at in 0..fragments {
        let words = format!("\"function\":{{\"arguments\":\"word {at} \\\\n \"}}");
        frame(&mut stream, &entry(at % calls, &words));
    }
    stream + "data: [DONE]\n\n"
}

fn texts() -> String {
    let mut stream = String::new();
    for at in 0..1000 {
        let name = if at % 3 == 0 { "reasoning_content" } else { "content" };
        frame(&mut stream, &format!("\"{name}\":\"thought \\u00e9 {at}\""));
    }
    stream + "data: [DONE]\n\n"
}

/// Frames of which hardly one looks like the one before.
fn restless() -> String {
    let mut stream = String::new();
    for at in 0..1000 {
        let extra = "[".repeat(at % 7) + &"]".repeat(at % 7);
        let extra = if extra.is_empty() { "1" } else { &extra };
        frame(&mut stream, &format!("\"content\":\"{at}\",\"x{}\":{extra}", at % 50));
    }
    stream + "data: [DONE]\n\n"
}

fn shapes() -> [(&'static str, String); 6] {
    [
        ("one long call", calls(1, 2000)),
        ("interleaved calls", calls(8, 2000)),
        ("texts", texts()),
        ("restless", restless()),
        ("comments", ": keep-alive\n\n".repeat(5000) + &texts()),
        (
            "many data lines",
            format!("data: {{\"choices\":[]\n{}data: }}\n\ndata: [DONE]\n\n", "data:  \n".repeat(20_000)),
        ),
    ]
}

#[test]
fn every_shape_at_every_cut() -> Result<(), Refused> {
    for (name, stream) in shapes() {
        let body = stream.as_bytes();
        let longest = stream.split("\n\n").map(str::len).max().unwrap_or_default() as u64;
        for fast in [true, false] {
            for size in [1, 64, 16 << 10, body.len()] {
                let counters = feed(even(body, size), fast)?;
                assert_eq!(counters.bytes_in, body.len() as u64, "{name}");
                let is_small = size <= 64;
                assert!(
                    !is_small || counters.bytes_buffered_peak <= 2 * longest + SLACK,
                    "{name} in chunks of {size}: {counters:?}"
                );
            }
            feed(pieces(body, Sizes::new(7, 3000)), fast)?;
        }
    }
    Ok(())
}

#[test]
fn one_large_frame_in_64_byte_cuts() -> Result<(), Refused> {
    let (head, tail) = (&b"data: {\"choices\":[{\"delta\":{\"content\":\""[..], &b"\"}}]}\n\n"[..]);
    let unit = [b'x'; 64];
    let units = LARGE / 64;
    for fast in [true, false] {
        let chunks = [head].into_iter().chain(repeat_n(&unit[..], units - 2)).chain([tail]);
        let counters = feed(chunks, fast)?;
        let total = (units - 2) * 64 + head.len() + tail.len();
        assert_eq!(counters.bytes_in, total as u64);
        assert!(counters.bytes_buffered_peak <= 2 * counters.bytes_in + SLACK, "{counters:?}");
    }
    Ok(())
}

#[test]
fn nothing_is_kept_of_lines_that_bring_nothing() -> Result<(), Refused> {
    for unit in ["\n", "\r\n", ":\n", ": keep-alive\n\n", "event: x\n\n", "data:\n\n"] {
        let body = unit.repeat((1 << 19) / unit.len());
        let counters = feed(even(body.as_bytes(), 1000), true)?;
        assert!(counters.bytes_buffered_peak <= 2 * SLACK, "{unit:?}: {counters:?}");
    }
    Ok(())
}
