//! A checkout as JSON. It says what the text says; lists without entries are left out, because every member costs
//! tokens of the model that reads it.

use lamina_core::read::checkout::date::{day, minute};
use lamina_core::read::checkout::{
    Action, Checkout, CurrentFact, EvidenceLine, NOTICE, Quality, StandingLine, WorkItem,
};
use serde_json::{Map, Value, json};

/// The tool that says whether memory helped.
const FEEDBACK_TOOL: &str = "memory_feedback";

/// The schema of the answer.
pub(super) fn schema() -> Value {
    let list = || json!({"type": "array", "items": {"type": "object"}});
    json!({
        "type": "object",
        "properties": {
            "scope": {"type": "string"},
            "known_at": {"type": "string"},
            "notice": {"type": "string"},
            "quality": {
                "type": "object",
                "properties": {
                    "answerability": {
                        "type": "string",
                        "enum": ["answer_from_memory", "refresh_recommended", "ask_user"],
                    },
                    "confidence": {"type": "number"},
                    "reasons": {"type": "array", "items": {"type": "string"}},
                    "required_action": {"type": ["object", "null"]},
                    "why_not": {"type": "object"},
                },
                "required": ["answerability", "confidence", "reasons", "required_action"],
                "additionalProperties": false,
            },
            "standing": list(),
            "current_facts": list(),
            "working_set": list(),
            "warnings": {"type": "array", "items": {"type": "string"}},
            "evidence": list(),
            "recent": list(),
            "diagnostics": {"type": "object"},
            "left_out": {"type": "object"},
        },
        "required": ["scope", "known_at", "notice", "quality", "current_facts"],
        "additionalProperties": false,
    })
}

/// A checkout as an object.
pub(super) fn of(checkout: &Checkout) -> Value {
    let shown = &checkout.shown;
    let mut body = Map::new();
    body.insert("scope".to_owned(), shown.scope.clone().into());
    body.insert("known_at".to_owned(), minute(shown.known_at).into());
    body.insert("notice".to_owned(), NOTICE.into());
    body.insert("quality".to_owned(), quality(&checkout.quality));
    body.insert("current_facts".to_owned(), shown.facts.iter().map(fact).collect());
    let lists: [(&str, Vec<Value>); 5] = [
        ("standing", shown.standing.iter().map(standing).collect()),
        ("working_set", shown.work.iter().map(work).collect()),
        ("warnings", checkout.warnings.iter().map(|warning| json!(warning)).collect()),
        ("evidence", shown.evidence.iter().map(evidence).collect()),
        ("recent", shown.recent.iter().map(evidence).collect()),
    ];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        body.insert(name.to_owned(), list.into());
    }
    let diagnostics = diagnostics(checkout);
    if !diagnostics.is_empty() {
        body.insert("diagnostics".to_owned(), diagnostics.into());
    }
    let left_out: Map<String, Value> =
        checkout.left_out.named().map(|(list, count)| (list.to_owned(), count.into())).collect();
    if !left_out.is_empty() {
        body.insert("left_out".to_owned(), left_out.into());
    }
    body.into()
}

fn quality(quality: &Quality) -> Value {
    let action = quality.required_action.as_ref().map(|action| match action {
        Action::Refresh { query, reason } => {
            json!({"tool": "memory_checkout", "query": query, "reason": reason})
        }
        Action::Ask { reason } => json!({"reason": reason}),
    });
    let mut body = json!({
        "answerability": quality.answerability.as_str(),
        "confidence": quality.confidence,
        "reasons": quality.reasons,
        "required_action": action,
    });
    if let (Some(why), Some(body)) = (&quality.why_not, body.as_object_mut()) {
        let rounded = |score: f64| (score * 100.0).round() / 100.0;
        let why = json!({
            "candidates": why.candidates,
            "best_score": rounded(why.best_score),
            "floor": rounded(why.floor),
        });
        body.insert("why_not".to_owned(), why);
    }
    body
}

fn fact(fact: &CurrentFact) -> Value {
    json!({
        "content": fact.content,
        "at": day(fact.at),
        "citation": fact.citation,
        "source_lane": fact.lane.as_str(),
    })
}

fn standing(one: &StandingLine) -> Value {
    json!({"text": one.text, "at": day(one.at), "actor": one.author, "citation": one.citation})
}

fn work(item: &WorkItem) -> Value {
    json!({
        "category": item.category.as_str(),
        "summary": item.summary,
        "at": day(item.at),
        "citation": item.citation,
    })
}

fn evidence(line: &EvidenceLine) -> Value {
    let EvidenceLine { citation, at, author, quote } = line;
    json!({"citation": citation, "at": day(*at), "actor": author, "quote": quote})
}

/// Counts, where there is something to count.
fn diagnostics(checkout: &Checkout) -> Map<String, Value> {
    let mut body = Map::new();
    let shown = &checkout.shown;
    if !shown.facts.is_empty() {
        body.insert("current_fact_count".to_owned(), shown.facts.len().into());
        body.insert("current_citation_count".to_owned(), checkout.cited_facts().into());
        body.insert("citation_count".to_owned(), checkout.citations().len().into());
        body.insert("feedback_tool".to_owned(), FEEDBACK_TOOL.into());
    }
    if shown.superseded > 0 {
        body.insert("superseded_contexts_excluded".to_owned(), shown.superseded.into());
    }
    body
}
