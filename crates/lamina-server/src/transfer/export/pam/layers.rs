//! Beliefs, episodes and concepts, which the format has no type for.

use lamina_core::derive::beliefs::{Polarity, Stance};
use lamina_core::derive::concepts::Standing;
use lamina_engine::read::beliefs::{BeliefRecord, Ground};
use lamina_engine::read::episodes::{EpisodeRecord, EpisodeState};
use lamina_engine::read::render::belief_words;
use lamina_engine::read::understanding::ConceptRecord;
use lamina_portable::export::{ExportRecord, line_of};
use lamina_portable::json::Value;
use lamina_portable::pam::{Confidence, MemoryKind, NativeRecord};
use lamina_types::ScopePath;

use super::super::records;
use super::gather::Records;
use super::snapshot::{
    ConflictSide, Edge, Snapshot, SnapshotFrame, blank_memory, end_after, rounded, share,
};

const BELIEF_EXTRACTOR: &str = "lamina-beliefs/1.0.0";

/// Maps the three layers. A relation comes after both of its ends.
pub(super) fn map(records: &Records, frame: &SnapshotFrame<'_>, snapshot: &mut Snapshot) {
    let held = |belief: &&BeliefRecord| belief.recorded_to.is_none_or(|to| to > frame.as_of);
    for belief in records.beliefs.iter().filter(held) {
        push_belief(belief, snapshot);
    }
    for episode in &records.episodes {
        push_episode(episode, snapshot);
    }
    for concept in &records.concepts {
        push_concept(concept, snapshot);
    }
}

fn native(layer: &str, scope: &ScopePath, record: &ExportRecord) -> NativeRecord {
    NativeRecord {
        layer: layer.to_owned(),
        scope: scope.to_string(),
        record: line_of(record).trim_end().to_owned(),
        citation: None,
    }
}

fn custom(name: &str) -> MemoryKind {
    MemoryKind::Custom(name.to_owned())
}

fn push_belief(belief: &BeliefRecord, snapshot: &mut Snapshot) {
    let id = belief.id.to_string();
    let is_withheld = |ground: &Ground| match ground {
        Ground::Fact(id) => snapshot.withheld.contains(&id.to_string()),
        Ground::Event(id) => snapshot.private.contains(id),
    };
    let mut grounds = belief.supports.iter().map(|support| &support.id).peekable();
    if grounds.peek().is_some() && grounds.all(is_withheld) {
        return snapshot.withhold(id);
    }
    let created_at = belief.recorded_from.0;
    let mut memory = blank_memory(id.clone(), custom("belief"), belief_words(belief), created_at);
    if matches!(belief.shown.stance, Stance::Deprecated | Stance::Contradicted) {
        "deprecated".clone_into(&mut memory.status);
    }
    memory.temporal.valid_from = Some(belief.valid_from.0);
    memory.temporal.valid_until =
        end_after(Some(belief.valid_from.0), belief.valid_to.map(|at| at.0));
    memory.provenance.extraction_method = belief.declared.then(|| "manual".to_owned());
    memory.provenance.extractor = Some(BELIEF_EXTRACTOR.to_owned());
    memory.confidence = Some(Confidence {
        initial: None,
        current: Some(share(belief.shown.confidence)),
        decay_model: None,
        last_reinforced: Some(belief.last_revised.0.max(created_at)),
    });
    let mut record = records::belief(belief);
    if let ExportRecord::Belief(shown) = &mut record {
        shown.confidence = rounded(shown.confidence);
        for support in &mut shown.supports {
            support.weight = rounded(support.weight);
        }
    }
    let native = native("belief", &belief.scope, &record);
    snapshot.push_memory(memory, Some(&native));
    for support in &belief.supports {
        let from = match support.id {
            // Of a conflict, the side that the belief is about; against it speak the others.
            Ground::Fact(fact) => match snapshot.sides.get(&fact.to_string()) {
                Some(sides) => {
                    let is_for = support.polarity == Polarity::Supports;
                    let fits = |side: &&ConflictSide| (side.object == belief.object) == is_for;
                    sides.iter().filter(fits).map(|side| side.id.clone()).collect()
                }
                None => vec![fact.to_string()],
            },
            Ground::Event(event) => snapshot.memory_events(&[event]),
        };
        let relation_type = match support.polarity {
            Polarity::Supports => "supports",
            Polarity::Against => "contradicts",
        };
        for from in from {
            let (from, weight) = (&from, Some(support.weight));
            let edge = Edge { from, to: &id, relation_type, weight, created_at };
            snapshot.push_relation(&edge);
        }
    }
    relate_contradictions(belief, &id, snapshot);
}

/// Beliefs of which at most one can be true. Both name the other; one relation says it.
fn relate_contradictions(belief: &BeliefRecord, id: &str, snapshot: &mut Snapshot) {
    let created_at = belief.recorded_from.0;
    for other in &belief.contradicts {
        let other = other.belief.to_string();
        let (from, to) =
            if id <= other.as_str() { (id, other.as_str()) } else { (other.as_str(), id) };
        let edge = Edge { from, to, relation_type: "contradicts", weight: None, created_at };
        snapshot.push_relation(&edge);
    }
}

fn push_episode(episode: &EpisodeRecord, snapshot: &mut Snapshot) {
    let id = episode.id.to_string();
    if episode.events.iter().any(|event| snapshot.private.contains(event)) {
        // Its summary may quote them.
        return snapshot.withhold(id);
    }
    let words = [&episode.summary, &episode.name].into_iter().flatten();
    let words = words.map(|text| text.trim()).find(|text| !text.is_empty());
    let content = match words {
        Some(words) => words.to_owned(),
        None => format!("Episode of {} events", episode.events.len()),
    };
    let mut memory = blank_memory(id, custom("episode"), content, episode.recorded_from.0);
    memory.summary = episode.name.clone().filter(|name| !name.is_empty());
    memory.temporal.valid_from = Some(episode.started.0);
    let has_ended = episode.state != EpisodeState::Open && episode.last > episode.started;
    memory.temporal.valid_until = has_ended.then_some(episode.last.0);
    memory.provenance = snapshot.source_of(&episode.events);
    // An episode is made of events; the first one says where it happened.
    memory.provenance.message_ref = None;
    let events = snapshot.memory_events(&episode.events);
    let native = native("episode", &episode.scope, &records::episode(episode));
    let (from, created_at) = (memory.id.clone(), memory.temporal.created_at);
    snapshot.push_memory(memory, Some(&native));
    for to in &events {
        snapshot.push_relation(&Edge {
            from: &from,
            to,
            relation_type: "derived_from",
            weight: None,
            created_at,
        });
    }
}

fn push_concept(concept: &ConceptRecord, snapshot: &mut Snapshot) {
    let id = concept.id.to_string();
    let facts = concept.facts.iter().map(ToString::to_string);
    let beliefs = concept.beliefs.iter().map(ToString::to_string);
    let episodes = concept.episodes.iter().map(ToString::to_string);
    let grounds: Vec<String> = facts.chain(beliefs).chain(episodes).collect();
    if grounds.iter().any(|ground| snapshot.withheld.contains(ground)) {
        return snapshot.withhold(id);
    }
    let words = [&concept.summary, &concept.name].into_iter().flatten();
    let words = words.map(|text| text.trim()).find(|text| !text.is_empty());
    let content = words.unwrap_or("(a concept without words)").to_owned();
    let created_at = concept.recorded_from.0;
    let mut memory = blank_memory(id.clone(), custom("concept"), content, created_at);
    if concept.standing != Standing::Held {
        "deprecated".clone_into(&mut memory.status);
    }
    memory.summary = concept.name.clone().filter(|name| !name.is_empty());
    memory.temporal.valid_from = Some(concept.valid_from.0);
    memory.temporal.valid_until =
        end_after(Some(concept.valid_from.0), concept.valid_to.map(|at| at.0));
    memory.confidence = Some(Confidence {
        current: Some(share(concept.confidence.as_f64())),
        ..Confidence::default()
    });
    let edges = concept.edges.iter().map(|edge| {
        let relation = edge.relation.as_str().unwrap_or("custom");
        Value::object([("to", edge.to.to_string().into()), ("relation", relation.into())])
    });
    let edges: Vec<Value> = edges.collect();
    if !edges.is_empty() {
        memory.metadata = Some(Value::object([("edges", Value::Array(edges))]));
    }
    let native = native("concept", &concept.scope, &records::concept(concept));
    snapshot.push_memory(memory, Some(&native));
    for ground in &grounds {
        snapshot.push_relation(&Edge {
            from: &id,
            to: ground,
            relation_type: "derived_from",
            weight: None,
            created_at,
        });
    }
    for edge in &concept.edges {
        let to = edge.to.to_string();
        let weight = Some(f64::from(edge.weight) / 10_000.0);
        let relation_type = "related_to";
        snapshot.push_relation(&Edge { from: &id, to: &to, relation_type, weight, created_at });
    }
}
