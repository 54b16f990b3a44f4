//! The templates of a thread. Streams of one gateway share them.

use std::sync::atomic::{AtomicU64, Ordering};

use super::learn::Read;
use super::{Marks, Template};
use crate::completion::Wire;

/// Templates kept at most.
const KEPT: usize = 48;
/// Templates compared with one payload at most.
const TRIED: usize = 12;
/// Templates made in a row that nothing came of, before fewer are made.
const PATIENCE: u32 = 24;
/// Bytes that a payload and a template must share at their beginning to be compared at all.
const GLANCE: usize = 12;

/// The templates.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    templates: Vec<Template>,
    pub(crate) marks: Marks,
    clock: u64,
    /// What the templates say once and for all, each with its number.
    headers: Vec<(Vec<u8>, u64)>,
    /// Templates made since one was last of use.
    idle: u32,
}

/// What is known of a payload before it is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind<'a> {
    pub(crate) wire: Wire,
    /// The name of its event.
    pub(crate) name: &'a [u8],
    /// Levels of JSON that it may have.
    pub(crate) depth: usize,
}

impl Template {
    /// Whether payloads of that kind can be like this one.
    fn is_of(&self, kind: Kind<'_>) -> bool {
        self.wire == kind.wire && self.depth <= kind.depth && *self.name == *kind.name
    }
}

/// A payload that was recognised: the template and where the payload ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) template: usize,
    pub(crate) end: usize,
}

impl Shelf {
    pub(crate) fn get(&self, template: usize) -> Option<&Template> {
        self.templates.get(template)
    }

    /// The template that is likely to follow `last`, with room for what it decodes.
    #[inline]
    pub(crate) fn likely(&mut self, last: usize) -> Option<(&Template, &mut Vec<u8>, usize)> {
        let next = self.templates.get(last)?.next;
        Some((self.templates.get(next)?, &mut self.marks.decoded, next))
    }

    /// A template was of use.
    pub(crate) fn touch(&mut self, template: usize) {
        self.idle = 0;
        self.clock += 1;
        if let Some(template) = self.templates.get_mut(template) {
            template.used = self.clock;
        }
    }

    /// The template of the payload that `bytes` begins with, in an event of that kind. `last` is the one recognised before in the same stream.
    /// At most `allowance` bytes are looked at in vain; what was is taken from it.
    #[inline]
    pub(crate) fn find(
        &mut self,
        bytes: &[u8],
        kind: Kind<'_>,
        last: &mut usize,
        allowance: &mut usize,
    ) -> Option<Found> {
        let likely = self.templates.get(*last)?.next;
        for template in [likely, *last] {
            if let Some(found) = self.compare(template, bytes, kind, allowance) {
                return Some(self.note(found, last));
            }
            if likely == *last {
                break;
            }
        }
        self.search(bytes, kind, last, allowance)
    }

    #[cold]
    fn search(&mut self, bytes: &[u8], kind: Kind<'_>, last: &mut usize, allowance: &mut usize) -> Option<Found> {
        let likely = self.templates.get(*last)?.next;
        let differs = self.templates.get(likely)?.differs(bytes);
        *allowance = allowance.saturating_sub(differs);
        let mut tried = 0;
        for template in 0..self.templates.len() {
            if template == likely || template == *last || !self.may_be(template, bytes, kind, differs) {
                continue;
            }
            if let Some(found) = self.compare(template, bytes, kind, allowance) {
                return Some(self.note(found, last));
            }
            tried += 1;
            if tried == TRIED {
                break;
            }
        }
        None
    }

    /// Whether a template is worth comparing: it begins like the payload, and so it does where another one differed.
    fn may_be(&self, template: usize, bytes: &[u8], kind: Kind<'_>, differs: usize) -> bool {
        self.templates.get(template).filter(|template| template.is_of(kind)).is_some_and(|template| {
            let opening = template.opening();
            let glance = opening.len().min(GLANCE);
            opening.get(..glance) == bytes.get(..glance)
                && opening.get(differs).is_none_or(|byte| bytes.get(differs) == Some(byte))
        })
    }

    #[inline]
    fn compare(&mut self, index: usize, bytes: &[u8], kind: Kind<'_>, allowance: &mut usize) -> Option<Found> {
        let template = self.templates.get(index)?;
        if !template.is_of(kind) || bytes.len() < template.fixed || *allowance < template.fixed {
            return None;
        }
        // What a hole holds may be long: no more is looked at than the allowance lets.
        let within = bytes.get(..bytes.len().min(*allowance)).unwrap_or_default();
        match template.compare(within, &mut self.marks) {
            Ok(end) => Some(Found { template: index, end }),
            Err(looked_at) => {
                *allowance = allowance.saturating_sub(looked_at);
                None
            }
        }
    }

    #[inline]
    fn note(&mut self, found: Found, last: &mut usize) -> Found {
        if let Some(before) = self.templates.get_mut(*last) {
            before.next = found.template;
        }
        self.touch(found.template);
        *last = found.template;
        found
    }

    /// Learns from a payload that was read: one that resembles a template opens holes in it, another becomes one.
    /// Gives the number of what the payload says once and for all.
    pub(crate) fn learn(&mut self, read: &Read<'_>, last: &mut usize) -> u64 {
        self.idle = self.idle.saturating_add(1);
        if self.idle > PATIENCE && !self.idle.is_multiple_of(PATIENCE) {
            return 0;
        }
        let Some(mut leaves) = read.leaves() else { return 0 };
        let place = self.templates.iter().position(|template| template.resembles(read, &mut leaves));
        let headers = &mut self.headers;
        let Some(mut template) = Template::new(read, leaves, |said| number(headers, said)) else { return 0 };
        self.clock += 1;
        template.used = self.clock;
        let header = template.header;
        let place = place.unwrap_or_else(|| self.room());
        match self.templates.get_mut(place) {
            Some(slot) => {
                template.next = if slot.next == place { place } else { slot.next };
                *slot = template;
            }
            None => {
                template.next = place;
                self.templates.push(template);
            }
        }
        if let Some(before) = self.templates.get_mut(*last) {
            before.next = place;
        }
        *last = place;
        header
    }

    /// Where a new template goes: the place of the one not used for longest, where there is no free one.
    fn room(&self) -> usize {
        if self.templates.len() < KEPT {
            return self.templates.len();
        }
        let oldest = self.templates.iter().enumerate().min_by_key(|(_, template)| template.used);
        oldest.map_or(0, |(place, _)| place)
    }
}

/// The number of what is said once and for all. Numbers are never used twice, not by other threads either.
fn number(headers: &mut Vec<(Vec<u8>, u64)>, said: Vec<u8>) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if let Some((_, number)) = headers.iter().find(|(known, _)| *known == said) {
        return *number;
    }
    if headers.len() >= KEPT {
        headers.remove(0);
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    headers.push((said, number));
    number
}
