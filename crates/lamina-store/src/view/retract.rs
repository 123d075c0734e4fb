//! Taking things back: cancellations, removed blobs, erasures.
//!
//! What is taken back is named by offset, in the head's causes, so that it can still be found
//! when the words of the entry that takes it back are themselves erased. An erasure leaves exactly
//! the rows that a replay makes which finds the sections erased from the start.

use lamina_types::BlobId;

use crate::codec::CodecError;
use crate::entry::{Entry, SectionState};
use crate::kv::Space;
use crate::log::{ErasePayload, EraseTarget};
use crate::view::fold::{Fold, contradiction, row_error};
use crate::view::row::{BlobRow, EventAt, EventRow, Made, ScopeRow, TenantRow};
use crate::view::{Residue, ViewError, key};

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
            self.unindex(&row, &facets)?;
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
                self.drop_blob(tenant, id)?;
            }
        }
        Ok(())
    }

    /// Takes back everything that was known from the sections an erasure names.
    pub(crate) fn erase(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let SectionState::Live(bytes) = &entry.what else {
            return Err(contradiction(entry, "an erasure does not say what it erases"));
        };
        let payload = ErasePayload::decode(bytes).ok_or(ViewError::Entry {
            offset: entry.head.offset,
            source: CodecError::Malformed { field: "erase" },
        })?;
        for target in &payload.targets {
            if !target.who && !target.what {
                continue;
            }
            if let Some(row) = self.event_of(target.offset)? {
                self.erase_event(row)?;
            } else if let Some((tenant, made)) = self.made_by(target.offset)? {
                self.erase_made(target, tenant, made)?;
            }
        }
        let residue = Residue::decode(&payload.residue)
            .map_err(|source| ViewError::Entry { offset: entry.head.offset, source })?;
        for (offset, used) in &residue.keys {
            self.refuse_key((*offset, used), entry.head.recorded_at)?;
        }
        Ok(())
    }

    /// An event needs both of its sections, so losing either erases it.
    fn erase_event(&mut self, mut row: EventRow) -> Result<(), ViewError> {
        let Some(facets) = row.facets.take() else {
            return Ok(());
        };
        if facets.excluded {
            self.counts.excluded -= 1;
        } else {
            self.unindex(&row, &facets)?;
        }
        self.forget_key(row.tenant, &facets.idempotency, row.offset)?;
        for blob in &facets.blobs {
            self.delete(Space::Blobs, key::blob_reference(row.tenant, blob, row.offset));
        }
        if let Some(cited) = &facets.cited {
            self.delete(Space::Entries, key::cited_origin(row.tenant, cited, row.offset));
        }
        self.counts.erased += 1;
        self.put(Space::Events, key::event(row.tenant, &row.id), row.encode());
        Ok(())
    }

    /// Of other entries only `what` made rows.
    fn erase_made(
        &mut self,
        target: &EraseTarget,
        tenant: u32,
        made: Made,
    ) -> Result<(), ViewError> {
        if !target.what {
            return Ok(());
        }
        match made {
            Made::Blob(None) => Ok(()),
            Made::Blob(Some(id)) => {
                let erased = Made::Blob(None).encode(tenant);
                self.put(Space::Entries, key::made_at(target.offset), erased);
                self.drop_blob(tenant, id)
            }
            Made::Scope(ordinal) => {
                self.erase_standing(tenant, ordinal, target.offset)?;
                self.erase_scope(tenant, ordinal)
            }
            Made::Members(ordinal) => self.erase_standing(tenant, ordinal, target.offset),
            Made::Policy(None) => Ok(()),
            Made::Policy(Some(policy)) => {
                let erased = Made::Policy(None).encode(tenant);
                self.put(Space::Entries, key::made_at(target.offset), erased);
                self.drop_policy(tenant, &policy, target.offset)
            }
            Made::Tenant => self.erase_tenant(tenant),
        }
    }

    /// The ordinal stays taken; nothing finds the scope by its path any more.
    fn erase_scope(&mut self, tenant: u32, ordinal: u64) -> Result<(), ViewError> {
        let scope_key = key::scope(tenant, ordinal);
        let Some(bytes) = self.get(Space::Scopes, &scope_key)? else {
            return Ok(());
        };
        let mut row = ScopeRow::decode(ordinal, &bytes).map_err(row_error(Space::Scopes))?;
        if let Some(own) = row.paths.first() {
            self.delete(Space::Scopes, key::scope_by_path(tenant, own));
        }
        for ancestor in std::mem::take(&mut row.paths) {
            self.delete(Space::Scopes, key::scope_below(tenant, &ancestor, ordinal));
        }
        self.put(Space::Scopes, scope_key, row.encode());
        Ok(())
    }

    fn erase_tenant(&mut self, tenant: u32) -> Result<(), ViewError> {
        let tenant_key = key::tenant(tenant);
        let Some(bytes) = self.get(Space::Scopes, &tenant_key)? else {
            return Ok(());
        };
        let mut row = TenantRow::decode(tenant, &bytes).map_err(row_error(Space::Scopes))?;
        if let Some(name) = row.name.take() {
            self.delete(Space::Scopes, key::tenant_by_name(&name));
        }
        self.put(Space::Scopes, tenant_key, row.encode());
        Ok(())
    }

    fn drop_blob(&mut self, tenant: u32, id: BlobId) -> Result<(), ViewError> {
        let key = key::blob(tenant, &id);
        let Some(bytes) = self.get(Space::Blobs, &key)? else { return Ok(()) };
        let row = BlobRow::decode(tenant, id, &bytes).map_err(row_error(Space::Blobs))?;
        if let Some(used) = row.idempotency {
            // Whoever uploads it again wants it back.
            self.delete(Space::Blobs, key::blob_key(tenant, &used, row.offset));
        }
        self.counts.blobs -= 1;
        self.delete(Space::Blobs, key);
        Ok(())
    }

    /// The event that an entry is.
    pub(crate) fn event_of(&self, offset: u64) -> Result<Option<EventRow>, ViewError> {
        let at = self.get(Space::Entries, &key::event_at(offset))?;
        let at = at.map(|bytes| EventAt::decode(&bytes)).transpose();
        match at.map_err(row_error(Space::Entries))? {
            None => Ok(None),
            Some(at) => self.event(at.tenant, &at.id),
        }
    }

    /// What an entry that is no event made.
    pub(crate) fn made_by(&self, offset: u64) -> Result<Option<(u32, Made)>, ViewError> {
        let made = self.get(Space::Entries, &key::made_at(offset))?;
        made.map(|bytes| Made::decode(&bytes)).transpose().map_err(row_error(Space::Entries))
    }
}

#[cfg(test)]
mod tests;
