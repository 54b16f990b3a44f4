//! Scanning the inside of JSON strings and numbers, one byte looked at once.

use super::block::{self, LANES};

/// What a string holds that matters to those who read it.
pub(crate) mod flag {
    /// The string holds at least one backslash escape.
    pub(crate) const ESCAPED: u8 = 1;
    /// The string holds bytes that are not UTF-8 (S6).
    pub(crate) const INVALID: u8 = 2;
}

/// The first position from `at` on of a quote, a backslash, a control character or a byte beyond ASCII, or the end.
#[inline]
pub(crate) fn plain_run(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<LANES>()) {
        let plain = block::specials(chunk);
        at += plain;
        if plain < LANES {
            return at;
        }
    }
    while bytes.get(at).is_some_and(|&byte| byte != b'"' && byte != b'\\' && (0x20..0x80).contains(&byte)) {
        at += 1;
    }
    at
}

/// The first position from `at` on of a quote, a backslash or a control character, or the end.
#[inline]
pub(crate) fn text_run(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<LANES>()) {
        let plain = block::controls(chunk);
        at += plain;
        if plain < LANES {
            return at;
        }
    }
    while bytes.get(at).is_some_and(|&byte| byte != b'"' && byte != b'\\' && byte >= 0x20) {
        at += 1;
    }
    at
}

/// The position of the first backslash, or the length.
#[inline]
pub(crate) fn slash(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<LANES>()) {
        let plain = block::slashes(chunk);
        at += plain;
        if plain < LANES {
            return at;
        }
    }
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|&byte| byte == b'\\').unwrap_or(rest.len())
}

/// The width of the UTF-8 character at `at`, a byte of 0x80 or above; 0 where it is not one.
#[inline]
pub(crate) fn utf8_width(bytes: &[u8], at: usize) -> usize {
    let next = |offset: usize| bytes.get(at + offset).copied().unwrap_or(0);
    let follows = |offset: usize| next(offset) & 0xc0 == 0x80;
    match next(0) {
        0xc2..=0xdf if follows(1) => 2,
        0xe0 if (0xa0..=0xbf).contains(&next(1)) && follows(2) => 3,
        0xed if (0x80..=0x9f).contains(&next(1)) && follows(2) => 3,
        0xe1..=0xec | 0xee | 0xef if follows(1) && follows(2) => 3,
        0xf0 if (0x90..=0xbf).contains(&next(1)) && follows(2) && follows(3) => 4,
        0xf1..=0xf3 if follows(1) && follows(2) && follows(3) => 4,
        0xf4 if (0x80..=0x8f).contains(&next(1)) && follows(2) && follows(3) => 4,
        _ => 0,
    }
}

/// The end of the string whose content starts at `at` (the position of its closing quote) and its flags;
/// `Err` holds where it stops being one.
#[inline]
pub(crate) fn string(bytes: &[u8], mut at: usize) -> Result<(usize, u8), usize> {
    let mut flags = 0;
    loop {
        at = plain_run(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return Ok((at, flags)),
            Some(b'\\') => {
                flags |= flag::ESCAPED;
                at += escape_width(bytes, at).ok_or(at)?;
            }
            Some(0x80..) => {
                while bytes.get(at).is_some_and(|&byte| byte >= 0x80) {
                    let width = utf8_width(bytes, at);
                    if width == 0 {
                        flags |= flag::INVALID;
                    }
                    at += width.max(1);
                }
            }
            _ => return Err(at),
        }
    }
}

/// As [`string`], for a text that is to be appended: where it holds simple escapes only, it is decoded behind what is in
/// `out` and `None` stands for its flags.
#[inline]
pub(crate) fn text(bytes: &[u8], start: usize, out: &mut Vec<u8>) -> Result<(usize, Option<u8>), usize> {
    let run = plain_run(bytes, start);
    if bytes.get(run) == Some(&b'"') {
        return Ok((run, Some(0)));
    }
    let length = out.len();
    if let Some(end) = decode_simple(bytes, start, out) {
        return Ok((end, None));
    }
    out.truncate(length);
    string(bytes, run).map(|(end, flags)| (end, Some(flags)))
}

/// Decodes a string of plain text and simple escapes behind what is in `out`; gives the position of its closing quote.
#[inline]
pub(crate) fn decode_simple(bytes: &[u8], mut at: usize, out: &mut Vec<u8>) -> Option<usize> {
    loop {
        while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<LANES>()) {
            out.extend_from_slice(chunk);
            let plain = block::specials(chunk);
            at += plain;
            if plain < LANES {
                out.truncate(out.len() + plain - LANES);
                break;
            }
        }
        match *bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => {
                out.push(simple_escape(*bytes.get(at + 1)?)?);
                at += 2;
            }
            0x80.. => {
                let width = utf8_width(bytes, at);
                out.extend_from_slice(bytes.get(at..at + width).filter(|wide| !wide.is_empty())?);
                at += width;
            }
            0x20.. if bytes.len() - at < LANES => {
                out.push(*bytes.get(at)?);
                at += 1;
            }
            _ => return None,
        }
    }
}

/// What an escape of one letter stands for.
#[inline]
pub(crate) const fn simple_escape(letter: u8) -> Option<u8> {
    Some(match letter {
        b'"' | b'\\' | b'/' => letter,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

/// The width of the escape at `at`, where a backslash stands.
#[inline]
pub(crate) fn escape_width(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit).then_some(6),
        _ => None,
    }
}

/// An integer of at most nine digits at `at`, without a sign, and where it ends.
#[inline]
pub(crate) fn index(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let digits = bytes.get(at..)?.iter().take(9).take_while(|byte| byte.is_ascii_digit());
    let (value, width) = digits.fold((0, 0), |(value, width), digit| (value * 10 + i64::from(digit - b'0'), width + 1));
    let is_index = width == 1 || width > 0 && bytes.get(at) != Some(&b'0');
    is_index.then_some((value, at + width))
}

/// The end of the RFC 8259 number that starts at `at`; `Err` holds where it stops being one.
#[inline]
pub(crate) fn number(bytes: &[u8], mut at: usize) -> Result<usize, usize> {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let some_digits = |from: usize| {
        let end = digits(from);
        if end == from { Err(from) } else { Ok(end) }
    };
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    at = if bytes.get(at) == Some(&b'0') { at + 1 } else { some_digits(at)? };
    if bytes.get(at) == Some(&b'.') {
        at = some_digits(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(bytes.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = some_digits(at)?;
    }
    Ok(at)
}

/// The first position from `at` on that is no JSON white space.
#[inline]
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// `bytes` without JSON white space at both ends.
pub(crate) fn trim(bytes: &[u8]) -> &[u8] {
    let start = skip_space(bytes, 0);
    let rest = bytes.get(start..).unwrap_or_default();
    let end = rest.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).map_or(0, |last| last + 1);
    rest.get(..end).unwrap_or_default()
}
