//! Maps that hold a few entries as a rule, and as many as somebody sends.

use std::borrow::Borrow;
use std::collections::BTreeMap;

/// Entries that are looked through one by one.
const FEW: usize = 8;

/// A map: a short list, or a tree once the list would be long.
#[derive(Clone, Debug)]
pub(crate) enum Few<K, V> {
    List(Vec<(K, V)>),
    Tree(BTreeMap<K, V>),
}

impl<K, V> Default for Few<K, V> {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl<K: Ord, V> Few<K, V> {
    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match self {
            Self::List(list) => list.iter().find(|(known, _)| known.borrow() == key).map(|(_, value)| value),
            Self::Tree(tree) => tree.get(key),
        }
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        match self {
            Self::List(list) => list.iter_mut().find(|(known, _)| known.borrow() == key).map(|(_, value)| value),
            Self::Tree(tree) => tree.get_mut(key),
        }
    }

    /// Sets the value of a key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        match self {
            Self::Tree(tree) => {
                tree.insert(key, value);
            }
            Self::List(list) => {
                if let Some(known) = list.iter_mut().find(|(known, _)| *known == key) {
                    known.1 = value;
                } else if list.len() < FEW {
                    push(list, (key, value));
                } else {
                    let mut tree: BTreeMap<K, V> = std::mem::take(list).into_iter().collect();
                    tree.insert(key, value);
                    *self = Self::Tree(tree);
                }
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Tree(tree) => tree.len(),
        }
    }
}

/// Adds to a list that mostly stays short, without room for more while it is.
pub(crate) fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() < 4 {
        list.reserve_exact(1);
    }
    list.push(item);
}
