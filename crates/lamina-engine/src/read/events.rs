//! Events by id and by scope. Views say where; the log has the words.

use std::sync::Arc;

use lamina_core::policy::{Caller, Permit};
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho, assemble};
use lamina_store::entry::{Entry, Place, SectionState};
use lamina_store::kv::Direction;
use lamina_store::view::{self, EventRow, EventScan};
use lamina_types::capability::ScopeReadLocal;
use lamina_types::{
    ActorId, EventCitation, EventId, EventRecord, ForeignCitation, Micros, RecordedAt, ScopePath,
    ValidAt,
};

use crate::admin::shared::meant;
use crate::engine::Inner;
use crate::read::walk::DENIED_COUNTED_MAX;
use crate::read::{Axis, EventsPage, EventsQuery, ReadPermit, ScanKey};
use crate::{Engine, Error};

/// Rows that one page looks at before it ends early with a position to go on from.
const ROWS_LOOKED_AT_MAX: usize = 20_000;
/// Events with one foreign citation that are looked at.
const FOREIGN_LOOKED_AT_MAX: usize = 1_000;

impl Engine {
    /// The home scope of an event, to ask the policy for a permit: also of one whose words are gone, because that it
    /// was there is for those who may read in its scope (R204).
    pub async fn event_scope(&self, tenant: u32, id: EventId) -> Result<ScopePath, Error> {
        self.inner.caught_up().await;
        let row = self.inner.event_row(tenant, id)?;
        if row.is_erased() {
            return self.inner.scope_path(tenant, row.scope);
        }
        match self.inner.reader.entry(row.offset, row.place) {
            Ok(entry) => Ok(self.inner.decode_what(&entry)?.scope),
            // Whoever may read in its scope is told that it is damaged.
            Err(error) if error.is_damage() => self.inner.scope_path(tenant, row.scope),
            Err(error) => Err(error.into()),
        }
    }

    /// The home scope of an event and who wrote it, if that is still known, to ask the policy for a permit.
    pub async fn event_home(
        &self,
        tenant: u32,
        id: EventId,
    ) -> Result<(ScopePath, Option<ActorId>), Error> {
        let scope = self.event_scope(tenant, id).await?;
        let row = self.inner.event_row(tenant, id)?;
        let entry = self.inner.reader.entry(row.offset, row.place)?;
        match self.inner.decode_who(&entry) {
            Ok(who) => Ok((scope, Some(who.caller))),
            Err(Error::Deleted) => Ok((scope, None)),
            Err(error) => Err(error),
        }
    }

    /// One event.
    pub async fn event(
        &self,
        permit: &Permit<ScopeReadLocal>,
        id: EventId,
    ) -> Result<EventRecord, Error> {
        self.inner.caught_up().await;
        let row = self.inner.event_row(permit.caller().tenant, id)?;
        if row.is_erased() {
            return Err(Error::Deleted);
        }
        let record = self.inner.record(&row)?;
        if !permit.covers(&record.experience.scope) {
            return Err(Error::OutsidePermit);
        }
        Ok(record)
    }

    /// One page of events. It may read many records, so it has a thread of its own meanwhile.
    pub async fn events(
        &self,
        permit: ReadPermit,
        query: EventsQuery,
    ) -> Result<EventsPage, Error> {
        self.inner.caught_up().await;
        let inner = Arc::clone(&self.inner);
        let read = move || inner.events(&permit, &query, ROWS_LOOKED_AT_MAX);
        self.inner.read_in_turn(read).await.unwrap_or_else(|failed| match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::ShuttingDown),
        })
    }

    /// The event that a citation names, also a cancelled one; `None` if there is none, or if it is erased. The
    /// permit is for exactly the scope of the citation.
    pub async fn event_by_citation(
        &self,
        permit: &ReadPermit,
        citation: &EventCitation,
    ) -> Result<Option<EventRecord>, Error> {
        self.inner.caught_up().await;
        match self.inner.cited(permit, citation)?.map(|row| self.inner.record(&row)) {
            None | Some(Err(Error::Deleted)) => Ok(None),
            Some(record) => record.map(Some),
        }
    }

    /// The events that came with a citation of another program and their home scopes, oldest first. Whether the caller
    /// may read there is still to be asked.
    pub async fn events_by_foreign_citation(
        &self,
        tenant: u32,
        citation: &ForeignCitation,
    ) -> Result<Vec<(EventId, ScopePath)>, Error> {
        self.inner.caught_up().await;
        let citation = citation.clone();
        self.blocking(move |inner| {
            let mut found = Vec::new();
            for event in inner.views.cited_origins(tenant, &citation, FOREIGN_LOOKED_AT_MAX)? {
                let Some(row) = inner.event_seen(tenant, event)? else { continue };
                let record = match inner.record(&row) {
                    Err(Error::Deleted) => continue,
                    Err(error) if error.is_damage() => continue,
                    record => record?,
                };
                let origin = record.experience.origin.as_deref();
                if origin
                    .and_then(ForeignCitation::of_origin)
                    .is_some_and(|own| citation.names(&own))
                {
                    found.push((event, record.experience.scope));
                }
            }
            Ok(found)
        })
        .await
    }

    /// The event that this caller wrote under a key, by either write route.
    pub async fn by_idempotency_key(
        &self,
        permit: &Permit<ScopeReadLocal>,
        key: &str,
    ) -> Result<Option<EventId>, Error> {
        self.inner.caught_up().await;
        self.inner.by_key(permit.caller(), key, RecordedAt(self.log_time()))
    }
}

impl Inner {
    /// The row of a cited event. The number is that of the event, or, in an older citation, its position in
    /// the chain of the scope; the seal says which.
    fn cited(
        &self,
        permit: &ReadPermit,
        citation: &EventCitation,
    ) -> Result<Option<EventRow>, Error> {
        let EventCitation { scope, number, seal } = citation;
        let (tenant, scopes) = self.scopes_of(permit, scope)?;
        let Some(ordinal) = self.views.scope_ordinal(tenant, scope)? else { return Ok(None) };
        if !scopes.contains(&ordinal) {
            return Ok(None);
        }
        let sealed = |row: &EventRow| seal.matches(&row.link.seal) && !self.is_hidden(row);
        let numbered = self.views.event_by_number(tenant, ordinal, *number)?;
        if let Some(row) = numbered.filter(sealed) {
            return Ok(Some(row));
        }
        Ok(self.views.event_by_position(tenant, ordinal, *number)?.filter(sealed))
    }

    /// The event that a caller wrote under a key, where it is.
    pub(crate) fn by_key(
        &self,
        caller: &Caller,
        key: &str,
        now: RecordedAt,
    ) -> Result<Option<EventId>, Error> {
        let keyed = self.keyed(caller.tenant)?;
        for family in [0u8, 1] {
            let mac = keyed
                .mac("idempotency", &[caller.actor.as_str().as_bytes(), &[family], key.as_bytes()]);
            let row = self.views.idempotency(caller.tenant, &mac)?;
            if let Some(row) = row.filter(|row| !row.is_expired(now)) {
                return Ok(Some(row.event_id));
            }
        }
        Ok(None)
    }

    fn events(
        &self,
        permit: &ReadPermit,
        query: &EventsQuery,
        scan_max: usize,
    ) -> Result<EventsPage, Error> {
        let (tenant, scopes) = self.scopes_of(permit, &query.scope)?;
        let events =
            |tenant, scope| Ok(self.views.scope_events(tenant, scope, DENIED_COUNTED_MAX)?);
        if scopes.is_empty() {
            let traversed =
                self.traversed(permit, std::iter::empty(), query.after.is_none(), events)?;
            return Ok(EventsPage {
                items: Vec::new(),
                damaged: Vec::new(),
                next: None,
                skip_left: 0,
                traversed,
            });
        }
        let mut tags = Vec::new();
        if let Some(actor) = &query.actor {
            let actor = meant(permit.caller(), actor)?;
            tags.push(vec![self.views.tag_actor(tenant, actor.as_str())?]);
        }
        if let Some(modality) = &query.modality {
            tags.push(vec![self.views.tag_modality(tenant, modality)?]);
        }
        if !query.labels.is_empty() {
            let any = query.labels.iter().map(|label| self.views.tag_label(tenant, label));
            tags.push(any.collect::<Result<Vec<_>, _>>()?);
        }
        let page = self.views.event_scan(&EventScan {
            tenant,
            scopes,
            axis: match query.axis {
                Axis::Observed => view::Axis::Observed,
                Axis::Recorded => view::Axis::Recorded,
            },
            direction: if query.newest_first { Direction::Backward } else { Direction::Forward },
            observed_from: query.observed.0.map(ValidAt),
            observed_to: query.observed.1.map(ValidAt),
            recorded_from: query.recorded.0.map(RecordedAt),
            recorded_to: query.recorded.1.map(RecordedAt),
            tags,
            after: query.after.map(|key| view::ScanKey { at: Micros(key.at), tenant_seq: key.seq }),
            skip: query.skip,
            limit: query.limit,
            scan_max,
        });
        let page = page?;
        let (items, damaged) = self.records(&page.rows)?;
        if !items.iter().all(|item| permit.covers(&item.experience.scope)) {
            return Err(Error::OutsidePermit);
        }
        Ok(EventsPage {
            traversed: self.traversed(
                permit,
                items.iter().map(|item| &item.experience.scope),
                query.after.is_none(),
                events,
            )?,
            items,
            damaged,
            next: page.next.map(|key| ScanKey { at: key.at.0, seq: key.tenant_seq }),
            skip_left: query.skip.saturating_sub(page.skipped),
        })
    }

    /// The events of rows that can be read, and those whose stored bytes are damaged. What is hidden goes, and so does what
    /// is erased right now.
    fn records(&self, rows: &[EventRow]) -> Result<(Vec<EventRecord>, Vec<EventId>), Error> {
        let (mut items, mut damaged) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in rows.iter().filter(|row| !self.is_hidden(row)) {
            match self.record(row) {
                Ok(record) => items.push(record),
                Err(Error::Deleted) => {}
                Err(error) if error.is_damage() => damaged.push(row.id),
                Err(error) => return Err(error),
            }
        }
        Ok((items, damaged))
    }

    pub(crate) fn event_row(&self, tenant: u32, id: EventId) -> Result<EventRow, Error> {
        self.event_seen(tenant, id)?.ok_or(Error::NotFound)
    }

    pub(crate) fn decode_what(&self, entry: &Entry) -> Result<ExperienceWhat, Error> {
        match &entry.what {
            SectionState::Live(bytes) => {
                ExperienceWhat::decode(bytes).map_err(|_| Error::Undecodable { what: "an event" })
            }
            SectionState::Erased | SectionState::Absent => Err(Error::Deleted),
        }
    }

    pub(crate) fn decode_who(&self, entry: &Entry) -> Result<ExperienceWho, Error> {
        match &entry.who {
            SectionState::Live(bytes) => {
                ExperienceWho::decode(bytes).map_err(|_| Error::Undecodable { what: "an event" })
            }
            SectionState::Erased | SectionState::Absent => Err(Error::Deleted),
        }
    }

    /// An entry, unless its stored bytes are damaged.
    pub(crate) fn sound_entry(&self, offset: u64, place: Place) -> Result<Option<Entry>, Error> {
        match self.reader.entry(offset, place) {
            Ok(entry) => Ok(Some(entry)),
            Err(error) if error.is_damage() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn record(&self, row: &EventRow) -> Result<EventRecord, Error> {
        if row.is_erased() {
            return Err(Error::Deleted);
        }
        let entry = self.reader.entry(row.offset, row.place)?;
        let who = self.decode_who(&entry)?;
        let as_system = who.as_system;
        let (caller, experience) = assemble(who, self.decode_what(&entry)?);
        Ok(EventRecord {
            id: entry.head.event_id(),
            caller,
            as_system,
            tenant_id: self.tenant_name(entry.head.tenant),
            recorded_at: entry.head.recorded_at,
            wal_offset: entry.head.tenant_seq,
            number: row.number,
            seal: entry.head.seal,
            excluded_from_recall: row.is_excluded(),
            experience,
        })
    }
}

#[cfg(test)]
mod tests;
