//! The choices that the contract leaves open (I12) and the limits (S8).

/// Which accepted id and name of a call stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Identity {
    /// The first one; later ones that differ are reported.
    #[default]
    First,
    /// The last one; starts wait for the call's end.
    Last,
}

/// What several calls under one index come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SharedIndex {
    /// A new call, by the table of I4.
    #[default]
    Split,
    /// A usable index alone decides.
    Merge,
}

/// What a call comes to that never got an id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingId {
    /// It gets `call-{position}` (I10).
    #[default]
    Synthesize,
    /// Its id stays empty.
    Empty,
    /// The stream ends in an error.
    Reject,
}

/// What becomes of a payload that is no JSON object (P3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Malformed {
    /// An error.
    #[default]
    Raise,
    /// It is skipped and reported.
    Skip,
}

/// The open choices of the fold (I12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Which accepted id and name stands.
    pub identity: Identity,
    /// What several calls under one index come to.
    pub shared_index: SharedIndex,
    /// What a call without id comes to.
    pub missing_id: MissingId,
}

impl Policy {
    /// What `DeepSeek` Harness 0.1.5 does.
    #[must_use]
    pub const fn harness() -> Self {
        Self { identity: Identity::Last, shared_index: SharedIndex::Merge, missing_id: MissingId::Empty }
    }
}

/// Sizes past which a stream is refused (S8). A value of exactly the limit passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one line.
    pub line: usize,
    /// Bytes of the joined data of one event.
    pub event: usize,
    /// Choices of a response.
    pub choices: usize,
    /// Calls of a response.
    pub calls: usize,
    /// Bytes of text kept in all, extras included.
    pub text: usize,
    /// Levels of JSON.
    pub depth: usize,
}

impl Limits {
    /// A payload is addressed with 32 bits; a line or an event beyond this is refused whatever the limits say.
    pub const ADDRESSABLE: usize = 0xffff_0000;
    /// JSON beyond this many levels is refused whatever the limits say.
    pub const LEVELS: usize = 1024;

    /// The limits as they can be kept.
    #[must_use]
    pub(crate) fn bounded(self) -> Self {
        Self {
            line: self.line.min(Self::ADDRESSABLE),
            event: self.event.min(Self::ADDRESSABLE),
            depth: self.depth.min(Self::LEVELS),
            ..self
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 32 << 20, event: 32 << 20, choices: 128, calls: 4096, text: 512 << 20, depth: 128 }
    }
}
