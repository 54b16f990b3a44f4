//! The comparison of a run with what a vector expects.

use deltafold_core::{Choice, Completion, Error, Quirk, ToolCall, Value, parse};
use serde_json::{Map, Value as Json, json};

use super::run::{Run, Seen, class_name};
use super::values::{self, same};

/// Members of `expect` that hold a value a choice, by its index as a string.
const BY_CHOICE: &[&str] = &["content", "reasoning", "refusal", "finish_reason", "extra", "logprobs"];
/// Members of `expect` that are no business of the core: messages are built by the package, `skip` is a run of its own.
const NOT_HERE: &[&str] = &["message", "message_has", "message_error", "skip"];

/// What of `expect` the run does not have.
pub(crate) fn check(run: &Run, expect: &Json) -> Vec<String> {
    let Some(expect) = expect.as_object() else { return vec!["expect is no object".to_owned()] };
    let is_set = |name| expect.get(name).is_some_and(|wanted| !wanted.is_null());
    let mut faults = Vec::new();
    if run.error.is_some() != (is_set("error") || is_set("error_kind")) {
        faults.push(format!("error: found {:?}", run.error));
    }
    for (name, wanted) in expect.iter().filter(|(name, _)| !NOT_HERE.contains(&name.as_str())) {
        match found(run, name, wanted) {
            Some(found) if same(&found, wanted) => {}
            Some(found) => faults.push(format!("{name}: found {found}, wanted {wanted}")),
            None => faults.push(format!("{name}: unknown to these tests, or not there; wanted {wanted}")),
        }
    }
    faults
}

/// What the run has where the vector says `wanted`, in the same form.
fn found(run: &Run, name: &str, wanted: &Json) -> Option<Json> {
    let completion = &run.completion;
    let error = run.error.as_deref();
    match name {
        by_choice if BY_CHOICE.contains(&by_choice) => members(wanted, |index| {
            let index: i64 = index.parse().ok()?;
            of_choice(completion.choices.iter().find(|choice| choice.index == index)?, by_choice)
        }),
        "calls" => calls(run, wanted),
        "choices" => Some(completion.choices.iter().map(|choice| choice.index).collect()),
        "completion" => members(wanted, |name| of_completion(completion, name)),
        "counts" => members(wanted, |name| count(completion, name)),
        "end" => Some(json!(completion.end.name())),
        "error" if wanted.is_null() => Some(if error.is_none() { Json::Null } else { json!("an error") }),
        "error" | "error_at" => members(wanted, |name| of_error(error?, name)),
        "error_frame" => of_error(error?, "frame"),
        "error_kind" => {
            let is_kept = completion.error.as_ref().map(|error| error.kind) == error.map(|error| error.kind);
            is_kept.then_some(json!(class_name(error?.kind)))
        }
        "error_says" => {
            let says = error?.message.to_lowercase().contains(&wanted.as_str()?.to_lowercase());
            Some(if says { wanted.clone() } else { json!(error?.message) })
        }
        "events" => events(run, wanted),
        "quirk_reports" => quirk_reports(&completion.quirks, wanted),
        "quirks" => quirks(&completion.quirks, wanted),
        "usage" => Some(optional(completion.usage.as_ref())),
        _ => None,
    }
}

/// An object with the names of `wanted` and what `of` gives for each.
fn members(wanted: &Json, mut of: impl FnMut(&str) -> Option<Json>) -> Option<Json> {
    let pairs = wanted.as_object()?.keys().map(|name| Some((name.clone(), of(name)?)));
    pairs.collect::<Option<Map<_, _>>>().map(Json::Object)
}

fn optional(value: Option<&Value>) -> Json {
    value.map_or(Json::Null, values::json)
}

fn of_choice(choice: &Choice, name: &str) -> Option<Json> {
    Some(match name {
        "content" => json!(choice.content),
        "reasoning" => json!(choice.reasoning),
        "refusal" => json!(choice.refusal),
        "finish_reason" => json!(choice.finish_reason),
        "extra" => values::object(&choice.extra),
        "logprobs" => optional(choice.logprobs.as_ref()),
        _ => return None,
    })
}

fn of_completion(completion: &Completion, name: &str) -> Option<Json> {
    Some(match name {
        "wire" => json!(completion.wire.map_or("auto", deltafold_core::Wire::name)),
        "id" => json!(completion.id),
        "model" => json!(completion.model),
        "created" => optional(completion.created.as_ref()),
        "blocks" => completion.blocks.iter().map(values::json).collect(),
        "extra" => values::object(&completion.extra),
        _ => return None,
    })
}

fn of_error(error: &Error, name: &str) -> Option<Json> {
    let provider = error.provider.as_deref();
    Some(match name {
        "kind" => json!(error.kind.name()),
        "frame" => json!(error.frame),
        "offset" => json!(error.offset),
        "message" => json!(error.message),
        "type" => json!(provider?.kind),
        "code" => values::json(&provider?.code),
        "status" => optional(provider?.status.as_ref()),
        _ => return None,
    })
}

/// The calls of all choices, in order of choice and position.
fn calls_of(completion: &Completion) -> impl Iterator<Item = &ToolCall> {
    completion.choices.iter().flat_map(|choice| choice.tool_calls.iter().map(AsRef::as_ref))
}

fn calls(run: &Run, wanted: &Json) -> Option<Json> {
    let named = Json::Object(Map::from_iter([("choice", 0), ("name", 0)].map(|(name, at)| (name.into(), at.into()))));
    let forms = wanted.as_array()?.iter().chain(std::iter::repeat(&named));
    calls_of(&run.completion).zip(forms).map(|(call, form)| call_members(call, form, run.depth)).collect()
}

fn call_members(call: &ToolCall, wanted: &Json, depth: usize) -> Option<Json> {
    members(wanted, |name| of_call(call, name, depth))
}

/// A member as vectors name it: `parsed` and `recovered` are what the texts are as JSON values.
fn of_call(call: &ToolCall, name: &str, depth: usize) -> Option<Json> {
    Some(match name {
        "choice" => json!(call.choice),
        "position" => json!(call.position),
        "index" => json!(call.index),
        "id" => json!(call.id),
        "name" => json!(call.name),
        "arguments" => json!(call.arguments),
        "kind" => json!(call.kind.name()),
        "id_source" => json!(call.id_source.name()),
        "status" => json!(call.status.name()),
        "executable" => json!(call.executable),
        "extra" => values::object(&call.extra),
        "item_id" => json!(call.item_id),
        "parsed" if call.arguments.is_empty() => json!({}),
        "parsed" => optional(parse(call.arguments.as_bytes(), depth).as_ref()),
        "recovered" => optional(call.recovered(depth).and_then(|text| parse(text.as_bytes(), depth)).as_ref()),
        _ => return None,
    })
}

fn count(completion: &Completion, name: &str) -> Option<Json> {
    let texts = completion.choices.iter().filter_map(|choice| choice.content.as_ref());
    Some(json!(match name {
        "calls" => calls_of(completion).count(),
        "choices" => completion.choices.len(),
        "content" => texts.map(|text| text.chars().count()).sum(),
        "arguments" => calls_of(completion).map(|call| call.arguments.chars().count()).sum(),
        _ => return None,
    }))
}

fn events(run: &Run, wanted: &Json) -> Option<Json> {
    let forms = wanted.as_array()?.iter().chain(std::iter::repeat(&Json::Null));
    let event = |(seen, form): (&Seen, &Json)| match seen {
        Seen::Plain(event) => event.clone(),
        Seen::CallEnd(choice, call, ended) => {
            let ended = form.get(3).and_then(|form| call_members(ended, form, run.depth));
            json!(["ToolCallEnd", choice, call, ended])
        }
    };
    Some(run.events.iter().zip(forms).map(event).collect())
}

/// The kinds as the vector lists them where they are the same set, each reported once (Q1); else as they came.
fn quirks(quirks: &[Quirk], wanted: &Json) -> Option<Json> {
    let mut found: Vec<&str> = quirks.iter().map(|quirk| quirk.kind.name()).collect();
    let mut listed: Vec<&str> = wanted.as_array()?.iter().map(Json::as_str).collect::<Option<_>>()?;
    found.sort_unstable();
    listed.sort_unstable();
    Some(if found == listed { wanted.clone() } else { json!(found) })
}

/// The reports of the kinds that the vector names, in the order of the report (Q1).
fn quirk_reports(quirks: &[Quirk], wanted: &Json) -> Option<Json> {
    let wanted = wanted.as_array()?;
    let form = |quirk: &Quirk| wanted.iter().find(|form| form.get("kind") == Some(&json!(quirk.kind.name())));
    quirks.iter().filter_map(|quirk| Some((quirk, form(quirk)?))).map(|(quirk, form)| of_quirk(quirk, form)).collect()
}

fn of_quirk(quirk: &Quirk, form: &Json) -> Option<Json> {
    members(form, |name| {
        Some(match name {
            "kind" => json!(quirk.kind.name()),
            "count" => json!(quirk.count),
            "frame" => json!(quirk.frame),
            "choice" => json!(quirk.choice),
            "call" => json!(quirk.call),
            _ => return None,
        })
    })
}
