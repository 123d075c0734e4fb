//! A deployment with a policy of its own, from a file.

use std::path::{Path, PathBuf};

use lamina_auth::Minter;
use lamina_env::disk::write_atomic;
use lamina_env::{Disk as _, RealDisk, SystemRng};
use lamina_sim::client::Request;
use lamina_sim::process;
use serde_json::json;

use crate::harness::{binary, data, directory, envelope, unique_key};
use crate::identity::until_logged;
use crate::tokens::{Team, trust};

const POLICY: &str = "# Nobody exports, nobody forgets.
allow:
  - \"*\"
deny: [export.*, forget.*, scope.write.elevated]
defaults:
  allowed_scope_types: [verify]
  rate_limit.read: 77/m
";

fn put(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("policy.yaml");
    write_atomic(&RealDisk, &path, text.as_bytes()).unwrap();
    path
}

#[test]
fn r180_a_policy_file_is_a_deployment_of_its_own() {
    let folder = directory();
    let path = put(folder.path(), POLICY);
    let path = path.to_str().unwrap();
    // Each of the ways to name it.
    let ways: [&[(&str, &str)]; 3] = [
        &[("LAMINA_POLICY", path), ("LAMINA_PRESET", "custom")],
        &[("LAMINA_POLICY", path), ("LAMINA_PRESET", "")],
        &[("CORTEX_DEPLOYMENT_PRESET", path), ("LAMINA_PRESET", "")],
    ];
    for way in ways {
        let team = Team::start_with("custom", way);
        let mut alice = team.caller("acme", "user:alice");
        let me = alice.get("/v1/auth/whoami").ok(200);
        assert_eq!(me["deployment_preset"], "custom");
        let effective = alice.get("/v1/policy/effective").ok(200);
        assert_eq!(effective["rate_limits"]["read"], "77/m");
        assert_eq!(effective["capabilities"]["forget.gdpr"]["decision"], "deny");
        assert_eq!(effective["capabilities"]["forget.gdpr"]["decided_by_tier"], "deployment");
        assert_eq!(effective["capabilities"]["scope.write"]["decision"], "allow");
        let rates = alice.get("/v1/auth/whoami");
        assert_eq!(rates.header("x-ratelimit-limit"), Some("77"));
        let shown = alice.get("/v1/policy/deployment").ok(200);
        assert_eq!(shown["deny"], json!(["export.*", "forget.*", "scope.write.elevated"]));
        assert_eq!(shown["defaults"]["audit.retention"], "P1Y");
        let mut client = team.own.server.client();
        let unsigned = client.send(&lamina_sim::client::Request::get("/v1/auth/whoami")).unwrap();
        assert_eq!(unsigned.status, 401, "tokens are needed");
    }
}

#[test]
fn r180_a_denial_names_the_deployment() {
    let folder = directory();
    let path = put(folder.path(), "allow: [\"*\"]\ndeny: [scope.write]\n");
    let team = Team::start_with("custom", &[("LAMINA_POLICY", path.to_str().unwrap())]);
    let body = json!({
        "scope": "user:alice",
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": "x"},
        "context": {"observed_at": "2026-05-13T15:42:00Z"},
        "idempotency_key": unique_key(),
    });
    let mut alice = team.caller("acme", "user:alice");
    let denied = alice.post("/v1/experience", &body).fails(403, "POLICY_DENIED");
    let details = &denied["details"];
    assert_eq!(
        (&details["denied_by_tier"], &details["deployment_preset"]),
        (&json!("deployment"), &json!("custom"))
    );
}

#[test]
fn r180_a_bad_file_stops_the_start_and_says_where() {
    let folder = directory();
    let home = data(folder.path());
    let minter = Minter::generate("https://issuer.test", &SystemRng).unwrap();
    let keys = trust(&folder.path().join("keys.json"), &minter);
    let run = |command: &str, arguments: &[&str]| {
        let mut all = vec![command, "--data", home.to_str().unwrap()];
        all.extend_from_slice(arguments);
        let output = process::run(&binary(), &all).unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    let bad = put(folder.path(), "allow:\n  - \"*\"\ndeny:\n  - forget.gpdr\n");
    let (path, keys) = (bad.to_str().unwrap(), keys.to_str().unwrap());
    let expected =
        format!("{path}:4:5: `forget.gpdr` matches no capability; did you mean `forget.gdpr`?");
    for command in ["serve", "config"] {
        let (code, text) = run(command, &["--policy", path, "--trust", keys]);
        assert_eq!(code, Some(64), "{text}");
        assert!(text.contains(&expected), "{text}");
    }
    put(folder.path(), POLICY);
    let (code, text) = run("config", &["--policy", path]);
    assert_eq!(code, Some(0), "{text}");
    let line = text.lines().find(|line| line.starts_with("policy.file")).unwrap();
    assert!(line.contains(path) && line.ends_with("flag --policy"), "{line}");
    assert!(
        text.lines().any(|line| line.starts_with("preset ") && line.contains("custom")),
        "{text}"
    );
    for (arguments, expected) in [
        (&["--policy", path, "--preset", "cloud_private"][..], "leave `preset` out"),
        (&["--preset", "custom"], "`policy.file` is not"),
        (&["--policy", "/nowhere.yaml"], "/nowhere.yaml cannot be read"),
        (&["--policy", path], "no issuer is trusted"),
    ] {
        let (code, text) = run("serve", arguments);
        assert_eq!(code, Some(64), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
    assert!(!RealDisk.exists(&home), "nothing was made");
}

/// `SIGHUP` reads the file again; one that cannot be used changes nothing and says where it is wrong.
#[test]
fn sighup_reads_the_policy_again_and_a_bad_file_changes_nothing() {
    let folder = directory();
    let path = put(folder.path(), "allow: [\"*\"]\ndeny: [scope.write]\n");
    let environment = [
        ("LAMINA_POLICY", path.to_str().unwrap()),
        ("LAMINA_AUTH_OPERATORS", "acme/user:root"),
        ("CORTEX_ENABLE_EXPERIMENTAL", "1"),
    ];
    let team = Team::start_with("custom", &environment);
    let server = &team.own.server;
    let mut alice = team.caller("acme", "user:alice");
    let body = || envelope("user:alice", "hello");
    alice.post("/v1/experience", &body()).fails(403, "POLICY_DENIED");
    put(folder.path(), "allow: [\"*\"]\ndeny: [blob.upload]\n");
    server.hang_up().unwrap();
    until_logged(server, "the policy file was read again", 1);
    alice.post("/v1/experience", &body()).ok(202);
    let shown = alice.get("/v1/policy/deployment").ok(200);
    assert_eq!(shown["deny"], json!(["blob.upload"]));
    for (bad, why) in [
        ("allow: [\"*\"]\ndeny: [no.such]\n", "policy.yaml:2:8: `no.such` matches no capability"),
        ("allow: []\n", "policy.yaml:1:"),
        ("{", "policy.yaml:1:"),
    ] {
        let times = server.logged().matches("the policy was not changed").count();
        put(folder.path(), bad);
        server.hang_up().unwrap();
        until_logged(server, "the policy was not changed", times + 1);
        assert!(server.logged().contains(why), "{}", server.logged());
        alice.post("/v1/experience", &body()).ok(202);
    }
    let metrics = team.caller("acme", "user:root").get("/v1/admin/metrics");
    let text = metrics.response.text();
    for line in ["outcome=\"ok\"} 1", "outcome=\"failed\"} 3"] {
        let line = format!("lamina_reloads_total{{what=\"policy\",{line}");
        assert!(text.contains(&line), "{text}");
    }
    // What was put over HTTP stays in force, whatever the file says.
    let put_policy = json!({"allow": ["*"], "deny": ["scope.read.local"]});
    let request = Request::new("PUT", "/v1/policy/deployment").json(&put_policy);
    team.caller("acme", "user:root").send(request).ok(200);
    put(folder.path(), "allow: [\"*\"]\n");
    server.hang_up().unwrap();
    until_logged(server, "the policy file was read again", 2);
    alice.get("/v1/events?scope=user:alice").fails(403, "POLICY_DENIED");
}
