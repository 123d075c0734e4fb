//! Missions of several workers, and memories that a fleet shares.

use super::{Extraction, MissingMember, Properties, RuleResult};
use crate::json::Value;
use crate::zaxy::coerce::{text, trim};
use crate::zaxy::fields::{Fields, join};

const UNREVIEWED: &str = "non_authoritative";

pub(super) fn apply(x: &mut Extraction<'_>) -> Option<RuleResult> {
    match x.event.kind.as_str() {
        "coordination.mission.created" => mission(x),
        "coordination.worker.created" => worker(x),
        "coordination.assignment.created" => assignment(x),
        "coordination.finding.reported" => finding_reported(x),
        "coordination.finding.reviewed" => finding_reviewed(x),
        "coordination.finding.promoted" => finding_promoted(x),
        "coordination.conflict.detected" => conflict(x),
        "coordination.decision.recorded" => decision(x),
        "coordination.handoff.created" => handoff(x),
        "coordination.proof_packet.created" => proof_packet(x),
        "fleet.skill.promoted" => return Some(fleet_skill(x)),
        "fleet.rule.propagated" => {
            let summary = x.fields().text("rule");
            return Some(fleet(x, "rule", summary, &["rule_id", "rule", "trigger"]));
        }
        "fleet.outcome.propagated" => {
            let summary = x.fields().text("summary");
            return Some(fleet(x, "outcome", summary, &["outcome", "claim_key"]));
        }
        "fleet.promotion.reviewed" => {
            let status = match x.fields().text_or("decision", "").as_str() {
                "accepted" => "active",
                "rejected" => "rejected",
                "deferred" => "deferred",
                _ => "pending",
            };
            fleet_status(x, "promotion_id", status);
        }
        "fleet.memory.superseded" => fleet_status(x, "superseded_promotion_id", "superseded"),
        "fleet.promotion.rolled_back" => fleet_status(x, "promotion_id", "rolled_back"),
        _ => return None,
    }
    Some(Ok(()))
}

fn mission_id(x: &Extraction<'_>) -> String {
    let p = x.fields();
    let keys = ["mission_id", "parent_session_id"];
    let named = p.any(&keys).filter(|value| crate::zaxy::coerce::is_truthy(value));
    let name = match named {
        Some(value) => text(Some(value)),
        None => Some(trim(&x.event.thread).to_owned()).filter(|thread| !thread.is_empty()),
    };
    name.unwrap_or_else(|| "default".to_owned())
}

fn worker_id(x: &Extraction<'_>) -> String {
    let named = x.fields().text_of_any(&["worker_id", "worker_session_id"]);
    named.unwrap_or_else(|| "worker".to_owned())
}

fn finding_id(x: &Extraction<'_>) -> String {
    x.fields().text_or("finding_id", &format!("{}:finding:{}", worker_id(x), x.event.seq))
}

fn mission(x: &mut Extraction<'_>) {
    let p = x.fields();
    let name = mission_id(x);
    let properties = Properties::new().put("status", p.text_or("status", "active"));
    x.entity(name.as_str(), "mission", p.text("objective"), properties);
    x.by_actor("started_mission", name);
}

fn worker(x: &mut Extraction<'_>) {
    let p = x.fields();
    let (mission, worker) = (mission_id(x), worker_id(x));
    let properties = Properties::new()
        .put("mission_id", mission.as_str())
        .put("status", p.text_or("status", "active"));
    x.bare(mission.as_str(), "mission");
    x.entity(worker.as_str(), "worker", None, properties);
    x.edge(mission, "mission_has_worker", worker);
}

fn assignment(x: &mut Extraction<'_>) {
    let p = x.fields();
    let (mission, worker) = (mission_id(x), worker_id(x));
    let default = format!("{mission}:{worker}:assignment:{}", x.event.seq);
    let name = p.text_or("assignment_id", &default);
    let properties = Properties::new()
        .put("status", p.text_or("status", "assigned"))
        .put("mission_id", mission)
        .put("worker_id", worker.as_str());
    x.bare(worker.as_str(), "worker");
    x.entity(name.as_str(), "assignment", p.text("assignment"), properties);
    x.edge(worker, "worker_has_assignment", name);
}

fn finding_reported(x: &mut Extraction<'_>) {
    let p = x.fields();
    let (mission, worker, finding) = (mission_id(x), worker_id(x), finding_id(x));
    let properties = Properties::new()
        .put("status", p.text_or("status", "pending"))
        .put("mission_id", mission)
        .put("worker_id", worker.as_str())
        .count("evidence_count", p.list_length("evidence"))
        .double("confidence", p.unit("confidence"))
        .text("claim_key", p.text("claim_key"))
        .text("claim_value", p.text("claim_value"))
        .compact();
    x.bare(worker.as_str(), "worker");
    x.entity(finding.as_str(), "finding", p.text("summary"), properties);
    x.edge(worker, "worker_reported_finding", finding);
}

fn finding_reviewed(x: &mut Extraction<'_>) {
    let p = x.fields();
    let (mission, worker, finding) = (mission_id(x), worker_id(x), finding_id(x));
    let status = p.text_or("status", "reviewed");
    let summary = join(&[status.as_str().into(), p.value("rationale")]);
    let name = format!("{mission}:{finding}:review:{}", x.event.seq);
    let properties =
        Properties::new().put("status", status).put("mission_id", mission).put("worker_id", worker);
    x.bare(finding.as_str(), "finding");
    x.entity(name, "finding_review", summary, properties);
    x.edge(x.event.actor.as_str(), "coordinator_reviewed_finding", finding);
}

fn finding_promoted(x: &mut Extraction<'_>) {
    let p = x.fields();
    let (mission, finding) = (mission_id(x), finding_id(x));
    let name = format!("{mission}:{finding}:promotion:{}", x.event.seq);
    let properties = Properties::new()
        .put("status", p.text_or("status", "accepted"))
        .put("mission_id", mission.as_str())
        .text("worker_id", p.text("worker_id"))
        .put("finding_id", finding.as_str())
        .put("source_event_seq", p.value("source_event_seq"))
        .text("source_event_hash", p.text("source_event_hash"))
        .text("claim_key", p.text("claim_key"))
        .text("claim_value", p.text("claim_value"))
        .compact();
    x.bare(mission, "mission");
    x.entity(name.as_str(), "promotion", p.text("summary"), properties);
    x.edge(finding, "finding_promoted_to_parent", name);
}

fn conflict(x: &mut Extraction<'_>) {
    let p = x.fields();
    let mission = mission_id(x);
    let name = p.text_or("conflict_id", &format!("{mission}:conflict:{}", x.event.seq));
    let findings = p.texts("finding_ids");
    let properties = Properties::new()
        .put("mission_id", mission.as_str())
        .text("claim_key", p.text("claim_key"))
        .put("conflict_type", p.text_or("conflict_type", "exact_claim"))
        .text("reason", p.text("reason"))
        .text("source_reference", p.text("source_reference"))
        .count("finding_count", findings.len())
        .compact();
    x.bare(mission.as_str(), "mission");
    x.entity(name.as_str(), "conflict", p.text("summary"), properties);
    x.edge(mission, "mission_has_conflict", name.as_str());
    for finding in findings {
        x.bare(finding.as_str(), "finding");
        x.edge(finding, "finding_conflicts_with", name.as_str());
    }
}

fn decision(x: &mut Extraction<'_>) {
    let p = x.fields();
    let mission = mission_id(x);
    let name = p.text_or("decision_id", &format!("{mission}:decision:{}", x.event.seq));
    let properties = Properties::new().put("mission_id", mission.as_str());
    x.bare(mission.as_str(), "mission");
    x.entity(name.as_str(), "decision", p.join(&["decision", "rationale"]), properties);
    x.edge(mission, "mission_has_decision", name);
}

fn handoff(x: &mut Extraction<'_>) {
    let p = x.fields();
    let mission = mission_id(x);
    let name = p.text_or("handoff_id", &format!("{mission}:handoff:{}", x.event.seq));
    let properties = Properties::new().put("mission_id", mission.as_str()).put("status", "created");
    let summary = p.join(&["summary", "next_steps", "risks"]);
    x.bare(mission.as_str(), "mission");
    x.entity(name.as_str(), "handoff", summary, properties);
    x.edge(mission, "mission_has_handoff", name);
}

fn proof_packet(x: &mut Extraction<'_>) {
    let p = x.fields();
    let mission = mission_id(x);
    let artifact = p.text("artifact_id");
    let default = format!("{mission}:proof_packet:{}", x.event.seq);
    let name = artifact.clone().unwrap_or(default);
    let accepted = p.texts("accepted_finding_ids");
    let conflicts = p.texts("conflict_ids");
    let rows = p.objects("non_authoritative_rows");
    let handoff = p.object("handoff_event_ref").text("handoff_id");
    let properties = Properties::new()
        .put("mission_id", mission.as_str())
        .text("schema_version", p.text("schema_version"))
        .text("artifact_id", artifact.clone())
        .text("decision_scope", p.text("decision_scope"))
        .text("authority_scope", p.text("authority_scope"))
        .count("accepted_finding_count", accepted.len())
        .count("diagnostic_pending_count", p.texts("diagnostic_pending_ids").len())
        .count("conflict_count", conflicts.len())
        .count("non_authoritative_row_count", rows.len())
        .count("excluded_row_reason_count", p.objects("excluded_row_reasons").len())
        .text("handoff_id", handoff.clone())
        .compact();
    x.bare(mission.as_str(), "mission");
    let summary = p.join(&["query", "decision_scope"]);
    x.entity(name.as_str(), "coordination_proof_packet", summary, properties);
    x.edge(mission.as_str(), "mission_has_proof_packet", name.as_str());
    if let Some(artifact) = artifact {
        link(x, &name, "proof_links_synthesis_artifact", &artifact, "synthesis_artifact");
    }
    for finding in accepted {
        link(x, &name, "proof_uses_accepted_finding", &finding, "finding");
    }
    for row in rows {
        proof_row(x, &mission, &name, row);
    }
    for conflict in conflicts {
        link(x, &name, "proof_diagnoses_conflict", &conflict, "conflict");
    }
    if let Some(handoff) = handoff {
        link(x, &name, "proof_binds_handoff", &handoff, "handoff");
    }
}

fn link(x: &mut Extraction<'_>, packet: &str, relation: &str, name: &str, kind: &str) {
    x.bare(name, kind);
    x.edge(packet, relation, name);
}

fn proof_row(x: &mut Extraction<'_>, mission: &str, packet: &str, row: Fields<'_>) {
    let Some(key) = row.text("fact_id").or_else(|| row.text("source_group")) else { return };
    let status = row.text_or("status", UNREVIEWED);
    let name = format!("{packet}:row:{status}:{key}");
    let mut properties =
        Properties::new().put("mission_id", mission).put("proof_packet_id", packet);
    for key in ["source_group", "fact_id", "status", "include_reason", "exclude_reason"] {
        properties = properties.text(key, row.text(key));
    }
    let summary = row.join(&["status", "include_reason", "exclude_reason"]);
    let kind = "coordination_non_authoritative_row";
    x.entity(name.as_str(), kind, summary, properties.compact());
    x.edge(packet, "proof_excludes_non_authoritative_row", name);
}

fn fleet_skill(x: &mut Extraction<'_>) -> RuleResult {
    let p = x.fields();
    let summary = match p.text("skill_id") {
        Some(skill) => {
            let version = p.text("skill_version").unwrap_or_else(|| "None".to_owned());
            Some(format!("skill {skill}@{version}"))
        }
        None => p.text("summary"),
    };
    fleet(x, "skill", summary, &["skill_id", "skill_version"])
}

/// The number and the hash of a source event, if it has both.
fn source_reference(source: &Fields<'_>) -> Option<String> {
    let seq = source.raw("seq")?;
    let is_integer = seq.as_number().is_some_and(crate::json::NumberToken::is_integer);
    let hash = source.text("hash").filter(|_| is_integer)?;
    Some(format!("{}:{hash}", text(Some(seq))?))
}

fn fleet(
    x: &mut Extraction<'_>,
    kind: &str,
    summary: Option<String>,
    own_members: &[&str],
) -> RuleResult {
    let p = x.fields();
    let name = p.text("promotion_id").ok_or(MissingMember("promotion_id"))?;
    let id = p.text("fleet_id").ok_or(MissingMember("fleet_id"))?;
    let sources = p.objects("source_events");
    let references: Vec<String> = sources.iter().filter_map(source_reference).collect();
    let sources: Vec<Value> = sources.iter().map(|source| source.as_value().clone()).collect();
    let authority = p.text_or("authority_status", UNREVIEWED);
    let is_unreviewed = authority == UNREVIEWED;
    let gate = Some(p.value("gate_event")).filter(|_| p.is_object("gate_event"));
    let fleet = format!("fleet:{id}");
    x.entity(fleet.as_str(), "fleet", None, Properties::new().put("fleet_id", id.as_str()));
    let mut properties = Properties::new()
        .put("promotion_id", name.as_str())
        .put("fleet_id", id)
        .put("kind", kind)
        .put("review_status", p.text_or("review_status", "pending"))
        .put("visibility_scope", p.text_or("visibility_scope", "fleet"))
        .put("authority_status", authority)
        .put("non_authoritative", is_unreviewed)
        .double("confidence", p.unit("confidence"))
        .text("origin_actor", p.text("origin_actor"))
        .text("origin_session", p.text("origin_session"))
        .put("keystone", p.is_true("keystone"))
        .put("gate_event", gate.unwrap_or_default())
        .texts("source_event_refs", &references)
        .put("source_events", sources);
    for key in own_members {
        properties = properties.text(key, p.text(key));
    }
    x.entity(name.as_str(), "fleet_promotion", summary, properties.compact());
    x.edge(fleet, &format!("fleet_promoted_{kind}"), name);
    Ok(())
}

fn fleet_status(x: &mut Extraction<'_>, key: &str, status: &str) {
    if let Some(name) = x.fields().text(key) {
        let properties =
            Properties::new().put("review_status", status).put("authority_status", UNREVIEWED);
        x.entity(name, "fleet_promotion", None, properties);
    }
}
