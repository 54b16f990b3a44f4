//! Blocks and items: what a response is made of where a wire sends it in pieces under keys. A key is an index, or an id.

use std::collections::BTreeMap;

use super::Fold;
use super::choice::Text;
use crate::chunk::{Fit, Ident, Index, ItemForm, PartForm, Says, View};
use crate::error::Error;
use crate::json::text::{Joiner, decode};
use crate::json::{Members, Value};
use crate::quirk::QuirkKind;

/// A text of a block that joins a text of its choice: the ranges of that text that are its own.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) form: &'static PartForm,
    pub(super) ranges: Vec<(usize, usize)>,
    pub(super) joiner: Joiner,
    /// What it was said to be as a whole, where that differs: it stands (W3).
    pub(super) done: Option<Box<str>>,
    pub(crate) is_annotated: bool,
    pub(crate) annotations: Vec<Value>,
}

/// A block, or an item.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) kind: Box<str>,
    /// The member that an input is streamed to, if one is.
    pub(crate) input: Option<&'static str>,
    /// The first id that it came under.
    pub(crate) id: Option<Box<str>>,
    pub(super) index: Option<i64>,
    /// The position of the call that it is.
    pub(crate) call: Option<usize>,
    pub(crate) parts: Vec<Part>,
    places: BTreeMap<(&'static str, i64), usize>,
    /// Texts that are the block's alone, under the path of their member.
    pub(crate) own: Vec<(&'static str, Text)>,
    /// What is kept of it, as sent.
    pub(crate) members: Members,
    /// What the members weigh, where they are replaced as a whole.
    pub(super) weight: usize,
    /// The members are what it came to.
    pub(crate) is_done: bool,
    /// It has ended.
    pub(crate) is_closed: bool,
}

impl Block {
    /// A block of that kind.
    pub(crate) fn of(kind: &str) -> Self {
        Self { kind: kind.into(), ..Self::default() }
    }

    /// The part of that form and place, begun where there is none.
    pub(crate) fn part(&mut self, form: &'static PartForm, place: i64) -> usize {
        let part = self.places.entry((form.kind, place)).or_insert(self.parts.len());
        if *part == self.parts.len() {
            let (ranges, joiner, annotations) = (Vec::new(), Joiner::default(), Vec::new());
            self.parts.push(Part { form, ranges, joiner, done: None, is_annotated: false, annotations });
        }
        *part
    }

    /// The parts that a list of forms and places means. A place that was not streamed is the next part of its form that
    /// is listed under no place of its own, for gateways count the places of deltas otherwise than those of the list.
    pub(crate) fn match_parts(&mut self, listed: &[(&'static PartForm, i64)]) -> Vec<usize> {
        let own: Vec<Option<usize>> =
            listed.iter().map(|(form, place)| self.places.get(&(form.kind, *place)).copied()).collect();
        let mut is_listed = vec![false; self.parts.len()];
        for part in own.iter().flatten() {
            if let Some(listed) = is_listed.get_mut(*part) {
                *listed = true;
            }
        }
        let mut spare: BTreeMap<&'static str, std::collections::VecDeque<usize>> = BTreeMap::new();
        for (part, _) in is_listed.iter().enumerate().filter(|(_, listed)| !**listed) {
            if let Some(form) = self.parts.get(part).map(|part| part.form) {
                spare.entry(form.kind).or_default().push_back(part);
            }
        }
        let mut found = Vec::with_capacity(listed.len());
        for (own, (form, place)) in own.into_iter().zip(listed) {
            let next = own.or_else(|| spare.get_mut(form.kind).and_then(std::collections::VecDeque::pop_front));
            found.push(next.unwrap_or_else(|| self.part(form, *place)));
        }
        found
    }
}

/// The blocks of a response, in order of first appearance.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) all: Vec<Block>,
    by_index: BTreeMap<Option<i64>, usize>,
    by_id: BTreeMap<Box<str>, usize>,
    /// Those that are no calls.
    pub(super) plain: usize,
    /// The texts of the choice that stand as their parts have them.
    pub(super) standing: [bool; 3],
    /// The response's own beginning was seen.
    pub(super) is_begun: bool,
}

impl Blocks {
    /// The block of that index or id. One whose index is known is not looked for by id under another index.
    fn find(&self, index: Option<i64>, id: Option<&str>) -> Option<usize> {
        if let Some(block) = index.and_then(|index| self.by_index.get(&Some(index)).copied()) {
            return Some(block);
        }
        let named = self.by_id.get(id?).copied();
        named.filter(|&block| index.is_none() || self.all.get(block).is_some_and(|block| block.index.is_none()))
    }

    /// The item that an event without any key means: the last one, unless it has ended; one that begins is another one,
    /// and what is done is of its kind.
    fn last(&self, kind: &str, says: Says) -> Option<usize> {
        let last = self.all.last().filter(|last| !last.is_closed)?;
        let fits = match says {
            Says::Begun => false,
            Says::Done => *last.kind == *kind,
            Says::Other => true,
        };
        fits.then(|| self.all.len() - 1)
    }
}

impl Fold {
    /// The blocks.
    pub(crate) fn blocks(&self) -> &[Block] {
        self.blocks.as_ref().map_or(&[], |blocks| &blocks.all)
    }

    pub(crate) fn blocks_mut(&mut self) -> &mut Blocks {
        self.blocks.get_or_insert_default()
    }

    pub(crate) fn block_mut(&mut self, block: usize) -> Option<&mut Block> {
        self.blocks.as_mut()?.all.get_mut(block)
    }

    /// The item under an index.
    pub(crate) fn item_at(&self, index: i64) -> Option<usize> {
        self.blocks.as_ref()?.by_index.get(&Some(index)).copied()
    }

    /// The item under an id.
    pub(crate) fn item_named(&self, id: &str) -> Option<usize> {
        self.blocks.as_ref()?.by_id.get(id).copied()
    }

    /// The block that operations are about.
    pub(crate) fn block(&self) -> Option<usize> {
        self.block
    }

    /// Whether this is the response's beginning: true once.
    pub(crate) fn begins(&mut self) -> bool {
        !std::mem::replace(&mut self.blocks_mut().is_begun, true)
    }

    /// Adds a block; it is the one that operations are about.
    pub(crate) fn add_block(&mut self, block: Block) -> usize {
        let blocks = self.blocks_mut();
        blocks.plain += usize::from(block.call.is_none());
        blocks.all.push(block);
        let added = blocks.all.len() - 1;
        self.block = Some(added);
        added
    }

    /// The block is the open one under that index from now on.
    pub(crate) fn bind(&mut self, index: Option<i64>, block: usize) {
        self.blocks_mut().by_index.insert(index, block);
    }

    /// The open block under that index is no longer to be found there.
    pub(crate) fn unbind(&mut self, index: Option<i64>) -> Option<usize> {
        self.blocks.as_mut()?.by_index.remove(&index)
    }

    /// Operations are about the open block under that index, if it is one of those that fit.
    #[inline]
    pub(super) fn find_block(&mut self, index: Option<i64>, fit: Fit) {
        let found = self.blocks.as_ref().and_then(|blocks| blocks.by_index.get(&index).copied());
        self.block = found.filter(|&found| {
            self.blocks().get(found).is_some_and(|block| match fit {
                Fit::Kind(kind) => *block.kind == *kind,
                Fit::Input => block.input.is_some(),
            })
        });
        if self.block.is_none() {
            self.quirk(QuirkKind::WrongType, None, || "a delta for another block".to_owned());
        }
    }

    /// Operations are about the item of that index or id, if it is one of that form, and if it is a call that has not ended.
    pub(super) fn find_item(
        &mut self,
        index: Index,
        id: Ident,
        form: &ItemForm<'_>,
        view: &View<'_>,
    ) -> Result<(), Error> {
        let mut lone = 0;
        let id = match id {
            Ident::Given(span) => {
                let (raw, flags) = view.text(span);
                Some(decode(raw, flags, &mut lone))
            }
            _ => None,
        };
        let place = self.place();
        super::report_lone(&mut self.quirks, lone, place);
        let item = self.locate(index.read(view), id.as_deref(), form, Says::Other)?;
        self.block = Some(item).filter(|&item| self.is_of(item, form, false));
        if self.block.is_none() {
            self.quirk(QuirkKind::WrongType, None, || "an event for another item".to_owned());
        }
        Ok(())
    }

    /// Whether an item takes events of that form; of a call that has ended only such as say what it came to.
    pub(crate) fn is_of(&self, item: usize, form: &ItemForm<'_>, done: bool) -> bool {
        self.blocks().get(item).is_some_and(|block| match block.call {
            None => form.call.is_none(),
            Some(call) => form.call.is_some() && *block.kind == *form.kind && (done || !self.has_ended(call)),
        })
    }

    /// The item of an event; where none is known, one of that kind begins, and so it does where a call is said to be what
    /// is known as another kind of item.
    pub(crate) fn locate(
        &mut self,
        index: Option<i64>,
        id: Option<&str>,
        form: &ItemForm<'_>,
        says: Says,
    ) -> Result<usize, Error> {
        let found = if index.is_none() && id.is_none() {
            self.quirk(QuirkKind::IndexMissing, None, String::new);
            self.blocks_mut().last(form.kind, says)
        } else {
            self.blocks_mut().find(index, id)
        };
        let is_another = |block: &Block| {
            let differs = !form.kind.is_empty() && *block.kind != *form.kind;
            says != Says::Other && differs && (form.call.is_some() || block.call.is_some())
        };
        match found.filter(|&found| !self.blocks().get(found).is_some_and(is_another)) {
            Some(item) => self.alias(item, index, id).map(|()| item),
            None => self.begin_item(index, id, form),
        }
    }

    /// Begins an item.
    pub(crate) fn begin_item(
        &mut self,
        index: Option<i64>,
        id: Option<&str>,
        form: &ItemForm<'_>,
    ) -> Result<usize, Error> {
        let before = self.blocks_mut().plain;
        let call = match form.call {
            Some(kind) => Some(self.open_call(index, None, kind, before)?),
            None => None,
        };
        let item = self.add_block(Block { kind: form.kind.into(), index, call, ..Block::default() });
        self.alias(item, index, id)?;
        Ok(item)
    }

    /// An item is known under that index and that id, too. The first id is its own.
    fn alias(&mut self, item: usize, index: Option<i64>, id: Option<&str>) -> Result<(), Error> {
        let Some(blocks) = self.blocks.as_mut() else { return Ok(()) };
        let Some(block) = blocks.all.get_mut(item) else { return Ok(()) };
        if index.is_some() {
            block.index = block.index.or(index);
            if blocks.by_index.get(&index) != Some(&item) {
                blocks.by_index.insert(index, item);
            }
        }
        let Some(id) = id else { return Ok(()) };
        block.id.get_or_insert_with(|| id.into());
        let call = block.call;
        if let Some(known) = self.blocks_mut().by_id.get_mut(id) {
            *known = item;
        } else {
            self.charge(id.len())?;
            self.blocks_mut().by_id.insert(id.into(), item);
        }
        if let Some(call) = call {
            self.name_item(call, item);
        }
        Ok(())
    }

    /// A block has ended; gives the call that it is.
    pub(crate) fn close_block(&mut self, block: usize) -> Option<usize> {
        let block = self.block_mut(block)?;
        block.is_closed = true;
        block.call
    }

    /// Keeps the members that a block begins with; their names do not repeat.
    pub(crate) fn keep_members(&mut self, block: usize, members: Members) -> Result<(), Error> {
        let mut kept = Members::new();
        let result = self.put_all(&mut kept, members);
        if let Some(block) = self.block_mut(block) {
            block.members = kept;
        }
        result
    }

    /// Keeps a member of a block; the last one stands.
    pub(crate) fn keep_member(&mut self, block: usize, name: &str, value: Value) -> Result<(), Error> {
        self.merge_member(block, name, value, false)
    }

    /// Appends to a list of a block.
    pub(crate) fn append_member(&mut self, block: usize, name: &str, value: Value) -> Result<(), Error> {
        self.merge_member(block, name, Value::Array(vec![value]), true)
    }

    fn merge_member(&mut self, block: usize, name: &str, value: Value, append: bool) -> Result<(), Error> {
        let Some(mut members) = self.block_mut(block).map(|block| std::mem::take(&mut block.members)) else {
            return Ok(());
        };
        let result = self.merge(&mut members, name, value, &[], append);
        if let Some(block) = self.block_mut(block) {
            block.members = members;
        }
        result
    }

    /// Joins a fragment to a member of a block; what stood there and is no text is replaced.
    pub(crate) fn join_member(&mut self, at: usize, name: &'static str, raw: &[u8], flags: u8) -> Result<(), Error> {
        let Some(block) = self.block_mut(at) else { return Ok(()) };
        let is_first = block.own.iter().all(|own| own.0 != name);
        if is_first {
            let mut text = Text::default();
            match block.members.iter().find(|member| member.0 == name).map(|member| &member.1) {
                Some(Value::String(standing)) => text.text.extend_from_slice(standing.as_bytes()),
                Some(standing) => {
                    let weight = standing.weight();
                    self.discharge(weight);
                }
                None => self.charge(name.len())?,
            }
            if let Some(block) = self.block_mut(at) {
                block.own.push((name, text));
            }
        }
        let result = self.own_text(at, name, raw, flags);
        // What is refused leaves the member as it was.
        if let Some(block) = self.block_mut(at).filter(|_| is_first && result.is_err()) {
            block.own.retain(|own| own.0 != name);
        }
        result
    }

    /// Keeps what the wire says that an item is; what was said when it was done stands (W3).
    pub(crate) fn keep_item(&mut self, item: usize, members: Members, done: bool) -> Result<(), Error> {
        let Some(block) = self.block_mut(item) else { return Ok(()) };
        if block.call.is_some() || (block.is_done && block.is_closed) {
            return Ok(());
        }
        let (former, value) = (block.weight, Value::Object(members));
        let weight = value.weight();
        self.recharge(former, weight)?;
        if let (Some(block), Value::Object(members)) = (self.block_mut(item), value) {
            (block.members, block.weight) = (members, weight);
            block.is_done |= done;
        }
        Ok(())
    }
}
