//! Bytes from Python, borrowed where they cannot change.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Runs `work` with the bytes of a bytes-like object. Only `bytes` never change; anything else is copied first.
#[inline]
pub(crate) fn with_bytes<R>(data: &Bound<'_, PyAny>, work: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(work(bytes.as_bytes()));
    }
    copied(data).map(|bytes| work(&bytes))
}

/// The bytes of a bytes-like object, copied.
pub(crate) fn copied(data: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let Ok(buffer) = PyBuffer::<u8>::get(data) else {
        let name = data.get_type().name()?.to_string();
        let hint = if data.is_instance_of::<PyString>() { "; encode it as UTF-8 first" } else { "" };
        return Err(PyTypeError::new_err(format!("expected bytes, bytearray or memoryview, not {name}{hint}")));
    };
    buffer.to_vec(data.py())
}

/// Whether an object is bytes-like itself, rather than an iterable of such.
pub(crate) fn is_bytes_like(data: &Bound<'_, PyAny>) -> bool {
    data.cast::<PyBytes>().is_ok() || PyBuffer::<u8>::get(data).is_ok()
}
