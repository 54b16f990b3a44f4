//! The result and its parts, as immutable Python objects over the core's values. What is more than a member is the
//! shared layer's, which works on the values of both engines.

use std::sync::{Arc, OnceLock};

use deltafold_core as core;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::convert::{from_python, members, object, one_of, optional, to_python};
use crate::shared;
use crate::values::{Value, made, value};

const KINDS: [(&str, core::CallKind); 3] = [
    ("function", core::CallKind::Function),
    ("custom", core::CallKind::Custom),
    ("legacy-function", core::CallKind::LegacyFunction),
];
const SOURCES: [(&str, core::IdSource); 3] =
    [("wire", core::IdSource::Wire), ("synthetic", core::IdSource::Synthetic), ("none", core::IdSource::None)];
const STATUSES: [(&str, core::Status); 4] = [
    ("complete", core::Status::Complete),
    ("truncated", core::Status::Truncated),
    ("invalid", core::Status::Invalid),
    ("unnamed", core::Status::Unnamed),
];
const ENDS: [(&str, core::End); 4] =
    [("open", core::End::Open), ("done", core::End::Done), ("finished", core::End::Finished), ("cut", core::End::Cut)];
/// The members that reasoning can come in (X6).
const REASONING: [&str; 5] = ["reasoning_content", "reasoning", "reasoning_text", "content", "text"];

/// One tool call.
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct ToolCall {
    call: Arc<core::ToolCall>,
    depth: usize,
}

impl ToolCall {
    pub(crate) const fn of(call: Arc<core::ToolCall>, depth: usize) -> Self {
        Self { call, depth }
    }
}

#[pymethods]
impl ToolCall {
    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(
            py,
            [
                "choice",
                "position",
                "index",
                "id",
                "name",
                "arguments",
                "kind",
                "id_source",
                "status",
                "executable",
                "extra",
                "item_id",
                "blocks_before",
            ],
        )
    }

    #[new]
    #[pyo3(signature = (choice, position, index, id, name, arguments, kind, id_source, status, executable, extra=None, item_id=None, blocks_before=0))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        choice: i64,
        position: usize,
        index: Option<i64>,
        id: String,
        name: String,
        arguments: String,
        kind: &str,
        id_source: &str,
        status: &str,
        executable: bool,
        extra: Option<&Bound<'_, PyDict>>,
        item_id: Option<String>,
        blocks_before: usize,
    ) -> PyResult<PyClassInitializer<Self>> {
        let call = core::ToolCall {
            choice,
            position,
            index,
            id,
            name,
            arguments,
            kind: one_of("kind", kind, &KINDS)?,
            id_source: one_of("id_source", id_source, &SOURCES)?,
            status: one_of("status", status, &STATUSES)?,
            executable,
            extra: extra.map_or_else(|| Ok(Vec::new()), members)?,
            item_id,
            blocks_before,
        };
        Ok(made(Self::of(Arc::new(call), core::Limits::default().depth)))
    }

    /// The index of its choice.
    #[getter]
    fn choice(&self) -> i64 {
        self.call.choice
    }

    /// Its position in the choice, by first appearance.
    #[getter]
    fn position(&self) -> usize {
        self.call.position
    }

    /// The wire's own index (I2), or None.
    #[getter]
    fn index(&self) -> Option<i64> {
        self.call.index
    }

    /// Its id.
    #[getter]
    fn id(&self) -> &str {
        &self.call.id
    }

    /// Its name; empty where none came.
    #[getter]
    fn name(&self) -> &str {
        &self.call.name
    }

    /// Its arguments as sent (A1).
    #[getter]
    fn arguments(&self) -> &str {
        &self.call.arguments
    }

    /// Its kind (X3).
    #[getter]
    fn kind(&self) -> &'static str {
        self.call.kind.name()
    }

    /// Where its id comes from (I10).
    #[getter]
    fn id_source(&self) -> &'static str {
        self.call.id_source.name()
    }

    /// What its arguments came to (A4).
    #[getter]
    fn status(&self) -> &'static str {
        self.call.status.name()
    }

    /// Whether it may be executed (A5).
    #[getter]
    fn executable(&self) -> bool {
        self.call.executable
    }

    /// Unknown members of its entries (X2).
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        object(py, &self.call.extra)
    }

    /// The id of its item (Responses).
    #[getter]
    fn item_id(&self) -> Option<&str> {
        self.call.item_id.as_deref()
    }

    /// How many blocks stand before it.
    #[getter]
    fn blocks_before(&self) -> usize {
        self.call.blocks_before
    }

    /// The arguments as a dict, strictly (A7).
    fn parse<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        shared(slf.py(), "deltafold._arguments", "parse")?.call1((slf,))
    }

    /// The arguments as far as they are certain, for display only (A7).
    fn partial<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let call = &slf.get().call;
        shared(slf.py(), "deltafold._arguments", "partial")?.call1((
            call.arguments.as_str(),
            call.choice,
            call.position,
            call.id.as_str(),
        ))
    }

    /// The last whole arguments of a call that sent them repeatedly (A6), or None.
    fn recovered(&self) -> Option<&str> {
        self.call.recovered(self.depth)
    }
}

/// A departure that was tolerated (Q1).
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct Quirk {
    #[pyo3(get)]
    kind: Py<PyString>,
    #[pyo3(get)]
    count: u64,
    #[pyo3(get)]
    frame: Option<u64>,
    #[pyo3(get)]
    choice: Option<i64>,
    #[pyo3(get)]
    call: Option<usize>,
    #[pyo3(get)]
    detail: Py<PyString>,
}

#[pymethods]
impl Quirk {
    #[new]
    fn new(
        kind: Py<PyString>,
        count: u64,
        frame: Option<u64>,
        choice: Option<i64>,
        call: Option<usize>,
        detail: Py<PyString>,
    ) -> PyClassInitializer<Self> {
        made(Self { kind, count, frame, choice, call, detail })
    }

    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, ["kind", "count", "frame", "choice", "call", "detail"])
    }
}

impl Quirk {
    fn of(py: Python<'_>, quirk: &core::Quirk) -> Self {
        Self {
            kind: PyString::intern(py, quirk.kind.name()).unbind(),
            count: quirk.count,
            frame: quirk.frame,
            choice: quirk.choice,
            call: quirk.call,
            detail: PyString::new(py, &quirk.detail).unbind(),
        }
    }
}

/// One answer.
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct Choice {
    choice: core::Choice,
    depth: usize,
}

#[pymethods]
impl Choice {
    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(
            py,
            [
                "index",
                "content",
                "reasoning",
                "refusal",
                "tool_calls",
                "finish_reason",
                "logprobs",
                "extra",
                "reasoning_member",
            ],
        )
    }

    #[new]
    #[pyo3(signature = (index, content, reasoning, refusal, tool_calls, finish_reason, logprobs, extra=None, reasoning_member=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        index: i64,
        content: Option<String>,
        reasoning: Option<String>,
        refusal: Option<String>,
        tool_calls: Vec<Bound<'_, ToolCall>>,
        finish_reason: Option<String>,
        logprobs: Option<&Bound<'_, PyDict>>,
        extra: Option<&Bound<'_, PyDict>>,
        reasoning_member: Option<&str>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let logprobs = logprobs.map(|logprobs| members(logprobs).map(core::Value::Object)).transpose()?;
        let choice = core::Choice {
            index,
            content,
            reasoning,
            refusal,
            tool_calls: tool_calls.iter().map(|call| call.get().call.clone()).collect(),
            finish_reason,
            logprobs,
            extra: extra.map_or_else(|| Ok(Vec::new()), members)?,
            reasoning_member: reasoning_member.and_then(|given| REASONING.into_iter().find(|name| *name == given)),
        };
        Ok(made(Self { choice, depth: core::Limits::default().depth }))
    }

    /// Its index.
    #[getter]
    fn index(&self) -> i64 {
        self.choice.index
    }

    /// The answer; None where nothing but empty strings came (X1).
    #[getter]
    fn content(&self) -> Option<&str> {
        self.choice.content.as_deref()
    }

    /// The reasoning.
    #[getter]
    fn reasoning(&self) -> Option<&str> {
        self.choice.reasoning.as_deref()
    }

    /// The refusal.
    #[getter]
    fn refusal(&self) -> Option<&str> {
        self.choice.refusal.as_deref()
    }

    /// The calls, by position.
    #[getter]
    fn tool_calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let calls = self.choice.tool_calls.iter().map(|call| value(py, ToolCall::of(call.clone(), self.depth)));
        PyTuple::new(py, calls.collect::<PyResult<Vec<_>>>()?)
    }

    /// The finish reason, raw (E1).
    #[getter]
    fn finish_reason(&self) -> Option<&str> {
        self.choice.finish_reason.as_deref()
    }

    /// The log probabilities, lists joined (X2).
    #[getter]
    fn logprobs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        optional(py, self.choice.logprobs.as_ref())
    }

    /// Unknown members of its deltas (X2).
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        object(py, &self.choice.extra)
    }

    /// The member that its reasoning came in (X6).
    #[getter]
    fn reasoning_member(&self) -> Option<&'static str> {
        self.choice.reasoning_member
    }
}

/// A response: everything that came, how it ended (E3), what failed (E6), what was odd (Q1).
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct Completion {
    completion: Arc<core::Completion>,
    depth: usize,
    choices: PyOnceLock<Py<PyTuple>>,
    error: OnceLock<Py<PyAny>>,
}

impl Completion {
    pub(crate) const fn of(completion: Arc<core::Completion>, depth: usize) -> Self {
        Self { completion, depth, choices: PyOnceLock::new(), error: OnceLock::new() }
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
            usage: usage.map(|usage| members(usage).map(|members| core::Value::Object(members).into())).transpose()?,
            end: one_of("end", end, &ENDS)?,
            error: None,
            quirks: quirks.iter().filter_map(|quirk| quirk_of(quirk)).collect(),
            blocks,
            extra: extra.map_or_else(|| Ok(Vec::new()), members)?,
        };
        let completion = Self::of(Arc::new(completion), core::Limits::default().depth);
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
            let choices = choices.map(|choice| value(py, Choice { choice: choice.clone(), depth: self.depth }));
            PyTuple::new(py, choices.collect::<PyResult<Vec<_>>>()?).map(Bound::unbind)
        })?;
        Ok(choices.bind(py).clone())
    }

    /// The usage that stands, as sent (U1).
    #[getter]
    fn usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        optional(py, self.completion.usage.as_ref().map(core::Lazy::get))
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
        let calls = calls.iter().map(|call| value(py, ToolCall::of(call.clone(), self.depth)));
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
        let calls = calls.map(|call| value(py, ToolCall::of(call.clone(), self.depth)));
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

/// A quirk made in Python, as the core has it.
fn quirk_of(quirk: &Bound<'_, Quirk>) -> Option<core::Quirk> {
    let (py, quirk) = (quirk.py(), quirk.get());
    let name = quirk.kind.bind(py).to_string();
    Some(core::Quirk {
        kind: core::QuirkKind::ALL.iter().copied().find(|kind| kind.name() == name)?,
        count: quirk.count,
        frame: quirk.frame,
        choice: quirk.choice,
        call: quirk.call,
        detail: quirk.detail.bind(py).to_string(),
    })
}
