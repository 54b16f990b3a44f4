//! Looking at sixteen bytes at once: which of them end a plain run of text.

use wide::{i8x16, u8x16};

/// Bytes looked at together.
pub(crate) const LANES: usize = 16;

/// The place of the first mark, or LANES.
#[inline]
const fn first(marks: u32) -> usize {
    (marks | 1 << LANES).trailing_zeros() as usize
}

#[inline]
fn equal(block: u8x16, byte: u8) -> u8x16 {
    block.simd_eq(u8x16::splat(byte))
}

/// Where the first quote, backslash, control character or byte beyond ASCII stands; LANES where there is none.
#[inline]
pub(crate) fn specials(block: &[u8; LANES]) -> usize {
    let bytes = u8x16::new(*block);
    // Signed, bytes beyond ASCII are below the controls.
    let others = i8x16::from(block.map(|byte| byte as i8)).simd_lt(i8x16::splat(0x20)).to_bitmask();
    first((equal(bytes, b'"') | equal(bytes, b'\\')).to_bitmask() | others)
}

/// Where the first quote, backslash or control character stands; LANES where there is none.
#[inline]
pub(crate) fn controls(block: &[u8; LANES]) -> usize {
    let bytes = u8x16::new(*block);
    let control = bytes.min(u8x16::splat(0x1f)).simd_eq(bytes);
    first((equal(bytes, b'"') | equal(bytes, b'\\') | control).to_bitmask())
}

/// Where the first backslash stands; LANES where there is none.
#[inline]
pub(crate) fn slashes(block: &[u8; LANES]) -> usize {
    first(equal(u8x16::new(*block), b'\\').to_bitmask())
}
