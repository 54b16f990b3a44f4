//! How input is cut (S7): lists of chunk sizes, the same from run to run.

use std::iter::repeat;

/// A small generator of sizes, fixed by its seed.
pub(crate) struct Sizes {
    state: u64,
    longest: usize,
}

impl Sizes {
    /// Sizes between 1 and `longest`, half of them very small.
    pub(crate) fn new(seed: u64, longest: usize) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, longest }
    }
}

impl Iterator for Sizes {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let longest = if self.state & 1 == 0 { 4 } else { self.longest };
        Some(1 + (self.state >> 33) as usize % longest)
    }
}

/// `body` in chunks of these sizes, then what is left.
pub(crate) fn pieces(body: &[u8], sizes: impl IntoIterator<Item = usize>) -> Vec<&[u8]> {
    let mut rest = body;
    let mut found = Vec::new();
    for size in sizes {
        if rest.is_empty() {
            break;
        }
        let (piece, left) = rest.split_at(size.min(rest.len()));
        found.push(piece);
        rest = left;
    }
    found.extend(Some(rest).filter(|rest| !rest.is_empty()));
    found
}

/// `body` in chunks of one size.
pub(crate) fn even(body: &[u8], size: usize) -> Vec<&[u8]> {
    pieces(body, repeat(size))
}
