//! A tool call, as an immutable Python object.

use std::sync::Arc;

use deltafold_core as core;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::convert::{members, object, one_of};
use crate::partial::partial;
use crate::shared;
use crate::stream::Stream;
use crate::values::{Value, made};

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

/// One tool call.
#[pyclass(frozen, extends = Value, module = "deltafold")]
pub(crate) struct ToolCall {
    pub(crate) call: Arc<core::ToolCall>,
    stream: Stream,
}

impl ToolCall {
    pub(crate) const fn of(call: Arc<core::ToolCall>, stream: Stream) -> Self {
        Self { call, stream }
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
            extra: extra.map_or_else(|| Ok(core::Members::new()), members)?,
            item_id,
            blocks_before,
        };
        Ok(made(Self::of(Arc::new(call), Stream::default())))
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
    fn partial<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        partial(py, &self.call, self.stream.readings.as_deref())
    }

    /// The last whole arguments of a call that sent them repeatedly (A6), or None.
    fn recovered(&self) -> Option<&str> {
        self.call.recovered(self.stream.depth)
    }
}
