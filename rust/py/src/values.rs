//! What all values share: immutable, equal by name and members whichever engine made them, picklable.

use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use crate::shared;

/// The base of the native values. What they are made of is in their `__match_args__`.
#[pyclass(frozen, subclass, module = "deltafold")]
pub(crate) struct Value;

/// A value of a class that extends [`Value`].
#[inline]
pub(crate) fn value<T>(py: Python<'_>, value: T) -> PyResult<Py<T>>
where
    T: PyClass<BaseType = Value>,
{
    Py::new(py, made(value))
}

/// What the constructor of a class that extends [`Value`] gives.
pub(crate) fn made<T>(value: T) -> PyClassInitializer<T>
where
    T: PyClass<BaseType = Value>,
{
    PyClassInitializer::from(Value).add_subclass(value)
}

fn names(slf: &Bound<'_, Value>) -> PyResult<Vec<String>> {
    slf.getattr("__match_args__")?.extract()
}

#[pymethods]
impl Value {
    fn __eq__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        shared(slf.py(), "deltafold.events", "equal")?.call1((slf, other))
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<isize> {
        shared(slf.py(), "deltafold.events", "hashed")?.call1((slf,))?.extract()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let members = names(slf)?.into_iter().map(|name| {
            let value = slf.getattr(&*name)?.repr()?;
            Ok(format!("{name}={value}"))
        });
        let members: Vec<String> = members.collect::<PyResult<_>>()?;
        Ok(format!("{}({})", slf.get_type().name()?, members.join(", ")))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let members: Vec<_> = names(slf)?.iter().map(|name| slf.getattr(&**name)).collect::<PyResult<_>>()?;
        Ok((slf.get_type(), PyTuple::new(slf.py(), members)?))
    }
}
