//! Keeping what is steady in a template as it is in the payload last recognised, so that the next one is compared at once.

use super::learn::{each_span, is_header, steps};
use super::marks::{Marks, Text};
use super::{Hole, Leaf, Template, unique};
use crate::chunk::{Op, View};
use crate::json::scan::flag;

impl Template {
    /// Where all that is steady stands before the first hole that is not: the position in the event behind it.
    pub(super) fn head_end(&self) -> Option<usize> {
        let first = self.holes.iter().find(|leaf| !leaf.steady).map_or(u32::MAX, |leaf| leaf.start);
        let mut end = self.holes.iter().filter(|leaf| leaf.steady).map(|leaf| leaf.end).max().unwrap_or(0);
        for op in self.ops.iter().filter(|op| is_header(op)) {
            let mut op = *op;
            each_span(&mut op, |span| end = end.max(span.end));
        }
        (end <= first).then_some(self.lead + end as usize)
    }

    /// What is steady is expected to be as it is in another template, where it is as long there.
    pub(super) fn follow(&mut self, former: &Self) {
        if self.alike == former.number {
            return self.follow_alike(former);
        }
        let mut is_new = false;
        let others = former.holes.iter().zip(&former.texts).filter(|(leaf, _)| leaf.steady);
        let own = self.holes.iter().zip(&mut self.texts).filter(|(leaf, _)| leaf.steady);
        for ((leaf, kept), (other, text)) in own.zip(others) {
            let place = |lead: usize, leaf: &Leaf| lead + leaf.start as usize..lead + leaf.end as usize;
            let bytes = former.event.get(place(former.lead, other));
            let (Some(own), Some(bytes)) = (self.event.get_mut(place(self.lead, leaf)), bytes) else { continue };
            // What may stand in the one hole may stand in the other.
            if leaf.kind == other.kind && own.len() == bytes.len() && own != bytes {
                own.copy_from_slice(bytes);
                *kept = *text;
                is_new = true;
            }
        }
        if self.begins_as(former) {
            self.alike = former.number;
            self.epoch = former.epoch;
        } else if self.says_as(former) {
            self.epoch = former.epoch;
        } else if is_new {
            self.epoch = unique();
        }
    }

    /// The same for one that was found to begin alike.
    fn follow_alike(&mut self, former: &Self) {
        let head = self.head.unwrap_or(0);
        if let (Some(own), Some(bytes)) = (self.event.get_mut(..head), former.event.get(..head)) {
            own.copy_from_slice(bytes);
        }
        let steady = self.holes.iter().zip(&mut self.texts).zip(&former.texts).take_while(|((leaf, _), _)| leaf.steady);
        steady.for_each(|((_, own), text)| *own = *text);
        self.epoch = former.epoch;
    }

    /// Whether all that both say once and for all stands at the same places, in the same holes, and is the same.
    fn begins_as(&self, other: &Self) -> bool {
        let is_same = self.head.is_some()
            && (self.head, self.lead, self.wire) == (other.head, other.lead, other.wire)
            && self.steady().eq(other.steady());
        let (Some(head), true) = (self.head, is_same) else { return false };
        let mut ops = other.ops.iter().filter(|op| is_header(op));
        let is_alike = |op: &Op| match (op, ops.next()) {
            (Op::Id(span), Some(Op::Id(there)))
            | (Op::Model(span), Some(Op::Model(there)))
            | (Op::Created(span), Some(Op::Created(there))) => (span.start, span.end) == (there.start, there.end),
            (Op::Keep(name, span), Some(Op::Keep(other, there))) => {
                name == other && (span.start, span.end) == (there.start, there.end)
            }
            _ => false,
        };
        self.event.get(..head) == other.event.get(..head)
            && self.ops.iter().filter(|op| is_header(op)).all(is_alike)
            && ops.next().is_none()
    }

    /// The places and kinds of the steady holes that come first.
    fn steady(&self) -> impl Iterator<Item = (u32, u32, Hole)> {
        self.holes.iter().take_while(|leaf| leaf.steady).map(|leaf| (leaf.start, leaf.end, leaf.kind))
    }

    /// Whether it says the same once and for all as another template.
    fn says_as(&self, other: &Self) -> bool {
        let (own, others) = (View::plain(self.bytes()), View::plain(other.bytes()));
        let mut ops = other.ops.iter().filter(|op| is_header(op));
        let is_same = self.ops.iter().filter(|op| is_header(op)).all(|op| match (op, ops.next()) {
            (Op::Keep(name, span), Some(Op::Keep(other, there))) if name == other => {
                own.raw(*span) == others.raw(*there)
            }
            (Op::Id(span), Some(Op::Id(there)))
            | (Op::Model(span), Some(Op::Model(there)))
            | (Op::Created(span), Some(Op::Created(there))) => own.raw(*span) == others.raw(*there),
            _ => false,
        });
        is_same && ops.next().is_none() && self.wire == other.wire
    }

    /// What is steady is expected to be as it is in this payload from now on; says whether it is.
    pub(super) fn settle(&mut self, payload: &[u8], marks: &Marks) -> bool {
        let shifts = marks.shifts.get(..=self.holes.len()).unwrap_or_default();
        let is_as_long = |(leaf, shifts): (&Leaf, &[i64])| !leaf.steady || shifts.first() == shifts.last();
        if self.holes.iter().zip(shifts.windows(2)).all(is_as_long) {
            self.settle_in_place(payload, marks);
        } else if self.moves {
            self.move_to(payload, marks);
        } else {
            // One frame of a stream is not worth it.
            self.moves = true;
            return false;
        }
        self.moves = false;
        self.epoch = unique();
        true
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
        self.head = self.head_end();
        self.alike = 0;
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
