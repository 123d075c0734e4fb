//! Acts that rule: scopes, members, policies, words of a tenant, tokens, the machine.

use lamina_sim::client::Request;
use serde_json::{Value, json};

use super::act::{Act, Scene, Story, delete, post, put};
use super::town::{KEY, PHRASE, WORDS, phrase};

pub(super) const STORIES: &[Story] = &[
    Story { route: "POST /v1/scopes", script: register_scope },
    Story { route: "DELETE /v1/scopes", script: remove_scope },
    Story { route: "PUT /v1/scopes/members", script: set_members },
    Story { route: "POST /v1/scopes/prune", script: prune },
    Story { route: "PUT /v1/policy/deployment", script: rule_deployment },
    Story { route: "PUT /v1/policy/tenant/{tenant_id}", script: rule_tenant },
    Story { route: "PUT /v1/policy/scope", script: rule_scope },
    Story { route: "PUT /v1/policy/scope/{scope_path}", script: rule_scope_in_path },
    Story { route: "PUT /v1/policy/actor/{actor_id}", script: rule_actor },
    Story { route: "POST /v1/audit/verify", script: verify_audit },
    Story { route: "POST /v1/audit/chain/verify", script: verify_chain },
    Story { route: "POST /v1/vocabularies", script: register_vocabulary },
    Story { route: "PUT /v1/vocabularies/{name}", script: replace_vocabulary },
    Story { route: "PATCH /v1/vocabularies/{name}", script: merge_vocabulary },
    Story { route: "POST /v1/temporal/phrases", script: register_phrase },
    Story { route: "DELETE /v1/temporal/phrases/{name}", script: remove_phrase },
    Story { route: "POST /v1/auth/revoke", script: revoke },
    Story { route: "POST /v1/auth/signup", script: sign_up },
    Story { route: "POST /v1/auth/tokens", script: mint },
    Story { route: "POST /v1/admin/flush-views", script: flush },
    Story { route: "POST /v1/admin/compact", script: compact },
    Story { route: "POST /v1/admin/index-audit", script: audit_index },
    Story { route: "POST /v1/admin/wal/compact", script: compact_log },
];

/// Everything is denied, as far as a document can go.
fn deny_all(left: &str) -> Value {
    json!({"allow": [left], "deny": ["*"], "idempotency_key": KEY})
}

fn takes_over() -> Value {
    json!([{"actor": "user:mallory", "role": "owner"}, {"actor": "user:alice", "role": "reader"}])
}

fn register_scope(scene: &mut Scene<'_>) -> Vec<Act> {
    let things = scene.things;
    let mut acts = Vec::new();
    let below = format!("{}/ws:trap", things.person);
    let agent = format!("{}/agent:new", things.person);
    for scope in things.scopes().into_iter().chain([below.as_str(), agent.as_str()]) {
        for body in [
            json!({"path": scope, "members": takes_over(), "idempotency_key": KEY}),
            json!({"path": scope, "owner": "user:mallory"}),
            json!({"path": scope, "owner": "user:alice"}),
            json!({"path": scope}),
        ] {
            acts.push(Act::refused(post("/v1/scopes", &body)));
        }
    }
    for (index, scope) in things.private().into_iter().enumerate() {
        let path = format!("ws:mallory-heir-{index}");
        let body = json!({"path": path, "policies": {"inherit_from": [scope]}});
        acts.push(Act::invalid(post("/v1/scopes", &body)));
    }
    // A place of one's own with the victim among its owners gives nothing of the victim away.
    let members = json!([
        {"actor": "user:mallory", "role": "owner"}, {"actor": "user:alice", "role": "owner"},
    ]);
    let body = json!({"path": "ws:mallory-club", "members": members});
    acts.push(Act::allowed(post("/v1/scopes", &body)));
    acts
}

fn remove_scope(scene: &mut Scene<'_>) -> Vec<Act> {
    let mut acts = Vec::new();
    for scope in scene.things.scopes() {
        for records in ["", "&records=keep", "&records=forget"] {
            acts.push(Act::refused(delete(&format!("/v1/scopes?path={scope}{records}"))));
        }
    }
    acts
}

fn set_members(scene: &mut Scene<'_>) -> Vec<Act> {
    let things = scene.things;
    let below = format!("{}/agent:new", things.person);
    let scopes = things.scopes().into_iter().chain([below.as_str()]);
    let acts = scopes.map(|scope| {
        let body = json!({"members": takes_over(), "idempotency_key": KEY});
        Act::refused(put(&format!("/v1/scopes/members?path={scope}"), &body))
    });
    acts.collect()
}

fn prune(_: &mut Scene<'_>) -> Vec<Act> {
    let acts = [true, false].map(|dry_run| {
        let body = json!({"older_than": "PT1S", "dry_run": dry_run, "idempotency_key": KEY});
        Act::refused(post("/v1/scopes/prune", &body))
    });
    acts.into()
}

fn rule_deployment(_: &mut Scene<'_>) -> Vec<Act> {
    let bodies = [deny_all("policy.administer.deployment"), json!({"allow": ["*"]})];
    bodies.map(|body| Act::refused(put("/v1/policy/deployment", &body))).into()
}

fn rule_tenant(_: &mut Scene<'_>) -> Vec<Act> {
    let bodies =
        [deny_all("policy.administer.tenant"), json!({}), json!({"deny": ["scope.read.*"]})];
    bodies.map(|body| Act::refused(put("/v1/policy/tenant/acme", &body))).into()
}

fn scope_rules() -> [Value; 2] {
    [deny_all("policy.administer.scope"), json!({"deny": []})]
}

fn rule_scope(scene: &mut Scene<'_>) -> Vec<Act> {
    let below = format!("{}/ws:none", scene.things.person);
    let mut acts = Vec::new();
    for scope in scene.things.scopes().into_iter().chain([below.as_str()]) {
        for body in scope_rules() {
            acts.push(Act::refused(put(&format!("/v1/policy/scope?path={scope}"), &body)));
        }
    }
    acts
}

fn rule_scope_in_path(scene: &mut Scene<'_>) -> Vec<Act> {
    let mut acts = Vec::new();
    for scope in scene.things.scopes() {
        let encoded = crate::harness::encode(scope);
        for body in scope_rules() {
            acts.push(Act::refused(put(&format!("/v1/policy/scope/{encoded}"), &body)));
        }
    }
    acts
}

fn rule_actor(_: &mut Scene<'_>) -> Vec<Act> {
    let mut acts = Vec::new();
    for actor in ["user:alice", "user:root", "user:admin", "service:backend", "agent:helper"] {
        for body in [json!({"deny": ["blob.read"], "idempotency_key": KEY}), json!({})] {
            acts.push(Act::refused(put(&format!("/v1/policy/actor/{actor}"), &body)));
        }
    }
    let own = json!({"deny": ["export.format.zep"]});
    acts.push(Act::allowed(put("/v1/policy/actor/user:mallory", &own)));
    acts
}

fn verify_audit(scene: &mut Scene<'_>) -> Vec<Act> {
    let body = json!({"audit_id": scene.things.audit, "body": "{}"});
    vec![Act::refused(post("/v1/audit/verify", &body))]
}

fn verify_chain(_: &mut Scene<'_>) -> Vec<Act> {
    vec![Act::open(post("/v1/audit/chain/verify", &json!({})))]
}

/// Vocabularies for the whole tenant, for each scope of the victim, and one that redefines a name.
fn vocabularies(scene: &Scene<'_>, name: &str) -> Vec<Value> {
    let term = json!({"id": "works_at", "aliases": ["lives_in", "stashes"], "cardinality": "many"});
    let scopes = scene.things.scopes().map(Some).into_iter().chain([None]);
    let all = scopes.map(
        |scope| json!({"name": name, "scope": scope, "predicates": [term], "idempotency_key": KEY}),
    );
    all.collect()
}

fn register_vocabulary(scene: &mut Scene<'_>) -> Vec<Act> {
    let mut acts = Vec::new();
    for name in [WORDS, "mallory-words"] {
        for body in vocabularies(scene, name) {
            acts.push(Act::refused(post("/v1/vocabularies", &body)));
        }
    }
    // The same name in a scope of one's own is another vocabulary.
    let own = json!({"name": WORDS, "scope": scene.tools.scope, "predicates": [{"id": "owns"}]});
    acts.push(Act::allowed(post("/v1/vocabularies", &own)));
    acts
}

fn change_vocabulary(scene: &Scene<'_>, method: &str) -> Vec<Act> {
    let mut acts = Vec::new();
    for name in [WORDS, "mallory-other-words"] {
        for body in vocabularies(scene, name) {
            let request = Request::new(method, &format!("/v1/vocabularies/{name}"));
            acts.push(Act::refused(request.json(&body)));
        }
    }
    acts
}

fn replace_vocabulary(scene: &mut Scene<'_>) -> Vec<Act> {
    change_vocabulary(scene, "PUT")
}

fn merge_vocabulary(scene: &mut Scene<'_>) -> Vec<Act> {
    change_vocabulary(scene, "PATCH")
}

fn register_phrase(_: &mut Scene<'_>) -> Vec<Act> {
    let mut other = phrase();
    other["name"] = json!("soup");
    other["pattern"] = json!("today");
    other["idempotency_key"] = json!(KEY);
    [phrase(), other].map(|body| Act::refused(post("/v1/temporal/phrases", &body))).into()
}

fn remove_phrase(_: &mut Scene<'_>) -> Vec<Act> {
    vec![Act::refused(delete(&format!("/v1/temporal/phrases/{PHRASE}")))]
}

fn revoke(scene: &mut Scene<'_>) -> Vec<Act> {
    let body = json!({"jti": scene.things.jti, "idempotency_key": KEY});
    vec![Act::refused(post("/v1/auth/revoke", &body))]
}

fn sign_up(_: &mut Scene<'_>) -> Vec<Act> {
    let body = json!({"display_name": "user:alice", "email": "alice@example.org"});
    vec![Act::open(post("/v1/auth/signup", &body))]
}

fn mint(scene: &mut Scene<'_>) -> Vec<Act> {
    let scope = &scene.things.person;
    let bodies = [
        json!({"subject": "user:alice"}),
        json!({"subject": "user:root"}),
        json!({"subject": "user:mallory", "scope": scope}),
        json!({"subject": "user:alice", "scopes": [format!("scope.read.local:{scope}/*")]}),
    ];
    bodies.map(|body| Act::refused(post("/v1/auth/tokens", &body))).into()
}

fn flush(_: &mut Scene<'_>) -> Vec<Act> {
    vec![Act::refused(Request::new("POST", "/v1/admin/flush-views"))]
}

fn compact(_: &mut Scene<'_>) -> Vec<Act> {
    vec![Act::refused(Request::new("POST", "/v1/admin/compact"))]
}

fn audit_index(scene: &mut Scene<'_>) -> Vec<Act> {
    let mut acts = Vec::new();
    for scope in scene.things.private() {
        for repair in [false, true] {
            let body = json!({"scope": scope, "repair": repair, "idempotency_key": KEY});
            acts.push(Act::refused(post("/v1/admin/index-audit", &body)));
        }
    }
    acts.push(Act::open(post("/v1/admin/index-audit", &json!({}))));
    acts
}

fn compact_log(_: &mut Scene<'_>) -> Vec<Act> {
    let body = json!({"dry_run": false, "compaction": "full", "idempotency_key": KEY});
    vec![Act::refused(post("/v1/admin/wal/compact", &body))]
}
