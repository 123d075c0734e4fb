//! The audit log, from outside: what rows say, and that every write has one.

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{string, unique_key};
use crate::tokens::{Signed, Team};

fn envelope(text: &str) -> Value {
    json!({
        "scope": "user:alice",
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": text},
        "context": {"observed_at": "2026-05-13T15:42:00Z"},
        "idempotency_key": unique_key(),
    })
}

fn upload(kind: &str, bytes: &str) -> Request {
    Request::new("POST", "/v1/blobs").header("Content-Type", kind).bytes(bytes)
}

fn form(bytes: &str) -> String {
    format!(
        "--edge\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n{bytes}\r\n--edge--\r\n"
    )
}

/// The newest row of an endpoint.
fn newest(caller: &mut Signed, endpoint: &str) -> Value {
    let rows = caller.get("/v1/audit?limit=100").ok(200);
    let rows = rows["items"].as_array().unwrap().clone();
    let row = rows.into_iter().find(|row| row["endpoint"] == endpoint);
    row.unwrap_or_else(|| panic!("no row of {endpoint}"))
}

fn verifies(caller: &mut Signed, row: &Value, body: &str) -> Value {
    let request = json!({"audit_id": row["id"], "body": body});
    caller.post("/v1/audit/verify", &request).ok(200)["match"].clone()
}

/// R390: a body that goes to disk piece by piece is hashed like any other.
#[test]
fn r390_uploads_leave_the_hash_of_their_body() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let long = "x".repeat(3 << 20);
    for (kind, body) in [
        ("text/plain", "some words".to_owned()),
        ("text/plain", long.clone()),
        ("multipart/form-data; boundary=edge", form("some words")),
    ] {
        let made = alice.send(upload(kind, &body)).made();
        let row = newest(&mut alice, "POST /v1/blobs");
        assert_eq!(row["request"]["body_bytes"], body.len(), "{kind}");
        assert_eq!((&row["actor"], &row["response_status"]), (&json!("user:alice"), &json!(201)));
        if body.len() < 1 << 20 {
            assert_eq!(verifies(&mut alice, &row, &body), json!(true), "{kind}");
        }
        assert_eq!(verifies(&mut alice, &row, "other words"), json!(false));
        let id = string(&made, "blob_id");
        alice.send(Request::new("DELETE", &format!("/v1/blobs/{id}"))).ok(200);
        assert_eq!(newest(&mut alice, "DELETE /v1/blobs/{blob_id}")["actor"], "user:alice");
    }
    let chain = alice.post("/v1/audit/chain/verify", &json!({})).ok(200);
    assert_eq!(chain["valid"], true);
}

/// R393, R435: the size of a body goes, its hash stays.
#[test]
fn r393_r435_a_tenant_may_keep_sizes_out_of_its_rows() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let size = |caller: &mut Signed| {
        caller.post("/v1/experience", &envelope("hello")).ok(202);
        let row = newest(caller, "POST /v1/experience");
        assert!(row["request"]["body_hash"].as_str().unwrap().starts_with("sha256:"));
        row["request"].get("body_bytes").is_some_and(Value::is_number)
    };
    assert!(size(&mut alice), "kept unless somebody says otherwise");
    let set = |caller: &mut Signed, value: bool| {
        let body = json!({"defaults": {"audit.store_body_bytes": value}});
        let put = Request::new("PUT", "/v1/policy/tenant/acme").json(&body);
        caller.send(put).ok(200);
    };
    set(&mut alice, false);
    assert!(!size(&mut alice));
    let mut other = team.caller("other", "user:alice");
    assert!(size(&mut other), "a tenant speaks for itself");
    set(&mut alice, true);
    assert!(size(&mut alice));
}

/// R314, R315: whoever cancelled is in the row that the answer names.
#[test]
fn r315_a_cancellation_is_answered_with_the_id_of_its_row() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let written = alice.post("/v1/experience?wait=settled", &envelope("hello")).ok(200);
    let id = string(&written, "event_id");
    let path = format!("/v1/lifecycle/memory-event/{id}/cancel");
    let cancelled = alice.post(&path, &json!({"audit_note": "a mistake"})).ok(200);
    let row = alice.get(&format!("/v1/audit/{}", string(&cancelled, "audit_id"))).ok(200);
    assert_eq!(row["endpoint"], "POST /v1/lifecycle/memory-event/{event_id}/cancel");
    assert_eq!((&row["actor"], &row["event_id"]), (&json!("user:alice"), &json!(id)));
    assert!(!row.to_string().contains("mistake"), "no words of a body");
}

/// No acknowledged write is without its row, whenever the process dies.
#[test]
fn rows_of_acknowledged_writes_survive_a_crash() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let first = string(&alice.post("/v1/experience", &envelope("one")).ok(202), "event_id");
    let path = format!("/v1/lifecycle/memory-event/{first}/cancel");
    let cancelled = string(&alice.post(&path, &json!({})).ok(200), "audit_id");
    let blob = string(&alice.send(upload("text/plain", "bytes")).made(), "blob_id");
    alice.send(Request::new("DELETE", &format!("/v1/blobs/{blob}"))).ok(200);
    let last = string(&alice.post("/v1/experience", &envelope("two")).ok(202), "event_id");
    let team = team.crash();
    let mut alice = team.caller("acme", "user:alice");
    let rows = alice.get("/v1/audit?limit=100").ok(200);
    let rows = rows["items"].as_array().unwrap();
    let of = |event: &str| rows.iter().filter(|row| row["event_id"] == event).count();
    assert_eq!((of(&first), of(&last)), (2, 1), "the write, its cancellation, and the last write");
    let cancel = alice.get(&format!("/v1/audit/{cancelled}")).ok(200);
    assert_eq!(
        (&cancel["actor"], &cancel["capability"]),
        (&json!("user:alice"), &json!("scope.write"))
    );
    let uploads = rows.iter().filter(|row| row["capability"] == "blob.upload").count();
    assert_eq!(uploads, 2, "the upload and its removal");
    assert!(rows.iter().all(|row| row["actor"] == "user:alice"));
}

/// A row that does not bear the id its entry carries would be missed, and made again beside it.
#[test]
fn no_call_has_two_rows() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let first = string(&alice.post("/v1/experience", &envelope("one")).ok(202), "event_id");
    alice.post("/v1/experience", &envelope("one")).ok(202);
    let items = json!({"items": [envelope("two"), envelope("three")]});
    alice.post("/v1/experience/bulk", &items).ok(202);
    alice.post("/v1/experience/bulk", &items).ok(202);
    let path = format!("/v1/lifecycle/memory-event/{first}/cancel");
    alice.post(&path, &json!({})).ok(200);
    let blob = string(&alice.send(upload("text/plain", "bytes")).made(), "blob_id");
    alice.send(Request::new("DELETE", &format!("/v1/blobs/{blob}"))).ok(200);
    let members = json!([{"actor": "user:alice", "role": "owner"}]);
    let scope = json!({"path": "ws:rows", "members": members});
    alice.post("/v1/scopes", &scope).made();
    let put = |path: &str, body: &Value| Request::new("PUT", path).json(body);
    alice.send(put("/v1/scopes/members?path=ws:rows", &json!({"members": members}))).ok(200);
    let deny = json!({"deny": ["llm.invoke"]});
    alice.send(put("/v1/policy/scope?path=ws:rows", &deny)).ok(200);
    let removed = alice.send(Request::new("DELETE", "/v1/scopes?path=ws:rows"));
    assert_eq!(removed.response.status, 204);
    let calls = 11;
    // A stop that is in order makes every row again that is still awaited.
    let team = team.restart();
    let mut alice = team.caller("acme", "user:alice");
    let rows = alice.get("/v1/audit?limit=100").ok(200);
    let rows = rows["items"].as_array().unwrap();
    let without: Vec<&Value> = rows.iter().filter(|row| row["endpoint"] == "").collect();
    assert!(without.is_empty(), "made again: {without:?}");
    assert_eq!(rows.len(), calls);
}

/// R301: where calls are audited in full, the row of a read is on disk before its answer is sent.
#[test]
fn r301_a_scope_audited_in_full_loses_no_row_of_a_read() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let wrong = json!({"path": "ws:vault", "policies": {"audit": "sometimes"}});
    alice.post("/v1/scopes", &wrong).fails_at(422, "INVALID_BODY", "policies.audit");
    let vault = json!({"path": "ws:vault", "policies": {"audit": "full"}});
    alice.post("/v1/scopes", &vault).ok(201);
    let mut asked = Vec::new();
    for target in ["/v1/events?scope=ws:vault", "/v1/facts?scope=ws:vault/user:alice"] {
        let answer = alice.get(target);
        asked.push(answer.header("x-cortex-request-id").unwrap().to_owned());
        answer.ok(200);
    }
    let refused = bob.get("/v1/events?scope=ws:vault");
    asked.push(refused.header("x-cortex-request-id").unwrap().to_owned());
    refused.fails(403, "NOT_A_MEMBER");
    // At once: elsewhere rows wait for about a second to be written.
    let team = team.crash();
    let rows = team.caller("acme", "user:alice").get("/v1/audit?limit=100").ok(200);
    for id in asked {
        let found =
            rows["items"].as_array().unwrap().iter().any(|row| row["request_id"] == id.as_str());
        assert!(found, "{id} left no row: {rows}");
    }
}

/// R394: rows are found by their words, by who may see them, and are in no recall.
#[test]
fn r394_rows_are_found_by_their_words_and_never_recalled() {
    let team = Team::start("cloud_shared_saas");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let known =
        string(&alice.post("/v1/experience?wait=settled", &envelope("hello")).ok(200), "event_id");
    let mut other = envelope("hello");
    other["scope"] = json!("user:bob");
    bob.post("/v1/experience", &other).ok(202);
    let marked =
        Request::get("/v1/events?scope=user:alice").header("User-Agent", "zebra-crawler/7");
    alice.send(marked).ok(200);
    let found = |caller: &mut Signed, words: &str| -> Vec<Value> {
        let page = caller.get(&format!("/v1/audit?limit=100&q={words}")).ok(200);
        page["items"].as_array().unwrap().clone()
    };
    let of_agent = found(&mut alice, "ZEBRA%20crawl");
    assert_eq!(of_agent.len(), 1, "{of_agent:?}");
    assert_eq!(of_agent[0]["endpoint"], "GET /v1/events");
    assert_eq!(found(&mut alice, &known).len(), 1, "the write");
    assert!(found(&mut alice, "crawler%20experience").is_empty(), "all words are asked for");
    let writes = found(&mut alice, "experience");
    assert!(writes.iter().all(|row| row["actor"] == "user:alice"), "{writes:?}");
    assert_eq!(writes.len(), 1, "{writes:?}");
    // Nobody finds by words what they may not see.
    assert!(found(&mut bob, "zebra").is_empty() && found(&mut bob, &known).is_empty());
    assert!(found(&mut team.caller("other", "user:alice"), "zebra").is_empty());
    for (bad, code) in [("%20", "INVALID_PARAMETER"), (":", "INVALID_PARAMETER")] {
        alice.get(&format!("/v1/audit?q={bad}")).fails(422, code);
    }
    let body = json!({"scope": "user:alice", "query": "zebra crawler", "view": "raw"});
    let pack = alice.post("/v1/recall", &body).ok(200);
    assert!(!pack["layers"].to_string().contains("zebra"), "{pack}");
}
