//! Arguments shown while they stream (A7): the parts that the core is certain of, as Python objects.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use deltafold_core as core;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString};

use crate::convert::number;

/// Where the calls of one stream were read to, so that a call shown at each of its fragments is read once. It lives as
/// long as the stream's assembler or a snapshot of it does. The garbage collector does not look into it: what it holds are
/// values of JSON, which refer to nothing else.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    by_place: Mutex<HashMap<Place, Reading>>,
    scanned: AtomicU64,
}

/// The choice and the position of a call.
type Place = (i64, usize);

impl Readings {
    /// Takes a reading out: making Python objects may run any code, which must not find the lock held.
    fn take(&self, place: Place) -> Option<Reading> {
        self.by_place.lock().unwrap_or_else(PoisonError::into_inner).remove(&place)
    }

    fn put(&self, place: Place, reading: Reading) {
        let replaced = self.by_place.lock().unwrap_or_else(PoisonError::into_inner).insert(place, reading);
        // So may dropping them; the lock is gone by now.
        drop(replaced);
    }

    /// Bytes looked at.
    pub(crate) fn scanned(&self) -> u64 {
        self.scanned.load(Ordering::Relaxed)
    }
}

/// The value that the arguments of a call have as far as it is certain, None when nothing is. `readings` are those of its
/// stream; a call that is of no stream here is read from its beginning.
pub(crate) fn partial<'py>(
    py: Python<'py>,
    call: &Arc<core::ToolCall>,
    readings: Option<&Readings>,
) -> PyResult<Bound<'py, PyAny>> {
    let place = (call.choice, call.position);
    let before = readings.and_then(|readings| readings.take(place));
    let mut reading = before.filter(|reading| reading.leads_to(call)).unwrap_or_default();
    let scanned = reading.reader.scanned();
    let value = reading.read(py, call)?;
    if let Some(readings) = readings {
        readings.scanned.fetch_add(reading.reader.scanned() - scanned, Ordering::Relaxed);
        readings.put(place, reading);
    }
    Ok(value)
}

/// The arguments of one call, as far as they were read.
#[derive(Debug, Default)]
struct Reading {
    reader: core::PartialReader,
    parts: Parts,
    /// The call that was read.
    call: Option<Arc<core::ToolCall>>,
}

impl Reading {
    /// Whether what was read is how the arguments of `call` begin.
    fn leads_to(&self, call: &Arc<core::ToolCall>) -> bool {
        let begins = |read: &Arc<core::ToolCall>| call.arguments.as_bytes().starts_with(read.arguments.as_bytes());
        self.call.as_ref().is_none_or(|read| Arc::ptr_eq(read, call) || begins(read))
    }

    fn read<'py>(&mut self, py: Python<'py>, call: &Arc<core::ToolCall>) -> PyResult<Bound<'py, PyAny>> {
        self.reader.read(&call.arguments, &mut Sink { py, parts: &mut self.parts })?;
        self.call = Some(call.clone());
        self.parts.value(py)
    }
}

/// The value being made. A part that may still change is never given away.
#[derive(Debug, Default)]
struct Parts {
    root: Option<Py<PyAny>>,
    /// The containers that are not whole; each but the first is in the one before.
    open: Vec<Container>,
    /// What came of a string that is not whole.
    text: Option<Py<PyString>>,
}

#[derive(Debug)]
enum Container {
    /// An object, and the name of the member that comes next or is not whole.
    Object(Py<PyDict>, Py<PyString>),
    List(Py<PyList>),
}

impl Container {
    fn add(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match self {
            Self::Object(object, name) => object.bind(py).set_item(name, value),
            Self::List(list) => list.bind(py).append(value),
        }
    }

    /// A copy in which `inner` stands for what is not whole; `holds` where that has a place already.
    fn copy<'py>(
        &self,
        py: Python<'py>,
        inner: Option<&Bound<'py, PyAny>>,
        holds: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Object(object, name) => {
                let copy = object.bind(py).copy()?;
                if let Some(inner) = inner {
                    copy.set_item(name, inner)?;
                }
                Ok(copy.into_any())
            }
            Self::List(list) => {
                let list = list.bind(py);
                let copy = list.get_slice(0, list.len() - usize::from(holds));
                if let Some(inner) = inner {
                    copy.append(inner)?;
                }
                Ok(copy.into_any())
            }
        }
    }
}

impl Parts {
    fn add(&mut self, py: Python<'_>, value: Bound<'_, PyAny>) -> PyResult<()> {
        match self.open.last() {
            Some(container) => container.add(py, &value)?,
            None => self.root = Some(value.unbind()),
        }
        Ok(())
    }

    /// The value as it is. Whole containers are shared, for they do not change; open ones and the outermost are copied.
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut inner = self.text.as_ref().map(|text| text.bind(py).clone().into_any());
        let mut holds = false;
        for container in self.open.iter().rev() {
            inner = Some(container.copy(py, inner.as_ref(), holds)?);
            holds = true;
        }
        inner.map_or_else(|| self.root(py), Ok)
    }

    fn root<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(root) = &self.root else { return Ok(py.None().into_bound(py)) };
        let root = root.bind(py);
        if let Ok(object) = root.cast::<PyDict>() {
            return Ok(object.copy()?.into_any());
        }
        Ok(root.cast::<PyList>().map_or_else(|_| root.clone(), |list| list.get_slice(0, list.len()).into_any()))
    }
}

/// Makes the parts that the reader finds.
struct Sink<'a, 'py> {
    py: Python<'py>,
    parts: &'a mut Parts,
}

impl core::PartialSink for Sink<'_, '_> {
    type Error = PyErr;

    fn name(&mut self, name: &str) -> PyResult<()> {
        if let Some(Container::Object(_, next)) = self.parts.open.last_mut() {
            *next = PyString::new(self.py, name).unbind();
        }
        Ok(())
    }

    fn open(&mut self, is_object: bool) -> PyResult<()> {
        let (container, value) = if is_object {
            let object = PyDict::new(self.py);
            (Container::Object(object.clone().unbind(), PyString::new(self.py, "").unbind()), object.into_any())
        } else {
            let list = PyList::empty(self.py);
            (Container::List(list.clone().unbind()), list.into_any())
        };
        self.parts.add(self.py, value)?;
        self.parts.open.push(container);
        Ok(())
    }

    fn close(&mut self) -> PyResult<()> {
        self.parts.open.pop();
        Ok(())
    }

    fn text(&mut self, more: &str, whole: bool) -> PyResult<()> {
        let new = PyString::new(self.py, more);
        let text = match self.parts.text.take() {
            Some(text) => text.bind(self.py).add(new)?.cast_into::<PyString>()?,
            None => new,
        };
        if whole {
            return self.parts.add(self.py, text.into_any());
        }
        self.parts.text = Some(text.unbind());
        Ok(())
    }

    fn scalar(&mut self, value: core::Scalar<'_>) -> PyResult<()> {
        let value = match value {
            core::Scalar::Null => self.py.None().into_bound(self.py),
            core::Scalar::Bool(value) => PyBool::new(self.py, value).to_owned().into_any(),
            core::Scalar::Number(text) => number(self.py, text)?,
        };
        self.parts.add(self.py, value)
    }
}
