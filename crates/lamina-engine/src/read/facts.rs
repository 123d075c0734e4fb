//! Facts: what is known, at any point on both axes, with the words that say so.
//!
//! The views say which versions there are and what they stand on; predicate, object and names are read
//! from the answers in the log (`words`).

mod list;
mod words;

use std::ops::ControlFlow;

use lamina_core::derive::facts::{Basis, Pins, Value};
use lamina_store::kv::{Direction, Space};
use lamina_store::view::EventScan;
use lamina_types::layer::{Confidence, Object, Term};
use lamina_types::{
    ActorId, ConflictId, EntityId, EventId, FactId, Micros, RecordedAt, ScopePath, ValidAt,
};

use crate::derive::key;
use crate::derive::read::{answer_row, answers_to, walk};
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::{Engine, Error};

pub(crate) use words::Answers;

/// What stands where words were that an erasure took.
pub const REDACTED: &str = "[redacted]";

/// Versions that a timeline looks at.
const TIMELINE_MAX: usize = 20_000;

/// A question for facts.
#[derive(Debug, Clone)]
pub struct FactsQuery {
    /// The scope.
    pub scope: ScopePath,
    /// About this: an id of an entity, an actor, or a name.
    pub subject: Option<String>,
    /// With this predicate.
    pub predicate: Option<String>,
    /// Where the question stands on both axes.
    pub pins: Pins,
    /// Not what was ended or replaced by this instant; what was said to last until then is shown.
    pub lapsed_by: Option<ValidAt>,
    /// At least this sure.
    pub min_confidence: Confidence,
    /// In which order.
    pub order: Order,
    /// After this position of an earlier page.
    pub after: Option<FactKey>,
    /// At most so many.
    pub limit: usize,
}

/// In which order facts are listed: by when they were learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The last learned first.
    NewestFirst,
    /// The first learned first.
    OldestFirst,
}

/// A position in a list of facts: when it was learned, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactKey {
    /// Microseconds on the axis of knowledge.
    pub at: i64,
    /// The fact.
    pub id: [u8; 16],
}

/// One page of facts, the last learned first.
#[derive(Debug, Clone)]
pub struct FactsPage {
    /// The facts.
    pub items: Vec<FactRecord>,
    /// Facts of the page whose words are damaged.
    pub damaged: Vec<FactId>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<FactKey>,
}

/// Somebody or something that a fact is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityRef {
    /// Its id; `None` for an object that is no entity.
    pub id: EntityId,
    /// As it is said.
    pub term: Term,
    /// How sure it is that the name means it.
    pub sure: Confidence,
}

/// What a fact says of its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactObject {
    /// As it is said.
    pub object: Object,
    /// The entity, if it is one.
    pub entity: Option<EntityId>,
    /// It is said that it is *not* so.
    pub negated: bool,
    /// What it is known by: equal values have equal keys.
    pub value: Value,
    /// The events that say so.
    pub supports: Vec<EventId>,
    /// How sure it is.
    pub confidence: Confidence,
    /// Which extractor found it.
    pub extractor: String,
    /// Who said it last.
    pub said_by: Option<ActorId>,
    /// Of an entity: how sure it is that the name means it.
    pub sure: Confidence,
    /// It was said, and an erasure took the words: what it was is not known any more.
    pub redacted: bool,
}

/// A predicate that is a term of a vocabulary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactMapping {
    /// The vocabulary.
    pub vocabulary: String,
    /// The predicate as it was found.
    pub predicate: String,
    /// How sure it is that the term means the same.
    pub confidence: Confidence,
}

/// One version of a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactRecord {
    /// Its id.
    pub id: FactId,
    /// Its scope.
    pub scope: ScopePath,
    /// Whom it is about.
    pub subject: EntityRef,
    /// The relation.
    pub predicate: String,
    /// What it was called before a vocabulary named it.
    pub mapping: Option<FactMapping>,
    /// What is said: one thing, or several of which only one can be.
    pub objects: Vec<FactObject>,
    /// From when; `None` if it is only known that it was so at some time.
    pub valid_from: Option<ValidAt>,
    /// How that is known.
    pub valid_from_basis: Option<Basis>,
    /// Until when.
    pub valid_to: Option<ValidAt>,
    /// How that is known.
    pub valid_to_basis: Option<Basis>,
    /// When it was learned.
    pub recorded_from: RecordedAt,
    /// When it was replaced.
    pub recorded_to: Option<RecordedAt>,
    /// How sure it is.
    pub confidence: Confidence,
    /// Which extractor found it.
    pub extractor: String,
    /// The version in whose place it came.
    pub supersedes: Option<FactId>,
    /// The version that came in its place.
    pub superseded_by: Option<FactId>,
    /// The events it stands on, oldest first.
    pub supports: Vec<EventId>,
    /// The conflict that it is a version of, if it is one, and when that was found.
    pub conflict: Option<(ConflictId, RecordedAt)>,
    /// The words of some of the events it stands on were taken by an erasure.
    pub evidence_redacted: bool,
}

impl FactRecord {
    /// Whether nothing is known of it but that there was something.
    pub fn is_redacted(&self) -> bool {
        self.objects.iter().all(|object| object.redacted)
    }

    /// Whether it cannot be told which of several is so.
    pub fn is_conflict(&self) -> bool {
        self.objects.len() > 1
    }
}

impl Engine {
    /// One page of facts.
    pub async fn facts(&self, permit: ReadPermit, query: FactsQuery) -> Result<FactsPage, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.facts(&permit, &query)).await
    }

    /// One fact by its id, also one that was replaced or ended; `None` if it stands in no scope that the permit reads
    /// from `scope`, or if nothing is left of it.
    pub async fn fact_by_id(
        &self,
        permit: ReadPermit,
        scope: ScopePath,
        id: FactId,
    ) -> Result<Option<FactRecord>, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.fact_by_id(&permit, &scope, id)).await
    }

    /// The history of the world under one subject and predicate, as it is known: oldest first. Only what
    /// had begun by an instant, if one is named. Says whether there is more than was asked for.
    pub async fn fact_timeline(
        &self,
        permit: ReadPermit,
        query: FactsQuery,
        begun_by: Option<ValidAt>,
    ) -> Result<(Vec<FactRecord>, bool), Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.timeline(&permit, &query, begun_by)).await
    }

    /// The records that stand on an event: ids as they are written.
    pub async fn derived_from(&self, tenant: u32, event: EventId) -> Result<Vec<String>, Error> {
        self.inner.caught_up().await;
        let (from, to) = key::all_of_event(tenant, event);
        let mut found = Vec::new();
        let views = &self.inner.views;
        walk(views, Space::Records, (&from, &to), Direction::Forward, &mut |key, value| {
            found.extend(key::derived_id(key).filter(|_| value != key::ONCE));
            ControlFlow::Continue(())
        })?;
        found.extend(self.inner.concepts_of_event(tenant, event)?.iter().map(ToString::to_string));
        Ok(found)
    }
}

/// How far derivation is in a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DerivationStatus {
    /// Events that wait, counted up to [`WAITING_COUNTED_MAX`].
    pub waiting: u64,
    /// When the last event was recorded.
    pub last_write: Option<RecordedAt>,
    /// When the last answer was recorded.
    pub last_derived: Option<RecordedAt>,
    /// Episodes there are.
    pub episodes: u64,
}

/// Events that wait are counted up to here.
pub const WAITING_COUNTED_MAX: u64 = 1_000;

impl Engine {
    /// How far derivation is in a scope.
    pub async fn derivation_status(
        &self,
        permit: ReadPermit,
        scope: ScopePath,
    ) -> Result<DerivationStatus, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.derivation_status(&permit, &scope)).await
    }
}

impl Inner {
    fn derivation_status(
        &self,
        permit: &ReadPermit,
        scope: &ScopePath,
    ) -> Result<DerivationStatus, Error> {
        let (tenant, scopes) = self.scopes_of(permit, scope)?;
        self.derivation_of(tenant, scopes)
    }

    /// The same for scopes that somebody else has decided on.
    pub(crate) fn derivation_of(
        &self,
        tenant: u32,
        scopes: Vec<u64>,
    ) -> Result<DerivationStatus, Error> {
        let mut status = DerivationStatus::default();
        if scopes.is_empty() {
            return Ok(status);
        }
        for scope in &scopes {
            status.episodes += self.episodes_count(tenant, *scope)?;
        }
        let events = self.views.event_scan(&EventScan::recorded(
            tenant,
            scopes,
            Direction::Backward,
            WAITING_COUNTED_MAX as usize,
        ))?;
        status.last_write = events.rows.first().map(|event| event.recorded_at);
        for event in &events.rows {
            // In order: what was written before an event that is answered is answered too.
            if let Some(answer) = answers_to(&self.views, tenant, event.offset)?.last() {
                let row = answer_row(&self.views, tenant, *answer)?;
                status.last_derived = row.map(|row| row.recorded);
                break;
            }
            status.waiting += 1;
        }
        Ok(status)
    }
}

impl FactKey {
    /// The position of a fact.
    pub fn of(record: &FactRecord) -> FactKey {
        FactKey { at: record.recorded_from.0.0, id: *record.id.as_bytes() }
    }

    /// The instant.
    pub fn instant(self) -> Micros {
        Micros(self.at)
    }
}
