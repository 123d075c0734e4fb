//! Understanding: concepts with their words, at any point on both axes.
//!
//! The views say which concepts there are and what they stand on; names and descriptions are made when
//! they are read, from words in the log, so that an erased event leaves nothing behind in them.

mod words;
mod of_event;
mod claimed;
mod record;
mod relations;
mod then;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_core::derive::concepts::explore;
use lamina_core::derive::concepts::things::folded;
use lamina_core::derive::concepts::{Concept, Edge, Graph as _, Item, Reading, Standing};
use lamina_core::derive::naming;
use lamina_core::policy::Permit;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::Views;
use lamina_types::capability::UnderstandingRead;
use lamina_types::forget::Layers;
use lamina_types::layer::Confidence;
use lamina_types::recall::Layer;
use lamina_types::{
    BeliefId, ConceptId, EpisodeId, FactId, Micros, RecordedAt, ScopePath, ValidAt,
};

pub(crate) use self::record::KnownAt;
use self::record::Version;
pub use self::relations::NamedRelation;
pub(crate) use self::then::ConceptsThen;
pub(crate) use self::words::Words;
use crate::derive::concepts::graph::Stored;
use crate::derive::concepts::key;
use crate::derive::concepts::rows::ConceptRow;
use crate::derive::concepts::things::THING;
use crate::derive::key as fact_key;
use crate::derive::key::forget as forget_key;
use crate::derive::read::{get, row, walk};
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::read::facts::FactKey;
use crate::{Engine, Error};

/// Concepts that one page looks at before it ends early with a position to go on from.
const LOOKED_AT_MAX: usize = 5_000;
/// Concepts of a scope that its coverage is made of.
pub const COVERED_MAX: usize = 2_000;
/// Versions that a history shows, the latest first.
pub const VERSIONS_SHOWN_MAX: usize = 1_000;
/// Words of a topic that are looked at.
const TOPIC_WORDS_MAX: usize = 16;

/// What reading understanding takes: leave to read concepts, and how far.
#[derive(Debug)]
pub struct MayUnderstand {
    /// Leave to read concepts.
    pub concepts: Permit<UnderstandingRead>,
    /// Which scopes.
    pub reach: ReadPermit,
}

/// Where a question for concepts stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConceptPins {
    /// The knowledge it is asked with.
    pub recorded: RecordedAt,
    /// The instant in the world it is about.
    pub valid: Option<ValidAt>,
    /// Valid at some time in here (half open).
    pub valid_during: Option<(ValidAt, ValidAt)>,
    /// Versions that were the latest at some time in here (half open).
    pub recorded_during: Option<(RecordedAt, RecordedAt)>,
    /// Also what is not held any more.
    pub deprecated: bool,
}

/// A question for concepts.
#[derive(Debug, Clone)]
pub struct ConceptsQuery {
    /// The scope.
    pub scope: ScopePath,
    /// Only those that gather these words.
    pub topic: Option<String>,
    /// And what is within so many steps of them.
    pub depth: u32,
    /// Where it stands.
    pub pins: ConceptPins,
    /// At least this sure.
    pub min_confidence: Confidence,
    /// After this position of an earlier page.
    pub after: Option<FactKey>,
    /// At most so many.
    pub limit: usize,
}

/// One page of concepts, the latest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConceptsPage {
    /// The concepts.
    pub items: Vec<ConceptRecord>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<FactKey>,
}

/// One version of a concept, with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConceptRecord {
    /// Its id, the same for all versions.
    pub id: ConceptId,
    /// Its scope.
    pub scope: ScopePath,
    /// What it is called; `None` once nothing is left to call it by.
    pub name: Option<String>,
    /// Its things, as they are called.
    pub things: Vec<String>,
    /// What is said about it.
    pub summary: Option<String>,
    /// The concept that it turned out to be the same as.
    pub canonical: Option<ConceptId>,
    /// Counts from 1.
    pub version: u32,
    /// The id of this version alone.
    pub version_id: ConceptId,
    /// That of the version before.
    pub previous: Option<ConceptId>,
    /// The concepts that fell apart into this and others.
    pub derived_from: Vec<ConceptId>,
    /// Whether it is in use.
    pub standing: Standing,
    /// Since when it holds in the world.
    pub valid_from: ValidAt,
    /// When it stopped being one thing.
    pub valid_to: Option<ValidAt>,
    /// When the first version was made.
    pub created: RecordedAt,
    /// When this version was made.
    pub recorded_from: RecordedAt,
    /// When the next one was.
    pub recorded_to: Option<RecordedAt>,
    /// How sure it is.
    pub confidence: Confidence,
    /// What it does not know of yet.
    pub staleness: Confidence,
    /// What it stood on and is lost.
    pub support_loss: Confidence,
    /// The share of what is known about its things that it stands on.
    pub coverage: Confidence,
    /// The episodes it stands on, the latest first.
    pub episodes: Vec<EpisodeId>,
    /// The facts it stands on.
    pub facts: Vec<FactId>,
    /// The beliefs in what these say.
    pub beliefs: Vec<BeliefId>,
    /// Its edges, heaviest first.
    pub edges: Vec<Edge>,
    /// What vocabularies call the relations of edges that not every tenant has.
    pub relations: Vec<NamedRelation>,
}

/// A concept that is related to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedConcept {
    /// It.
    pub concept: ConceptRecord,
    /// Steps to it.
    pub depth: u32,
    /// The last edge of the way.
    pub by: Edge,
    /// What a vocabulary calls its relation, if not every tenant has it.
    pub relation: Option<NamedRelation>,
    /// The product of the weights along the way, in ten-thousandths.
    pub weight: u32,
}

/// How much of a scope is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeCoverage {
    /// Concepts in use.
    pub concepts_count: u32,
    /// By topic, largest first: its name, its concepts, and how sure they are on average.
    pub topics: Vec<(String, u32, Confidence)>,
    /// The share of what is known that the concepts were synthesized from.
    pub consulted: Confidence,
    /// How long the oldest concept with news has waited.
    pub lag_us: i64,
    /// There are more concepts than were looked at.
    pub cut: bool,
}

impl Engine {
    /// One page of concepts.
    pub async fn concepts(
        &self,
        may: MayUnderstand,
        query: ConceptsQuery,
    ) -> Result<ConceptsPage, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.concepts(&may, &query)).await
    }

    /// The scope of a concept, or of a version of one.
    pub async fn concept_home(&self, tenant: u32, id: ConceptId) -> Result<ScopePath, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| {
            let (row, _) = inner.concept_named(tenant, id)?;
            inner.scope_path(tenant, row.scope)
        })
        .await
    }

    /// One concept as it is known at a point on both axes. An alias leads to the concept it stands for,
    /// unless what is not held any more is asked for; the id of a version leads to that version.
    pub async fn concept(
        &self,
        may: MayUnderstand,
        id: ConceptId,
        pins: ConceptPins,
    ) -> Result<ConceptRecord, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.concept(&may, id, pins)).await
    }

    /// Every version of a concept, the latest first.
    pub async fn concept_history(
        &self,
        may: MayUnderstand,
        id: ConceptId,
    ) -> Result<Vec<ConceptRecord>, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.concept_history(&may, id)).await
    }

    /// The concepts within so many steps of one, nearest first; `None` if nobody knows the relation.
    pub async fn concepts_related(
        &self,
        may: MayUnderstand,
        id: ConceptId,
        relation: Option<String>,
        depth: u32,
        limit: usize,
    ) -> Result<Option<Vec<RelatedConcept>>, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.related(&may, id, relation.as_deref(), depth, limit)).await
    }

    /// How much of a scope is understood.
    pub async fn understanding_coverage(
        &self,
        may: MayUnderstand,
        scope: ScopePath,
    ) -> Result<ScopeCoverage, Error> {
        self.inner.caught_up().await;
        let now = RecordedAt(self.now());
        self.blocking(move |inner| inner.coverage(&may, &scope, now)).await
    }
}

impl Inner {
    pub(super) fn concepts(
        &self,
        may: &MayUnderstand,
        query: &ConceptsQuery,
    ) -> Result<ConceptsPage, Error> {
        let (tenant, scopes) = self.understood(may, &query.scope)?;
        let mut found: BTreeSet<FactKey> = BTreeSet::new();
        for scope in &scopes {
            match &query.topic {
                Some(topic) => found.extend(self.about(tenant, *scope, topic, query.depth)?),
                None => found.extend(self.concepts_listed(tenant, *scope, query.after)?),
            }
        }
        let known = self.known_at(query.pins.recorded);
        let mut words = Words::at(self, tenant, known);
        let mut items = Vec::new();
        let mut last = None;
        let found = found.into_iter().rev();
        for at in found.filter(|at| query.after.is_none_or(|after| *at < after)) {
            let id = ConceptId::from_bytes(at.id);
            let Some(seen) = self.concept_at(tenant, id, query.pins.recorded)? else { continue };
            if !seen.passes(&query.pins) {
                continue;
            }
            let reading = self.reading(tenant, &seen, known)?;
            if reading.confidence < query.min_confidence {
                continue;
            }
            if items.len() == query.limit {
                return Ok(ConceptsPage { items, next: last });
            }
            let record = self.concept_record(&mut words, &seen, reading, known)?;
            if query.pins.deprecated || record.standing == Standing::Held {
                items.push(record);
                last = Some(at);
            }
        }
        Ok(ConceptsPage { items, next: None })
    }

    /// The concepts of a scope that come before a position, the latest first.
    fn concepts_listed(
        &self,
        tenant: u32,
        scope: u64,
        after: Option<FactKey>,
    ) -> Result<Vec<FactKey>, Error> {
        let (from, to) = key::all_listed(tenant, scope);
        let to = after.map_or(to.clone(), |after| fact_key::before(&from, after).min(to));
        let mut found = Vec::new();
        walk(&self.views, Space::Records, (&from, &to), Direction::Backward, &mut |key, _| {
            found.extend(fact_key::fact_key(key));
            if found.len() < LOOKED_AT_MAX {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        Ok(found)
    }

    /// The concepts that gather the words of a topic, and those within so many steps.
    fn about(
        &self,
        tenant: u32,
        scope: u64,
        topic: &str,
        depth: u32,
    ) -> Result<Vec<FactKey>, Error> {
        let graph = Stored::new(&*self.views, tenant, scope);
        let words = naming::words(topic);
        let words = words.iter().take(TOPIC_WORDS_MAX);
        let words: Vec<&str> = words.map(String::as_str).collect();
        let pairs = words.windows(2).map(|pair| pair.join(" "));
        let single = words.iter().map(|word| (*word).to_owned());
        let keyed = self.keyed(tenant)?;
        let mut ids: BTreeSet<ConceptId> = BTreeSet::new();
        for name in std::iter::once(words.join(" ")).chain(pairs).chain(single) {
            let Some(name) = folded(&name) else { continue };
            let mac = keyed.mac(THING, &[name.as_bytes()]);
            let tag = *mac.first_chunk().expect("32 bytes have a first half");
            let items = [Item::Value(tag), Item::Label(tag)];
            ids.extend(items.into_iter().filter_map(|item| graph.concept_of(item)));
        }
        for id in ids.clone() {
            let near = explore::related(&graph, id, None, depth, explore::VISITS_MAX);
            ids.extend(near.iter().map(|reached| reached.id));
        }
        let rows = ids.iter().filter_map(|id| graph.concept(*id));
        let found = rows
            .map(|concept| FactKey { at: concept.created.0.0, id: *concept.id.as_bytes() })
            .collect();
        Ok(graph.finish(found)?)
    }

    fn concept(
        &self,
        may: &MayUnderstand,
        id: ConceptId,
        pins: ConceptPins,
    ) -> Result<ConceptRecord, Error> {
        let tenant = may.concepts.caller().tenant;
        let (row, version) = self.concept_named(tenant, id)?;
        self.covered(may, tenant, row.scope)?;
        let mut id = row.concept.id;
        let seen = match version {
            Some(version) => self.concept_version(tenant, id, version)?,
            None => {
                let mut seen = self.concept_at(tenant, id, pins.recorded)?;
                while let Some(Standing::Merged { into }) =
                    seen.as_ref().map(|seen| seen.row.concept.standing)
                    && !pins.deprecated
                    && into != id
                {
                    id = into;
                    seen = self.concept_at(tenant, id, pins.recorded)?;
                }
                seen
            }
        };
        let seen = seen.ok_or(Error::NotFound)?;
        let at = self.known_at(pins.recorded);
        let reading = self.reading(tenant, &seen, at)?;
        self.concept_record(&mut Words::at(self, tenant, at), &seen, reading, at)
    }

    fn concept_history(
        &self,
        may: &MayUnderstand,
        id: ConceptId,
    ) -> Result<Vec<ConceptRecord>, Error> {
        let tenant = may.concepts.caller().tenant;
        let (row, _) = self.concept_named(tenant, id)?;
        self.covered(may, tenant, row.scope)?;
        let mut words = Words::new(self, tenant);
        let mut all = Vec::new();
        let latest = row.concept.version;
        for version in (1..=latest).rev().take(VERSIONS_SHOWN_MAX) {
            let Some(seen) = self.concept_version(tenant, row.concept.id, version)? else {
                continue;
            };
            let reading = self.reading(tenant, &seen, self.known_at(RecordedAt(Micros::MAX)))?;
            let at = seen.recorded_to.unwrap_or(RecordedAt(Micros::MAX));
            all.push(self.concept_record(&mut words, &seen, reading, self.known_at(at))?);
        }
        Ok(all)
    }

    fn coverage(
        &self,
        may: &MayUnderstand,
        scope: &ScopePath,
        now: RecordedAt,
    ) -> Result<ScopeCoverage, Error> {
        let (tenant, scopes) = self.understood(may, scope)?;
        let mut whole = ScopeCoverage {
            concepts_count: 0,
            topics: Vec::new(),
            consulted: Confidence::new(0),
            lag_us: 0,
            cut: false,
        };
        let (mut known, mut counted) = (0_u64, 0_u64);
        for scope in scopes {
            let listed = self.concepts_listed(tenant, scope, None)?;
            whole.cut |= listed.len() > COVERED_MAX;
            let graph = Stored::new(&*self.views, tenant, scope);
            let ids = listed.iter().take(COVERED_MAX).map(|at| ConceptId::from_bytes(at.id));
            let concepts: Vec<Concept> = ids.filter_map(|id| graph.concept(id)).collect();
            let covered = explore::coverage(&graph, &concepts, now);
            let mut words = Words::new(self, tenant);
            for topic in &covered.topics {
                let head = concepts.iter().find(|concept| concept.id == topic.head);
                let name = head.map(|head| words.name(&graph, scope, head)).transpose()?.flatten();
                let sure = u16::try_from(topic.confidence).unwrap_or(10_000);
                let name = name.unwrap_or_else(|| topic.head.to_string());
                whole.topics.push((name, topic.concepts_count, Confidence::new(sure)));
            }
            whole.concepts_count = whole.concepts_count.saturating_add(covered.concepts_count);
            whole.lag_us = whole.lag_us.max(covered.lag_us);
            // Scopes count by how much is in them.
            known += u64::from(covered.consulted) * u64::from(covered.concepts_count);
            counted += u64::from(covered.concepts_count);
            graph.finish(())?;
        }
        let share = known.checked_div(counted).unwrap_or(0);
        whole.consulted = Confidence::new(u16::try_from(share).unwrap_or(10_000));
        whole.topics.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        Ok(whole)
    }

    /// The tenant, and the scopes that can be read from one.
    fn understood(&self, may: &MayUnderstand, scope: &ScopePath) -> Result<(u32, Vec<u64>), Error> {
        if !may.concepts.covers(scope) {
            return Err(Error::OutsidePermit);
        }
        self.scopes_of(&may.reach, scope)
    }

    /// Whether a concept of this scope may be read.
    fn covered(&self, may: &MayUnderstand, tenant: u32, scope: u64) -> Result<(), Error> {
        let path = self.scope_path(tenant, scope)?;
        if may.concepts.covers(&path) && may.reach.covers(&path) {
            Ok(())
        } else {
            Err(Error::OutsidePermit)
        }
    }

    /// The concept that an id names, and its version if it names one.
    pub(super) fn concept_named(
        &self,
        tenant: u32,
        id: ConceptId,
    ) -> Result<(ConceptRow, Option<u32>), Error> {
        let stored = |id| -> Result<Option<ConceptRow>, Error> {
            let stored = key::concept(tenant, id);
            let found = row(&self.views, Space::Records, &stored, ConceptRow::decode)?;
            match found.as_ref().is_some_and(|row| self.is_veiled(tenant, row.scope)) {
                true => Err(Error::Deleted),
                false => Ok(found),
            }
        };
        if let Some(row) = stored(id)? {
            return Ok((row, None));
        }
        let target = get(&self.views, Space::Records, &key::version_id(tenant, id))?;
        let Some(target) = target else {
            let layer = Layers::of([Layer::Understanding]).bits();
            let gone = forget_key::gone(tenant, layer, id.as_bytes());
            let gone = get(&self.views, Space::Records, &gone)?.is_some();
            return Err(if gone { Error::Deleted } else { Error::NotFound });
        };
        let read = || {
            let (id, version) = target.split_first_chunk::<16>()?;
            let version = u32::from_be_bytes(version.try_into().ok()?);
            Some((ConceptId::from_bytes(*id), version))
        };
        let (id, version) = read().ok_or(Error::NotFound)?;
        Ok((stored(id)?.ok_or(Error::NotFound)?, Some(version)))
    }
}

/// A concept, before what it stands on is looked up.
#[derive(Debug)]
pub(crate) struct ConceptSeen {
    pub(crate) id: ConceptId,
    pub(crate) scope: ScopePath,
    /// What it is about, in words.
    pub(crate) things: Vec<String>,
    pub(crate) reading: Reading,
    version: Version,
}

impl Inner {
    /// One concept, if the question sees it, and what it is about. Whoever asks has asked for leave.
    pub(crate) fn concept_seen(
        &self,
        words: &mut Words<'_>,
        id: ConceptId,
        pins: &ConceptPins,
        at: KnownAt,
    ) -> Result<Option<ConceptSeen>, Error> {
        let seen = self.concept_at(words.tenant, id, pins.recorded)?;
        let Some(version) = seen.filter(|seen| seen.passes(pins)) else { return Ok(None) };
        let reading = self.reading(words.tenant, &version, at)?;
        let scope = self.scope_path(words.tenant, version.row.scope)?;
        let graph = Stored::new(&*self.views, words.tenant, version.row.scope);
        let things = words.things(&graph, version.row.scope, &version.row.concept)?;
        graph.finish(())?;
        Ok(Some(ConceptSeen { id: version.row.concept.id, scope, things, reading, version }))
    }

    /// All of it.
    pub(crate) fn concept_whole(
        &self,
        words: &mut Words<'_>,
        seen: &ConceptSeen,
        at: KnownAt,
    ) -> Result<Option<ConceptRecord>, Error> {
        match self.concept_record(words, &seen.version, seen.reading, at) {
            Ok(record) => Ok(Some(record)),
            Err(Error::Deleted) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The graph of a scope, to read.
type Seen<'a> = Stored<&'a Views>;
