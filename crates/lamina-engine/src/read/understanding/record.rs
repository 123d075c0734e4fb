//! One version of a concept: which one is meant, how it reads, and what it stands on.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use lamina_core::derive::concepts::{
    Concept, Described, EPISODES_MIN, Edge, Item, Reading, Standing, Supports, edges, read,
};
use lamina_core::derive::facts::{AssertionId, Content, Pins, Superseded};
use lamina_store::kv::{Direction, Space};
use lamina_store::view::Tag;
use lamina_types::layer::Confidence;
use lamina_types::{ConceptId, EpisodeId, FactId, Micros, RecordedAt};

use super::words::Words;
use super::{ConceptPins, ConceptRecord};
use crate::Error;
use crate::derive::concepts::graph::Stored;
use crate::derive::concepts::key;
use crate::derive::concepts::rows::{Claimed, ConceptRow};
use crate::derive::key as fact_key;
use crate::derive::read::{answer_row, row, walk};
use crate::engine::Inner;

/// Episodes that a concept names as its support, the latest first.
pub(crate) const EPISODES_NAMED_MAX: usize = 100;
/// Facts that it names.
pub(crate) const FACTS_NAMED_MAX: usize = 200;
/// Facts of which it names the beliefs in what they say.
const BELIEFS_NAMED_MAX: usize = 50;
/// Versions of one track that are looked at to find the one that a claim is about.
const PIECES_LOOKED_AT_MAX: usize = 64;
/// Episodes of a thing that are looked at for those it shares with others.
const EPISODES_LOOKED_AT_MAX: usize = 1_000;

/// The knowledge that is asked with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownAt {
    recorded: RecordedAt,
    /// What is counted now may be more than what was known.
    is_past: bool,
}

impl KnownAt {
    /// All that is known, by somebody who began to ask at an instant. What is written while the answer is made does not
    /// make that instant a past one.
    pub(crate) fn present(recorded: RecordedAt) -> KnownAt {
        KnownAt { recorded, is_past: false }
    }

    /// What was known at an instant, also if nothing came since: so what is answered does not depend on that.
    pub(crate) fn then(recorded: RecordedAt) -> KnownAt {
        KnownAt { recorded, is_past: true }
    }

    /// The instant, if it is past.
    pub(super) fn past(self) -> Option<RecordedAt> {
        self.is_past.then_some(self.recorded)
    }
}

/// A version, and where it stands among the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) row: ConceptRow,
    /// It is the latest, so what happened since is known.
    pub(super) latest: bool,
    /// When the next one was made.
    pub(super) recorded_to: Option<RecordedAt>,
    /// The id of the one before.
    pub(super) previous: Option<ConceptId>,
}

impl Version {
    /// Whether a question is answered with it.
    pub(super) fn passes(&self, pins: &ConceptPins) -> bool {
        let Concept { standing, valid_from, valid_to, synthesized, .. } = &self.row.concept;
        let valid = |at| *valid_from <= at && valid_to.is_none_or(|to| at < to);
        let during = |(from, to)| *valid_from < to && valid_to.is_none_or(|ends| from < ends);
        let known =
            |(from, to)| *synthesized < to && self.recorded_to.is_none_or(|ends| from < ends);
        (pins.deprecated || *standing == Standing::Held)
            && pins.valid.is_none_or(valid)
            && pins.valid_during.is_none_or(during)
            && pins.recorded_during.is_none_or(known)
    }
}

/// What a concept stands on.
#[derive(Debug)]
pub(super) struct Support {
    pub(super) episodes: Vec<EpisodeId>,
    pub(super) facts: Vec<FactId>,
    pub(super) said: Vec<AssertionId>,
    /// When the last of what was looked at became known: from then on nothing of it changes with time.
    since: RecordedAt,
}

impl Default for Support {
    fn default() -> Support {
        let since = RecordedAt(Micros::MIN);
        Support { episodes: Vec::new(), facts: Vec::new(), said: Vec::new(), since }
    }
}

impl Support {
    fn bytes(&self) -> usize {
        16 * (self.episodes.len() + self.facts.len() + self.said.len()) + size_of::<Support>()
    }

    /// How much it is.
    fn counts(&self) -> Supports {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Supports { episodes: count(self.episodes.len()), facts: count(self.facts.len()) }
    }

    /// Whether it is enough for a concept around a leader.
    fn suffices(&self, leader: Item) -> bool {
        self.counts().suffice(leader)
    }
}

impl Inner {
    /// The version that was the latest at an instant.
    pub(super) fn concept_at(
        &self,
        tenant: u32,
        id: ConceptId,
        recorded: RecordedAt,
    ) -> Result<Option<Version>, Error> {
        let stored =
            row(&self.views, Space::Records, &key::concept(tenant, id), ConceptRow::decode)?;
        let Some(latest) = stored else { return Ok(None) };
        let mut version = latest.concept.version;
        while version > 0 {
            let Some(found) = self.concept_version(tenant, id, version)? else { return Ok(None) };
            if found.row.concept.synthesized <= recorded {
                return Ok(Some(found));
            }
            version -= 1;
        }
        Ok(None)
    }

    /// One version.
    pub(super) fn concept_version(
        &self,
        tenant: u32,
        id: ConceptId,
        version: u32,
    ) -> Result<Option<Version>, Error> {
        let stored = |key: &[u8]| row(&self.views, Space::Records, key, ConceptRow::decode);
        let one = |version: u32| stored(&key::version(tenant, id, version));
        let Some(latest) = stored(&key::concept(tenant, id))? else { return Ok(None) };
        let is_latest = latest.concept.version == version;
        // What is lost since stands with the concept, not with its version.
        let found = if is_latest { Some(latest) } else { one(version)? };
        let Some(row) = found else { return Ok(None) };
        let previous = if version > 1 { one(version - 1)? } else { None };
        let next = if is_latest { None } else { one(version + 1)? };
        Ok(Some(Version {
            row,
            latest: is_latest,
            recorded_to: next.map(|next| next.concept.synthesized),
            previous: previous.map(|previous| previous.version_id()),
        }))
    }

    /// What can be said of a version: as things stand if it is the latest, and else as it was made. At an instant of the
    /// past nobody knew what came since.
    pub(super) fn reading(
        &self,
        tenant: u32,
        seen: &Version,
        at: KnownAt,
    ) -> Result<Reading, Error> {
        // What is lost since stands with the concept, not with its version.
        let made = match seen.latest && at.is_past {
            true => {
                let made = key::version(tenant, seen.row.concept.id, seen.row.concept.version);
                row(&self.views, Space::Records, &made, ConceptRow::decode)?
            }
            false => None,
        };
        let ConceptRow { scope, concept, confidence } = made.as_ref().unwrap_or(&seen.row);
        let graph = Stored::new(&*self.views, tenant, *scope);
        let reading = if seen.latest && !at.is_past {
            return self.made_of(
                tenant,
                concept,
                "reading",
                |_| 0,
                |concept| {
                    let reading = read(&graph, concept);
                    Ok(graph.finish(reading)?)
                },
            );
        } else {
            Reading {
                confidence: *confidence,
                staleness: Confidence::new(0),
                support_loss: Confidence::new(0),
                coverage: Confidence::FULL,
                supports: Supports { episodes: concept.episodes_count, facts: concept.facts_count },
                hidden: concept.standing != Standing::Held,
            }
        };
        Ok(graph.finish(reading)?)
    }

    /// A version with its words and what it stands on.
    pub(super) fn concept_record(
        &self,
        words: &mut Words<'_>,
        seen: &Version,
        reading: Reading,
        at: KnownAt,
    ) -> Result<ConceptRecord, Error> {
        let (tenant, recorded) = (words.tenant, at.recorded);
        let ConceptRow { scope, concept, .. } = &seen.row;
        let graph = Stored::new(&*self.views, tenant, *scope);
        let name = match at.past() {
            Some(then) => words.name_then(&graph, *scope, concept, then)?,
            None => words.name(&graph, *scope, concept)?,
        };
        // Those of the latest version follow what they stand on; those of others are as they were.
        let held = seen.latest && concept.standing == Standing::Held && !at.is_past;
        let things = words.things(&graph, *scope, concept)?;
        graph.finish(())?;
        let edges = match held {
            // They count what all events say.
            _ if words.is_filtered() => Vec::new(),
            true => self.edges_of(tenant, *scope, concept)?,
            false => concept.edges.clone(),
        };
        let support = self.support_known(tenant, *scope, concept, at)?;
        let support = self.support_among(words, *scope, support)?;
        let counts = if words.is_filtered() { support.counts() } else { reading.supports };
        // A version of the past whose evidence was withdrawn since: it would not have been made.
        let is_weighed = at.is_past || words.is_filtered();
        let is_given_up = is_weighed && !support.suffices(concept.leader);
        let standing = match concept.standing {
            Standing::Held if is_given_up => Standing::Deprecated,
            standing => standing,
        };
        let described = Described::of(concept, counts);
        let summary = words.summary(name.as_deref(), described, &support.said)?;
        Ok(ConceptRecord {
            id: concept.id,
            scope: self.scope_path(tenant, *scope)?,
            name,
            things,
            summary,
            canonical: match concept.standing {
                Standing::Merged { into } => Some(into),
                _ => None,
            },
            version: concept.version,
            version_id: seen.row.version_id(),
            previous: seen.previous,
            derived_from: concept.derived_from.clone(),
            standing,
            valid_from: concept.valid_from,
            valid_to: concept.valid_to,
            created: concept.created,
            recorded_from: concept.synthesized,
            recorded_to: seen.recorded_to.filter(|to| *to <= recorded),
            confidence: reading.confidence,
            staleness: reading.staleness,
            support_loss: reading.support_loss,
            coverage: reading.coverage,
            episodes: support.episodes.clone(),
            beliefs: self.believed(
                tenant,
                support.facts.get(..BELIEFS_NAMED_MAX).unwrap_or(&support.facts),
                recorded,
            )?,
            facts: support.facts.clone(),
            relations: self.relations_of(tenant, *scope, &edges)?,
            edges,
        })
    }

    fn edges_of(&self, tenant: u32, scope: u64, concept: &Concept) -> Result<Vec<Edge>, Error> {
        let bytes = |edges: &Vec<Edge>| size_of::<Edge>() * edges.len();
        self.made_of(tenant, concept, "edges", bytes, |concept| {
            let graph = Stored::new(&*self.views, tenant, scope);
            let edges = edges(&graph, concept);
            Ok(graph.finish(edges)?)
        })
    }

    /// Something that only rows say of the latest version of a concept, from before if none of them was written
    /// since.
    fn made_of<T: Clone + Send + Sync + 'static>(
        &self,
        tenant: u32,
        concept: &Concept,
        what: &str,
        bytes: impl FnOnce(&T) -> usize,
        make: impl FnOnce(&Concept) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (id, version) = (concept.id, concept.version);
        let name = [what.as_bytes(), b" ", &key::version(tenant, id, version)].concat();
        let made = self.views.made_again(&name, bytes, || {
            // As it is now: whatever writes it makes this be made again.
            let stored = key::concept(tenant, id);
            let stored = row(&self.views, Space::Records, &stored, ConceptRow::decode)?;
            let stored = stored.map(|row| row.concept).filter(|now| now.version == version);
            make(stored.as_ref().unwrap_or(concept))
        })?;
        Ok(Arc::unwrap_or_clone(made))
    }

    /// What a concept stands on: of the present mostly from before.
    fn support_known(
        &self,
        tenant: u32,
        scope: u64,
        concept: &Concept,
        at: KnownAt,
    ) -> Result<Arc<Support>, Error> {
        if !at.is_past {
            let always = KnownAt::present(RecordedAt(Micros::MAX));
            let bytes = |support: &Arc<Support>| support.bytes();
            let known = self.made_of(tenant, concept, "support", bytes, |concept| {
                self.support(tenant, scope, concept, always).map(Arc::new)
            })?;
            if known.since <= at.recorded {
                return Ok(known);
            }
        }
        self.support(tenant, scope, concept, at).map(Arc::new)
    }

    /// The part of a support that admitted events tell.
    fn support_among(
        &self,
        words: &Words<'_>,
        scope: u64,
        support: Arc<Support>,
    ) -> Result<Arc<Support>, Error> {
        if !words.is_filtered() {
            return Ok(support);
        }
        let mut found = Support { since: support.since, ..Support::default() };
        for episode in &support.episodes {
            let Some(digest) = self.digest_of(words.tenant, scope, *episode)? else { continue };
            for answer in &digest.answers {
                if words.admits_answer(*answer)? {
                    found.episodes.push(*episode);
                    break;
                }
            }
        }
        for fact in &support.facts {
            if words.admits_fact(*fact)? {
                found.facts.push(*fact);
            }
        }
        for source in &support.said {
            let origin = self.origin(words.tenant, *source)?;
            if words.admits_answer(origin.offset)? {
                found.said.push(*source);
            }
        }
        Ok(Arc::new(found))
    }

    /// The episodes that share the leader and another of its things, and the facts about its things: those that were
    /// said there, and if that is too little, what was said elsewhere too. It counts wherever it was said.
    fn support(
        &self,
        tenant: u32,
        scope: u64,
        concept: &Concept,
        at: KnownAt,
    ) -> Result<Support, Error> {
        let members: BTreeSet<Item> = concept.members.iter().copied().collect();
        let mut found = Support::default();
        let mut claimed: Vec<Claimed> = Vec::new();
        for (sealed, episode) in self.sealed_with(tenant, scope, concept.leader, at.recorded)? {
            found.since = found.since.max(sealed);
            let Some(digest) = self.digest_of(tenant, scope, episode)? else { continue };
            let shared = digest.items.iter().filter(|item| members.contains(item)).count();
            if shared < 2 && !concept.leader.is_label() {
                continue;
            }
            match concept.leader {
                Item::Label(tag) => claimed.extend(self.labelled(tenant, scope, &digest, tag)?),
                _ => claimed.extend(self.claims(tenant, scope, &digest, at)?),
            }
            if found.episodes.len() < EPISODES_NAMED_MAX {
                found.episodes.push(episode);
            }
        }
        claimed.retain(|fact| concept.leader.is_label() || members.contains(&fact.subject));
        self.name_facts(tenant, scope, claimed, at, &mut found)?;
        let often = found.episodes.len() >= EPISODES_MIN as usize;
        let mut apart = members.iter().filter(|_| often);
        while !found.suffices(concept.leader)
            && let Some(item) = apart.next()
        {
            let mut claimed: Vec<Claimed> = Vec::new();
            for (sealed, episode) in self.sealed_with(tenant, scope, *item, at.recorded)? {
                found.since = found.since.max(sealed);
                let Some(digest) = self.digest_of(tenant, scope, episode)? else { continue };
                claimed.extend(self.claims(tenant, scope, &digest, at)?);
            }
            claimed.retain(|fact| fact.subject == *item);
            self.name_facts(tenant, scope, claimed, at, &mut found)?;
        }
        Ok(found)
    }

    /// Adds the facts that say what was claimed.
    fn name_facts(
        &self,
        tenant: u32,
        scope: u64,
        claimed: Vec<Claimed>,
        KnownAt { recorded, is_past }: KnownAt,
        found: &mut Support,
    ) -> Result<(), Error> {
        for Claimed { track, source, .. } in claimed.into_iter().take(FACTS_NAMED_MAX) {
            let fact = match is_past {
                true => self.fact_then(tenant, scope, source, recorded)?,
                false => {
                    let (fact, since) = self.fact_said(tenant, scope, &track, source, recorded)?;
                    found.since = found.since.max(since);
                    fact
                }
            };
            if let Some(fact) = fact {
                found.said.push(source);
                if !found.facts.contains(&fact) {
                    found.facts.push(fact);
                }
            }
        }
        Ok(())
    }

    /// An instant that was asked for: it is past if something was recorded since.
    pub(crate) fn known_at(&self, recorded: RecordedAt) -> KnownAt {
        let is_past = self.views.applied().is_some_and(|tip| recorded < tip.recorded_at);
        KnownAt { recorded, is_past }
    }

    /// The version of a fact that stood on what was said somewhere at an instant, as it was known then. What was said
    /// may count elsewhere since, because entities became one or are two again: it is known by where it was said first.
    fn fact_then(
        &self,
        tenant: u32,
        scope: u64,
        source: AssertionId,
        recorded: RecordedAt,
    ) -> Result<Option<FactId>, Error> {
        let origin = self.origin(tenant, source)?;
        let Some(answer) = answer_row(&self.views, tenant, origin.offset)? else { return Ok(None) };
        let (from, to) = fact_key::all_of_event(tenant, answer.event);
        let mut ids = Vec::new();
        walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |found, _| {
            if fact_key::layer_of(found) == Some(fact_key::Layer::Fact) {
                ids.extend(fact_key::tail_id(found).map(FactId::from_bytes));
            }
            ControlFlow::Continue(())
        })?;
        for id in ids {
            let Some(fact) = self.fact_row(tenant, id)? else { continue };
            let piece = &fact.piece;
            let ended = matches!(piece.content, Content::Ended(_));
            if fact.scope != scope || ended || !piece.is_current(recorded) {
                continue;
            }
            for on in piece.supports.iter().filter(|on| on.recorded <= recorded) {
                // Not what was over by then, unless it was said to last so long.
                let stood = piece.to().is_none_or(|to| on.to == Some(to));
                if stood && self.origin(tenant, on.source)? == origin {
                    return Ok(Some(id));
                }
            }
        }
        Ok(None)
    }

    /// The episodes of a thing that were sealed by an instant, the latest first.
    pub(super) fn episodes_with(
        &self,
        tenant: u32,
        scope: u64,
        item: Item,
        recorded: RecordedAt,
    ) -> Result<Vec<EpisodeId>, Error> {
        let sealed = self.sealed_with(tenant, scope, item, recorded)?;
        Ok(sealed.into_iter().map(|(_, episode)| episode).collect())
    }

    /// The same with when they were sealed.
    fn sealed_with(
        &self,
        tenant: u32,
        scope: u64,
        item: Item,
        recorded: RecordedAt,
    ) -> Result<Vec<(RecordedAt, EpisodeId)>, Error> {
        let (from, to) = key::item_episodes(tenant, scope, item);
        let mut found = Vec::new();
        walk(&self.views, Space::Sources, (&from, &to), Direction::Backward, &mut |key, _| {
            let at = fact_key::fact_key(key).filter(|at| at.at <= recorded.0.0);
            let sealed = at.map(|at| (RecordedAt(at.instant()), EpisodeId::from_bytes(at.id)));
            found.extend(sealed);
            if found.len() < EPISODES_LOOKED_AT_MAX {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        Ok(found)
    }

    /// The version of a fact that stands on what was said somewhere, as it is known at an instant; and when the last of
    /// those that were looked at was learned.
    fn fact_said(
        &self,
        tenant: u32,
        scope: u64,
        track: &Tag,
        source: AssertionId,
        recorded: RecordedAt,
    ) -> Result<(Option<FactId>, RecordedAt), Error> {
        let (from, to) = fact_key::currents(tenant, scope, track, None, None);
        let mut ids = Vec::new();
        walk(&self.views, Space::Sources, (&from, &to), Direction::Backward, &mut |key, _| {
            ids.extend(fact_key::tail_id(key).map(FactId::from_bytes));
            if ids.len() < PIECES_LOOKED_AT_MAX {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        let pins = Pins {
            recorded,
            superseded: Superseded::Shown,
            valid: None,
            valid_during: None,
            recorded_during: None,
        };
        let mut since = RecordedAt(Micros::MIN);
        for id in ids {
            let Some(fact) = self.fact_row(tenant, id)? else { continue };
            since = since.max(fact.piece.recorded_from);
            let says = fact.piece.supports.iter().any(|support| support.source == source);
            if says && pins.admit(&fact.piece) {
                return Ok((Some(id), since));
            }
        }
        Ok((None, since))
    }
}
