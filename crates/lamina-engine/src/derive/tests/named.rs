//! Whatever an answer names by its id can be read by whoever got the answer: as it is, or as something that was there.

use std::collections::BTreeSet;

use lamina_core::derive::facts::Superseded;
use lamina_types::capability::ScopeReadLocal;
use lamina_types::{BeliefId, ConceptId, EpisodeId, FactId};

use super::*;
use crate::Error;
use crate::read::beliefs::{BeliefRecord, BeliefsQuery, Ground};
use crate::read::episodes::{EpisodeRecord, EpisodesQuery};
use crate::read::understanding::{ConceptPins, ConceptRecord, ConceptsQuery, MayUnderstand};

/// Everything that a scope shows, with what is over and given up.
struct Seen {
    facts: Vec<FactRecord>,
    beliefs: Vec<BeliefRecord>,
    episodes: Vec<EpisodeRecord>,
    concepts: Vec<ConceptRecord>,
}

fn reader(scope: &str) -> ReadPermit {
    ReadPermit::Local(permit_of(1, "user:alice", Some(&path(scope))))
}

fn may(scope: &str) -> MayUnderstand {
    let place = path(scope);
    MayUnderstand {
        concepts: permit_of(1, "user:alice", Some(&place)),
        reach: ReadPermit::Local(permit_of(1, "user:alice", Some(&place))),
    }
}

fn pins(recorded: RecordedAt) -> ConceptPins {
    ConceptPins {
        recorded,
        valid: None,
        valid_during: None,
        recorded_during: None,
        deprecated: true,
    }
}

impl World {
    async fn seen(&self, scope: &str) -> Seen {
        let recorded = RecordedAt(self.engine.now());
        let facts = self.facts(scope, |query| {
            query.pins.superseded = Superseded::Shown;
            query.limit = 10_000;
        });
        let beliefs = BeliefsQuery {
            scope: path(scope),
            about: None,
            predicate: None,
            stance: None,
            min_confidence: 0.0,
            recorded,
            recorded_during: None,
            valid: None,
            valid_during: None,
            lapsed_by: None,
            deprecated: true,
            after: None,
            limit: 10_000,
        };
        let episodes = EpisodesQuery {
            scope: path(scope),
            actor: None,
            recorded,
            in_the_past: false,
            valid: None,
            valid_during: None,
            recorded_during: None,
            overlapping: None,
            with_chain: true,
            after: None,
            limit: 10_000,
        };
        let concepts = ConceptsQuery {
            scope: path(scope),
            topic: None,
            depth: 0,
            pins: pins(recorded),
            min_confidence: Confidence::new(0),
            after: None,
            limit: 10_000,
        };
        Seen {
            facts: facts.await,
            beliefs: self.engine.beliefs(reader(scope), beliefs).await.unwrap().items,
            episodes: self.engine.episodes(reader(scope), episodes).await.unwrap().items,
            concepts: self.engine.concepts(may(scope), concepts).await.unwrap().items,
        }
    }

    /// An event may be of another scope that consolidates into this one: then it is not for this reader.
    async fn event_leads(&self, scope: &str, id: EventId) {
        let permit = permit_of::<ScopeReadLocal>(1, "user:alice", Some(&path(scope)));
        let read = self.engine.event(&permit, id).await.map(|event| event.id);
        let there = matches!(&read, Ok(_) | Err(Error::Deleted | Error::OutsidePermit));
        assert!(there, "{id}: {read:?}");
    }

    async fn belief_leads(&self, scope: &str, id: BeliefId, by: &str) {
        let now = RecordedAt(self.engine.now());
        let read = self.engine.belief(reader(scope), id, now).await.map(|belief| belief.id);
        assert!(matches!(read, Ok(found) if found == id), "{id} named by {by}: {read:?}");
    }

    async fn concept_leads(&self, scope: &str, id: ConceptId, by: &str) {
        let now = RecordedAt(self.engine.now());
        let read = self.engine.concept(may(scope), id, pins(now)).await.map(|concept| concept.id);
        assert!(read.is_ok(), "{id} named by {by}: {read:?}");
    }

    /// Every id in the answers about a scope leads to a record.
    pub(super) async fn every_id_leads_somewhere(&self, scope: &str) {
        let seen = self.seen(scope).await;
        let facts: BTreeSet<FactId> = seen.facts.iter().map(|fact| fact.id).collect();
        let episodes: BTreeSet<EpisodeId> = seen.episodes.iter().map(|one| one.id).collect();
        for fact in &seen.facts {
            for named in fact.supersedes.iter().chain(&fact.superseded_by) {
                assert!(facts.contains(named), "{} names {named}: {fact:?}", fact.id);
                assert_ne!(*named, fact.id);
            }
            for event in &fact.supports {
                self.event_leads(scope, *event).await;
            }
        }
        for belief in &seen.beliefs {
            for support in &belief.supports {
                match support.id {
                    Ground::Fact(fact) => {
                        let row = self.engine.inner.fact_row(1, fact);
                        assert!(facts.contains(&fact), "{belief:?} {row:?}");
                    }
                    Ground::Event(event) => self.event_leads(scope, event).await,
                }
            }
            for other in &belief.contradicts {
                self.belief_leads(scope, other.belief, "a belief").await;
            }
        }
        for episode in &seen.episodes {
            for other in episode.follows.iter().chain(&episode.followed_by) {
                assert!(episodes.contains(other), "{episode:?}");
            }
            let chain = episode.chain.iter().flatten().map(|(event, _)| event);
            for event in episode.events.iter().chain(chain) {
                self.event_leads(scope, *event).await;
            }
        }
        for concept in &seen.concepts {
            self.concept_names(scope, concept, (&facts, &episodes)).await;
            let versions = self.engine.concept_history(may(scope), concept.id).await.unwrap();
            for version in &versions {
                self.concept_names(scope, version, (&facts, &episodes)).await;
            }
        }
    }

    async fn concept_names(
        &self,
        scope: &str,
        concept: &ConceptRecord,
        (facts, episodes): (&BTreeSet<FactId>, &BTreeSet<EpisodeId>),
    ) {
        for fact in &concept.facts {
            assert!(facts.contains(fact), "{concept:?}");
        }
        for episode in &concept.episodes {
            // Of a scope that is consolidated into, the episode is where it happened.
            let own = episodes.contains(episode) || scope == "ws:team";
            assert!(own, "{concept:?}");
        }
        for belief in &concept.beliefs {
            self.belief_leads(scope, *belief, "a concept").await;
        }
        let edges = concept.edges.iter().map(|edge| edge.to);
        let named = concept.derived_from.iter().copied().chain(concept.canonical).chain(edges);
        for other in named.chain(concept.previous).chain([concept.version_id]) {
            self.concept_leads(scope, other, "a concept").await;
        }
    }
}
