//! What goes when evidence goes: the records that stand on nothing else.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_core::derive::facts::AssertionId;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::Tag;
use lamina_types::{BeliefId, ConceptId, EpisodeId, EventId, FactId};

use super::Counts;
use super::select::Place;
use crate::Error;
use crate::derive::key::beliefs::ClaimKey;
use crate::derive::key::{self, Layer};
use crate::derive::read::{events_of, walk};

/// Evidence that is taken away.
#[derive(Debug, Clone, Default)]
pub(crate) struct Removal {
    /// Events whose words go.
    pub(crate) words: BTreeSet<EventId>,
    /// What was said about tracks.
    pub(crate) facts: BTreeSet<(Tag, AssertionId)>,
    /// What was said about claims.
    pub(crate) beliefs: BTreeSet<(ClaimKey, AssertionId)>,
    /// Events that are in no episode any more.
    pub(crate) leaving: BTreeSet<EventId>,
    /// Concepts that go.
    pub(crate) concepts: BTreeSet<ConceptId>,
    /// Events that something of all this was said in.
    pub(crate) touched: BTreeSet<EventId>,
    /// Beliefs that nobody has to have said anything about: those that were declared.
    pub(crate) declared: BTreeSet<BeliefId>,
}

impl Place<'_> {
    /// How many records go with it. A concept whose evidence goes is not gone: it is less sure, until it
    /// is not shown any more (§7.5.1).
    pub(crate) fn falls(self, gone: &Removal) -> Result<Counts, Error> {
        let (mut episodes, mut facts) = (BTreeSet::new(), BTreeSet::new());
        let mut beliefs = gone.declared.clone();
        for event in gone.words.iter().chain(&gone.leaving).chain(&gone.touched) {
            let (from, to) = key::all_of_event(self.tenant, *event);
            let views = &self.inner.views;
            walk(views, Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
                match (key::layer_of(key), key::tail_id(key)) {
                    (Some(Layer::Episode), Some(id)) => episodes.insert(EpisodeId::from_bytes(id)),
                    (Some(Layer::Fact), Some(id)) => facts.insert(FactId::from_bytes(id)),
                    (Some(Layer::Belief), Some(id)) => beliefs.insert(BeliefId::from_bytes(id)),
                    _ => false,
                };
                ControlFlow::Continue(())
            })?;
        }
        let mut counts = Counts {
            events: gone.words.len() as u64,
            understanding: gone.concepts.len() as u64,
            ..Counts::default()
        };
        for id in episodes {
            let rest = events_of(&self.inner.views, self.tenant, id)?;
            let leaves =
                |event: &EventId| gone.words.contains(event) || gone.leaving.contains(event);
            counts.episodes += u64::from(rest.iter().all(|(_, event, _)| leaves(event)));
        }
        for id in facts {
            counts.facts += u64::from(self.fact_falls(id, gone)?);
        }
        for id in beliefs {
            counts.beliefs += u64::from(self.belief_falls(id, gone)?);
        }
        Ok(counts)
    }

    /// The beliefs that lose evidence with the words of events and stand on other.
    pub(crate) fn weakened(self, gone: &Removal) -> Result<BTreeSet<BeliefId>, Error> {
        let mut beliefs = BTreeSet::new();
        for event in &gone.words {
            let (from, to) = key::all_of_event(self.tenant, *event);
            let views = &self.inner.views;
            walk(views, Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
                if let (Some(Layer::Belief), Some(id)) = (key::layer_of(key), key::tail_id(key)) {
                    beliefs.insert(BeliefId::from_bytes(id));
                }
                ControlFlow::Continue(())
            })?;
        }
        let mut weakened = BTreeSet::new();
        for id in beliefs {
            if !self.belief_falls(id, gone)? {
                weakened.insert(id);
            }
        }
        Ok(weakened)
    }

    fn fact_falls(self, id: FactId, gone: &Removal) -> Result<bool, Error> {
        let Some(fact) = self.inner.fact_row(self.tenant, id)? else { return Ok(false) };
        let said_in = self.said_in(&fact.piece)?;
        let mut supports = fact.piece.supports.iter().zip(said_in);
        let own = fact.scope == self.scope;
        Ok(supports.all(|(support, event)| {
            event.is_some_and(|event| gone.words.contains(&event))
                || (own && gone.facts.contains(&(fact.track, support.source)))
        }))
    }

    fn belief_falls(self, id: BeliefId, gone: &Removal) -> Result<bool, Error> {
        let Some((claim, _)) = self.claim_of(id)? else { return Ok(false) };
        let said = self.inner.said_about(self.tenant, &claim)?;
        let mut own = said.iter().filter(|(_, piece)| piece.belief == id);
        Ok(own.all(|(source, piece)| {
            piece.event.is_some_and(|event| gone.words.contains(&event))
                || gone.beliefs.contains(&(claim, *source))
        }))
    }
}
