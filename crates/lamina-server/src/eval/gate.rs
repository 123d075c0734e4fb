//! Measures what is shown to whom: every role has a scope of its own, a request to delete is a forget in all of them, and
//! each checkpoint is asked in the scope of the role that asks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::ask::Server;
use super::sets::gatemem::{Checkpoint, Episode, EpisodeTurn};

/// Turns of one bulk write.
const BATCH: usize = 200;
/// Events that one request to delete reaches in one scope.
const FORGOTTEN_MAX: usize = 3;

/// The result of one checkpoint.
#[derive(Debug, Clone)]
struct GateOutcome {
    kind: String,
    question: String,
    /// Words that must not be shown are in the answer, or in the pack.
    is_exposed: bool,
    /// Every word that has to be shown is there; nothing if none has to be.
    is_useful: Option<bool>,
    is_answered: bool,
}

/// The results of all episodes.
#[derive(Debug, Default)]
pub(super) struct GateReport {
    outcomes: Vec<GateOutcome>,
    forgotten: usize,
}

impl GateReport {
    /// Plays one episode and asks its checkpoints.
    pub(super) async fn add(
        &mut self,
        server: &Server,
        number: usize,
        episode: &Episode,
    ) -> anyhow::Result<()> {
        let scope = |role: &str| format!("ws:eval_gatemem_{number}_{role}");
        let roles: BTreeSet<&str> = episode.turns.iter().map(|turn| turn.role.as_str()).collect();
        let mut waiting: Vec<Value> = Vec::new();
        for (place, turn) in episode.turns.iter().enumerate() {
            waiting.push(envelope(&scope(&turn.role), place, turn));
            let asked = episode.checkpoints.get(&place);
            let deletes = turn.asks_to_delete();
            if asked.is_none() && !deletes && waiting.len() < BATCH {
                continue;
            }
            let items = std::mem::take(&mut waiting);
            server
                .post("/v1/experience/bulk?wait=consolidated", &json!({"items": items}), None)
                .await?;
            if deletes {
                for role in &roles {
                    self.forgotten += forget(server, &scope(role), &turn.text).await?;
                }
            }
            for checkpoint in asked.into_iter().flatten() {
                let outcome = ask(server, &scope(&checkpoint.role), checkpoint).await;
                self.outcomes.push(outcome.with_context(|| checkpoint.question.clone())?);
            }
        }
        Ok(())
    }

    /// One line per checkpoint.
    pub(super) fn lines(&self) -> String {
        let mut lines = String::new();
        for one in &self.outcomes {
            let line = json!({
                "kind": one.kind, "question": one.question, "exposed": one.is_exposed,
                "useful": one.is_useful, "answered": one.is_answered,
            });
            let _ = writeln!(lines, "{line}");
        }
        lines
    }

    /// A table with a row for each kind of checkpoint.
    pub(super) fn table(&self) -> String {
        let mut text = format!("gatemem: {} checkpoints\n", self.outcomes.len());
        let _ = writeln!(
            text,
            "  {:<16}{:>5} {:>9} {:>10} {:>10}",
            "kind", "n", "exposed", "useful", "answered"
        );
        let mut rows: BTreeMap<&str, Vec<&GateOutcome>> = BTreeMap::new();
        for one in &self.outcomes {
            rows.entry(&one.kind).or_default().push(one);
        }
        for (kind, outcomes) in rows {
            let exposed = outcomes.iter().filter(|one| one.is_exposed).count();
            let answered = outcomes.iter().filter(|one| one.is_answered).count();
            let asked: Vec<bool> = outcomes.iter().filter_map(|one| one.is_useful).collect();
            let useful = asked.iter().filter(|useful| **useful).count();
            let useful = format!("{useful}/{}", asked.len());
            let _ = writeln!(
                text,
                "  {kind:<16}{:>5} {exposed:>9} {useful:>10} {answered:>10}",
                outcomes.len()
            );
        }
        let _ = writeln!(text, "  events forgotten by requests to delete {:>5}", self.forgotten);
        text
    }
}

/// Forgets what a request to delete speaks of in a scope, with the request itself.
async fn forget(server: &Server, scope: &str, request: &str) -> anyhow::Result<usize> {
    let limits = json!({"per_layer_limits": {"events": FORGOTTEN_MAX}});
    let body = json!({"scope": scope, "query": request, "view": "raw", "budgets": limits});
    let pack = server.post("/v1/recall", &body, None).await?;
    let events = pack.pointer("/layers/events").and_then(Value::as_array);
    let is_found = |event: &&Value| event.get("below_floor") != Some(&Value::Bool(true));
    let ids: Vec<&str> = events
        .into_iter()
        .flatten()
        .filter(is_found)
        .filter_map(|event| event.get("id").and_then(Value::as_str))
        .collect();
    if ids.is_empty() {
        return Ok(0);
    }
    let body = json!({
        "scope": scope, "selector": {"memory_ids": ids}, "cascade": "redact_events",
        "reason": "a request to delete",
    });
    server.post("/v1/forget", &body, None).await?;
    Ok(ids.len())
}

async fn ask(server: &Server, scope: &str, asked: &Checkpoint) -> anyhow::Result<GateOutcome> {
    let body = json!({"scope": scope, "question": asked.question, "include_context": true});
    let answered = server.post("/v1/answer", &body, Some(&asked.actor)).await?;
    let told = |field: &str| answered.get(field).and_then(Value::as_str).unwrap_or_default();
    let shown = format!("{}\n{}", told("answer"), told("context_block")).to_lowercase();
    let shows = |words: &String| shown.contains(&words.to_lowercase());
    Ok(GateOutcome {
        kind: asked.kind.clone(),
        question: asked.question.clone(),
        is_exposed: asked.excludes.iter().any(shows),
        is_useful: (!asked.includes.is_empty()).then(|| asked.includes.iter().all(shows)),
        is_answered: answered.get("answered").and_then(Value::as_bool).unwrap_or_default(),
    })
}

fn envelope(scope: &str, place: usize, turn: &EpisodeTurn) -> Value {
    json!({
        "scope": scope,
        "modality": "conversation",
        "observed_actor": {"id": turn.actor},
        "subject": {"id": turn.actor},
        "content": {"kind": "message", "role": "user", "text": turn.text},
        "context": {"observed_at": turn.at},
        "idempotency_key": format!("eval:{scope}:{place}"),
    })
}
