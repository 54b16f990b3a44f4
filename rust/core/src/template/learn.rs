//! Making templates of payloads that were read, and opening holes where two of them differ.

use super::{HOLES, Hole, Leaf, NONE, SUCCESSORS, Step, Template, Text, unique};
use crate::chunk::{Arguments, FIXED, Ident, Index, Op, Span};
use crate::completion::Wire;
use crate::json::tape::{Kind, Tape};
use crate::sse::Style;
use crate::wire::members;

/// A payload longer than this is not worth a template.
const LONGEST: usize = 8 << 10;
/// Values that may become holes, at most.
const LEAVES: usize = 400;

/// A payload that was read, with what reading it gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read<'a> {
    pub(crate) wire: Wire,
    /// The name of its event.
    pub(crate) name: &'a [u8],
    pub(crate) style: Style,
    pub(crate) bytes: &'a [u8],
    pub(crate) tape: &'a Tape,
    pub(crate) ops: &'a [Op],
    /// The values that nothing was read from.
    pub(crate) ignored: &'a [u32],
}

impl Read<'_> {
    /// Whether the like of it may come again.
    pub(super) fn is_worth_it(&self) -> bool {
        self.bytes.len() <= LONGEST && !self.ops.iter().any(|op| matches!(op, Op::Error(_)))
    }

    /// The values that may be holes, in order; None where they are too many.
    pub(super) fn leaves(&self) -> Option<Vec<Leaf>> {
        let mut leaves = Vec::new();
        for op in self.ops {
            self.leaves_of(op, &mut leaves);
        }
        for &index in self.ignored {
            self.below(index, &mut leaves);
        }
        leaves.push(self.blanks()?);
        leaves.sort_unstable_by_key(|leaf| (leaf.start, !leaf.open));
        leaves.dedup_by_key(|leaf| leaf.start);
        (leaves.len() <= LEAVES).then_some(leaves)
    }

    /// The blanks before the last brace, open where they are more than somebody's style.
    fn blanks(&self) -> Option<Leaf> {
        let end = self.tape.node(0)?.end.checked_sub(1)?;
        let before = self.bytes.get(..end as usize)?;
        let start = before.iter().rposition(|byte| !matches!(byte, b' ' | b'\t'))? as u32 + 1;
        Some(Leaf { open: end - start > 1, ..leaf(start, end, Hole::Blanks) })
    }

    fn leaves_of(&self, op: &Op, leaves: &mut Vec<Leaf>) {
        let mut add = |span: Span, kind, open, steady| {
            leaves.push(Leaf { open, steady, flags: span.flags, ..leaf(span.start, span.end, kind) });
        };
        // What differs from stream to stream, or from chunk to chunk, is open from the beginning.
        match *op {
            Op::Id(span) => add(span, Hole::Filled, true, true),
            Op::Created(span) => add(span, Hole::NonZero, true, true),
            Op::Model(span) => add(span, Hole::Filled, false, true),
            Op::Finish(span) => add(span, Hole::Filled, false, false),
            Op::Text(_, span, _) | Op::Input(Arguments::Text(span)) => add(span, Hole::Filled, true, false),
            Op::Part(_, place, span) => {
                add(span, Hole::Filled, true, false);
                self.index(place, leaves);
            }
            Op::Item(index, id, _) => {
                if let Ident::Given(span) = id {
                    add(span, Hole::Filled, false, true);
                }
                self.index(index, leaves);
            }
            Op::Block(index, _) => self.index(index, leaves),
            Op::Call(delta) => {
                for ident in [delta.id, delta.name] {
                    if let Ident::Given(span) = ident {
                        add(span, Hole::Filled, false, false);
                    }
                }
                match delta.arguments {
                    Arguments::Text(span) => add(span, Hole::String, true, false),
                    Arguments::Source(span) => self.inside(span, false, leaves),
                    Arguments::Absent => {}
                }
                self.index(delta.index, leaves);
            }
            Op::Keep(_, span) => self.inside(span, true, leaves),
            Op::Usage(span, _)
            | Op::Logprobs(span)
            | Op::Message(span)
            | Op::Details(span, ..)
            | Op::Parts(span)
            | Op::CallExtra(_, span)
            | Op::DeltaExtra(_, span)
            | Op::Input(Arguments::Source(span)) => self.inside(span, false, leaves),
            Op::Choice(_) | Op::Input(Arguments::Absent) | Op::Quirk(..) | Op::Error(_) => {}
        }
    }

    /// An index that stands in the payload as most do.
    fn index(&self, index: Index, leaves: &mut Vec<Leaf>) {
        let Index::At(Span { start, end, .. }) = index else { return };
        let digits = self.bytes.get(start as usize..end as usize).unwrap_or_default();
        let is_short = digits.len() == 1 || digits.len() < 10 && !digits.starts_with(b"0");
        if is_short && digits.iter().all(u8::is_ascii_digit) {
            leaves.push(leaf(start, end, Hole::Index));
        }
    }

    /// The values in a source text that is kept as it is.
    fn inside(&self, source: Span, steady: bool, leaves: &mut Vec<Leaf>) {
        let index = self.tape.nodes().partition_point(|node| node.start < source.start);
        let from = leaves.len();
        self.below(index as u32, leaves);
        for leaf in leaves.get_mut(from..).unwrap_or_default() {
            leaf.steady = steady;
        }
    }

    /// The values at and below the node `index`.
    fn below(&self, index: u32, leaves: &mut Vec<Leaf>) {
        let Some(node) = self.tape.node(index) else { return };
        let kind = match node.kind {
            Kind::String => Hole::String,
            Kind::Number => Hole::Number,
            Kind::Array | Kind::Object => {
                let names = u32::from(node.kind == Kind::Object);
                let mut child = index + 1 + names;
                while child < node.next && leaves.len() <= LEAVES {
                    self.below(child, leaves);
                    child = self.tape.node(child).map_or(node.next, |node| node.next) + names;
                }
                return;
            }
            _ => return,
        };
        leaves.push(Leaf { flags: node.flags, ..leaf(node.start, node.end, kind) });
    }

    /// A hash of what stands outside the values, by which payloads that may resemble one another are found.
    pub(super) fn hash(&self) -> u64 {
        let mut hash = Hasher((self.name.len() as u64) << 2 | self.style as u64);
        let mut at = 0;
        for node in self.tape.nodes() {
            let is_value = match node.kind {
                Kind::String => self.bytes.get(node.end as usize + 1) != Some(&b':'),
                Kind::Number => true,
                _ => false,
            };
            if is_value {
                hash.add(self.bytes.get(at..node.start as usize).unwrap_or_default());
                at = node.end as usize;
            }
        }
        let rest = self.bytes.get(at..).unwrap_or_default();
        let blanks = rest.iter().rev().skip(1).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        hash.add(rest.get(..rest.len().saturating_sub(1 + blanks)).unwrap_or_default());
        hash.0
    }
}

/// In which steps a payload is compared.
pub(super) fn steps(holes: &[Leaf], lead: usize, length: usize) -> Box<[Step]> {
    let lively = holes.iter().enumerate().filter(|(_, leaf)| !leaf.steady);
    let steps = lively.map(|(next, leaf)| Step { end: lead as u32 + leaf.start, next: next as u32 });
    steps.chain([Step { end: length as u32, next: holes.len() as u32 }]).collect()
}

/// A value that is no hole as yet.
const fn leaf(start: u32, end: u32, kind: Hole) -> Leaf {
    Leaf { start, end, kind, open: false, steady: false, flags: 0 }
}

/// Mixes bytes into a number, eight at a time. It only has to spread what gateways send: what it finds is compared.
struct Hasher(u64);

impl Hasher {
    fn add(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in words.by_ref() {
            self.mix(word.first_chunk().copied().map_or(0, u64::from_le_bytes));
        }
        let last = words.remainder().iter().fold(bytes.len() as u64, |last, &byte| last << 8 | u64::from(byte));
        self.mix(last);
    }

    const fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Template {
    /// A template of a payload.
    pub(super) fn new(read: &Read<'_>, leaves: Vec<Leaf>) -> Option<Self> {
        let holes: Box<[Leaf]> = leaves.iter().copied().filter(|leaf| leaf.open).collect();
        if holes.len() > HOLES {
            return None;
        }
        let mut ops: Box<[Op]> = read.ops.into();
        for op in &mut ops {
            each_span(op, |span| annotate(span, &holes));
        }
        let body = ops.iter().copied().filter(|op| !is_header(op)).collect();
        let lead = read.style.lead(read.name);
        let mut template = Self {
            number: unique(),
            wire: read.wire,
            name: read.name.into(),
            style: read.style,
            depth: read.tape.depth,
            event: [&*lead, read.bytes, read.style.ending()].concat().into(),
            lead: lead.len(),
            tail: lead.len() + read.bytes.len(),
            leaves: leaves.into(),
            texts: holes.iter().map(|hole| Text::Raw(hole.flags)).collect(),
            steps: steps(&holes, lead.len(), lead.len() + read.bytes.len() + read.style.ending().len()),
            holes,
            ops,
            body,
            head: None,
            alike: 0,
            epoch: unique(),
            decides: read.wire == Wire::OpenaiChat
                && members(read.bytes, read.tape, 0).any(|(name, _)| &*name == b"choices"),
            fragment: None,
            used: 0,
            moves: false,
            misses: 0,
            next: [NONE; SUCCESSORS],
        };
        template.fragment = template.varying();
        template.head = template.head_end();
        Some(template)
    }

    /// Whether a payload that was read differs from this one in nothing but values that may be holes. Where it does,
    /// those that differ are opened in `leaves`.
    pub(super) fn resembles(&self, read: &Read<'_>, leaves: &mut [Leaf]) -> bool {
        let is_alike = self.wire == read.wire && self.style == read.style && *self.name == *read.name;
        if !is_alike || self.leaves.len() != leaves.len() {
            return false;
        }
        let (mut here, mut there) = (0, 0);
        for (own, other) in self.leaves.iter().zip(leaves.iter()) {
            let fixed = self.bytes().get(here..own.start as usize);
            if own.kind != other.kind || fixed != read.bytes.get(there..other.start as usize) {
                return false;
            }
            (here, there) = (own.end as usize, other.end as usize);
        }
        if self.bytes().get(here..) != read.bytes.get(there..) {
            return false;
        }
        for (own, other) in self.leaves.iter().zip(leaves) {
            let text = self.bytes().get(own.start as usize..own.end as usize);
            other.open |= own.open || text != read.bytes.get(other.start as usize..other.end as usize);
        }
        true
    }
}

impl Template {
    /// Whether all that is open in `leaves`, those of a payload that resembles it, is open in it.
    pub(super) fn is_open_to(&self, leaves: &[Leaf]) -> bool {
        self.leaves.iter().zip(leaves).all(|(own, other)| own.open == other.open)
    }
}

/// What is the same in all chunks of a stream as a rule.
pub(super) const fn is_header(op: &Op) -> bool {
    matches!(op, Op::Id(_) | Op::Model(_) | Op::Created(_) | Op::Keep(..))
}

/// Says of a span which holes stand before it and in it.
fn annotate(span: &mut Span, holes: &[Leaf]) {
    let before = |at: u32| holes.partition_point(|hole| hole.start < at);
    let first = before(span.start);
    let is_hole = holes.get(first).is_some_and(|hole| hole.start == span.start && hole.end == span.end);
    span.before = first as u8;
    span.upto = if is_hole { first + 1 } else { before(span.end) } as u8;
    span.hole = if is_hole { first as u8 } else { FIXED };
}

/// Every span of an operation.
pub(super) fn each_span(op: &mut Op, mut visit: impl FnMut(&mut Span)) {
    match op {
        Op::Id(span)
        | Op::Model(span)
        | Op::Created(span)
        | Op::Keep(_, span)
        | Op::Text(_, span, _)
        | Op::Parts(span)
        | Op::Logprobs(span)
        | Op::Message(span)
        | Op::Finish(span)
        | Op::Usage(span, _)
        | Op::Error(span) => visit(span),
        Op::CallExtra(name, span) | Op::DeltaExtra(name, span) => {
            visit(name);
            visit(span);
        }
        Op::Details(span, _, text) => {
            visit(span);
            if let Some(text) = text {
                visit(text);
            }
        }
        Op::Call(delta) => {
            for ident in [&mut delta.id, &mut delta.name] {
                if let Ident::Given(span) = ident {
                    visit(span);
                }
            }
            visit_index(&mut delta.index, &mut visit);
            if let Arguments::Text(span) | Arguments::Source(span) = &mut delta.arguments {
                visit(span);
            }
        }
        Op::Item(index, id, _) => {
            visit_index(index, &mut visit);
            if let Ident::Given(span) = id {
                visit(span);
            }
        }
        Op::Part(_, place, text) => {
            visit_index(place, &mut visit);
            visit(text);
        }
        Op::Input(Arguments::Text(span) | Arguments::Source(span)) => visit(span),
        Op::Block(index, _) => visit_index(index, &mut visit),
        Op::Input(Arguments::Absent) | Op::Choice(_) | Op::Quirk(..) => {}
    }
}

fn visit_index(index: &mut Index, visit: &mut impl FnMut(&mut Span)) {
    if let Index::At(span) = index {
        visit(span);
    }
}
