//! Glue between the core and Python: convert, call, map the error.

use pyo3::prelude::*;

/// The native engine of `deltafold`.
#[pymodule(gil_used = false)]
mod _native {}
