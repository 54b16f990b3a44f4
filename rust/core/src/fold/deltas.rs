//! Texts, calls and finish reasons: what most deltas bring.

use std::borrow::Cow;

use super::call::Call;
use super::choice::Binding;
use super::{Fold, report_lone};
use crate::arguments::begins_anew;
use crate::chunk::{Arguments, CallDelta, Ident, Span, TextKind, View};
use crate::completion::CallKind;
use crate::error::{Error, ErrorKind};
use crate::event::Record;
use crate::few::push;
use crate::identity::{self, Bind, Incoming, Route, Target};
use crate::json::text::{decode, lossy};
use crate::policy::Identity;
use crate::quirk::{Place, QuirkKind};

impl Fold {
    /// Appends a fragment, the raw text of a JSON string, to a text of the current choice.
    #[inline]
    pub(crate) fn text(&mut self, kind: TextKind, raw: &[u8], flags: u8, member: &'static str) -> Result<(), Error> {
        if raw.is_empty() {
            return Ok(());
        }
        self.note_late();
        let slot = self.current;
        let Some(choice) = self.choices.get_mut(slot) else { return Ok(()) };
        if kind == TextKind::Reasoning && choice.reasoning_member.is_none() {
            choice.reasoning_member = Some(member).filter(|member| !member.is_empty());
        }
        let text = choice.text(kind);
        let start = text.text.len();
        text.joiner.append(raw, flags, &mut text.text);
        let end = text.text.len();
        let lone = std::mem::take(&mut text.joiner.lone);
        if lone > 0 {
            let place = self.place();
            report_lone(&mut self.quirks, lone, place);
        }
        if let Err(error) = self.charge(end - start) {
            if let Some(choice) = self.choices.get_mut(slot) {
                choice.text(kind).text.truncate(start);
            }
            return Err(error);
        }
        self.events.text(kind, slot, start, end);
        Ok(())
    }

    /// Appends several fragments to a text of the current choice: one event, if any.
    pub(super) fn texts(
        &mut self,
        kind: TextKind,
        fragments: &[(&[u8], u8)],
        member: &'static str,
    ) -> Result<(), Error> {
        self.fits_together(kind, fragments)?;
        let (coalesce, recorded) = (self.events.coalesce, self.events.records().len());
        let mut result = Ok(());
        for (raw, flags) in fragments {
            result = result.and_then(|()| self.text(kind, raw, *flags, member));
            self.events.coalesce |= self.events.records().len() > recorded;
        }
        self.events.coalesce = coalesce;
        result
    }

    /// Whether fragments that are one event pass the limit on text together: then none of them is shown (S8).
    fn fits_together(&mut self, kind: TextKind, fragments: &[(&[u8], u8)]) -> Result<(), Error> {
        // A byte of a fragment comes to three at most, those of U+FFFD.
        let most: usize = fragments.iter().map(|(raw, _)| 3 * raw.len()).sum();
        if fragments.len() < 2 || self.weight + most <= self.limits.text {
            return Ok(());
        }
        let mut joiner = self.choices.get_mut(self.current).map(|choice| choice.text(kind).joiner).unwrap_or_default();
        let mut text = Vec::new();
        for (raw, flags) in fragments {
            joiner.append(raw, *flags, &mut text);
        }
        if self.weight + text.len() <= self.limits.text {
            return Ok(());
        }
        self.note_late();
        let place = self.place();
        report_lone(&mut self.quirks, joiner.lone, place);
        self.charge(text.len())
    }

    /// E1: something comes behind a finish reason of an earlier frame; told once a chunk and choice.
    #[inline]
    pub(super) fn note_late(&mut self) {
        let frame = self.quirks.frame;
        let Some(choice) = self.choices.get_mut(self.current) else { return };
        if choice.finish_reason.is_none() || frame.is_none() || choice.finished_in == frame || choice.late_in == frame {
            return;
        }
        choice.late_in = frame;
        self.quirk(QuirkKind::DeltaAfterFinish, None, String::new);
    }

    pub(crate) fn finish_reason(&mut self, view: &View<'_>, span: Span) {
        let (raw, flags) = view.text(span);
        let mut lone = 0;
        let reason = decode(raw, flags, &mut lone);
        self.finish_with(&reason);
        let place = self.place();
        report_lone(&mut self.quirks, lone, place);
    }

    /// E1: the last one stands, differing ones are reported.
    pub(crate) fn finish_with(&mut self, reason: &str) {
        let (slot, frame) = (self.current, self.quirks.frame);
        let Some(choice) = self.choices.get_mut(slot) else { return };
        if choice.finish_reason.as_deref() == Some(reason) {
            return;
        }
        let before = choice.finish_reason.replace(reason.into());
        if let Some(before) = before {
            self.quirk(QuirkKind::FinishRepeated, None, || format!("{before}, then {reason}"));
        } else if let Some(choice) = self.choices.get_mut(slot) {
            choice.finished_in = frame;
        }
        if !self.events.off {
            self.events.push(Record::Finish { choice: slot, reason: reason.into() });
        }
    }

    /// Puts a tool delta where it belongs (I) and takes what it brings.
    #[inline]
    pub(crate) fn call_delta(&mut self, delta: &CallDelta, view: &View<'_>) -> Result<(), Error> {
        self.note_late();
        self.call = None;
        let index = delta.index.read(view);
        if let (Some(index), Ident::Absent, Ident::Absent, Arguments::Text(span)) =
            (index, delta.id, delta.name, delta.arguments)
        {
            let (raw, flags) = view.text(span);
            if let Some(result) = self.fragment(index, delta.kind, raw, flags) {
                return result;
            }
        }
        self.identified(delta, index, view)
    }

    /// I4g, what most deltas are: no id, no name, a bound index, text. None where the index is not bound.
    #[inline]
    fn fragment(&mut self, index: i64, kind: CallKind, raw: &[u8], flags: u8) -> Option<Result<(), Error>> {
        let slot = self.current;
        let choice = self.choices.get_mut(slot)?;
        let position = choice.call_at(index)?;
        let call = choice.calls.get_mut(position)?;
        self.call = Some(position);
        call.turn_out(kind);
        let start = call.arguments.len();
        call.joiner.append(raw, flags, &mut call.arguments);
        let end = call.arguments.len();
        if call.joiner.lone > 0 || self.weight + (end - start) > self.limits.text {
            return Some(self.settle(slot, position, start));
        }
        self.weight += end - start;
        if call.started {
            let shown = std::mem::replace(&mut call.shown, end);
            self.events.arguments(slot, position, shown, end);
        } else {
            self.show(slot, position);
        }
        Some(Ok(()))
    }

    /// The same for a delta that brings identity, or whose call has yet to be found.
    fn identified(&mut self, delta: &CallDelta, index: Option<i64>, view: &View<'_>) -> Result<(), Error> {
        let mut lone = 0;
        let id = Self::ident(delta.id, view, &mut lone);
        let name = Self::ident(delta.name, view, &mut lone);
        let (id, name) = (identity::accept(id.as_deref()), identity::accept(name.as_deref()));
        if let Some(id) = id {
            self.see_id(id, None)?;
        }
        let call = if delta.kind == CallKind::LegacyFunction {
            self.legacy_call()?
        } else {
            let incoming = Self::incoming(delta, index, id, name, view);
            let route = match self.choices.get_mut(self.current) {
                Some(choice) => identity::route(choice, &incoming, self.policy, self.limits.depth),
                None => return Ok(()),
            };
            self.follow(route, index, delta, view)?
        };
        self.call = call;
        self.report_idents(delta, call);
        if index.is_none() && delta.kind != CallKind::LegacyFunction {
            self.quirk(QuirkKind::IndexMissing, call, String::new);
        }
        let place = Place { call, ..self.place() };
        report_lone(&mut self.quirks, lone, place);
        if matches!(delta.arguments, Arguments::Source(_)) {
            self.quirk(QuirkKind::ArgumentsType, call, || "taken as its source text".to_owned());
        }
        let Some(call) = call else { return Ok(()) };
        if let Some(call) = self.call_mut(call) {
            call.turn_out(delta.kind);
        }
        self.accept_id(call, id)?;
        self.accept_name(call, name)?;
        let slot = self.current;
        self.take_arguments(slot, call, delta.arguments, view)
    }

    fn ident<'a>(ident: Ident, view: &View<'a>, lone: &mut u32) -> Option<Cow<'a, str>> {
        match ident {
            Ident::Given(span) => {
                let (raw, flags) = view.text(span);
                Some(decode(raw, flags, lone))
            }
            _ => None,
        }
    }

    fn incoming<'a>(
        delta: &CallDelta,
        index: Option<i64>,
        id: Option<&'a str>,
        name: Option<&'a str>,
        view: &View<'_>,
    ) -> Incoming<'a> {
        let (begins_anew, has_arguments) = match delta.arguments {
            Arguments::Absent => (false, false),
            Arguments::Source(span) => (view.raw(span).first() == Some(&b'{'), true),
            Arguments::Text(span) => {
                let (raw, flags) = view.text(span);
                (begins_anew(&decode(raw, flags, &mut 0)), !raw.is_empty())
            }
        };
        Incoming { index, id, name, begins_anew, has_arguments }
    }

    /// Does what the table says: binds the index, opens a call where one is due. None for an orphan.
    fn follow(
        &mut self,
        route: Route,
        index: Option<i64>,
        delta: &CallDelta,
        view: &View<'_>,
    ) -> Result<Option<usize>, Error> {
        let call = match route.target {
            Target::Call(call) => Some(call),
            Target::New => Some(self.open(index, false)?),
            Target::Second => Some(self.open(index, true)?),
            Target::Orphan => None,
        };
        if let (Some(index), Some(call), Some(choice)) = (index, call, self.choices.get_mut(self.current)) {
            let borrowed = route.bind == Bind::Borrow;
            if route.bind != Bind::Keep {
                choice.bind(index, Binding { call, borrowed });
            }
        }
        if let Some(kind) = route.quirk {
            self.quirk(kind, call, || Self::brought(delta, view));
        }
        Ok(call)
    }

    /// The text that a delta brings, for a report.
    fn brought(delta: &CallDelta, view: &View<'_>) -> String {
        match delta.arguments {
            Arguments::Absent => String::new(),
            Arguments::Source(span) => lossy(view.raw(span)).into_owned(),
            Arguments::Text(span) => {
                let (raw, flags) = view.text(span);
                decode(raw, flags, &mut 0).into_owned()
            }
        }
    }

    /// Opens a call at the end of the current choice's list.
    pub(crate) fn open(&mut self, index: Option<i64>, held: bool) -> Result<usize, Error> {
        if self.opened >= self.limits.calls {
            return Err(Error::new(ErrorKind::Calls, format!("more than {} calls", self.limits.calls)));
        }
        self.opened += 1;
        let Some(choice) = self.choices.get_mut(self.current) else { return Ok(0) };
        push(&mut choice.calls, Call { opened_at: index, held, ..Call::default() });
        Ok(choice.calls.len() - 1)
    }

    /// The one call that `function_call` folds to (X3).
    fn legacy_call(&mut self) -> Result<Option<usize>, Error> {
        if let Some(call) = self.choices.get(self.current).and_then(|choice| choice.legacy) {
            return Ok(Some(call));
        }
        let call = self.open(None, false)?;
        if let Some(choice) = self.choices.get_mut(self.current) {
            choice.legacy = Some(call);
            if let Some(call) = choice.calls.get_mut(call) {
                call.kind = CallKind::LegacyFunction;
            }
        }
        Ok(Some(call))
    }

    fn report_idents(&mut self, delta: &CallDelta, call: Option<usize>) {
        for (ident, what) in [(delta.id, "id"), (delta.name, "name")] {
            let kind = match ident {
                Ident::Empty => QuirkKind::EmptyIdentity,
                Ident::Null => QuirkKind::NullIdentity,
                Ident::WrongType => QuirkKind::WrongType,
                Ident::Absent | Ident::Given(_) => continue,
            };
            self.quirk(kind, call, || what.to_owned());
        }
    }

    pub(crate) fn call_mut(&mut self, call: usize) -> Option<&mut Call> {
        self.choices.get_mut(self.current)?.calls.get_mut(call)
    }

    /// The id `id` was seen in the current choice; `owner` has it from now on, if it is given.
    pub(super) fn see_id(&mut self, id: &str, owner: Option<usize>) -> Result<(), Error> {
        let Some(choice) = self.choices.get_mut(self.current) else { return Ok(()) };
        if let Some(known) = choice.ids.get_mut(id) {
            *known = owner.or(*known);
            return Ok(());
        }
        self.charge(id.len())?;
        if let Some(choice) = self.choices.get_mut(self.current) {
            choice.ids.insert(id.into(), owner);
        }
        Ok(())
    }

    pub(crate) fn accept_id(&mut self, call: usize, id: Option<&str>) -> Result<(), Error> {
        let (Some(id), last) = (id, self.policy.identity == Identity::Last) else { return Ok(()) };
        let established = self.call_mut(call).map(|call| call.id.clone()).unwrap_or_default();
        if established == id {
            return Ok(());
        }
        if !established.is_empty() && !last {
            return self.see_id(id, None);
        }
        self.see_id(id, Some(call))?;
        if let Some(call) = self.call_mut(call) {
            id.clone_into(&mut call.id);
        }
        if !established.is_empty() {
            self.forget_id(&established, call);
        }
        Ok(())
    }

    /// `call` no longer has `id`: the newest other call that has it is the one that it means.
    fn forget_id(&mut self, id: &str, call: usize) {
        let Some(choice) = self.choices.get_mut(self.current) else { return };
        if choice.known(id) == Some(call) {
            let newest = choice.calls.iter().rposition(|call| call.id == id);
            choice.ids.insert(id.into(), newest);
        }
    }

    pub(crate) fn accept_name(&mut self, call: usize, name: Option<&str>) -> Result<(), Error> {
        let (Some(name), last) = (name, self.policy.identity == Identity::Last) else { return Ok(()) };
        let established = self.call_mut(call).map(|call| call.name.clone()).unwrap_or_default();
        if established == name {
            return Ok(());
        }
        if !established.is_empty() {
            self.quirk(QuirkKind::NameChanged, Some(call), || format!("{established}, then {name}"));
            if !last {
                return Ok(());
            }
            self.discharge(established.len());
        }
        self.charge(name.len())?;
        if let Some(call) = self.call_mut(call) {
            name.clone_into(&mut call.name);
        }
        Ok(())
    }
}
