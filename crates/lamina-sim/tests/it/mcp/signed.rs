//! `POST /mcp` and `lamina mcp` where tokens are needed.

use lamina_sim::client::Response;
use serde_json::{Value, json};

use super::stdio::AgentClient;
use super::{Http, project};
use crate::harness::directory;
use crate::tokens::Team;

fn caller(team: &Team, actor: &str, project: &str) -> Http {
    let token = team.mint(&team.claims("acme", actor));
    Http::new(team.own.server.client(), project).header("Authorization", &format!("Bearer {token}"))
}

fn list(http: &mut Http) -> Response {
    http.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
}

#[test]
fn m5_presets_with_tokens_check_the_origin_and_the_host() {
    let team = Team::start_with(
        "on_prem_enterprise",
        &[
            ("LAMINA_HTTP_HOSTS", "memory.example.com"),
            ("LAMINA_HTTP_CORS_ORIGINS", "https://console.example.com"),
        ],
    );
    let with = |headers: &[(&str, &str)]| {
        let http = caller(&team, "user:bob", "p");
        let mut http = headers.iter().fold(http, |http, (name, value)| http.header(name, value));
        let response = list(&mut http);
        (response.status, response.json().unwrap())
    };
    assert_eq!(with(&[]).0, 200);
    for (origin, status) in [
        ("https://console.example.com", 200),
        ("https://evil.example", 403),
        ("null", 403),
        (&format!("http://{}", team.own.server.address()), 200),
    ] {
        let (answered, body) = with(&[("Origin", origin)]);
        assert_eq!(answered, status, "{origin}: {body}");
        if status == 403 {
            assert_eq!(body["error"]["code"], -32_000, "{body}");
            assert_eq!(body["error"]["data"]["error_code"], "POLICY_DENIED", "{body}");
            let told = body["error"]["data"]["remediation"].as_str().unwrap();
            assert!(told.contains("http.cors_origins"), "{body}");
        }
    }
    for (host, status) in [
        ("memory.example.com", 200),
        ("MEMORY.example.com:8443", 200),
        ("127.0.0.1:9", 200),
        ("evil.example", 403),
    ] {
        let (answered, body) = with(&[("Host", host)]);
        assert_eq!(answered, status, "{host}: {body}");
    }
    // Without a list every name is served, as behind a proxy that has many.
    let open = Team::start("on_prem_enterprise");
    let mut http = caller(&open, "user:bob", "p").header("Host", "any.example");
    assert_eq!(list(&mut http).status, 200);
}

#[test]
fn m9_calls_with_tokens_are_authenticated_limited_denied_and_audited() {
    let limited = ("LAMINA_LIMITS_RATE_WRITE", "4/h");
    let team = Team::start_with("on_prem_enterprise", &[limited]);
    let project = project();
    let mut nobody = Http::new(team.own.server.client(), &project);
    let refused = list(&mut nobody);
    assert_eq!(refused.status, 401);
    assert!(refused.json().unwrap()["error"]["data"]["error_code"].is_string());
    // The first write makes its caller the owner of the project: others neither read nor write there.
    let mut bob = caller(&team, "user:bob", &project);
    let written = bob.call("memory_append", json!({"text": "Maria works at Northwind."}));
    assert_eq!(written["isError"], false, "{written}");
    let citation = written["structuredContent"]["citation"].clone();
    let mut eve = caller(&team, "user:eve", &project);
    for (tool, arguments) in [
        ("memory_append", json!({"text": "Mine."})),
        ("memory_checkout", json!({"query": "Where does Maria work?"})),
        ("memory_why", json!({"id": citation})),
        ("memory_feedback", json!({"citation": citation, "feedback": "irrelevant"})),
        ("memory_forget", json!({"about": "Maria"})),
    ] {
        let denied = eve.call(tool, arguments);
        assert_eq!(denied["isError"], true, "{tool}: {denied}");
        assert!(!denied.to_string().contains("Northwind"), "{tool}: {denied}");
    }
    let denied = eve.call("memory_append", json!({"text": "Mine."}));
    let told = denied["content"][0]["text"].as_str().unwrap();
    assert!(told.contains("scope.write") || told.contains("member"), "{told}");
    for uri in [format!("lamina://session/{project}-default/log"), "lamina://brief".to_owned()] {
        let read = eve.ask("resources/read", json!({"uri": uri}));
        assert!(!read.to_string().contains("Northwind"), "{read}");
    }
    let completion = json!({
        "ref": {"type": "ref/prompt", "name": "recall"},
        "argument": {"name": "session_id", "value": ""},
    });
    let completed = eve.ask("completion/complete", completion);
    assert!(!completed.to_string().contains(&format!("{project}-default")), "{completed}");
    // A denial of the deployment names tier and capability.
    let mut claims = team.claims("acme", "user:carol");
    claims.caps = Some(["scope.read.local".to_owned()].into());
    let token = team.mint(&claims);
    let mut carol = Http::new(team.own.server.client(), &project)
        .header("Authorization", &format!("Bearer {token}"));
    let denied = carol.call("memory_append", json!({"text": "Mine."}));
    let told = denied["content"][0]["text"].as_str().unwrap();
    assert!(told.contains("scope.write"), "{told}");
    assert!(
        ["token", "deployment policy", "scope policy"].iter().any(|word| told.contains(word)),
        "{told}"
    );
    // One write is done; registering takes none, feedback and forgetting count too.
    let mut statuses = Vec::new();
    for turn in 0..5 {
        let append =
            json!({"name": "memory_append", "arguments": {"text": format!("Turn {turn}.")}});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": append});
        statuses.push(bob.send(&message).status);
    }
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    assert!(statuses.starts_with(&[200]), "{statuses:?}");
    let rows = team.caller("acme", "user:alice").get("/v1/audit?limit=100").ok(200);
    let rows = rows["items"].as_array().unwrap().clone();
    let of = |actor: &str, tool: &str| {
        rows.iter().any(|row| {
            row["endpoint"] == format!("POST /mcp {tool}") && row.to_string().contains(actor)
        })
    };
    assert!(of("user:bob", "memory_append"), "{rows:?}");
    assert!(of("user:eve", "memory_checkout"), "{rows:?}");
    assert!(!Value::from(rows.clone()).to_string().contains("Northwind"));
}

#[test]
fn m16_url_with_a_token_file_reaches_a_server_elsewhere() {
    let team = Team::start("on_prem_enterprise");
    let directory = directory();
    let file = directory.path().join("token");
    let token = team.mint(&team.claims("acme", "user:bob"));
    lamina_env::disk::write_atomic(&lamina_env::RealDisk, &file, token.as_bytes()).unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = AgentClient::command(directory.path());
    command.arg("--url").arg(format!("http://{}", team.own.server.address()));
    command.arg("--token-file").arg(&file).args(["--project", &project()]);
    let mut client = AgentClient::spawn(&mut command);
    super::versions::every_tool_works(&mut client);
    assert_eq!(client.end().0, Some(0));
    // The token is nowhere on the command line.
    let mut command = AgentClient::command(directory.path());
    command.arg("--url").arg(format!("http://{}", team.own.server.address()));
    command.env_remove("LAMINA_TOKEN").args(["--project", "p"]);
    let mut client = AgentClient::spawn(&mut command);
    let refused = client.append("No token.");
    assert!(refused["error"]["message"].is_string(), "{refused}");
    assert_eq!(client.end().0, Some(0));
}
