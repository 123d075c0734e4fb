//! Remote clients: whom a token lets in, and that a caller of one session reaches no other, tool by tool.

use lamina_env::RealDisk;
use lamina_env::disk::write_atomic;
use lamina_sim::client::{Next, Request};
use serde_json::{Value, json};

use super::TOOLS;
use crate::harness::{A_MOMENT, Own, directory};
use crate::mcp::Http;
use crate::provider::{Key, Provider, Says, SessionBearer, key_set};

const TOKEN: &str = "a-token-of-thirty-two-characters";
const ADMIN_TOKEN: &str = "an-admin-token-of-the-operator";
const ISS: &str = "https://id.test";
/// Words that only the first session holds.
const WORDS: &str = "zanzibar";

/// Arguments of every tool of the profile, and of the slim tools that take ids.
fn calls(session: Option<&str>, event: &Value) -> Vec<(&'static str, Value)> {
    let citation = event["citation"].clone();
    let id = event["event_id"].clone();
    let mut calls = vec![
        ("memory_checkout", json!({"query": WORDS})),
        (
            "memory_append",
            json!({"event_type": "note.taken", "actor": "u", "payload": {"note": "mine"}}),
        ),
        ("memory_query", json!({"query": WORDS})),
        ("context_assemble", json!({"query": WORDS})),
        ("memory_feedback", json!({"entity_name": "x", "entity_type": "y", "feedback": "used"})),
        ("memory_capabilities", json!({})),
        ("memory_verbatim", json!({"query": WORDS})),
        ("memory_export", json!({})),
        ("memory_skill", json!({"action": "applied", "skill_id": "s"})),
        ("memory_bootstrap", json!({})),
        ("context_after_turn", json!({"role": "user", "content": "What do you know?"})),
    ];
    if let Some(session) = session {
        for (_, arguments) in &mut calls {
            arguments["session_id"] = json!(session);
        }
        let subagent = json!({"parent_session_id": session, "subagent_session_id": "s9",
            "summary": "x"});
        calls.push(("subagent_cleanup", subagent));
        calls.push(("memory_query", json!({"query": WORDS, "session_ids": [session]})));
        calls.push((
            "memory_append",
            json!({"event_type": "note.taken", "actor": "u",
            "payload": {}, "thread": session}),
        ));
        calls.push(("memory_replay", json!({"session_id": session})));
    } else {
        let cited = json!({"entity_name": "x", "entity_type": "y", "feedback": "used",
            "citation": citation});
        calls.push(("memory_feedback", cited));
        calls.push(("memory_why", json!({"id": id})));
        calls.push(("memory_why", json!({"id": citation})));
        calls.push(("memory_forget", json!({"ids": [id]})));
        calls.push((
            "memory_invalidate",
            json!({"entity_name": WORDS, "entity_type": "memory", "invalid_at": "2030-01-01"}),
        ));
    }
    calls
}

/// Tries every tool against the first session.
fn assert_apart(other: &mut Http, session: Option<&str>, event: &Value) {
    let mut tried = std::collections::BTreeSet::new();
    for (tool, arguments) in calls(session, event) {
        tried.insert(tool);
        let answer = other.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result.to_string();
        // A question comes back in its answer; what the session holds does not.
        assert!(!text.contains("lighthouse"), "{tool} {arguments}: {answer}");
        if session.is_some() {
            assert_eq!(result["isError"], true, "{tool} {arguments}: {answer}");
            let told = result["content"][0]["text"].as_str().unwrap();
            assert!(told.starts_with("POLICY_DENIED"), "{tool} {arguments}: {told}");
        }
    }
    if session.is_some() {
        let left: Vec<&str> = TOOLS.into_iter().filter(|tool| !tried.contains(tool)).collect();
        // It takes no session: it works on the one of the token.
        assert_eq!(left, ["memory_invalidate"]);
    }
}

fn note(http: &mut Http) -> Value {
    let event = json!({"event_type": "observation.recorded", "actor": "u",
        "payload": {"observation": format!("The {WORDS} lighthouse is green.")}});
    let result = http.call("memory_append", event);
    assert_eq!(result["isError"], false, "{result}");
    result["structuredContent"].clone()
}

fn secret(directory: &std::path::Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    write_atomic(&RealDisk, &path, text.as_bytes()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn remote(own: &Own, token: &str, session: &str) -> Http {
    Http::new(own.server.client(), "&profile=zaxy")
        .header("Authorization", &format!("Bearer {token}"))
        .header("x-zaxy-session-id", session)
}

#[test]
fn m58_static_token_binds_every_tool_to_the_session_of_the_header() {
    let folder = directory();
    let file = secret(folder.path(), "token", TOKEN);
    let own = Own::start_with(&[("MCP_REMOTE_AUTH_TOKEN_FILE", &file)]);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut nobody = Http::new(own.server.client(), "&profile=zaxy");
    assert_eq!(nobody.send(&list).status, 401);
    assert_eq!(remote(&own, "another-token-of-the-same-size!!", "s1").send(&list).status, 401);
    let mut nameless =
        Http::new(own.server.client(), "").header("Authorization", &format!("Bearer {TOKEN}"));
    assert_eq!(nameless.send(&list).status, 401);
    let mut first = remote(&own, TOKEN, "s1");
    let event = note(&mut first);
    let citation = event["citation"].as_str().unwrap();
    assert!(citation.contains("user:mcp%2Fsession:s1"), "{citation}");
    let found = first.call("memory_query", json!({"query": WORDS}));
    assert!(found.to_string().contains("lighthouse"), "{found}");
    let mut second = remote(&own, TOKEN, "s2");
    assert_apart(&mut second, Some("s1"), &event);
    assert_apart(&mut second, None, &event);
    // The token opens no route of the HTTP API as anybody: there the caller is whoever they say.
    let rows = own.server.client().send(&Request::get("/v1/audit?limit=100")).unwrap();
    let rows = rows.json().unwrap();
    let denied = |row: &Value| row["response_status"] == 403;
    assert!(rows["items"].as_array().unwrap().iter().any(denied), "{rows}");
}

#[test]
fn m58_claim_of_a_token_binds_it_everywhere_and_tenants_stay_apart() {
    let key = Key::new("k1");
    let provider = Provider::start(Says::Json(key_set(&[&key])));
    let issuers = format!("{ISS}={}", provider.url());
    let own = Own::start_with(&[
        ("LAMINA_PRESET", "on_prem_enterprise"),
        ("LAMINA_AUTH_JWKS", &issuers),
        ("LAMINA_AUTH_OPERATORS", "https://id.test=acme/user:root"),
    ]);
    let token = |tenant, session| {
        key.session_token(ISS, SessionBearer { tenant, sub: "user:alice", session })
    };
    let caller = |tenant, session| {
        Http::new(own.server.client(), "&profile=zaxy")
            .header("Authorization", &format!("Bearer {}", token(tenant, session)))
    };
    let mut first = caller("acme", "s1");
    let event = note(&mut first);
    for (tenant, session) in [("acme", "s2"), ("other", "s2")] {
        let mut second = caller(tenant, session);
        assert_apart(&mut second, Some("s1"), &event);
        assert_apart(&mut second, None, &event);
    }
    // The session of the same name in another tenant is another one.
    assert_apart(&mut caller("other", "s1"), None, &event);
    // The token reaches no further over HTTP.
    let mut client = own.server.client();
    let request = Request::get("/v1/events?scope=user:alice/session:s1");
    let request = request.header("Authorization", format!("Bearer {}", token("acme", "s2")));
    assert_eq!(client.send(&request).unwrap().status, 403);
}

#[test]
fn m58_admin_token_is_asked_for_beside_the_capability() {
    let folder = directory();
    let file = secret(folder.path(), "admin", ADMIN_TOKEN);
    let own = Own::start_with(&[("MCP_ADMIN_TOKEN_FILE", &file)]);
    let mut http = Http::new(own.server.client(), "admin&profile=zaxy");
    note(&mut http);
    let session = "admin-default";
    let close = json!({"entity_name": "x", "entity_type": "y", "invalid_at": "2030-01-01"});
    for (tool, arguments) in [
        ("memory_replay", json!({"session_id": session})),
        ("memory_export", json!({})),
        ("memory_invalidate", close),
    ] {
        for token in [None, Some("an-admin-token-of-the-operatoR")] {
            let mut arguments = arguments.clone();
            if let Some(token) = token {
                arguments["admin_token"] = json!(token);
            }
            let refused = http.call(tool, arguments);
            let text = refused["content"][0]["text"].as_str().unwrap();
            assert!(text.starts_with("POLICY_DENIED: `admin_token`"), "{tool}: {text}");
        }
        let mut arguments = arguments;
        arguments["admin_token"] = json!(ADMIN_TOKEN);
        let answer = http.call(tool, arguments);
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(!text.starts_with("POLICY_DENIED"), "{tool}: {text}");
    }
    // The token is no argument that capture keeps.
    let replay = json!({"session_id": session, "admin_token": ADMIN_TOKEN});
    let replay = http.call("memory_replay", replay);
    assert!(!replay.to_string().contains(ADMIN_TOKEN), "{replay}");
}

#[test]
fn m59_resource_metadata_is_served_and_named_by_a_challenge() {
    let folder = directory();
    let file = secret(folder.path(), "token", TOKEN);
    let own = Own::start_with(&[
        ("MCP_REMOTE_AUTH_TOKEN_FILE", &file),
        ("LAMINA_MCP_RESOURCE", "https://memory.test/mcp"),
        ("LAMINA_MCP_AUTHORIZATION_SERVERS", "https://id.test"),
    ]);
    for path in ["", "/mcp"] {
        let target = format!("/.well-known/oauth-protected-resource{path}");
        let document = own.server.client().send(&Request::get(&target)).unwrap();
        assert_eq!(document.status, 200);
        let document = document.json().unwrap();
        assert_eq!(document["resource"], "https://memory.test/mcp");
        assert_eq!(document["authorization_servers"], json!(["https://id.test"]));
    }
    let mut nobody = Http::new(own.server.client(), "p");
    let refused = nobody.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    let challenge = refused.header("www-authenticate").unwrap().to_owned();
    let wanted = "https://memory.test/.well-known/oauth-protected-resource/mcp";
    assert!(challenge.starts_with("Bearer ") && challenge.contains(wanted), "{challenge}");
    assert!(challenge.contains("scope="), "{challenge}");
}

#[test]
fn m8_m60_stream_answers_messages_of_its_own_caller_only() {
    let own = Own::start_with(&[("LAMINA_MCP_SSE", "true")]);
    let api = own.api("sse");
    let open = Request::get("/sse").header("x-zaxy-session-id", "proj-default");
    let mut stream = api.stream_with(&open);
    let next = |stream: &mut lamina_sim::client::EventStream| match stream.next_within(A_MOMENT) {
        Ok(Next::Event(event)) => event,
        other => panic!("{other:?}"),
    };
    let endpoint = next(&mut stream);
    assert_eq!(endpoint.event, "endpoint");
    assert!(endpoint.data.starts_with("/messages/?session_id="), "{}", endpoint.data);
    let mut client = own.server.client();
    let mut post = |method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = Request::post(&endpoint.data, &message);
        client.send(&request.header("x-zaxy-session-id", "proj-default")).unwrap().status
    };
    assert_eq!(post("tools/list", json!({})), 202);
    let listed: Value = serde_json::from_str(&next(&mut stream).data).unwrap();
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), TOOLS.len());
    let event = json!({"event_type": "note.taken", "actor": "u", "payload": {"n": 1}});
    assert_eq!(post("tools/call", json!({"name": "memory_append", "arguments": event})), 202);
    let written: Value = serde_json::from_str(&next(&mut stream).data).unwrap();
    let citation = written["result"]["structuredContent"]["citation"].as_str().unwrap().to_owned();
    assert!(citation.contains("session:proj-default"), "{citation}");
    // Another actor cannot post to the stream.
    let message = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let foreign = Request::post(&endpoint.data, &message).header("X-Cortex-Actor", "user:mallory");
    assert_eq!(own.server.client().send(&foreign).unwrap().status, 404);
    let nowhere = Request::post("/messages/?session_id=00", &message);
    assert_eq!(own.server.client().send(&nowhere).unwrap().status, 404);
    // Without the switch there is no such path.
    let plain = Own::start();
    assert_eq!(plain.server.client().send(&Request::get("/sse")).unwrap().status, 404);
}
