//! How a payload differs from the one that its template was learnt from.

use super::HOLES;
use crate::chunk::View;
use crate::json::scan::flag;

/// The text in a hole: its flags, or where it stands decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Text {
    Raw(u8),
    Decoded(u32, u32),
}

impl Default for Text {
    fn default() -> Self {
        Self::Raw(0)
    }
}

/// By how much what stands behind each hole is shifted, and the texts in the holes.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    pub(super) shifts: [i64; HOLES + 1],
    pub(super) holes: [Text; HOLES],
    /// Texts that were decoded on the way.
    pub(crate) decoded: Vec<u8>,
}

/// What was found in the first holes of an event whose rest has not come: the shift behind each and its text's flags.
pub(crate) type Saved = [(i32, u8); 8];

impl Marks {
    /// The holes from `first` on are as they are in the template.
    #[inline]
    pub(super) fn set_steady(&mut self, first: usize, texts: &[Text], shift: i64) {
        let behind = first + texts.len();
        if let (Some(shifts), Some(holes)) =
            (self.shifts.get_mut(first + 1..=behind), self.holes.get_mut(first..behind))
        {
            shifts.fill(shift);
            holes.copy_from_slice(texts);
        }
    }

    #[inline]
    pub(super) fn set(&mut self, hole: usize, shift: i64, text: Text) {
        if let (Some(slot), Some(mark)) = (self.shifts.get_mut(hole + 1), self.holes.get_mut(hole)) {
            (*slot, *mark) = (shift, text);
        }
    }

    /// Keeps what was found in the holes from `first` on up to `behind`; says whether there is room for it.
    pub(crate) fn save(&self, first: usize, behind: usize, saved: &mut Saved) -> bool {
        for hole in first..behind {
            let (Some(slot), Some(&shift), Some(text)) =
                (saved.get_mut(hole), self.shifts.get(hole + 1), self.holes.get(hole))
            else {
                return false;
            };
            // What was decoded is not kept: its raw text is decoded later.
            let flags = if let Text::Raw(flags) = text { *flags } else { flag::ESCAPED };
            let Ok(shift) = i32::try_from(shift) else { return false };
            *slot = (shift, flags);
        }
        true
    }

    /// Takes back what was kept of the first holes.
    pub(crate) fn restore(&mut self, saved: &Saved, holes: usize) {
        let marks = self.shifts.iter_mut().skip(1).zip(&mut self.holes).take(holes);
        for ((shift, text), (saved_shift, flags)) in marks.zip(saved) {
            (*shift, *text) = (i64::from(*saved_shift), Text::Raw(*flags));
        }
    }

    /// The payload, seen through the operations of the template of that number.
    #[inline]
    pub(crate) fn view<'a>(&'a self, bytes: &'a [u8], template: u64) -> View<'a> {
        View { bytes, shifts: &self.shifts, holes: &self.holes, decoded: &self.decoded, template }
    }
}
