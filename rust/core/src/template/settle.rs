//! Keeping what is steady in a template as it is in the payload last recognised, so that the next one is compared at once.

use super::learn::{each_span, steps};
use super::marks::{Marks, Text};
use super::{Leaf, Template, unique};
use crate::json::scan::flag;

impl Template {
    /// What is steady is expected to be as it is in another template, as far as the two are alike.
    pub(super) fn follow(&mut self, former: &Self) {
        let mut is_new = false;
        for (place, (leaf, other)) in self.holes.iter().zip(&former.holes).enumerate() {
            let (from, to) = (self.lead + leaf.start as usize, self.lead + leaf.end as usize);
            // What may stand in the one hole may stand in the other.
            let is_alike = leaf.steady
                && other.steady
                && (leaf.start, leaf.end, leaf.kind) == (other.start, other.end, other.kind);
            let (Some(own), Some(bytes)) = (self.event.get_mut(from..to), former.event.get(from..to)) else { break };
            let (Some(kept), Some(text)) = (self.texts.get_mut(place), former.texts.get(place)) else { break };
            if !is_alike || self.lead != former.lead {
                break;
            }
            if own != bytes {
                own.copy_from_slice(bytes);
                *kept = *text;
                is_new = true;
            }
        }
        if is_new {
            self.epoch = unique();
        }
    }

    /// What is steady is expected to be as it is in this payload from now on.
    pub(super) fn settle(&mut self, payload: &[u8], marks: &Marks) {
        let shifts = marks.shifts.get(..=self.holes.len()).unwrap_or_default();
        let is_as_long = |(leaf, shifts): (&Leaf, &[i64])| !leaf.steady || shifts.first() == shifts.last();
        if self.holes.iter().zip(shifts.windows(2)).all(is_as_long) {
            self.settle_in_place(payload, marks);
        } else if self.moves {
            self.move_to(payload, marks);
        } else {
            // One frame of a stream is not worth it.
            self.moves = true;
            return;
        }
        self.moves = false;
        self.epoch = unique();
    }

    /// The same where every steady value is as long as before.
    fn settle_in_place(&mut self, payload: &[u8], marks: &Marks) {
        let marks = marks.shifts.iter().zip(&marks.holes);
        for ((leaf, kept), (shift, text)) in self.holes.iter().zip(&mut self.texts).zip(marks) {
            let (from, to) = (leaf.start as usize, leaf.end as usize);
            let start = usize::try_from(i64::from(leaf.start) + shift).unwrap_or_default();
            let own = self.event.get_mut(self.lead + from..self.lead + to);
            if let (true, Some(own), Some(now)) = (leaf.steady, own, payload.get(start..start + (to - from))) {
                own.copy_from_slice(now);
                *kept = raw(*text);
            }
        }
    }

    /// The template becomes that of this payload, with everything in it at the places where it stands there.
    fn move_to(&mut self, payload: &[u8], marks: &Marks) {
        let shift = |at: u32, holes: usize| {
            let shift = marks.shifts.get(holes).copied().unwrap_or(0);
            u32::try_from(i64::from(at) + shift).unwrap_or(0)
        };
        let starts: Vec<u32> = self.holes.iter().map(|hole| hole.start).collect();
        for leaf in self.leaves.iter_mut().chain(&mut self.holes) {
            let before = starts.partition_point(|&start| start < leaf.start);
            let is_hole = starts.get(before) == Some(&leaf.start);
            leaf.start = shift(leaf.start, before);
            leaf.end = shift(leaf.end, before + usize::from(is_hole));
        }
        for op in self.ops.iter_mut().chain(&mut self.body) {
            each_span(op, |span| {
                span.start = shift(span.start, usize::from(span.before));
                span.end = shift(span.end, usize::from(span.upto));
            });
        }
        for (kept, text) in self.texts.iter_mut().zip(&marks.holes) {
            *kept = raw(*text);
        }
        let lead = self.event.get(..self.lead).unwrap_or_default();
        let ending = self.event.get(self.tail..).unwrap_or_default();
        self.event = [lead, payload, ending].concat().into();
        self.tail = self.lead + payload.len();
        self.steps = steps(&self.holes, self.lead, self.event.len());
        self.number = unique();
    }
}

/// A text as it stands in the payload.
const fn raw(text: Text) -> Text {
    match text {
        Text::Raw(flags) => Text::Raw(flags),
        Text::Decoded(..) => Text::Raw(flag::ESCAPED),
    }
}
