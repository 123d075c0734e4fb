//! Taking things back: cancellations, removed blobs.
//!
//! What is taken back is named by offset, in the head's causes, so that it can still be found
//! when the words of the entry that takes it back are themselves erased.

use crate::entry::Entry;
use crate::kv::Space;
use crate::view::fold::{Fold, contradiction, row_error};
use crate::view::row::{EventAt, EventRow, Made};
use crate::view::{ViewError, key};

impl Fold<'_> {
    /// Takes events out of every list. The rows by id stay: a cancelled event can still be read.
    pub(crate) fn cancel(&mut self, entry: &Entry) -> Result<(), ViewError> {
        if entry.head.causes.is_empty() {
            return Err(contradiction(entry, "a cancellation names no event in its causes"));
        }
        for offset in &entry.head.causes {
            let Some(mut row) = self.event_of(*offset)? else {
                continue;
            };
            // An erased event has no flag left to set: it is in no list already, and a replay
            // that finds it erased from the start must give the same row.
            let Some(mut facets) = row.facets.take() else {
                continue;
            };
            if facets.excluded {
                continue;
            }
            self.unindex(&row, &facets);
            facets.excluded = true;
            row.facets = Some(facets);
            self.counts.excluded += 1;
            self.put(Space::Events, key::event(row.tenant, &row.id), row.encode());
        }
        Ok(())
    }

    /// Removes blobs. References to them stay.
    pub(crate) fn blob_removed(&mut self, entry: &Entry) -> Result<(), ViewError> {
        if entry.head.causes.is_empty() {
            return Err(contradiction(entry, "a removal names no blob in its causes"));
        }
        for offset in &entry.head.causes {
            if let Some((tenant, Made::Blob(Some(id)))) = self.made_by(*offset)? {
                self.drop_blob(key::blob(tenant, &id))?;
            }
        }
        Ok(())
    }

    pub(crate) fn drop_blob(&mut self, key: Vec<u8>) -> Result<(), ViewError> {
        if self.get(Space::Blobs, &key)?.is_some() {
            self.counts.blobs -= 1;
            self.delete(Space::Blobs, key);
        }
        Ok(())
    }

    /// The event that an entry is.
    pub(crate) fn event_of(&self, offset: u64) -> Result<Option<EventRow>, ViewError> {
        let at = self.get(Space::Events, &key::event_at(offset))?;
        let at = at.map(|bytes| EventAt::decode(&bytes)).transpose();
        match at.map_err(row_error(Space::Events))? {
            None => Ok(None),
            Some(at) => self.event(at.tenant, &at.id),
        }
    }

    /// What an entry that is no event made.
    pub(crate) fn made_by(&self, offset: u64) -> Result<Option<(u32, Made)>, ViewError> {
        let made = self.get(Space::Events, &key::made_at(offset))?;
        made.map(|bytes| Made::decode(&bytes)).transpose().map_err(row_error(Space::Events))
    }
}
