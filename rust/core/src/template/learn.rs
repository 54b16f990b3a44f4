//! Making templates of payloads that were read, and opening holes where two of them differ.

use super::{Action, HOLES, Hole, Leaf, Quick, Template};
use crate::chunk::{Arguments, CallDelta, FIXED, Ident, Index, Op, Span, View};
use crate::completion::Wire;
use crate::json::tape::{Kind, Tape};

/// A payload longer than this is not worth a template.
const LONGEST: usize = 16 << 10;
/// Values that may become holes, at most.
const LEAVES: usize = 400;

/// A payload that was read, with what reading it gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read<'a> {
    pub(crate) wire: Wire,
    /// The name of its event.
    pub(crate) name: &'a [u8],
    pub(crate) bytes: &'a [u8],
    pub(crate) tape: &'a Tape,
    pub(crate) ops: &'a [Op],
    /// The values that nothing was read from.
    pub(crate) ignored: &'a [u32],
}

impl Read<'_> {
    /// The values that may be holes, in order; None where the payload is not worth a template.
    pub(super) fn leaves(&self) -> Option<Vec<Leaf>> {
        if self.bytes.len() > LONGEST || self.ops.iter().any(|op| matches!(op, Op::Error(_))) {
            return None;
        }
        let mut leaves = Vec::new();
        for op in self.ops {
            self.leaves_of(op, &mut leaves);
        }
        for &index in self.ignored {
            self.below(index, &mut leaves);
        }
        leaves.push(self.blanks()?);
        leaves.sort_unstable_by_key(|leaf| leaf.start);
        leaves.dedup_by_key(|leaf| leaf.start);
        (leaves.len() <= LEAVES).then_some(leaves)
    }

    /// The blanks before the last brace, open where they are more than somebody's style.
    fn blanks(&self) -> Option<Leaf> {
        let end = self.tape.node(0)?.end.checked_sub(1)?;
        let before = self.bytes.get(..end as usize)?;
        let start = before.iter().rposition(|byte| !matches!(byte, b' ' | b'\t'))? as u32 + 1;
        Some(Leaf { start, end, kind: Hole::Blanks, open: end - start > 1 })
    }

    fn leaves_of(&self, op: &Op, leaves: &mut Vec<Leaf>) {
        let mut leaf = |span: Span, kind, open| {
            leaves.push(Leaf { start: span.start, end: span.end, kind, open });
        };
        match *op {
            Op::Id(span) | Op::Model(span) | Op::Finish(span) | Op::Item(_, Ident::Given(span), _) => {
                leaf(span, Hole::Filled, false);
            }
            Op::Created(span) => leaf(span, Hole::NonZero, false),
            Op::Text(_, span, _) | Op::Part(_, _, span) | Op::Input(Arguments::Text(span)) => {
                leaf(span, Hole::Filled, true);
            }
            Op::Call(delta) => {
                for ident in [delta.id, delta.name] {
                    if let Ident::Given(span) = ident {
                        leaf(span, Hole::Filled, false);
                    }
                }
                match delta.arguments {
                    Arguments::Text(span) => leaf(span, Hole::String, true),
                    Arguments::Source(span) => self.inside(span, leaves),
                    Arguments::Absent => {}
                }
            }
            Op::Keep(_, span)
            | Op::Usage(span, _)
            | Op::Logprobs(span)
            | Op::Message(span)
            | Op::Details(span, _)
            | Op::Parts(span)
            | Op::CallExtra(_, span)
            | Op::DeltaExtra(_, span)
            | Op::Input(Arguments::Source(span)) => self.inside(span, leaves),
            Op::Choice(_)
            | Op::Block(..)
            | Op::Item(..)
            | Op::Input(Arguments::Absent)
            | Op::Quirk(..)
            | Op::Error(_) => {}
        }
    }

    /// The values in a source text that is kept as it is.
    fn inside(&self, source: Span, leaves: &mut Vec<Leaf>) {
        let index = self.tape.nodes().partition_point(|node| node.start < source.start);
        self.below(index as u32, leaves);
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
        leaves.push(Leaf { start: node.start, end: node.end, kind, open: false });
    }
}

impl Template {
    /// A template of a payload. `header` numbers what it says once and for all.
    pub(super) fn new(read: &Read<'_>, leaves: Vec<Leaf>, header: impl FnOnce(Vec<u8>) -> u64) -> Option<Self> {
        let holes: Vec<Leaf> = leaves.iter().copied().filter(|leaf| leaf.open).collect();
        if holes.len() > HOLES {
            return None;
        }
        let mut ops = read.ops.to_vec();
        for op in &mut ops {
            each_span(op, |span| annotate(span, &holes));
        }
        let body: Vec<Op> = ops.iter().copied().filter(|op| !is_header(op)).collect();
        let header = said_once(read, &ops).map_or(0, header);
        let fixed = read.bytes.len() - holes.iter().map(|hole| (hole.end - hole.start) as usize).sum::<usize>();
        let quick = quick(read, &body, &holes);
        let bytes = read.bytes.into();
        Some(Self {
            wire: read.wire,
            name: read.name.into(),
            depth: read.tape.depth,
            bytes,
            leaves,
            holes,
            ops,
            body,
            header,
            fixed,
            quick,
            used: 0,
            next: 0,
        })
    }

    /// Whether a payload that was read differs from this one in nothing but values that may be holes. Where it does,
    /// those that differ are opened in `leaves`.
    pub(super) fn resembles(&self, read: &Read<'_>, leaves: &mut [Leaf]) -> bool {
        if self.wire != read.wire || *self.name != *read.name || self.leaves.len() != leaves.len() {
            return false;
        }
        let (mut here, mut there) = (0, 0);
        for (own, other) in self.leaves.iter().zip(leaves.iter()) {
            let fixed = self.bytes.get(here..own.start as usize);
            if own.kind != other.kind || fixed != read.bytes.get(there..other.start as usize) {
                return false;
            }
            (here, there) = (own.end as usize, other.end as usize);
        }
        if self.bytes.get(here..) != read.bytes.get(there..) {
            return false;
        }
        for (own, other) in self.leaves.iter().zip(leaves) {
            let text = self.bytes.get(own.start as usize..own.end as usize);
            other.open |= own.open || text != read.bytes.get(other.start as usize..other.end as usize);
        }
        true
    }
}

/// The quick form of a payload with one hole, a fragment, in which nothing else is said that is not a header. Blanks may
/// stand before its last brace.
fn quick(read: &Read<'_>, body: &[Op], holes: &[Leaf]) -> Option<Quick> {
    let (hole, blanks) = match holes {
        [hole] => (hole, None),
        [hole, blanks] if blanks.kind == Hole::Blanks => (hole, Some(blanks)),
        _ => return None,
    };
    let [Op::Choice(choice), said @ ..] = body else { return None };
    let view = View::plain(read.bytes);
    let action = match *said {
        [Op::Text(kind, span, member)] if span.hole == 0 => Action::Text(kind, member),
        [
            Op::Call(CallDelta {
                index,
                id: Ident::Absent,
                name: Ident::Absent,
                arguments: Arguments::Text(span),
                kind,
            }),
        ] if span.hole == 0 => Action::Arguments(index.read(&view)?, kind),
        [Op::Block(index, fit), Op::Part(form, place, span)] if span.hole == 0 => {
            Action::Part(index.read(&view)?, fit, form, place.read(&view).unwrap_or(0))
        }
        [Op::Block(index, fit), Op::Input(Arguments::Text(span))] if span.hole == 0 => {
            Action::Input(index.read(&view)?, fit)
        }
        _ => return None,
    };
    let (before, end): (&[u8], &[u8]) = if read.name.is_empty() { (b"", b"") } else { (b"event: ", b"\n") };
    let opening = [before, read.name, end, b"data: ", read.bytes.get(..hole.start as usize)?].concat().into();
    let whole = [read.bytes, b"\n\n"].concat();
    let closing = whole.get(hole.end as usize..blanks.map_or(whole.len(), |blanks| blanks.start as usize))?.into();
    let ending = blanks.and_then(|blanks| whole.get(blanks.end as usize..)).map(Into::into);
    Some(Quick { opening, closing, ending, choice: *choice, action })
}

/// What is the same in all chunks of a stream as a rule.
const fn is_header(op: &Op) -> bool {
    matches!(op, Op::Id(_) | Op::Model(_) | Op::Created(_) | Op::Keep(..))
}

/// What a payload says once and for all, as bytes to compare; None where a part of it may vary. That the id, the model
/// and the time are set is all that counts of them, since the first ones stand (X5).
fn said_once(read: &Read<'_>, ops: &[Op]) -> Option<Vec<u8>> {
    let mut said = Vec::new();
    for op in ops {
        match op {
            Op::Id(_) => said.push(1),
            Op::Model(_) => said.push(2),
            Op::Created(_) => said.push(3),
            Op::Keep(name, span) => {
                let raw = read.bytes.get(span.start as usize..span.end as usize)?;
                if span.before != span.upto || raw.contains(&b'\\') {
                    return None;
                }
                said.push(4);
                said.extend_from_slice(name.as_bytes());
                said.push(0);
                said.extend_from_slice(raw);
                said.push(0);
            }
            _ => {}
        }
    }
    Some(said)
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
fn each_span(op: &mut Op, mut visit: impl FnMut(&mut Span)) {
    match op {
        Op::Id(span)
        | Op::Model(span)
        | Op::Created(span)
        | Op::Keep(_, span)
        | Op::Text(_, span, _)
        | Op::Parts(span)
        | Op::Details(span, _)
        | Op::Logprobs(span)
        | Op::Message(span)
        | Op::Finish(span)
        | Op::Usage(span, _)
        | Op::Error(span) => visit(span),
        Op::CallExtra(name, span) | Op::DeltaExtra(name, span) => {
            visit(name);
            visit(span);
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
