//! JSON values to Python and back.

use deltafold_core::{Members, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::shared;

/// A value as Python has it: integers exact at any size.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value.plain() {
        Value::Null | Value::Source(_) => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Number(text) => number(py, text)?,
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(members) => object(py, members)?.into_any(),
    })
}

/// Members as a dict.
pub(crate) fn object<'py>(py: Python<'py>, members: &[(String, Value)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in members {
        dict.set_item(name, to_python(py, value)?)?;
    }
    Ok(dict)
}

/// An optional value, None where there is none.
pub(crate) fn optional<'py>(py: Python<'py>, value: Option<&Value>) -> PyResult<Bound<'py, PyAny>> {
    value.map_or_else(|| Ok(py.None().into_bound(py)), |value| to_python(py, value))
}

/// A JSON number. Integers beyond 64 bits are read by the shared layer, which has no limit on digits.
pub(crate) fn number<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    if text.contains(['.', 'e', 'E']) {
        return Ok(PyFloat::new(py, text.parse().unwrap_or(f64::INFINITY)).into_any());
    }
    match text.parse::<i64>() {
        Ok(number) => Ok(number.into_pyobject(py)?.into_any()),
        Err(_) => shared(py, "deltafold._arguments", "integer")?.call1((text,)),
    }
}

/// A Python value of the kinds that JSON has, as a value.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if value.cast::<PyInt>().is_ok() {
        let text: String = shared(value.py(), "deltafold._arguments", "digits")?.call1((value,))?.extract()?;
        return Ok(Value::Number(text.into()));
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(Value::Number(number.repr()?.extract::<String>()?.into()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.extract()?));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return members(dict).map(Value::Object);
    }
    value.try_iter()?.map(|item| from_python(&item?)).collect::<PyResult<_>>().map(Value::Array)
}

/// A dict as members.
pub(crate) fn members(dict: &Bound<'_, PyDict>) -> PyResult<Members> {
    dict.iter().map(|(name, value)| Ok((name.extract()?, from_python(&value)?))).collect()
}

/// One of the fixed names of a member that has few values.
pub(crate) fn one_of<T: Copy>(what: &str, given: &str, all: &[(&str, T)]) -> PyResult<T> {
    let found = all.iter().find(|(name, _)| *name == given).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<String> = all.iter().map(|(name, _)| format!("{name:?}")).collect();
        PyTypeError::new_err(format!("{what} is one of {}, not {given:?}", names.join(", ")))
    })
}
