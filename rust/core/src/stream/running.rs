//! Runs: events in a row that one template recognises, and that bring one fragment of one text each. They are taken in
//! one pass, with nothing looked at but their bytes.

use super::Assembler;
use crate::chunk::View;
use crate::template::{Opening, Pattern, Template};

impl Assembler {
    /// Takes the event at `at` if it goes on with a text that is open, and where `is_repeated` those behind it, too.
    pub(super) fn run(
        &mut self,
        template: &Template,
        pattern: &Pattern<'_>,
        is_repeated: bool,
        input: &[u8],
        at: &mut usize,
    ) {
        let bound = self.limit().min(self.allowance);
        let view = View::plain(template.bytes());
        let (frame, mut vain, mut within) = (self.frame, 0, first(input, *at, bound));
        let mut opening = pattern.open(within);
        'calls: while let Some(Opening { index, at: mut begin }) = opening {
            let Some(mut run) = self.fold.begin_run(&template.body, index, &view) else { break };
            loop {
                let end = pattern.close(within, begin, run.text);
                let Some(end) = end.filter(|_| run.keep()) else {
                    vain = run.pending();
                    break 'calls;
                };
                self.frame += 1;
                *at += end;
                within = first(input, *at, bound);
                if within.is_empty() || !is_repeated {
                    break 'calls;
                }
                opening = pattern.open(within);
                match opening {
                    Some(next) if next.index == index => begin = next.at,
                    _ => break,
                }
            }
        }
        if opening.is_none() || vain > 0 {
            self.looked_in_vain((pattern.length() + vain).min(within.len()));
        }
        if self.frame > frame {
            self.fold.quirks.frame = Some(self.frame - 1);
        }
    }
}

/// What `input` holds from `at` on, `most` bytes of it.
#[inline]
fn first(input: &[u8], at: usize, most: usize) -> &[u8] {
    let rest = input.get(at..).unwrap_or_default();
    rest.get(..most).unwrap_or(rest)
}
