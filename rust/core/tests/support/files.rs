//! The data files that all engines read.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

/// What a test may end in.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A file of the vectors.
pub(crate) fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(name)
}

/// A JSON file of the vectors.
pub(crate) fn document(path: &Path) -> Outcome<Json> {
    let read = || -> Outcome<Json> { Ok(serde_json::from_slice(&fs::read(path)?)?) };
    read().map_err(|error| format!("{}: {error}", path.display()).into())
}

/// The member `name`, a string.
pub(crate) fn text<'a>(value: &'a Json, name: &str) -> Outcome<&'a str> {
    value.get(name).and_then(Json::as_str).ok_or_else(|| format!("no text {name}").into())
}

/// The member `name`, a list.
pub(crate) fn list<'a>(value: &'a Json, name: &str) -> Outcome<&'a [Json]> {
    value.get(name).and_then(Json::as_array).map(Vec::as_slice).ok_or_else(|| format!("no list {name}").into())
}
