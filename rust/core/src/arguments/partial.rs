//! The value that the beginning of a JSON text is certain to have (A7), for display only.

use crate::json::scan;
use crate::json::text::decode;

/// Bytes of an escape that is half of a surrogate pair.
const HALF_PAIR: usize = 6;

/// A value that is no container and no string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as sent.
    Number(&'a str),
}

/// Takes the parts of a value as they become certain, in the order of the text.
pub trait PartialSink {
    /// Why a part cannot be taken. What is read on after that is not the value any more.
    type Error;

    /// The name of the member whose value comes next.
    ///
    /// # Errors
    /// The sink's own.
    fn name(&mut self, name: &str) -> Result<(), Self::Error>;

    /// A container begins: an object, or a list.
    ///
    /// # Errors
    /// The sink's own.
    fn open(&mut self, is_object: bool) -> Result<(), Self::Error>;

    /// The innermost container is whole.
    ///
    /// # Errors
    /// The sink's own.
    fn close(&mut self) -> Result<(), Self::Error>;

    /// A string, or more of the last one; `whole` where nothing more of it can come.
    ///
    /// # Errors
    /// The sink's own.
    fn text(&mut self, more: &str, whole: bool) -> Result<(), Self::Error>;

    /// A number or literal.
    ///
    /// # Errors
    /// The sink's own.
    fn scalar(&mut self, value: Scalar<'_>) -> Result<(), Self::Error>;
}

/// The token that may come next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Expected {
    #[default]
    Value,
    /// Or the end of the list.
    FirstValue,
    Name,
    /// Or the end of the object.
    FirstName,
    Colon,
    /// A comma, or the end of the container.
    Next,
    /// The value or an error is behind.
    Nothing,
}

/// Reads a text that grows, and keeps none of it: the caller hands in the same text, grown, each time.
#[derive(Clone, Debug, Default)]
pub struct PartialReader {
    at: usize,
    expected: Expected,
    /// The open containers; true for an object.
    open: Vec<bool>,
    in_string: bool,
    /// What came of the member name being read.
    name: String,
    /// Where the number being read ends as far as it came.
    number_end: usize,
    scanned: u64,
}

impl PartialReader {
    /// Reads what came since the last call; what is certain goes to `sink`. Names, strings and literals that are not whole
    /// are read on later, and nothing is behind an error.
    ///
    /// # Errors
    /// The sink's.
    pub fn read<S: PartialSink>(&mut self, text: &str, sink: &mut S) -> Result<(), S::Error> {
        while self.step(text, sink)? {}
        Ok(())
    }

    /// Bytes looked at so far: at most two for each of the text, and a few for each call.
    #[must_use]
    pub const fn scanned(&self) -> u64 {
        self.scanned
    }

    /// Takes one token, or more of a string; false when nothing more is certain.
    fn step<S: PartialSink>(&mut self, text: &str, sink: &mut S) -> Result<bool, S::Error> {
        if self.in_string {
            return self.string(text, sink);
        }
        self.advance(scan::skip_space(text.as_bytes(), self.at));
        let Some(&byte) = text.as_bytes().get(self.at) else { return Ok(false) };
        match (self.expected, byte) {
            (Expected::Nothing, _) => Ok(false),
            (Expected::Next, _) | (Expected::FirstValue, b']') | (Expected::FirstName, b'}') => self.next(byte, sink),
            (Expected::Colon, b':') => Ok(self.take(Expected::Value)),
            (Expected::Name | Expected::FirstName | Expected::Value | Expected::FirstValue, b'"') => {
                self.in_string = true;
                Ok(self.take(self.expected))
            }
            (Expected::Colon | Expected::Name | Expected::FirstName, _) => Ok(self.fail()),
            (Expected::Value | Expected::FirstValue, b'{' | b'[') => {
                sink.open(byte == b'{')?;
                self.open.push(byte == b'{');
                Ok(self.take(if byte == b'{' { Expected::FirstName } else { Expected::FirstValue }))
            }
            (Expected::Value | Expected::FirstValue, _) => self.scalar(text, sink),
        }
    }

    /// Takes the comma, or the end of the innermost container.
    fn next<S: PartialSink>(&mut self, byte: u8, sink: &mut S) -> Result<bool, S::Error> {
        match (byte, self.open.last()) {
            (b',', Some(true)) => Ok(self.take(Expected::Name)),
            (b',', Some(false)) => Ok(self.take(Expected::Value)),
            (b'}', Some(true)) | (b']', Some(false)) => {
                sink.close()?;
                self.open.pop();
                Ok(self.take(self.behind_value()))
            }
            _ => Ok(self.fail()),
        }
    }

    /// Reads more of a string. The last half of a pair is not certain.
    fn string<S: PartialSink>(&mut self, text: &str, sink: &mut S) -> Result<bool, S::Error> {
        let piece = Piece::at(text.as_bytes(), self.at);
        let raw = text.get(self.at..piece.end).unwrap_or_default();
        let content = decode(raw.as_bytes(), piece.flags, &mut 0);
        self.advance(piece.end);
        let is_name = matches!(self.expected, Expected::Name | Expected::FirstName);
        if is_name {
            self.name.push_str(&content);
        } else {
            sink.text(&content, piece.whole)?;
        }
        if !piece.whole {
            return Ok(false);
        }
        self.in_string = false;
        if !is_name {
            return Ok(self.take(self.behind_value()));
        }
        sink.name(&self.name)?;
        self.name.clear();
        Ok(self.take(Expected::Colon))
    }

    /// Takes a number or literal. One that the text ends in may still change.
    fn scalar<S: PartialSink>(&mut self, text: &str, sink: &mut S) -> Result<bool, S::Error> {
        let rest = text.get(self.at..).unwrap_or_default();
        let words = [("true", Scalar::Bool(true)), ("false", Scalar::Bool(false)), ("null", Scalar::Null)];
        if let Some((word, value)) = words.into_iter().find(|(word, _)| rest.starts_with(word)) {
            return self.whole_scalar(value, self.at + word.len(), sink);
        }
        let (bytes, from) = (text.as_bytes(), self.number_end.max(self.at));
        let part = bytes.get(from..).unwrap_or_default().iter().take_while(|byte| is_of_number(**byte)).count();
        self.scanned += part as u64;
        self.number_end = from + part;
        match bytes.get(self.number_end) {
            None => Ok(false),
            Some(b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r')
                if scan::number(bytes, self.at) == Ok(self.number_end) =>
            {
                let number = text.get(self.at..self.number_end).unwrap_or_default();
                self.whole_scalar(Scalar::Number(number), self.number_end, sink)
            }
            // What begins neither may be the beginning of a literal.
            Some(_) if self.number_end == self.at => Ok(false),
            Some(_) => Ok(self.fail()),
        }
    }

    fn whole_scalar<S: PartialSink>(&mut self, value: Scalar<'_>, end: usize, sink: &mut S) -> Result<bool, S::Error> {
        sink.scalar(value)?;
        self.advance(end);
        self.expected = self.behind_value();
        Ok(true)
    }

    const fn behind_value(&self) -> Expected {
        if self.open.is_empty() { Expected::Nothing } else { Expected::Next }
    }

    /// Passes one byte.
    fn take(&mut self, expected: Expected) -> bool {
        self.advance(self.at + 1);
        self.expected = expected;
        true
    }

    fn advance(&mut self, at: usize) {
        self.scanned += (at - self.at) as u64;
        self.at = at;
    }

    const fn fail(&mut self) -> bool {
        self.expected = Expected::Nothing;
        false
    }
}

const fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
}

/// What of a string is certain from some place on.
struct Piece {
    end: usize,
    flags: u8,
    /// The closing quote is there.
    whole: bool,
}

impl Piece {
    /// It ends before the closing quote, an escape that is not whole, or what cannot stand in a string.
    fn at(bytes: &[u8], start: usize) -> Self {
        let (mut end, mut last_escape, mut flags) = (start, start, 0);
        loop {
            end = scan::text_run(bytes, end);
            let escape = (bytes.get(end) == Some(&b'\\')).then(|| scan::escape_width(bytes, end)).flatten();
            let Some(width) = escape else { break };
            (last_escape, flags) = (end, scan::flag::ESCAPED);
            end += width;
        }
        let whole = bytes.get(end) == Some(&b'"');
        if !whole && end - last_escape == HALF_PAIR && is_high(bytes.get(last_escape..end).unwrap_or_default()) {
            end = last_escape;
        }
        Self { end, flags, whole }
    }
}

/// Whether a unicode escape is the first half of a pair.
fn is_high(escape: &[u8]) -> bool {
    matches!(escape, [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'A' | b'b' | b'B', ..])
}
