//! The frame reader under the assembler and the public decoder. What can be used where it lies is not copied.

use memchr::memchr2;

use super::line::{FIELDS, KEPT_OF_UNKNOWN, Line, RETRY_DIGITS, Rare, kind_of, name_of};
use super::style::Style;
use super::utf8::Utf8Check;
use crate::error::{Error, ErrorKind};
use crate::policy::Limits;

/// Where the data of an event lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// In the input, at this range.
    Input(usize, usize),
    /// In [`Frames::data`].
    Own,
}

/// What the reader found.
#[derive(Debug)]
pub(crate) enum Item {
    /// An event is to be dispatched (S5).
    Event(Payload),
    /// A line `error: ...` stands in [`Frames::error_line`] (S4).
    ErrorLine,
    /// A line of a field that event streams do not know; its name, shortened.
    Unknown(String),
    /// A limit was passed (S8).
    Limit(Error),
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The reader. `input` and `at` of [`Frames::next`] are the caller's: one call to it ends with an item or at the end of the input.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// What is kept of the line being read that earlier inputs held.
    line: Vec<u8>,
    /// The length of that line so far.
    line_length: usize,
    line_kind: Line,
    utf8: Utf8Check,
    after_cr: bool,
    /// The last line ended with CR, and no blank stood behind the colon of the last data line.
    has_cr: bool,
    is_tight: bool,
    /// Bytes of a byte order mark seen at the start; above 2 the start is over.
    bom: usize,
    /// Bytes of the stream before the line being read.
    line_offset: u64,
    /// Where the data of the event's only line lies in the present input.
    inline: Option<(usize, usize)>,
    /// The joined data of the event's lines.
    pub(crate) data: Vec<u8>,
    has_data: bool,
    /// The event's name, as sent.
    pub(crate) name: Vec<u8>,
    /// Bytes of the stream before the first field line of the event being read.
    first_line: Option<u64>,
    /// The same for the event last dispatched.
    pub(crate) event_offset: u64,
    /// What few streams have.
    rare: Option<Box<Rare>>,
    /// Comment lines seen.
    pub(crate) comments: u64,
    /// Lines that are not data in which bytes stood that are not UTF-8, since they were last told.
    pub(crate) invalid: u32,
    /// The same for the line being read.
    line_invalid: bool,
    /// Bytes of the stream before the last whole line.
    pub(crate) line_start: u64,
    /// A line of a known field was seen: this is an event stream (E6).
    pub(crate) is_event_stream: bool,
    /// Bytes looked at.
    pub(crate) scanned: u64,
}

impl Frames {
    /// A reader that keeps the raw data lines of the event being read.
    pub(crate) fn keeping_raw() -> Self {
        let rare = Rare { raw: Some(Vec::new()), ..Rare::default() };
        Self { rare: Some(Box::new(rare)), ..Self::default() }
    }

    /// What few streams have.
    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// The last event id in force.
    pub(crate) fn last_event_id(&self) -> &[u8] {
        self.rare.as_ref().map_or(&[], |rare| &rare.last_event_id)
    }

    /// The digits of the last valid `retry` line, in milliseconds.
    pub(crate) fn retry(&self) -> Option<&str> {
        self.rare.as_ref()?.retry.as_deref()
    }

    /// Whether the next byte begins an event and nothing is held.
    #[inline]
    pub(crate) fn is_fresh(&self) -> bool {
        self.line_length == 0
            && self.first_line.is_none()
            && !self.after_cr
            && self.bom > 2
            && self.line_kind == Line::Open
    }

    /// A whole event of `length` bytes was taken by other means while [`Frames::is_fresh`].
    #[inline]
    pub(crate) fn pass(&mut self, length: usize) {
        self.event_offset = self.line_offset;
        self.line_offset += length as u64;
        self.is_event_stream = true;
    }

    /// How the last event was written.
    pub(crate) const fn style(&self) -> Style {
        Style::of(self.is_tight, self.has_cr)
    }

    /// Bytes of the stream before the event being read; before the line being read where no event has begun.
    pub(crate) fn offset(&self) -> u64 {
        self.first_line.unwrap_or(self.line_offset)
    }

    /// Bytes held for lines and events that are not whole yet.
    pub(crate) fn held(&self) -> usize {
        self.line.len() + self.data.len()
    }

    /// The data lines of the event being read; some may lie in the input.
    pub(crate) fn pending<'a>(&'a self, input: &'a [u8]) -> &'a [u8] {
        match self.inline {
            _ if !self.has_data => &[],
            Some((start, end)) => input.get(start..end).unwrap_or_default(),
            None => &self.data,
        }
    }

    /// What is held of the event being read: its raw data lines and the line that has not ended.
    pub(crate) fn tail(&self) -> Vec<u8> {
        let mut tail = self.rare.as_ref().and_then(|rare| rare.raw.clone()).unwrap_or_default();
        if self.bom < BOM.len() {
            tail.extend_from_slice(BOM.get(..self.bom).unwrap_or_default());
        }
        tail.extend_from_slice(&self.line);
        tail
    }

    /// Reads on in `input` from `at` until something is found or the input ends.
    pub(crate) fn next(&mut self, input: &[u8], at: &mut usize, limits: &Limits) -> Option<Item> {
        self.begin(input, at);
        while *at < input.len() {
            self.pass_lf(input, at);
            let rest = input.get(*at..).unwrap_or_default();
            let Some(length) = memchr2(b'\n', b'\r', rest) else {
                self.scanned += rest.len() as u64;
                *at = input.len();
                return self.carry(rest, limits);
            };
            self.scanned += length as u64 + 1;
            let start = *at;
            *at += length + 1;
            let item = self.line_end(input, start, start + length, limits);
            self.has_cr = rest.get(length) == Some(&b'\r');
            if self.has_cr {
                self.after_cr = true;
                self.pass_lf(input, at);
            }
            if item.is_some() {
                return item;
            }
        }
        None
    }

    /// Passes the second half of CRLF, which may come in a later input (S2).
    #[inline]
    fn pass_lf(&mut self, input: &[u8], at: &mut usize) {
        if self.after_cr && *at < input.len() {
            self.after_cr = false;
            if input.get(*at) == Some(&b'\n') {
                *at += 1;
                self.line_offset += 1;
            }
        }
    }

    /// The input ends for now: what lies in it is copied.
    pub(crate) fn keep(&mut self, input: &[u8]) {
        if let Some((start, end)) = self.inline.take() {
            self.data.clear();
            self.data.extend_from_slice(input.get(start..end).unwrap_or_default());
        }
    }

    /// The stream has ended: the line being read ends, and the event with it. Whether a data line was pending.
    pub(crate) fn finish(&mut self, limits: &Limits) -> (Option<Item>, bool) {
        if self.bom < BOM.len() {
            // What only began like a byte order mark is all of a line.
            self.line.extend_from_slice(BOM.get(..self.bom).unwrap_or_default());
            self.line_length = self.bom;
            self.bom = BOM.len();
        }
        // A name that the end broke off is none.
        let name = self.name.clone();
        let item = if self.line_length > 0 { self.line_end(&[], 0, 0, limits) } else { None };
        self.name = name;
        if self.has_data {
            self.event_offset = self.offset();
        }
        (item, self.has_data)
    }

    /// The data was used: the room is kept unless it is unusually large.
    pub(crate) fn release(&mut self) {
        self.data.clear();
        if self.data.capacity() > 4096 {
            self.data = Vec::new();
        }
        if self.line.capacity() > 4096 && self.line.is_empty() {
            self.line = Vec::new();
        }
    }

    /// Passes what may stand before the first line.
    #[inline]
    pub(crate) fn begin(&mut self, input: &[u8], at: &mut usize) {
        if self.bom < BOM.len() {
            self.skip_bom(input, at);
        }
    }

    /// Passes one byte order mark at the very start (S1). What only began like one belongs to the first line.
    fn skip_bom(&mut self, input: &[u8], at: &mut usize) {
        while let (Some(due), Some(byte)) = (BOM.get(self.bom), input.get(*at)) {
            if byte != due {
                let begun = BOM.get(..self.bom).unwrap_or_default();
                self.bom = BOM.len();
                self.line.extend_from_slice(begun);
                self.line_length = begun.len();
                return;
            }
            self.bom += 1;
            *at += 1;
            if self.bom == BOM.len() {
                self.line_offset = BOM.len() as u64;
            }
        }
    }

    /// Takes in a part of a line that has not ended.
    fn carry(&mut self, part: &[u8], limits: &Limits) -> Option<Item> {
        self.line_length += part.len();
        if self.line_kind == Line::Open {
            self.line.extend_from_slice(part);
            self.line_kind = kind_of(&self.line);
            if self.line_kind != Line::Open {
                self.line_invalid |= !self.utf8.accept(&self.line);
            }
        } else {
            self.line_invalid |= !self.utf8.accept(part);
            if self.line.len() < KEPT_OF_UNKNOWN {
                self.line.extend_from_slice(part);
            }
        }
        match self.line_kind {
            Line::Open => {}
            Line::Comment => self.line.clear(),
            Line::Unknown => self.line.truncate(KEPT_OF_UNKNOWN),
        }
        self.over_line_limit(self.line_length, limits)
    }

    fn over_line_limit(&self, length: usize, limits: &Limits) -> Option<Item> {
        if length <= limits.line || self.line_kind == Line::Comment {
            return None;
        }
        let error = Error::new(ErrorKind::Line, format!("a line is longer than {} bytes", limits.line));
        Some(Item::Limit(error))
    }

    /// A line has ended: it is what is held and `input[start..end]`.
    fn line_end(&mut self, input: &[u8], start: usize, end: usize, limits: &Limits) -> Option<Item> {
        let part = input.get(start..end).unwrap_or_default();
        let offset = self.line_offset;
        self.line_start = offset;
        if self.line_length == 0 {
            self.line_offset += part.len() as u64 + 1;
            return self.whole_line(part, Some((start, input)), offset, limits);
        }
        if let Some(limit) = self.carry(part, limits) {
            self.first_line.get_or_insert(offset);
            return Some(limit);
        }
        self.line_offset += self.line_length as u64 + 1;
        self.line_length = 0;
        match std::mem::take(&mut self.line_kind) {
            Line::Comment => {
                self.end_of_unkept();
                self.comments += 1;
                None
            }
            Line::Unknown => {
                self.end_of_unkept();
                self.first_line.get_or_insert(offset);
                let name = std::mem::take(&mut self.line);
                Some(Item::Unknown(name_of(&name)))
            }
            Line::Open => {
                let mut line = std::mem::take(&mut self.line);
                let item = self.whole_line(&line, None, offset, limits);
                line.clear();
                self.line = line;
                item
            }
        }
    }

    /// The end of a line that was not kept.
    fn end_of_unkept(&mut self) {
        self.line_invalid |= !self.utf8.finish();
        self.invalid += u32::from(std::mem::take(&mut self.line_invalid));
    }

    /// Handles a whole line; `place` says where in which input it lies, unless it was held.
    #[inline]
    fn whole_line(&mut self, line: &[u8], place: Option<(usize, &[u8])>, offset: u64, limits: &Limits) -> Option<Item> {
        match line.first() {
            None => return self.blank_line(),
            Some(b':') => {
                self.comments += 1;
                self.invalid += u32::from(std::str::from_utf8(line).is_err());
                return None;
            }
            Some(_) => {}
        }
        self.first_line.get_or_insert(offset);
        if let Some(limit) = self.over_line_limit(line.len(), limits) {
            return Some(limit);
        }
        let colon = line.iter().take(6).position(|&byte| byte == b':').unwrap_or(line.len());
        let (name, rest) = line.split_at(colon);
        let space = usize::from(rest.get(1) == Some(&b' '));
        let value = rest.get(1 + space..).unwrap_or_default();
        if name == b"data" {
            self.is_event_stream = true;
            self.is_tight = space == 0;
            if let Some(raw) = self.rare.as_mut().and_then(|rare| rare.raw.as_mut()) {
                raw.extend_from_slice(line);
                raw.push(b'\n');
            }
            let place = place.map(|(start, input)| (start + line.len() - value.len(), start + line.len(), input));
            return self.data_line(value, place, limits);
        }
        self.other_line(name, value, line)
    }

    /// Adds a data line to the event (S4): the only one is left where it lies, several are joined with LF.
    #[inline]
    fn data_line(&mut self, value: &[u8], place: Option<(usize, usize, &[u8])>, limits: &Limits) -> Option<Item> {
        if self.has_data {
            if let Some((_, _, input)) = place {
                self.keep(input);
            }
            self.data.push(b'\n');
            self.data.extend_from_slice(value);
        } else {
            self.has_data = true;
            match place {
                Some((start, end, _)) => self.inline = Some((start, end)),
                None => {
                    self.data.clear();
                    self.data.extend_from_slice(value);
                }
            }
        }
        let length = self.inline.map_or(self.data.len(), |(start, end)| end - start);
        if length <= limits.event {
            return None;
        }
        let error = Error::new(ErrorKind::Event, format!("the data of an event is longer than {} bytes", limits.event));
        Some(Item::Limit(error))
    }

    fn other_line(&mut self, name: &[u8], value: &[u8], line: &[u8]) -> Option<Item> {
        self.invalid += u32::from(std::str::from_utf8(line).is_err());
        let known = FIELDS.contains(&name);
        self.is_event_stream |= known;
        match name {
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            b"id" if !value.contains(&0) => self.rare().id = Some(value.to_vec()),
            b"retry" if (1..=RETRY_DIGITS).contains(&value.len()) && value.iter().all(u8::is_ascii_digit) => {
                let rare = self.rare();
                rare.retry = std::str::from_utf8(value).ok().map(Into::into);
                rare.sets_retry = true;
            }
            b"error" => {
                self.rare().error_line = value.to_vec();
                return Some(Item::ErrorLine);
            }
            _ if known => {}
            _ => return Some(Item::Unknown(name_of(line))),
        }
        None
    }

    #[inline]
    fn blank_line(&mut self) -> Option<Item> {
        let offset = self.first_line.take();
        let has_data = std::mem::take(&mut self.has_data);
        if let Some(rare) = &mut self.rare {
            rare.end(has_data);
        }
        if !has_data {
            self.name.clear();
            return None;
        }
        self.event_offset = offset.unwrap_or(self.line_offset);
        Some(Item::Event(self.inline.take().map_or(Payload::Own, |(start, end)| Payload::Input(start, end))))
    }
}
