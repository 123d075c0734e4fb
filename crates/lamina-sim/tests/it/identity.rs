//! Tokens at the door: who is let in, as whom, and what a token leaves of the policy.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use lamina_env::disk::write_atomic;
use lamina_env::{Env, RealDisk};
use lamina_issuer::Exit;
use lamina_sim::client::{Deadline, Request};
use lamina_sim::process::Server;
use serde_json::{Value, json};

use crate::harness::{Answer, Own, directory, launch, string, unique_key};
use crate::tokens::{Signed, Team};

fn envelope(scope: &str, text: &str) -> Value {
    json!({
        "scope": scope,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": text},
        "context": {"observed_at": "2026-05-13T15:42:00Z"},
        "idempotency_key": unique_key(),
    })
}

fn write(caller: &mut Signed, scope: &str) -> String {
    string(&caller.post("/v1/experience", &envelope(scope, "hello")).ok(202), "event_id")
}

#[test]
fn r123_without_a_token_nothing_is_given() {
    let team = Team::start("on_prem_enterprise");
    let mut client = team.own.server.client();
    for target in ["/v1/events?scope=user:a", "/v1/auth/whoami", "/v1/policy/effective"] {
        let response = client.send(&Request::get(target)).unwrap();
        assert_eq!(response.status, 401, "{target}");
        assert_eq!(response.json().unwrap()["error_code"], "MISSING_TOKEN", "{target}");
    }
    for open in ["/v1/health", "/v1/admin/version", "/v1/openapi.json"] {
        assert_eq!(client.send(&Request::get(open)).unwrap().status, 200, "{open} is open (C21)");
    }
    let health = client.send(&Request::get("/v1/admin/health")).unwrap().json().unwrap();
    assert_eq!(health.get("checks"), None, "details are for those who may see them");
}

#[test]
fn r124_r338_a_token_says_who_calls() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let id = write(&mut alice, "user:alice");
    let event = alice.get(&format!("/v1/events/{id}")).ok(200);
    assert_eq!((&event["caller"], &event["tenant_id"]), (&json!("user:alice"), &json!("acme")));
    let answer = alice.get("/v1/auth/whoami");
    let lives: i64 = answer.header("x-cortex-token-expires-in").unwrap().parse().unwrap();
    assert!((3_500..=3_600).contains(&lives), "{lives}");
    let me = answer.ok(200);
    assert_eq!(me["caller"], "user:alice");
    assert_eq!(me["tenant_id"], "acme");
    assert_eq!(me["deployment_preset"], "on_prem_enterprise");
    assert_eq!(me["token"]["iss"], "https://issuer.test");
    let capabilities: Vec<&str> =
        me["effective_capabilities"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(capabilities.contains(&"scope.write"));
    assert!(!capabilities.contains(&"admin.flush"), "for operators only");
}

#[test]
fn r126_r128_r140_bad_tokens_are_refused() {
    let team = Team::start("on_prem_enterprise");
    let claims = team.claims("acme", "user:alice");
    let refused = |token: &str| {
        let mut caller = team.with(&claims);
        caller.token = token.to_owned();
        let answer = caller.get("/v1/auth/whoami");
        assert_eq!(answer.response.status, 401);
        let error = answer.response.json().unwrap();
        (string(&error, "error_code"), error["details"]["reason"].clone())
    };
    let good = team.mint(&claims);
    let mut other = good.clone();
    other.replace_range(20..21, if &good[20..21] == "A" { "B" } else { "A" });
    assert_eq!(refused(&other).0, "INVALID_TOKEN_SIGNATURE");
    assert_eq!(refused("nonsense"), ("INVALID_TOKEN_SIGNATURE".to_owned(), json!("format")));
    let stranger = Team::start("on_prem_enterprise");
    let (code, reason) = refused(&stranger.mint(&stranger.claims("acme", "user:alice")));
    assert_eq!((code.as_str(), reason), ("INVALID_TOKEN_SIGNATURE", json!("unknown_key")));
    let mut caller = team.with(&claims);
    let answer = caller.send(Request::get("/v1/auth/whoami").header("X-Cortex-Actor", "user:bob"));
    answer.fails(401, "ACTOR_MISMATCH");
    let same = Request::get("/v1/auth/whoami").header("X-Cortex-Actor", "user:alice");
    caller.send(same).ok(200);
}

#[test]
fn r135_r136_a_token_only_narrows() {
    let team = Team::start("on_prem_enterprise");
    let mut claims = team.claims("acme", "user:alice");
    claims.caps = Some(["scope.read.local".to_owned()].into());
    let denied = team.with(&claims).post("/v1/experience", &envelope("user:alice", "x"));
    let denied = denied.fails(403, "POLICY_DENIED");
    assert_eq!(denied["details"]["capability"], "scope.write");
    assert_eq!(denied["details"]["denied_by_tier"], "actor");
    assert_eq!(denied["details"]["deployment_preset"], "on_prem_enterprise");

    let mut claims = team.claims("acme", "user:alice");
    claims.scopes = vec![("scope.write".to_owned(), "org:acme/dept:eng/*".parse().unwrap())];
    let mut caller = team.with(&claims);
    write(&mut caller, "org:acme/dept:eng/user:alice");
    for outside in ["org:acme", "org:acme/dept:eng2", "user:alice"] {
        let denied =
            caller.post("/v1/experience", &envelope(outside, "x")).fails(403, "POLICY_DENIED");
        assert_eq!(denied["details"]["capability"], "scope.write", "{outside}");
    }
}

#[test]
fn tenants_do_not_see_each_other() {
    let team = Team::start("on_prem_enterprise");
    let (mut acme, mut other) = (team.caller("acme", "user:a"), team.caller("other", "user:a"));
    let id = write(&mut acme, "user:a");
    let foreign = other.get(&format!("/v1/events/{id}")).fails(404, "NOT_FOUND");
    let absent = other.get(&format!("/v1/events/evt_{}", "7".repeat(32))).fails(404, "NOT_FOUND");
    assert_eq!(foreign["message"], absent["message"]);
    assert_eq!(other.get("/v1/events?scope=user:a").ok(200)["items"], json!([]));
    assert_eq!(acme.get("/v1/events?scope=user:a").ok(200)["items"][0]["id"], id.as_str());
}

#[test]
fn r182_r195_presets_decide_and_say_so() {
    let team = Team::start("cloud_shared_saas");
    let mut caller = team.caller("acme", "user:alice");
    let effective = caller.get("/v1/policy/effective?scope=user:alice").ok(200);
    let denied: Vec<&str> = effective["denied"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|entry| entry["capability"].as_str())
        .collect();
    for name in ["scope.create.global", "scope.read.cross_tenant", "audit.read.cross_actor"] {
        assert!(denied.contains(&name), "R183: {name} in {denied:?}");
    }
    assert_eq!(effective["rate_limits"], json!({"write": "100/s", "read": "500/s"}));
    assert_eq!(effective["capabilities"]["scope.write"]["decision"], "allow");
    let global =
        caller.post("/v1/experience", &envelope("global:world", "x")).fails(403, "POLICY_DENIED");
    assert_eq!(global["details"]["denied_by_tier"], "deployment");
}

/// What the issuer prints.
fn issuer(command: &str, directory: &Path, more: &[&str]) -> String {
    let words = ["lamina-issuer", command, "--dir", directory.to_str().unwrap()];
    let words = words.iter().chain(more).map(OsString::from);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = lamina_issuer::run(words, &Env::real(), &mut out, &mut err);
    assert_eq!(exit, Exit::Fine, "{}", String::from_utf8_lossy(&err));
    String::from_utf8(out).unwrap()
}

pub(crate) fn until_logged(server: &Server, text: &str, times: usize) {
    let deadline = Deadline::after(Duration::from_secs(60));
    while server.logged().matches(text).count() < times {
        assert!(!deadline.passed(), "{text}:\n{}", server.logged());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The keys of an issuer are rotated under a running server.
#[test]
fn sighup_reads_keys_again_and_a_bad_file_changes_nothing() {
    let folder = directory();
    let (home, keys) = (folder.path().join("issuer"), folder.path().join("keys.json"));
    let publish = || {
        write_atomic(&RealDisk, &keys, issuer("keys", &home, &[]).as_bytes()).unwrap();
    };
    let mint = || {
        let order = ["--sub", "user:alice", "--tenant", "acme"];
        issuer("mint", &home, &order).trim().to_owned()
    };
    issuer("init", &home, &["--iss", "https://issuer.test"]);
    publish();
    let team = [("LAMINA_PRESET", "on_prem_enterprise"), ("LAMINA_TRUST", keys.to_str().unwrap())];
    let server = launch(folder.path(), &team).start().unwrap();
    let ask = |token: &str| {
        let mut caller = Signed { client: server.client(), token: token.to_owned() };
        caller.get("/v1/auth/whoami")
    };
    let old = mint();
    ask(&old).ok(200);
    issuer("rotate", &home, &[]);
    let new = mint();
    ask(&new).fails(401, "INVALID_TOKEN_SIGNATURE");

    let nothing = "the keys of issuers were not changed";
    write_atomic(&RealDisk, &keys, b"{ not keys").unwrap();
    server.hang_up().unwrap();
    until_logged(&server, nothing, 1);
    ask(&old).ok(200);
    ask(&mint()).fails(401, "INVALID_TOKEN_SIGNATURE");

    publish();
    server.hang_up().unwrap();
    until_logged(&server, "the keys of issuers were read again", 1);
    ask(&new).ok(200);
    ask(&old).ok(200);

    // A key that is taken back ends its tokens, also those that were seen before.
    let mut only_new: Value = serde_json::from_str(&issuer("keys", &home, &[])).unwrap();
    only_new["keys"].as_array_mut().unwrap().truncate(1);
    write_atomic(&RealDisk, &keys, only_new.to_string().as_bytes()).unwrap();
    server.hang_up().unwrap();
    until_logged(&server, "the keys of issuers were read again", 2);
    ask(&new).ok(200);
    ask(&old).fails(401, "INVALID_TOKEN_SIGNATURE");
    assert!(server.stop().unwrap().success());
}

/// A stranger pays for guessing; who was let in before is not asked again.
#[test]
fn too_many_bad_tokens_from_an_address_are_refused_unread() {
    let team = Team::start_with("on_prem_enterprise", &[("LAMINA_LIMITS_RATE_BAD_TOKENS", "3/h")]);
    let mut alice = team.caller("acme", "user:alice");
    alice.get("/v1/auth/whoami").ok(200);
    let try_with = |token: &str| -> Answer {
        let mut caller = team.caller("acme", "user:mallory");
        caller.token = token.to_owned();
        caller.get("/v1/auth/whoami")
    };
    // Neither the absence of a token nor an old one is a guess.
    let mut old = team.claims("acme", "user:alice");
    (old.iat, old.exp) = (old.iat.plus(-7_200_000_000), old.exp.plus(-7_200_000_000));
    for _ in 0..5 {
        try_with(&team.mint(&old)).fails(401, "EXPIRED_TOKEN");
        try_with("").fails(401, "MISSING_TOKEN");
    }
    for _ in 0..3 {
        try_with("guess").fails(401, "INVALID_TOKEN_SIGNATURE");
    }
    let refused = try_with("guess");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((3_500..=3_600).contains(&wait), "{wait}");
    let error = refused.fails(429, "RATE_LIMITED");
    assert_eq!(error["details"]["limit"], 3);
    // Also a good one, if it was never seen: which it is, is what a stranger wants to know.
    let fresh = team.mint(&team.claims("acme", "user:bob"));
    try_with(&fresh).fails(429, "RATE_LIMITED");
    alice.get("/v1/auth/whoami").ok(200);
    assert_eq!(team.own.server.client().send(&Request::get("/v1/health")).unwrap().status, 200);
}

/// Behind a proxy everybody has one address.
#[test]
fn the_limit_of_bad_tokens_can_be_switched_off_and_is_not_for_dev_local() {
    let off = [("LAMINA_LIMITS_RATE_BAD_TOKENS", "none")];
    let team = Team::start_with("on_prem_enterprise", &off);
    let mut mallory = team.caller("acme", "user:mallory");
    mallory.token = "guess".to_owned();
    for _ in 0..1_000 {
        mallory.get("/v1/auth/whoami").fails(401, "INVALID_TOKEN_SIGNATURE");
    }
    let own = Own::start_with(&[("LAMINA_LIMITS_RATE_BAD_TOKENS", "1/h")]);
    let mut api = own.api("guesses");
    for _ in 0..5 {
        let guess = Request::get("/v1/auth/whoami").header("Authorization", "Bearer guess");
        api.send(&guess).ok(200);
    }
}
