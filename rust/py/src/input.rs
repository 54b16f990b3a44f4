//! Bytes from Python, borrowed where they cannot change.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyMemoryView, PyString};

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
    if let Ok(buffer) = PyBuffer::<u8>::get(data) {
        return buffer.to_vec(data.py());
    }
    let Ok(view) = PyMemoryView::from(data) else {
        let name = data.get_type().name()?.to_string();
        let hint = if data.is_instance_of::<PyString>() { "; encode it as UTF-8 first" } else { "" };
        return Err(PyTypeError::new_err(format!("expected bytes, bytearray or memoryview, not {name}{hint}")));
    };
    // Of other items than bytes: their memory, as `bytes` gives it.
    Ok(view.call_method0("tobytes")?.cast_into::<PyBytes>()?.as_bytes().to_vec())
}

/// Whether an object is bytes-like itself, rather than an iterable of such.
pub(crate) fn is_bytes_like(data: &Bound<'_, PyAny>) -> bool {
    // Asking a list for its bytes would raise an exception, which takes longer than to fold a short stream.
    data.cast::<PyBytes>().is_ok() || !(data.is_instance_of::<PyList>()) && PyMemoryView::from(data).is_ok()
}
