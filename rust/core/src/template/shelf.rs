//! The templates of a thread. Streams of one gateway share them.

use super::learn::Read;
use super::sight::{Look, Sights};
use super::{Leaf, Marks, Template};

/// Templates kept at most, and the bytes that they may take together: those of a few hundred gateways.
const KEPT: usize = 1024;
const ROOM: usize = 768 << 10;
/// Hashes of payloads that are remembered: a template is made of what comes a second time.
const REMEMBERED: usize = 2048;
/// So often in a row another template than the first one must follow to be the first.
const PATIENCE: u8 = 2;
/// Templates that are likely to follow one, at most.
pub(crate) const SUCCESSORS: usize = 4;
/// No template.
pub(crate) const NONE: u32 = u32::MAX;

/// The templates.
#[derive(Debug)]
pub(crate) struct Shelf {
    templates: Vec<Template>,
    /// The hash of each.
    hashes: Vec<u64>,
    /// The bytes that they take.
    weight: usize,
    pub(crate) marks: Marks,
    clock: u64,
    /// Hashes of payloads of which no template was made, each where its highest bits say.
    seen: Vec<u64>,
    /// The templates that streams began with.
    first: [u32; SUCCESSORS],
    /// The templates of events that looked alike.
    sights: Sights,
}

impl Default for Shelf {
    fn default() -> Self {
        Self {
            templates: Vec::new(),
            hashes: Vec::new(),
            weight: 0,
            marks: Marks::default(),
            clock: 0,
            seen: Vec::new(),
            first: [NONE; SUCCESSORS],
            sights: Sights::default(),
        }
    }
}

impl Shelf {
    /// A template, with room for how a payload differs from it.
    #[inline]
    pub(crate) fn get(&mut self, template: u32) -> Option<(&Template, &mut Marks)> {
        Some((self.templates.get(template as usize)?, &mut self.marks))
    }

    /// The template that followed `last` the `nth` time before this one.
    #[inline]
    pub(crate) fn likely(&self, last: u32, nth: usize) -> u32 {
        let next = self.templates.get(last as usize).map_or(&self.first, |template| &template.next);
        next.get(nth).copied().unwrap_or(NONE)
    }

    /// The templates that events of that look were recognised by.
    pub(crate) fn sighted(&self, look: Look) -> [u32; SUCCESSORS] {
        self.sights.get(look)
    }

    /// An event of that look was recognised by a template, after `last`, where it had not been expected.
    #[cold]
    pub(crate) fn note_sight(&mut self, look: Look, last: u32, template: u32) {
        self.sights.set(look, template);
        self.note(last, template);
    }

    /// The same of an event that a template was learnt from.
    fn note_learnt(&mut self, last: u32, template: u32) {
        let event = self.templates.get(template as usize).map(|template| &*template.event);
        if let Some(look) = event.and_then(|event| Look::of(event, last == NONE)) {
            self.sights.set(look, template);
        }
        self.note(last, template);
    }

    /// What is steady in a payload that a template recognised is expected to come again; gives the template's epoch if so.
    #[cold]
    pub(crate) fn settle(&mut self, template: u32, payload: &[u8]) -> Option<u64> {
        let template = self.templates.get_mut(template as usize)?;
        self.weight -= template.weight();
        let is_settled = template.settle(payload, &self.marks);
        self.weight += template.weight();
        is_settled.then_some(template.epoch)
    }

    /// What is steady in the template `last` is expected of one that is likely to follow it, if `last` is as it was in the
    /// stream that `said` what it says once and for all.
    #[inline]
    pub(crate) fn follow(&mut self, last: u32, said: u64, template: u32) {
        if let Ok([former, follower]) = self.templates.get_disjoint_mut([last as usize, template as usize])
            && former.epoch == said
            && follower.epoch != said
        {
            follower.follow(former);
        }
    }

    /// A template was recognised after `last`, where it had not been expected first.
    #[cold]
    pub(crate) fn note(&mut self, last: u32, template: u32) {
        self.touch(template);
        let mut always = u8::MAX - 1;
        let (next, misses) = match self.templates.get_mut(last as usize) {
            Some(template) => (&mut template.next, &mut template.misses),
            None => (&mut self.first, &mut always),
        };
        let place = next.iter().position(|&known| known == template).unwrap_or(next.len() - 1);
        // What ends a run of others is not expected in the midst of it: it comes first only when it came twice in a row.
        *misses += 1;
        let first = usize::from(*misses < PATIENCE && next[0] != NONE).min(place);
        if let Some(between) = next.get_mut(first..=place) {
            between.rotate_right(1);
            between[0] = template;
        }
        if first == 0 {
            *misses = 0;
        }
    }

    /// The template that was expected first after `last` came.
    #[inline]
    pub(crate) fn hit(&mut self, last: u32) {
        if let Some(template) = self.templates.get_mut(last as usize) {
            template.misses = 0;
        }
    }

    /// A template was of use.
    pub(crate) fn touch(&mut self, template: u32) {
        self.clock += 1;
        if let Some(template) = self.templates.get_mut(template as usize) {
            template.used = self.clock;
        }
    }

    /// Learns from a payload that was read: one that resembles a template opens holes in it, another becomes one when its
    /// like comes a second time. Gives the template, if there is one now.
    pub(crate) fn learn(&mut self, read: &Read<'_>, last: u32) -> Option<u32> {
        if !read.is_worth_it() {
            return None;
        }
        let hash = read.hash();
        let alike = self.hashes.contains(&hash);
        if !alike && !self.has_seen(hash) {
            return None;
        }
        let mut leaves = read.leaves()?;
        let place = self.resembled(hash, read, &mut leaves);
        if let Some(place) = place.filter(|&place| self.is_open_to(place, &leaves)) {
            self.note_learnt(last, place as u32);
            return Some(place as u32);
        }
        let mut template = Template::new(read, leaves)?;
        self.weight += template.weight();
        let place = place.unwrap_or(self.templates.len());
        if let (Some(slot), Some(own)) = (self.templates.get_mut(place), self.hashes.get_mut(place)) {
            self.weight -= slot.weight();
            template.next = slot.next;
            (*slot, *own) = (template, hash);
        } else {
            self.templates.push(template);
            self.hashes.push(hash);
        }
        self.note_learnt(last, place as u32);
        self.make_room();
        Some(place as u32)
    }

    /// Whether all that is open in `leaves` is open in the template at that place.
    fn is_open_to(&self, place: usize, leaves: &[Leaf]) -> bool {
        self.templates.get(place).is_some_and(|template| template.is_open_to(leaves))
    }

    /// The template that a payload with that hash resembles; what differs is opened in its leaves.
    fn resembled(&self, hash: u64, read: &Read<'_>, leaves: &mut [Leaf]) -> Option<usize> {
        let alike =
            self.hashes.iter().zip(&self.templates).map(|(known, template)| (*known == hash).then_some(template));
        alike.enumerate().find_map(|(place, template)| template?.resembles(read, leaves).then_some(place))
    }

    /// Whether a payload with that hash came before.
    fn has_seen(&mut self, hash: u64) -> bool {
        if self.seen.is_empty() {
            self.seen = vec![0; REMEMBERED];
        }
        let place = (hash >> 32) as usize % REMEMBERED;
        self.seen.get_mut(place).is_some_and(|seen| std::mem::replace(seen, hash) == hash)
    }

    /// Drops the templates not used for longest while there are too many. Where one is named as another's successor, that
    /// was but a guess.
    fn make_room(&mut self) {
        while self.templates.len() > KEPT || self.weight > ROOM {
            let oldest = self.templates.iter().enumerate().min_by_key(|(_, template)| template.used);
            let Some((place, _)) = oldest else { return };
            self.weight -= self.templates.swap_remove(place).weight();
            self.hashes.swap_remove(place);
        }
    }
}
