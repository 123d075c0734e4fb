//! Reads for exports: every record of some scopes at a pinned point, page by page.
//!
//! An export walks far longer than a request usually takes, so its permit is shared between pages and the
//! caller asks for a new one from time to time. Cancelled events are in no list; an export finds them
//! once and merges them into the order of the log.

mod chain;
mod controls;
mod numbered;

use std::sync::Arc;

use lamina_core::derive::facts::{Pins, Superseded};
use lamina_index::{StaticEmbedder, Vector};
use lamina_store::kv::Direction;
use lamina_store::view::{self, EventScan};
use lamina_types::layer::Confidence;
use lamina_types::lifecycle::{ExportReached, Payload};
use lamina_types::{
    EventId, EventRecord, LifecycleEvent, LifecycleId, LifecycleKind, Micros, RecordedAt, ScopePath,
};

pub use chain::{
    AnswerNote, BatchSeals, ChainCursor, ChainEvent, ChainItem, ChainPage, ChainRest, ChainSubject,
    ControlAction, ControlNote, EventAdmission, SignedEnd, SignedTip,
};
pub use controls::{
    ConflictDecision, Declaration, DeclaredSupport, DeclaredWords, EntityMerge, NamedMember,
};

pub use numbered::{NumberedEvent, NumberedLink, NumberedPage};

use crate::engine::Inner;
use crate::read::beliefs::{BeliefsPage, BeliefsQuery};
use crate::read::episodes::{EpisodesPage, EpisodesQuery};
use crate::read::facts::{FactKey, FactsPage, FactsQuery, Order};
use crate::read::understanding::{ConceptPins, ConceptsPage, ConceptsQuery, MayUnderstand};
use crate::read::{ReadPermit, ScanKey, Shown};
use crate::{Engine, Error};

/// Events of one page.
pub const EXPORT_EVENTS_MAX: usize = if cfg!(test) { 4 } else { 1_000 };
/// Derived records of one page.
pub const EXPORT_RECORDS_MAX: usize = 500;
/// Events that are counted to say how long an export is.
pub const EXPORT_COUNTED_MAX: u64 = 10_000_000;

/// The point of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportPoint {
    /// The scope it starts from.
    pub scope: ScopePath,
    /// Everything recorded until then, then included.
    pub recorded: RecordedAt,
    /// Whether that is another knowledge than that of now.
    pub in_the_past: bool,
}

/// A cancelled event, by its place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelledEvent {
    /// Its place.
    pub key: ScanKey,
    /// Its id.
    pub id: EventId,
    /// Its scope.
    pub scope: ScopePath,
}

/// One page of events, in the order of the log.
#[derive(Debug, Clone)]
pub struct ExportEventsPage {
    /// The events, cancelled ones among them.
    pub items: Vec<EventRecord>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<ScanKey>,
}

impl Engine {
    /// How many events an export has, about: those that lists show, whenever they were recorded.
    pub async fn export_events_count(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
    ) -> Result<u64, Error> {
        self.inner.caught_up().await;
        let (permit, point) = (Arc::clone(permit), point.clone());
        self.blocking(move |inner| {
            let (tenant, scopes) = inner.scopes_of(&permit, &point.scope)?;
            let mut count = 0;
            for scope in scopes {
                let left = EXPORT_COUNTED_MAX.saturating_sub(count);
                if left == 0 {
                    break;
                }
                count += inner.views.scope_events(tenant, scope, left)?;
            }
            Ok(count)
        })
        .await
    }

    /// The cancelled events of an export, in the order of the log.
    pub async fn export_cancelled(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
    ) -> Result<Vec<CancelledEvent>, Error> {
        self.inner.caught_up().await;
        let (permit, point) = (Arc::clone(permit), point.clone());
        self.blocking(move |inner| inner.export_cancelled(&permit, &point)).await
    }

    /// The ids of events whose words an erasure took, in no order. Nothing else is known of them.
    pub async fn export_erased(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
    ) -> Result<Vec<EventId>, Error> {
        self.inner.caught_up().await;
        let (permit, point) = (Arc::clone(permit), point.clone());
        self.blocking(move |inner| {
            let (tenant, scopes) = inner.scopes_of(&permit, &point.scope)?;
            let mut ids = Vec::new();
            inner.views.each_erased(tenant, &mut |row| {
                if row.recorded_at <= point.recorded && scopes.contains(&row.scope) {
                    ids.push(row.id);
                }
            })?;
            Ok(ids)
        })
        .await
    }

    /// One page of events.
    pub async fn export_events(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
        page: ExportPageStart,
    ) -> Result<ExportEventsPage, Error> {
        self.inner.caught_up().await;
        let (permit, point) = (Arc::clone(permit), point.clone());
        self.blocking(move |inner| inner.export_events(&permit, &point, &page)).await
    }

    /// One page of the versions of facts, the first learned first.
    pub async fn export_facts(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
        after: Option<FactKey>,
    ) -> Result<FactsPage, Error> {
        self.inner.caught_up().await;
        let permit = Arc::clone(permit);
        let query = FactsQuery {
            scope: point.scope.clone(),
            subject: None,
            predicate: None,
            pins: Pins {
                recorded: point.recorded,
                superseded: Superseded::Shown,
                valid: None,
                valid_during: None,
                recorded_during: None,
            },
            lapsed_by: None,
            min_confidence: Confidence::new(0),
            order: Order::OldestFirst,
            after,
            limit: EXPORT_RECORDS_MAX,
        };
        self.blocking(move |inner| inner.facts(&permit, &query)).await
    }

    /// One page of beliefs, the latest first.
    pub async fn export_beliefs(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
        after: Option<FactKey>,
    ) -> Result<BeliefsPage, Error> {
        self.inner.caught_up().await;
        let permit = Arc::clone(permit);
        let query = BeliefsQuery {
            scope: point.scope.clone(),
            about: None,
            predicate: None,
            stance: None,
            min_confidence: 0.0,
            recorded: point.recorded,
            recorded_during: None,
            valid: None,
            valid_during: None,
            lapsed_by: None,
            deprecated: true,
            after,
            limit: EXPORT_RECORDS_MAX,
        };
        self.blocking(move |inner| inner.beliefs(&permit, &query)).await
    }

    /// One page of episodes, the last that began to be known first.
    pub async fn export_episodes(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
        after: Option<FactKey>,
    ) -> Result<EpisodesPage, Error> {
        self.inner.caught_up().await;
        let permit = Arc::clone(permit);
        let query = EpisodesQuery {
            scope: point.scope.clone(),
            actor: None,
            recorded: point.recorded,
            in_the_past: point.in_the_past,
            valid: None,
            valid_during: None,
            recorded_during: None,
            overlapping: None,
            with_chain: false,
            after,
            limit: EXPORT_RECORDS_MAX,
        };
        self.blocking(move |inner| inner.episodes(&permit, &query)).await
    }

    /// One page of concepts, the latest first.
    pub async fn export_concepts(
        &self,
        may: &Arc<MayUnderstand>,
        point: &ExportPoint,
        after: Option<FactKey>,
    ) -> Result<ConceptsPage, Error> {
        self.inner.caught_up().await;
        let may = Arc::clone(may);
        let query = ConceptsQuery {
            scope: point.scope.clone(),
            topic: None,
            depth: 0,
            pins: ConceptPins {
                recorded: point.recorded,
                valid: None,
                valid_during: None,
                recorded_during: None,
                deprecated: false,
            },
            min_confidence: Confidence::new(0),
            after,
            limit: EXPORT_RECORDS_MAX,
        };
        self.blocking(move |inner| inner.concepts(&may, &query)).await
    }

    /// The meanings of texts by the embedder that is compiled in, as unit vectors. No text leaves this machine.
    pub async fn export_meanings(
        &self,
        texts: Vec<String>,
    ) -> Result<Vec<Option<Vec<f64>>>, Error> {
        self.blocking(move |_| {
            let embedder = StaticEmbedder::new();
            let meanings = texts.iter().map(|text| embedder.embed_one(text).map(|it| unit(&it)));
            Ok(meanings.collect())
        })
        .await
    }

    /// Tells those who listen now how far an export has come. Nothing is kept of it.
    pub fn export_announce(&self, permit: &ReadPermit, scope: &ScopePath, step: ExportStep) {
        let shown = self.export_shown(permit.caller().tenant, scope, step);
        self.inner.hub.announce_passing(shown);
    }

    /// A step of an export as a lifecycle event.
    pub fn export_shown(&self, tenant: u32, scope: &ScopePath, step: ExportStep) -> Shown {
        let ExportStep { kind, reached, seq } = step;
        let event = LifecycleEvent {
            // A stream gives it an id of its own.
            id: LifecycleId::from_bytes([0; 16]),
            kind,
            event_id: EventId::from_bytes(*reached.export.as_bytes()),
            scope: scope.clone(),
            at: self.now(),
            seq,
            batch_id: None,
            payload: Payload::Export(Box::new(reached)),
        };
        Shown { tenant, event, actor: None, modality: None }
    }
}

/// The numbers of a vector, scaled to length 1.
fn unit(vector: &Vector) -> Vec<f64> {
    let numbers = || vector.bytes().iter().map(|byte| f64::from(*byte));
    let length = numbers().map(|number| number * number).sum::<f64>().sqrt();
    numbers().map(|number| (number / length * 1e6).round() / 1e6).collect()
}

/// A step of an export that is announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportStep {
    /// Progress or completion.
    pub kind: LifecycleKind,
    /// How far it is.
    pub reached: ExportReached,
    /// The number of the step, from 1.
    pub seq: u32,
}

/// Where a page of events begins.
#[derive(Debug, Clone)]
pub struct ExportPageStart {
    /// After this place.
    pub after: Option<ScanKey>,
    /// All cancelled events of the export.
    pub cancelled: Arc<Vec<CancelledEvent>>,
}

impl Inner {
    fn export_cancelled(
        &self,
        permit: &ReadPermit,
        point: &ExportPoint,
    ) -> Result<Vec<CancelledEvent>, Error> {
        let (tenant, scopes) = self.scopes_of(permit, &point.scope)?;
        let mut rows = Vec::new();
        self.views.each_cancelled(tenant, &mut |row| {
            if row.recorded_at <= point.recorded
                && scopes.contains(&row.scope)
                && !self.is_hidden(&row)
            {
                rows.push((
                    ScanKey { at: row.recorded_at.0.0, seq: row.tenant_seq },
                    row.id,
                    row.scope,
                ));
            }
        })?;
        rows.sort_unstable_by_key(|(key, _, _)| (key.at, key.seq));
        let named = rows.into_iter().map(|(key, id, scope)| {
            Ok(CancelledEvent { key, id, scope: self.scope_path(tenant, scope)? })
        });
        named.collect()
    }

    fn export_events(
        &self,
        permit: &ReadPermit,
        point: &ExportPoint,
        page: &ExportPageStart,
    ) -> Result<ExportEventsPage, Error> {
        let (tenant, scopes) = self.scopes_of(permit, &point.scope)?;
        if scopes.is_empty() {
            return Ok(ExportEventsPage { items: Vec::new(), next: None });
        }
        let after = page.after.map(|key| view::ScanKey { at: Micros(key.at), tenant_seq: key.seq });
        let until = RecordedAt(Micros(point.recorded.0.0.saturating_add(1)));
        let listed = self.views.event_scan(&EventScan {
            recorded_to: Some(until),
            after,
            ..EventScan::recorded(tenant, scopes, Direction::Forward, EXPORT_EVENTS_MAX)
        })?;
        let next = listed.next.map(|key| ScanKey { at: key.at.0, seq: key.tenant_seq });
        let place = |key: ScanKey| (key.at, key.seq);
        let mut rows = listed.rows;
        let is_here = |event: &&CancelledEvent| {
            page.after.is_none_or(|after| place(event.key) > place(after))
                && next.is_none_or(|next| place(event.key) <= place(next))
        };
        for event in page.cancelled.iter().filter(is_here) {
            rows.extend(self.views.event(tenant, event.id)?);
        }
        rows.sort_by_key(|row| (row.recorded_at, row.tenant_seq));
        let mut items = Vec::with_capacity(rows.len());
        for row in rows.iter().filter(|row| !self.is_hidden(row)) {
            match self.record(row) {
                Ok(record) if permit.covers(&record.experience.scope) => items.push(record),
                Ok(_) => return Err(Error::OutsidePermit),
                // Erased since the list was read.
                Err(Error::Deleted) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(ExportEventsPage { items, next })
    }
}

#[cfg(test)]
mod tests;
