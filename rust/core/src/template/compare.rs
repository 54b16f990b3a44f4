//! Comparing an event or a payload with a template, from its beginning or from where it was left.

use super::marks::{Marks, Text};
use super::{Hole, Leaf, Template};
use crate::json::scan::{self, flag};
use crate::wire::openai_chat::is_zero;

/// What is compared at once: all up to `end` of the template's event, where its hole `next` begins, which is not steady;
/// behind the last hole all that is left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) end: u32,
    pub(super) next: u32,
}

/// How far comparing has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    step: usize,
    /// The hole that is next.
    pub(crate) hole: usize,
    /// Bytes of the template's event that were found.
    done: usize,
    /// Bytes that were compared with it.
    pub(crate) at: usize,
    /// Bytes of the template's event before what is compared: those before a payload that stands alone.
    before: usize,
    /// Something steady differs from what it was in the payload last recognised.
    pub(crate) is_new: bool,
}

impl Progress {
    /// How far what is compared is ahead of the template.
    #[inline]
    const fn shift(&self) -> i64 {
        (self.at + self.before) as i64 - self.done as i64
    }
}

/// What comparing came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// It is like the template, and ends here.
    Whole,
    /// It is as far as it goes.
    SoFar,
    /// It is not.
    Differs,
}

impl Template {
    /// The beginning of comparing a payload that stands alone. That of comparing an event is the default.
    pub(crate) const fn of_payload(&self) -> Progress {
        Progress { step: 0, hole: 0, done: self.lead, at: 0, before: self.lead, is_new: false }
    }

    /// Bytes of the template's event that were not found yet.
    #[inline]
    pub(crate) fn missing(&self, progress: &Progress) -> usize {
        self.event.len().saturating_sub(progress.done)
    }

    /// Goes on comparing what `bytes` begins with. Texts are decoded on the way where they hold simple escapes. What is
    /// steady is expected to be as it was last, and looked at hole by hole where it is not.
    #[inline]
    pub(crate) fn compare(&self, bytes: &[u8], progress: &mut Progress, marks: &mut Marks) -> Compared {
        while let Some(&Step { end, next }) = self.steps.get(progress.step) {
            let (end, next) = (end as usize, next as usize);
            // Where a payload stands alone, it ends before the event does.
            let end = if progress.before > 0 { end.min(self.tail) } else { end };
            match self.compare_fixed(bytes, progress, end) {
                Compared::Whole => {
                    if progress.hole < next {
                        let texts = self.texts.get(progress.hole..next).unwrap_or_default();
                        marks.set_steady(progress.hole, texts, progress.shift());
                        progress.hole = next;
                    }
                }
                Compared::Differs if self.differs_in_steady(bytes, progress, next, end) => {
                    progress.is_new = true;
                    let compared = self.compare_singly(bytes, progress, marks, next, end);
                    if compared != Compared::Whole {
                        return compared;
                    }
                }
                // CR alone ends a blank line (S2): framing dispatches an event whose last LF has not come.
                Compared::SoFar if end == self.event.len() && progress.done + 1 == end && end - self.tail > 2 => {
                    return Compared::Differs;
                }
                compared => return compared,
            }
            if let Some(leaf) = self.holes.get(next) {
                let compared = self.compare_hole(leaf, bytes, progress, marks);
                if compared != Compared::Whole {
                    return compared;
                }
            }
            progress.step += 1;
        }
        Compared::Whole
    }

    /// Compares on to the position `end` of the template's event.
    #[inline]
    fn compare_fixed(&self, bytes: &[u8], progress: &mut Progress, end: usize) -> Compared {
        let fixed = self.event.get(progress.done..end).unwrap_or_default();
        let upto = progress.at + fixed.len();
        if bytes.get(progress.at..upto) == Some(fixed) {
            progress.done = end;
            progress.at = upto;
            return Compared::Whole;
        }
        let rest = bytes.get(progress.at..).unwrap_or_default();
        if rest.len() < fixed.len() && fixed.starts_with(rest) {
            progress.done += rest.len();
            progress.at += rest.len();
            return Compared::SoFar;
        }
        Compared::Differs
    }

    /// Passes a hole's value, where all before it was compared.
    #[inline]
    fn compare_hole(&self, leaf: &Leaf, bytes: &[u8], progress: &mut Progress, marks: &mut Marks) -> Compared {
        let (end, text) = match plain(bytes, progress.at, leaf.kind) {
            Some(end) => (end, Text::Raw(0)),
            None => match value(bytes, progress.at, leaf.kind, &mut marks.decoded) {
                Some(value) => value,
                None => return Compared::Differs,
            },
        };
        if end >= bytes.len() {
            return Compared::SoFar;
        }
        progress.done = self.lead + leaf.end as usize;
        progress.at = end;
        marks.set(progress.hole, progress.shift(), text);
        progress.hole += 1;
        Compared::Whole
    }

    /// Compares the holes before `next` one by one, and what stands between them up to `end`.
    #[cold]
    fn compare_singly(
        &self,
        bytes: &[u8],
        progress: &mut Progress,
        marks: &mut Marks,
        next: usize,
        end: usize,
    ) -> Compared {
        while let Some(leaf) = self.holes.get(progress.hole).filter(|_| progress.hole < next) {
            let compared = match self.compare_fixed(bytes, progress, self.lead + leaf.start as usize) {
                Compared::Whole => self.compare_hole(leaf, bytes, progress, marks),
                compared => compared,
            };
            if compared != Compared::Whole {
                return compared;
            }
        }
        self.compare_fixed(bytes, progress, end)
    }

    /// Whether what differs is a steady value before the hole `next`, so that it is worth looking at them one by one.
    #[cold]
    fn differs_in_steady(&self, bytes: &[u8], progress: &mut Progress, next: usize, end: usize) -> bool {
        let holes = self.holes.get(progress.hole..next).unwrap_or_default();
        let Some(first) = holes.first() else { return false };
        let fixed = self.event.get(progress.done..end).unwrap_or_default();
        let rest = bytes.get(progress.at..).unwrap_or_default();
        // The byte behind the last steady value shows that it is not longer.
        let steady = holes.last().map_or(0, |last| (self.lead + last.end as usize + 1).saturating_sub(progress.done));
        if fixed.get(..steady).is_some_and(|steady| rest.starts_with(steady)) {
            let (fixed, rest) = (fixed.get(steady..).unwrap_or_default(), rest.get(steady..).unwrap_or_default());
            progress.at += steady + common(fixed, rest);
            return false;
        }
        let same = common(fixed, rest);
        let place = (progress.done + same - self.lead.min(progress.done + same)) as u32;
        if progress.done > self.lead + first.start as usize
            || !holes.iter().any(|leaf| (leaf.start..=leaf.end).contains(&place))
        {
            progress.at += same;
            return false;
        }
        true
    }
}

/// How many bytes two texts have in common at their beginning.
pub(super) fn common(one: &[u8], other: &[u8]) -> usize {
    const WORD: usize = 16;
    let words = one.chunks_exact(WORD).zip(other.chunks_exact(WORD)).take_while(|(one, other)| one == other).count();
    let (one, other) = (one.get(words * WORD..).unwrap_or_default(), other.get(words * WORD..).unwrap_or_default());
    words * WORD + one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// The end of the value of a hole at `at` that is a string of ASCII without escapes, as most are.
#[inline]
fn plain(bytes: &[u8], at: usize, kind: Hole) -> Option<usize> {
    let end = match kind {
        Hole::Filled | Hole::String => scan::plain_run(bytes, at),
        _ => return None,
    };
    (bytes.get(end) == Some(&b'"') && (end > at || kind == Hole::String)).then_some(end)
}

/// Passes the value of a hole at `at`; gives where it ends, at the end of `bytes` if that is not known yet, and its text.
/// None where it is not such a value.
fn value(bytes: &[u8], at: usize, kind: Hole, decoded: &mut Vec<u8>) -> Option<(usize, Text)> {
    let text = Text::Raw(0);
    match kind {
        Hole::Filled | Hole::String => {
            let start = decoded.len();
            match scan::text(bytes, at, decoded) {
                Ok((end, _)) if end == at && kind == Hole::Filled => None,
                Ok((end, None)) => Some((end, Text::Decoded(start as u32, decoded.len() as u32))),
                Ok((_, Some(flags))) if flags & flag::INVALID != 0 => None,
                Ok((end, Some(flags))) => Some((end, Text::Raw(flags))),
                Err(end) => may_go_on(bytes, end).then_some((bytes.len(), text)),
            }
        }
        Hole::Blanks => Some((pass_blanks(bytes, at), text)),
        Hole::Index => {
            let digits = bytes.get(at..).unwrap_or_default().iter().take(9).take_while(|byte| byte.is_ascii_digit());
            let end = at + digits.count();
            let is_index = end == at + 1 || bytes.get(at) != Some(&b'0');
            ((end > at && is_index) || end == bytes.len()).then_some((end, text))
        }
        Hole::Number | Hole::NonZero => match scan::number(bytes, at) {
            Ok(end) if kind == Hole::NonZero && is_zero(bytes.get(at..end).unwrap_or_default()) => {
                (end == bytes.len()).then_some((end, text))
            }
            Ok(end) => Some((end, text)),
            Err(end) => (end >= bytes.len()).then_some((end, text)),
        },
    }
}

/// Whether a string that stops being one at `at` may be one when more has come: nothing is there, or part of an escape.
fn may_go_on(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at) {
        None => true,
        Some(b'\\') => at + LONGEST_ESCAPE > bytes.len(),
        Some(_) => false,
    }
}

/// Bytes of `\uXXXX`: where so many are missing, an escape may go on.
const LONGEST_ESCAPE: usize = 6;

/// The first position from `at` on that is no blank. Line ends are none here: they may end the event.
#[inline]
fn pass_blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}
