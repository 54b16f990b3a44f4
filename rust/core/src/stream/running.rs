//! Runs: events in a row that one template recognises, and that bring one fragment of one text each. They are taken in
//! one pass, with nothing looked at but their bytes.

use super::Assembler;
use crate::chunk::View;
use crate::template::{Closing, Opening, Pattern, Template};

impl Assembler {
    /// Takes the event at `at` if it goes on with a text that is open, and where `is_repeated` those behind it, too. Says
    /// whether the template is known not to recognise the next one.
    pub(super) fn run(
        &mut self,
        template: &Template,
        pattern: &Pattern<'_>,
        is_repeated: bool,
        input: &[u8],
        at: &mut usize,
    ) -> bool {
        let bound = self.limit().min(self.allowance);
        let view = View::plain(template.bytes());
        let (frame, mut within) = (self.frame, first(input, *at, bound));
        let (mut opening, mut looked, mut differs) = (pattern.open(within), 0, false);
        'calls: while let Some(Opening { index, at: mut begin }) = opening {
            let Some(mut run) = self.fold.begin_run(&template.body, index, &view) else { break };
            loop {
                let end = pattern.close(within, begin, run.text);
                let Closing::Whole(end) = end.filter(|_| run.keep()) else {
                    (looked, differs) = (begin + run.pending(), end == Closing::Differs);
                    break 'calls;
                };
                self.frame += 1;
                *at += end;
                within = first(input, *at, bound);
                if within.is_empty() || !is_repeated {
                    within = &[];
                    break 'calls;
                }
                opening = pattern.open(within);
                match opening {
                    Some(next) if next.index == index => begin = next.at,
                    _ => break,
                }
            }
        }
        if opening.is_none() {
            (looked, differs) = pattern.vain(within);
        }
        self.looked_in_vain(looked.min(within.len()));
        if self.frame > frame {
            self.fold.quirks.frame = Some(self.frame - 1);
        }
        differs
    }
}

/// What `input` holds from `at` on, `most` bytes of it.
#[inline]
fn first(input: &[u8], at: usize, most: usize) -> &[u8] {
    let rest = input.get(at..).unwrap_or_default();
    rest.get(..most).unwrap_or(rest)
}
