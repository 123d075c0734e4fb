//! Who may have a session: readers of the scope with the capability of the format; nobody else learns anything.

use serde_json::json;

use crate::harness::{envelope, string};
use crate::tokens::Team;

const TENANT: &str = "acme";

#[test]
fn session_is_for_those_who_may_read_the_scope() {
    let team = Team::start("on_prem_enterprise");
    let [mut nora, mut mallory] = ["user:nora", "user:mallory"].map(|who| team.caller(TENANT, who));
    let mut stranger = team.caller("other", "user:nora");
    nora.post("/v1/experience?wait=settled", &envelope("user:nora", "obsidian")).ok(200);
    for format in ["zaxy", "eventloom"] {
        let body = json!({"scope": "user:nora", "format": format});
        let job = nora.post("/v1/export", &body).ok(202);
        assert!(string(&job, "data").contains("obsidian"));
        let refused = mallory.post("/v1/export", &body).response;
        assert_eq!(refused.status, 403, "{}", refused.text());
        for other in [&mut mallory, &mut stranger] {
            let id = string(&job, "export_id");
            for target in [format!("/v1/export/{id}"), format!("/v1/export/{id}/data")] {
                let refused = other.get(&target);
                assert!(!refused.response.text().contains("obsidian"));
                refused.fails(404, "NOT_FOUND");
            }
        }
    }
}

#[test]
fn capability_of_the_format_is_its_own() {
    let team = Team::start("on_prem_enterprise");
    let mut nora = team.caller(TENANT, "user:nora");
    nora.post("/v1/experience?wait=settled", &envelope("user:nora", "hello")).ok(200);
    let mut claims = team.claims(TENANT, "user:nora");
    let caps = ["scope.read.local", "export.format.zaxy"];
    claims.caps = Some(caps.map(str::to_owned).into());
    let mut narrow = team.with(&claims);
    let body = |format: &str| json!({"scope": "user:nora", "format": format});
    narrow.post("/v1/export", &body("zaxy")).ok(202);
    let denied = narrow.post("/v1/export", &body("eventloom")).fails(403, "POLICY_DENIED");
    assert_eq!(denied["details"]["capability"], "export.format.eventloom");
    // The key of the server signs for those who may export, and only what they may read.
    let signed = json!({"scope": "user:mallory", "format": "zaxy", "sign": true});
    assert_eq!(narrow.post("/v1/export", &signed).response.status, 422);
}

#[test]
fn facts_of_scopes_below_stay_where_they_are() {
    let team = Team::start("on_prem_enterprise");
    let mut nora = team.caller(TENANT, "user:nora");
    nora.post("/v1/experience?wait=settled", &envelope("user:nora", "Ada works at Initech."))
        .ok(200);
    let below = "user:nora/project:vault";
    nora.post("/v1/experience?wait=settled", &envelope(below, "Bo works at Obsidian.")).ok(200);
    let body = json!({"scope": "user:nora", "format": "zaxy"});
    let data = string(&nora.post("/v1/export", &body).ok(202), "data");
    assert!(data.contains("Initech") && !data.contains("Obsidian"), "{data}");
}
