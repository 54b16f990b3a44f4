//! `reasoning_details` (X1): reasoning that some gateways send in pieces of their own.

use super::extras::{is_string, member, slice};
use super::joined::{Owner, Piece};
use super::{Fold, report_lone};
use crate::chunk::{Span, TextKind, View};
use crate::error::Error;
use crate::few::Few;
use crate::json::tape::{Kind, Tape, with_spare};
use crate::json::{Members, Value};
use crate::wire::openai_chat::integer;
use crate::wire::{items, members};

/// A text of a kept piece that a fragment was joined to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    /// The number of the template that the fragment came by.
    template: u64,
    slot: usize,
    /// The places of the list in the choice's extra, of the piece in the list, and of the text in the piece.
    member: usize,
    piece: usize,
    text: usize,
}

/// The member that they come in.
pub(super) const DETAILS: &str = "reasoning_details";

impl Fold {
    /// `reasoning_details` (X1): their text, where it counts as reasoning, and the pieces themselves.
    pub(crate) fn details(
        &mut self,
        view: &View<'_>,
        span: Span,
        is_reasoning: bool,
        text: Option<Span>,
    ) -> Result<(), Error> {
        // Where the text is the only hole in them, all else says what it said before.
        let text = text.filter(|text| text.hole == span.before && span.upto == span.before + 1 && view.template > 0);
        if let Some(text) = text
            && let Some(result) = self.details_again(view.text(text), is_reasoning, view.template)
        {
            return result;
        }
        self.detail = None;
        let raw = view.raw(span);
        with_spare(|tape| {
            if tape.read(raw, self.limits.depth).is_err() {
                return Ok(());
            }
            if is_reasoning {
                self.reasoning_of(raw, tape)?;
            }
            match self.details_in_place(raw, tape) {
                Some(joined) => self.detail = text.map(|_| Joined { template: view.template, ..joined }),
                None => self.details_on(raw, tape)?,
            }
            Ok(())
        })
    }

    /// The same where they were joined to a piece before, by the same template: their plain text is appended. None where
    /// that is not so; nothing was changed then.
    fn details_again(
        &mut self,
        (raw, flags): (&[u8], u8),
        is_reasoning: bool,
        template: u64,
    ) -> Option<Result<(), Error>> {
        let joined = self.detail.filter(|joined| joined.template == template && joined.slot == self.current)?;
        let text = std::str::from_utf8(raw).ok().filter(|_| flags == 0)?;
        // What waits of a pair may come in addition.
        if self.weight + 2 * text.len() + '\u{fffd}'.len_utf8() > self.limits.text {
            return None;
        }
        self.joined_mut(joined)?.push_str(text);
        self.weight += text.len();
        if is_reasoning {
            return Some(self.text(TextKind::Reasoning, raw, 0, ""));
        }
        Some(Ok(()))
    }

    fn joined_mut(&mut self, joined: Joined) -> Option<&mut String> {
        let (_, list) = self.choices.get_mut(joined.slot)?.rest.as_mut()?.extra.get_mut(joined.member)?;
        let Value::Array(pieces) = list else { return None };
        let Value::Object(piece) = pieces.get_mut(joined.piece)? else { return None };
        match piece.get_mut(joined.text)? {
            (_, Value::String(text)) => Some(text),
            _ => None,
        }
    }

    fn reasoning_of(&mut self, raw: &[u8], tape: &Tape) -> Result<(), Error> {
        let string = |piece, name| {
            let node = member(raw, tape, piece, name).and_then(|text| tape.node(text));
            node.filter(is_string).filter(|node| node.start < node.end)
        };
        let texts = items(tape, 0).filter_map(|piece| string(piece, "text").or_else(|| string(piece, "summary")));
        let fragments: Vec<_> = texts.map(|node| (slice(raw, node), node.flags)).collect();
        self.texts(TextKind::Reasoning, &fragments, "")
    }

    fn details_on(&mut self, raw: &[u8], tape: &Tape) -> Result<(), Error> {
        let is_object = |&piece: &u32| tape.node(piece).is_some_and(|node| node.kind == Kind::Object);
        let mut pieces = items(tape, 0).filter(is_object).peekable();
        if pieces.peek().is_none() {
            return Ok(());
        }
        let mut kept = self.take_details()?;
        let mut result = Ok(());
        for index in pieces {
            result = result.and_then(|()| self.piece(&mut kept, raw, tape, index));
        }
        self.give_extra(DETAILS, Value::Array(kept));
        result
    }

    /// Takes the pieces that are kept; their name and the list itself count from the first time on.
    fn take_details(&mut self) -> Result<Vec<Value>, Error> {
        let Some(choice) = self.choices.get_mut(self.current) else { return Ok(Vec::new()) };
        let rest = choice.rest();
        if let Some(Value::Array(list)) = rest.extra.find(DETAILS) {
            return Ok(std::mem::take(list));
        }
        rest.pieces = Few::default();
        self.charge(DETAILS.len() + Value::Array(Vec::new()).weight())?;
        Ok(Vec::new())
    }

    /// The same for what most chunks bring: one piece whose texts are joined to those of a piece that is there, and
    /// whose other members say the same again. None where it is anything else; nothing was changed then.
    fn details_in_place(&mut self, raw: &[u8], tape: &Tape) -> Option<Joined> {
        let mut pieces = items(tape, 0);
        let (piece, None) = (pieces.next()?, pieces.next()) else { return None };
        let index = tape.node(member(raw, tape, piece, "index")?).filter(|node| node.kind == Kind::Number)?;
        let index = integer(slice(raw, index))?;
        if tape.flags != 0 || tape.node(piece)?.kind != Kind::Object {
            return None;
        }
        let choice = self.choices.get_mut(self.current)?;
        let rest = choice.rest.as_mut().filter(|rest| rest.halves.is_empty())?;
        let member = rest.extra.place(DETAILS)?;
        let (_, Value::Array(kept)) = rest.extra.get_mut(member)? else { return None };
        let at = *rest.pieces.get(&index)?;
        let Value::Object(into) = kept.get_mut(at)? else { return None };
        let mut joined = None;
        for (name, value) in members(raw, tape, piece) {
            let node = tape.node(value)?;
            let place = into.place(std::str::from_utf8(&name).ok()?)?;
            let (name, slot) = into.get(place)?;
            let text = slice(raw, node);
            let says_the_same = match (slot, node.kind) {
                (_, Kind::Null) => true,
                (Value::Number(number), Kind::Number) => number.as_bytes() == text,
                (Value::String(string), Kind::String) => string.as_bytes() == text,
                _ => false,
            };
            match slot {
                Value::String(_) if Owner::Detail(index).joined().contains(&&**name) && node.kind == Kind::String => {
                    // Of a name that comes twice the last value alone counts.
                    if joined.replace((place, text)).is_some() {
                        return None;
                    }
                }
                _ if says_the_same => {}
                _ => return None,
            }
        }
        let (place, more) = joined?;
        let Some((_, Value::String(string))) = into.get_mut(place) else { return None };
        if self.weight + more.len() > self.limits.text {
            return None;
        }
        self.weight += more.len();
        string.push_str(std::str::from_utf8(more).ok()?);
        Some(Joined { template: 0, slot: self.current, member, piece: at, text: place })
    }

    /// Where the pieces of the current choice stand.
    fn pieces(&mut self) -> Option<&mut Few<i64, usize>> {
        Some(&mut self.choices.get_mut(self.current)?.rest.as_mut()?.pieces)
    }

    /// Merges the piece at `node` into that of the same index; one without index is appended.
    fn piece(&mut self, kept: &mut Vec<Value>, raw: &[u8], tape: &Tape, node: u32) -> Result<(), Error> {
        let index = member(raw, tape, node, "index").map(|index| Value::from_tape(raw, tape, index, &mut 0));
        let Some(index) = index.as_ref().and_then(usable_index) else {
            let mut lone = 0;
            let piece = Value::from_tape(raw, tape, node, &mut lone);
            let place = self.place();
            report_lone(&mut self.quirks, lone, place);
            self.charge(piece.weight())?;
            kept.push(piece);
            return Ok(());
        };
        let known = self.pieces().and_then(|pieces| pieces.get(&index).copied());
        let place = known.unwrap_or(kept.len());
        if known.is_none() {
            let empty = Value::Object(Members::new());
            self.charge(empty.weight())?;
            kept.push(empty);
            if let Some(pieces) = self.pieces() {
                pieces.insert(index, place);
            }
        }
        let Some(Value::Object(into)) = kept.get_mut(place) else { return Ok(()) };
        self.merge_all(into, &Piece { raw, tape, index: node, owner: Owner::Detail(index) })
    }
}

/// The index of a piece, as I2 reads one.
fn usable_index(index: &Value) -> Option<i64> {
    match index {
        Value::Number(text) => integer(text.as_bytes()),
        Value::String(text) => integer(text.as_bytes()),
        _ => None,
    }
}
