//! Whose fragment it is: the acceptance of identity (I1) and the table of I4 to I7.

use crate::fold::choice::Choice;
use crate::policy::{Policy, SharedIndex};
use crate::quirk::QuirkKind;

/// I1: an id or a name is accepted only from a non-empty string. Anything else leaves what is established.
#[inline]
pub(crate) fn accept(incoming: Option<&str>) -> Option<&str> {
    incoming.filter(|text| !text.is_empty())
}

/// A tool delta as the table sees it: what was accepted of its identity, and what it brings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming<'a> {
    pub(crate) index: Option<i64>,
    pub(crate) id: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    /// Its arguments begin with a brace, after white space.
    pub(crate) begins_anew: bool,
    pub(crate) has_arguments: bool,
}

/// Which call takes a delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Call(usize),
    New,
    /// A second call of a known id, held back until the end (I7).
    Second,
    Orphan,
}

/// What becomes of the delta's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::enum_variant_names, reason = "an index is kept, bound or borrowed: the words of I5")]
pub(crate) enum Bind {
    Keep,
    Bind,
    /// Bound until an id or a name comes there (I5b).
    Borrow,
}

/// Where a delta goes, and what is to be reported of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) target: Target,
    pub(crate) bind: Bind,
    pub(crate) quirk: Option<QuirkKind>,
}

const fn to(target: Target, bind: Bind, quirk: Option<QuirkKind>) -> Route {
    Route { target, bind, quirk }
}

const fn stay(call: usize) -> Route {
    to(Target::Call(call), Bind::Keep, None)
}

/// The first line of the table that fits.
pub(crate) fn route(choice: &mut Choice, delta: &Incoming<'_>, policy: Policy, depth: usize) -> Route {
    let merge = policy.shared_index == SharedIndex::Merge;
    let Some(index) = delta.index else {
        return without_index(choice, delta, depth);
    };
    let anonymous = delta.id.is_none() && delta.name.is_none();
    match choice.bound.get(&index).filter(|binding| anonymous || !binding.borrowed).map(|binding| binding.call) {
        Some(call) if merge => merged(choice, call, delta),
        Some(call) => at_bound(choice, call, index, delta, depth),
        None if merge => to(Target::New, Bind::Bind, None),
        None => at_unseen(choice, delta, depth),
    }
}

/// `shared_index="merge"`: a bound index is its call, whatever comes there.
fn merged(choice: &Choice, call: usize, delta: &Incoming<'_>) -> Route {
    let own = choice.calls.get(call).map_or("", |call| &call.id);
    let differs = delta.id.is_some_and(|id| !own.is_empty() && id != own);
    to(Target::Call(call), Bind::Keep, differs.then_some(QuirkKind::IdChanged))
}

/// I4: the index is bound to `call`.
fn at_bound(choice: &mut Choice, call: usize, index: i64, delta: &Incoming<'_>, depth: usize) -> Route {
    let shared = to(Target::New, Bind::Bind, Some(QuirkKind::SharedIndex));
    let Some(id) = delta.id else {
        return match delta.name {
            None => stay(call),
            Some(name) => {
                let names_another = names_another(choice, call, name);
                let anew = delta.begins_anew || (names_another && !delta.has_arguments);
                if is_named(choice, call) && anew && is_complete(choice, call, depth) { shared } else { stay(call) }
            }
        };
    };
    let has_id = choice.calls.get(call).is_some_and(|call| !call.id.is_empty());
    if choice.calls.get(call).is_some_and(|call| call.id == id) {
        return stay(call);
    }
    match choice.known(id) {
        Some(other) if choice.calls.get(other).is_some_and(|call| call.opened_at == Some(index)) => {
            to(Target::Call(other), Bind::Bind, None)
        }
        Some(other) => known_elsewhere(choice, other, Bind::Keep, delta, depth),
        None if has_id && delta.name.is_some() => shared,
        None if has_id => to(Target::Call(call), Bind::Keep, Some(QuirkKind::IdChanged)),
        None => match delta.name.filter(|_| is_named(choice, call)) {
            Some(name) if names_another(choice, call, name) => shared,
            Some(_) if delta.begins_anew && is_complete(choice, call, depth) => shared,
            _ => stay(call),
        },
    }
}

/// I5: the index was not seen before.
fn at_unseen(choice: &mut Choice, delta: &Incoming<'_>, depth: usize) -> Route {
    if let Some(call) = delta.id.and_then(|id| choice.known(id)) {
        return known_elsewhere(choice, call, Bind::Bind, delta, depth);
    }
    if delta.id.is_none()
        && delta.name.is_none()
        && let Some(last) = choice.last().filter(|&last| !is_complete(choice, last, depth))
    {
        return to(Target::Call(last), Bind::Borrow, Some(QuirkKind::IndexChanged));
    }
    to(Target::New, Bind::Bind, None)
}

/// I7: the id is that of `call`, at another index.
fn known_elsewhere(choice: &mut Choice, call: usize, unseen: Bind, delta: &Incoming<'_>, depth: usize) -> Route {
    let same_name = |name| choice.calls.get(call).is_some_and(|call| call.name == name);
    let continues = match delta.name {
        None => true,
        Some(name) => same_name(name) && !is_complete(choice, call, depth),
    };
    if continues {
        to(Target::Call(call), unseen, Some(QuirkKind::IndexChanged))
    } else {
        to(Target::Second, Bind::Bind, None)
    }
}

/// I6: no usable index.
fn without_index(choice: &mut Choice, delta: &Incoming<'_>, depth: usize) -> Route {
    let last = choice.last();
    let fresh = to(Target::New, Bind::Keep, None);
    if let Some(id) = delta.id {
        if let Some(call) = choice.known(id) {
            return stay(call);
        }
        return match last {
            Some(last) if delta.name.is_none() && !is_complete(choice, last, depth) => {
                let has_id = choice.calls.get(last).is_some_and(|call| !call.id.is_empty());
                to(Target::Call(last), Bind::Keep, has_id.then_some(QuirkKind::IdChanged))
            }
            _ => fresh,
        };
    }
    match (last, delta.name) {
        (None, None) => to(Target::Orphan, Bind::Keep, Some(QuirkKind::OrphanFragment)),
        (None, Some(_)) => fresh,
        (Some(last), None) => stay(last),
        (Some(last), Some(name)) => {
            let another = names_another(choice, last, name);
            let no_arguments = choice.calls.get(last).is_some_and(|call| call.arguments.is_empty());
            let anew = delta.begins_anew || another;
            if (another && no_arguments) || (anew && is_complete(choice, last, depth)) { fresh } else { stay(last) }
        }
    }
}

fn is_complete(choice: &mut Choice, call: usize, depth: usize) -> bool {
    choice.calls.get_mut(call).is_some_and(|call| call.is_complete(depth))
}

fn is_named(choice: &Choice, call: usize) -> bool {
    choice.calls.get(call).is_some_and(|call| !call.name.is_empty())
}

/// The call has a name, and it is another one.
fn names_another(choice: &Choice, call: usize, name: &str) -> bool {
    choice.calls.get(call).is_some_and(|call| !call.name.is_empty() && call.name != name)
}
