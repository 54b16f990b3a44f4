//! Folds files without Python: what `benches/callgrind` counts, and the fold beside a plain scan for line feeds.
//!
//! `fold [--feed BYTES] [--repeat TIMES] [--time] FILE...`. A feed of 0 bytes is one frame a feed. `--time` prints
//! the median nanoseconds of one fold of all files, and of one scan for LF (memchr) over the same bytes.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use deltafold_core::{Assembler, Options};

struct Words {
    feed: usize,
    repeat: usize,
    time: bool,
    files: Vec<String>,
}

fn words() -> Result<Words, Box<dyn Error>> {
    let mut words = Words { feed: 16 * 1024, repeat: 1, time: false, files: Vec::new() };
    let mut given = std::env::args().skip(1);
    while let Some(word) = given.next() {
        match word.as_str() {
            "--feed" => words.feed = given.next().ok_or("--feed BYTES")?.parse()?,
            "--repeat" => words.repeat = given.next().ok_or("--repeat TIMES")?.parse()?,
            "--time" => words.time = true,
            _ => words.files.push(word),
        }
    }
    Ok(words)
}

/// Where the feeds of `body` end.
fn cuts(body: &[u8], feed: usize) -> Vec<usize> {
    let mut ends: Vec<usize> = if feed == 0 {
        memchr::memmem::find_iter(body, b"\n\n").map(|at| at + 2).collect()
    } else {
        (feed..body.len()).step_by(feed).collect()
    };
    if ends.last() != Some(&body.len()) {
        ends.push(body.len());
    }
    ends
}

/// Bytes to the completion, no events.
fn fold(body: &[u8], ends: &[usize]) -> Result<(), Box<dyn Error>> {
    let mut assembler = Assembler::new(Options { events: false, ..Options::default() });
    let mut start = 0;
    for end in ends {
        let feed = body.get(start..*end).ok_or("cuts are in order")?;
        assembler.feed(feed).map_err(|refused| format!("{refused:?}"))?;
        start = *end;
    }
    black_box(assembler.close().map_err(|refused| format!("{refused:?}"))?);
    Ok(())
}

/// Median nanoseconds of `work` over `times` runs.
fn median(times: usize, mut work: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<u128, Box<dyn Error>> {
    let mut spent = Vec::new();
    for _ in 0..times {
        let start = Instant::now();
        work()?;
        spent.push(start.elapsed().as_nanos());
    }
    spent.sort_unstable();
    Ok(spent.get(times / 2).copied().unwrap_or_default())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words = words()?;
    let bodies = words.files.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    let inputs: Vec<_> = bodies.iter().map(|body| (body, cuts(body, words.feed))).collect();
    let fold_all = || inputs.iter().try_for_each(|(body, ends)| fold(body, ends));
    if !words.time {
        return (0..words.repeat).try_for_each(|_| fold_all());
    }
    let scan_all = || {
        black_box(bodies.iter().map(|body| memchr::memchr_iter(b'\n', black_box(body)).count()).sum::<usize>());
        Ok(())
    };
    let folded = median(words.repeat, fold_all)?;
    let scanned = median(words.repeat, scan_all)?;
    println!("fold {folded} ns, scan for LF {scanned} ns");
    Ok(())
}
