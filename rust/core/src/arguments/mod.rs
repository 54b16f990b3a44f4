//! What a call's arguments are: whole, cut, or no JSON object at all (A4), and what can be had back from repeats (A6).

mod partial;
mod recovered;
mod scanner;

pub use partial::{PartialReader, PartialSink, Scalar};
pub(crate) use recovered::recovered;
pub(crate) use scanner::{Progress, Scanner};

use crate::completion::{CallKind, Status};
use crate::json::scan::slash;
use crate::json::tape::{Kind, Node, with_spare};

/// Whether arguments begin a JSON object, after white space ("begins anew").
#[inline]
pub(crate) fn begins_anew(arguments: &str) -> bool {
    arguments.trim_start_matches([' ', '\t', '\n', '\r']).starts_with('{')
}

/// A text shorter than this is read at once in less time than it is scanned.
const SHORT: usize = 1024;

/// Whether a short text is one JSON object of which nothing but reading it is needed to know that Python can hold it (A4): no
/// string with an escape is in it, and no number with an exponent or of many digits.
pub(crate) fn is_plain_object(text: &[u8], depth: usize) -> bool {
    const DIGITS: u32 = 300;
    let is_plain = |node: &Node| {
        let digits = text.get(node.start as usize..node.end as usize).unwrap_or_default();
        node.kind != Kind::Number
            || node.end - node.start < DIGITS && !digits.iter().any(|byte| matches!(byte, b'e' | b'E'))
    };
    text.len() < SHORT
        && text.first() == Some(&b'{')
        && slash(text) == text.len()
        && with_spare(|tape| tape.read(text, depth).is_ok() && tape.flags == 0 && tape.nodes().iter().all(is_plain))
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
