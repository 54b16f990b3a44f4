//! Departures from a wire's documentation that were tolerated, and their report (Q1).

use std::fmt::Write as _;

macro_rules! kinds {
    ($($variant:ident $name:literal $meaning:literal $effect:literal),* $(,)?) => {
        /// A kind of departure. The order is that of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum QuirkKind {
            $(#[doc = $meaning] $variant),*
        }

        impl QuirkKind {
            /// Every kind, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The kind's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// What was seen.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning),* }
            }

            /// What the fold made of it.
            #[must_use]
            pub const fn effect(self) -> &'static str {
                match self { $(Self::$variant => $effect),* }
            }
        }
    };
}

kinds! {
    UnknownField "unknown-field" "a line whose field is none of event streams" "the line is ignored",
    UnterminatedTail "unterminated-tail" "the stream ended inside an event" "kept where the payload is whole, else dropped",
    InvalidUtf8 "invalid-utf8" "bytes that are not UTF-8" "each became U+FFFD",
    DataAfterDone "data-after-done" "a payload behind the end of the stream" "not folded",
    EmptyPayload "empty-payload" "an event whose data is empty or null" "skipped",
    CommentAsData "comment-as-data" "a comment sent as data" "skipped",
    MalformedPayload "malformed-payload" "a payload that is no JSON object" "skipped on request",
    WrongType "wrong-type" "a member of a wrong type" "counts as absent",
    LoneSurrogate "lone-surrogate" "half of a surrogate pair" "became U+FFFD",
    EmptyIdentity "empty-identity" "an id or a name sent as an empty string" "what was established stays",
    NullIdentity "null-identity" "an id or a name sent as null" "what was established stays",
    IndexType "index-type" "an index sent as a string" "read as the number it holds",
    NameChanged "name-changed" "another name for a call that has one" "the established name stays",
    SharedIndex "shared-index" "several calls under one index" "told apart",
    IdChanged "id-changed" "another id for a call that has one" "the established id stays",
    IndexChanged "index-changed" "a call that goes on under another index" "put together",
    IndexMissing "index-missing" "a fragment without a usable index" "put to its call by id, name or order",
    OrphanFragment "orphan-fragment" "a fragment that no call can take" "reported with its text",
    CallRepeated "call-repeated" "a whole call sent again under another index" "dropped",
    DuplicateId "duplicate-id" "two calls with one id" "both stand",
    SyntheticId "synthetic-id" "a call that never got an id" "its id is made from its position",
    ArgumentsType "arguments-type" "arguments sent as JSON instead of a string" "taken as their source text",
    ArgumentsRepeated "arguments-repeated" "arguments sent cumulatively or twice" "invalid as sent; recovered() gives the last",
    FinishRepeated "finish-repeated" "several differing finish reasons" "the last one stands",
    DeltaAfterFinish "delta-after-finish" "text or a call behind the finish reason" "folded all the same",
    NoDone "no-done" "no end marker behind the finish reasons" "the finish reasons prove the end",
    StreamCut "stream-cut" "neither a finish reason for every choice nor an end marker" "the completion counts as cut",
    FinishStopWithCalls "finish-stop-with-calls" "finish reason \"stop\" with calls" "both stay visible",
    SnapshotDiffers "snapshot-differs" "a final value that differs from its fragments" "the final value stands",
}

/// One kind of departure in one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quirk {
    /// The kind.
    pub kind: QuirkKind,
    /// How often it was seen.
    pub count: u64,
    /// The frame where it was seen first; None where the end showed it.
    pub frame: Option<u64>,
    /// The choice where it was seen first.
    pub choice: Option<i64>,
    /// The position of the call where it was seen first.
    pub call: Option<usize>,
    /// A word for people.
    pub detail: String,
}

/// What has been reported so far. Reporting never changes what is folded.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuirkLog {
    seen: Vec<Quirk>,
    /// The frame being folded; None at the end of the stream.
    pub(crate) frame: Option<u64>,
}

/// Where a quirk was seen, beside its frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub(crate) choice: Option<i64>,
    pub(crate) call: Option<usize>,
}

/// The longest detail that is kept, in characters.
const DETAIL: usize = 80;

impl QuirkLog {
    #[inline]
    pub(crate) fn report(&mut self, kind: QuirkKind, place: Place, detail: impl FnOnce() -> String) {
        self.report_at(self.frame, kind, place, detail);
    }

    pub(crate) fn report_at(
        &mut self,
        frame: Option<u64>,
        kind: QuirkKind,
        place: Place,
        detail: impl FnOnce() -> String,
    ) {
        if let Some(quirk) = self.seen.iter_mut().find(|quirk| quirk.kind == kind) {
            quirk.count += 1;
            return;
        }
        let detail = shortened(&detail());
        self.seen.push(Quirk { kind, count: 1, frame, choice: place.choice, call: place.call, detail });
    }

    pub(crate) fn has(&self, kind: QuirkKind) -> bool {
        self.seen.iter().any(|quirk| quirk.kind == kind)
    }

    /// The report, in order of first sight and then of the table (Q1).
    pub(crate) fn sorted(&self) -> Vec<Quirk> {
        let mut quirks = self.seen.clone();
        quirks.sort_by_key(|quirk| (quirk.frame.unwrap_or(u64::MAX), quirk.kind));
        quirks
    }
}

fn shortened(detail: &str) -> String {
    let mut short: String = detail.chars().take(DETAIL).collect();
    let rest = detail.len() - short.len();
    if rest > 0 {
        let _ = write!(short, "... ({rest} bytes more)");
    }
    short
}
