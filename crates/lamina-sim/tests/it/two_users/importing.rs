//! Acts by importing: rows into scopes of the victim, jobs of the victim.

use serde_json::{Value, json};

use super::act::{Act, Scene, Story, post};
use super::town::KEY;
use crate::harness::envelope;

pub(super) const STORIES: &[Story] = &[
    Story { route: "POST /v1/import", script: import_any },
    Story { route: "POST /v1/import/mem0", script: import_mem0 },
    Story { route: "POST /v1/import/zep", script: import_zep },
    Story { route: "POST /v1/import/letta", script: import_letta },
    Story { route: "POST /v1/import/openai", script: import_openai },
    Story { route: "POST /v1/import/jsonl", script: import_jsonl },
    Story { route: "POST /v1/import/{import_id}/cancel", script: cancel_import },
];

/// Lines that touch the victim, alone and under a target of the one who acts.
fn lines(scene: &Scene<'_>, target: &str) -> Vec<Act> {
    let own = scene.tools.scope.as_str();
    let mut acts = vec![fetched(target, own)];
    // Anybody may write to a scope that nobody closed; these are closed.
    for scope in scene.things.private() {
        let mut said = envelope(scope, "Mallory was here.");
        acts.push(Act::open(post(target, &json!({"lines": [said.clone()]}))));
        acts.push(Act::open(post(target, &json!({"scope": own, "lines": [said.clone()]}))));
        said["scope"] = json!(own);
        said["directives"] = json!({"consolidate_into": scope});
        acts.push(Act::open(post(target, &json!({"scope": own, "lines": [said]}))));
        let named = json!({"name": "x", "idempotency_key": KEY, "scope": scope, "lines": []});
        acts.push(Act::open(post(target, &named)));
    }
    acts
}

/// A source that the server would fetch, with a secret of its configuration.
fn fetched(target: &str, own: &str) -> Act {
    let place = json!({"url": "https://127.0.0.1/export.jsonl", "credentials_ref": "reader"});
    Act::invalid(post(target, &json!({"scope": own, "source": place})))
}

/// Records into scopes of the victim, by name and by template.
fn records(scene: &Scene<'_>, target: &str, rows: &Value) -> Vec<Act> {
    let mut acts = vec![fetched(target, scene.tools.scope.as_str())];
    for scope in scene.things.private() {
        let body = json!({"scope": scope, "rows": rows, "name": "x", "idempotency_key": KEY});
        acts.push(Act::refused(post(target, &body)));
        let template = scope.replace("user:alice", "user:{user_id}");
        acts.push(Act::open(post(target, &json!({"scope_template": template, "rows": rows}))));
    }
    acts
}

fn import_any(scene: &mut Scene<'_>) -> Vec<Act> {
    let mut acts = lines(scene, "/v1/import");
    let csv = json!({"scope_template": "user:{user_id}", "data": "text\nMallory", "format": "csv"});
    acts.push(Act::open(post("/v1/import", &csv)));
    acts
}

fn import_jsonl(scene: &mut Scene<'_>) -> Vec<Act> {
    let mut acts = lines(scene, "/v1/import/jsonl");
    let said = envelope(&scene.things.person, "Mallory was here.");
    let body = json!({"scope_template": "user:{user_id}", "lines": [said]});
    acts.push(Act::open(post("/v1/import/jsonl", &body)));
    acts
}

fn import_mem0(scene: &mut Scene<'_>) -> Vec<Act> {
    let rows = json!([{"id": "1", "memory": "Mallory was here", "user_id": "alice"}]);
    records(scene, "/v1/import/mem0", &rows)
}

fn import_zep(scene: &mut Scene<'_>) -> Vec<Act> {
    let rows = json!([{"uuid": "1", "content": "Mallory was here", "role_type": "user"}]);
    records(scene, "/v1/import/zep", &rows)
}

fn import_letta(scene: &mut Scene<'_>) -> Vec<Act> {
    let rows =
        json!([{"agents": [], "blocks": [{"id": "b", "label": "human", "value": "Mallory"}]}]);
    records(scene, "/v1/import/letta", &rows)
}

fn import_openai(scene: &mut Scene<'_>) -> Vec<Act> {
    let rows = json!([{"memories": [{"id": "1", "text": "Mallory was here"}]}]);
    records(scene, "/v1/import/openai", &rows)
}

fn cancel_import(scene: &mut Scene<'_>) -> Vec<Act> {
    let target = format!("/v1/import/{}/cancel", scene.things.import);
    vec![Act::refused(post(&target, &json!({})))]
}
