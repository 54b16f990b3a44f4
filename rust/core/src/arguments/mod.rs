//! What a call's arguments are: whole, cut, or no JSON object at all (A4), and what can be had back from repeats (A6).

mod recovered;
mod scanner;

pub(crate) use recovered::recovered;
pub(crate) use scanner::{Progress, Scanner};

use crate::completion::{CallKind, Status};

/// Whether arguments begin a JSON object, after white space ("begins anew").
#[inline]
pub(crate) fn begins_anew(arguments: &str) -> bool {
    arguments.trim_start_matches([' ', '\t', '\n', '\r']).starts_with('{')
}

/// The status of a named call whose arguments are `text` and have been looked at by `scanner` (A4).
pub(crate) fn status(scanner: &mut Scanner, text: &[u8], kind: CallKind, proven: bool, depth: usize) -> Status {
    if !proven {
        return Status::Truncated;
    }
    if kind == CallKind::Custom || text.is_empty() {
        return Status::Complete;
    }
    match scanner.advance(text, depth) {
        Progress::Dead => Status::Invalid,
        Progress::Prefix => Status::Truncated,
        Progress::Complete if scanner.is_usable_object() => Status::Complete,
        Progress::Complete => Status::Invalid,
    }
}
