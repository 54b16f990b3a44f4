//! Options from Python: `wire`, `policy`, `limits`, `malformed`, `coalesce`.

use deltafold_core::{Identity, Limits, Malformed, MissingId, Options, Policy, SharedIndex, Wire};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Reads the options of an assembler. Names that are none raise `ValueError`.
pub(crate) fn options(
    wire: &str,
    policy: Option<&Bound<'_, PyAny>>,
    limits: Option<&Bound<'_, PyAny>>,
    malformed: &str,
) -> PyResult<Options> {
    let wire = match wire {
        "auto" => None,
        name => Some(Wire::named(name).ok_or_else(|| {
            unknown("wire", name, "\"auto\", \"openai-chat\", \"anthropic-messages\", \"openai-responses\"")
        })?),
    };
    let malformed = match malformed {
        "raise" => Malformed::Raise,
        "skip" => Malformed::Skip,
        name => return Err(unknown("malformed", name, "\"raise\", \"skip\"")),
    };
    Ok(Options {
        wire,
        malformed,
        policy: policy.map_or_else(|| Ok(Policy::default()), self::policy)?,
        limits: limits.map_or_else(|| Ok(Limits::default()), self::limits)?,
        fast: fast_path(),
        ..Options::default()
    })
}

fn unknown(what: &str, given: &str, names: &str) -> PyErr {
    PyValueError::new_err(format!("{what} is one of {names}, not {given:?}"))
}

/// Tests switch the fast path off to show that it changes nothing.
fn fast_path() -> bool {
    static OFF: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    !*OFF.get_or_init(|| std::env::var_os("DELTAFOLD_FAST_PATH").is_some_and(|value| value == "0"))
}

fn policy(policy: &Bound<'_, PyAny>) -> PyResult<Policy> {
    let member = |name: &str| policy.getattr(name)?.extract::<String>();
    Ok(Policy {
        identity: if member("identity")? == "last" { Identity::Last } else { Identity::First },
        shared_index: if member("shared_index")? == "merge" { SharedIndex::Merge } else { SharedIndex::Split },
        missing_id: match member("missing_id")?.as_str() {
            "empty" => MissingId::Empty,
            "reject" => MissingId::Reject,
            _ => MissingId::Synthesize,
        },
    })
}

fn limits(limits: &Bound<'_, PyAny>) -> PyResult<Limits> {
    let member = |name: &str| limits.getattr(name)?.extract::<u64>();
    let size = |name: &str| member(name).map(|value| usize::try_from(value).unwrap_or(usize::MAX));
    Ok(Limits {
        line: size("line")?,
        event: size("event")?,
        choices: size("choices")?,
        calls: size("calls")?,
        text: size("text")?,
        depth: size("depth")?,
    })
}
