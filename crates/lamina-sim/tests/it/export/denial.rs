//! Who may have an export: its caller, the owner of the scope and administrators; and a grant that is gone
//! stops it.

use lamina_sim::client::Request;
use serde_json::json;

use crate::harness::{envelope, string};
use crate::tokens::Team;

const TENANT: &str = "acme";

#[test]
fn export_is_for_its_caller_the_owner_and_administrators() {
    let team = Team::start("on_prem_enterprise");
    let [mut nora, mut mallory] = ["user:nora", "user:mallory"].map(|who| team.caller(TENANT, who));
    let mut admin = team.caller(TENANT, "user:alice");
    let mut stranger = team.caller("other", "user:alice");
    nora.post("/v1/experience?wait=settled", &envelope("user:nora", "obsidian")).ok(200);
    let job = nora.post("/v1/export", &json!({"scope": "user:nora"})).ok(202);
    let id = string(&job, "export_id");
    for target in [format!("/v1/export/{id}"), format!("/v1/export/{id}/data")] {
        assert_eq!(nora.get(&target).response.status, 200, "{target}");
        for other in [&mut mallory, &mut stranger] {
            let refused = other.get(&target);
            assert!(!refused.response.text().contains("obsidian"));
            refused.fails(404, "NOT_FOUND");
        }
    }
    // An administrator may look at the job, and has its bytes only where they may read.
    admin.get(&format!("/v1/export/{id}")).ok(200);
    // Nobody else exports the scope.
    for view in ["local", "descend"] {
        let body = json!({"scope": "user:nora", "view": view});
        let refused = mallory.post("/v1/export", &body).response;
        assert_eq!(refused.status, 403, "{}", refused.text());
    }
}

#[test]
fn scopes_below_that_may_not_be_read_are_left_out_silently() {
    let team = Team::start("on_prem_enterprise");
    let [mut nora, mut mallory] = ["user:nora", "user:mallory"].map(|who| team.caller(TENANT, who));
    mallory.post("/v1/experience?wait=settled", &envelope("ws:team", "shared words")).ok(200);
    let closed = "ws:team/project:vault";
    nora.post("/v1/scopes", &json!({"path": closed})).ok(201);
    let members = json!({"members": [{"actor": "user:nora", "role": "owner"}]});
    let request = Request::new("PUT", &format!("/v1/scopes/members?path={closed}"));
    nora.send(request.json(&members)).ok(200);
    nora.post("/v1/experience?wait=settled", &envelope(closed, "obsidian")).ok(200);
    let body = json!({"scope": "ws:team", "view": "descend", "layers": ["events", "facts"]});
    let job = mallory.post("/v1/export", &body).ok(202);
    let data = string(&job, "data");
    assert!(data.contains("shared words") && !data.contains("obsidian"), "{data}");
    assert!(!data.contains("vault"), "not even its name: {data}");
}

#[test]
fn capability_of_the_format_is_asked_before_anything_else() {
    let team = Team::start("on_prem_enterprise");
    let mut nora = team.caller(TENANT, "user:nora");
    nora.post("/v1/experience?wait=settled", &envelope("user:nora", "hello")).ok(200);
    let mut claims = team.claims(TENANT, "user:nora");
    let caps = ["scope.read.local", "export.format.jsonl"];
    claims.caps = Some(caps.map(str::to_owned).into());
    let mut narrow = team.with(&claims);
    let job = narrow.post("/v1/export", &json!({"scope": "user:nora"})).ok(202);
    for format in ["mem0", "zep", "letta"] {
        let body = json!({"scope": "user:nora", "format": format});
        let denied = narrow.post("/v1/export", &body).fails(403, "POLICY_DENIED");
        assert_eq!(denied["details"]["capability"], format!("export.format.{format}"));
        // C22: Letta has a capability like the others.
        let own = nora.post("/v1/export", &body).ok(202);
        let id = string(&own, "export_id");
        for target in [format!("/v1/export/{id}"), format!("/v1/export/{id}/data")] {
            let denied = narrow.get(&target).fails(403, "POLICY_DENIED");
            assert_eq!(denied["details"]["capability"], format!("export.format.{format}"));
        }
    }
    let id = string(&job, "export_id");
    narrow.get(&format!("/v1/export/{id}")).ok(200);
}

/// Permission to read is asked when bytes are made, not when the job was.
#[test]
fn grant_that_is_gone_stops_the_export() {
    let team = Team::start("on_prem_enterprise");
    let [mut nora, mut bob] = ["user:nora", "user:bob"].map(|who| team.caller(TENANT, who));
    let place = "ws:shared";
    nora.post("/v1/scopes", &json!({"path": place})).ok(201);
    let set = |members: serde_json::Value| {
        Request::new("PUT", "/v1/scopes/members?path=ws:shared").json(&json!({"members": members}))
    };
    let owner = json!({"actor": "user:nora", "role": "owner"});
    let reader = json!({"actor": "user:bob", "role": "reader"});
    nora.send(set(json!([owner, reader]))).ok(200);
    nora.post("/v1/experience?wait=settled", &envelope(place, "obsidian")).ok(200);
    let job = bob.post("/v1/export", &json!({"scope": place})).ok(202);
    let url = string(&job, "data_url");
    assert!(bob.get(&url).response.text().contains("obsidian"));
    nora.send(set(json!([owner]))).ok(200);
    let refused = bob.get(&url).response;
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert!(!refused.text().contains("obsidian"));
    // The owner of the scope may look at what was exported of it.
    nora.get(&format!("/v1/export/{}", string(&job, "export_id"))).ok(200);
}

/// At most a hundred jobs of one caller are remembered; the oldest make room, and only their own.
#[test]
fn exports_of_one_caller_make_room_for_their_own_alone() {
    const EXPORTS_PER_CALLER_MAX: usize = 100;
    let team = Team::start("on_prem_enterprise");
    let [mut nora, mut bob] = ["user:nora", "user:bob"].map(|who| team.caller(TENANT, who));
    for (caller, scope) in [(&mut nora, "user:nora"), (&mut bob, "user:bob")] {
        caller.post("/v1/experience?wait=settled", &envelope(scope, "hello")).ok(200);
    }
    let kept = bob.post("/v1/export", &json!({"scope": "user:bob"})).ok(202);
    let jobs: Vec<String> = (0..=EXPORTS_PER_CALLER_MAX)
        .map(|_| nora.post("/v1/export", &json!({"scope": "user:nora"})).ok(202))
        .map(|job| string(&job, "export_id"))
        .collect();
    nora.get(&format!("/v1/export/{}", jobs[0])).fails(404, "NOT_FOUND");
    nora.get(&format!("/v1/export/{}", jobs[1])).ok(200);
    bob.get(&format!("/v1/export/{}", string(&kept, "export_id"))).ok(200);
}
