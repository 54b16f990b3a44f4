//! Decoding the text of JSON strings (P5, S6).

use std::borrow::Cow;

use super::scan::{flag, simple_escape, slash};

/// A decoder of one text that may come in fragments: it holds back a high surrogate at the end of a fragment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Joiner {
    /// The high surrogate held back, or 0.
    high: u16,
    /// Surrogates without a partner, each of which became U+FFFD.
    pub(crate) lone: u32,
}

impl Joiner {
    /// Appends the fragment `raw`, what stands between the quotes of a valid JSON string, to `text`. Without flags it is
    /// plain text.
    #[inline]
    pub(crate) fn append(&mut self, raw: &[u8], flags: u8, text: &mut Vec<u8>) {
        if flags == 0 {
            // No escape is in it, so what is held back has no partner; and backslashes of a text decoded before are plain.
            if self.high != 0 && !raw.is_empty() {
                self.flush(text);
            }
            text.extend_from_slice(raw);
        } else if flags & flag::INVALID == 0 {
            self.append_escaped(raw, text);
        } else {
            self.append_escaped(lossy(raw).as_bytes(), text);
        }
    }

    fn append_escaped(&mut self, mut rest: &[u8], text: &mut Vec<u8>) {
        text.reserve(rest.len());
        loop {
            let run = slash(rest);
            if run > 0 {
                self.flush(text);
                text.extend_from_slice(rest.get(..run).unwrap_or_default());
            }
            let Some(escape) = rest.get(run + 1..).filter(|escape| !escape.is_empty()) else { return };
            rest = self.escape(escape, text);
        }
    }

    /// Decodes the escape whose backslash stands before `escape`; gives what follows it.
    #[inline]
    fn escape<'a>(&mut self, escape: &'a [u8], text: &mut Vec<u8>) -> &'a [u8] {
        let Some(&letter) = escape.first() else { return &[] };
        if letter == b'u' {
            let digits = escape.get(1..5).and_then(|digits| std::str::from_utf8(digits).ok());
            self.unit(digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()).unwrap_or(0xfffd), text);
            return escape.get(5..).unwrap_or_default();
        }
        let plain = simple_escape(letter).unwrap_or(letter);
        self.flush(text);
        text.push(plain);
        escape.get(1..).unwrap_or_default()
    }

    /// Appends one UTF-16 code unit.
    fn unit(&mut self, unit: u16, text: &mut Vec<u8>) {
        if self.high != 0 && (0xdc00..0xe000).contains(&unit) {
            let pair = 0x1_0000 + ((u32::from(self.high) - 0xd800) << 10) + (u32::from(unit) - 0xdc00);
            self.high = 0;
            push(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER), text);
            return;
        }
        self.flush(text);
        match unit {
            0xd800..0xdc00 => self.high = unit,
            0xdc00..0xe000 => {
                self.lone += 1;
                push(char::REPLACEMENT_CHARACTER, text);
            }
            _ => push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER), text),
        }
    }

    /// Whether half of a pair is held back.
    pub(crate) const fn holds(self) -> bool {
        self.high != 0
    }

    /// The text goes on without the partner of what was held back, or ends: it becomes U+FFFD.
    #[inline]
    pub(crate) fn flush(&mut self, text: &mut Vec<u8>) {
        if self.high != 0 {
            self.high = 0;
            self.lone += 1;
            push(char::REPLACEMENT_CHARACTER, text);
        }
    }
}

fn push(character: char, text: &mut Vec<u8>) {
    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

/// A text that is known to be UTF-8, as a string.
pub(crate) fn owned(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap_or_else(|error| lossy(error.as_bytes()).into_owned())
}

/// A copy of a text that is known to be UTF-8, of which `before` is the beginning unless it changed. What it is known to
/// begin with is compared, which is faster than reading UTF-8.
pub(crate) fn grown(text: &[u8], before: &str) -> String {
    let new = text.strip_prefix(before.as_bytes()).and_then(|new| std::str::from_utf8(new).ok());
    let Some(new) = new else { return owned(text.to_vec()) };
    let mut whole = String::with_capacity(text.len());
    whole.push_str(before);
    whole.push_str(new);
    whole
}

/// `bytes` as text, invalid UTF-8 as U+FFFD by the WHATWG rule (S6).
#[inline]
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// One whole JSON string, decoded; `lone` counts the surrogates that had no partner.
pub(crate) fn decode<'a>(raw: &'a [u8], flags: u8, lone: &mut u32) -> Cow<'a, str> {
    if flags & flag::ESCAPED == 0 {
        return lossy(raw);
    }
    let mut joiner = Joiner::default();
    let mut text = Vec::with_capacity(raw.len());
    joiner.append(raw, flags, &mut text);
    joiner.flush(&mut text);
    *lone += joiner.lone;
    Cow::Owned(owned(text))
}

/// A JSON source text without insignificant white space (A2); what stands in strings stays as sent.
pub(crate) fn compact(source: &[u8]) -> String {
    let mut kept = Vec::with_capacity(source.len());
    let mut in_string = false;
    let mut escaped = false;
    for &byte in source {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            continue;
        } else {
            in_string = byte == b'"';
        }
        kept.push(byte);
    }
    lossy(&kept).into_owned()
}
