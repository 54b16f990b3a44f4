//! What an event looks like from afar: where it is none that was expected, those that looked alike are tried.

use memchr::memchr;

use super::{NONE, SUCCESSORS};

/// Bytes at the beginning and at the end of a data line that are looked at.
const BEGINNING: usize = 11;
const END: usize = 40;
/// Looks that are told apart.
const LOOKS: usize = 1024;

/// The look of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    place: usize,
    /// Bytes of its first line.
    pub(crate) length: usize,
}

impl Look {
    /// The look of the event that `bytes` begins with; None where its first line has not ended or holds no data. Events
    /// that a stream begins with (`is_first`) are told apart from others.
    pub(crate) fn of(bytes: &[u8], is_first: bool) -> Option<Self> {
        if !bytes.starts_with(b"data") {
            return None;
        }
        let length = memchr(b'\n', bytes)?;
        let line = bytes.get(..length)?;
        let beginning = line.get(..BEGINNING)?;
        let end = line.get(length.saturating_sub(END)..)?;
        let mut hash = u64::from(is_first);
        for &byte in beginning.iter().chain(end) {
            // Numbers differ.
            let byte = if byte.is_ascii_digit() { b'0' } else { byte };
            hash = (hash.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
        Some(Self { place: (hash >> 32) as usize % LOOKS, length })
    }
}

/// The templates that events of each look were recognised by, the last one first.
#[derive(Debug, Default)]
pub(super) struct Sights(Vec<[u32; SUCCESSORS]>);

impl Sights {
    pub(super) fn get(&self, look: Look) -> [u32; SUCCESSORS] {
        self.0.get(look.place).copied().unwrap_or([NONE; SUCCESSORS])
    }

    pub(super) fn set(&mut self, look: Look, template: u32) {
        if self.0.is_empty() {
            self.0 = vec![[NONE; SUCCESSORS]; LOOKS];
        }
        let Some(known) = self.0.get_mut(look.place) else { return };
        let place = known.iter().position(|&other| other == template).unwrap_or(known.len() - 1);
        if let Some(before) = known.get_mut(..=place) {
            before.rotate_right(1);
            before[0] = template;
        }
    }
}
