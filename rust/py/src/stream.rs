//! What the values of one stream have in common.

use std::sync::Arc;

use deltafold_core as core;

use crate::partial::Readings;

/// The stream that a value is of.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// How deep values may nest (S8).
    pub(crate) depth: usize,
    /// What was read of its calls, for snapshots. The result is read when it is asked for, and keeps nothing else alive.
    pub(crate) readings: Option<Arc<Readings>>,
}

impl Stream {
    /// One of which all is there.
    pub(crate) const fn whole(depth: usize) -> Self {
        Self { depth, readings: None }
    }
}

/// That of values made by hand.
impl Default for Stream {
    fn default() -> Self {
        Self::whole(core::Limits::default().depth)
    }
}
