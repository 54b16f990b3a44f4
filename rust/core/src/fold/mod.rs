//! The fold: what operations come to, whatever wire they were read from. It knows calls, not providers.

mod appending;
pub(crate) mod blocks;
pub(crate) mod call;
pub(crate) mod choice;
mod completing;
mod deltas;
mod details;
mod ending;
mod extras;
mod joined;
pub(crate) mod parts;
mod running;
mod sent;
mod whole;

use crate::chunk::{About, Op, Span, TextKind, View};
use crate::error::{Error, ErrorKind};
use crate::event::{Event, EventLog, Fragment, Record};
use crate::few::push;
use crate::json::tape::with_spare;
use crate::json::text::decode;
use crate::json::{Members, Value};
use crate::policy::{Limits, Policy};
use crate::quirk::{Place, QuirkKind, QuirkLog};
use blocks::Blocks;
use choice::Choice;
pub(crate) use completing::{Render, Texts};

/// The state of a response.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    pub(crate) policy: Policy,
    pub(crate) limits: Limits,
    pub(crate) quirks: QuirkLog,
    pub(crate) events: EventLog,
    id: Option<Box<str>>,
    model: Option<Box<str>>,
    created: Option<Box<str>>,
    pub(crate) choices: Vec<Choice>,
    /// The slot of the choice that operations are about.
    current: usize,
    /// The call last named in that choice.
    call: Option<usize>,
    /// The block that operations are about.
    block: Option<usize>,
    blocks: Option<Box<Blocks>>,
    /// The usage that stands, and whether only `aside` ones came so far.
    usage: Option<Value>,
    usage_aside: bool,
    kept: Vec<sent::Kept>,
    /// The epoch of a template: what that one says once and for all holds. 0 where none is known to.
    pub(crate) said: u64,
    pub(crate) extra: Members,
    /// Where the text of the last `reasoning_details` was joined to.
    detail: Option<details::Joined>,
    /// Calls opened in all.
    opened: usize,
    /// What is kept counts for this much against the limit on text (S8).
    pub(crate) weight: usize,
    /// Some of it may count for more than it weighs.
    unweighed: bool,
    /// The marker came.
    pub(crate) done: bool,
}

impl Fold {
    pub(crate) fn new(policy: Policy, limits: Limits) -> Self {
        Self { policy, limits, ..Self::default() }
    }

    /// Applies the operations of a payload. Where a call is refused, what reading its entry showed is reported all the
    /// same, as long as the call was found.
    #[inline]
    pub(crate) fn apply_all(&mut self, ops: &[Op], view: &View<'_>) -> Result<(), Error> {
        for (place, op) in ops.iter().enumerate() {
            if let Err(error) = self.apply(op, view) {
                let rest = ops.get(place + 1..).unwrap_or_default();
                let of_call = rest.iter().take_while(|op| matches!(op, Op::Quirk(_, _, About::Call)));
                let of_call = of_call.filter(|_| matches!(op, Op::Call(_)) && self.call.is_some());
                for op in of_call.collect::<Vec<_>>() {
                    self.apply(op, view)?;
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// The same for the operations of most payloads: one fragment of one text.
    #[inline]
    pub(crate) fn apply_most(&mut self, ops: &[Op], view: &View<'_>) -> Result<(), Error> {
        match ops {
            [Op::Choice(index), Op::Text(kind, span, member)] => {
                self.enter(*index)?;
                let (raw, flags) = view.text(*span);
                self.text(*kind, raw, flags, member)
            }
            [Op::Choice(index), Op::Call(delta)] => {
                self.enter(*index)?;
                self.call_delta(delta, view)
            }
            _ => self.apply_all(ops, view),
        }
    }

    /// Whether applying what an operation says once and for all would change nothing.
    pub(crate) fn holds(&self, op: &Op, view: &View<'_>) -> bool {
        match *op {
            Op::Id(_) => self.id.is_some(),
            Op::Model(_) => self.model.is_some(),
            Op::Created(_) => self.created.is_some(),
            Op::Keep(name, span) => self.keeps(name, view.raw(span)),
            _ => true,
        }
    }

    /// Applies one operation of the payload that `view` shows.
    #[inline]
    pub(crate) fn apply(&mut self, op: &Op, view: &View<'_>) -> Result<(), Error> {
        match *op {
            Op::Choice(index) => self.enter(index),
            Op::Call(ref delta) => self.call_delta(delta, view),
            Op::Text(kind, span, member) => {
                let (raw, flags) = view.text(span);
                self.text(kind, raw, flags, member)
            }
            Op::Id(span) => Self::first(&mut self.id, span, view, &mut self.quirks),
            Op::Model(span) => Self::first(&mut self.model, span, view, &mut self.quirks),
            Op::Created(span) => Self::first(&mut self.created, span, view, &mut self.quirks),
            Op::Keep(name, span) => self.keep(name, view.raw(span)),
            Op::Usage(span, aside) => {
                self.usage(view.raw(span), aside);
                Ok(())
            }
            Op::Finish(span) => {
                self.finish_reason(view, span);
                Ok(())
            }
            Op::Part(form, place, span) => {
                let (raw, flags) = view.text(span);
                self.part_delta(form, place.read(view).unwrap_or(0), raw, flags)
            }
            Op::Input(arguments) => self.input(arguments, view),
            Op::Block(index, fit) => {
                self.find_block(index.read(view), fit);
                Ok(())
            }
            Op::Item(index, id, form) => self.find_item(index, id, form, view),
            Op::Quirk(kind, path, about) => {
                self.quirk_about(kind, about, path);
                Ok(())
            }
            Op::Parts(span) => self.parts(view.raw(span)),
            Op::Details(span, is_reasoning, text) => self.details(view, span, is_reasoning, text),
            Op::CallExtra(name, span) => self.call_extra(view.text(name), view.raw(span)),
            Op::DeltaExtra(name, span) => self.delta_extra(view.text(name), view.raw(span)),
            Op::Logprobs(span) => self.logprobs(view.raw(span)),
            Op::Message(span) => self.message(view.raw(span)),
            Op::Error(span) => Err(Error::provider(view.raw(span), self.limits.depth)),
        }
    }

    /// X5: the first one stands.
    #[inline]
    fn first(slot: &mut Option<Box<str>>, span: Span, view: &View<'_>, quirks: &mut QuirkLog) -> Result<(), Error> {
        if slot.is_none() {
            let (raw, flags) = view.text(span);
            let mut lone = 0;
            *slot = Some(decode(raw, flags, &mut lone).into());
            report_lone(quirks, lone, Place::default());
        }
        Ok(())
    }

    /// The name of a member at that place.
    pub(crate) fn name_at(&mut self, (raw, flags): (&[u8], u8), place: Place) -> String {
        let mut lone = 0;
        let name = decode(raw, flags, &mut lone).into_owned();
        report_lone(&mut self.quirks, lone, place);
        name
    }

    /// A JSON source text of a payload, which is valid by then, as a value of the current choice.
    pub(crate) fn value(&mut self, raw: &[u8]) -> Value {
        self.value_at(raw, self.place())
    }

    /// The same, of what is at that place.
    pub(crate) fn value_at(&mut self, raw: &[u8], place: Place) -> Value {
        let mut lone = 0;
        let value = with_spare(|tape| match tape.read(raw, self.limits.depth) {
            Ok(()) => Value::from_tape(raw, tape, 0, &mut lone),
            Err(_) => Value::Null,
        });
        report_lone(&mut self.quirks, lone, place);
        value
    }

    /// Makes the choice of that index the one that operations are about.
    #[inline]
    pub(crate) fn enter(&mut self, index: i64) -> Result<(), Error> {
        self.call = None;
        if self.choices.get(self.current).is_some_and(|choice| choice.index == index) {
            return Ok(());
        }
        self.current = match self.choices.iter().position(|choice| choice.index == index) {
            Some(slot) => slot,
            None if self.choices.len() >= self.limits.choices => {
                return Err(Error::new(ErrorKind::Choices, format!("more than {} choices", self.limits.choices)));
            }
            None => {
                push(&mut self.choices, Choice { index, ..Choice::default() });
                self.choices.len() - 1
            }
        };
        Ok(())
    }

    /// Where the fold is, for reports.
    pub(crate) fn place(&self) -> Place {
        Place { choice: self.choices.get(self.current).map(|choice| choice.index), call: None }
    }

    pub(crate) fn quirk(&mut self, kind: QuirkKind, call: Option<usize>, detail: impl FnOnce() -> String) {
        let place = Place { call, ..self.place() };
        self.quirks.report(kind, place, detail);
    }

    fn quirk_about(&mut self, kind: QuirkKind, about: About, path: &str) {
        let place = match about {
            About::Stream => Place::default(),
            About::Call => Place { call: self.call, ..self.place() },
            About::Block if self.block.is_none() => return,
            About::Choice | About::Block => self.place(),
        };
        self.quirks.report(kind, place, || path.to_owned());
    }

    /// Adds to what is kept, unless that passes the limit (S8).
    #[inline]
    pub(crate) fn charge(&mut self, weight: usize) -> Result<(), Error> {
        if self.weight + weight > self.limits.text && self.weigh() + weight > self.limits.text {
            return Err(Error::new(ErrorKind::Text, format!("more than {} bytes of text in all", self.limits.text)));
        }
        self.weight += weight;
        Ok(())
    }

    /// As [`Fold::charge`], for what takes the place of something that weighs `former`.
    pub(crate) fn recharge(&mut self, former: usize, weight: usize) -> Result<(), Error> {
        self.discharge(former);
        self.charge(weight)
    }

    pub(crate) fn discharge(&mut self, weight: usize) {
        self.weight = self.weight.saturating_sub(weight);
    }

    /// The events not taken yet.
    pub(crate) fn taken(&self) -> impl Iterator<Item = Event<'_>> {
        self.events.records().iter().filter_map(|record| self.event(record))
    }

    fn event<'a>(&'a self, record: &'a Record) -> Option<Event<'a>> {
        let choice = |slot: usize| self.choices.get(slot);
        Some(match record {
            Record::Text { kind, choice: slot, start, end } => {
                let choice = choice(*slot)?;
                match kind {
                    TextKind::Content => {
                        Event::TextDelta(choice.index, Fragment(choice.content.text.get(*start..*end)?))
                    }
                    TextKind::Reasoning => {
                        Event::ReasoningDelta(choice.index, Fragment(choice.reasoning.text.get(*start..*end)?))
                    }
                    TextKind::Refusal => {
                        Event::RefusalDelta(choice.index, Fragment(choice.refusal.text.get(*start..*end)?))
                    }
                }
            }
            Record::Start { choice: slot, call } => {
                let of = choice(*slot)?.calls.get(*call)?;
                let id = of.ended.as_ref().map_or(&of.id, |ended| &ended.id);
                Event::ToolCallStart(
                    choice(*slot)?.index,
                    *call,
                    id,
                    of.ended.as_ref().map_or(&of.name, |ended| &ended.name),
                )
            }
            Record::Arguments { choice: slot, call, start, end } => {
                let text = choice(*slot)?.calls.get(*call)?.arguments().get(*start..*end)?;
                Event::ToolCallDelta(choice(*slot)?.index, *call, Fragment(text))
            }
            Record::End { choice: slot, call } => {
                Event::ToolCallEnd(choice(*slot)?.index, *call, choice(*slot)?.calls.get(*call)?.ended.as_ref()?)
            }
            Record::Finish { choice: slot, reason } => Event::Finish(choice(*slot)?.index, reason),
            Record::Usage(usage) => Event::Usage(usage),
        })
    }
}

/// Reports surrogates that had no partner (P5).
pub(crate) fn report_lone(quirks: &mut QuirkLog, lone: u32, place: Place) {
    for _ in 0..lone {
        quirks.report(QuirkKind::LoneSurrogate, place, || "became U+FFFD".to_owned());
    }
}
