//! What calls are given: the fragments of their arguments, and what is shown of them (A1, A2, I11).

use super::{Fold, report_lone};
use crate::chunk::{Arguments, View};
use crate::error::Error;
use crate::event::Record;
use crate::json::text::{Joiner, compact};
use crate::policy::Identity;
use crate::quirk::Place;

impl Fold {
    /// Appends what a delta brings to the arguments of its call (A1, A2), and shows what can be shown.
    #[inline]
    pub(super) fn take_arguments(
        &mut self,
        slot: usize,
        call: usize,
        arguments: Arguments,
        view: &View<'_>,
    ) -> Result<(), Error> {
        match arguments {
            Arguments::Absent => {}
            Arguments::Text(span) => {
                let (raw, flags) = view.text(span);
                self.append_arguments(slot, call, |joiner, text| joiner.append(raw, flags, text))?;
            }
            Arguments::Source(span) => {
                self.append_source(slot, call, &compact(view.raw(span)))?;
            }
        }
        self.show(slot, call);
        Ok(())
    }

    pub(crate) fn append_source(&mut self, slot: usize, call: usize, source: &str) -> Result<(), Error> {
        self.append_arguments(slot, call, |joiner, text| {
            joiner.flush(text);
            text.extend_from_slice(source.as_bytes());
        })
    }

    fn append_arguments(
        &mut self,
        slot: usize,
        call: usize,
        append: impl FnOnce(&mut Joiner, &mut Vec<u8>),
    ) -> Result<(), Error> {
        let Some(target) = self.choices.get_mut(slot).and_then(|choice| choice.calls.get_mut(call)) else {
            return Ok(());
        };
        let start = target.arguments.len();
        append(&mut target.joiner, &mut target.arguments);
        self.settle(slot, call, start)
    }

    /// What was appended to a call's arguments behind `start` counts against the limit; beyond it, it is taken back.
    pub(super) fn settle(&mut self, slot: usize, call: usize, start: usize) -> Result<(), Error> {
        let Some(target) = self.choices.get_mut(slot).and_then(|choice| choice.calls.get_mut(call)) else {
            return Ok(());
        };
        let added = target.arguments.len() - start;
        let lone = std::mem::take(&mut target.joiner.lone);
        let place = Place { call: Some(call), ..self.place() };
        report_lone(&mut self.quirks, lone, place);
        if let Err(error) = self.charge(added) {
            if let Some(target) = self.call_mut(call) {
                target.arguments.truncate(start);
            }
            return Err(error);
        }
        self.show(slot, call);
        Ok(())
    }

    /// I11: the start comes once id and name are known and can no longer change; the fragments that waited follow.
    #[inline]
    pub(crate) fn show(&mut self, slot: usize, call: usize) {
        let at_once = self.policy.identity == Identity::First;
        let Some(target) = self.choices.get_mut(slot).and_then(|choice| choice.calls.get_mut(call)) else { return };
        if !target.started {
            if !at_once || target.held || !target.is_identified() {
                return;
            }
            target.started = true;
            self.events.push(Record::Start { choice: slot, call });
        }
        let (start, end) = (target.shown, target.arguments.len());
        target.shown = end;
        self.events.arguments(slot, call, start, end);
    }
}
