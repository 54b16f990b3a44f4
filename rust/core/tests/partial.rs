//! Arguments shown while they stream (A7): `partial.json`, read on and read anew, in one piece and byte by byte.

mod support {
    pub(crate) mod files;
}

use std::convert::Infallible;

use deltafold_core::{PartialReader, PartialSink, Scalar};
use serde_json::{Map, Value as Json};

use support::files::{Outcome, document, list, place, text};

/// The value as far as it came. Each open container has the name that it gets where it is in an object.
#[derive(Clone, Default)]
struct Value {
    root: Json,
    open: Vec<(Json, String)>,
    name: String,
    text: Option<String>,
}

impl Value {
    fn put(&mut self, value: Json) {
        let name = self.name.clone();
        self.put_as(name, value);
    }

    fn put_as(&mut self, name: String, value: Json) {
        match self.open.last_mut() {
            None => self.root = value,
            Some((Json::Object(members), _)) => {
                members.insert(name, value);
            }
            Some((Json::Array(items), _)) => items.push(value),
            Some(_) => {}
        }
    }

    fn end(&mut self) {
        if let Some((value, name)) = self.open.pop() {
            self.put_as(name, value);
        }
    }

    /// What it would be if the text ended here.
    fn as_it_is(&self) -> Json {
        let mut whole = self.clone();
        if let Some(text) = whole.text.take() {
            whole.put(Json::String(text));
        }
        while !whole.open.is_empty() {
            whole.end();
        }
        whole.root
    }
}

impl PartialSink for Value {
    type Error = Infallible;

    fn name(&mut self, name: &str) -> Result<(), Infallible> {
        name.clone_into(&mut self.name);
        Ok(())
    }

    fn open(&mut self, is_object: bool) -> Result<(), Infallible> {
        let container = if is_object { Json::Object(Map::new()) } else { Json::Array(Vec::new()) };
        self.open.push((container, self.name.clone()));
        Ok(())
    }

    fn close(&mut self) -> Result<(), Infallible> {
        self.end();
        Ok(())
    }

    fn text(&mut self, more: &str, whole: bool) -> Result<(), Infallible> {
        let text = self.text.take().unwrap_or_default() + more;
        if whole {
            self.put(Json::String(text));
        } else {
            self.text = Some(text);
        }
        Ok(())
    }

    fn scalar(&mut self, value: Scalar<'_>) -> Result<(), Infallible> {
        self.put(match value {
            Scalar::Null => Json::Null,
            Scalar::Bool(value) => Json::Bool(value),
            Scalar::Number(text) => serde_json::from_str(text).unwrap_or_default(),
        });
        Ok(())
    }
}

#[derive(Default)]
struct Shown {
    reader: PartialReader,
    value: Value,
}

impl Shown {
    fn read(&mut self, text: &str) -> Json {
        let Ok(()) = self.reader.read(text, &mut self.value);
        self.value.as_it_is()
    }
}

/// Numbers are compared as what they stand for.
fn alike(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| alike(value, other)))
        }
        (Json::Number(one), Json::Number(other)) => one == other || one.as_f64() == other.as_f64() && !one.is_u64(),
        _ => one == other,
    }
}

#[test]
fn what_is_certain() -> Outcome {
    for case in document(&place("partial.json"))?.as_array().into_iter().flatten() {
        let about = text(case, "about")?;
        let (mut on, mut by_character) = (Shown::default(), Shown::default());
        let mut length = 0;
        for read in list(case, "reads")? {
            let (Some(text), Some(wanted)) = (read.get(0).and_then(Json::as_str), read.get(1)) else {
                return Err(format!("{about}: no read").into());
            };
            for (end, character) in text.char_indices().filter(|(end, _)| *end >= length) {
                let start = text.get(..end + character.len_utf8()).unwrap_or_default();
                assert_eq!(by_character.read(start), Shown::default().read(start), "{about}: {start}");
            }
            length = text.len();
            for found in [on.read(text), Shown::default().read(text), by_character.read(text)] {
                assert!(alike(&found, wanted), "{about}: {text} gives {found}");
            }
            for shown in [&on, &by_character] {
                assert!(shown.reader.scanned() <= 2 * length as u64 + 8, "{about}: read again");
            }
        }
    }
    Ok(())
}

#[test]
fn a_long_text_is_read_once() {
    let text = format!("[{}{}", "[{\"a\":\"\\u00e4b\",\"c\":12.5e1}],".repeat(500), "[".repeat(1000));
    let mut shown = PartialReader::default();
    let mut value = Value::default();
    for end in 0..=text.len() {
        let Ok(()) = shown.read(text.get(..end).unwrap_or_default(), &mut value);
    }
    assert!(shown.scanned() <= 2 * text.len() as u64);
    assert_eq!(value.open.len(), 1001);
}
