//! The result, as an immutable Python object over the core's value. What is more than a member is the
//! shared layer's, which works on the values of both engines.

use std::sync::{Arc, OnceLock};

use deltafold_core as core;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::choice::Choice;
use crate::convert::{from_python, members, object, one_of, optional, to_python};
use crate::quirk::{Quirk, quirk_of};
use crate::shared;
use crate::stream::Stream;
use crate::tool_call::ToolCall;
use crate::values::{Value, made, value};

const ENDS: [(&str, core::End); 4] =
    [("open", core::End::Open), ("done", core::End::Done), ("finished", core::End::Finished), ("cut", core::End::Cut)];

/// A response: everything that came, how it ended (E3), what failed (E6), what was odd (Q1).
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct Completion {
    completion: Arc<core::Completion>,
    stream: Stream,
    choices: PyOnceLock<Py<PyTuple>>,
    error: OnceLock<Py<PyAny>>,
}

impl Completion {
    pub(crate) const fn of(completion: Arc<core::Completion>, stream: Stream) -> Self {
        Self { completion, stream, choices: PyOnceLock::new(), error: OnceLock::new() }
    }

    /// Attaches the exception that the stream ended in.
    pub(crate) fn attach(&self, error: Py<PyAny>) {
        let _ = self.error.set(error);
    }

    fn first(&self) -> Option<&core::Choice> {
        self.completion.choices.iter().find(|choice| choice.index == 0)
    }
}

#[pymethods]
impl Completion {
    #[new]
    #[pyo3(signature = (wire, id, model, created, choices, usage, end, error, quirks, blocks=None, extra=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        wire: &str,
        id: Option<String>,
        model: Option<String>,
        created: &Bound<'_, PyAny>,
        choices: Vec<Bound<'_, Choice>>,
        usage: Option<&Bound<'_, PyDict>>,
        end: &str,
        error: Option<Py<PyAny>>,
        quirks: Vec<Bound<'_, Quirk>>,
        blocks: Option<&Bound<'_, PyTuple>>,
        extra: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let blocks = match blocks.map(|blocks| from_python(blocks)).transpose()? {
            Some(core::Value::Array(blocks)) => blocks,
            _ => Vec::new(),
        };
        let completion = core::Completion {
            wire: core::Wire::named(wire),
            id,
            model,
            created: Some(from_python(created)?).filter(|created| *created != core::Value::Null),
            choices: choices.iter().map(|choice| choice.get().choice.clone()).collect(),
            usage: usage.map(|usage| members(usage).map(core::Value::Object)).transpose()?,
            end: one_of("end", end, &ENDS)?,
            error: None,
            quirks: quirks.iter().filter_map(|quirk| quirk_of(quirk)).collect(),
            blocks,
            extra: extra.map_or_else(|| Ok(core::Members::new()), members)?,
        };
        let completion = Self::of(Arc::new(completion), Stream::default());
        if let Some(error) = error {
            completion.attach(error);
        }
        Ok(made(completion))
    }

    /// The wire; "auto" as long as no payload decided.
    #[getter]
    fn wire(&self) -> &'static str {
        self.completion.wire.map_or("auto", core::Wire::name)
    }

    /// The response's id (X5).
    #[getter]
    fn id(&self) -> Option<&str> {
        self.completion.id.as_deref()
    }

    /// The model (X5).
    #[getter]
    fn model(&self) -> Option<&str> {
        self.completion.model.as_deref()
    }

    /// When it was made, as sent (X5).
    #[getter]
    fn created<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        optional(py, self.completion.created.as_ref())
    }

    /// The choices, by index.
    #[getter]
    fn choices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let choices = self.choices.get_or_try_init(py, || {
            let choices = self.completion.choices.iter();
            let choices =
                choices.map(|choice| value(py, Choice { choice: choice.clone(), stream: self.stream.clone() }));
            PyTuple::new(py, choices.collect::<PyResult<Vec<_>>>()?).map(Bound::unbind)
        })?;
        Ok(choices.bind(py).clone())
    }

    /// The usage that stands, as sent (U1).
    #[getter]
    fn usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        optional(py, self.completion.usage.as_ref())
    }

    /// How the stream ended (E3).
    #[getter]
    fn end(&self) -> &'static str {
        self.completion.end.name()
    }

    /// The error it ended in (E6).
    #[getter]
    fn error(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.error.get().map(|error| error.clone_ref(py))
    }

    /// The departures that were tolerated (Q1).
    #[getter]
    fn quirks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let quirks = self.completion.quirks.iter().map(|quirk| value(py, Quirk::of(py, quirk)));
        PyTuple::new(py, quirks.collect::<PyResult<Vec<_>>>()?)
    }

    /// Blocks or items, in order (W2, W3).
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let blocks = self.completion.blocks.iter().map(|block| to_python(py, block));
        PyTuple::new(py, blocks.collect::<PyResult<Vec<_>>>()?)
    }

    /// Members kept from chunks (X2).
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        object(py, &self.completion.extra)
    }

    /// The answer of choice 0.
    #[getter]
    fn content(&self) -> Option<&str> {
        self.first()?.content.as_deref()
    }

    /// The reasoning of choice 0.
    #[getter]
    fn reasoning(&self) -> Option<&str> {
        self.first()?.reasoning.as_deref()
    }

    /// The refusal of choice 0.
    #[getter]
    fn refusal(&self) -> Option<&str> {
        self.first()?.refusal.as_deref()
    }

    /// The calls of choice 0.
    #[getter]
    fn tool_calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let calls = self.first().map_or(&[] as &[_], |choice| &choice.tool_calls);
        let calls = calls.iter().map(|call| value(py, ToolCall::of(call.clone(), self.stream.clone())));
        PyTuple::new(py, calls.collect::<PyResult<Vec<_>>>()?)
    }

    /// The finish reason of choice 0, raw (E1).
    #[getter]
    fn finish_reason(&self) -> Option<&str> {
        self.first()?.finish_reason.as_deref()
    }

    /// Whether any choice has a call, whatever its finish reason (E4).
    #[getter]
    fn has_calls(&self) -> bool {
        self.completion.choices.iter().any(|choice| !choice.tool_calls.is_empty())
    }

    /// The calls of all choices that may be executed (A5).
    #[getter]
    fn executable_calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let calls = self.completion.choices.iter().flat_map(|choice| &choice.tool_calls);
        let calls = calls.filter(|call| call.executable);
        let calls = calls.map(|call| value(py, ToolCall::of(call.clone(), self.stream.clone())));
        PyTuple::new(py, calls.collect::<PyResult<Vec<_>>>()?)
    }

    /// The completion itself; raises its error, or `IncompleteStream` when it was cut (E5).
    fn check<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        shared(slf.py(), "deltafold._shape", "check")?.call1((slf,))?;
        Ok(slf.clone())
    }

    /// The assistant message to send back (X6); for Responses the list of input items.
    #[pyo3(signature = (choice=0))]
    fn to_message<'py>(slf: &Bound<'py, Self>, choice: i64) -> PyResult<Bound<'py, PyAny>> {
        shared(slf.py(), "deltafold._shape", "to_message")?.call1((slf, choice))
    }

    /// Everything as plain values.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        shared(slf.py(), "deltafold._shape", "to_dict")?.call1((slf,))
    }

    /// `to_dict()` as JSON in UTF-8.
    fn to_json<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        shared(slf.py(), "deltafold._shape", "to_json")?.call1((slf,))
    }

    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, MEMBERS)
    }

    /// The error follows as state: its partial result is this completion.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let members = MEMBERS.iter().map(|name| match *name {
            "error" => Ok(py.None().into_bound(py)),
            name => slf.getattr(name),
        });
        let members = PyTuple::new(py, members.collect::<PyResult<Vec<_>>>()?)?;
        (slf.get_type(), members, slf.get().error(py)).into_pyobject(py)
    }

    fn __setstate__(&self, error: Py<PyAny>) {
        self.attach(error);
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some(error) = self.error.get() {
            visit.call(error)?;
        }
        Ok(())
    }
}

const MEMBERS: [&str; 11] =
    ["wire", "id", "model", "created", "choices", "usage", "end", "error", "quirks", "blocks", "extra"];
