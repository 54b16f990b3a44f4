//! The public decoder of server-sent events.

use std::sync::Mutex;

use deltafold_core::{SseDecoder, SseEvent};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

use crate::convert::number;
use crate::errors;
use crate::input::with_bytes;
use crate::values::{Value, made, value};

/// One dispatched server-sent event.
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct ServerSentEvent {
    #[pyo3(get)]
    event: Py<PyString>,
    #[pyo3(get)]
    data: Py<PyString>,
    #[pyo3(get)]
    id: Py<PyString>,
    #[pyo3(get)]
    retry: Option<Py<PyAny>>,
}

#[pymethods]
impl ServerSentEvent {
    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, ["event", "data", "id", "retry"])
    }

    #[new]
    #[pyo3(signature = (event, data, id, retry=None))]
    fn new(
        event: Py<PyString>,
        data: Py<PyString>,
        id: Py<PyString>,
        retry: Option<Py<PyAny>>,
    ) -> PyClassInitializer<Self> {
        made(Self { event, data, id, retry })
    }
}

impl ServerSentEvent {
    fn of(py: Python<'_>, event: &SseEvent) -> PyResult<Py<Self>> {
        value(
            py,
            Self {
                event: PyString::new(py, &event.event).unbind(),
                data: PyString::new(py, &event.data).unbind(),
                id: PyString::new(py, &event.id).unbind(),
                retry: event.retry.as_deref().map(|digits| retry(py, digits)).transpose()?,
            },
        )
    }
}

/// A reconnection time: digits, leading zeros allowed.
fn retry(py: Python<'_>, digits: &str) -> PyResult<Py<PyAny>> {
    number(py, digits.trim_start_matches('0').get(..).filter(|rest| !rest.is_empty()).unwrap_or("0")).map(Bound::unbind)
}

/// A strict WHATWG decoder; bytes may be cut anywhere.
#[pyclass(frozen, module = "deltafold")]
pub(crate) struct SSEDecoder {
    decoder: Mutex<SseDecoder>,
}

impl SSEDecoder {
    fn with<R>(&self, work: impl FnOnce(&mut SseDecoder) -> R) -> R {
        let mut decoder = self.decoder.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        work(&mut decoder)
    }
}

#[pymethods]
impl SSEDecoder {
    #[new]
    fn new() -> Self {
        Self { decoder: Mutex::default() }
    }

    /// Decodes what came; gives the events that it completes (S1 to S7).
    fn feed(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Vec<Py<ServerSentEvent>>> {
        match with_bytes(data, |bytes| self.with(|decoder| decoder.feed(bytes)))? {
            Ok(events) => events.iter().map(|event| ServerSentEvent::of(py, event)).collect(),
            Err(error) => Err(PyErr::from_value(errors::exception(py, &error)?)),
        }
    }

    /// The stream has ended: an unterminated tail is discarded, as the WHATWG text says (S5).
    fn close(&self, py: Python<'_>) -> PyResult<Vec<Py<ServerSentEvent>>> {
        match self.with(deltafold_core::SseDecoder::close) {
            Ok(()) => Ok(Vec::new()),
            Err(error) => Err(PyErr::from_value(errors::exception(py, &error)?)),
        }
    }

    /// What is held of an event that has not ended.
    #[getter]
    fn tail<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.with(|decoder| PyBytes::new(py, &decoder.tail()))
    }

    /// The last event id in force.
    #[getter]
    fn last_event_id(&self) -> String {
        self.with(|decoder| decoder.last_event_id().into_owned())
    }

    /// The reconnection time in force, in milliseconds, or None.
    #[getter]
    fn retry(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.with(|decoder| decoder.retry().map(str::to_owned)).map(|digits| retry(py, &digits)).transpose()
    }

    /// Comment lines seen.
    #[getter]
    fn comments(&self) -> u64 {
        self.with(|decoder| decoder.comments())
    }
}
