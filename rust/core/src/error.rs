//! The one error type. It carries kind, frame and stream offset; glue turns it into an exception.

use crate::json::Value;
use crate::json::text::compact;

/// The classes of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// What came is not what the wire allows.
    Wire,
    /// A limit was passed (S8).
    Limit,
    /// The provider reported an error (E6).
    Provider,
    /// A call without id under `missing_id="reject"` (I12).
    MalformedToolCall,
}

/// The kinds of errors, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A payload that is no JSON object (P3).
    MalformedPayload,
    /// JSON objects of no wire that is known here (W1).
    UnknownWire,
    /// A body that is no event stream (E6).
    NotAnEventStream,
    /// A line beyond the limit.
    Line,
    /// An event beyond the limit.
    Event,
    /// More choices than the limit.
    Choices,
    /// More calls than the limit.
    Calls,
    /// More text than the limit.
    Text,
    /// JSON nested beyond the limit.
    Depth,
    /// The provider reported an error.
    ProviderError,
    /// A call that never got an id.
    MissingId,
}

impl ErrorKind {
    /// The kind's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MalformedPayload => "malformed-payload",
            Self::UnknownWire => "unknown-wire",
            Self::NotAnEventStream => "not-an-event-stream",
            Self::Line => "line",
            Self::Event => "event",
            Self::Choices => "choices",
            Self::Calls => "calls",
            Self::Text => "text",
            Self::Depth => "depth",
            Self::ProviderError => "provider-error",
            Self::MissingId => "missing-id",
        }
    }

    /// The class that the kind belongs to.
    #[must_use]
    pub const fn class(self) -> ErrorClass {
        match self {
            Self::MalformedPayload | Self::UnknownWire | Self::NotAnEventStream => ErrorClass::Wire,
            Self::Line | Self::Event | Self::Choices | Self::Calls | Self::Text | Self::Depth => ErrorClass::Limit,
            Self::ProviderError => ErrorClass::Provider,
            Self::MissingId => ErrorClass::MalformedToolCall,
        }
    }
}

/// What the provider said of its error, as sent (E6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// `type`, where it is a string.
    pub kind: Option<String>,
    /// `code`: a string, an integer, or null where it is neither.
    pub code: Value,
    /// The status: the first integer of `status_code`, `status` and `code`.
    pub status: Option<Value>,
}

/// An error of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind.
    pub kind: ErrorKind,
    /// The frame where it was found; None where no frame is at fault.
    pub frame: Option<u64>,
    /// Bytes of the stream before the first field line of that frame.
    pub offset: Option<u64>,
    /// What happened, for people.
    pub message: String,
    /// What the provider said, for [`ErrorKind::ProviderError`].
    pub provider: Option<Box<Provider>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, frame: None, offset: None, message: message.into(), provider: None }
    }

    /// The error, placed in the stream.
    pub(crate) fn at(mut self, frame: Option<u64>, offset: Option<u64>) -> Self {
        self.frame = frame;
        self.offset = offset;
        self
    }

    /// A failure of which the provider said nothing more (E6).
    pub(crate) fn failed(message: &str) -> Self {
        let provider = Provider { kind: None, code: Value::Null, status: None };
        Self { provider: Some(Box::new(provider)), ..Self::new(ErrorKind::ProviderError, message) }
    }

    /// The error that a provider's error value reports, an object or a string, given as its source text (E6).
    pub(crate) fn provider(source: &[u8], depth: usize) -> Self {
        let value = crate::json::parse(source, depth).unwrap_or(Value::Null);
        let string = |name: &str| match value.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            _ => None,
        };
        let message = match &value {
            Value::String(text) => text.clone(),
            _ => string("message").or_else(|| string("detail")).unwrap_or_else(|| compact(source)),
        };
        let code = match value.get("code") {
            Some(code @ Value::String(_)) => code.clone(),
            Some(code @ Value::Number(text)) if is_integer(text) => code.clone(),
            _ => Value::Null,
        };
        let status = ["status_code", "status", "code"].iter().find_map(|name| match value.get(name) {
            Some(status @ Value::Number(text)) if is_integer(text) => Some(status.clone()),
            _ => None,
        });
        let provider = Provider { kind: string("type"), code, status };
        Self { provider: Some(Box::new(provider)), ..Self::new(ErrorKind::ProviderError, message) }
    }
}

fn is_integer(number: &str) -> bool {
    !number.contains(['.', 'e', 'E'])
}

impl std::fmt::Display for Error {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.kind.name(), self.message)
    }
}

impl std::error::Error for Error {}
