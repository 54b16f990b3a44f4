//! Members of kept objects whose texts come in fragments and join (X1, X2), surrogate pairs over the cuts (P5).

use std::collections::BTreeMap;

use super::choice::Choice;
use super::details::DETAILS;
use super::extras::{is_string, member, slice};
use super::{Fold, report_lone};
use crate::error::Error;
use crate::json::tape::{Node, Tape};
use crate::json::text::{Joiner, decode, owned};
use crate::json::{Members, Value};

/// The kept object that a piece belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    Audio,
    /// The piece of `reasoning_details` of that index.
    Detail(i64),
}

impl Owner {
    /// The members whose texts join.
    pub(super) const fn joined(self) -> &'static [&'static str] {
        match self {
            Self::Audio => &["data", "transcript"],
            Self::Detail(_) => &["text", "summary", "data"],
        }
    }
}

/// Texts that ended in a high surrogate, by their names: each waits for its other half.
pub(crate) type Halves = BTreeMap<(Owner, &'static str), Joiner>;

/// An object in a payload whose members are merged into a kept one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub(super) raw: &'a [u8],
    pub(super) tape: &'a Tape,
    pub(super) index: u32,
    pub(super) owner: Owner,
}

impl<'a> Piece<'a> {
    /// The last text under that name, if it is one.
    fn text(&self, name: &str) -> Option<&'a Node> {
        self.tape.node(member(self.raw, self.tape, self.index, name)?).filter(is_string)
    }
}

impl Fold {
    /// Merges the members of a piece: texts join, of the rest the last stands; a null says nothing where the member is
    /// there already.
    pub(super) fn merge_all(&mut self, into: &mut Members, piece: &Piece<'_>) -> Result<(), Error> {
        let mut lone = 0;
        let Value::Object(members) = Value::from_tape(piece.raw, piece.tape, piece.index, &mut lone) else {
            return Ok(());
        };
        if lone > 0 {
            // Those of the texts that join are counted when they are joined.
            let mut of_texts = 0;
            for node in piece.owner.joined().iter().filter_map(|name| piece.text(name)) {
                decode(slice(piece.raw, node), node.flags, &mut of_texts);
            }
            let place = self.place();
            report_lone(&mut self.quirks, lone.saturating_sub(of_texts), place);
        }
        for (name, value) in members {
            let joined = piece.owner.joined().iter().find(|joined| **joined == name);
            if let (Some(name), Some(node)) = (joined, joined.and_then(|name| piece.text(name))) {
                self.join(into, piece, name, node)?;
                continue;
            }
            let says_nothing = value == Value::Null && into.place(&name).is_some();
            if !says_nothing {
                if let Some(name) = joined {
                    self.take_half(piece.owner, name);
                }
                self.merge(into, &name, value, &[], false)?;
            }
        }
        Ok(())
    }

    /// Joins a fragment to the text of that name.
    fn join(&mut self, into: &mut Members, piece: &Piece<'_>, name: &'static str, node: &Node) -> Result<(), Error> {
        let mut joiner = self.take_half(piece.owner, name);
        let mut text = Vec::new();
        joiner.append(slice(piece.raw, node), node.flags, &mut text);
        let place = self.place();
        report_lone(&mut self.quirks, std::mem::take(&mut joiner.lone), place);
        if let Some(choice) = self.choices.get_mut(self.current).filter(|_| joiner.holds()) {
            choice.rest().halves.insert((piece.owner, name), joiner);
        }
        self.merge(into, name, Value::String(owned(text)), &[name], false)
    }

    /// What waits of that text; nothing does any more.
    fn take_half(&mut self, owner: Owner, name: &'static str) -> Joiner {
        let rest = self.choices.get_mut(self.current).and_then(|choice| choice.rest.as_mut());
        rest.and_then(|rest| rest.halves.remove(&(owner, name))).unwrap_or_default()
    }

    /// The object begins anew: none of its texts waits.
    pub(super) fn forget_halves(&mut self, owner: Owner) {
        if let Some(rest) = self.choices.get_mut(self.current).and_then(|choice| choice.rest.as_mut()) {
            rest.halves.retain(|half, _| half.0 != owner);
        }
    }

    /// The texts of the current choice end: what waits has no partner.
    pub(super) fn flush_halves(&mut self) {
        let Some(choice) = self.choices.get_mut(self.current) else { return };
        let halves = choice.rest.as_mut().map(|rest| std::mem::take(&mut rest.halves)).unwrap_or_default();
        let lone = halves.into_keys().filter(|&(owner, name)| append(choice, owner, name)).count();
        let place = self.place();
        report_lone(&mut self.quirks, lone as u32, place);
    }
}

/// Appends to a text what its half becomes; says whether the text is there.
fn append(choice: &mut Choice, owner: Owner, name: &str) -> bool {
    let rest = choice.rest();
    let object = match owner {
        Owner::Audio => rest.extra.find("audio"),
        Owner::Detail(index) => match (rest.extra.find(DETAILS), rest.pieces.get(&index)) {
            (Some(Value::Array(pieces)), Some(&place)) => pieces.get_mut(place),
            _ => None,
        },
    };
    let Some(Value::Object(members)) = object else { return false };
    let Some(Value::String(text)) = members.find(name) else { return false };
    text.push(char::REPLACEMENT_CHARACTER);
    true
}
