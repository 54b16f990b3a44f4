//! Room that every assembler of a thread uses in turn, so that an idle one holds none.

use std::cell::RefCell;

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
