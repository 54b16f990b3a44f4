//! The assembler, and the functions that run one over a whole stream.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use deltafold_core as core;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::completion::Completion;
use crate::input::{copied, is_bytes_like, with_bytes};
use crate::options::options;
use crate::partial::Readings;
use crate::stream::Stream;
use crate::values::value;
use crate::{errors, events};

/// Input of this size and more is parsed without holding the interpreter.
const LARGE: usize = 32 << 10;

/// Folds one stream. Threads may share it, but one call at a time: a call while another one runs raises `RuntimeError`.
#[pyclass(frozen, module = "deltafold")]
pub(crate) struct Assembler {
    slot: Mutex<Slot>,
    depth: usize,
    error: OnceLock<Py<PyAny>>,
}

/// What is behind the lock.
struct Slot {
    /// Taken out while a call runs, so that neither another thread nor a finaliser can come between.
    assembler: Option<Box<core::Assembler>>,
    /// What was read of the calls that its snapshots showed (A7).
    readings: Option<Arc<Readings>>,
}

/// The assembler, put back when the call ends however it ends.
struct Taken<'a> {
    owner: &'a Assembler,
    assembler: Option<Box<core::Assembler>>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.owner.slot().assembler = self.assembler.take();
    }
}

impl Assembler {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<R>(&self, work: impl FnOnce(&mut core::Assembler) -> PyResult<R>) -> PyResult<R> {
        let assembler = self.slot().assembler.take();
        let mut taken = Taken { owner: self, assembler };
        match taken.assembler.as_deref_mut() {
            Some(assembler) => work(assembler),
            None => {
                // Somebody else has it and will put it back.
                std::mem::forget(taken);
                Err(PyRuntimeError::new_err("the assembler is in use by another call; give each stream one of its own"))
            }
        }
    }

    /// The exception of the error that the stream is in; it is made once, with the partial result.
    fn exception(&self, py: Python<'_>, assembler: &mut core::Assembler) -> PyResult<Option<Py<PyAny>>> {
        let Some(error) = assembler.error().cloned() else { return Ok(None) };
        if let Some(made) = self.error.get() {
            return Ok(Some(made.clone_ref(py)));
        }
        let made = exception(py, assembler, &error, self.depth)?;
        Ok(Some(self.error.get_or_init(|| made).clone_ref(py)))
    }

    fn refused(&self, py: Python<'_>, assembler: &mut core::Assembler, refused: &core::Refused) -> PyErr {
        match refused {
            core::Refused::Finished => {
                PyValueError::new_err("the stream was finished; use a new Assembler for another")
            }
            core::Refused::Error(_) => match self.exception(py, assembler) {
                Ok(Some(error)) => PyErr::from_value(error.into_bound(py)),
                Ok(None) => PyRuntimeError::new_err("the stream is in error"),
                Err(error) => error,
            },
        }
    }

    /// Runs a call that may find events, and gives them.
    fn run<'py>(
        &self,
        py: Python<'py>,
        call: impl FnOnce(&mut core::Assembler) -> Result<(), core::Refused>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.with(|assembler| {
            if let Err(refused) = call(assembler) {
                return Err(self.refused(py, assembler, &refused));
            }
            let list = listed(py, assembler.events(), self.depth)?;
            assembler.clear_events();
            Ok(list)
        })
    }
}

/// The events as a list. Most calls find one.
fn listed<'a, 'py>(
    py: Python<'py>,
    mut events: impl Iterator<Item = core::Event<'a>>,
    depth: usize,
) -> PyResult<Bound<'py, PyList>> {
    let Some(first) = events.next() else { return Ok(PyList::empty(py)) };
    let list = PyList::new(py, [events::to_python(py, &first, depth)?])?;
    for event in events {
        list.append(events::to_python(py, &event, depth)?)?;
    }
    Ok(list)
}

/// The exception of an error, with the partial result, which has the exception as its error.
fn exception(
    py: Python<'_>,
    assembler: &mut core::Assembler,
    error: &core::Error,
    depth: usize,
) -> PyResult<Py<PyAny>> {
    let exception = errors::exception(py, error)?;
    let partial = value(py, Completion::of(assembler.snapshot(), Stream::whole(depth)))?.into_bound(py);
    partial.get().attach(exception.clone().unbind());
    exception.setattr("partial", partial)?;
    Ok(exception.unbind())
}

#[pymethods]
impl Assembler {
    #[new]
    #[pyo3(signature = (*, wire="auto", policy=None, limits=None, malformed="raise", coalesce=true, _fast=None))]
    fn new(
        wire: &str,
        policy: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, PyAny>>,
        malformed: &str,
        coalesce: bool,
        _fast: Option<bool>,
    ) -> PyResult<Self> {
        let mut options = options(wire, policy, limits, malformed)?;
        options.coalesce = coalesce;
        options.fast = _fast.unwrap_or(options.fast);
        let depth = options.limits.depth;
        let assembler = Some(Box::new(core::Assembler::new(options)));
        Ok(Self { slot: Mutex::new(Slot { assembler, readings: None }), depth, error: OnceLock::new() })
    }

    /// Folds what came, cut anywhere; gives the events before an error, which the next call raises (P7).
    fn feed<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        with_bytes(data, |bytes| {
            self.run(
                py,
                |assembler| {
                    if bytes.len() < LARGE { assembler.feed(bytes) } else { py.detach(|| assembler.feed(bytes)) }
                },
            )
        })?
    }

    /// Folds one JSON payload that has no event stream around it.
    fn feed_payload<'py>(&self, py: Python<'py>, payload: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        if let Ok(text) = payload.cast::<PyString>() {
            let options = PyDict::new(py);
            options.set_item("errors", "surrogatepass")?;
            let bytes = text.call_method("encode", (), Some(&options))?;
            return with_bytes(&bytes, |bytes| self.run(py, |assembler| assembler.feed_payload(bytes)))?;
        }
        with_bytes(payload, |bytes| self.run(py, |assembler| assembler.feed_payload(bytes)))?
    }

    /// The input has ended: the last events; nothing when called again (P7).
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.run(py, core::Assembler::finish)
    }

    /// Finishes, and gives the result; may be called again.
    fn close(&self, py: Python<'_>) -> PyResult<Py<Completion>> {
        self.with(|assembler| match assembler.close() {
            Ok(completion) => value(py, Completion::of(completion, Stream::whole(self.depth))),
            Err(refused) => Err(self.refused(py, assembler, &refused)),
        })
    }

    /// The error that the next call raises, or None (P7).
    #[getter]
    fn error(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.with(|assembler| self.exception(py, assembler))
    }

    /// The result so far.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Py<Completion>> {
        self.with(|assembler| {
            let readings = self.slot().readings.get_or_insert_default().clone();
            let stream = Stream { depth: self.depth, readings: Some(readings) };
            let completion = Completion::of(assembler.snapshot(), stream);
            if let Some(error) = self.exception(py, assembler)? {
                completion.attach(error);
            }
            value(py, completion)
        })
    }

    /// The exception has a traceback, and that may have whoever holds this.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some(error) = self.error.get() {
            visit.call(error)?;
        }
        Ok(())
    }

    /// What was done so far, for tests.
    fn _counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.with(|assembler| Ok(assembler.counters()))?;
        let dict = PyDict::new(py);
        dict.set_item("bytes_in", counters.bytes_in)?;
        dict.set_item("bytes_scanned", counters.bytes_scanned)?;
        dict.set_item("bytes_buffered_peak", counters.bytes_buffered_peak)?;
        dict.set_item("bytes_shown", self.slot().readings.as_ref().map_or(0, |readings| readings.scanned()))?;
        dict.set_item("frames_recognised", counters.frames_recognised)?;
        dict.set_item("frames_parsed", counters.frames_parsed)?;
        Ok(dict)
    }
}

/// Folds a whole stream, given as bytes or as an iterable of bytes.
#[pyfunction]
#[pyo3(signature = (data, *, wire="auto", policy=None, limits=None, malformed="raise"))]
pub(crate) fn assemble(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    wire: &str,
    policy: Option<&Bound<'_, PyAny>>,
    limits: Option<&Bound<'_, PyAny>>,
    malformed: &str,
) -> PyResult<Py<Completion>> {
    let options = core::Options { events: false, ..options(wire, policy, limits, malformed)? };
    let depth = options.limits.depth;
    let mut assembler = core::Assembler::new(options);
    let fed = if is_bytes_like(data) {
        with_bytes(data, |bytes| feed(py, &mut assembler, bytes))?
    } else {
        feed_all(py, &mut assembler, data)?
    };
    match fed.and_then(|()| assembler.close()) {
        Ok(completion) => value(py, Completion::of(completion, Stream::whole(depth))),
        Err(core::Refused::Error(error)) => {
            let exception = exception(py, &mut assembler, &error, depth)?;
            Err(PyErr::from_value(exception.into_bound(py)))
        }
        Err(core::Refused::Finished) => Err(PyRuntimeError::new_err("the stream was finished")),
    }
}

fn feed(py: Python<'_>, assembler: &mut core::Assembler, bytes: &[u8]) -> Result<(), core::Refused> {
    if bytes.len() < LARGE { assembler.feed(bytes) } else { py.detach(|| assembler.feed(bytes)) }
}

fn feed_all(
    py: Python<'_>,
    assembler: &mut core::Assembler,
    chunks: &Bound<'_, PyAny>,
) -> PyResult<Result<(), core::Refused>> {
    for chunk in chunks.try_iter()? {
        let fed = with_bytes(&chunk?, |bytes| feed(py, assembler, bytes))?;
        if fed.is_err() {
            return Ok(fed);
        }
    }
    Ok(Ok(()))
}

/// Bytes that other threads may read.
enum Body {
    Shared(PyBackedBytes),
    Owned(Vec<u8>),
}

impl Body {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

/// Folds many whole streams on several threads; the order is kept, an error is in the `error` of its completion.
#[pyfunction]
#[pyo3(signature = (bodies, *, threads=None, wire="auto", policy=None, limits=None, malformed="raise"))]
pub(crate) fn assemble_many<'py>(
    py: Python<'py>,
    bodies: &Bound<'py, PyAny>,
    threads: Option<usize>,
    wire: &str,
    policy: Option<&Bound<'py, PyAny>>,
    limits: Option<&Bound<'py, PyAny>>,
    malformed: &str,
) -> PyResult<Bound<'py, PyList>> {
    let options = core::Options { events: false, ..options(wire, policy, limits, malformed)? };
    if threads == Some(0) {
        return Err(PyValueError::new_err("threads is 1 or more, or None for one a core"));
    }
    let bodies: Vec<Body> = bodies.try_iter()?.map(|body| self::body(&body?)).collect::<PyResult<_>>()?;
    let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZeroUsize::get));
    let results = py.detach(|| fold_all(&bodies, threads.min(bodies.len()).max(1), options));
    let list = PyList::empty(py);
    for result in results {
        let depth = options.limits.depth;
        let completion = value(py, Completion::of(result.clone(), Stream::whole(depth)))?.into_bound(py);
        if let Some(error) = &result.error {
            let exception = errors::exception(py, error)?;
            completion.get().attach(exception.clone().unbind());
            exception.setattr("partial", &completion)?;
        }
        list.append(completion)?;
    }
    Ok(list)
}

fn body(body: &Bound<'_, PyAny>) -> PyResult<Body> {
    if let Ok(bytes) = body.cast::<PyBytes>() {
        return Ok(Body::Shared(PyBackedBytes::from(bytes.clone())));
    }
    if is_bytes_like(body) {
        return copied(body).map(Body::Owned);
    }
    let mut joined = Vec::new();
    for chunk in body.try_iter()? {
        with_bytes(&chunk?, |bytes| joined.extend_from_slice(bytes))?;
    }
    Ok(Body::Owned(joined))
}

/// Folds the bodies; each thread takes the next one that is left.
fn fold_all(bodies: &[Body], threads: usize, options: core::Options) -> Vec<Arc<core::Completion>> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(body) = bodies.get(place) else { return done };
            done.push((place, fold_one(body.bytes(), options)));
        }
    };
    let mut results = if threads == 1 {
        work()
    } else {
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| core::with_what_was_learnt(work))).collect();
            let mut results = work();
            for other in others {
                results.extend(other.join().unwrap_or_default());
            }
            results
        })
    };
    results.sort_unstable_by_key(|result| result.0);
    results.into_iter().map(|result| result.1).collect()
}

fn fold_one(body: &[u8], options: core::Options) -> Arc<core::Completion> {
    let mut assembler = core::Assembler::new(options);
    match assembler.feed(body).and_then(|()| assembler.close()) {
        Ok(completion) => completion,
        Err(_) => assembler.snapshot(),
    }
}
