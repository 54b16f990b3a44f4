//! Vectors: the form that `tests/vectors/README.md` describes.

use std::fs;
use std::path::PathBuf;

use deltafold_core::{Identity, Limits, Malformed, MissingId, Options, Policy, SharedIndex, Wire};
use serde_json::Value as Json;

use super::files::{Outcome, document, list, place, text};

/// One case: the bytes of a stream, how to fold it, what must come of it.
pub(crate) struct Vector {
    pub(crate) name: String,
    pub(crate) body: Vec<u8>,
    pub(crate) options: Options,
    pub(crate) expect: Json,
}

impl Vector {
    fn new(name: String, body: Vec<u8>, document: &Json) -> Outcome<Self> {
        let options = options(document.get("options")).map_err(|error| format!("{name}: {error}"))?;
        let expect = document.get("expect").cloned().ok_or_else(|| format!("{name} expects nothing"))?;
        Ok(Self { name, body, options, expect })
    }
}

/// The vectors of a folder, by name.
pub(crate) fn folder(name: &str) -> Outcome<Vec<Vector>> {
    let mut paths = fs::read_dir(place(name))?.map(|entry| Ok(entry?.path())).collect::<Outcome<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let vector = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Vector::new(format!("{name}/{stem}"), fs::read(path.with_extension("sse"))?, &document(path)?)
    };
    paths.iter().map(vector).collect()
}

/// The vectors of `huge.json`, whose input is spelt out as repeated parts.
pub(crate) fn huge() -> Outcome<Vec<Vector>> {
    let documents = document(&place("huge.json"))?;
    let vector = |document: &Json| {
        let mut body = Vec::new();
        for part in list(document, "parts")? {
            let times = part.get("times").map_or(Some(1), Json::as_u64).ok_or("times")?;
            body.extend(text(part, "text")?.as_bytes().repeat(usize::try_from(times)?));
        }
        Vector::new(format!("huge/{}", text(document, "name")?), body, document)
    };
    documents.as_array().ok_or("huge.json is a list")?.iter().map(vector).collect()
}

fn options(given: Option<&Json>) -> Outcome<Options> {
    let mut options = Options { coalesce: false, ..Options::default() };
    let none = serde_json::Map::new();
    for (name, value) in given.and_then(Json::as_object).unwrap_or(&none) {
        match (name.as_str(), value.as_str()) {
            ("wire", Some(wire)) => options.wire = Some(Wire::named(wire).ok_or("an unknown wire")?),
            ("malformed", Some("skip")) => options.malformed = Malformed::Skip,
            ("policy", Some("harness")) => options.policy = Policy::harness(),
            ("policy", None) => options.policy = policy(value)?,
            ("limits", None) => options.limits = limits(value)?,
            _ => return Err(format!("an unknown option: {name} = {value}").into()),
        }
    }
    Ok(options)
}

fn policy(given: &Json) -> Outcome<Policy> {
    let mut policy = Policy::default();
    for (name, value) in given.as_object().ok_or("a policy is an object")? {
        match (name.as_str(), value.as_str().unwrap_or_default()) {
            ("identity", "last") => policy.identity = Identity::Last,
            ("shared_index", "merge") => policy.shared_index = SharedIndex::Merge,
            ("missing_id", "empty") => policy.missing_id = MissingId::Empty,
            ("missing_id", "reject") => policy.missing_id = MissingId::Reject,
            _ => return Err(format!("an unknown policy: {name} = {value}").into()),
        }
    }
    Ok(policy)
}

fn limits(given: &Json) -> Outcome<Limits> {
    let mut limits = Limits::default();
    for (name, value) in given.as_object().ok_or("limits are an object")? {
        let slot = match name.as_str() {
            "line" => &mut limits.line,
            "event" => &mut limits.event,
            "choices" => &mut limits.choices,
            "calls" => &mut limits.calls,
            "text" => &mut limits.text,
            "depth" => &mut limits.depth,
            _ => return Err(format!("an unknown limit: {name}").into()),
        };
        *slot = usize::try_from(value.as_u64().ok_or("a limit is a number")?)?;
    }
    Ok(limits)
}
