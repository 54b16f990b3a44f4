//! A resumable scanner that says whether a growing text is one complete JSON value, a prefix of one, or neither.

use crate::json::scan;

/// What the text is so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// A proper prefix of a JSON text.
    Prefix,
    /// One complete JSON value.
    Complete,
    /// Neither, and nothing that follows can change it.
    Dead,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Value,
    ValueOrEnd,
    NameOrEnd,
    Name,
    Colon,
    After,
    Text,
    Escape,
    Unicode,
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
    Word,
    Dead,
}

/// The scanner. It keeps no text: the caller hands in the same text, grown, each time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scanner {
    at: usize,
    state: State,
    open: Vec<u8>,
    /// The string being read is a member name.
    in_name: bool,
    /// The rest of the literal being read.
    word: &'static [u8],
    /// Hex digits read of a unicode escape, and their value.
    digits: u8,
    unit: u16,
    /// A high surrogate waits for its partner.
    high: bool,
    number_start: usize,
    is_object: bool,
    lone_surrogate: bool,
    infinite: bool,
}

impl Scanner {
    /// Looks at what came since the last call. Each byte is looked at once.
    pub(crate) fn advance(&mut self, text: &[u8], depth: usize) -> Progress {
        while let Some(&byte) = text.get(self.at) {
            if self.state == State::Dead {
                break;
            }
            self.step(text, byte, depth);
        }
        self.progress(text)
    }

    fn progress(&mut self, text: &[u8]) -> Progress {
        match self.state {
            State::Dead => Progress::Dead,
            State::After if self.open.is_empty() => Progress::Complete,
            State::Zero | State::Integer | State::Fraction | State::ExponentDigits if self.open.is_empty() => {
                self.infinite = self.infinite || is_infinite(text.get(self.number_start..).unwrap_or_default());
                Progress::Complete
            }
            _ => Progress::Prefix,
        }
    }

    /// Whether the complete value is an object whose strings and numbers Python can hold (A4).
    pub(crate) const fn is_usable_object(&self) -> bool {
        self.is_object && !self.lone_surrogate && !self.infinite
    }

    /// Handles the byte at `self.at`, which it either passes or leaves to the next step.
    fn step(&mut self, text: &[u8], byte: u8, depth: usize) {
        match self.state {
            State::Text => return self.text(text),
            State::Escape => self.escape(byte),
            State::Unicode => self.unicode(byte),
            State::Word => match self.word.split_first() {
                Some((&due, rest)) if due == byte => {
                    self.word = rest;
                    if rest.is_empty() {
                        self.state = State::After;
                    }
                }
                _ => self.state = State::Dead,
            },
            State::Minus
            | State::Zero
            | State::Integer
            | State::Point
            | State::Fraction
            | State::Exponent
            | State::ExponentSign
            | State::ExponentDigits => return self.number(text, byte),
            _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => {
                self.at = scan::skip_space(text, self.at);
                return;
            }
            _ => self.structure(byte, depth),
        }
        self.at += 1;
    }

    fn structure(&mut self, byte: u8, depth: usize) {
        self.state = match (self.state, byte) {
            (State::ValueOrEnd, b']') | (State::NameOrEnd, b'}') => self.close(),
            (State::Value | State::ValueOrEnd, _) => self.value(byte, depth),
            (State::Name | State::NameOrEnd, b'"') => self.string(true),
            (State::Colon, b':') => State::Value,
            (State::After, b',') => match self.open.last() {
                Some(b'{') => State::Name,
                Some(_) => State::Value,
                None => State::Dead,
            },
            (State::After, b'}') if self.open.last() == Some(&b'{') => self.close(),
            (State::After, b']') if self.open.last() == Some(&b'[') => self.close(),
            _ => State::Dead,
        };
    }

    fn value(&mut self, byte: u8, depth: usize) -> State {
        match byte {
            b'{' | b'[' => {
                if self.open.len() >= depth {
                    return State::Dead;
                }
                self.is_object |= self.open.is_empty() && byte == b'{';
                self.open.push(byte);
                if byte == b'{' { State::NameOrEnd } else { State::ValueOrEnd }
            }
            b'"' => self.string(false),
            b't' => self.literal(b"rue"),
            b'f' => self.literal(b"alse"),
            b'n' => self.literal(b"ull"),
            b'-' => self.start_number(State::Minus),
            b'0' => self.start_number(State::Zero),
            b'1'..=b'9' => self.start_number(State::Integer),
            _ => State::Dead,
        }
    }

    fn close(&mut self) -> State {
        self.open.pop();
        State::After
    }

    fn string(&mut self, in_name: bool) -> State {
        self.in_name = in_name;
        self.high = false;
        State::Text
    }

    fn literal(&mut self, rest: &'static [u8]) -> State {
        self.word = rest;
        State::Word
    }

    fn start_number(&mut self, state: State) -> State {
        self.number_start = self.at;
        state
    }

    /// Passes the plain part of a string, simple escapes included. The text is UTF-8 already.
    fn text(&mut self, text: &[u8]) {
        loop {
            let run = scan::text_run(text, self.at);
            if run > self.at {
                self.partner(false);
            }
            self.at = run;
            match (text.get(run), text.get(run + 1)) {
                (None, _) => return,
                (Some(b'"'), _) => {
                    self.partner(false);
                    self.state = if self.in_name { State::Colon } else { State::After };
                }
                (Some(b'\\'), Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => {
                    self.partner(false);
                    self.at += 2;
                    continue;
                }
                (Some(b'\\'), _) => self.state = State::Escape,
                (Some(_), _) => self.state = State::Dead,
            }
            self.at += 1;
            return;
        }
    }

    fn escape(&mut self, byte: u8) {
        self.state = match byte {
            b'u' => {
                self.digits = 0;
                self.unit = 0;
                State::Unicode
            }
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.partner(false);
                State::Text
            }
            _ => State::Dead,
        };
    }

    fn unicode(&mut self, byte: u8) {
        let Some(digit) = (byte as char).to_digit(16) else {
            self.state = State::Dead;
            return;
        };
        self.unit = self.unit << 4 | digit as u16;
        self.digits += 1;
        if self.digits < 4 {
            return;
        }
        self.state = State::Text;
        match self.unit {
            0xd800..0xdc00 => {
                self.partner(false);
                self.high = true;
            }
            0xdc00..0xe000 => self.partner(true),
            _ => self.partner(false),
        }
    }

    /// The next character of a string is there; `low` where it is a low surrogate. A pair needs both halves.
    fn partner(&mut self, low: bool) {
        self.lone_surrogate |= self.high != low;
        self.high = false;
    }

    fn number(&mut self, text: &[u8], byte: u8) {
        self.state = match (self.state, byte) {
            (State::Minus, b'0') => State::Zero,
            (State::Minus, b'1'..=b'9') | (State::Integer, b'0'..=b'9') => State::Integer,
            (State::Zero | State::Integer, b'.') => State::Point,
            (State::Point | State::Fraction, b'0'..=b'9') => State::Fraction,
            (State::Zero | State::Integer | State::Fraction, b'e' | b'E') => State::Exponent,
            (State::Exponent, b'+' | b'-') => State::ExponentSign,
            (State::Exponent | State::ExponentSign | State::ExponentDigits, b'0'..=b'9') => State::ExponentDigits,
            (State::Zero | State::Integer | State::Fraction | State::ExponentDigits, _) => {
                self.infinite = self.infinite || is_infinite(text.get(self.number_start..self.at).unwrap_or_default());
                self.state = State::After;
                return;
            }
            _ => State::Dead,
        };
        self.at += 1;
    }
}

/// Whether a number is beyond what a double holds. Integers are exact at any size.
fn is_infinite(number: &[u8]) -> bool {
    let is_integer = !number.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    let number = std::str::from_utf8(number).ok().and_then(|number| number.parse::<f64>().ok());
    !is_integer && number.is_some_and(f64::is_infinite)
}
