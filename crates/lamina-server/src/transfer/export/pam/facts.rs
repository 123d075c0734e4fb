//! Facts and standing instructions: one memory for each claim.

use std::collections::BTreeMap;

use lamina_core::derive::beliefs::Polarity;
use lamina_engine::read::beliefs::Ground;
use lamina_engine::read::claims::ClaimRecord;
use lamina_engine::read::facts::FactRecord;
use lamina_engine::read::render::fact_words;
use lamina_portable::export::line_of;
use lamina_portable::pam::{Confidence, Memory, MemoryKind, NativeRecord};
use lamina_types::Micros;

use super::super::records;
use super::PamHistory;
use super::gather::Records;
use super::snapshot::{
    ConflictSide, Edge, Snapshot, SnapshotFrame, blank_memory, end_after, share,
};

const INSTRUCTION: &str = "instruction";

/// The values of one subject and predicate, by the time at which each begins.
type Track = Vec<(Micros, String)>;
/// Scope, subject and predicate of a track.
type TrackKey = (String, String, String);

/// Maps all facts.
pub(super) fn map(records: &Records, frame: &SnapshotFrame<'_>, snapshot: &mut Snapshot) {
    let beliefs = belief_confidences(records, frame);
    let tracks = tracks(records, frame);
    let mut conflicts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for fact in &records.facts {
        let is_current = is_current(fact, frame);
        for claim in fact.claims() {
            let id = claim_id(fact, &claim);
            if claim.object.redacted {
                let kind = MemoryKind::Standard(type_of(&fact.predicate).to_owned());
                snapshot.erased.insert(id, kind);
                continue;
            }
            if snapshot.all_private(&claim.object.supports) {
                if is_current {
                    snapshot.withhold(id);
                }
                continue;
            }
            let context = ClaimContext { fact, claim: &claim, id: &id, frame };
            let mut memory = context.memory(snapshot);
            let ended = context.end(tracks.get(&track_key(fact)));
            if !is_current {
                retire(&mut memory, fact);
                if frame.history == PamHistory::Current {
                    context.native().attach(&mut memory);
                    snapshot.retired.insert(id, memory);
                    continue;
                }
            } else if let Some(ended) = ended {
                ended.put(&mut memory);
            }
            if let (Some(confidence), Some(believed)) = (&mut memory.confidence, beliefs.get(&id)) {
                confidence.current = Some(share(*believed));
            }
            context.relate(&memory, snapshot);
            if let Some((conflict, _)) = fact.conflict.filter(|_| is_current) {
                conflicts.entry(conflict.to_string()).or_default().push(id.clone());
                let object = claim.object.object.clone();
                let side = ConflictSide { object, id: id.clone() };
                snapshot.sides.entry(fact.id.to_string()).or_default().push(side);
            }
            snapshot.push_memory(memory, Some(&context.native()));
        }
    }
    for sides in conflicts.values() {
        relate_sides(sides, snapshot);
    }
}

fn is_current(fact: &FactRecord, frame: &SnapshotFrame<'_>) -> bool {
    fact.recorded_to.is_none_or(|to| to > frame.as_of)
}

/// The sides of a conflict, of which one can be true.
fn relate_sides(sides: &[String], snapshot: &mut Snapshot) {
    for (index, from) in sides.iter().enumerate() {
        for to in sides.iter().skip(index + 1) {
            let created_at = snapshot.memories.get(from).map(|memory| memory.temporal.created_at);
            snapshot.push_relation(&Edge {
                from,
                to,
                relation_type: "contradicts",
                weight: None,
                created_at: created_at.unwrap_or(Micros(0)),
            });
        }
    }
}

/// The id of a claim: that of its fact, or of its side of a conflict.
fn claim_id(fact: &FactRecord, claim: &ClaimRecord) -> String {
    match fact.conflict {
        Some(_) => claim.id.to_string(),
        None => fact.id.to_string(),
    }
}

fn track_key(fact: &FactRecord) -> TrackKey {
    (fact.scope.to_string(), fact.subject.id.to_string(), fact.predicate.clone())
}

fn tracks(records: &Records, frame: &SnapshotFrame<'_>) -> BTreeMap<TrackKey, Track> {
    let mut tracks: BTreeMap<TrackKey, Track> = BTreeMap::new();
    for fact in records.facts.iter().filter(|fact| is_current(fact, frame) && !fact.is_redacted()) {
        if let Some(from) = fact.valid_from {
            let ids = fact.claims().into_iter().map(|claim| (from.0, claim_id(fact, &claim)));
            tracks.entry(track_key(fact)).or_default().extend(ids);
        }
    }
    tracks
}

/// How sure the belief in a fact is.
fn belief_confidences(records: &Records, frame: &SnapshotFrame<'_>) -> BTreeMap<String, f64> {
    let held = records.beliefs.iter();
    let held = held.filter(|belief| belief.recorded_to.is_none_or(|to| to > frame.as_of));
    let grounds = held.flat_map(|belief| {
        belief.supports.iter().filter_map(|support| match (support.id, support.polarity) {
            (Ground::Fact(id), Polarity::Supports) => {
                Some((id.to_string(), belief.shown.confidence))
            }
            _ => None,
        })
    });
    grounds.collect()
}

/// How a fact that is not valid any more ended.
struct EndedFact {
    status: &'static str,
    superseded_by: Option<String>,
}

impl EndedFact {
    fn put(self, memory: &mut Memory) {
        self.status.clone_into(&mut memory.status);
        memory.temporal.superseded_by = self.superseded_by;
    }
}

/// A version in whose place another came.
fn retire(memory: &mut Memory, fact: &FactRecord) {
    let next = fact.superseded_by.map(|id| id.to_string());
    let status = if next.is_some() { "superseded" } else { "archived" };
    status.clone_into(&mut memory.status);
    memory.temporal.superseded_by = next;
    let to = fact.recorded_to.map(|to| to.0);
    memory.temporal.updated_at = end_after(Some(memory.temporal.created_at), to);
}

struct ClaimContext<'a> {
    fact: &'a FactRecord,
    claim: &'a ClaimRecord,
    id: &'a str,
    frame: &'a SnapshotFrame<'a>,
}

impl ClaimContext<'_> {
    fn memory(&self, snapshot: &Snapshot) -> Memory {
        let ClaimContext { fact, claim, id, .. } = self;
        let alone = FactRecord { objects: vec![claim.object.clone()], ..(*fact).clone() };
        let kind = MemoryKind::Standard(type_of(&fact.predicate).to_owned());
        let created_at = claim.recorded_from.0;
        let mut memory = blank_memory((*id).to_owned(), kind, fact_words(&alone), created_at);
        let valid_from = claim.valid_from.map(|at| at.0);
        memory.temporal.valid_from = valid_from;
        memory.temporal.valid_until = end_after(valid_from, claim.valid_to.map(|at| at.0));
        let supports = &claim.object.supports;
        let frames = supports.iter().filter_map(|id| snapshot.frames.get(id));
        let (mut last, mut is_imported) = (None, false);
        for frame in frames {
            last = last.max(Some(frame.recorded));
            is_imported |= frame.is_imported;
        }
        let initial = share(claim.object.confidence.as_f64());
        memory.confidence = Some(Confidence {
            initial: Some(initial),
            current: None,
            decay_model: None,
            last_reinforced: last.map(|last| last.max(created_at)),
        });
        memory.provenance = snapshot.source_of(supports);
        let extractor = claim.object.extractor.as_str();
        memory.provenance.extraction_method = Some(method_of(extractor, is_imported).to_owned());
        memory.provenance.extracted_at = Some(created_at);
        memory.provenance.extractor = Some(extractor_name(extractor));
        memory
    }

    /// How it ended, if its validity is over at the point of the export.
    fn end(&self, track: Option<&Track>) -> Option<EndedFact> {
        let to = self.claim.valid_to?.0;
        if to > self.frame.as_of.0 {
            return None;
        }
        if self.fact.predicate == INSTRUCTION {
            return Some(EndedFact { status: "retracted", superseded_by: None });
        }
        let mut next = track.into_iter().flatten();
        let next = next.find(|(from, id)| *from == to && id != self.id);
        Some(match next {
            Some((_, id)) => EndedFact { status: "superseded", superseded_by: Some(id.clone()) },
            None => EndedFact { status: "archived", superseded_by: None },
        })
    }

    fn relate(&self, memory: &Memory, snapshot: &mut Snapshot) {
        let created_at = memory.temporal.created_at;
        if let Some(next) = &memory.temporal.superseded_by {
            snapshot.push_relation(&Edge {
                from: next,
                to: &memory.id,
                relation_type: "supersedes",
                weight: None,
                created_at,
            });
        }
        for event in snapshot.memory_events(&self.claim.object.supports) {
            snapshot.push_relation(&Edge {
                from: &memory.id,
                to: &event,
                relation_type: "derived_from",
                weight: None,
                created_at,
            });
        }
    }

    fn native(&self) -> NativeRecord {
        let ClaimContext { fact, claim, .. } = self;
        let alone = FactRecord { objects: vec![claim.object.clone()], ..(*fact).clone() };
        let mut lines = records::facts(&alone).into_iter();
        NativeRecord {
            layer: "fact".to_owned(),
            scope: fact.scope.to_string(),
            record: lines
                .next()
                .map(|record| line_of(&record))
                .unwrap_or_default()
                .trim_end()
                .to_owned(),
            citation: None,
        }
    }
}

fn method_of(extractor: &str, is_imported: bool) -> &'static str {
    let name = extractor.split('/').next().unwrap_or_default();
    match name {
        _ if is_imported => "api_export",
        "rules" | "structure" => "explicit_user_input",
        "declared" => "manual",
        _ => "llm_inference",
    }
}

/// An extractor in the form `name/1.2.3`.
pub(super) fn extractor_name(extractor: &str) -> String {
    let (name, version) = extractor.split_once('/').unwrap_or((extractor, ""));
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name: String = name.chars().map(|c| if fits(c) { c } else { '-' }).collect();
    let numbers = version.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    let mut numbers: Vec<&str> = numbers.take(3).collect();
    numbers.resize(3, "0");
    format!("lamina-{name}/{}", numbers.join("."))
}

/// The type of a memory, by the predicate of its claim.
pub(super) fn type_of(predicate: &str) -> &'static str {
    match predicate {
        "likes" | "dislikes" | "prefers" | "diet" => "preference",
        "name" | "alias" | "age" | "birthday" | "born_on" | "born_in" | "from" | "nationality"
        | "religion" | "pronouns" | "email" | "phone" | "address" | "website" | "account"
        | "height" | "weight" => "identity",
        "spouse" | "partner" | "child" | "parent" | "sibling" | "relative" | "friend"
        | "colleague" | "neighbor" | "reports_to" | "manages" | "member_of" => "relationship",
        "skill" | "speaks" | "plays" | "studies" | "studied_at" => "skill",
        "goal" | "plans" => "goal",
        INSTRUCTION | "language" => "instruction",
        "uses" | "version" | "timezone" | "drives" | "owns" => "environment",
        "status" | "deadline" | "owner" | "decided" | "budget" => "project",
        "visited" | "habit" | "scheduled_for" => "context",
        favorite if favorite.starts_with("favorite:") => "preference",
        born if born.starts_with("born_") => "identity",
        _ => "fact",
    }
}

#[cfg(test)]
mod tests;
