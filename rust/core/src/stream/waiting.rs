//! Payloads that came before the wire was known (W1).

/// Payloads kept at most.
pub(crate) const KEPT: usize = 64;

/// One payload, and where it stood.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) payload: Vec<u8>,
    pub(crate) name: Vec<u8>,
    pub(crate) frame: u64,
    pub(crate) offset: Option<u64>,
}

/// The payloads that wait.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) payloads: Vec<Kept>,
}
