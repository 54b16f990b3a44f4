//! How a server writes its events.

/// What stands between the parts of an event: a blank behind each colon or none, LF or CRLF behind each line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    #[default]
    Usual,
    Tight,
    Crlf,
    TightCrlf,
}

impl Style {
    pub(crate) const fn of(is_tight: bool, has_cr: bool) -> Self {
        match (is_tight, has_cr) {
            (false, false) => Self::Usual,
            (true, false) => Self::Tight,
            (false, true) => Self::Crlf,
            (true, true) => Self::TightCrlf,
        }
    }

    /// What stands before the data of an event of that name.
    pub(crate) fn lead(self, name: &[u8]) -> Vec<u8> {
        let (colon, end): (&[u8], &[u8]) = match self {
            Self::Usual => (b": ", b"\n"),
            Self::Tight => (b":", b"\n"),
            Self::Crlf => (b": ", b"\r\n"),
            Self::TightCrlf => (b":", b"\r\n"),
        };
        let named = if name.is_empty() { Vec::new() } else { [b"event", colon, name, end].concat() };
        [&*named, b"data", colon].concat()
    }

    /// What stands behind them.
    pub(crate) const fn ending(self) -> &'static [u8] {
        match self {
            Self::Usual | Self::Tight => b"\n\n",
            Self::Crlf | Self::TightCrlf => b"\r\n\r\n",
        }
    }
}
