//! Whether bytes that come in pieces are UTF-8, where nothing of them is kept (S6).

/// Checks a run of bytes cut anywhere; holds at most the three bytes of a character that goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Utf8Check {
    held: [u8; 4],
    len: usize,
}

impl Utf8Check {
    /// Whether the run is valid so far, the character that may go on included.
    pub(crate) fn accept(&mut self, mut bytes: &[u8]) -> bool {
        while self.len > 0 {
            let Some((&first, rest)) = bytes.split_first() else {
                return true;
            };
            let Some(slot) = self.held.get_mut(self.len) else {
                return false;
            };
            *slot = first;
            self.len += 1;
            bytes = rest;
            match std::str::from_utf8(self.held.get(..self.len).unwrap_or_default()) {
                Ok(_) => self.len = 0,
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return self.fail(),
            }
        }
        match std::str::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) if error.error_len().is_none() => {
                let tail = bytes.get(error.valid_up_to()..).unwrap_or_default();
                for (slot, &byte) in self.held.iter_mut().zip(tail) {
                    *slot = byte;
                }
                self.len = tail.len();
                true
            }
            Err(_) => self.fail(),
        }
    }

    /// Whether the run may end here.
    pub(crate) fn finish(&mut self) -> bool {
        std::mem::take(&mut self.len) == 0
    }

    fn fail(&mut self) -> bool {
        self.len = 0;
        false
    }
}
