//! The core's error as an exception of the shared layer.

use deltafold_core::{Error, ErrorClass};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::optional;
use crate::shared;

/// The exception that `error` is, without its partial result.
pub(crate) fn exception<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    let class = match error.kind.class() {
        ErrorClass::Wire => "WireError",
        ErrorClass::Limit => "LimitError",
        ErrorClass::Provider => "ProviderError",
        ErrorClass::MalformedToolCall => "MalformedToolCall",
    };
    let members = PyDict::new(py);
    members.set_item("kind", error.kind.name())?;
    members.set_item("frame", error.frame)?;
    members.set_item("offset", error.offset)?;
    if let Some(provider) = &error.provider {
        members.set_item("type", provider.kind.as_deref())?;
        members.set_item("code", optional(py, Some(&provider.code))?)?;
        members.set_item("status", optional(py, provider.status.as_ref())?)?;
    }
    shared(py, "deltafold.errors", class)?.call((&error.message,), Some(&members))
}
