//! One choice of the result, as an immutable Python object.

use deltafold_core as core;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::convert::{members, object, optional};
use crate::stream::Stream;
use crate::tool_call::ToolCall;
use crate::values::{Value, made, value};

/// The members that reasoning can come in (X6).
const REASONING: [&str; 5] = ["reasoning_content", "reasoning", "reasoning_text", "content", "text"];

/// One answer.
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct Choice {
    pub(crate) choice: core::Choice,
    pub(crate) stream: Stream,
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
            extra: extra.map_or_else(|| Ok(core::Members::new()), members)?,
            reasoning_member: reasoning_member.and_then(|given| REASONING.into_iter().find(|name| *name == given)),
        };
        Ok(made(Self { choice, stream: Stream::default() }))
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
        let calls =
            self.choice.tool_calls.iter().map(|call| value(py, ToolCall::of(call.clone(), self.stream.clone())));
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
