//! The life of memories: reinforcement, feedback, correction, rollback and synthesis.

use super::{Extraction, Properties, RuleResult, retention};
use crate::canon::python_ascii;
use crate::json::Value;
use crate::zaxy::coerce::optional;
use crate::zaxy::event::sha256_hex;
use crate::zaxy::fields::{Fields, join};

const UNREVIEWED: &str = "non_authoritative";

pub(super) fn apply(x: &mut Extraction<'_>) -> Option<RuleResult> {
    match x.event.kind.as_str() {
        "memory.reinforced" => reinforced(x),
        "memory.reinforcement" => {}
        "memory.feedback" => feedback(x),
        "memory.bootstrap.shown" | "memory.checkout.completed" | "memory.feedback.recorded" => {
            activity(x);
        }
        "memory.reminder.suggested" => reminder(x),
        "memory.corrected" => corrected(x),
        "memory.rolled_back" => rolled_back(x),
        "memory.evidence.reinforced" => evidence(x, "reinforced"),
        "memory.evidence.excluded" => evidence(x, "excluded"),
        "memory.synthesis.artifact.created" => artifact(x),
        "memory.synthesis.used" => outcome(x, "used"),
        "memory.synthesis.rejected" => outcome(x, "rejected"),
        "memory.synthesis.corrected" => outcome(x, "corrected"),
        _ => return None,
    }
    Some(Ok(()))
}

/// The purpose and the authority behind a feedback.
fn feedback_properties(p: Fields<'_>) -> Properties {
    const PURPOSE: [&str; 7] = [
        "profile",
        "role",
        "task",
        "risk",
        "expected_action",
        "evidence_policy",
        "retention_policy",
    ];
    const OWN: [&str; 7] = [
        "authority",
        "authority_scope",
        "coordination_status",
        "finding_id",
        "mission_id",
        "outcome",
        "worker_id",
    ];
    let mut properties = Properties::new();
    if p.is_object("purpose") {
        for key in PURPOSE {
            let text = p.object("purpose").text(key);
            properties = properties.some(&format!("purpose_{key}"), text);
        }
    } else {
        properties = properties.some("purpose_profile", p.text("purpose"));
    }
    for key in OWN {
        properties = properties.some(key, p.text(key));
    }
    match p.raw("stale") {
        Some(Value::Bool(stale)) => properties.put("stale", *stale),
        _ => properties,
    }
}

fn reinforced(x: &mut Extraction<'_>) {
    let p = x.fields();
    let name = p.text_or("entity_name", &format!("memory:{}", x.event.seq));
    let kind = p.text_or("entity_type", "memory");
    let properties = retention(p)
        .extend(feedback_properties(p))
        .put("last_reinforced_at", x.event.timestamp.as_str())
        .integer("reinforcement_count", &p.positive("reinforcement_count", 1));
    x.entity(name.as_str(), &kind, p.text("summary"), properties);
    x.by_actor("reinforced_memory", name);
}

fn feedback(x: &mut Extraction<'_>) {
    let p = x.fields();
    let name = p.text_or("entity_name", &format!("memory:{}", x.event.seq));
    let kind = p.text_or("entity_type", "memory");
    let feedback = p.text_or("feedback", "unknown");
    let own_name = format!("{kind}:{name}:feedback:{}", x.event.seq);
    let summary = p.text_or("reason", &format!("{feedback} feedback for {name}"));
    let properties = feedback_properties(p)
        .put("feedback", feedback)
        .text("citation", p.text("citation"))
        .put("last_feedback_at", x.event.timestamp.as_str());
    x.entity(own_name.as_str(), "memory_feedback", Some(summary), properties.clone());
    x.entity(name.as_str(), &kind, None, properties);
    x.by_actor("recorded_memory_feedback", own_name.as_str());
    x.edge(own_name, "feedback_about_memory", name);
}

fn activity(x: &mut Extraction<'_>) {
    let p = x.fields();
    let kind = x.event.kind.strip_prefix("memory.").unwrap_or_default().replace('.', "_");
    let activity = p.text_or("activity", &kind);
    let source = p.text_or("source", &x.event.actor);
    let thread = x.event.thread.as_str();
    let name = format!("{thread}:memory:{activity}:{}", x.event.seq);
    let summary = format!("{activity} memory activity from {source}");
    let properties = Properties::new()
        .put("activity", activity)
        .put("source", source)
        .put("session_id", thread)
        .some("query", p.text("query"));
    x.entity(name, "memory_activity", Some(summary), properties);
}

fn reminder(x: &mut Extraction<'_>) {
    let p = x.fields();
    let trigger = p.text_or("trigger", "unknown");
    let tool = p.text_or("recommended_tool", "memory_checkout");
    let thread = x.event.thread.as_str();
    let summary = format!("Memory reminder suggested after {trigger}: call {tool}");
    let properties = Properties::new()
        .put("trigger", trigger)
        .put("recommended_tool", tool)
        .put("session_id", thread)
        .some("query", p.text("query"));
    let name = format!("{thread}:memory-reminder:{}", x.event.seq);
    x.entity(name, "memory_reminder", Some(summary), properties);
}

/// The event that a correction or a rollback is about.
fn target(p: Fields<'_>) -> Properties {
    let target = p.object("target");
    let seq = target.positive("seq", 0);
    let mut properties = Properties::new();
    if seq != "0" {
        properties = properties.integer("target_seq", &seq);
    }
    match target.text("hash") {
        Some(hash) => {
            properties.put("target_hash", hash.as_str()).put("target_ref", format!("{seq}:{hash}"))
        }
        None => properties,
    }
}

fn corrected(x: &mut Extraction<'_>) {
    let p = x.fields();
    let name = p.text_or("correction_id", &format!("correction:{}", x.event.seq));
    let properties = Properties::new()
        .put("correction_id", name.as_str())
        .text("reason", p.text("reason"))
        .put("authority_status", p.value_or("authority_status", UNREVIEWED))
        .extend(target(p))
        .compact();
    x.entity(name, "memory_correction", p.text("content"), properties);
}

fn rolled_back(x: &mut Extraction<'_>) {
    let p = x.fields();
    let name = p.text_or("rollback_id", &format!("rollback:{}", x.event.seq));
    let reverts = p.object("reverts");
    let reverted = reverts.text("event_type");
    let is_review = reverted.as_deref() == Some("consolidation.candidate.reviewed");
    if let (true, Some(candidate), Some(status)) =
        (is_review, reverts.text("candidate_id"), reverts.text("to_status"))
    {
        let properties =
            Properties::new().put("review_status", status).put("authority_status", UNREVIEWED);
        x.entity(candidate, "consolidation_candidate", None, properties);
    }
    let properties = Properties::new()
        .put("rollback_id", name.as_str())
        .text("reason", p.text("reason"))
        .text("reverts_event_type", reverted)
        .put("authority_status", p.value_or("authority_status", UNREVIEWED))
        .extend(target(p))
        .compact();
    x.entity(name, "memory_rollback", p.text("reason"), properties);
}

fn evidence(x: &mut Extraction<'_>, action: &str) {
    let p = x.fields();
    let group = p.text("source_group");
    let citation = p.text("citation");
    let name = p.text("fact_id").or_else(|| group.clone()).or_else(|| citation.clone());
    let name = name.unwrap_or_else(|| format!("synthesis_evidence:{}", x.event.seq));
    let properties = retention(p)
        .some("outcome", p.text("outcome"))
        .some("source_group", group.clone())
        .some("citation", citation)
        .put(&format!("last_{action}_at"), x.event.timestamp.as_str());
    let summary = p.text("reason").or_else(|| p.text("query"));
    x.entity(name.as_str(), "synthesis_evidence", summary, properties);
    x.by_actor(&format!("{action}_synthesis_evidence"), name.as_str());
    if let Some(group) = group {
        x.bare(group.as_str(), "source_group");
        x.edge(name, "cites_source_group", group);
    }
}

/// The name of an answer: its key, or a hash of its rank, type and words.
fn candidate_name(scope: &str, candidate: Fields<'_>) -> String {
    if let Some(key) = candidate.text("answer_key") {
        return format!("{scope}:candidate:{key}");
    }
    let hashed = Value::object([
        ("rank", optional(candidate.text("rank"))),
        ("type", optional(candidate.text("type"))),
        ("answer", optional(candidate.text("answer"))),
    ]);
    format!("{scope}:candidate:{}", short_hash(&python_ascii(&hashed)))
}

fn short_hash(bytes: &[u8]) -> String {
    sha256_hex(bytes).chars().take(16).collect()
}

fn candidate_properties(candidate: Fields<'_>) -> Properties {
    Properties::new()
        .put("rank", candidate.value("rank"))
        .text("type", candidate.text("type"))
        .text("answer_key", candidate.text("answer_key"))
        .double("confidence", candidate.unit("confidence"))
}

fn artifact(x: &mut Extraction<'_>) {
    let p = x.fields();
    let name = p.text_or("artifact_id", &format!("synthesis_artifact:{}", x.event.seq));
    let candidates = p.objects("answer_candidates");
    let rows = p.objects("ledger_rows");
    let groups = p.object("support_packet").texts("source_groups");
    let session = match p.is_true("session_id") {
        true => p.text("session_id"),
        false => Some(x.event.thread.trim().to_owned()).filter(|thread| !thread.is_empty()),
    };
    let properties = Properties::new()
        .text("schema_version", p.text("schema_version"))
        .text("session_id", session)
        .count("answer_candidate_count", candidates.len())
        .count("ledger_row_count", rows.len())
        .count("support_source_group_count", groups.len())
        .compact();
    x.entity(name.as_str(), "synthesis_artifact", p.text("query"), properties);
    x.by_actor("created_synthesis_artifact", name.as_str());
    for candidate in candidates {
        let own_name = candidate_name(&name, candidate);
        let properties = Properties::new()
            .put("artifact_id", name.as_str())
            .extend(candidate_properties(candidate))
            .compact();
        let summary = candidate.text("answer");
        x.entity(own_name.as_str(), "synthesis_answer_candidate", summary, properties);
        x.edge(name.as_str(), "artifact_has_answer_candidate", own_name.as_str());
        add_support(x, &own_name, candidate);
    }
    for row in rows {
        add_ledger_row(x, &name, row);
    }
}

fn add_support(x: &mut Extraction<'_>, candidate: &str, fields: Fields<'_>) {
    for group in fields.texts("support_source_ids") {
        x.bare(group.as_str(), "source_group");
        x.edge(candidate, "candidate_supported_by_source_group", group);
    }
}

fn add_ledger_row(x: &mut Extraction<'_>, artifact: &str, row: Fields<'_>) {
    let key = row.text("fact_id").or_else(|| row.text("source_group"));
    let Some(key) = key.or_else(|| Some(short_hash(row.text("citation")?.as_bytes()))) else {
        return;
    };
    let name = format!("{artifact}:ledger:{key}");
    let mut properties = Properties::new().put("artifact_id", artifact);
    for key in ["fact_id", "source_group", "citation", "include_reason", "exclude_reason"] {
        properties = properties.text(key, row.text(key));
    }
    let properties = properties.double("confidence", row.unit("confidence")).compact();
    let summary = join(&[row.value("kind"), row.value("value"), row.value("label")]);
    x.entity(name.as_str(), "synthesis_ledger_row", summary, properties);
    x.edge(artifact, "artifact_has_ledger_row", name);
}

fn outcome(x: &mut Extraction<'_>, default: &str) {
    let p = x.fields();
    let candidate = p.object("answer_candidate");
    let name = candidate_name("candidate_feedback", candidate);
    let outcome = p.text_or("outcome", default);
    let properties = Properties::new()
        .put("outcome", outcome.as_str())
        .put("last_outcome_at", x.event.timestamp.as_str())
        .extend(candidate_properties(candidate))
        .compact();
    let summary = candidate.text("answer").or_else(|| p.text("reason"));
    x.entity(name.as_str(), "synthesis_answer_candidate", summary, properties);
    x.by_actor(&format!("recorded_synthesis_{outcome}"), name.as_str());
    add_support(x, &name, p);
}
