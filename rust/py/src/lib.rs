//! Glue between the core and Python: convert, call, map the error.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]
#![allow(clippy::struct_field_names, reason = "a class holds the value of the core that it is named after")]
#![allow(clippy::used_underscore_binding, reason = "names of private keyword arguments begin with an underscore")]

mod assembler;
mod choice;
mod completion;
mod convert;
mod errors;
mod events;
mod input;
mod options;
mod partial;
mod quirk;
mod sse;
mod stream;
mod tool_call;
mod values;

use pyo3::prelude::*;

/// The native engine of `deltafold`.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::assembler::{Assembler, assemble, assemble_many};
    #[pymodule_export]
    use crate::choice::Choice;
    #[pymodule_export]
    use crate::completion::Completion;
    #[pymodule_export]
    use crate::events::{
        Finish, ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta, ToolCallEnd, ToolCallStart, Usage,
    };
    #[pymodule_export]
    use crate::quirk::Quirk;
    #[pymodule_export]
    use crate::sse::{SSEDecoder, ServerSentEvent};
    #[pymodule_export]
    use crate::tool_call::ToolCall;
}

/// A function of the shared Python layer, which works on the values of both engines.
pub(crate) fn shared<'py>(py: Python<'py>, module: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import(module)?.getattr(name)
}
