//! Members that are kept as sent (X2, X4). Until they have to be known, they count for more than they weigh (S8).

use memchr::memchr;

use super::Fold;
use super::details::DETAILS;
use super::joined::{Owner, Piece};
use crate::error::Error;
use crate::few::push;
use crate::json::tape::with_spare;
use crate::json::text::lossy;
use crate::json::{Members, Sent, Value};
use crate::quirk::Place;

/// A member of chunks that is kept.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) name: &'static str,
    pub(crate) sent: Sent,
}

impl Fold {
    /// A value of the payload as it is kept. One with escapes is read, for what they report (P5).
    pub(super) fn sent(&mut self, raw: &[u8], place: Place) -> Value {
        let is_word = matches!(raw, [b't' | b'f' | b'n', ..]);
        if is_word || memchr(b'\\', raw).is_some() {
            return self.value_at(raw, place);
        }
        Sent::new(raw).into_value(self.limits.depth)
    }

    /// Adds to what is kept what was sent, and its name where that counts, unless that passes the limit (S8).
    fn charge_sent(&mut self, name: &str, sent: &mut Sent) -> Result<(), Error> {
        if self.weight + name.len() + sent.counted() > self.limits.text {
            sent.weigh(self.limits.depth);
        }
        self.unweighed |= !sent.is_weighed();
        self.charge(name.len() + sent.counted())
    }

    fn charge_value(&mut self, name: &str, value: &mut Value) -> Result<(), Error> {
        match value.sent_mut() {
            Some(sent) => self.charge_sent(name, sent),
            None => self.charge(name.len() + value.weight()),
        }
    }

    /// Finds out what is kept weighs, where it counts for more; gives what all of it weighs.
    #[cold]
    pub(super) fn weigh(&mut self) -> usize {
        if std::mem::take(&mut self.unweighed) {
            let rests = self.choices.iter_mut().filter_map(|choice| choice.rest.as_deref_mut());
            let of_choices = rests.flat_map(|rest| {
                rest.extra.iter_mut().filter_map(|(_, value)| value.sent_mut()).chain(&mut rest.message)
            });
            for sent in self.kept.iter_mut().map(|kept| &mut kept.sent).chain(of_choices) {
                self.weight -= sent.counted();
                sent.weigh(self.limits.depth);
                self.weight += sent.counted();
            }
        }
        self.weight
    }

    /// X2: the last one stands. Most chunks say the same again.
    #[inline]
    pub(crate) fn keep(&mut self, name: &'static str, raw: &[u8]) -> Result<(), Error> {
        if self.keeps(name, raw) {
            return Ok(());
        }
        if memchr(b'\\', raw).is_some() {
            self.value_at(raw, Place::default());
        }
        let mut sent = Sent::new(raw);
        self.said = 0;
        let place = self.kept.iter().position(|kept| kept.name == name);
        let Some(place) = place else {
            self.charge_sent(name, &mut sent)?;
            push(&mut self.kept, Kept { name, sent });
            return Ok(());
        };
        let former = self.kept.get_mut(place).map(|kept| std::mem::take(&mut kept.sent)).unwrap_or_default();
        self.discharge(name.len() + former.counted());
        let result = self.charge_sent(name, &mut sent);
        if let Some(kept) = self.kept.get_mut(place) {
            kept.sent = if result.is_ok() { sent } else { former };
        }
        result
    }

    /// Whether that is what is kept under the name already. Escapes are looked at each time, for what they report (P5).
    pub(super) fn keeps(&self, name: &str, raw: &[u8]) -> bool {
        self.kept.iter().any(|kept| kept.name == name && kept.sent.raw() == raw) && memchr(b'\\', raw).is_none()
    }

    /// An unknown member of a delta (X2).
    pub(crate) fn delta_extra(&mut self, name: (&[u8], u8), raw: &[u8]) -> Result<(), Error> {
        if name.1 == 0 && self.says_again(name.0, raw) {
            return Ok(());
        }
        let name = self.name_at(name, self.place());
        match &*name {
            "audio" if raw.first() == Some(&b'{') => self.audio(raw),
            // Its pieces are looked at one by one.
            DETAILS => {
                let value = self.value(raw);
                self.lay(&name, value)
            }
            _ => {
                let value = self.sent(raw, self.place());
                self.lay(&name, value)
            }
        }
    }

    /// Whether an unknown member is a number or says what is kept; a number is kept then.
    fn says_again(&mut self, name: &[u8], raw: &[u8]) -> bool {
        match (std::str::from_utf8(name).ok().and_then(|name| self.unknown(name)), raw) {
            (Some(Value::Null), b"null") => true,
            (Some(value), b"[]") => value.is_array(),
            (Some(Value::Source(source)), [b'{', ..]) => source.raw() == raw,
            (Some(Value::String(text)), [b'"', raw @ .., b'"']) => text.as_bytes() == raw && !raw.contains(&b'\\'),
            (Some(Value::Number(number)), [b'-' | b'0'..=b'9', ..]) => {
                // One number weighs what another does.
                if number.as_bytes() != raw {
                    *number = lossy(raw).into();
                }
                true
            }
            _ => false,
        }
    }

    /// Lays a value over an unknown member of the choice: lists append, of the rest the last one stands.
    pub(super) fn lay(&mut self, name: &str, mut value: Value) -> Result<(), Error> {
        let Some(former) = self.unknown(name).map(|known| std::mem::replace(known, Value::Null)) else {
            self.charge_value(name, &mut value)?;
            self.give_extra(name, value);
            return Ok(());
        };
        let (value, result) = if former.is_array() && value.is_array() {
            self.appended(former, value)
        } else {
            self.discharge(former.counted());
            let result = self.charge_value("", &mut value);
            (if result.is_ok() { value } else { former }, result)
        };
        self.give_extra(name, value);
        result
    }

    /// A list, and another behind it if the limit lets it.
    fn appended(&mut self, list: Value, more: Value) -> (Value, Result<(), Error>) {
        let list = if matches!(list, Value::Source(_)) { self.looked_into(list) } else { list };
        let (Value::Array(mut list), Value::Array(more)) = (list, more.into_plain()) else {
            return (Value::Null, Ok(()));
        };
        let result = self.charge(more.iter().map(Value::weight).sum());
        if result.is_ok() {
            list.extend(more);
        }
        (Value::Array(list), result)
    }

    /// The value of what is kept as sent; it counts for what it weighs then.
    fn looked_into(&mut self, sent: Value) -> Value {
        self.discharge(sent.counted());
        let value = sent.into_plain();
        self.weight += value.weight();
        value
    }

    /// Audio comes in pieces: its data and its transcript join.
    fn audio(&mut self, raw: &[u8]) -> Result<(), Error> {
        if !matches!(self.unknown("audio"), Some(Value::Object(_))) {
            self.forget_halves(Owner::Audio);
            self.lay("audio", Value::Object(Members::new()))?;
        }
        let Some(Value::Object(into)) = self.unknown("audio") else { return Ok(()) };
        let mut into = std::mem::take(into);
        let result = with_spare(|tape| match tape.read(raw, self.limits.depth) {
            Ok(()) => self.merge_all(&mut into, &Piece { raw, tape, index: 0, owner: Owner::Audio }),
            Err(_) => Ok(()),
        });
        self.give_extra("audio", Value::Object(into));
        result
    }

    /// The unknown member of that name of the choice.
    fn unknown(&mut self, name: &str) -> Option<&mut Value> {
        self.choices.get_mut(self.current)?.rest.as_mut()?.extra.find(name)
    }

    /// X4: the last message is kept until the end.
    pub(crate) fn message(&mut self, raw: &[u8]) -> Result<(), Error> {
        let slot = self.current;
        let former = self.choices.get_mut(slot).and_then(|choice| choice.rest.as_mut()?.message.take());
        self.discharge(former.map_or(0, |former| former.counted()));
        let mut message = Sent::new(raw);
        self.charge_sent("", &mut message)?;
        if let Some(choice) = self.choices.get_mut(slot) {
            choice.rest().message = Some(message);
        }
        Ok(())
    }
}
