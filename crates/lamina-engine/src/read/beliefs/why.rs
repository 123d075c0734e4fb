//! Why a belief is held, how it came to be so, and what a scope makes beliefs of.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use lamina_core::derive::beliefs::build::{Rejection, Report};
use lamina_core::derive::beliefs::ledger::Piece;
use lamina_core::derive::beliefs::why::{self, Graph};
use lamina_core::derive::beliefs::{
    Deletion, Polarity, Reason, Settings, Shown, Standing, SupportId, read,
};
use lamina_core::derive::facts::{AssertionId, Content, Value};
use lamina_core::policy::Permit;
use lamina_store::kv::{Direction, Space};
use lamina_types::capability::ScopeWrite;
use lamina_types::layer::{Object, Term};
use lamina_types::{BeliefId, EventId, FactId, RecordedAt, ScopePath, ValidAt};

use super::record::Grounds;
use super::record::Words;
use super::{BeliefRecord, BeliefSubject, Ground, Stood, begun_as};
use crate::derive::facts::said_outside;
use crate::derive::key;
use crate::derive::key::beliefs::ClaimKey;
use crate::derive::read::walk;
use crate::derive::rows::FactRow;
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::read::facts::Answers;
use crate::{Engine, Error};

/// Characters of an event that are quoted.
const QUOTED_CHARS_MAX: usize = 400;
/// Facts that one build looks at.
const FACTS_MAX: usize = 20_000;
/// Beliefs that a build names; it counts all of them.
const ITEMS_MAX: usize = 100;
/// Events that a build counts.
const EVENTS_COUNTED_MAX: u64 = 100_000;

/// Why a belief is held.
#[derive(Debug, Clone)]
pub struct BeliefWhy {
    /// The belief.
    pub belief: BeliefRecord,
    /// What it stands on, down to events.
    pub graph: Graph,
    /// The same in sentences.
    pub narrative: String,
}

/// How a belief was revised.
#[derive(Debug, Clone)]
pub struct BeliefHistory {
    /// As it is.
    pub current: BeliefRecord,
    /// As it was, oldest first.
    pub versions: Vec<BeliefVersion>,
}

/// A belief between two revisions.
#[derive(Debug, Clone)]
pub struct BeliefVersion {
    /// Since when.
    pub from: RecordedAt,
    /// Until when.
    pub to: Option<RecordedAt>,
    /// What happened then.
    pub reason: Reason,
    /// What it showed.
    pub shown: Shown,
    /// Pieces of evidence for it, and against it.
    pub counts: (u32, u32),
    /// Until when it was said to hold.
    pub valid_to: Option<ValidAt>,
}

/// What a scope makes beliefs of.
#[derive(Debug, Clone)]
pub struct BeliefsBuilt {
    /// Beliefs that stand.
    pub built: u32,
    /// The first of them.
    pub items: Vec<BeliefRecord>,
    /// Events of the scope.
    pub events_scanned: u64,
    /// What was looked at, and why the rest is none.
    pub report: Report,
}

impl Engine {
    /// Why a belief is held.
    pub async fn belief_why(
        &self,
        permit: ReadPermit,
        id: BeliefId,
        at: RecordedAt,
    ) -> Result<BeliefWhy, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.belief_why(&permit, id, at)).await
    }

    /// How a belief was revised.
    pub async fn belief_history(
        &self,
        permit: ReadPermit,
        id: BeliefId,
        at: RecordedAt,
    ) -> Result<BeliefHistory, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.belief_history(&permit, id, at)).await
    }

    /// What the facts of a scope make beliefs of, and why some make none. Beliefs follow what is said
    /// by themselves; this looks and tells.
    pub async fn beliefs_build(
        &self,
        permit: Permit<ScopeWrite>,
        scope: ScopePath,
    ) -> Result<BeliefsBuilt, Error> {
        self.inner.caught_up().await;
        let at = RecordedAt(self.now());
        self.blocking(move |inner| inner.beliefs_build(&permit, &scope, at)).await
    }
}

impl Inner {
    fn belief_why(
        &self,
        permit: &ReadPermit,
        id: BeliefId,
        at: RecordedAt,
    ) -> Result<BeliefWhy, Error> {
        let stood = self.belief_of(permit, id, at)?;
        let belief = self.belief_record(&stood)?;
        let grounds = self.grounds(&stood)?;
        let words = self.belief_words(&stood)?;
        let graph = why::graph(id, &grounds);
        let narrative = why::narrative(&sentence(&words), &belief.shown, &grounds);
        Ok(BeliefWhy { belief, graph, narrative })
    }

    /// What a belief stands on, with its words.
    fn grounds(&self, stood: &Stood) -> Result<Vec<why::Ground>, Error> {
        let mut grounds: BTreeMap<(SupportId, Polarity), why::Ground> = BTreeMap::new();
        if let Some(declared) = self.declaration(stood)? {
            for ground in self.named_supports(stood.tenant, &declared)? {
                let ground = self.named_ground(stood, ground)?;
                grounds.insert((ground.id, ground.polarity), ground);
            }
        }
        let (mut answers, mut facts) = (Answers::new(), Grounds::default());
        for (source, piece) in self.pieces_of(stood)? {
            let (Piece::Said(said), Some(event)) = (&piece.piece, piece.event) else { continue };
            let (ground, _) = self.ground(stood, stood.at, (source, event), &mut facts)?;
            let id = match ground {
                Ground::Fact(fact) => SupportId::Fact(fact),
                Ground::Event(event) => SupportId::Event(event),
            };
            let polarity = said.evidence.polarity;
            let weight = f64::from(piece.weight) / 10_000.0;
            let words = self.quoted(stood, event)?;
            let clause = self.clause(stood, source, event, &mut answers)?;
            let ground = grounds.entry((id, polarity)).or_insert_with(|| why::Ground {
                id,
                weight: 0.0,
                polarity,
                summary: clause.or(words.clone()),
                when: Some(why::day(said.evidence.valid_from.0)),
                events: Vec::new(),
            });
            ground.weight += weight;
            if !ground.events.iter().any(|(known, _)| *known == event) {
                ground.events.push((event, words));
            }
        }
        Ok(grounds.into_values().collect())
    }

    /// A record that a declaration names, with its words.
    fn named_ground(&self, stood: &Stood, ground: Ground) -> Result<why::Ground, Error> {
        let (id, events) = match ground {
            Ground::Event(event) => (SupportId::Event(event), vec![event]),
            Ground::Fact(fact) => (SupportId::Fact(fact), self.events_of(stood.tenant, fact)?),
        };
        let mut quoted = Vec::new();
        for event in events {
            quoted.push((event, self.quoted(stood, event)?));
        }
        Ok(why::Ground {
            id,
            weight: 0.0,
            polarity: Polarity::Supports,
            summary: quoted.iter().find_map(|(_, words)| words.clone()),
            when: None,
            events: quoted,
        })
    }

    fn events_of(&self, tenant: u32, fact: FactId) -> Result<Vec<EventId>, Error> {
        let Some(row) = self.fact_row(tenant, fact)? else { return Ok(Vec::new()) };
        let mut events = BTreeSet::new();
        for support in &row.piece.supports {
            let offset = support.source.offset;
            let answer = crate::derive::read::answer_row(&self.views, tenant, offset)?;
            events.extend(answer.map(|answer| answer.event));
        }
        Ok(events.into_iter().collect())
    }

    /// The words of an event, cut; `None` if they are gone, or if they were said in a scope that whoever
    /// reads this belief may not read.
    fn quoted(&self, stood: &Stood, event: EventId) -> Result<Option<String>, Error> {
        Ok(self.text_of(stood, event)?.map(|text| cut(&text)))
    }

    fn text_of(&self, stood: &Stood, event: EventId) -> Result<Option<String>, Error> {
        let Some(row) = self.event_seen(stood.tenant, event)? else { return Ok(None) };
        if row.listed().is_none() || row.scope != stood.claim.scope {
            return Ok(None);
        }
        let entry = self.reader.entry(row.offset, row.place)?;
        match self.decode_what(&entry) {
            Ok(what) => Ok(Some(what.content.text().to_owned())),
            Err(Error::Deleted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The clause that says what a piece says.
    fn clause(
        &self,
        stood: &Stood,
        source: AssertionId,
        event: EventId,
        answers: &mut Answers,
    ) -> Result<Option<String>, Error> {
        let Some(told) = self.told(stood.tenant, source, answers)? else { return Ok(None) };
        let claim = told.claim;
        let text = self.text_of(stood, event)?;
        let (start, end) = (claim.clause.start as usize, claim.clause.end as usize);
        let clause = text.as_deref().and_then(|text| text.get(start..end));
        Ok(clause.map(|clause| cut(clause.trim())).filter(|clause| !clause.is_empty()))
    }

    fn belief_history(
        &self,
        permit: &ReadPermit,
        id: BeliefId,
        at: RecordedAt,
    ) -> Result<BeliefHistory, Error> {
        let stood = self.belief_of(permit, id, at)?;
        let current = self.belief_record(&stood)?;
        let (pieces, lives) = self.lives(stood.tenant, &stood.claim, at)?;
        let life = lives.into_iter().find(|life| begun_as(&pieces, life) == Some(id));
        let steps = life.map(|life| life.steps).unwrap_or_default();
        let settings = stood.row.held.settings(&Settings::default());
        let mut versions: Vec<BeliefVersion> = Vec::new();
        for (step, state) in steps {
            if matches!(step.reason, Reason::Unshown(_) | Reason::NotHeld) {
                continue;
            }
            if let Some(last) = versions.last_mut() {
                last.to = Some(step.at);
            }
            versions.push(BeliefVersion {
                from: step.at,
                to: None,
                reason: step.reason,
                shown: read(&state, &settings, step.at),
                counts: (state.supports_count, state.against_count),
                valid_to: None,
            });
        }
        // A newer declaration retires the version and asserts it again for the time that is left.
        for (_, piece) in &pieces {
            if let (Piece::Closed { at, .. }, Some(valid_to)) =
                (&piece.piece, stood.row.held.valid_to)
                && piece.belief == id
                && let Some(last) = versions.last_mut()
                && last.from < *at
            {
                last.to = Some(*at);
                let again = BeliefVersion { from: *at, to: None, ..last.clone() };
                versions.push(BeliefVersion { valid_to: Some(valid_to), ..again });
            }
        }
        Ok(BeliefHistory { current, versions })
    }

    fn beliefs_build(
        &self,
        permit: &Permit<ScopeWrite>,
        path: &ScopePath,
        at: RecordedAt,
    ) -> Result<BeliefsBuilt, Error> {
        if !permit.covers(path) {
            return Err(Error::OutsidePermit);
        }
        let tenant = permit.caller().tenant;
        let mut built = BeliefsBuilt {
            built: 0,
            items: Vec::new(),
            events_scanned: 0,
            report: Report::default(),
        };
        let Some(scope) = self.views.scope_ordinal(tenant, path)? else {
            built.report.nothing();
            return Ok(built);
        };
        built.events_scanned = self.views.scope_events(tenant, scope, EVENTS_COUNTED_MAX)?;
        for (claim, facts) in self.claims_of_facts(tenant, scope)? {
            let row = self.claim_row(tenant, &claim)?;
            let row = row.map(|row| self.belief_at(tenant, &claim, row.id, at)).transpose()?;
            let row = row.flatten();
            let pieces = row.as_ref().map_or(0, |row| row.held.state.pieces());
            let verdict = match row.as_ref().map(|row| row.held.state.standing) {
                None => Some(Rejection::NoBeliefShapedEvents),
                Some(Standing::Held | Standing::Deprecated { .. }) => None,
                Some(Standing::Deleted { why: Deletion::BelowFloor, .. }) => {
                    Some(Rejection::BelowFloor)
                }
                Some(Standing::Deleted { why: Deletion::Expired, .. }) => Some(Rejection::Expired),
                Some(Standing::Deleted { .. }) => Some(Rejection::TooLittleSupport),
            };
            built.report.group(facts, pieces, verdict);
            let (None, Some(row)) = (verdict, row) else { continue };
            built.built += 1;
            if built.items.len() < ITEMS_MAX {
                match self.belief_record(&Stood { tenant, claim, row, at }) {
                    Ok(record) => built.items.push(record),
                    Err(Error::Deleted) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        if built.report.facts_scanned == 0 {
            built.report.nothing();
        }
        Ok(built)
    }

    /// The claims that the current facts of a scope make, with how many facts make each.
    fn claims_of_facts(&self, tenant: u32, scope: u64) -> Result<BTreeMap<ClaimKey, u32>, Error> {
        let (from, to) = key::facts_listed(tenant, scope);
        let mut ids = Vec::new();
        walk(&self.views, Space::Records, (&from, &to), Direction::Backward, &mut |found, _| {
            ids.extend(key::tail_id(found).map(FactId::from_bytes));
            if ids.len() < FACTS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let mut claims = BTreeMap::new();
        for id in ids {
            let Some(fact) = self.fact_row(tenant, id)? else { continue };
            if fact.piece.recorded_to.is_some() {
                continue;
            }
            for claim in self.claims_of_fact(tenant, &fact)? {
                *claims.entry(claim).or_default() += 1;
            }
        }
        Ok(claims)
    }

    /// The claims that a fact makes: one, or as many as a conflict has sides.
    fn claims_of_fact(&self, tenant: u32, fact: &FactRow) -> Result<Vec<ClaimKey>, Error> {
        let values: &[Value] = match &fact.piece.content {
            Content::One(value) => std::slice::from_ref(value),
            Content::Conflict(values) => values,
            Content::Ended(_) => return Ok(Vec::new()),
        };
        let said = said_outside(&self.keyed(tenant)?, fact.subject, &fact.predicate);
        let scope = fact.scope;
        Ok(values.iter().map(|value| ClaimKey { scope, said, value: value.key().0 }).collect())
    }

    /// The beliefs that are held at a time in what facts say.
    pub(in crate::read) fn believed(
        &self,
        tenant: u32,
        facts: &[FactId],
        at: RecordedAt,
    ) -> Result<Vec<BeliefId>, Error> {
        let mut found = Vec::new();
        for id in facts {
            let Some(fact) = self.fact_row(tenant, *id)? else { continue };
            for claim in self.claims_of_fact(tenant, &fact)? {
                let then = self.belief_then(tenant, &claim, at)?;
                let Some(then) = then.filter(|then| then.held.is_held()) else { continue };
                if !found.contains(&then.id) {
                    found.push(then.id);
                }
            }
        }
        Ok(found)
    }
}

/// A claim as a person says it.
fn sentence(words: &Words) -> String {
    let Words { subject, predicate, object, redacted: _ } = words;
    let subject = match subject {
        BeliefSubject::Entity { name, .. } => called(name),
        BeliefSubject::Named(name) => name.clone(),
        BeliefSubject::Scope => return spoken(object),
    };
    format!("{subject} {} {}", predicate.replace(['_', ':'], " "), spoken(object))
}

fn called(term: &Term) -> String {
    match term {
        Term::Actor(actor) => actor.to_string(),
        Term::Named { name, .. } => name.clone(),
        Term::Of { owner, relation } => format!("{}'s {relation}", called(owner)),
    }
}

fn spoken(object: &Object) -> String {
    match object {
        Object::Entity(term) => called(term),
        Object::Text(text) | Object::Date(text) => text.clone(),
        Object::Number { value, unit } => match unit {
            Some(unit) => format!("{value} {unit}"),
            None => value.clone(),
        },
        Object::Money { amount, currency } => format!("{amount} {currency}"),
        Object::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
    }
}

/// The beginning of a text.
fn cut(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}
