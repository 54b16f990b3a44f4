//! The events, as small immutable Python objects.

use deltafold_core as core;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::convert::{members, object};
use crate::stream::Stream;
use crate::tool_call::ToolCall;
use crate::values::{Value, made, value};

macro_rules! text_event {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        #[pyclass(frozen, extends = Value, module = "deltafold")]
        pub(crate) struct $name {
            #[pyo3(get)]
            choice: i64,
            #[pyo3(get)]
            text: Py<PyString>,
        }

        #[pymethods]
        impl $name {
            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
                PyTuple::new(py, ["choice", "text"])
            }

            #[new]
            fn new(choice: i64, text: Py<PyString>) -> PyClassInitializer<Self> {
                made(Self { choice, text })
            }
        }
    };
}

text_event!(TextDelta, "More of a choice's answer: `text` is never empty (X1).");
text_event!(ReasoningDelta, "More of a choice's reasoning: `text` is never empty (X1).");
text_event!(RefusalDelta, "More of a choice's refusal: `text` is never empty (X1).");

/// A call is identified; the identity shown here never changes (I11). `call` is its position.
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct ToolCallStart {
    #[pyo3(get)]
    choice: i64,
    #[pyo3(get)]
    call: usize,
    #[pyo3(get)]
    id: Py<PyString>,
    #[pyo3(get)]
    name: Py<PyString>,
}

#[pymethods]
impl ToolCallStart {
    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, ["choice", "call", "id", "name"])
    }

    #[new]
    fn new(choice: i64, call: usize, id: Py<PyString>, name: Py<PyString>) -> PyClassInitializer<Self> {
        made(Self { choice, call, id, name })
    }
}

/// More of a call's arguments (A1): `arguments` is never empty and comes after the call's start.
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct ToolCallDelta {
    #[pyo3(get)]
    choice: i64,
    #[pyo3(get)]
    call: usize,
    #[pyo3(get)]
    arguments: Py<PyString>,
}

#[pymethods]
impl ToolCallDelta {
    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, ["choice", "call", "arguments"])
    }

    #[new]
    fn new(choice: i64, call: usize, arguments: Py<PyString>) -> PyClassInitializer<Self> {
        made(Self { choice, call, arguments })
    }
}

/// A call is over (A3); `tool_call` is the whole of it.
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct ToolCallEnd {
    #[pyo3(get)]
    choice: i64,
    #[pyo3(get)]
    call: usize,
    #[pyo3(get)]
    tool_call: Py<ToolCall>,
}

#[pymethods]
impl ToolCallEnd {
    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, ["choice", "call", "tool_call"])
    }

    #[new]
    fn new(choice: i64, call: usize, tool_call: Py<ToolCall>) -> PyClassInitializer<Self> {
        made(Self { choice, call, tool_call })
    }
}

/// A finish reason that differs from the one that stood (E1), raw.
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct Finish {
    #[pyo3(get)]
    choice: i64,
    #[pyo3(get)]
    reason: Py<PyString>,
}

#[pymethods]
impl Finish {
    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, ["choice", "reason"])
    }

    #[new]
    fn new(choice: i64, reason: Py<PyString>) -> PyClassInitializer<Self> {
        made(Self { choice, reason })
    }
}

/// Token counts as sent (U1); the last one stands.
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct Usage {
    usage: core::Value,
}

#[pymethods]
impl Usage {
    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, ["usage"])
    }

    #[new]
    fn new(usage: &Bound<'_, PyDict>) -> PyResult<PyClassInitializer<Self>> {
        Ok(made(Self { usage: core::Value::Object(members(usage)?) }))
    }

    /// The usage object.
    #[getter]
    fn usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self.usage.plain() {
            core::Value::Object(usage) => object(py, usage),
            _ => Ok(PyDict::new(py)),
        }
    }
}

/// The Python object of an event.
pub(crate) fn to_python(py: Python<'_>, event: &core::Event<'_>, depth: usize) -> PyResult<Py<PyAny>> {
    let string = |text: &str| PyString::new(py, text).unbind();
    let fragment = |fragment: core::Fragment<'_>| PyString::from_bytes(py, fragment.0).map(Bound::unbind);
    Ok(match *event {
        core::Event::TextDelta(choice, text) => value(py, TextDelta { choice, text: fragment(text)? })?.into_any(),
        core::Event::ReasoningDelta(choice, text) => {
            value(py, ReasoningDelta { choice, text: fragment(text)? })?.into_any()
        }
        core::Event::RefusalDelta(choice, text) => {
            value(py, RefusalDelta { choice, text: fragment(text)? })?.into_any()
        }
        core::Event::ToolCallStart(choice, call, id, name) => {
            value(py, ToolCallStart { choice, call, id: string(id), name: string(name) })?.into_any()
        }
        core::Event::ToolCallDelta(choice, call, text) => {
            value(py, ToolCallDelta { choice, call, arguments: fragment(text)? })?.into_any()
        }
        core::Event::ToolCallEnd(choice, call, tool_call) => {
            let tool_call = value(py, ToolCall::of(tool_call.clone(), Stream::whole(depth)))?;
            value(py, ToolCallEnd { choice, call, tool_call })?.into_any()
        }
        core::Event::Finish(choice, reason) => value(py, Finish { choice, reason: string(reason) })?.into_any(),
        core::Event::Usage(usage) => value(py, Usage { usage: usage.clone() })?.into_any(),
    })
}
