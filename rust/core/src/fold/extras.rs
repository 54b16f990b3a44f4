//! What is kept beside texts and calls: usage, extras, details, log probabilities (U, X).

use super::Fold;
use crate::chunk::TextKind;
use crate::error::Error;
use crate::event::Record;
use crate::json::tape::{Kind, Node, Tape, with_spare};
use crate::json::{Members, Value};
use crate::quirk::Place;
use crate::wire::{items, members};

impl Fold {
    /// U1: the last one stands; one that came aside only where no other did.
    pub(crate) fn usage(&mut self, raw: &[u8], aside: bool) {
        if aside && self.usage.is_some() && !self.usage_aside {
            return;
        }
        self.usage_aside = aside;
        let usage = self.sent(raw, Place::default());
        if !self.events.off {
            self.events.push(Record::Usage(usage.clone()));
        }
        self.usage = Some(usage);
    }

    /// W2: each later member that is not null is laid over what stands.
    pub(crate) fn lay_usage(&mut self, usage: Value) {
        let usage = match (self.usage.take(), usage) {
            (Some(Value::Object(mut standing)), Value::Object(members)) => {
                for (name, value) in members.into_iter().filter(|(_, value)| !matches!(value, Value::Null)) {
                    standing.set(&name, value);
                }
                Value::Object(standing)
            }
            (_, usage) => usage,
        };
        if !self.events.off {
            self.events.push(Record::Usage(usage.clone()));
        }
        self.usage = Some(usage);
    }

    /// Lays members over those that stand.
    pub(super) fn put_all(&mut self, into: &mut Members, members: Members) -> Result<(), Error> {
        for (name, value) in members {
            if let Some(member) = into.find(&name) {
                self.recharge(member.weight(), value.weight())?;
                *member = value;
            } else {
                self.charge(name.len() + value.weight())?;
                into.push(name, value);
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
        into: &mut Members,
        name: &str,
        value: Value,
        joined: &[&str],
        append: bool,
    ) -> Result<(), Error> {
        let Some(slot) = into.find(name) else {
            self.charge(name.len() + value.weight())?;
            into.push(name.to_owned(), value);
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

    /// `logprobs` (X2): its lists append.
    pub(crate) fn logprobs(&mut self, raw: &[u8]) -> Result<(), Error> {
        let Value::Object(members) = self.value(raw) else { return Ok(()) };
        let slot = self.current;
        let mut kept = match self.choices.get_mut(slot).and_then(|choice| choice.rest.as_mut()?.logprobs.take()) {
            Some(Value::Object(kept)) => kept,
            _ => Members::new(),
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

    pub(super) fn give_extra(&mut self, name: &str, value: Value) {
        let Some(choice) = self.choices.get_mut(self.current) else { return };
        choice.rest().extra.set(name, value);
    }
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
