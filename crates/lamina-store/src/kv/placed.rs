//! Which rows stand side by side on disk.
//!
//! A key begins with its tenant and the kind of its row, and goes on with what it is about: a scope, an entry of the log, an
//! id. So the rows of one kind would stand together, and every table that is written has some from the end of each kind: it
//! reaches over everything that was written before, and all of that is merged with it, again and again. Rows that are
//! placed stand by what they are about, and by their kind after that. What is new comes at the end then, where nothing has
//! to be merged, and what is asked of a scope is in few places.
//!
//! Nobody above knows: keys are given and shown as they are. Only a walk over all of a space shows what is in it on disk.

use std::io;
use std::ops::ControlFlow;

use crate::kv::{Space, Visit};

/// Bytes of a tenant, and of a tenant and a kind.
const TENANT: usize = 4;
const KIND: usize = TENANT + 1;
/// Kinds have smaller numbers; with this they are of records.
const OF_RECORDS: u8 = 128;

/// What the keys of a kind begin with, after tenant and kind. One that tells young from old: then what is new comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// The ordinal of a scope.
    Scope,
    /// The offset of an entry.
    Entry,
    /// An id that begins with a time.
    Id,
}

impl Lead {
    fn bytes(self) -> usize {
        match self {
            Lead::Scope | Lead::Entry => 8,
            Lead::Id => 16,
        }
    }

    /// Where its rows stand.
    fn space(self) -> Space {
        match self {
            Lead::Scope => Space::OfScopes,
            Lead::Entry => Space::OfEntries,
            Lead::Id => Space::OfIds,
        }
    }
}

/// What the keys of each kind begin with.
#[derive(Debug, Clone)]
pub struct Placement {
    records: [Option<Lead>; OF_RECORDS as usize],
    sources: [Option<Lead>; OF_RECORDS as usize],
}

impl Default for Placement {
    /// Nothing is placed.
    fn default() -> Placement {
        let none = [None; OF_RECORDS as usize];
        Placement { records: none, sources: none }
    }
}

/// Where a walk leads.
#[derive(Debug, PartialEq, Eq)]
struct Walk {
    lead: Lead,
    from: Vec<u8>,
    /// Empty: to the end.
    to: Vec<u8>,
    /// Rows of other kinds stand in between, or rows beyond the bounds.
    mixed: bool,
}

impl Placement {
    /// Has rows of these kinds of records and sources placed.
    #[must_use]
    pub fn with(mut self, space: Space, lead: Lead, kinds: impl IntoIterator<Item = u8>) -> Self {
        for kind in kinds {
            let places = self.places_mut(space).expect("records and sources can be placed");
            *places.get_mut(usize::from(kind)).expect("kinds are below 128") = Some(lead);
        }
        self
    }

    fn places_mut(&mut self, space: Space) -> Option<&mut [Option<Lead>]> {
        match space {
            Space::Records => Some(&mut self.records),
            Space::Sources => Some(&mut self.sources),
            _ => None,
        }
    }

    fn lead(&self, space: Space, key: &[u8]) -> Option<Lead> {
        let places = match space {
            Space::Records => &self.records,
            Space::Sources => &self.sources,
            _ => return None,
        };
        places.get(usize::from(*key.get(TENANT)?)).copied().flatten()
    }

    /// Whether a key is another one on disk.
    pub(super) fn is_placed(&self, space: Space, key: &[u8]) -> bool {
        self.lead(space, key).is_some()
    }

    /// Makes a key what it is on disk. Gives the space that it is in there.
    pub(super) fn place(&self, space: Space, key: &mut [u8]) -> Space {
        let Some(lead) = self.lead(space, key) else { return space };
        let Some(moved) = key.get_mut(TENANT..KIND + lead.bytes()) else { return space };
        if let (Space::Records, Some(kind)) = (space, moved.first_mut()) {
            *kind |= OF_RECORDS;
        }
        moved.rotate_left(1);
        lead.space()
    }

    /// Shows the keys of `from..to`, given a walk over what stands in a space.
    pub(super) fn scan(
        &self,
        space: Space,
        (from, to): (&[u8], &[u8]),
        visit: &mut Visit<'_>,
        walk: impl FnOnce(Space, (&[u8], &[u8]), &mut Visit<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(way) = self.walk(space, from, to)? else { return walk(space, (from, to), visit) };
        let mut shown = Vec::new();
        walk(way.lead.space(), (&way.from, &way.to), &mut |key, value| {
            shown.clear();
            shown.extend_from_slice(key);
            match way.back(space, (from, to), &mut shown) {
                true => visit(&shown, value),
                false => ControlFlow::Continue(()),
            }
        })
    }

    /// Where to walk for the keys of `from..to`; `None` if they stand where they say.
    fn walk(&self, space: Space, from: &[u8], to: &[u8]) -> io::Result<Option<Walk>> {
        let Some(lead) = self.lead(space, from) else { return Ok(None) };
        let (Some(kind), known) = (from.get(..KIND), KIND + lead.bytes()) else { return Ok(None) };
        let end = after(kind.to_vec());
        if to.is_empty() || to > end.as_slice() {
            let what = "a walk over several kinds of rows that are placed";
            return Err(io::Error::new(io::ErrorKind::Unsupported, what));
        }
        let placed = |key: &[u8]| {
            let mut key = key.to_vec();
            self.place(space, &mut key);
            key
        };
        if let Some(one) = from.get(..known)
            && to <= after(one.to_vec()).as_slice()
        {
            let to = if to.starts_with(one) { placed(to) } else { after(placed(one)) };
            return Ok(Some(Walk { lead, from: placed(from), to, mixed: false }));
        }
        // By what they are about, as far as that is said.
        let about = |key: &[u8]| {
            let tenant = key.get(..TENANT).unwrap_or(key);
            let about = key.get(KIND..known.min(key.len())).unwrap_or_default();
            [tenant, about].concat()
        };
        let to = match to {
            to if to == end.as_slice() => after(about(kind)),
            to if to.len() > known => after(about(to)),
            to => about(to),
        };
        Ok(Some(Walk { lead, from: about(from), to, mixed: true }))
    }
}

impl Walk {
    /// Makes a key from the disk what it was. `false` if it is of another kind than where the walk began, or beyond it.
    fn back(&self, space: Space, (from, to): (&[u8], &[u8]), key: &mut [u8]) -> bool {
        let Some(moved) = key.get_mut(TENANT..KIND + self.lead.bytes()) else { return false };
        moved.rotate_right(1);
        let Some(kind) = moved.first_mut() else { return false };
        if (*kind >= OF_RECORDS) != (space == Space::Records) {
            return false;
        }
        *kind &= !OF_RECORDS;
        !self.mixed || (from <= &*key && &*key < to)
    }
}

/// The first key after all that begin with this one; empty if there is none.
fn after(mut key: Vec<u8>) -> Vec<u8> {
    while let Some(last) = key.pop() {
        if last < u8::MAX {
            key.push(last + 1);
            break;
        }
    }
    key
}

#[cfg(test)]
mod tests;
