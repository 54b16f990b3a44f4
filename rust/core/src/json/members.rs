//! The members of an object. Few are looked through; of many the places are known by name, so that as many as somebody
//! sends are found in time.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use super::Value;

/// Members that are looked through one by one.
const FEW: usize = 16;

/// Members in the order in which their names came first.
#[derive(Debug, Default)]
pub struct Members {
    list: Vec<(String, Value)>,
    /// Where each name stands, of many members.
    #[expect(clippy::box_collection, reason = "a map is larger than the list, and few objects need one")]
    places: Option<Box<HashMap<String, usize>>>,
}

impl Members {
    /// No members.
    #[must_use]
    pub const fn new() -> Self {
        Self { list: Vec::new(), places: None }
    }

    /// Where the member of that name stands.
    #[inline]
    pub(crate) fn place(&mut self, name: &str) -> Option<usize> {
        if self.list.len() <= FEW {
            return self.list.iter().position(|member| member.0 == name);
        }
        let list = &self.list;
        let places = self.places.get_or_insert_with(|| {
            Box::new(list.iter().enumerate().rev().map(|(place, member)| (member.0.clone(), place)).collect())
        });
        places.get(name).copied()
    }

    /// The member of that name.
    #[inline]
    pub(crate) fn find(&mut self, name: &str) -> Option<&mut Value> {
        let place = self.place(name)?;
        self.list.get_mut(place).map(|member| &mut member.1)
    }

    /// Adds a member whose name is none of those that are there.
    #[inline]
    pub(crate) fn push(&mut self, name: String, value: Value) {
        if let Some(places) = &mut self.places {
            places.insert(name.clone(), self.list.len());
        }
        self.list.push((name, value));
    }

    /// Sets the member of that name.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        match self.find(name) {
            Some(member) => *member = value,
            None => self.push(name.to_owned(), value),
        }
    }
}

/// Of a copy the places are found when they are needed.
impl Clone for Members {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), places: None }
    }
}

impl Eq for Members {}

impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Deref for Members {
    type Target = [(String, Value)];

    fn deref(&self) -> &Self::Target {
        &self.list
    }
}

/// The names must stay as they are.
impl DerefMut for Members {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.list
    }
}

impl From<Vec<(String, Value)>> for Members {
    fn from(list: Vec<(String, Value)>) -> Self {
        Self { list, places: None }
    }
}

impl FromIterator<(String, Value)> for Members {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(members: I) -> Self {
        members.into_iter().collect::<Vec<_>>().into()
    }
}

impl Extend<(String, Value)> for Members {
    fn extend<I: IntoIterator<Item = (String, Value)>>(&mut self, members: I) {
        members.into_iter().for_each(|(name, value)| self.push(name, value));
    }
}

impl IntoIterator for Members {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}
