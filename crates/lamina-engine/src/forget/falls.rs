//! What goes when evidence goes: the records that stand on nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use lamina_core::derive::beliefs::ledger::Piece;
use lamina_core::derive::beliefs::{Settings, redact};
use lamina_core::derive::facts::AssertionId;
use lamina_store::entry::Place as LogPlace;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::Tag;
use lamina_types::{BeliefId, ConceptId, EpisodeId, EventId, FactId};

use super::Counts;
use super::select::Place;
use crate::Error;
use crate::derive::key::beliefs::ClaimKey;
use crate::derive::key::{self, Layer};
use crate::derive::read::{episode, events_of, walk};

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
    /// Entries that declared them, if their words go too.
    pub(crate) declarations: BTreeMap<u64, LogPlace>,
    /// Of events whose words go, the scopes in which what was made of them stays.
    pub(crate) stays: BTreeMap<EventId, BTreeSet<u64>>,
}

/// What becomes of beliefs that lose words and not evidence (R370).
#[derive(Debug, Clone, Default)]
pub(crate) struct Fading {
    /// No words are left under them: half as sure as they were.
    pub(crate) demoted: BTreeSet<BeliefId>,
    /// How many are too little to be kept.
    pub(crate) gone: u64,
}

impl Removal {
    /// Whether what an event says goes in a scope.
    fn takes(&self, event: EventId, scope: u64) -> bool {
        self.words.contains(&event) && !self.keeps(event, scope)
    }

    /// Whether what an event says stays in a scope, without its words.
    fn keeps(&self, event: EventId, scope: u64) -> bool {
        self.stays.get(&event).is_some_and(|scopes| scopes.contains(&scope))
    }
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
            let home = episode(&self.inner.views, self.tenant, id)?.map_or(0, |row| row.scope);
            let leaves = |event: &EventId| gone.takes(*event, home) || gone.leaving.contains(event);
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

    /// What becomes of the beliefs that stand on events whose words go, and stay.
    pub(crate) fn fading(self, gone: &Removal) -> Result<Fading, Error> {
        let mut beliefs = BTreeSet::new();
        for event in gone.stays.keys() {
            let (from, to) = key::all_of_event(self.tenant, *event);
            let views = &self.inner.views;
            walk(views, Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
                if let (Some(Layer::Belief), Some(id)) = (key::layer_of(key), key::tail_id(key)) {
                    beliefs.insert(BeliefId::from_bytes(id));
                }
                ControlFlow::Continue(())
            })?;
        }
        let mut fading = Fading::default();
        for id in beliefs {
            let Some((claim, row)) = self.claim_of(id)? else { continue };
            let said = self.inner.said_about(self.tenant, &claim)?;
            let own = said.iter().filter(|(_, piece)| piece.belief == id && piece.gone.is_none());
            let fades =
                |event: Option<EventId>| event.is_some_and(|event| gone.keeps(event, claim.scope));
            let new = own.filter(|(_, piece)| piece.redacted.is_none() && fades(piece.event));
            let new = u32::try_from(new.count()).unwrap_or(u32::MAX);
            if new == 0 || !row.held.is_held() || self.belief_falls(id, gone)? {
                continue;
            }
            let settings = row.held.settings(&Settings::default());
            let mut held = row.held;
            let at = held.state.last_evidence;
            redact(&mut held.state, &settings, new, at);
            match (held.is_held(), held.state.all_redacted()) {
                (false, _) => fading.gone += 1,
                (true, true) => drop(fading.demoted.insert(id)),
                (true, false) => {}
            }
        }
        Ok(fading)
    }

    fn fact_falls(self, id: FactId, gone: &Removal) -> Result<bool, Error> {
        let Some(fact) = self.inner.fact_row(self.tenant, id)? else { return Ok(false) };
        let said_in = self.said_in(&fact.piece)?;
        let mut supports = fact.piece.supports.iter().zip(said_in);
        let own = fact.scope == self.scope;
        Ok(supports.all(|(support, event)| {
            event.is_some_and(|event| gone.takes(event, fact.scope))
                || (own && gone.facts.contains(&(fact.track, support.source)))
        }))
    }

    fn belief_falls(self, id: BeliefId, gone: &Removal) -> Result<bool, Error> {
        let Some((claim, _)) = self.claim_of(id)? else { return Ok(false) };
        let said = self.inner.said_about(self.tenant, &claim)?;
        // A decision or a merge is nothing that it could stand on.
        let is_ground = |piece: &Piece| matches!(piece, Piece::Said(_) | Piece::Declared(_));
        let mut own =
            said.iter().filter(|(_, piece)| piece.belief == id && is_ground(&piece.piece));
        Ok(own.all(|(source, piece)| {
            piece.event.is_some_and(|event| gone.takes(event, claim.scope))
                || gone.beliefs.contains(&(claim, *source))
        }))
    }
}
