//! What one tenant could learn of another, place by place. The fuzzing client that looks for the
//! places nobody thought of is `lamina_sim::isolation`.

use lamina_sim::client::{Next, Request};
use lamina_sim::isolation;
use serde_json::{Value, json};

use crate::harness::{A_MOMENT, binary, envelope, expect_event};
use crate::tokens::Team;

const OPERATOR: &[(&str, &str)] = &[("LAMINA_AUTH_OPERATORS", "acme/user:root")];

/// A few of the hundred thousand requests that `lamina-sim isolation` makes, always the same ones.
const REQUESTS: u64 = 2_000;
const SEED: u64 = 7;

#[test]
fn nothing_that_one_tenant_asks_tells_of_another() {
    let summary = isolation::compare(&binary(), REQUESTS, SEED).unwrap();
    assert_eq!(summary.requests, REQUESTS);
    for status in [200, 201, 202, 403, 404, 405, 409, 422] {
        let count = summary.statuses.get(&status).copied().unwrap_or_default();
        assert!(count > 0, "nothing was answered with {status}: {summary:?}");
    }
}

#[test]
fn a_stream_does_not_tell_of_the_policies_of_other_tenants() {
    let team = Team::start("on_prem_enterprise");
    let mut ours = team.caller("acme", "user:alice");
    let mut theirs = team.caller("other", "user:alice");
    let put = |tenant: &str, deny: &str| {
        let target = format!("/v1/policy/tenant/{tenant}");
        Request::new("PUT", &target).json(&json!({"deny": [deny]}))
    };
    let mut stream = ours.stream(Request::get("/v1/lifecycle/stream?scope=user:alice"));
    for deny in ["blob.upload", "forget.gdpr", "import.*"] {
        theirs.send(put("other", deny)).ok(200);
    }
    match stream.next_within(A_MOMENT).unwrap() {
        Next::Event(event) => panic!("told of another tenant's policy: {event:?}"),
        Next::Quiet => {}
        Next::Closed => panic!("the stream ended"),
    }
    ours.send(put("acme", "blob.upload")).ok(200);
    let first = expect_event(&mut stream);
    assert_eq!(first.event, "policy_changed");
    let version =
        |data: &str| serde_json::from_str::<Value>(data).unwrap()["seq"].as_u64().unwrap();
    // The number counts the tenant's own entries: hundreds of another's leave it where it is.
    for _ in 0..20 {
        theirs.post("/v1/experience", &envelope("user:alice", "x")).ok(202);
    }
    ours.send(put("acme", "forget.gdpr")).ok(200);
    let second = expect_event(&mut stream);
    assert_eq!(second.event, "policy_changed");
    let grown = version(&second.data) - version(&first.data);
    assert_eq!(grown, 1, "one policy was set in between, by this tenant");
}

/// C21: how much is written, whoever writes it, is for those who run the deployment.
#[test]
fn c21_numbers_of_the_deployment_are_for_its_operators() {
    let team = Team::start_with("on_prem_enterprise", OPERATOR);
    let mut root = team.caller("acme", "user:root");
    let mut alice = team.caller("other", "user:alice");
    let mut nobody = team.own.server.client();
    root.post("/v1/experience", &envelope("user:root", "x")).ok(202);
    let log = |body: &Value| body["checks"]["log"].clone();
    for target in ["/v1/admin/health", "/v1/admin/ready", "/v1/ready"] {
        assert!(log(&root.get(target).ok(200))["values"]["batches"].is_u64(), "{target}");
        let shown = alice.get(target).ok(200);
        assert_eq!(log(&shown)["status"], "healthy", "{target}: the parts are named");
        assert_eq!(log(&shown).get("values"), None, "{target}: without their numbers");
    }
    let ready = nobody.send(&Request::get("/v1/ready")).unwrap().json().unwrap();
    assert_eq!(log(&ready).get("values"), None);
    assert!(root.get("/v1/admin/metrics").response.text().contains("cortex_experience_total"));
    let metrics = alice.get("/v1/admin/metrics").response.text();
    assert!(metrics.contains("\nlamina_healthy 1\n"), "{metrics}");
    let series = metrics.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    assert_eq!(series.count(), 1, "{metrics}");
    let metrics = alice.get("/v1/admin/metrics?format=json").ok(200);
    assert_eq!(metrics["metrics"].as_array().unwrap().len(), 1, "{metrics}");
}
