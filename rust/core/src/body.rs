//! What a body is that is no event stream (E6).

use std::borrow::Cow;

use crate::error::{Error, ErrorKind};
use crate::json::scan::trim;
use crate::json::tape::{Kind, Tape};
use crate::json::{Value, parse};
use crate::wire;

/// Bytes of the body that are kept to say what it is.
const KEPT: usize = 64 << 10;

/// The beginning of a body in which no line of an event stream was seen yet.
#[derive(Debug, Default)]
pub(crate) struct Body {
    head: Vec<u8>,
    length: usize,
    has_nul: bool,
}

impl Body {
    /// Takes what came.
    pub(crate) fn accept(&mut self, input: &[u8]) {
        self.length += input.len();
        self.has_nul |= input.contains(&0);
        let room = KEPT.saturating_sub(self.head.len()).min(input.len());
        self.head.extend_from_slice(input.get(..room).unwrap_or_default());
    }

    /// Bytes held.
    pub(crate) fn held(&self) -> usize {
        self.head.len()
    }

    /// The error that the body is, unless it is nothing but comments and blank lines: then the stream is just cut.
    pub(crate) fn error(&self, has_other_lines: bool, is_utf8: bool, depth: usize) -> Option<Error> {
        if !has_other_lines && is_utf8 && !self.has_nul {
            return None;
        }
        let text = trim(self.head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.head));
        let whole = self.length == self.head.len();
        let is_json = whole && parse(text, depth).is_some();
        let reported = if is_json { provider(text, depth) } else { None };
        let error = reported.unwrap_or_else(|| {
            let looks = if is_json { "JSON" } else { looks_like(text, is_utf8 && !self.has_nul, depth) };
            let message = format!("the body is no event stream; it looks like {looks}");
            Error::new(ErrorKind::NotAnEventStream, message)
        });
        Some(error.at(None, Some(0)))
    }
}

/// The provider's error that a JSON body reports: its `error`, or itself where it has a message or a detail.
fn provider(body: &[u8], depth: usize) -> Option<Error> {
    let mut tape = Tape::default();
    tape.read(body, depth).ok()?;
    if let Some(error) = wire::stated(body, &tape) {
        return Some(Error::provider(error, depth));
    }
    let is_said = |(name, value): (Cow<'_, [u8]>, u32)| {
        matches!(&*name, b"message" | b"detail") && tape.node(value).is_some_and(|node| node.kind == Kind::String)
    };
    wire::members(body, &tape, 0).any(is_said).then(|| Error::provider(body, depth))
}

/// A word on what a body looks like that is neither an event stream nor one JSON text.
fn looks_like(text: &[u8], is_text: bool, depth: usize) -> &'static str {
    let first_line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if !is_text {
        "binary data"
    } else if matches!(parse(trim(first_line), depth), Some(Value::Object(_))) {
        "NDJSON (one JSON object a line)"
    } else if text.first() == Some(&b'<') {
        "HTML or XML"
    } else if matches!(text.first(), Some(b'{' | b'[')) {
        "JSON that is cut or malformed"
    } else {
        "plain text"
    }
}
