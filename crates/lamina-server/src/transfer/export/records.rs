//! Records of the engine as records of an export.

use lamina_core::derive::concepts::Standing;
use lamina_engine::VocabularyRecord;
use lamina_engine::read::beliefs::{BeliefRecord, BeliefSubject, Ground};
use lamina_engine::read::conflicts::{ConflictStatus, Resolve};
use lamina_engine::read::episodes::{EpisodeRecord, EpisodeState};
use lamina_engine::read::export::{
    CancelledEvent, ConflictDecision, Declaration, DeclaredSupport, EntityMerge,
};
use lamina_engine::read::facts::{FactObject, FactRecord};
use lamina_engine::read::render::{belief_words, fact_words};
use lamina_engine::read::understanding::ConceptRecord;
use lamina_portable::export::{
    ConceptSupports, ExportBelief, ExportConcept, ExportControl, ExportEpisode, ExportEvent,
    ExportFact, ExportRecord, ExportSupport, LineKind,
};
use lamina_portable::json::{ReadPolicy, Value, parse};
use lamina_portable::time;
use lamina_types::layer::Object;
use lamina_types::{EventId, EventRecord};

use super::terms::{export_term, object_value, term_value, thing};
use crate::http::{stance_word, term_name, vocabulary_text};

pub(crate) fn event(mut record: EventRecord) -> ExportRecord {
    let origin = record.experience.origin.take();
    ExportRecord::Event(Box::new(ExportEvent {
        id: record.id.to_string(),
        recorded_at: record.recorded_at.0,
        origin,
        experience: record.experience,
    }))
}

pub(super) fn cancellation(event: &CancelledEvent) -> ExportRecord {
    let id = event.id.to_string();
    let body = Value::object([
        ("scope", Value::from(event.scope.as_str())),
        ("event", Value::from(id.as_str())),
    ]);
    control(LineKind::Cancellation, id, body)
}

fn control(kind: LineKind, id: String, body: Value) -> ExportRecord {
    ExportRecord::Control(ExportControl { kind, id, body })
}

/// The vocabulary of a scope, in the form in which it is registered.
pub(super) fn vocabulary(record: &VocabularyRecord) -> Option<ExportRecord> {
    let text = vocabulary_text(record)?;
    let body = parse(text.as_bytes(), &ReadPolicy::STRICT).ok()?;
    Some(control(LineKind::Vocabulary, record.vocabulary.name.clone(), body))
}

pub(super) fn merge(merge: &EntityMerge) -> ExportRecord {
    let EntityMerge { scope, from, into, offset: _ } = merge;
    let body = Value::object([
        ("scope", Value::from(scope.as_str())),
        ("from", term_value(&from.name, from.kind)),
        ("into", term_value(&into.name, into.kind)),
    ]);
    control(LineKind::EntityMerge, from.id.to_string(), body)
}

fn event_ids(ids: &[EventId]) -> Value {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    Value::strings(&ids)
}

/// A claim by its words and the exported events that say so.
fn claim(object: &FactObject) -> Value {
    let mut claim =
        Value::object([("object", object_value(object)), ("events", event_ids(&object.supports))]);
    if object.negated {
        claim.push("negated", true);
    }
    claim
}

/// The decision of a conflict; `None` if a side that it names has no words any more.
pub(super) fn decision(decision: &ConflictDecision) -> Option<ExportRecord> {
    let ConflictDecision { conflict, news } = decision;
    let ConflictStatus::Resolved { at: _, by: _, reason, action } = &conflict.status else {
        return None;
    };
    let fact = &conflict.fact;
    let claims = fact.claims();
    let side = |record| {
        let index = claims.iter().position(|claim| claim.id == record)?;
        Some(Value::count(index as u64))
    };
    let decided = match action {
        Resolve::Pick { winner } => {
            Value::object([("action", Value::from("pick")), ("winner", side(*winner)?)])
        }
        Resolve::Split { boundary, earlier, later } => Value::object([
            ("action", Value::from("split")),
            ("boundary", Value::from(time::print(boundary.0))),
            ("earlier", side(*earlier)?),
            ("later", side(*later)?),
        ]),
        Resolve::NewInformation { .. } => Value::object([
            ("action", Value::from("new_information")),
            ("claim", claim(news.as_ref()?.objects.first()?)),
        ]),
        Resolve::Dismiss => Value::object([("action", Value::from("dismiss"))]),
    };
    let claims = claims.iter().map(|side| claim(&side.object)).collect();
    let mut body = Value::object([
        ("scope", Value::from(fact.scope.as_str())),
        ("subject", Value::from(term_name(&fact.subject.term))),
        ("predicate", Value::from(fact.predicate.as_str())),
        ("claims", Value::Array(claims)),
        ("decision", decided),
    ]);
    body.push_some("reason", Some(reason.as_str()).filter(|reason| !reason.is_empty()));
    Some(control(LineKind::ConflictDecision, conflict.id.to_string(), body))
}

pub(super) fn declaration(declaration: &Declaration) -> ExportRecord {
    let Declaration { scope, offset, recorded: _, declared, supports } = declaration;
    let supports = supports.iter().map(|support| match support {
        DeclaredSupport::Event(id) => Value::object([("event", Value::from(id.to_string()))]),
        DeclaredSupport::Fact(fact) => Value::object([("fact", named_fact(fact))]),
    });
    let mut body = Value::object([
        ("scope", Value::from(scope.as_str())),
        ("statement", Value::from(declared.statement.as_str())),
        ("predicate", Value::from(declared.predicate.as_str())),
    ]);
    let subject = declared.subject_term.as_ref().map(term_name).or(declared.subject.clone());
    body.push_some("subject", subject);
    body.push("confidence", Value::double(declared.confidence.as_f64()));
    body.push("valid_from", time::print(declared.valid_from.0));
    body.push("supports", Value::Array(supports.collect()));
    control(LineKind::DeclaredBelief, format!("declaration-{offset}"), body)
}

/// A fact by its words and events, for a server where its id is another.
fn named_fact(fact: &FactRecord) -> Value {
    let objects = fact.objects.iter().map(object_value).collect();
    Value::object([
        ("id", Value::from(fact.id.to_string())),
        ("scope", Value::from(fact.scope.as_str())),
        ("subject", Value::from(term_name(&fact.subject.term))),
        ("predicate", Value::from(fact.predicate.as_str())),
        ("objects", Value::Array(objects)),
        ("events", event_ids(&fact.supports)),
    ])
}

/// A version of a fact: one record for each value that it claims. One without words is none.
pub(super) fn facts(fact: &FactRecord) -> Vec<ExportRecord> {
    let said = fact.claims().into_iter().filter(|claim| !claim.object.redacted);
    said.map(|claim| {
        let alone = FactRecord { objects: vec![claim.object.clone()], ..fact.clone() };
        ExportRecord::Fact(Box::new(ExportFact {
            id: match fact.conflict {
                Some(_) => claim.id.to_string(),
                None => fact.id.to_string(),
            },
            scope: fact.scope.to_string(),
            subject: thing(fact.subject.id.to_string(), &fact.subject.term),
            predicate: fact.predicate.clone(),
            object: export_term(&claim.object),
            negated: claim.object.negated,
            sentence: fact_words(&alone),
            valid_from: claim.valid_from.map(|at| at.0),
            valid_to: claim.valid_to.map(|at| at.0),
            recorded_from: claim.recorded_from.0,
            recorded_to: claim.recorded_to.map(|at| at.0),
            confidence: claim.object.confidence.as_f64(),
            extractor: claim.object.extractor.clone(),
            supports: claim.object.supports.iter().map(ToString::to_string).collect(),
            superseded_by: fact.superseded_by.map(|id| id.to_string()),
        }))
    })
    .collect()
}

pub(super) fn belief(belief: &BeliefRecord) -> ExportRecord {
    let subject = match &belief.subject {
        BeliefSubject::Entity { name, .. } => term_name(name),
        BeliefSubject::Named(name) => name.clone(),
        BeliefSubject::Scope => belief.scope.to_string(),
    };
    let supports = belief.supports.iter().map(|support| ExportSupport {
        id: match support.id {
            Ground::Fact(id) => id.to_string(),
            Ground::Event(id) => id.to_string(),
        },
        weight: support.weight,
    });
    ExportRecord::Belief(Box::new(ExportBelief {
        id: belief.id.to_string(),
        scope: belief.scope.to_string(),
        statement: belief_words(belief),
        subject,
        predicate: belief.predicate.clone(),
        object: object_text(&belief.object),
        stance: stance_word(belief.shown.stance).to_owned(),
        confidence: belief.shown.confidence,
        valid_from: belief.valid_from.0,
        valid_to: belief.valid_to.map(|at| at.0),
        recorded_from: belief.recorded_from.0,
        recorded_to: belief.recorded_to.map(|at| at.0),
        supports: supports.collect(),
        contradicts: belief.contradicts.iter().map(|other| other.belief.to_string()).collect(),
    }))
}

pub(super) fn object_text(object: &Object) -> String {
    match object {
        Object::Entity(term) => term_name(term),
        Object::Text(text) | Object::Date(text) => text.clone(),
        Object::Bool(yes) => yes.to_string(),
        Object::Number { value, unit } => match unit {
            Some(unit) => format!("{value} {unit}"),
            None => value.clone(),
        },
        Object::Money { amount, currency } => format!("{amount} {currency}"),
    }
}

pub(super) fn episode(episode: &EpisodeRecord) -> ExportRecord {
    let (state, has_ended) = match episode.state {
        EpisodeState::Open => ("open", false),
        EpisodeState::Closed => ("closed", true),
        EpisodeState::Sealed => ("sealed", true),
    };
    ExportRecord::Episode(Box::new(ExportEpisode {
        id: episode.id.to_string(),
        scope: episode.scope.to_string(),
        name: episode.name.clone().unwrap_or_else(|| time::print(episode.started.0)),
        summary: episode.summary.clone().unwrap_or_default(),
        supports: episode.events.iter().map(ToString::to_string).collect(),
        started_at: episode.started.0,
        ended_at: has_ended.then_some(episode.last.0),
        state: state.to_owned(),
        actors: episode.actors.iter().map(ToString::to_string).collect(),
    }))
}

pub(super) fn concept(concept: &ConceptRecord) -> ExportRecord {
    let stance = match concept.confidence.get() {
        _ if concept.standing != Standing::Held => "deprecated",
        sure if sure < 5_000 => "uncertain",
        _ => "supported",
    };
    let id = concept.id.to_string();
    ExportRecord::Concept(Box::new(ExportConcept {
        name: concept.name.clone().unwrap_or_else(|| id.clone()),
        id,
        scope: concept.scope.to_string(),
        summary: concept.summary.clone().unwrap_or_default(),
        version: concept.version,
        stance: stance.to_owned(),
        confidence: concept.confidence.as_f64(),
        valid_from: concept.valid_from.0,
        recorded_from: concept.recorded_from.0,
        supports: ConceptSupports {
            facts: concept.facts.iter().map(ToString::to_string).collect(),
            episodes: concept.episodes.iter().map(ToString::to_string).collect(),
            beliefs: concept.beliefs.iter().map(ToString::to_string).collect(),
        },
    }))
}
