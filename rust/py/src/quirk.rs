//! A departure that was tolerated, as an immutable Python object.

use deltafold_core as core;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::values::{Value, made};

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
    pub(crate) fn of(py: Python<'_>, quirk: &core::Quirk) -> Self {
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

/// A quirk made in Python, as the core has it.
pub(crate) fn quirk_of(quirk: &Bound<'_, Quirk>) -> Option<core::Quirk> {
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
