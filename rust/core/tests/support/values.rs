//! JSON values of the core and of the data files, in one form.

use deltafold_core::{Members, Value};
use serde_json::{Map, Number, Value as Json};

/// A value of the core as a JSON value. Numbers keep their digits.
pub(crate) fn json(value: &Value) -> Json {
    match value.plain() {
        Value::Null | Value::Source(_) => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(text) => text.parse::<Number>().map_or_else(|_| Json::String(format!("{text}?")), Json::Number),
        Value::String(text) => Json::String(text.clone()),
        Value::Array(items) => Json::Array(items.iter().map(json).collect()),
        Value::Object(members) => object(members),
    }
}

/// Kept members as a JSON object.
pub(crate) fn object(members: &Members) -> Json {
    Json::Object(members.iter().map(|(name, value)| (name.clone(), json(value))).collect::<Map<_, _>>())
}

/// Equality of values: integers by their digits, other numbers as the double they are read as.
pub(crate) fn same(found: &Json, wanted: &Json) -> bool {
    match (found, wanted) {
        (Json::Number(found), Json::Number(wanted)) => same_number(&found.to_string(), &wanted.to_string()),
        (Json::Array(found), Json::Array(wanted)) => {
            found.len() == wanted.len() && found.iter().zip(wanted).all(|(found, wanted)| same(found, wanted))
        }
        (Json::Object(found), Json::Object(wanted)) => {
            let has = |(name, wanted): (&String, &Json)| found.get(name).is_some_and(|found| same(found, wanted));
            found.len() == wanted.len() && wanted.iter().all(has)
        }
        _ => found == wanted,
    }
}

fn same_number(found: &str, wanted: &str) -> bool {
    let is_integer = |text: &str| text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    if is_integer(found) && is_integer(wanted) {
        return found == wanted;
    }
    let bits = |text: &str| text.parse::<f64>().map(f64::to_bits);
    bits(found).is_ok() && bits(found) == bits(wanted)
}
