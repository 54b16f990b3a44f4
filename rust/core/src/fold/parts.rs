//! The texts of blocks (W2, W3, P5).

use std::borrow::Cow;

use super::blocks::Part;
use super::choice::Text;
use super::{Fold, report_lone};
use crate::chunk::{PartForm, TextKind};
use crate::error::Error;
use crate::json::Value;
use crate::json::text::{Joiner, decode, lossy};
use crate::quirk::QuirkKind;

/// A block, and which of its parts.
pub(crate) type At = (usize, usize);

impl Fold {
    pub(crate) fn part_mut(&mut self, at: At) -> Option<&mut Part> {
        self.block_mut(at.0)?.parts.get_mut(at.1)
    }

    /// A fragment for the part of that form and place of the block that operations are about.
    #[inline]
    pub(super) fn part_delta(
        &mut self,
        form: &'static PartForm,
        place: i64,
        raw: &[u8],
        flags: u8,
    ) -> Result<(), Error> {
        let Some(block) = self.block else { return Ok(()) };
        let Some(part) = self.block_mut(block).map(|block| block.part(form, place)) else { return Ok(()) };
        self.part_text((block, part), raw, flags)
    }

    /// Appends a fragment, the raw text of a JSON string, to a part and so to a text of the choice.
    #[inline]
    pub(crate) fn part_text(&mut self, at: At, raw: &[u8], flags: u8) -> Result<(), Error> {
        if raw.is_empty() {
            return Ok(());
        }
        self.note_late();
        self.grow_part(at, true, |joiner, text| joiner.append(raw, flags, text))
    }

    /// Ends a part's text: a surrogate that waits becomes U+FFFD, which is not counted (P5).
    pub(crate) fn end_part(&mut self, at: At) -> Result<(), Error> {
        self.grow_part(at, false, Joiner::flush)
    }

    /// What `grow` appends to the text of the choice belongs to the part, and is shown.
    #[inline]
    fn grow_part(&mut self, at: At, counts: bool, grow: impl FnOnce(&mut Joiner, &mut Vec<u8>)) -> Result<(), Error> {
        let slot = self.current;
        let part = self.blocks.as_mut().and_then(|blocks| blocks.all.get_mut(at.0)?.parts.get_mut(at.1));
        let (Some(part), Some(choice)) = (part, self.choices.get_mut(slot)) else { return Ok(()) };
        let (kind, index) = (part.form.text, choice.index);
        let text = &mut choice.text(kind).text;
        let start = text.len();
        grow(&mut part.joiner, text);
        let end = text.len();
        let place = crate::quirk::Place { choice: Some(index), call: None };
        report_lone(&mut self.quirks, std::mem::take(&mut part.joiner.lone), place);
        if counts && self.weight + (end - start) > self.limits.text {
            text.truncate(start);
            return self.charge(end - start);
        }
        self.weight += if counts { end - start } else { 0 };
        match part.ranges.last_mut() {
            _ if start == end => {}
            Some(last) if last.1 == start => last.1 = end,
            _ => part.ranges.push((start, end)),
        }
        self.events.text(kind, slot, start, end);
        Ok(())
    }

    /// What a part was said to be as a whole (W3): it ends the text, fills an empty one, else is compared; the first one
    /// that differs stands.
    pub(crate) fn part_done(&mut self, at: At, raw: &[u8], flags: u8) -> Result<(), Error> {
        self.end_part(at)?;
        let is_empty = self.part_mut(at).is_none_or(|part| part.ranges.is_empty());
        if is_empty {
            self.part_text(at, raw, flags)?;
            return self.end_part(at);
        }
        let mut lone = 0;
        let value = decode(raw, flags, &mut lone);
        let place = self.place();
        report_lone(&mut self.quirks, lone, place);
        let Some(part) = self.blocks().get(at.0).and_then(|block| block.parts.get(at.1)) else { return Ok(()) };
        if self.part_value(part) == value {
            return Ok(());
        }
        let (stands, kind) = (part.done.is_none(), part.form.text);
        self.quirk(QuirkKind::SnapshotDiffers, None, || value.clone().into_owned());
        if stands {
            self.charge(value.len())?;
            if let Some(part) = self.part_mut(at) {
                part.done = Some(value.into());
            }
            if let Some(standing) = self.blocks_mut().standing.get_mut(kind as usize) {
                *standing = true;
            }
        }
        Ok(())
    }

    /// The text of a part as it stands.
    pub(crate) fn part_value<'a>(&'a self, part: &'a Part) -> Cow<'a, str> {
        if let Some(done) = &part.done {
            return Cow::Borrowed(done);
        }
        let text = self.choices.first().map_or(&[][..], |choice| match part.form.text {
            TextKind::Content => &choice.content.text,
            TextKind::Reasoning => &choice.reasoning.text,
            TextKind::Refusal => &choice.refusal.text,
        });
        let range = |&(start, end): &(usize, usize)| text.get(start..end).unwrap_or_default();
        match &*part.ranges {
            [] => Cow::Borrowed(""),
            [one] => lossy(range(one)),
            many => Cow::Owned(lossy(&many.iter().flat_map(range).copied().collect::<Vec<u8>>()).into_owned()),
        }
    }

    /// A text of the choice as its parts have it, where one of them stands otherwise than it was streamed (W3).
    pub(super) fn standing_text(&self, kind: TextKind) -> Option<String> {
        if !*self.blocks.as_ref()?.standing.get(kind as usize)? {
            return None;
        }
        let parts = self.blocks().iter().flat_map(|block| &block.parts);
        Some(parts.filter(|part| part.form.text == kind).map(|part| self.part_value(part)).collect())
    }

    /// Annotations of a part: they are the choice's, too (X2).
    pub(crate) fn annotate(&mut self, at: At, member: &str, annotations: Vec<Value>) -> Result<(), Error> {
        let Some(part) = self.part_mut(at) else { return Ok(()) };
        part.is_annotated = true;
        part.annotations.extend(annotations.iter().cloned());
        self.lay(member, Value::Array(annotations))
    }

    /// Appends a fragment to a text that is a block's alone.
    pub(crate) fn own_text(&mut self, block: usize, path: &'static str, raw: &[u8], flags: u8) -> Result<(), Error> {
        self.grow_own(block, path, |joiner, text| joiner.append(raw, flags, text))
    }

    pub(super) fn grow_own(
        &mut self,
        block: usize,
        path: &'static str,
        grow: impl FnOnce(&mut Joiner, &mut Vec<u8>),
    ) -> Result<(), Error> {
        let Some(texts) = self.block_mut(block).map(|block| &mut block.own) else { return Ok(()) };
        let at = texts.iter().position(|own| own.0 == path).unwrap_or(texts.len());
        if at == texts.len() {
            texts.push((path, Text::default()));
        }
        let Some((_, own)) = texts.get_mut(at) else { return Ok(()) };
        let start = own.text.len();
        grow(&mut own.joiner, &mut own.text);
        let (added, lone) = (own.text.len() - start, std::mem::take(&mut own.joiner.lone));
        let place = self.place();
        report_lone(&mut self.quirks, lone, place);
        let charged = self.charge(added);
        if charged.is_err()
            && let Some((_, own)) = self.block_mut(block).and_then(|block| block.own.get_mut(at))
        {
            own.text.truncate(start);
        }
        charged
    }

    /// Drops a text that is a block's alone; another one comes in its place.
    pub(crate) fn drop_own(&mut self, block: usize, path: &'static str) {
        let Some(texts) = self.block_mut(block).map(|block| &mut block.own) else { return };
        if let Some(at) = texts.iter().position(|own| own.0 == path) {
            let (_, text) = texts.remove(at);
            self.discharge(text.text.len());
        }
    }

    /// Ends the texts of a block (P5).
    pub(crate) fn end_texts(&mut self, block: usize) -> Result<(), Error> {
        let Some((parts, texts)) = self.block_mut(block).map(|block| (block.parts.len(), block.own.len())) else {
            return Ok(());
        };
        for part in 0..parts {
            self.end_part((block, part))?;
        }
        for own in 0..texts {
            let Some((_, own)) = self.block_mut(block).and_then(|block| block.own.get_mut(own)) else { continue };
            own.joiner.flush(&mut own.text);
            let lone = std::mem::take(&mut own.joiner.lone);
            let place = self.place();
            report_lone(&mut self.quirks, lone, place);
        }
        Ok(())
    }

    /// Ends the texts of the blocks that have not ended.
    pub(super) fn end_blocks(&mut self) -> Result<(), Error> {
        for block in 0..self.blocks().len() {
            if self.blocks().get(block).is_some_and(|block| !block.is_closed) {
                self.end_texts(block)?;
            }
        }
        Ok(())
    }
}
