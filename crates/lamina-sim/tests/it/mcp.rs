//! The Model Context Protocol from outside: over HTTP, over the socket, and on standard input and output of
//! `lamina mcp`. Names cite the requirements M1 to M80.

pub(crate) mod stdio;
mod processes;
mod protocol;
mod signed;
mod under_way;
mod versions;
mod crashes;

use lamina_sim::client::{Client, Request, Response};
use serde_json::{Value, json};

use crate::harness::{Own, unique_scope};

/// A caller of `POST /mcp`.
pub(super) struct Http {
    client: Client,
    target: String,
    headers: Vec<(String, String)>,
}

impl Http {
    pub(super) fn new(client: Client, project: &str) -> Http {
        Http { client, target: format!("/mcp?project={project}"), headers: Vec::new() }
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Http {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn send(&mut self, message: &Value) -> Response {
        let request = Request::post(&self.target, message);
        let request =
            self.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        self.client.send(&request).unwrap()
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let response =
            self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        response.json().unwrap()
    }

    /// The result of a call of a tool.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }
}

/// A project that no other test writes to.
pub(super) fn project() -> String {
    unique_scope("mcp").rsplit_once(':').unwrap().1.to_owned()
}

fn modern(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
    })
}

#[test]
fn m1_m3_legacy_versions_are_served_without_sessions() {
    let own = Own::start();
    let mut http = Http::new(own.server.client(), &project());
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let answer =
            http.ask("initialize", json!({"protocolVersion": version, "capabilities": {}}));
        assert_eq!(answer["result"]["protocolVersion"], version);
        let mut versioned =
            Http::new(own.server.client(), "p").header("MCP-Protocol-Version", version);
        let listed = versioned.ask("tools/list", json!({}));
        assert!(listed["result"]["tools"].is_array(), "{listed}");
        assert!(listed["result"].get("resultType").is_none(), "{listed}");
    }
    let started = http.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25"}}));
    assert!(started.header("mcp-session-id").is_none());
    let told = http.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!((told.status, told.text().as_str()), (202, ""));
    // Gemini CLI sends no version after `initialize`.
    assert!(http.ask("tools/list", json!({}))["result"]["tools"].is_array());
    for method in ["GET", "DELETE"] {
        let refused = own.server.client().send(&Request::new(method, "/mcp")).unwrap();
        assert_eq!((refused.status, refused.header("allow")), (405, Some("POST")));
    }
}

#[test]
fn m2_modern_requests_are_checked() {
    let own = Own::start();
    let ask = |headers: &[(&str, &str)], method: &str, params: Value| {
        let http = Http::new(own.server.client(), "p");
        let mut http = headers.iter().fold(http, |http, (name, value)| http.header(name, value));
        let response =
            http.send(&json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params}));
        let answer = response.json().unwrap();
        assert_eq!(answer["id"], "a");
        (response.status, answer)
    };
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let meta = json!({"_meta": modern("2026-07-28")});
    let (status, answer) =
        ask(&[version, ("Mcp-Method", "server/discover")], "server/discover", meta.clone());
    assert_eq!(status, 200);
    let result = &answer["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "private");
    assert!(result["ttlMs"].is_u64());
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "lamina");
    let code = |(status, answer): (u16, Value)| (status, answer["error"]["code"].as_i64().unwrap());
    let discover = [version, ("Mcp-Method", "server/discover")];
    assert_eq!(code(ask(&discover, "server/discover", json!({}))), (400, -32_602));
    assert_eq!(code(ask(&[version], "server/discover", meta.clone())), (400, -32_020));
    let other = [("MCP-Protocol-Version", "2027-01-01"), ("Mcp-Method", "server/discover")];
    let (status, answer) = ask(&other, "server/discover", json!({"_meta": modern("2027-01-01")}));
    assert_eq!((status, &answer["error"]["data"]["requested"]), (400, &json!("2027-01-01")));
    assert_eq!(answer["error"]["data"]["supported"], json!(["2026-07-28"]));
    let ping = [version, ("Mcp-Method", "ping")];
    assert_eq!(code(ask(&ping, "ping", meta)), (404, -32_601));
}

#[test]
fn m5_requests_of_foreign_pages_are_refused_as_json_rpc() {
    let own = Own::start();
    let mut http = Http::new(own.server.client(), "p").header("Origin", "https://evil.example");
    let response = http.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(response.status, 403);
    let error = &response.json().unwrap()["error"];
    assert_eq!(error["data"]["error_code"], "POLICY_DENIED");
}

#[test]
fn m9_m19_calls_are_audited_by_tool_and_written_by_the_agent() {
    let own = Own::start();
    let project = project();
    let mut http = Http::new(own.server.client(), &project);
    let params = json!({
        "name": "memory_append",
        "arguments": {"text": "Acme moved to 200 seats."},
        "_meta": {"lamina/workspace": {"client": "Claude Code", "conversation": "c-17"}},
    });
    let result = http.ask("tools/call", params)["result"].clone();
    let structured = &result["structuredContent"];
    let scope = format!("project:{project}/session:{project}-default");
    assert_eq!(structured["scope"], scope);
    let text = result["content"][0]["text"].as_str().unwrap();
    for value in ["event_id", "citation", "scope", "session_id"] {
        assert!(text.contains(structured[value].as_str().unwrap()), "{value}: {text}");
    }
    let mut api = own.api("mcp");
    let event = api.event(structured["event_id"].as_str().unwrap());
    assert_eq!(event["observed_actor"]["id"], "agent:claude-code");
    assert_eq!(event["observed_actor"]["session"], "c-17");
    assert_eq!(event["content"]["text"], "Acme moved to 200 seats.");
    let rows = api.get("/v1/audit?limit=50").ok(200);
    let rows = rows["items"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["endpoint"] == "POST /mcp memory_append"), "{rows:?}");
}

#[test]
fn m18_m20_sessions_stay_apart_and_citations_are_taken_back() {
    let own = Own::start();
    let mut http = Http::new(own.server.client(), &project());
    let first = http.call("memory_append", json!({"text": "One.", "session_id": "a.b"}));
    let other = http.call("memory_append", json!({"text": "Two.", "session_id": "a_2Eb"}));
    let scope = |result: &Value| result["structuredContent"]["scope"].as_str().unwrap().to_owned();
    assert_ne!(scope(&first), scope(&other));
    let citation = first["structuredContent"]["citation"].as_str().unwrap();
    let thread = citation.strip_prefix("eventloom://").unwrap().split("/events/").next().unwrap();
    assert!(!thread.contains('/'), "{citation}");
    assert!(citation.contains("/events/1#"), "{citation}");
    let why = http.call("memory_why", json!({"id": citation}));
    assert_eq!(why["structuredContent"]["events"][0]["words"], "One.");
    assert!(why["content"][0]["text"].as_str().unwrap().contains("One."));
    let rated = http.call("memory_feedback", json!({"citation": citation, "feedback": "used"}));
    assert_eq!(rated["structuredContent"]["rated"][0], first["structuredContent"]["event_id"]);
    let bad = http.call("memory_append", json!({"text": "x", "session_id": "a/b"}));
    assert_eq!(bad["isError"], true);
}

#[test]
fn m27_mistakes_are_results_and_unknown_tools_are_errors() {
    let own = Own::start();
    let mut http = Http::new(own.server.client(), &project());
    for (tool, arguments, says) in [
        ("memory_append", json!({}), "`text` is missing"),
        ("memory_append", json!({"txt": "x"}), "`txt` is not known"),
        ("memory_append", json!({"payload": {}}), "`event_type` is missing"),
        ("memory_append", json!({"text": "x", "actor": "no good"}), "`actor`"),
        ("memory_feedback", json!({"citation": "x"}), "`feedback` is required"),
        ("memory_feedback", json!({"citation": "x", "feedback": "used"}), "`citation`"),
        ("memory_why", json!({"id": "fact_00000000000000000000000000000000"}), "there is no fact"),
        ("memory_forget", json!({}), "`about` or `ids` is missing"),
    ] {
        let result = http.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(says), "{tool} {arguments}: {text}");
        assert!(result.get("structuredContent").is_none());
    }
    let unknown = http.ask("tools/call", json!({"name": "memory_nope", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32_602);
    let malformed = http.ask("tools/call", json!({"name": "memory_append", "arguments": []}));
    assert_eq!(malformed["error"]["code"], -32_602);
}

#[test]
fn m42_forget_takes_no_more_than_was_previewed() {
    let own = Own::start();
    let mut http = Http::new(own.server.client(), &project());
    let first = http.call("memory_append", json!({"text": "The launch code is 4711."}));
    let id = first["structuredContent"]["event_id"].clone();
    let about = json!({"ids": [id]});
    let preview = http.call("memory_forget", about.clone());
    let preview = &preview["structuredContent"];
    assert_eq!((&preview["forgotten"], &preview["counts"]["events"]), (&json!(false), &json!(1)));
    let confirm = preview["preview_id"].clone();
    let second = http.call("memory_append", json!({"text": "The dog is called Rex."}));
    let second = second["structuredContent"]["event_id"].clone();
    let more = http.call("memory_forget", json!({"ids": [id, second], "confirm": confirm}));
    assert_eq!(more["isError"], true, "{more}");
    let other = http.call("memory_forget", json!({"ids": [second], "confirm": confirm}));
    assert_eq!(other["isError"], true, "{other}");
    let done = http.call("memory_forget", json!({"ids": [id], "confirm": confirm}));
    assert_eq!(done["structuredContent"]["forgotten"], true, "{done}");
    assert_eq!(done["structuredContent"]["counts"]["events"], 1, "{done}");
    let why = http.call("memory_why", json!({"id": second}));
    assert_eq!(why["structuredContent"]["events"][0]["words"], "The dog is called Rex.");
    let gone = http.call("memory_why", json!({"id": id}));
    assert!(!gone.to_string().contains("4711"), "{gone}");
}
