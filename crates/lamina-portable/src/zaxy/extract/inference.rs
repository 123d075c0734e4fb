//! Inferred edges, consolidation, beliefs and what an agent knows about its own knowledge. These rules
//! need certain members; an event without them has no semantic entries.

use super::{Extraction, MissingMember, Properties, RuleResult};
use crate::json::Value;
use crate::zaxy::coerce::{display, double, fold, optional, parse_float, text, trim};
use crate::zaxy::fields::Fields;

const UNREVIEWED: &str = "non_authoritative";

pub(super) fn apply(x: &mut Extraction<'_>) -> Option<RuleResult> {
    let rule = match x.event.kind.as_str() {
        "inference.edge.generated" => edge_generated,
        "inference.edge.retracted" => edge_retracted,
        "causal.edge.generated" => causal_edge,
        "consolidation.candidate.created" => candidate_created,
        "consolidation.candidate.reviewed" => candidate_reviewed,
        "metacognition.unknown.recorded" => unknown_recorded,
        "metacognition.confidence.assessed" => confidence_assessed,
        "metacognition.conflict.clustered" => conflict_clustered,
        "metacognition.reverify.requested" => reverify_requested,
        "reasoning.primitive.called" => primitive_called,
        "belief.update.proposed" => belief_proposed,
        _ => return None,
    };
    Some(rule(x))
}

fn need<T>(value: Option<T>, member: &'static str) -> Result<T, MissingMember> {
    value.ok_or(MissingMember(member))
}

/// Text that must be a string.
fn string(p: Fields<'_>, key: &'static str) -> Result<String, MissingMember> {
    let value = p.raw(key).filter(|value| value.as_str().is_some());
    need(text(value), key)
}

/// A value that must be there, as it is.
fn value(p: Fields<'_>, key: &'static str) -> Result<Value, MissingMember> {
    need(p.raw(key).cloned(), key)
}

/// A number, also inside a text.
fn number(p: Fields<'_>, key: &'static str) -> Result<f64, MissingMember> {
    let value = need(p.raw(key), key)?;
    need(parse_float(&display(value)), key)
}

fn entity_reference(x: &mut Extraction<'_>, key: &'static str) -> Result<String, MissingMember> {
    let p = x.fields().object(key);
    let name = need(p.text("name"), key)?;
    let kind = need(p.text("entity_type"), key)?;
    x.entity(name.as_str(), &kind, p.text("summary"), Value::Null);
    Ok(name)
}

fn edge_generated(x: &mut Extraction<'_>) -> RuleResult {
    let p = x.fields();
    let source = entity_reference(x, "source")?;
    let target = entity_reference(x, "target")?;
    let confidence = need(p.number("confidence"), "confidence")?;
    let confidence = need(Some(confidence).filter(|n| (0.0..=1.0).contains(n)), "confidence")?;
    let relation = need(p.text("relation_type"), "relation_type")?;
    let method = need(p.text("inference_method"), "inference_method")?;
    x.edge(source, &relation, target);
    if let Some(edge) = x.edges.last_mut() {
        edge.inferred = true;
        edge.confidence = double(confidence);
        edge.inference_method = Value::from(method);
        if p.is_object("evidence") {
            edge.evidence = p.value("evidence");
        }
    }
    Ok(())
}

fn edge_retracted(x: &mut Extraction<'_>) -> RuleResult {
    let p = x.fields();
    edge_generated(x)?;
    let valid_from = need(p.text("valid_from"), "valid_from")?;
    let valid_to = need(p.text("valid_to"), "valid_to")?;
    if let Some(edge) = x.edges.last_mut() {
        edge.valid_from = Some(valid_from);
        edge.valid_to = Some(valid_to);
    }
    Ok(())
}

fn causal_edge(x: &mut Extraction<'_>) -> RuleResult {
    let p = x.fields();
    let mut names = Vec::new();
    for key in ["source", "target"] {
        let end = p.object(key);
        let name = string(end, "name").map_err(|_| MissingMember(key))?;
        let kind = string(end, "entity_type").map_err(|_| MissingMember(key))?;
        x.bare(name.as_str(), &kind);
        names.push(name);
    }
    let relation = need(p.text("relation_type"), "relation_type")?;
    let method = string(p, "causal_method")?;
    let confidence = number(p, "confidence")?;
    need(p.is_object("evidence").then_some(()), "evidence")?;
    let mut evidence = Properties::new();
    for member in p.object("evidence").members() {
        if let Some(key) = member.key.as_str() {
            evidence = evidence.put(key, member.value.clone());
        }
    }
    let evidence = evidence
        .put("causal_relation_type", relation.as_str())
        .put("review_status", p.value_or("review_status", "proposed"))
        .put("authority_status", p.value_or("authority_status", UNREVIEWED));
    if let [source, target] = names.as_slice() {
        x.edge(source.as_str(), &format!("causal_{relation}"), target.as_str());
    }
    if let Some(edge) = x.edges.last_mut() {
        edge.inferred = true;
        edge.confidence = double(confidence);
        edge.inference_method = Value::from(trim(&method));
        edge.evidence = evidence.into();
    }
    Ok(())
}

/// Numbers and hashes of the events that a record rests on.
struct SourceEvents(Vec<(Value, Value)>);

impl SourceEvents {
    fn read(p: Fields<'_>, key: &'static str) -> Result<SourceEvents, MissingMember> {
        let items = need(p.raw(key).and_then(Value::as_array).filter(|l| !l.is_empty()), key)?;
        let pairs = items.iter().map(|item| {
            let item = Fields::new(item);
            Ok((need(item.raw("seq").cloned(), key)?, need(item.raw("hash").cloned(), key)?))
        });
        pairs.collect::<Result<_, _>>().map(SourceEvents)
    }

    fn properties(&self, prefix: &str) -> Properties {
        let refs = self.0.iter().map(|(seq, hash)| format!("{}:{}", display(seq), display(hash)));
        let refs: Vec<String> = refs.collect();
        let seqs: Vec<Value> = self.0.iter().map(|(seq, _)| seq.clone()).collect();
        let hashes: Vec<Value> = self.0.iter().map(|(_, hash)| hash.clone()).collect();
        Properties::new()
            .count(&format!("{prefix}_count"), self.0.len())
            .texts(&format!("{prefix}_refs"), &refs)
            .put(&format!("{prefix}_seqs"), seqs)
            .put(&format!("{prefix}_hashes"), hashes)
    }

    fn list(&self) -> Value {
        let pairs = self.0.iter();
        let items =
            pairs.map(|(seq, hash)| Value::object([("seq", seq.clone()), ("hash", hash.clone())]));
        Value::Array(items.collect())
    }
}

fn candidate_created(x: &mut Extraction<'_>) -> RuleResult {
    let p = x.fields();
    let sources = SourceEvents::read(p, "source_events")?;
    let mut properties = Properties::new()
        .put("candidate_type", value(p, "candidate_type")?)
        .put("title", value(p, "title")?)
        .put("confidence", double(number(p, "confidence")?))
        .put("method", value(p, "method")?)
        .put("review_status", value(p, "review_status")?)
        .put("authority_status", UNREVIEWED)
        .extend(sources.properties("source_event"))
        .put("source_events", sources.list());
    if let Some(purpose) = p.raw("purpose").filter(|purpose| !purpose.is_null()) {
        properties = properties.put("purpose", purpose.clone());
    }
    let summary = value(p, "summary")?;
    x.entity(value(p, "candidate_id")?, "consolidation_candidate", None, properties);
    if let Some(entity) = x.entities.last_mut() {
        entity.summary = summary;
    }
    Ok(())
}

fn candidate_reviewed(x: &mut Extraction<'_>) -> RuleResult {
    let p = x.fields();
    let candidate = value(p, "candidate_id")?;
    let status = value(p, "status")?;
    let rationale = value(p, "rationale")?;
    let name = format!("consolidation_review:{}:{}", display(&candidate), x.event.seq);
    let review = Properties::new()
        .put("candidate_id", candidate.clone())
        .put("status", status.clone())
        .put("authority_status", UNREVIEWED)
        .put("rationale", rationale.clone());
    x.entity(name.as_str(), "consolidation_review", None, review);
    if let Some(entity) = x.entities.last_mut() {
        entity.summary = rationale;
    }
    let standing =
        Properties::new().put("review_status", status).put("authority_status", UNREVIEWED);
    x.entity(candidate.clone(), "consolidation_candidate", None, standing);
    x.edge(name, "reviewed_consolidation_candidate", candidate);
    Ok(())
}

/// The properties that begin with the event type and these strings.
fn typed(x: &Extraction<'_>, keys: &[&'static str]) -> Result<Properties, MissingMember> {
    let mut properties = Properties::new().put("event_type", x.event.kind.as_str());
    for key in keys {
        properties = properties.put(key, string(x.fields(), key)?);
    }
    Ok(properties)
}

fn unknown_recorded(x: &mut Extraction<'_>) -> RuleResult {
    let p = x.fields();
    let sources = SourceEvents::read(p, "source_events")?;
    let name = string(p, "unknown_id")?;
    let properties = typed(x, &["question", "reason", "claim_key", "gap_type", "status"])?
        .text("reverify_query", p.text("reverify_query"))
        .extend(sources.properties("source_event"))
        .put("source_events", sources.list())
        .put("authority_status", UNREVIEWED)
        .compact();
    x.entity(name.as_str(), "known_unknown", Some(string(p, "question")?), properties);
    x.by_actor("recorded_known_unknown", name);
    Ok(())
}

fn confidence_assessed(x: &mut Extraction<'_>) -> RuleResult {
    let p = x.fields();
    let name = string(p, "assessment_id")?;
    let evidence: Vec<Value> =
        p.objects("evidence").iter().map(|item| item.as_value().clone()).collect();
    let properties = typed(x, &["claim", "claim_key"])?
        .put("confidence", double(number(p, "confidence")?))
        .integer("support_count", &p.not_negative("support_count"))
        .integer("conflict_count", &p.not_negative("conflict_count"))
        .put("requires_reverify", p.is_true("requires_reverify"))
        .put("method", string(p, "method")?)
        .count("evidence_count", evidence.len())
        .put("evidence", evidence)
        .put("authority_status", UNREVIEWED)
        .compact();
    x.entity(name.as_str(), "confidence_assessment", Some(string(p, "claim")?), properties);
    x.by_actor("assessed_confidence", name);
    Ok(())
}

fn conflict_clustered(x: &mut Extraction<'_>) -> RuleResult {
    let p = x.fields();
    let name = string(p, "cluster_id")?;
    let supporting = SourceEvents::read(p, "supporting_source_events")?;
    let conflicting = SourceEvents::read(p, "conflicting_source_events")?;
    let properties = typed(x, &["claim_key", "claim"])?
        .put("confidence", double(number(p, "confidence")?))
        .put("reason", string(p, "reason")?)
        .put("resolution_status", string(p, "resolution_status")?)
        .extend(supporting.properties("supporting_source_event"))
        .put("supporting_source_events", supporting.list())
        .extend(conflicting.properties("conflicting_source_event"))
        .put("conflicting_source_events", conflicting.list())
        .put("authority_status", UNREVIEWED);
    x.entity(name.as_str(), "conflict_cluster", Some(string(p, "claim")?), properties);
    x.by_actor("clustered_conflicting_evidence", name);
    Ok(())
}

fn reverify_requested(x: &mut Extraction<'_>) -> RuleResult {
    let p = x.fields();
    let name = string(p, "reverify_id")?;
    let sources = SourceEvents::read(p, "source_events")?;
    let properties = typed(x, &["query", "reason", "claim_key", "priority", "status"])?
        .extend(sources.properties("source_event"))
        .put("source_events", sources.list())
        .put("authority_status", UNREVIEWED);
    x.entity(name.as_str(), "reverify_request", Some(string(p, "query")?), properties);
    x.by_actor("requested_reverification", name);
    Ok(())
}

fn primitive_called(x: &mut Extraction<'_>) -> RuleResult {
    let p = x.fields();
    let primitive = string(p, "primitive")?;
    let name = format!("reasoning:{primitive}:{}", x.event.seq);
    let properties = typed(x, &["primitive"])?
        .put("phase", fold(&string(p, "phase")?))
        .put("status", p.text_or("status", "succeeded"))
        .integer("result_count", &p.not_negative("result_count"))
        .integer("evidence_count", &p.not_negative("evidence_count"))
        .texts("citations", &p.texts("citations"))
        .put("authority_status", UNREVIEWED)
        .compact();
    x.entity(name.as_str(), "reasoning_primitive_observation", p.text("query"), properties);
    x.by_actor("called_reasoning_primitive", name);
    Ok(())
}

fn belief_proposed(x: &mut Extraction<'_>) -> RuleResult {
    let p = x.fields();
    let sources = SourceEvents::read(p, "source_events")?;
    let name = format!("belief:proposal:{}", x.event.seq);
    let properties = typed(x, &["claim", "rationale"])?
        .put("phase", fold(&string(p, "phase")?))
        .put("confidence", double(number(p, "confidence")?))
        .extend(sources.properties("source_event"))
        .put("authority_status", UNREVIEWED)
        .put("review_status", value(p, "review_status")?);
    x.entity(name.as_str(), "belief_update_proposal", None, properties);
    if let Some(entity) = x.entities.last_mut() {
        entity.summary = optional(Some(string(p, "claim")?));
    }
    x.by_actor("proposed_belief_update", name);
    Ok(())
}
