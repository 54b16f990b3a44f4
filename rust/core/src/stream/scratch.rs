//! Room that every assembler of a thread uses in turn, so that an idle one holds none.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use crate::chunk::Op;
use crate::json::tape::Tape;
use crate::template::Shelf;

/// The room.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) tape: Tape,
    pub(crate) ops: Vec<Op>,
    pub(crate) ignored: Vec<u32>,
    pub(crate) shelf: Shelf,
    /// The beginning of an event that was held, and what belongs to it.
    pub(crate) joined: Vec<u8>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Runs `work` with the thread's room.
pub(crate) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => work(&mut scratch),
        Err(_) => work(&mut Scratch::default()),
    })
}

/// Rooms that threads have left to others.
static LEFT: Mutex<Vec<Scratch>> = Mutex::new(Vec::new());
/// So many are kept.
const KEPT: usize = 8;

/// Runs the work of a thread that lives for no longer: it begins with what an earlier such thread learnt of the frames of
/// gateways, and leaves what it learns to a later one.
pub fn with_what_was_learnt<R>(work: impl FnOnce() -> R) -> R {
    if let Some(scratch) = LEFT.lock().unwrap_or_else(PoisonError::into_inner).pop() {
        SCRATCH.set(scratch);
    }
    let result = work();
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    if left.len() < KEPT {
        left.push(SCRATCH.take());
    }
    result
}
