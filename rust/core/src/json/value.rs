//! JSON values that are kept: usage, extras, blocks.

use super::members::Members;
use super::source::{Sent, Source};
use super::tape::{Kind, Node, Tape};
use super::text;

/// A JSON value. Numbers keep their text (P5); of equal member names the last one counts.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as sent.
    Number(Box<str>),
    /// A string, decoded; surrogates without a partner are U+FFFD.
    String(String),
    /// A list.
    Array(Vec<Value>),
    /// An object; its members stand where their name came first, without repeats.
    Object(Members),
    /// Any of these, kept as sent; [`Value::plain`] reads it.
    Source(Box<Source>),
}

impl Eq for Value {}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self.plain(), other.plain()) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(other)) => one == other,
            (Self::Number(one), Self::Number(other)) => one == other,
            (Self::String(one), Self::String(other)) => one == other,
            (Self::Array(one), Self::Array(other)) => one == other,
            (Self::Object(one), Self::Object(other)) => one == other,
            _ => false,
        }
    }
}

impl Value {
    /// The value, read if it was kept as sent.
    #[must_use]
    pub fn plain(&self) -> &Self {
        match self {
            Self::Source(source) => source.value(),
            value => value,
        }
    }

    pub(crate) fn into_plain(self) -> Self {
        match self {
            Self::Source(source) => source.into_value(),
            value => value,
        }
    }

    /// The source text of one that is kept as sent.
    pub(crate) fn sent_mut(&mut self) -> Option<&mut Sent> {
        match self {
            Self::Source(source) => Some(&mut source.sent),
            _ => None,
        }
    }

    /// Whether it is a list.
    pub(crate) fn is_array(&self) -> bool {
        match self {
            Self::Source(source) => source.raw().starts_with(b"["),
            value => matches!(value, Self::Array(_)),
        }
    }

    /// What it counts for against the limit on kept text (S8): what it weighs, or more where that is not known yet.
    pub(crate) fn counted(&self) -> usize {
        match self {
            Self::Source(source) => source.sent.counted(),
            value => value.weight(),
        }
    }

    /// The value of the node `index`, all it holds included.
    pub(crate) fn from_tape(bytes: &[u8], tape: &Tape, index: u32, lone: &mut u32) -> Self {
        let Some(node) = tape.node(index) else {
            return Self::Null;
        };
        match node.kind {
            Kind::Array => {
                let mut items = Vec::new();
                let mut child = index + 1;
                while child < node.next {
                    items.push(Self::from_tape(bytes, tape, child, lone));
                    child = tape.node(child).map_or(node.next, |node| node.next);
                }
                Self::Array(items)
            }
            Kind::Object => Self::object(bytes, tape, index, node, lone),
            _ => Self::scalar(bytes, node, lone),
        }
    }

    fn object(bytes: &[u8], tape: &Tape, index: u32, node: &Node, lone: &mut u32) -> Self {
        let mut members = Collected::default();
        let mut child = index + 1;
        while child < node.next {
            let mut own = 0;
            let name = tape.node(child).map(|name| decoded(bytes, name, &mut own)).unwrap_or_default();
            let value = Self::from_tape(bytes, tape, child + 1, &mut own);
            members.set(name, value, own);
            child = tape.node(child + 1).map_or(node.next, |node| node.next);
        }
        *lone += members.lone.iter().sum::<u32>();
        Self::Object(members.members)
    }

    fn scalar(bytes: &[u8], node: &Node, lone: &mut u32) -> Self {
        match node.kind {
            Kind::True => Self::Bool(true),
            Kind::False => Self::Bool(false),
            Kind::Number => Self::Number(text::lossy(slice(bytes, node)).into()),
            Kind::String => Self::String(decoded(bytes, node, lone)),
            _ => Self::Null,
        }
    }

    /// The member `name` of an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self.plain() {
            Self::Object(members) => members.iter().find(|member| member.0 == name).map(|member| &member.1),
            _ => None,
        }
    }

    /// The text of a string that is not empty.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self.plain() {
            Self::String(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// The value of an integer that fits.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match self.plain() {
            Self::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// What the value weighs against the limit on kept text (S8): its texts, and a little for all that has none.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Self::String(text) => text.len(),
            Self::Array(items) => 8 + items.iter().map(Self::weight).sum::<usize>(),
            Self::Object(members) => 8 + members.iter().map(|(name, value)| name.len() + value.weight()).sum::<usize>(),
            Self::Null | Self::Bool(_) | Self::Number(_) => 8,
            Self::Source(source) => source.value().weight(),
        }
    }
}

/// Members of one object of which the weight is found without making it.
const FEW: usize = 16;

/// What the value of the node `index` weighs, as [`Value::weight`] has it; None where it has to be made to be known.
pub(crate) fn weight_on(bytes: &[u8], tape: &Tape, index: u32) -> Option<usize> {
    let node = tape.node(index)?;
    match node.kind {
        Kind::String => text_weight(bytes, node),
        Kind::Array => {
            let (mut weight, mut child) = (8, index + 1);
            while child < node.next {
                weight += weight_on(bytes, tape, child)?;
                child = tape.node(child)?.next;
            }
            Some(weight)
        }
        Kind::Object => {
            let (mut weight, mut child) = (8, index + 1);
            let mut names: [&[u8]; FEW] = Default::default();
            let mut known = 0;
            while child < node.next {
                let name = tape.node(child)?;
                // Of equal names the last one alone counts.
                let text = slice(bytes, name);
                if names.get(..known)?.contains(&text) {
                    return None;
                }
                *names.get_mut(known)? = text;
                known += 1;
                weight += text_weight(bytes, name)? + weight_on(bytes, tape, child + 1)?;
                child = tape.node(child + 1)?.next;
            }
            Some(weight)
        }
        _ => Some(8),
    }
}

/// The length of a text that is its own source.
fn text_weight(bytes: &[u8], node: &Node) -> Option<usize> {
    (node.flags == 0).then(|| slice(bytes, node).len())
}

/// Members being collected: of equal names the last value counts.
#[derive(Default)]
struct Collected {
    members: Members,
    /// The surrogates without a partner in each, as far as there were any.
    lone: Vec<u32>,
}

impl Collected {
    fn set(&mut self, name: String, value: Value, lone: u32) {
        let known = self.members.place(&name);
        self.count(known.unwrap_or(self.members.len()), lone);
        match known.and_then(|place| self.members.get_mut(place)) {
            Some(slot) => slot.1 = value,
            None => self.members.push(name, value),
        }
    }

    fn count(&mut self, place: usize, lone: u32) {
        if lone > 0 && self.lone.len() <= place {
            self.lone.resize(place + 1, 0);
        }
        if let Some(counted) = self.lone.get_mut(place) {
            *counted = lone;
        }
    }
}

fn slice<'a>(bytes: &'a [u8], node: &Node) -> &'a [u8] {
    bytes.get(node.start as usize..node.end as usize).unwrap_or_default()
}

fn decoded(bytes: &[u8], node: &Node, lone: &mut u32) -> String {
    text::decode(slice(bytes, node), node.flags, lone).into_owned()
}
