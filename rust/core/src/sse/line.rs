//! What a line is, and what is known of lines that are rare (S4).

use wide::u8x16;

/// What the line being read is known to be from its first bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Line {
    #[default]
    Open,
    Comment,
    /// Of an unknown field: only its beginning is kept.
    Unknown,
}

/// Bytes kept of a line that is of no use, for its report.
pub(super) const KEPT_OF_UNKNOWN: usize = 64;
/// A reconnection time of more digits is ignored.
pub(super) const RETRY_DIGITS: usize = 4300;
pub(super) const FIELDS: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b"error"];

/// What is known of lines that few servers send, or that few readers ask for.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// The raw data lines of the event being read, where they are asked for.
    pub(super) raw: Option<Vec<u8>>,
    /// The value of the last `error` line.
    pub(crate) error_line: Vec<u8>,
    /// The value of the event's last valid `id` line, not yet in force.
    pub(super) id: Option<Vec<u8>>,
    /// The last event id in force: a block's id is, once the block has ended.
    pub(super) last_event_id: Vec<u8>,
    /// The digits of the last valid `retry` line, in milliseconds.
    pub(crate) retry: Option<Box<str>>,
    /// The event being read has set `retry`.
    pub(crate) sets_retry: bool,
}

impl Rare {
    /// An event ends, with data or without.
    pub(super) fn end(&mut self, has_data: bool) {
        if let Some(raw) = &mut self.raw {
            raw.clear();
        }
        if let Some(id) = self.id.take() {
            self.last_event_id = id;
        }
        self.sets_retry &= has_data;
    }
}

/// What a line that has begun with `start` is, as soon as that is certain.
pub(super) fn kind_of(start: &[u8]) -> Line {
    if start.first() == Some(&b':') {
        return Line::Comment;
    }
    let colon = start.iter().take(6).position(|&byte| byte == b':');
    let name = start.get(..colon.unwrap_or(start.len().min(6))).unwrap_or_default();
    let possible = match colon {
        Some(_) => FIELDS.contains(&name),
        None => FIELDS.iter().any(|field| field.starts_with(name)),
    };
    if possible { Line::Open } else { Line::Unknown }
}

/// The name of an unknown field, shortened.
pub(super) fn name_of(line: &[u8]) -> String {
    let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
    let name = name.get(..name.len().min(KEPT_OF_UNKNOWN)).unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

/// Whether a line ends in `bytes`, of which there are few.
#[inline]
pub(crate) fn has_line_end(bytes: &[u8]) -> bool {
    let ends = |block: &[u8; 16]| {
        let bytes = u8x16::new(*block);
        (bytes.simd_eq(u8x16::splat(b'\n')) | bytes.simd_eq(u8x16::splat(b'\r'))).any()
    };
    match bytes.last_chunk() {
        Some(last) => bytes.as_chunks().0.iter().any(ends) || ends(last),
        None => bytes.contains(&b'\n') || bytes.contains(&b'\r'),
    }
}
