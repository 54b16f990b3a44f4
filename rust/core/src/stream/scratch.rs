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
}

/// The room of threads that have ended, for those that begin: what a thread has learnt outlives it.
static LEFT: Mutex<Vec<Scratch>> = Mutex::new(Vec::new());
/// So many are kept.
const KEPT: usize = 8;

/// The room of one thread.
struct Own(Scratch);

impl Own {
    fn new() -> Self {
        Self(LEFT.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        if left.len() < KEPT {
            left.push(std::mem::take(&mut self.0));
        }
    }
}

thread_local! {
    static SCRATCH: RefCell<Own> = RefCell::new(Own::new());
}

/// Runs `work` with the thread's room.
pub(crate) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => work(&mut scratch.0),
        Err(_) => work(&mut Scratch::default()),
    })
}
