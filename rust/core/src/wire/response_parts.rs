//! The texts of output items, part by part: as streamed, and as said to be when done (W3).

use super::members::{Found, Object, Reader};
use super::response_items::{MESSAGE, REASONING};
use crate::chunk::{PartForm, Says, TextKind};
use crate::error::Error;
use crate::fold::parts::At;

pub(super) static OUTPUT_TEXT: PartForm =
    PartForm { kind: "output_text", member: "text", list: "content", text: TextKind::Content };
pub(super) static REFUSAL: PartForm =
    PartForm { kind: "refusal", member: "refusal", list: "content", text: TextKind::Refusal };
pub(super) static REASONING_TEXT: PartForm =
    PartForm { kind: "reasoning_text", member: "text", list: "content", text: TextKind::Reasoning };
pub(super) static SUMMARY_TEXT: PartForm =
    PartForm { kind: "summary_text", member: "text", list: "summary", text: TextKind::Reasoning };

/// The parts of that type that have a text.
fn part_form(kind: &str) -> Option<&'static PartForm> {
    [&OUTPUT_TEXT, &REFUSAL, &REASONING_TEXT, &SUMMARY_TEXT].into_iter().find(|form| form.kind == kind)
}

impl<'a> Reader<'_, 'a> {
    /// The parts that an item lists.
    pub(super) fn item_snapshot(&mut self, entry: Object<'a>, item: usize) -> Result<(), Error> {
        self.list_snapshot(entry, item, SUMMARY_TEXT.list)?;
        self.list_snapshot(entry, item, OUTPUT_TEXT.list)
    }

    fn list_snapshot(&mut self, entry: Object<'a>, item: usize, list: &'static str) -> Result<(), Error> {
        let mut listed = Vec::new();
        for (place, part) in self.objects_in(entry, list) {
            let kind = match part.string(part.member("type")) {
                Found::Given(kind) => part.text(kind, &mut 0),
                _ => continue,
            };
            if let Some(form) = part_form(&kind).filter(|form| form.list == list) {
                listed.push((part, (form, i64::try_from(place).unwrap_or(i64::MAX))));
            }
        }
        let keys: Vec<(&'static PartForm, i64)> = listed.iter().map(|(_, key)| *key).collect();
        let parts = self.fold.block_mut(item).map(|block| block.match_parts(&keys)).unwrap_or_default();
        for ((entry, (form, _)), part) in listed.into_iter().zip(parts) {
            self.part_snapshot(entry, (item, part), form)?;
        }
        Ok(())
    }

    /// What a part is said to be; its annotations count where none were streamed.
    fn part_snapshot(&mut self, entry: Object<'a>, at: At, form: &PartForm) -> Result<(), Error> {
        if let Some(text) = self.string_in(entry, form.member) {
            let (raw, flags) = self.chunk.view().text(text);
            self.fold.part_done(at, raw, flags)?;
        }
        let annotations: Vec<u32> = self.list_in(entry, "annotations").collect();
        let is_open = self.fold.part_mut(at).is_some_and(|part| !part.is_annotated);
        if annotations.is_empty() || !is_open {
            return Ok(());
        }
        let annotations = annotations.into_iter().map(|annotation| self.kept(entry, annotation, true)).collect();
        self.fold.annotate(at, "annotations", annotations)
    }

    /// A part is done.
    pub(super) fn part_event(&mut self, place_name: &'static str) -> Result<(), Error> {
        self.fold_now()?;
        let Some(part) = self.object_in(self.chunk, "part") else { return Ok(()) };
        let kind = match part.string(part.member("type")) {
            Found::Given(kind) => part.text(kind, &mut 0),
            _ => return Ok(()),
        };
        let Some(form) = part_form(&kind) else { return Ok(()) };
        let item_form = if form.text == TextKind::Reasoning { &REASONING } else { &MESSAGE };
        let id = self.item_id(self.chunk, "item_id");
        let item = self.locate(item_form.kind, id.as_deref(), Says::Other)?;
        let place = self.index_in(self.chunk, place_name).unwrap_or(0);
        match self.fold.block_mut(item).filter(|block| block.call.is_none()).map(|block| block.part(form, place)) {
            Some(at) => self.part_snapshot(part, (item, at), form),
            None => Ok(()),
        }
    }

    /// An annotation of a part.
    pub(super) fn annotation(&mut self) -> Result<(), Error> {
        self.fold_now()?;
        let Some(annotation) = self.object_in(self.chunk, "annotation") else { return Ok(()) };
        let id = self.item_id(self.chunk, "item_id");
        let item = self.locate(MESSAGE.kind, id.as_deref(), Says::Other)?;
        let place = self.index_in(self.chunk, "content_index").unwrap_or(0);
        let part = self.fold.block_mut(item).filter(|block| block.call.is_none());
        let Some(part) = part.map(|block| block.part(&OUTPUT_TEXT, place)) else { return Ok(()) };
        let annotation = self.kept(annotation, annotation.index, true);
        self.fold.annotate((item, part), "annotations", vec![annotation])
    }
}
