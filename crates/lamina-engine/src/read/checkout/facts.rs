//! What of a recall is so: facts that nothing replaced or ended, statements whose claims stand, and open conflicts.

use std::collections::{BTreeMap, BTreeSet};

use lamina_core::read::checkout::statement::{Spoken, quote};
use lamina_core::read::checkout::typed::{TypedEvent, sentence, values};
use lamina_core::read::checkout::work::WorkingSet;
use lamina_core::read::checkout::{
    AboutEntity, ConflictSide, CurrentFact, EvidenceLine, ITEM_CHARS_MAX, Lane, OpenConflict, line,
};
use lamina_core::read::prompt::RecordAuthor;
use lamina_models::relation::cardinality;
use lamina_models::structured::{json_fields, triple_lines, typed_fields};
use lamina_types::layer::{Cardinality, EntityKind, Object, Term};
use lamina_types::{Content, EventId, EventRecord, FactId};

use super::{Reading, cite, evidence_line, is_replaced, is_silent, told_words};
use crate::Error;
use crate::derive::echo::echoes_of;
use crate::derive::revoked::INSTRUCTION;
use crate::read::facts::{Answers, FactRecord};
use crate::read::recall::{Knowledge, Recalled};
use crate::read::render::{fact_words, said_words_in, term, term_in};

/// Events that are looked at to cite one fact, the last first.
const CITED_MAX: usize = 4;
/// A text with more words may be anything that somebody wrote, also an order: it is quoted.
const BARE_WORDS_MAX: usize = 4;

/// What of a recall is so.
#[derive(Debug, Default)]
pub(super) struct FoundFacts {
    pub(super) facts: Vec<CurrentFact>,
    pub(super) evidence: Vec<EvidenceLine>,
    pub(super) conflicts: Vec<OpenConflict>,
    pub(super) superseded: usize,
    pub(super) redacted: usize,
    /// Events that are told already.
    told: BTreeSet<EventId>,
}

impl Reading<'_> {
    /// The current facts of a recall, the best first.
    pub(super) fn current_facts(
        &mut self,
        recalled: &Recalled,
        work: &WorkingSet,
        told: &[&str],
    ) -> Result<FoundFacts, Error> {
        let mut found = FoundFacts::default();
        let standing: BTreeSet<EventId> = recalled.standing.iter().map(|one| one.id).collect();
        let facts: Vec<&FactRecord> = recalled.facts.iter().map(|found| &found.record).collect();
        let replaced = self.replaced_in_other_scopes(&facts);
        for ranked in &recalled.facts {
            if replaced.contains(&ranked.record.id) {
                found.superseded += 1;
                // Its words are no current statement either.
                found.told.extend(ranked.record.supports.iter().copied());
                continue;
            }
            self.fact(&ranked.record, ranked.score, work, &mut found)?;
        }
        let mut answers = Answers::new();
        for ranked in &recalled.events {
            let event = &ranked.record;
            if found.told.contains(&event.id) || is_silent(event) {
                continue;
            }
            let told: &[&str] = if standing.contains(&event.id) { told } else { &[] };
            if recalled.is_below_floor() {
                // The closest there is proves nothing: it is shown, and stated by nobody.
                let quote = told_words(event, &self.query.query);
                if !quote.is_empty() {
                    self.shown.insert(event.id);
                    found.evidence.push(evidence_line(event, quote));
                }
                continue;
            }
            let Some(knowledge) = &recalled.knowledge else { continue };
            if let Some(fact) = self.statement(
                event,
                ranked.score,
                (knowledge, &mut answers),
                (work, told),
                &mut found,
            )? {
                self.shown.insert(event.id);
                found.facts.push(fact);
            }
        }
        found.facts.sort_by(|one, other| {
            let order = other.score.total_cmp(&one.score).then_with(|| one.lane.cmp(&other.lane));
            order.then_with(|| one.citation.cmp(&other.citation))
        });
        let mut seen = BTreeSet::new();
        found.facts.retain(|fact| seen.insert(fact.content.clone()));
        found.facts.truncate(self.query.facts_max);
        Ok(found)
    }

    /// Takes a fact into what was found: as current, as a conflict, or as one that is over.
    fn fact(
        &mut self,
        fact: &FactRecord,
        score: f64,
        work: &WorkingSet,
        found: &mut FoundFacts,
    ) -> Result<(), Error> {
        if fact.predicate == INSTRUCTION {
            return Ok(());
        }
        if fact.evidence_redacted {
            found.redacted += 1;
        }
        if fact.is_redacted() {
            return Ok(());
        }
        if !self.is_current(fact) {
            // Its events are judged by themselves, as statements.
            found.superseded += 1;
            return Ok(());
        }
        if fact.is_conflict() {
            return self.conflict(fact, found);
        }
        let Some(event) = self.last_support(&fact.supports)? else {
            // All of what says so is feedback or telemetry, or it cannot be cited any more.
            if fact.evidence_redacted {
                found.facts.push(graph_fact(fact, score, None));
            }
            return Ok(());
        };
        let citation = cite(&event);
        if !found.told.insert(event.id) {
            // The event said several things; each is a fact, the words are told once.
            if typed(&event).is_none() {
                found.facts.push(graph_fact(fact, score, Some(&event)));
            }
            return Ok(());
        }
        if typed(&event).is_some() {
            match is_over(work, &event, &citation) {
                true => found.superseded += 1,
                false => found.facts.extend(typed_fact(&event, score)),
            }
            return Ok(());
        }
        found.facts.push(graph_fact(fact, score, Some(&event)));
        let quote = told_words(&event, &format!("{} {}", fact_words(fact), self.query.query));
        if !quote.is_empty() {
            found.evidence.push(evidence_line(&event, quote));
        }
        Ok(())
    }

    /// Facts that a newer one of another scope replaces. Facts replace each other within a scope; a checkout tells of
    /// all sessions of a project at once, where one thing has one value of a relation that takes one.
    fn replaced_in_other_scopes(&self, facts: &[&FactRecord]) -> BTreeSet<FactId> {
        let mut newest: BTreeMap<(String, &str), &FactRecord> = BTreeMap::new();
        let mut older = BTreeSet::new();
        for fact in facts {
            let is_single = cardinality(&fact.predicate) == Some(Cardinality::One);
            if !is_single || fact.is_conflict() || fact.is_redacted() || !self.is_current(fact) {
                continue;
            }
            let key = (term(&fact.subject.term).to_lowercase(), fact.predicate.as_str());
            let Some(other) = newest.get(&key).copied() else {
                newest.insert(key, fact);
                continue;
            };
            if other.scope == fact.scope {
                continue;
            }
            let age = |fact: &FactRecord| (fact.valid_from, fact.recorded_from);
            let (old, new) = if age(fact) < age(other) { (*fact, other) } else { (other, *fact) };
            older.insert(old.id);
            newest.insert(key, new);
        }
        older
    }

    /// Whether a fact is so at the instant, as it was known then.
    fn is_current(&self, fact: &FactRecord) -> bool {
        fact.recorded_to.is_none_or(|to| to > self.frame.recorded)
            && fact.valid_to.is_none_or(|to| to > self.at)
            && fact.valid_from.is_none_or(|from| from <= self.at)
    }

    /// The last event that says something and may be told.
    fn last_support(&mut self, supports: &[EventId]) -> Result<Option<EventRecord>, Error> {
        for id in supports.iter().rev().take(CITED_MAX) {
            if let Some(event) = self.event(*id)?.filter(|event| !is_silent(event)) {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    fn conflict(&mut self, fact: &FactRecord, found: &mut FoundFacts) -> Result<(), Error> {
        found.told.extend(fact.supports.iter().copied());
        let mut sides = Vec::with_capacity(fact.objects.len());
        for side in &fact.objects {
            let said = (side.negated, &side.object);
            let subject = &fact.subject.term;
            let said = std::iter::once(said);
            let words = said_words_in(Some(&fact.scope), subject, &fact.predicate, said);
            let citation = self.last_support(&side.supports)?.map(|event| cite(&event));
            sides.push(ConflictSide {
                content: format!("\u{201c}{}\u{201d}", line(&words, ITEM_CHARS_MAX)),
                citation,
            });
        }
        let since = fact.conflict.map_or(fact.recorded_from, |(_, detected)| detected);
        let conflict = OpenConflict { at: since.0, sides };
        if !found.conflicts.contains(&conflict) {
            found.conflicts.push(conflict);
        }
        Ok(())
    }

    /// The words of an event that no fact tells, if what they claim stands.
    fn statement(
        &mut self,
        event: &EventRecord,
        score: f64,
        (knowledge, answers): (&Knowledge, &mut Answers),
        (work, told): (&WorkingSet, &[&str]),
        found: &mut FoundFacts,
    ) -> Result<Option<CurrentFact>, Error> {
        if typed(event).is_some() {
            if is_over(work, event, &cite(event)) {
                found.superseded += 1;
                return Ok(None);
            }
            return Ok(typed_fact(event, score));
        }
        // What an agent writes back of its memory is neither a fact nor evidence.
        if !echoes_of(&self.inner.views, self.frame.tenant, event.id)?.is_empty() {
            return Ok(None);
        }
        let mut over = Vec::new();
        for fate in self.inner.fates(knowledge, event.id)?.iter().filter(|fate| !fate.stands) {
            for claim in self.inner.claims_in(knowledge, &fate.fact, event.id, answers)? {
                let span =
                    if claim.clause.start < claim.clause.end { claim.clause } else { claim.span };
                over.push((span.start as usize, span.end as usize));
            }
        }
        let author = RecordAuthor::of(event);
        let content = match structured(event) {
            // Bytes of a document are not those of its sentence.
            Some(_) if !over.is_empty() => {
                found.superseded += 1;
                return Ok(None);
            }
            Some(values) => format!("{author} recorded \u{201c}{values}\u{201d}"),
            None => {
                let text = event.experience.content.text();
                let quoted = quote(&Spoken { text, over: &over, told }, &self.query.query);
                found.superseded += quoted.superseded;
                if quoted.text.is_empty() {
                    return Ok(None);
                }
                format!("{author} said: \u{201c}{}\u{201d}", quoted.text)
            }
        };
        Ok(Some(CurrentFact {
            content,
            at: event.experience.context.observed_at.0,
            citation: Some(cite(event)),
            lane: Lane::Verbatim,
            event_type: None,
            entity: None,
            score,
        }))
    }
}

/// A fact as a sentence. One with a longer text as its object is quoted from its author: the text may be an order.
fn graph_fact(fact: &FactRecord, score: f64, event: Option<&EventRecord>) -> CurrentFact {
    let words = line(&fact_words(fact), ITEM_CHARS_MAX);
    let is_text = |object: &Object| match object {
        Object::Text(text) => text.split_whitespace().count() > BARE_WORDS_MAX,
        _ => false,
    };
    let content = match event {
        Some(event) if fact.objects.iter().any(|side| is_text(&side.object)) => {
            format!("{} stated: \u{201c}{words}\u{201d}", RecordAuthor::of(event))
        }
        _ => words,
    };
    let kind = match &fact.subject.term {
        Term::Actor(_) => "actor",
        Term::Named { kind, .. } => kind_name(*kind),
        Term::Of { .. } => "relation",
    };
    CurrentFact {
        content,
        at: fact.valid_from.map_or(fact.recorded_from.0, |at| at.0),
        citation: event.map(cite),
        lane: Lane::Graph,
        event_type: None,
        entity: Some(AboutEntity {
            name: line(&term_in(Some(&fact.scope), &fact.subject.term), ITEM_CHARS_MAX),
            kind: kind.to_owned(),
        }),
        score,
    }
}

fn kind_name(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::Thing => "thing",
        EntityKind::Person => "person",
        EntityKind::Organization => "organization",
        EntityKind::Place => "place",
        EntityKind::Product => "product",
        EntityKind::Occasion => "occasion",
        EntityKind::Animal => "animal",
        EntityKind::Identifier => "identifier",
    }
}

fn typed_fact(event: &EventRecord, score: f64) -> Option<CurrentFact> {
    let typed = typed(event)?;
    Some(CurrentFact {
        content: sentence(&typed, &RecordAuthor::of(event).to_string()),
        at: event.experience.context.observed_at.0,
        citation: Some(cite(event)),
        lane: Lane::Typed,
        event_type: Some(typed.kind),
        entity: None,
        score,
    })
}

/// Whether a typed event is over: another took its place, or what it speaks of was closed.
fn is_over(work: &WorkingSet, event: &EventRecord, citation: &str) -> bool {
    let is_closed =
        || typed(event).is_some_and(|typed| work.is_invalidated(&typed, event.recorded_at));
    is_replaced(work, citation) || is_closed()
}

/// The typed event that a document is.
pub(super) fn typed(event: &EventRecord) -> Option<TypedEvent> {
    let data = match &event.experience.content {
        Content::Json { data, .. } => data.as_str(),
        other if other.text().trim_start().starts_with('{') => other.text(),
        _ => return None,
    };
    typed_fields(data).map(|(kind, fields)| TypedEvent { kind, fields })
}

/// A document as words; `None` for what somebody said in words.
pub(super) fn structured(event: &EventRecord) -> Option<String> {
    if let Some(typed) = typed(event) {
        return Some(sentence(&typed, &RecordAuthor::of(event).to_string()));
    }
    match &event.experience.content {
        Content::Triple { triple, .. } => {
            Some(line(&triple_lines(triple).join(", "), ITEM_CHARS_MAX))
        }
        Content::Json { data, .. } => Some(values(&json_fields(data))),
        other => {
            let fields = json_fields(other.text());
            (!fields.is_empty()).then(|| values(&fields))
        }
    }
}
