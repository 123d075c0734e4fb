//! Single rows and short lists: events by id, scopes, tenants, idempotency keys, blobs.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use lamina_types::{BlobId, EventId, ForeignCitation, RecordedAt, ScopePath};

use crate::codec::CodecError;
use crate::kv::{Direction, Space};
use crate::view::fold::row_error;
use crate::view::row::{BlobRow, BlobUse, EventAt, EventRow, IdempotencyRow, ScopeRow, TenantRow};
use crate::view::tag::cut;
use crate::view::{Tag, ViewError, Views, key, number, sweep};

/// What to do with each row of a walk: go on, stop, or find it unreadable.
type VisitRow<'a> = dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>, CodecError> + 'a;

impl IdempotencyRow {
    /// Whether the key is free again at this instant. The sweep may be behind: ask, do not rely
    /// on the row being gone.
    pub fn is_expired(&self, now: RecordedAt) -> bool {
        sweep::expired(self.recorded_at, now)
    }
}

impl BlobUse {
    /// Whether the key is free again at this instant.
    pub fn is_expired(&self, now: RecordedAt) -> bool {
        sweep::expired(self.recorded_at, now)
    }
}

impl Views {
    /// An event, also if it is cancelled or erased.
    pub fn event(&self, tenant: u32, id: EventId) -> Result<Option<EventRow>, ViewError> {
        self.get(Space::Events, &key::event(tenant, &id))?
            .map(|bytes| EventRow::decode(tenant, id, &bytes))
            .transpose()
            .map_err(row_error(Space::Events))
    }

    /// The same, perhaps from memory ([`crate::view::remembering`]).
    pub fn event_again(
        &self,
        tenant: u32,
        id: EventId,
    ) -> Result<Option<Arc<EventRow>>, ViewError> {
        let key = key::event(tenant, &id);
        self.derived_record(Space::Events, &key, |bytes| EventRow::decode(tenant, id, bytes))
    }

    /// The tenant and event of the entry at this offset, if it is one.
    pub fn event_at(&self, offset: u64) -> Result<Option<(u32, EventId)>, ViewError> {
        let row = self.get(Space::Entries, &key::event_at(offset))?;
        let at = row.map(|bytes| EventAt::decode(&bytes)).transpose();
        Ok(at.map_err(row_error(Space::Entries))?.map(|at| (at.tenant, at.id)))
    }

    /// The event of a scope with this number, also if it is cancelled or erased.
    pub fn event_by_number(
        &self,
        tenant: u32,
        scope: u64,
        number: u64,
    ) -> Result<Option<EventRow>, ViewError> {
        let Some(id) = self.get(Space::Entries, &key::event_number(tenant, scope, number))? else {
            return Ok(None);
        };
        let id = id.try_into().map_err(|_| row_error(Space::Entries)(CodecError::Truncated))?;
        self.event(tenant, EventId::from_bytes(id))
    }

    /// The number of the last event of a scope, with those that are cancelled or erased.
    pub fn last_event_number(&self, tenant: u32, scope: u64) -> Result<u64, ViewError> {
        Ok(self.number(Space::Chains, &key::events_count(tenant, scope))?.unwrap_or(0))
    }

    /// The event at this position of the chain of a scope, also if it is cancelled or erased. Positions grow
    /// with numbers, so this halves the numbers until it is there.
    pub fn event_by_position(
        &self,
        tenant: u32,
        scope: u64,
        position: u64,
    ) -> Result<Option<EventRow>, ViewError> {
        let count = self.last_event_number(tenant, scope)?;
        // An event is never before its number in the chain.
        let (mut low, mut high) = (1, count.min(position));
        while low <= high {
            let middle = low + (high - low) / 2;
            let Some(row) = self.event_by_number(tenant, scope, middle)? else {
                return Ok(None);
            };
            match row.link.seq.cmp(&position) {
                Ordering::Equal => return Ok(Some(row)),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle - 1,
            }
        }
        Ok(None)
    }

    /// The events of a scope that were cancelled and not erased: no list leads to them. Looks at every
    /// event of the tenant, unless none was ever cancelled.
    pub fn events_cancelled(&self, tenant: u32, scope: u64) -> Result<Vec<EventRow>, ViewError> {
        let mut found = Vec::new();
        self.each_cancelled(tenant, &mut |row| {
            if row.scope == scope {
                found.push(row);
            }
        })?;
        Ok(found)
    }

    /// Visits the events of a tenant that were cancelled and not erased, in any scope.
    pub fn each_cancelled(
        &self,
        tenant: u32,
        visit: &mut dyn FnMut(EventRow),
    ) -> Result<(), ViewError> {
        if self.counts().excluded == 0 {
            return Ok(());
        }
        self.each_event(tenant, &mut |row| {
            if row.is_excluded() {
                visit(row);
            }
        })
    }

    /// Visits the events of a tenant whose words are gone, in any scope.
    pub fn each_erased(
        &self,
        tenant: u32,
        visit: &mut dyn FnMut(EventRow),
    ) -> Result<(), ViewError> {
        self.each_event(tenant, &mut |row| {
            if row.is_erased() {
                visit(row);
            }
        })
    }

    fn each_event(&self, tenant: u32, visit: &mut dyn FnMut(EventRow)) -> Result<(), ViewError> {
        let from = key::event(tenant, &EventId::from_bytes([0; 16]));
        let to = key::after(key::event(tenant, &EventId::from_bytes([0xFF; 16])));
        self.walk(Space::Events, (&from, &to), &mut |key, value| {
            let id = key::tail_id(key).ok_or(CodecError::Truncated)?;
            visit(EventRow::decode(tenant, EventId::from_bytes(id), value)?);
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The last event that an idempotency key was used for; see [`IdempotencyRow::is_expired`].
    pub fn idempotency(
        &self,
        tenant: u32,
        mac: &[u8; 32],
    ) -> Result<Option<IdempotencyRow>, ViewError> {
        let bytes = self.get(Space::Idempotency, &key::idempotency(tenant, &cut(mac)))?;
        let uses = bytes.map(|bytes| IdempotencyRow::decode_all(&bytes));
        let uses = uses.transpose().map_err(row_error(Space::Idempotency))?;
        Ok(uses.and_then(|mut uses| uses.pop()))
    }

    /// The ordinal of a registered scope, by the keyed hash of its path.
    pub fn scope_by_tag(&self, tenant: u32, path: &Tag) -> Result<Option<u64>, ViewError> {
        self.number(Space::Scopes, &key::scope_by_path(tenant, path))
    }

    /// The ordinal of a registered scope.
    pub fn scope_ordinal(&self, tenant: u32, path: &ScopePath) -> Result<Option<u64>, ViewError> {
        let tag = self.tags.path(tenant, path.as_str())?;
        self.number(Space::Scopes, &key::scope_by_path(tenant, &tag))
    }

    /// A registered scope.
    pub fn scope_row(&self, tenant: u32, ordinal: u64) -> Result<Option<ScopeRow>, ViewError> {
        self.get(Space::Scopes, &key::scope(tenant, ordinal))?
            .map(|bytes| ScopeRow::decode(ordinal, &bytes))
            .transpose()
            .map_err(row_error(Space::Scopes))
    }

    /// The ordinal that the next registered scope must have.
    pub fn next_scope_ordinal(&self, tenant: u32) -> Result<u64, ViewError> {
        let count = self.number(Space::Scopes, &key::scopes_count(tenant))?;
        Ok(count.unwrap_or(0) + 1)
    }

    /// Registered scopes at and below a path, registered or not, in order of ordinals: at most
    /// `limit` of them, after the ordinal `after`.
    pub fn scopes_below(
        &self,
        tenant: u32,
        path: &ScopePath,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<u64>, ViewError> {
        let tag = self.tags.path(tenant, path.as_str())?;
        let from = key::scope_below(tenant, &tag, after.map_or(0, |after| after.saturating_add(1)));
        let to = key::after(key::scope_below(tenant, &tag, u64::MAX));
        let mut found = Vec::new();
        self.walk(Space::Scopes, (&from, &to), &mut |key, _| {
            if found.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            found.push(key::tail_number(key).ok_or(CodecError::Truncated)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// The ordinal of a tenant.
    pub fn tenant_ordinal(&self, name: &str) -> Result<Option<u32>, ViewError> {
        let by_name = key::tenant_by_name(&self.tags.tenant_name(name)?);
        let ordinal = self.number(Space::Scopes, &by_name)?;
        ordinal
            .map(|ordinal| u32::try_from(ordinal).map_err(|_| CodecError::Truncated))
            .transpose()
            .map_err(row_error(Space::Scopes))
    }

    /// All tenants, in order of ordinals.
    pub fn tenants(&self) -> Result<Vec<TenantRow>, ViewError> {
        let (from, to) = key::tenants();
        let mut tenants = Vec::new();
        self.walk(Space::Scopes, (&from, &to), &mut |key, value| {
            let ordinal = key.last_chunk::<4>().ok_or(CodecError::Truncated)?;
            tenants.push(TenantRow::decode(u32::from_be_bytes(*ordinal), value)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(tenants)
    }

    /// A stored blob.
    pub fn blob(&self, tenant: u32, id: BlobId) -> Result<Option<BlobRow>, ViewError> {
        self.get(Space::Blobs, &key::blob(tenant, &id))?
            .map(|bytes| BlobRow::decode(tenant, id, &bytes))
            .transpose()
            .map_err(row_error(Space::Blobs))
    }

    /// The last upload that a key was used for; see [`BlobUse::is_expired`].
    pub fn blob_by_key(&self, tenant: u32, mac: &[u8; 32]) -> Result<Option<BlobUse>, ViewError> {
        let key = cut(mac);
        let from = key::blob_key(tenant, &key, 0);
        let to = key::after(key::blob_key(tenant, &key, u64::MAX));
        let mut last = None;
        self.walk(Space::Blobs, (&from, &to), &mut |_, value| {
            last = Some(BlobUse::decode(value)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(last)
    }

    /// The first events that refer to a blob, oldest first, at most `limit`.
    pub fn blob_references(
        &self,
        tenant: u32,
        id: BlobId,
        limit: usize,
    ) -> Result<Vec<EventId>, ViewError> {
        let from = key::blob_reference(tenant, &id, 0);
        let to = key::after(key::blob_reference(tenant, &id, u64::MAX));
        let mut events = Vec::new();
        self.walk(Space::Blobs, (&from, &to), &mut |_, value| {
            if events.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            let event = value.try_into().map_err(|_| CodecError::Truncated)?;
            events.push(EventId::from_bytes(event));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(events)
    }

    /// The first events that came with a citation of another program, or with one that has the same short form,
    /// oldest first, at most `limit`.
    pub fn cited_origins(
        &self,
        tenant: u32,
        citation: &ForeignCitation,
        limit: usize,
    ) -> Result<Vec<EventId>, ViewError> {
        let tag = self.tags.citation(tenant, &citation.short_form())?;
        let from = key::cited_origin(tenant, &tag, 0);
        let to = key::after(key::cited_origin(tenant, &tag, u64::MAX));
        let mut events = Vec::new();
        self.walk(Space::Entries, (&from, &to), &mut |_, value| {
            if events.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            let event = value.try_into().map_err(|_| CodecError::Truncated)?;
            events.push(EventId::from_bytes(event));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(events)
    }

    /// The blobs of a tenant in order of ids, after the id `after`, at most `limit`.
    pub fn blobs(
        &self,
        tenant: u32,
        after: Option<BlobId>,
        limit: usize,
    ) -> Result<Vec<BlobRow>, ViewError> {
        let from = match after {
            None => key::blob(tenant, &BlobId::from_bytes([0; 16])),
            Some(id) => key::after(key::blob(tenant, &id)),
        };
        let to = key::after(key::blob(tenant, &BlobId::from_bytes([0xFF; 16])));
        let mut rows = Vec::new();
        self.walk(Space::Blobs, (&from, &to), &mut |key, value| {
            if rows.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            let id = key::tail_id(key).ok_or(CodecError::Truncated)?;
            rows.push(BlobRow::decode(tenant, BlobId::from_bytes(id), value)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(rows)
    }

    /// The keyed hash that finds events with this label.
    pub fn tag_label(&self, tenant: u32, label: &str) -> Result<Tag, ViewError> {
        self.tags.label(tenant, label)
    }

    /// The keyed hash that finds events of this modality.
    pub fn tag_modality(&self, tenant: u32, modality: &str) -> Result<Tag, ViewError> {
        self.tags.modality(tenant, modality)
    }

    /// The keyed hash that finds events of this observed actor.
    pub fn tag_actor(&self, tenant: u32, actor: &str) -> Result<Tag, ViewError> {
        self.tags.actor(tenant, actor)
    }

    pub(crate) fn number(&self, space: Space, key: &[u8]) -> Result<Option<u64>, ViewError> {
        self.get(space, key)?.map(|bytes| number(&bytes).map_err(row_error(space))).transpose()
    }

    /// Walks rows in key order; `visit` may stop, or find a row unreadable.
    pub(crate) fn walk(
        &self,
        space: Space,
        (from, to): (&[u8], &[u8]),
        visit: &mut VisitRow<'_>,
    ) -> Result<(), ViewError> {
        let mut failed = None;
        self.kv
            .scan(space, from, to, Direction::Forward, &mut |key, value| {
                visit(key, value).unwrap_or_else(|error| {
                    failed = Some(error);
                    ControlFlow::Break(())
                })
            })
            .map_err(|source| ViewError::Kv { doing: "walking rows", source })?;
        failed.map_or(Ok(()), |error| Err(row_error(space)(error)))
    }
}
