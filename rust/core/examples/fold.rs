//! Folds a recorded body a number of times: `fold FILE FEED TIMES`. For profilers and instruction counters.

use std::error::Error;

use deltafold_core::{Assembler, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, feed, times] = arguments.as_slice() else {
        return Err("usage: fold FILE FEED TIMES".into());
    };
    let (body, feed, times) = (std::fs::read(path)?, feed.parse::<usize>()?.max(1), times.parse::<usize>()?);
    let mut calls = 0;
    for _ in 0..times {
        let mut assembler = Assembler::new(Options { events: false, ..Options::default() });
        for chunk in body.chunks(feed) {
            assembler.feed(chunk).map_err(|_| "the stream is in error")?;
        }
        let completion = assembler.close().map_err(|_| "the stream is in error")?;
        calls += completion.choices.iter().map(|choice| choice.tool_calls.len()).sum::<usize>();
    }
    println!("{calls} calls");
    Ok(())
}
