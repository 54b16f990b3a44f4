//! What is kept beside texts and calls: usage, extras, details, log probabilities (U, X).

use std::collections::HashMap;

use super::Fold;
use super::joined::{Owner, Piece};
use crate::chunk::TextKind;
use crate::completion::Extra;
use crate::error::Error;
use crate::event::Record;
use crate::few::push;
use crate::json::Value;
use crate::json::tape::{Kind, Node, Tape, with_spare};
use crate::json::text::lossy;
use crate::lazy::Lazy;
use crate::quirk::Place;
use crate::wire::{items, members};

/// A member of chunks that is kept, as sent.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) name: &'static str,
    pub(crate) raw: Box<[u8]>,
    weight: usize,
}

/// The usage that stands.
#[derive(Clone, Debug)]
pub(crate) enum Usage {
    /// As sent.
    Source(Box<[u8]>),
    /// Several, each laid over the one before.
    Laid(Value),
}

/// An unknown member is remembered as sent where it is shorter than this.
const REPEATED: usize = 512;

impl Usage {
    pub(super) fn lazy(self, depth: usize) -> Lazy {
        match self {
            Self::Source(source) => Lazy::new(source, depth),
            Self::Laid(value) => value.into(),
        }
    }
}

impl Fold {
    /// X2: the last one stands. Most chunks say the same again.
    #[inline]
    pub(crate) fn keep(&mut self, name: &'static str, raw: &[u8]) -> Result<(), Error> {
        if self.keeps(name, raw) {
            return Ok(());
        }
        let weight = name.len() + self.weight_at(raw, Place::default());
        let place = self.kept.iter().position(|kept| kept.name == name);
        let before = place.and_then(|place| self.kept.get(place)).map_or(0, |kept| kept.weight);
        self.discharge(before);
        self.charge(weight)?;
        self.said = 0;
        let kept = Kept { name, raw: raw.into(), weight };
        match place.and_then(|place| self.kept.get_mut(place)) {
            Some(slot) => *slot = kept,
            None => push(&mut self.kept, kept),
        }
        Ok(())
    }

    /// Whether that is what is kept under the name already. Escapes are looked at each time, for what they report (P5).
    pub(super) fn keeps(&self, name: &str, raw: &[u8]) -> bool {
        self.kept.iter().any(|kept| kept.name == name && *kept.raw == *raw) && !raw.contains(&b'\\')
    }

    /// U1: the last one stands; one that came aside only where no other did.
    pub(crate) fn usage(&mut self, raw: &[u8], aside: bool) {
        if aside && self.usage.is_some() && !self.usage_aside {
            return;
        }
        self.usage_aside = aside;
        self.usage = Some(Usage::Source(raw.into()));
        if !self.events.off || raw.contains(&b'\\') {
            let usage = self.value_at(raw, Place::default());
            self.events.push(Record::Usage(Box::new(usage)));
        }
    }

    /// W2: each later member that is not null is laid over what stands.
    pub(crate) fn lay_usage(&mut self, usage: Value) {
        let usage = match (self.usage.take(), usage) {
            (Some(Usage::Laid(Value::Object(mut standing))), Value::Object(members)) => {
                let places = places(&standing);
                for (name, value) in members.into_iter().filter(|(_, value)| !matches!(value, Value::Null)) {
                    match places.get(&name).and_then(|&place| standing.get_mut(place)) {
                        Some(member) => member.1 = value,
                        None => standing.push((name, value)),
                    }
                }
                Value::Object(standing)
            }
            (_, usage) => usage,
        };
        self.events.push(Record::Usage(Box::new(usage.clone())));
        self.usage = Some(Usage::Laid(usage));
    }

    /// Lays members over those that stand, the names of neither repeating; in linear time, however many they are.
    pub(super) fn put_all(&mut self, into: &mut Extra, members: Extra) -> Result<(), Error> {
        let places = places(into);
        for (name, value) in members {
            if let Some(member) = places.get(&name).and_then(|&place| into.get_mut(place)) {
                self.recharge(member.1.weight(), value.weight())?;
                member.1 = value;
            } else {
                self.charge(name.len() + value.weight())?;
                into.push((name, value));
            }
        }
        Ok(())
    }

    /// Content that is a list of parts (X1): reasoning first, then text.
    pub(crate) fn parts(&mut self, raw: &[u8]) -> Result<(), Error> {
        with_spare(|tape| match tape.read(raw, self.limits.depth) {
            Ok(()) => self.parts_on(raw, tape),
            Err(_) => Ok(()),
        })
    }

    fn parts_on(&mut self, raw: &[u8], tape: &Tape) -> Result<(), Error> {
        let (mut thought, mut said) = (Vec::new(), Vec::new());
        for part in items(tape, 0) {
            match member_text(raw, tape, part, "type").as_deref() {
                Some("text") => {
                    said.extend(member(raw, tape, part, "text").and_then(|text| tape.node(text)).filter(is_string));
                }
                Some("thinking" | "reasoning") => thinking(raw, tape, part, &mut thought),
                _ => {}
            }
        }
        for (kind, nodes) in [(TextKind::Reasoning, thought), (TextKind::Content, said)] {
            let fragments: Vec<_> = nodes.into_iter().map(|node| (slice(raw, node), node.flags)).collect();
            self.texts(kind, &fragments, "content")?;
        }
        Ok(())
    }

    /// Merges a member: texts named in `joined` join, lists append where `append` says so, of the rest the last stands.
    pub(super) fn merge(
        &mut self,
        into: &mut Extra,
        name: &str,
        value: Value,
        joined: &[&str],
        append: bool,
    ) -> Result<(), Error> {
        let Some(slot) = into.iter_mut().find(|member| member.0 == name).map(|member| &mut member.1) else {
            self.charge(name.len() + value.weight())?;
            into.push((name.to_owned(), value));
            return Ok(());
        };
        match (slot, value) {
            (Value::String(text), Value::String(more)) if joined.contains(&name) => {
                self.charge(more.len())?;
                text.push_str(&more);
            }
            (Value::Array(list), Value::Array(more)) if append => {
                self.charge(more.iter().map(Value::weight).sum())?;
                list.extend(more);
            }
            (slot, value) => {
                self.discharge(slot.weight());
                self.charge(value.weight())?;
                *slot = value;
            }
        }
        Ok(())
    }

    /// An unknown member of a tool-call entry (X2).
    pub(crate) fn call_extra(&mut self, name: (&[u8], u8), raw: &[u8]) -> Result<(), Error> {
        let Some(call) = self.call else { return Ok(()) };
        let place = Place { call: Some(call), ..self.place() };
        let name = self.name_at(name, place);
        let value = self.value_at(raw, place);
        let mut extra = self.call_mut(call).map(|call| std::mem::take(&mut call.extra)).unwrap_or_default();
        let result = self.merge(&mut extra, &name, value, &[], true);
        if let Some(call) = self.call_mut(call) {
            call.extra = extra;
        }
        result
    }

    /// An unknown member of a delta (X2).
    pub(crate) fn delta_extra(&mut self, name: (&[u8], u8), raw: &[u8]) -> Result<(), Error> {
        if name.1 == 0 && self.says_again(name.0, raw) {
            return Ok(());
        }
        let name = self.name_at(name, self.place());
        let is_audio = name == "audio" && raw.first() == Some(&b'{');
        let value = if is_audio { Value::Null } else { self.value(raw) };
        let mut extra = self.extra_of_choice();
        let result = match value {
            _ if is_audio => self.audio(&mut extra, raw),
            value => self.merge(&mut extra, &name, value, &[], true),
        };
        if let Some(choice) = self.choices.get_mut(self.current) {
            let rest = choice.rest();
            rest.extra = extra;
            if rest.repeated.as_ref().is_none_or(|(known, _)| **known == *name.as_bytes()) {
                let is_object = raw.first() == Some(&b'{') && raw.len() < REPEATED && !raw.contains(&b'\\');
                rest.repeated = (is_object && !is_audio).then(|| (name.as_bytes().into(), raw.into()));
            }
        }
        result
    }

    /// Whether an unknown member is a number or something simple; then it is kept, unless that is nothing new.
    fn says_again(&mut self, name: &[u8], raw: &[u8]) -> bool {
        let rest = self.choices.get_mut(self.current).and_then(|choice| choice.rest.as_mut());
        let Some(rest) = rest else { return false };
        if rest.repeated.as_ref().is_some_and(|(known, source)| **known == *name && **source == *raw) {
            return true;
        }
        let slot = rest.extra.iter_mut().find(|member| member.0.as_bytes() == name);
        match (slot, raw) {
            (Some((_, Value::Null)), b"null") | (Some((_, Value::Array(_))), b"[]") => true,
            (Some((_, Value::String(text))), [b'"', raw @ .., b'"']) => text.as_bytes() == raw && !raw.contains(&b'\\'),
            (Some((_, Value::Number(number))), [b'-' | b'0'..=b'9', ..]) => {
                // One number weighs what another does.
                if number.as_bytes() != raw {
                    *number = lossy(raw).into();
                }
                true
            }
            _ => false,
        }
    }

    /// Appends to a list in the choice's extra.
    pub(crate) fn append_extra(&mut self, name: &str, list: Vec<Value>) -> Result<(), Error> {
        let mut extra = self.extra_of_choice();
        let result = self.merge(&mut extra, name, Value::Array(list), &[], true);
        if let Some(choice) = self.choices.get_mut(self.current) {
            choice.rest().extra = extra;
        }
        result
    }

    /// Audio comes in pieces: its data and its transcript join.
    fn audio(&mut self, extra: &mut Extra, raw: &[u8]) -> Result<(), Error> {
        if !matches!(extra.iter().find(|member| member.0 == "audio"), Some((_, Value::Object(_)))) {
            self.forget_halves(Owner::Audio);
            self.merge(extra, "audio", Value::Object(Vec::new()), &[], false)?;
        }
        let Some((_, Value::Object(into))) = extra.iter_mut().find(|member| member.0 == "audio") else {
            return Ok(());
        };
        with_spare(|tape| match tape.read(raw, self.limits.depth) {
            Ok(()) => self.merge_all(into, &Piece { raw, tape, index: 0, owner: Owner::Audio }),
            Err(_) => Ok(()),
        })
    }

    /// `logprobs` (X2): its lists append.
    pub(crate) fn logprobs(&mut self, raw: &[u8]) -> Result<(), Error> {
        let Value::Object(members) = self.value(raw) else { return Ok(()) };
        let slot = self.current;
        let mut kept = match self.choices.get_mut(slot).and_then(|choice| choice.rest.as_mut()?.logprobs.take()) {
            Some(Value::Object(kept)) => kept,
            _ => Extra::new(),
        };
        let mut result = Ok(());
        for (name, value) in members.into_iter().filter(|(_, value)| !matches!(value, Value::Null)) {
            result = result.and_then(|()| self.merge(&mut kept, &name, value, &[], true));
        }
        if !kept.is_empty()
            && let Some(choice) = self.choices.get_mut(slot)
        {
            choice.rest().logprobs = Some(Value::Object(kept));
        }
        result
    }

    /// X4: the last message is kept until the end.
    pub(crate) fn message(&mut self, raw: &[u8]) -> Result<(), Error> {
        let weight = crate::json::weight(raw, self.limits.depth);
        let slot = self.current;
        let before = self.choices.get_mut(slot).and_then(|choice| choice.rest.as_mut()?.message.take());
        self.discharge(before.map_or(0, |(_, weight)| weight));
        self.charge(weight)?;
        if let Some(choice) = self.choices.get_mut(slot) {
            choice.rest().message = Some((raw.into(), weight));
        }
        Ok(())
    }

    fn extra_of_choice(&mut self) -> Extra {
        let choice = self.choices.get_mut(self.current);
        choice.map(|choice| std::mem::take(&mut choice.rest().extra)).unwrap_or_default()
    }

    /// Takes a list out of the current choice's extra; its name and the list itself count from the first time on.
    pub(super) fn take_extra(&mut self, name: &str) -> Result<Vec<Value>, Error> {
        if let Some(choice) = self.choices.get_mut(self.current)
            && let Some((_, Value::Array(list))) = choice.rest().extra.iter_mut().find(|member| member.0 == name)
        {
            return Ok(std::mem::take(list));
        }
        self.charge(name.len() + Value::Array(Vec::new()).weight())?;
        Ok(Vec::new())
    }

    pub(super) fn give_extra(&mut self, name: &str, value: Value) {
        let Some(choice) = self.choices.get_mut(self.current) else { return };
        let extra = &mut choice.rest().extra;
        match extra.iter_mut().find(|member| member.0 == name) {
            Some(member) => member.1 = value,
            None => extra.push((name.to_owned(), value)),
        }
    }
}

/// Where the members of those names stand.
fn places(members: &Extra) -> HashMap<String, usize> {
    members.iter().enumerate().map(|(place, member)| (member.0.clone(), place)).collect()
}

/// The texts in a thinking part: the first of its members that is a string or a list, lists taken apart.
fn thinking<'a>(raw: &[u8], tape: &'a Tape, part: u32, texts: &mut Vec<&'a Node>) {
    for name in ["thinking", "reasoning", "text", "summary", "content"] {
        let Some(value) = member(raw, tape, part, name) else { continue };
        match tape.node(value).map(|node| node.kind) {
            Some(Kind::String) => texts.extend(tape.node(value)),
            Some(Kind::Array) => {
                for item in items(tape, value) {
                    match tape.node(item).map(|node| node.kind) {
                        Some(Kind::String) => texts.extend(tape.node(item)),
                        Some(Kind::Object) => thinking(raw, tape, item, texts),
                        _ => {}
                    }
                }
            }
            _ => continue,
        }
        return;
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that `Option::filter` calls")]
pub(super) fn is_string(node: &&Node) -> bool {
    node.kind == Kind::String
}

pub(super) fn slice<'a>(raw: &'a [u8], node: &Node) -> &'a [u8] {
    raw.get(node.start as usize..node.end as usize).unwrap_or_default()
}

/// The last member of that name of the object at `index`.
pub(super) fn member(raw: &[u8], tape: &Tape, index: u32, name: &str) -> Option<u32> {
    members(raw, tape, index).filter(|(other, _)| &**other == name.as_bytes()).last().map(|(_, value)| value)
}

pub(super) fn member_text(raw: &[u8], tape: &Tape, index: u32, name: &str) -> Option<String> {
    let node = member(raw, tape, index, name).and_then(|value| tape.node(value)).filter(is_string)?;
    Some(crate::json::text::decode(slice(raw, node), node.flags, &mut 0).into_owned())
}
