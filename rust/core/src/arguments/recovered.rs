//! The one object that cumulative or repeated arguments came to (A6), in linear time.

use super::{Progress, Scanner};

/// The longest proper suffix of `text` that is a complete JSON object and before which stands nothing but a run of its
/// own prefixes. It begins at its brace; white space may end it.
pub(crate) fn recovered(text: &str, depth: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    let brace = last_object(bytes)?;
    let mut scanner = Scanner::default();
    let suffix = bytes.get(brace..)?;
    if scanner.advance(suffix, depth) != Progress::Complete || !scanner.is_usable_object() {
        return None;
    }
    (brace > 0 && is_run_of_prefixes(bytes, brace)).then(|| text.get(brace..)).flatten()
}

fn trimmed_end(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or_default()
}

/// Where the brace stands that the last brace of `bytes` closes. Outside strings no backslash can stand, so a quote with
/// an even number of backslashes before it is a real one.
fn last_object(bytes: &[u8]) -> Option<usize> {
    let bytes = trimmed_end(bytes);
    let mut in_string = false;
    let mut depth = 0usize;
    let mut at = bytes.len();
    while at > 0 {
        at -= 1;
        match bytes.get(at)? {
            b'"' => {
                let slashes = bytes.get(..at)?.iter().rev().take_while(|&&byte| byte == b'\\').count();
                in_string ^= slashes % 2 == 0;
                at -= slashes;
            }
            b'}' | b']' if !in_string => depth += 1,
            b'{' | b'[' if !in_string => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return (bytes.get(at) == Some(&b'{')).then_some(at);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Whether `bytes[..start]` is a run of prefixes of `bytes[start..]`. Every position that some prefix reaches is itself
/// a place where the next can start, since shorter prefixes are prefixes too.
fn is_run_of_prefixes(bytes: &[u8], start: usize) -> bool {
    let (before, object) = bytes.split_at(start);
    let matched = prefix_lengths(object, before);
    let mut reach = 0;
    for (at, length) in matched.iter().enumerate() {
        if at > reach {
            return false;
        }
        reach = reach.max(at + length);
    }
    reach >= start
}

/// For each position of `text`, how many bytes from there on equal the beginning of `pattern` (the Z function).
fn prefix_lengths(pattern: &[u8], text: &[u8]) -> Vec<usize> {
    let own = z_function(pattern, pattern, &[]);
    z_function(pattern, text, &own)
}

/// The Z function of `text` against `pattern`; `own` is that of the pattern against itself, or empty where `text` is it.
fn z_function(pattern: &[u8], text: &[u8], own: &[usize]) -> Vec<usize> {
    let itself = own.is_empty();
    let mut lengths: Vec<usize> = Vec::with_capacity(text.len());
    let (mut left, mut right) = (0, 0);
    for at in 0..text.len() {
        if itself && at == 0 {
            lengths.push(text.len());
            continue;
        }
        let known = if at < right {
            let mirrored = if itself { lengths.get(at - left) } else { own.get(at - left) };
            mirrored.copied().unwrap_or(0).min(right - at)
        } else {
            0
        };
        let more = text.get(at + known..).unwrap_or_default().iter().zip(pattern.get(known..).unwrap_or_default());
        let length = known + more.take_while(|(one, other)| one == other).count();
        if at + length > right {
            (left, right) = (at, at + length);
        }
        lengths.push(length);
    }
    lengths
}
