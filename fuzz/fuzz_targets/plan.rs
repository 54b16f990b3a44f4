//! How the streams of an input are folded and cut.

use deltafold_core::{Identity, Limits, Malformed, MissingId, Options, Policy, SharedIndex, Wire};

/// The options and the cuts of an input, chosen by its first [`Plan::LENGTH`] bytes. Zeros are the defaults, byte by byte.
#[derive(Debug)]
pub(crate) struct Plan {
    wire: Option<Wire>,
    policy: Policy,
    malformed: Malformed,
    limits: Limits,
    cuts: u8,
}

impl Plan {
    pub(crate) const LENGTH: usize = 3;

    /// The plan, and the bytes behind it.
    pub(crate) fn read(input: &[u8]) -> Option<(Self, &[u8])> {
        let (&[choices, limits, cuts], rest) = input.split_first_chunk::<{ Self::LENGTH }>()?;
        let wires = [None, Some(Wire::OpenaiChat), Some(Wire::AnthropicMessages), Some(Wire::OpenaiResponses)];
        let missing = [MissingId::Synthesize, MissingId::Empty, MissingId::Reject, MissingId::Synthesize];
        let is_set = |bit: u8| choices >> bit & 1 == 1;
        let policy = Policy {
            identity: if is_set(2) { Identity::Last } else { Identity::First },
            shared_index: if is_set(3) { SharedIndex::Merge } else { SharedIndex::Split },
            missing_id: missing[usize::from(choices >> 4 & 3)],
        };
        let malformed = if is_set(6) { Malformed::Skip } else { Malformed::Raise };
        let plan = Self { wire: wires[usize::from(choices & 3)], policy, malformed, limits: small(limits), cuts };
        Some((plan, rest))
    }

    pub(crate) fn options(&self, fast: bool) -> Options {
        Options {
            wire: self.wire,
            policy: self.policy,
            limits: self.limits,
            malformed: self.malformed,
            coalesce: false,
            events: true,
            fast,
        }
    }

    /// The sizes of the pieces, others in each round.
    pub(crate) fn sizes(&self, round: u64) -> Sizes {
        Sizes { largest: [0, 1, 7, 64, 700][usize::from(self.cuts) % 5], state: u64::from(self.cuts) + round * 256 }
    }
}

/// Limits that streams of some kilobytes reach, for the bits that are set.
fn small(bits: u8) -> Limits {
    let all = Limits::default();
    let limit = |bit: u8, small: usize, large: usize| if bits >> bit & 1 == 1 { small } else { large };
    Limits {
        line: limit(0, 256, all.line),
        event: limit(1, 240, all.event),
        choices: limit(2, 1, all.choices),
        calls: limit(3, 2, all.calls),
        text: limit(4, 64, limit(6, 512, all.text)),
        depth: limit(5, 4, limit(7, 6, all.depth)),
    }
}

/// Sizes of pieces, up to the largest; where that is 0 there is one piece.
pub(crate) struct Sizes {
    largest: usize,
    state: u64,
}

impl Sizes {
    /// The piece that `rest` begins with.
    pub(crate) fn first_of<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        if self.largest == 0 {
            return rest;
        }
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let size = 1 + (self.state >> 33) as usize % self.largest;
        &rest[..size.min(rest.len())]
    }
}
