//! A JSON text as a flat list of nodes: one pass over the bytes, strict RFC 8259, nothing decoded or copied.

use std::cell::Cell;

use super::scan;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    True,
    False,
    Number,
    String,
    Array,
    Object,
}

/// One value or member name. `start..end` is its text, for a string what stands between the quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The node behind this one and all it holds.
    pub(crate) next: u32,
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
}

/// Why a text was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Not JSON from this position on, with what is wrong there.
    Malformed(usize, &'static str),
    /// More levels than allowed (S8), at this position.
    Deep(usize),
}

/// The nodes of one text. An object's children are name, value, name, value ...
#[derive(Debug, Default)]
pub(crate) struct Tape {
    nodes: Vec<Node>,
    open: Vec<u32>,
    /// Flags of all strings together.
    pub(crate) flags: u8,
    /// The most levels that were open at once.
    pub(crate) depth: usize,
}

thread_local! {
    static SPARE: Cell<Tape> = const { Cell::new(Tape::new()) };
}

/// Runs `work` with a tape that earlier work of the thread has made room for.
pub(crate) fn with_spare<R>(work: impl FnOnce(&mut Tape) -> R) -> R {
    let mut tape = SPARE.take();
    let result = work(&mut tape);
    tape.shrink();
    SPARE.set(tape);
    result
}

/// A tape of more nodes than this is given back after use, so that one odd payload does not stay in memory.
const KEPT_NODES: usize = 4096;

impl Tape {
    const fn new() -> Self {
        Self { nodes: Vec::new(), open: Vec::new(), flags: 0, depth: 0 }
    }

    pub(crate) fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize)
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Drops what an unusually large payload left behind.
    pub(crate) fn shrink(&mut self) {
        if self.nodes.capacity() > KEPT_NODES {
            *self = Self::default();
        }
    }

    /// Reads `bytes` whole. After an error the tape holds no usable nodes.
    pub(crate) fn read(&mut self, bytes: &[u8], depth: usize) -> Result<(), Fault> {
        self.nodes.clear();
        self.open.clear();
        self.flags = 0;
        self.depth = 0;
        let mut at = scan::skip_space(bytes, 0);
        loop {
            at = match bytes.get(at) {
                Some(b'{') => {
                    self.open(Kind::Object, at, depth)?;
                    let inside = scan::skip_space(bytes, at + 1);
                    if bytes.get(inside) != Some(&b'}') {
                        at = self.name(bytes, inside)?;
                        continue;
                    }
                    inside
                }
                Some(b'[') => {
                    self.open(Kind::Array, at, depth)?;
                    let inside = scan::skip_space(bytes, at + 1);
                    if bytes.get(inside) != Some(&b']') {
                        at = inside;
                        continue;
                    }
                    inside
                }
                _ => self.scalar(bytes, at)?,
            };
            match self.after_value(bytes, at)? {
                Some(next) => at = next,
                None => return Ok(()),
            }
        }
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize, flags: u8) {
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { start: start as u32, end: end as u32, next, kind, flags });
    }

    /// Reads a scalar; gives the position behind it.
    #[inline]
    fn scalar(&mut self, bytes: &[u8], at: usize) -> Result<usize, Fault> {
        match bytes.get(at) {
            Some(b'"') => self.string(bytes, at),
            Some(b't') => self.literal(bytes, at, b"true", Kind::True),
            Some(b'f') => self.literal(bytes, at, b"false", Kind::False),
            Some(b'n') => self.literal(bytes, at, b"null", Kind::Null),
            Some(b'-' | b'0'..=b'9') => {
                let end = scan::number(bytes, at).map_err(|at| Fault::Malformed(at, "a digit is missing"))?;
                self.push(Kind::Number, at, end, 0);
                Ok(end)
            }
            Some(_) => Err(Fault::Malformed(at, "no JSON value starts here")),
            None => Err(Fault::Malformed(at, "it ends where a value is due")),
        }
    }

    #[inline]
    fn string(&mut self, bytes: &[u8], at: usize) -> Result<usize, Fault> {
        match scan::string(bytes, at + 1) {
            Ok((end, flags)) => {
                self.flags |= flags;
                self.push(Kind::String, at + 1, end, flags);
                Ok(end + 1)
            }
            Err(at) if at >= bytes.len() => Err(Fault::Malformed(at, "it ends inside a string")),
            Err(at) => Err(Fault::Malformed(at, "a control character or a bad escape in a string")),
        }
    }

    fn literal(&mut self, bytes: &[u8], at: usize, word: &[u8], kind: Kind) -> Result<usize, Fault> {
        if bytes.get(at..at + word.len()) == Some(word) {
            self.push(kind, at, at + word.len(), 0);
            Ok(at + word.len())
        } else {
            Err(Fault::Malformed(at, "no JSON value starts here"))
        }
    }

    fn open(&mut self, kind: Kind, at: usize, depth: usize) -> Result<(), Fault> {
        if self.open.len() >= depth {
            return Err(Fault::Deep(at));
        }
        self.open.push(self.nodes.len() as u32);
        self.depth = self.depth.max(self.open.len());
        self.push(kind, at, at, 0);
        Ok(())
    }

    /// Reads a member name and its colon; gives where the value starts.
    #[inline]
    fn name(&mut self, bytes: &[u8], at: usize) -> Result<usize, Fault> {
        if bytes.get(at) != Some(&b'"') {
            return Err(Fault::Malformed(at, "a member name is due"));
        }
        let colon = scan::skip_space(bytes, self.string(bytes, at)?);
        if bytes.get(colon) != Some(&b':') {
            return Err(Fault::Malformed(colon, "a colon is due"));
        }
        Ok(scan::skip_space(bytes, colon + 1))
    }

    /// Closes what ends at `at`; gives where the next value of an open container starts, or None at the end of the text.
    #[inline]
    fn after_value(&mut self, bytes: &[u8], mut at: usize) -> Result<Option<usize>, Fault> {
        loop {
            at = scan::skip_space(bytes, at);
            let Some(&container) = self.open.last() else {
                return if at == bytes.len() {
                    Ok(None)
                } else {
                    Err(Fault::Malformed(at, "more follows the end of the value"))
                };
            };
            let is_object = self.nodes.get(container as usize).is_some_and(|node| node.kind == Kind::Object);
            match bytes.get(at) {
                Some(b',') if is_object => return self.name(bytes, scan::skip_space(bytes, at + 1)).map(Some),
                Some(b',') => return Ok(Some(scan::skip_space(bytes, at + 1))),
                Some(b'}') if is_object => self.close(at + 1),
                Some(b']') if !is_object => self.close(at + 1),
                Some(_) => return Err(Fault::Malformed(at, "a comma or the end of the list or object is due")),
                None => return Err(Fault::Malformed(at, "it ends before its last bracket")),
            }
            at += 1;
        }
    }

    fn close(&mut self, end: usize) {
        let next = self.nodes.len() as u32;
        if let Some(node) = self.open.pop().and_then(|index| self.nodes.get_mut(index as usize)) {
            node.end = end as u32;
            node.next = next;
        }
    }
}
