//! A session as a numbered log: pages of its events with the verdict over its chain, its typed events, its end.
//!
//! Every event is read from the log and held against its seal, its commitments and the event before it, so that a
//! changed byte is reported with the number of its event.

use std::sync::Arc;

use lamina_store::kv::Direction;
use lamina_store::view::{Axis, EventRow, EventScan};
use lamina_types::{EventRecord, RecordedAt, ScopePath};

use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::{Engine, Error};

/// Events of one page of a replay.
pub const REPLAY_EVENTS_MAX: usize = 1_000;
/// Events whose chain one call verifies.
pub const VERIFIED_EVENTS_MAX: u64 = 100_000;
/// What the label of a typed event begins with.
pub const TYPE_LABEL: &str = "type:";
/// Rows of one type that are passed over for its events.
const ROWS_MAX: usize = 8_192;

/// An event of a session, at its number.
#[derive(Debug, Clone)]
pub struct ReplayedEvent {
    /// Its number, from 1.
    pub number: u64,
    /// The seal of its entry.
    pub seal: [u8; 32],
    /// The seal of the event before it.
    pub previous_seal: Option<[u8; 32]>,
    /// When it was recorded.
    pub recorded_at: RecordedAt,
    /// The event; `None` once its words are erased.
    pub record: Option<EventRecord>,
}

/// The first event of a session that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrokenEvent {
    /// Its number.
    pub number: u64,
    /// What is wrong with it.
    pub fault: ChainFault,
}

/// What is wrong with an event of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainFault {
    /// No event has the number.
    Missing,
    /// Its bytes are not those that were sealed.
    Content,
    /// It does not follow the event before it.
    Link,
}

/// The verdict over the chain of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionIntegrity {
    /// Events of the session.
    pub events: u64,
    /// Events that were verified.
    pub verified: u64,
    /// The first that does not hold.
    pub broken: Option<BrokenEvent>,
}

/// A page of a session, and the verdict over its chain.
#[derive(Debug, Clone, Default)]
pub struct SessionReplay {
    /// The verdict.
    pub integrity: SessionIntegrity,
    /// The events, cancelled and erased ones among them; one that does not hold is left out.
    pub events: Vec<ReplayedEvent>,
    /// The number that the next page begins with; `None` at the end.
    pub next: Option<u64>,
}

/// Which events of a session a replay shows.
#[derive(Debug, Clone, Copy)]
pub struct ReplayRange {
    /// The first number.
    pub from: u64,
    /// Events at most.
    pub limit: usize,
}

/// A question for the typed events of a scope.
#[derive(Debug, Clone)]
pub struct TypedEventsQuery {
    /// The scope. Scopes below it are left alone.
    pub scope: ScopePath,
    /// The types, as in `decision.made`.
    pub kinds: Vec<String>,
    /// Recorded until then, then included.
    pub until: Option<RecordedAt>,
    /// Events of one type at most, the latest.
    pub each_max: usize,
}

/// The place of an event in the chain of its scope.
#[derive(Debug, Clone, Copy)]
struct ChainPlace {
    position: u64,
    seal: [u8; 32],
}

impl Engine {
    /// A page of a session by number, and the verdict over the whole chain.
    pub async fn session_replay(
        &self,
        permit: &Arc<ReadPermit>,
        scope: &ScopePath,
        range: ReplayRange,
    ) -> Result<SessionReplay, Error> {
        self.inner.caught_up().await;
        let (permit, scope) = (Arc::clone(permit), scope.clone());
        self.blocking(move |inner| inner.session_replay(&permit, &scope, range)).await
    }

    /// The typed events of a scope, in the order of the log.
    pub async fn typed_events(
        &self,
        permit: &Arc<ReadPermit>,
        query: TypedEventsQuery,
    ) -> Result<Vec<EventRecord>, Error> {
        self.inner.caught_up().await;
        let permit = Arc::clone(permit);
        self.blocking(move |inner| inner.typed_events(&permit, &query)).await
    }

    /// The number of events of a scope, with those that are cancelled or erased.
    pub async fn session_length(
        &self,
        permit: &Arc<ReadPermit>,
        scope: &ScopePath,
    ) -> Result<u64, Error> {
        self.inner.caught_up().await;
        let (permit, scope) = (Arc::clone(permit), scope.clone());
        self.blocking(move |inner| {
            let own = inner.own_scope(&permit, &scope)?;
            own.map_or(Ok(0), |(tenant, own)| Ok(inner.views.last_event_number(tenant, own)?))
        })
        .await
    }

    /// The event of a scope with this number, if it may be read and has its words.
    pub async fn numbered_event(
        &self,
        permit: &Arc<ReadPermit>,
        scope: &ScopePath,
        number: u64,
    ) -> Result<Option<EventRecord>, Error> {
        self.inner.caught_up().await;
        let (permit, scope) = (Arc::clone(permit), scope.clone());
        self.blocking(move |inner| {
            let Some((tenant, own)) = inner.own_scope(&permit, &scope)? else { return Ok(None) };
            let row = inner.views.event_by_number(tenant, own, number)?;
            row.map_or(Ok(None), |row| inner.readable(&permit, &row))
        })
        .await
    }
}

impl Inner {
    /// The tenant and the ordinal of a scope, if the permit covers it and it exists.
    fn own_scope(
        &self,
        permit: &ReadPermit,
        scope: &ScopePath,
    ) -> Result<Option<(u32, u64)>, Error> {
        let (tenant, scopes) = self.scopes_of(permit, scope)?;
        let own = self.views.scope_ordinal(tenant, scope)?;
        Ok(own.filter(|own| scopes.contains(own)).map(|own| (tenant, own)))
    }

    /// The record of a row; `None` where its words are gone.
    fn readable(&self, permit: &ReadPermit, row: &EventRow) -> Result<Option<EventRecord>, Error> {
        if self.is_hidden(row) {
            return Ok(None);
        }
        match self.record(row) {
            Ok(record) if permit.covers(&record.experience.scope) => Ok(Some(record)),
            Ok(_) => Err(Error::OutsidePermit),
            Err(Error::Deleted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn session_replay(
        &self,
        permit: &ReadPermit,
        scope: &ScopePath,
        range: ReplayRange,
    ) -> Result<SessionReplay, Error> {
        let mut replay = SessionReplay::default();
        let Some((tenant, own)) = self.own_scope(permit, scope)? else { return Ok(replay) };
        let last = self.views.last_event_number(tenant, own)?;
        replay.integrity.events = last;
        let mut before: Option<ChainPlace> = None;
        for number in 1..=last {
            let is_shown = number >= range.from && replay.events.len() < range.limit;
            if number >= range.from && !is_shown && replay.next.is_none() {
                replay.next = Some(number);
            }
            let is_verified = number <= VERIFIED_EVENTS_MAX;
            if !is_shown && !is_verified {
                if number < range.from {
                    continue;
                }
                break;
            }
            replay.integrity.verified += u64::from(is_verified);
            let row = self.views.event_by_number(tenant, own, number)?;
            let place =
                row.as_ref().map(|row| ChainPlace { position: row.link.seq, seal: row.link.seal });
            let read = match &row {
                None => Err(ChainFault::Missing),
                Some(row) => self.replayed(permit, row, before)?,
            };
            before = place;
            match read {
                Ok(event) if is_shown => replay.events.push(event),
                Ok(_) => {}
                Err(fault) => {
                    replay.integrity.broken.get_or_insert(BrokenEvent { number, fault });
                }
            }
        }
        Ok(replay)
    }

    /// Reads an event and holds it against its seal, its commitments and the event before it.
    fn replayed(
        &self,
        permit: &ReadPermit,
        row: &EventRow,
        before: Option<ChainPlace>,
    ) -> Result<Result<ReplayedEvent, ChainFault>, Error> {
        // The reader holds the head against its seal.
        let Ok(entry) = self.reader.entry(row.offset, row.place) else {
            return Ok(Err(ChainFault::Content));
        };
        let head = entry.head;
        let is_own = head.seal == row.link.seal
            && (head.scope, head.scope_seq) == (row.scope, row.link.seq)
            && head.event_id() == row.id;
        let follows = before.is_none_or(|before| {
            let is_next = row.link.seq == before.position + 1;
            row.link.seq > before.position && (!is_next || head.prev_seal == before.seal)
        });
        if !is_own || !follows {
            return Ok(Err(ChainFault::Link));
        }
        let record = match self.readable(permit, row) {
            Ok(record) => record,
            Err(Error::OutsidePermit) => return Err(Error::OutsidePermit),
            Err(_) => return Ok(Err(ChainFault::Content)),
        };
        Ok(Ok(ReplayedEvent {
            number: row.number,
            seal: row.link.seal,
            previous_seal: before.map(|before| before.seal),
            recorded_at: row.recorded_at,
            record,
        }))
    }

    fn typed_events(
        &self,
        permit: &ReadPermit,
        query: &TypedEventsQuery,
    ) -> Result<Vec<EventRecord>, Error> {
        let Some((tenant, own)) = self.own_scope(permit, &query.scope)? else {
            return Ok(Vec::new());
        };
        let mut events = Vec::new();
        for kind in &query.kinds {
            let tag = self.views.tag_label(tenant, &format!("{TYPE_LABEL}{kind}"))?;
            let page = self.views.event_scan(&EventScan {
                tenant,
                scopes: vec![own],
                axis: Axis::Observed,
                direction: Direction::Backward,
                observed_from: None,
                observed_to: None,
                recorded_from: None,
                recorded_to: query.until.map(|until| RecordedAt(until.0.plus(1))),
                tags: vec![vec![tag]],
                after: None,
                skip: 0,
                limit: query.each_max,
                scan_max: ROWS_MAX,
            })?;
            for row in &page.rows {
                events.extend(self.readable(permit, row)?);
            }
        }
        events.sort_by_key(|event| event.number);
        events.dedup_by_key(|event| event.number);
        Ok(events)
    }
}
