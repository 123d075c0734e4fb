//! Facts: what is known, at any point on both axes, with the words that say so.
//!
//! The views say which versions there are and what they stand on; predicate, object and names are read
//! from the answers in the log.

use std::collections::hash_map::Entry as Slot;
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use lamina_core::derive::facts::{Basis, Content, Piece, PieceId, Pins, Said, Support, Value};
use lamina_store::codec::answer::Answer;
use lamina_store::entry::SectionState;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::{Axis, EventScan};
use lamina_types::layer::{Claim, Confidence, EntityKind, Object, Term};
use lamina_types::{ActorId, EntityId, EventId, FactId, Micros, RecordedAt, ScopePath, ValidAt};

use crate::derive::read::{answer_row, answers_to, row, walk};
use crate::derive::rows::FactRow;
use crate::derive::{entities, facts, key};
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::{Engine, Error};

/// Rows that one page looks at before it ends early with a position to go on from.
const ROWS_LOOKED_AT_MAX: usize = 20_000;

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
    /// After this position of an earlier page.
    pub after: Option<FactKey>,
    /// At most so many.
    pub limit: usize,
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
    /// The events that say so.
    pub supports: Vec<EventId>,
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
}

impl FactRecord {
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

    /// The history of the world under one subject and predicate, as it is known: oldest first.
    pub async fn fact_timeline(
        &self,
        permit: ReadPermit,
        query: FactsQuery,
    ) -> Result<Vec<FactRecord>, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.timeline(&permit, &query)).await
    }

    /// The records that stand on an event: ids as they are written.
    pub async fn derived_from(&self, tenant: u32, event: EventId) -> Result<Vec<String>, Error> {
        self.inner.caught_up().await;
        let (from, to) = key::all_of_event(tenant, event);
        let mut found = Vec::new();
        let views = &self.inner.views;
        walk(views, Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
            found.extend(key::derived_id(key));
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }
}

/// Answers that were read for one page.
type Answers = HashMap<u64, Answer>;

impl Inner {
    fn facts(&self, permit: &ReadPermit, query: &FactsQuery) -> Result<FactsPage, Error> {
        let (tenant, scopes) = self.scopes_of(permit, &query.scope)?;
        let mut lists = Vec::new();
        for scope in &scopes {
            match &query.subject {
                None => lists.push(key::facts_listed(tenant, *scope)),
                Some(subject) => {
                    for entity in self.entities_called(tenant, &scopes, subject)? {
                        lists.push(key::facts_about(tenant, *scope, entity));
                    }
                }
            }
        }
        let mut found: BTreeSet<FactKey> = BTreeSet::new();
        let mut looked_at = 0;
        for (from, to) in lists {
            // A later page takes up before the last fact of the one before: newest first.
            let to = query.after.map_or(to.clone(), |after| key::before(&from, after).min(to));
            let mut kept = 0;
            walk(&self.views, Space::Records, (&from, &to), Direction::Backward, &mut |key, _| {
                looked_at += 1;
                let Some(at) = key::fact_key(key) else { return ControlFlow::Continue(()) };
                found.insert(at);
                kept += 1;
                // The filters come later: look at more than a page has room for.
                if kept >= ROWS_LOOKED_AT_MAX || looked_at >= ROWS_LOOKED_AT_MAX {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
        }
        let predicate = self.predicate_tag(tenant, query.predicate.as_deref())?;
        let mut answers = Answers::new();
        let mut items = Vec::new();
        let mut last = None;
        for at in found.into_iter().rev() {
            let id = FactId::from_bytes(at.id);
            let Some(fact) = self.fact_row(tenant, id)? else { continue };
            let sure = fact.piece.confidence(query.pins.recorded) >= query.min_confidence;
            let called = predicate.is_none_or(|predicate| predicate == fact.predicate);
            let lapsed = query.lapsed_by.is_some_and(|by| has_lapsed(&fact.piece, by));
            if !query.pins.admit(&fact.piece) || !sure || !called || lapsed {
                continue;
            }
            if items.len() == query.limit {
                return Ok(FactsPage { items, next: last });
            }
            items.extend(self.fact(tenant, id, &fact, query.pins.recorded, &mut answers)?);
            last = Some(at);
        }
        Ok(FactsPage { items, next: None })
    }

    fn timeline(&self, permit: &ReadPermit, query: &FactsQuery) -> Result<Vec<FactRecord>, Error> {
        let everything = FactsQuery { after: None, limit: ROWS_LOOKED_AT_MAX, ..query.clone() };
        let mut items = self.facts(permit, &everything)?.items;
        items.sort_by_key(|fact| (fact.valid_from, fact.recorded_from, fact.id));
        items.truncate(query.limit);
        Ok(items)
    }

    pub(crate) fn fact_row(&self, tenant: u32, id: FactId) -> Result<Option<FactRow>, Error> {
        Ok(row(&self.views, Space::Records, &key::fact(tenant, id), FactRow::decode)?)
    }

    fn predicate_tag(
        &self,
        tenant: u32,
        predicate: Option<&str>,
    ) -> Result<Option<[u8; 16]>, Error> {
        let tag = |predicate: &str| self.derived_tag(tenant, "derive.predicate", predicate);
        predicate.map(tag).transpose()
    }

    pub(super) fn derived_tag(
        &self,
        tenant: u32,
        domain: &str,
        word: &str,
    ) -> Result<[u8; 16], Error> {
        let mac = self.keyed(tenant)?.mac(domain, &[word.as_bytes()]);
        Ok(*mac.first_chunk().expect("32 bytes have a first half"))
    }

    /// Who or what somebody means by an id or a name.
    fn entities_called(
        &self,
        tenant: u32,
        scopes: &[u64],
        called: &str,
    ) -> Result<BTreeSet<EntityId>, Error> {
        let mut found = BTreeSet::new();
        if let Ok(id) = called.parse::<EntityId>() {
            found.insert(id);
            return Ok(found);
        }
        let mut tags = Vec::new();
        if called.parse::<ActorId>().is_ok() {
            tags.push((0, self.derived_tag(tenant, "derive.actor", called)?));
        }
        // What kind of thing is meant is not said, and some names are folded by their kind.
        let folded: BTreeSet<String> =
            EntityKind::ALL.iter().map(|kind| entities::fold_name(called, *kind)).collect();
        for name in &folded {
            let name = self.derived_tag(tenant, "derive.name", name)?;
            let domains = std::iter::once(0).chain(scopes.iter().copied());
            tags.extend(domains.map(|domain| (domain, name)));
        }
        for (domain, tag) in tags {
            let alias = key::alias(tenant, domain, &tag);
            let id = row(&self.views, Space::Sources, &alias, |bytes| {
                bytes.try_into().map_err(|_| lamina_store::codec::CodecError::Truncated)
            })?;
            found.extend(id.map(EntityId::from_bytes));
        }
        Ok(found)
    }

    /// A version with its words; `None` if the words are being erased right now.
    fn fact(
        &self,
        tenant: u32,
        id: FactId,
        fact: &FactRow,
        recorded: RecordedAt,
        answers: &mut Answers,
    ) -> Result<Option<FactRecord>, Error> {
        let piece = &fact.piece;
        let known = |support: &&Support| support.recorded <= recorded;
        let values: Vec<Value> = match &piece.content {
            Content::One(value) => vec![*value],
            Content::Conflict(values) => values.clone(),
            Content::Ended(_) => return Ok(None),
        };
        let mut objects = Vec::new();
        let mut said = None;
        let mut supports = Vec::new();
        for value in values {
            let mut events = Vec::new();
            let mut object = None;
            for support in piece.supports.iter().filter(known) {
                if support.said != Said::Value(value) {
                    continue;
                }
                let Some((claim, extractor, event)) = self.claim(tenant, support, answers)? else {
                    continue;
                };
                events.push(event);
                object.get_or_insert_with(|| claim.object.clone());
                said.get_or_insert((claim, extractor));
            }
            let Some(object) = object else { continue };
            supports.extend(events.iter().copied());
            let entity = match &object {
                Object::Entity(term) => self.entity_of_term(tenant, fact.scope, term)?,
                _ => None,
            };
            let negated = matches!(value, Value::IsNot(_));
            objects.push(FactObject { object, entity, negated, supports: events });
        }
        let Some((claim, extractor)) = said else { return Ok(None) };
        supports.sort_unstable();
        supports.dedup();
        Ok(Some(FactRecord {
            id,
            scope: self.scope_path(tenant, fact.scope)?,
            subject: EntityRef { id: fact.subject, term: claim.subject },
            predicate: claim.predicate,
            objects,
            valid_from: piece.from(),
            valid_from_basis: piece.from_basis(recorded),
            valid_to: piece.to(),
            valid_to_basis: piece.to_basis(),
            recorded_from: piece.recorded_from,
            recorded_to: piece.recorded_to.filter(|to| *to <= recorded),
            confidence: piece.confidence(recorded),
            extractor,
            supersedes: self.version_id(tenant, fact, piece.supersedes)?,
            superseded_by: self.superseder(tenant, fact, piece, recorded)?,
            supports,
        }))
    }

    /// Not shown before it happened.
    fn superseder(
        &self,
        tenant: u32,
        fact: &FactRow,
        piece: &Piece,
        recorded: RecordedAt,
    ) -> Result<Option<FactId>, Error> {
        match piece.recorded_to {
            Some(to) if to <= recorded => self.version_id(tenant, fact, piece.superseded_by),
            _ => Ok(None),
        }
    }

    fn version_id(
        &self,
        tenant: u32,
        fact: &FactRow,
        piece: Option<PieceId>,
    ) -> Result<Option<FactId>, Error> {
        let Some(piece) = piece else { return Ok(None) };
        let answer = answer_row(&self.views, tenant, piece.by.offset)?;
        Ok(answer.map(|answer| facts::mint(&answer.seed, answer.recorded, &fact.track, piece)))
    }

    /// The claim that a support is, the extractor that found it, and the event it was found in.
    fn claim(
        &self,
        tenant: u32,
        support: &Support,
        answers: &mut Answers,
    ) -> Result<Option<(Claim, String, EventId)>, Error> {
        let offset = support.source.offset;
        let Some(row) = answer_row(&self.views, tenant, offset)? else { return Ok(None) };
        let answer = match answers.entry(offset) {
            Slot::Occupied(known) => known.into_mut(),
            Slot::Vacant(slot) => {
                let entry = self.reader.entry(offset, row.place)?;
                let SectionState::Live(bytes) = &entry.what else { return Ok(None) };
                let answer = Answer::decode(bytes);
                slot.insert(answer.map_err(|_| Error::Undecodable { what: "an answer" })?)
            }
        };
        let claim = answer.extraction.claims.get(usize::from(support.source.ordinal)).cloned();
        Ok(claim.map(|claim| (claim, answer.extraction.extractor.clone(), row.event)))
    }

    fn entity_of_term(
        &self,
        tenant: u32,
        scope: u64,
        term: &Term,
    ) -> Result<Option<EntityId>, Error> {
        let called = match term {
            Term::Actor(actor) => actor.as_str(),
            Term::Named { name, .. } => name,
            Term::Of { .. } => return Ok(None),
        };
        Ok(self.entities_called(tenant, &[scope], called)?.into_iter().next())
    }
}

/// Whether something put an end to it: one that was said to last so long is not over because of it.
fn has_lapsed(piece: &Piece, by: ValidAt) -> bool {
    match piece.to() {
        Some(to) if to <= by => piece.supports.iter().all(|support| support.to != Some(to)),
        _ => false,
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
        let events = self.views.event_scan(&EventScan {
            tenant,
            scopes,
            axis: Axis::Recorded,
            direction: Direction::Backward,
            observed_from: None,
            observed_to: None,
            recorded_from: None,
            recorded_to: None,
            tags: Vec::new(),
            after: None,
            skip: 0,
            limit: WAITING_COUNTED_MAX as usize,
            scan_max: WAITING_COUNTED_MAX as usize,
        })?;
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
