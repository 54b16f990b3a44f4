//! Decoding the text of JSON strings (P5, S6).

use std::borrow::Cow;

use super::scan::flag;

/// A decoder of one text that may come in fragments: it holds back a high surrogate at the end of a fragment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Joiner {
    /// The high surrogate held back, or 0.
    high: u16,
    /// Surrogates without a partner, each of which became U+FFFD.
    pub(crate) lone: u32,
}

impl Joiner {
    /// Appends the fragment `raw`, what stands between the quotes of a valid JSON string, to `text`.
    #[inline]
    pub(crate) fn append(&mut self, raw: &[u8], flags: u8, text: &mut String) {
        if raw.is_empty() {
            return;
        }
        if flags == 0 && self.high == 0 {
            if let Ok(plain) = std::str::from_utf8(raw) {
                text.push_str(plain);
                return;
            }
        }
        self.append_escaped(raw, text);
    }

    fn append_escaped(&mut self, raw: &[u8], text: &mut String) {
        let mut rest = raw;
        while !rest.is_empty() {
            let run = rest.iter().position(|&byte| byte == b'\\').unwrap_or(rest.len());
            let (plain, escaped) = rest.split_at(run);
            if !plain.is_empty() {
                self.flush(text);
                text.push_str(&lossy(plain));
            }
            rest = self.escape(escaped, text);
        }
    }

    /// Decodes the escape at the start of `escaped`, if any; gives what follows it.
    #[inline]
    fn escape<'a>(&mut self, escaped: &'a [u8], text: &mut String) -> &'a [u8] {
        let Some((&letter, rest)) = escaped.get(1..).and_then(<[u8]>::split_first) else {
            return &[];
        };
        let plain = match letter {
            b'u' => {
                let digits = rest.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
                self.unit(digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()).unwrap_or(0xfffd), text);
                return rest.get(4..).unwrap_or_default();
            }
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            other => other as char,
        };
        self.flush(text);
        text.push(plain);
        rest
    }

    /// Appends one UTF-16 code unit.
    fn unit(&mut self, unit: u16, text: &mut String) {
        if self.high != 0 && (0xdc00..0xe000).contains(&unit) {
            let pair = 0x1_0000 + ((u32::from(self.high) - 0xd800) << 10) + (u32::from(unit) - 0xdc00);
            self.high = 0;
            text.push(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER));
            return;
        }
        self.flush(text);
        match unit {
            0xd800..0xdc00 => self.high = unit,
            0xdc00..0xe000 => {
                self.lone += 1;
                text.push(char::REPLACEMENT_CHARACTER);
            }
            _ => text.push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
    }

    /// The text goes on without the partner of what was held back, or ends: it becomes U+FFFD.
    #[inline]
    pub(crate) fn flush(&mut self, text: &mut String) {
        if self.high != 0 {
            self.high = 0;
            self.lone += 1;
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// `bytes` as text, invalid UTF-8 as U+FFFD by the WHATWG rule (S6).
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// One whole JSON string, decoded; `lone` counts the surrogates that had no partner.
pub(crate) fn decode<'a>(raw: &'a [u8], flags: u8, lone: &mut u32) -> Cow<'a, str> {
    if flags & flag::ESCAPED == 0 {
        return lossy(raw);
    }
    let mut joiner = Joiner::default();
    let mut text = String::with_capacity(raw.len());
    joiner.append(raw, flags, &mut text);
    joiner.flush(&mut text);
    *lone += joiner.lone;
    Cow::Owned(text)
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
