//! Transcripts, documents and their sources. Turns and documents also add a neutral substrate: a quote
//! with its provenance, free of the purpose for which somebody indexed it.

use std::collections::BTreeSet;

use super::{Extraction, Properties, RuleResult, transform};
use crate::json::Value;
use crate::zaxy::coerce::{display, fold, is_space, parse_float, trim};

const QUOTE_CHARS_MAX: usize = 500;
const CLAIM_CHARS_MAX: usize = 240;
const SALIENCE_MAX: f64 = 10.0;

pub(super) fn apply(x: &mut Extraction<'_>) -> Option<RuleResult> {
    match x.event.kind.as_str() {
        "transcript.turn" => transcript_turn(x),
        "document.indexed" => document(x),
        "source.discovered" => source(x, "discovered"),
        "source.changed" => source(x, "changed"),
        "source.unchanged" => source(x, "unchanged"),
        "source.deleted" => source(x, "deleted"),
        "projection.updated" => projection(x, "updated"),
        "projection.retired" => projection(x, "retired"),
        _ => return None,
    }
    Some(Ok(()))
}

fn transcript_turn(x: &mut Extraction<'_>) {
    let p = x.fields();
    let source = p.text_or("source", "transcript");
    let index = p.positive("turn_index", x.event.seq);
    let role = p.text_or("role", &x.event.actor);
    let content = p.text_or("content", "");
    let name = format!("{source}:turn-{index}");
    let properties = Properties::new()
        .put("transcript_source", source.as_str())
        .put("transcript_role", role.as_str())
        .integer("transcript_turn_index", &index)
        .put("redacted_paths", p.list("redacted_paths"));
    x.entity(name.as_str(), "transcript_turn", Some(format!("{role}: {content}")), properties);
    let substrate = Substrate {
        kind: "transcript",
        action: "transcript_turn",
        artifact: &name,
        source: &source,
        content: &content,
        uncertainty: "sanitized",
        permission_scope: "session",
    };
    substrate.add(x);
}

fn document(x: &mut Extraction<'_>) {
    let p = x.fields();
    let path = p.text_or("path", "document");
    let start = p.positive("start_line", 1);
    let end = p.positive("end_line", &start);
    let content = p.text_or("content", "");
    let name = format!("{path}:{start}-{end}");
    let mut properties = Properties::new()
        .put("source_path", path.as_str())
        .integer("source_start_line", &start)
        .integer("source_end_line", &end)
        .text("source_sha256", p.text("sha256"))
        .extend(transform(p));
    if let Some(salience) = salience(x) {
        properties = properties.double("retrieval_salience", Some(salience));
    }
    x.entity(name.as_str(), "document", Some(content.clone()), properties);
    let substrate = Substrate {
        kind: "document",
        action: "document_indexed",
        artifact: &name,
        source: &path,
        content: &content,
        uncertainty: "unspecified",
        permission_scope: "project-local",
    };
    substrate.add(x);
}

/// How much a document matters to retrieval.
fn salience(x: &Extraction<'_>) -> Option<f64> {
    let p = x.fields();
    let stated = match p.any(&["retrieval_salience", "memory_salience", "salience"])? {
        Value::Null | Value::Bool(_) => None,
        value => parse_float(&display(value)),
    };
    let stated = stated.filter(|number| number.is_nan() || *number > 0.0);
    let capped = stated.map(|number| if SALIENCE_MAX < number { SALIENCE_MAX } else { number });
    let marks = ["salient_memory_turn", "longmemeval_salient_memory_turn"];
    capped.or_else(|| marks.iter().any(|key| p.is_true(key)).then_some(4.0))
}

fn source(x: &mut Extraction<'_>, status: &str) {
    let p = x.fields();
    let path = p.text_or("path", "source");
    let kind = p.text_or("source_kind", "unknown");
    let summary = format!("{kind} source {path} {status}");
    let properties = Properties::new()
        .put("source_path", path.as_str())
        .put("source_kind", kind)
        .text("source_sha256", p.text("sha256"))
        .text("previous_sha256", p.text("previous_sha256"))
        .integer("bytes", &p.positive("bytes", 0))
        .put("refresh_status", status)
        .extend(transform(p))
        .some("refresh_reason", p.text("refresh_reason"));
    x.entity(path, "source", Some(summary), properties);
}

fn projection(x: &mut Extraction<'_>, status: &str) {
    let p = x.fields();
    let path = p.text_or("path", "source");
    let kind = p.text_or("source_kind", "unknown");
    let projection = p.text_or("projection", "memory");
    let name = format!("projection:{kind}:{path}");
    let summary = format!("{projection} projection {status} for {path}");
    let source = Properties::new().put("source_path", path.as_str()).put("source_kind", kind);
    let properties = source
        .clone()
        .put("projection", projection)
        .put("projection_status", status)
        .text("source_event", p.text("source_event"))
        .text("reason", p.text("reason"))
        .extend(transform(p))
        .some("source_sha256", p.text("source_sha256"));
    x.entity(path.as_str(), "source", None, source);
    x.entity(name.as_str(), "projection", Some(summary), properties);
    x.edge(path, &format!("projection_{status}"), name);
}

/// A quote of an artifact, with the words that stand where the payload says nothing.
struct Substrate<'a> {
    kind: &'a str,
    action: &'a str,
    artifact: &'a str,
    source: &'a str,
    content: &'a str,
    uncertainty: &'a str,
    permission_scope: &'a str,
}

impl Substrate<'_> {
    fn add(self, x: &mut Extraction<'_>) {
        let p = x.fields();
        let event = x.event;
        let name = format!("neutral:{}:{}", self.kind, self.artifact);
        let quote = squeeze(self.content);
        let claim = match quote.split_once('.') {
            Some((claim, _)) => trim(claim).to_owned(),
            None => quote.chars().take(CLAIM_CHARS_MAX).collect(),
        };
        let members = [
            ("actor", event.actor.clone()),
            ("artifact", self.artifact.to_owned()),
            ("action", self.action.to_owned()),
            ("time", event.timestamp.clone()),
            ("source", self.source.to_owned()),
            ("quote", quote.clone()),
            ("uncertainty", p.text_or("uncertainty", self.uncertainty)),
            ("permission_scope", p.text_or("permission_scope", self.permission_scope)),
            ("candidate_claim", p.text_or("candidate_claim", &claim)),
            ("source_event_ref", event.citation()),
        ];
        let stated = members.into_iter().filter(|(_, text)| !text.is_empty());
        let properties = stated.fold(Properties::new(), |all, (key, text)| all.put(key, text));
        x.entity(name.as_str(), "neutral_substrate", Some(quote), properties);
        x.edge(name.as_str(), "neutral_substrate_cites_source", self.artifact);
        add_label_audit(x, &name);
    }
}

/// Flags labels that fix the purpose of a quote.
fn add_label_audit(x: &mut Extraction<'_>, substrate: &str) {
    const FORBIDDEN: [&str; 5] = [
        "churn_risk",
        "customer_escalation",
        "legal_obligation",
        "roadmap_commitment",
        "security_warning",
    ];
    let p = x.fields();
    let single = ["purpose_label", "semantic_label", "entity_type", "label"];
    let listed = p.raw("labels").and_then(Value::as_array).unwrap_or_default();
    let found: BTreeSet<String> = single
        .iter()
        .filter_map(|key| p.raw(key))
        .chain(listed)
        .filter_map(Value::as_str)
        .map(|label| fold(trim(label)).replace(['-', ' '], "_"))
        .filter(|label| FORBIDDEN.contains(&label.as_str()))
        .collect();
    if found.is_empty() {
        return;
    }
    let found: Vec<String> = found.into_iter().collect();
    let name = format!("neutral-audit:{}:{}", x.event.thread, x.event.seq);
    let summary = "Ingestion payload contains irreversible purpose-specific labels.".to_owned();
    let properties = Properties::new()
        .put("safe", false)
        .texts("forbidden_labels", &found)
        .put("source_event_ref", x.event.citation())
        .put("action", "flag_ingestion_purpose_label");
    x.entity(name.as_str(), "neutral_projection_audit", Some(summary), properties);
    x.edge(name, "flags_ingestion_purpose_label", substrate);
}

/// One space for each run of white space, cut to the length of a quote.
fn squeeze(content: &str) -> String {
    let words: Vec<&str> = content.split(is_space).filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(QUOTE_CHARS_MAX).collect()
}
