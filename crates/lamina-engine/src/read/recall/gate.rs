//! The filter of a question, held against the events behind derived records (R259).
//!
//! A derived record says words of events, so it passes only as far as these do. A fact passes with the evidence that
//! passes, if any states its value; one that ended by the word of another event is left out, because it is neither open
//! nor may that word be told. A belief is a number over all of its evidence, so all of it has to pass.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use lamina_core::derive::facts::{Content, Piece, Said, Support, Valid};
use lamina_core::read::filter::{Facets, passes};
use lamina_types::recall::{Field, Filter};
use lamina_types::{ActorId, BeliefId, EventId, FactId};

use super::Recalled;
use super::fates::Knowledge;
use super::plan::Frame;
use crate::Error;
use crate::derive::rows::FactRow;
use crate::engine::Inner;
use crate::read::beliefs::{BeliefSeen, EVIDENCE_READ_MAX};
use crate::read::facts::FactRecord;

/// Pieces of evidence of one fact that are held against the filter, the last first.
const SUPPORTS_READ_MAX: usize = 256;

/// Tells which events pass the filter of a question, each looked at once.
pub(super) struct EventGate<'a> {
    inner: &'a Inner,
    frame: &'a Frame<'a>,
    knowledge: Knowledge,
    is_open: bool,
    known: RefCell<HashMap<EventId, bool>>,
}

impl<'a> EventGate<'a> {
    pub(super) fn new(inner: &'a Inner, frame: &'a Frame<'a>) -> EventGate<'a> {
        EventGate {
            inner,
            frame,
            knowledge: inner.knowledge(frame),
            is_open: !tests_events(&frame.question.filter),
            known: RefCell::default(),
        }
    }

    /// Where the question stands.
    pub(super) fn frame(&self) -> &'a Frame<'a> {
        self.frame
    }

    /// Whether every event passes.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether an event passes. One whose words are gone does not.
    pub(super) fn admits(&self, event: EventId) -> Result<bool, Error> {
        if self.is_open {
            return Ok(true);
        }
        if let Some(known) = self.known.borrow().get(&event) {
            return Ok(*known);
        }
        let row = self.inner.views.event_again(self.frame.tenant, event)?;
        let row = row.filter(|row| row.listed().is_some() && !self.inner.is_hidden(row));
        let record = match &row {
            Some(row) => self.frame.readable(row, self.inner.record(row))?,
            None => None,
        };
        let admits = record.is_some_and(|record| self.frame.admits(&record));
        self.known.borrow_mut().insert(event, admits);
        Ok(admits)
    }

    fn admits_any(&self, events: &[EventId]) -> Result<bool, Error> {
        for event in events {
            if self.admits(*event)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A version with the evidence that passes; `None` if none states its value, or if others ended it.
    pub(super) fn admit_fact(&self, fact: Arc<FactRow>) -> Result<Option<Arc<FactRow>>, Error> {
        if self.is_open {
            return Ok(Some(fact));
        }
        if self.is_ended_by_others(&fact)? {
            return Ok(None);
        }
        let mut supports: Vec<Support> = Vec::new();
        for support in fact.piece.supports.iter().rev().take(SUPPORTS_READ_MAX) {
            let event = self.inner.event_said_in(self.frame.tenant, support.source)?;
            if let Some(event) = event
                && self.admits(event)?
            {
                supports.push(*support);
            }
        }
        supports.reverse();
        let recorded = self.frame.recorded;
        let states = |support: &Support| match (&fact.piece.content, support.said) {
            (Content::One(value), Said::Value(said)) => *value == said,
            (Content::Conflict(values), Said::Value(said)) => values.contains(&said),
            _ => false,
        };
        if !supports.iter().any(|support| support.recorded <= recorded && states(support)) {
            return Ok(None);
        }
        let piece = narrowed(&fact.piece, supports);
        Ok(Some(Arc::new(FactRow { piece, ..FactRow::clone(&fact) })))
    }

    /// Whether a version came to an end, in the world or in what is known, by the word of events that do not pass.
    fn is_ended_by_others(&self, fact: &FactRow) -> Result<bool, Error> {
        let tenant = self.frame.tenant;
        let retired = fact.piece.recorded_to.is_some_and(|to| to <= self.frame.recorded);
        if let Some(next) = fact.piece.superseded_by.filter(|_| retired)
            && let Some(event) = self.inner.event_said_in(tenant, next.by)?
            && !self.admits(event)?
        {
            return Ok(true);
        }
        let Some(to) = fact.piece.to() else { return Ok(false) };
        let enders = self.inner.enders(&self.knowledge, fact, to)?;
        Ok(!enders.is_empty() && !self.admits_any(&enders)?)
    }

    /// Takes the ids of versions that do not pass out of a record.
    pub(super) fn hide_versions(&self, fact: &mut FactRecord) -> Result<(), Error> {
        if self.is_open {
            return Ok(());
        }
        for version in [&mut fact.supersedes, &mut fact.superseded_by] {
            if let Some(id) = *version
                && !self.states(id)?
            {
                *version = None;
            }
        }
        Ok(())
    }

    /// Whether an event that passes is behind a fact.
    pub(super) fn states(&self, fact: FactId) -> Result<bool, Error> {
        let events = self.inner.fact_events(self.frame.tenant, fact, self.frame.recorded)?;
        self.admits_any(&events)
    }

    /// Whether everything passes that a belief stands on, for it and against it; of a declared one also what its author
    /// said, and everything that they named.
    pub(super) fn admits_belief(&self, belief: &BeliefSeen) -> Result<bool, Error> {
        if self.is_open {
            return Ok(true);
        }
        let (tenant, recorded) = (self.frame.tenant, self.frame.recorded);
        let id: BeliefId = belief.stood.row.id;
        let mut events = self.inner.belief_events(tenant, id, recorded)?;
        // There may be more than was looked at.
        if events.len() >= EVIDENCE_READ_MAX {
            return Ok(false);
        }
        if let Some(declared) = self.inner.declared_evidence(&belief.stood)? {
            if !self.admits_declaration(&declared.author) {
                return Ok(false);
            }
            events.extend(declared.events);
            for fact in declared.facts {
                let behind = self.inner.fact_events(tenant, fact, recorded)?;
                if behind.is_empty() {
                    return Ok(false);
                }
                events.extend(behind);
            }
        } else if events.is_empty() {
            return Ok(false);
        }
        for event in events {
            if !self.admits(event)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a declaration passes: it has an author, and neither labels nor a modality.
    fn admits_declaration(&self, author: &Option<ActorId>) -> bool {
        let author = author.as_ref().map(ActorId::as_str);
        let facets = Facets { observed_actor: author, caller: author, ..Facets::default() };
        passes(&self.frame.question.filter, &facets)
    }
}

/// Leaves out of a filtered pack the beliefs that other evidence has refuted, and of the others which beliefs outside of
/// the pack they exclude.
pub(super) fn drop_hidden_rivals(recalled: &mut Recalled, frame: &Frame<'_>) {
    if !tests_events(&frame.question.filter) {
        return;
    }
    let refuted = std::mem::take(&mut recalled.refuted);
    recalled.beliefs.retain(|belief| !refuted.contains(&belief.record.id));
    for id in refuted {
        recalled.citations.remove(&id.to_string());
    }
    let shown: BTreeSet<BeliefId> = recalled.beliefs.iter().map(|one| one.record.id).collect();
    for belief in &mut recalled.beliefs {
        belief.record.contradicts.retain(|other| shown.contains(&other.belief));
    }
}

/// A version as the evidence that is left tells it: its values, and from when.
fn narrowed(piece: &Piece, supports: Vec<Support>) -> Piece {
    let content = match &piece.content {
        Content::Conflict(values) => {
            let is_said = |value: &&_| supports.iter().any(|one| one.said == Said::Value(**value));
            let mut said: Vec<_> = values.iter().filter(is_said).copied().collect();
            match (said.len(), said.pop()) {
                (1, Some(value)) => Content::One(value),
                (_, last) => {
                    said.extend(last);
                    Content::Conflict(said)
                }
            }
        }
        other => other.clone(),
    };
    let valid = match piece.valid {
        Valid::During { from, to, to_basis } => {
            let first = supports.iter().map(|support| support.from).min().unwrap_or(from);
            Valid::During { from: from.max(first), to, to_basis }
        }
        before @ Valid::Before { .. } => before,
    };
    Piece { content, valid, supports, ..piece.clone() }
}

/// Whether a filter asks anything of events.
fn tests_events(filter: &Filter) -> bool {
    match filter {
        Filter::All(parts) | Filter::Any(parts) => parts.iter().any(tests_events),
        Filter::Not(inner) => tests_events(inner),
        Filter::Is(field, _) => *field != Field::Confidence,
    }
}
