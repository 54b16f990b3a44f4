//! The public decoder: strict WHATWG, nothing kept of an unterminated tail.

use std::borrow::Cow;

use super::frames::{Frames, Item, Payload};
use crate::error::Error;
use crate::json::text::lossy;
use crate::policy::Limits;

/// One dispatched event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The event's name, `message` where none was given.
    pub event: String,
    /// Its data lines, joined with LF.
    pub data: String,
    /// The last event id in force.
    pub id: String,
    /// The reconnection time that this event's block set: digits, in milliseconds, of any length.
    pub retry: Option<Box<str>>,
}

/// A decoder of event streams. Bytes may be cut anywhere.
#[derive(Debug)]
pub struct SseDecoder {
    frames: Frames,
    limits: Limits,
    events: u64,
    error: Option<Error>,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self { frames: Frames::keeping_raw(), limits: Limits::default(), events: 0, error: None }
    }
}

impl SseDecoder {
    /// Decodes what came; gives the events that it completes. After a limit was passed, nothing more is decoded.
    ///
    /// # Errors
    /// The limit on a line or an event, once the events before it have been given.
    pub fn feed(&mut self, input: &[u8]) -> Result<Vec<SseEvent>, Error> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let mut events = Vec::new();
        let mut at = 0;
        while let Some(item) = self.frames.next(input, &mut at, &self.limits) {
            match item {
                Item::Event(payload) => events.push(self.event(payload, input)),
                Item::Limit(error) => {
                    self.error = Some(error.at(Some(self.events), Some(self.frames.offset())));
                    return Ok(events);
                }
                Item::ErrorLine | Item::Unknown(_) => {}
            }
        }
        self.frames.keep(input);
        Ok(events)
    }

    /// The stream has ended: an unterminated tail is discarded, as the WHATWG text says.
    ///
    /// # Errors
    /// The limit that was passed, if one was.
    pub fn close(&mut self) -> Result<(), Error> {
        self.error.clone().map_or(Ok(()), Err)
    }

    fn event(&mut self, payload: Payload, input: &[u8]) -> SseEvent {
        self.events += 1;
        let rare = self.frames.rare();
        let retry = rare.retry.clone().filter(|_| std::mem::take(&mut rare.sets_retry));
        let event = match self.frames.name.as_slice() {
            [] => "message".to_owned(),
            name => lossy(name).into_owned(),
        };
        self.frames.name.clear();
        let data = match payload {
            Payload::Input(start, end) => lossy(input.get(start..end).unwrap_or_default()).into_owned(),
            Payload::Own => lossy(&self.frames.data).into_owned(),
        };
        self.frames.release();
        SseEvent { event, data, id: self.last_event_id().into_owned(), retry }
    }

    /// The bytes that belong to no event yet: pending data lines and the line that has not ended.
    #[must_use]
    pub fn tail(&self) -> Vec<u8> {
        self.frames.tail()
    }

    /// The last event id in force: that of the last block that ended, dispatched or not.
    #[must_use]
    pub fn last_event_id(&self) -> Cow<'_, str> {
        lossy(self.frames.last_event_id())
    }

    /// The digits of the reconnection time in force, in milliseconds.
    #[must_use]
    pub fn retry(&self) -> Option<&str> {
        self.frames.retry()
    }

    /// Comment lines seen.
    #[must_use]
    pub fn comments(&self) -> u64 {
        self.frames.comments
    }
}
