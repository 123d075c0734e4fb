//! The profile `zaxy` from outside: its tools through the real server. Names cite the requirements M43 to M60.

mod remote;
mod samples;
mod sessions;

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::Own;
use crate::mcp::{Http, project};

/// The tools of the profile, in the order of the list.
pub(super) const TOOLS: [&str; 14] = [
    "memory_checkout",
    "memory_append",
    "memory_query",
    "context_assemble",
    "memory_feedback",
    "memory_invalidate",
    "memory_capabilities",
    "memory_verbatim",
    "memory_export",
    "memory_skill",
    "memory_replay",
    "memory_bootstrap",
    "context_after_turn",
    "subagent_cleanup",
];

/// A caller of the profile in a project of its own.
pub(super) struct Zaxy {
    pub(super) http: Http,
    pub(super) project: String,
}

impl Zaxy {
    pub(super) fn new(own: &Own) -> Zaxy {
        Zaxy::in_project(own, &project())
    }

    pub(super) fn in_project(own: &Own, project: &str) -> Zaxy {
        let http = Http::new(own.server.client(), &format!("{project}&profile=zaxy"));
        Zaxy { http, project: project.to_owned() }
    }

    /// The scope of a session.
    pub(super) fn scope(&self, session: &str) -> String {
        format!("project:{}/session:{session}", self.project)
    }

    /// The answer of a tool as the JSON of its text, held against the structure.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.http.call(tool, arguments.clone());
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let told: Value = serde_json::from_str(text).unwrap();
        let structured = &result["structuredContent"];
        match told.is_array() {
            true => assert_eq!(structured, &json!({"results": told}), "{tool}"),
            false => assert_eq!(structured, &told, "{tool}"),
        }
        told
    }

    /// The text of a mistake.
    pub(super) fn mistake(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.http.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    pub(super) fn append(&mut self, kind: &str, payload: Value) -> Value {
        let event = json!({"event_type": kind, "actor": "assistant", "payload": payload});
        self.call("memory_append", event)
    }

    /// The events of a session, without those that calls leave about themselves.
    pub(super) fn said(&mut self, session: &str) -> Vec<Value> {
        let replay = self.call("memory_replay", json!({"session_id": session}));
        assert_eq!(replay["integrity"]["ok"], true, "{replay}");
        let events = replay["events"].as_array().unwrap().clone();
        let is_said = |event: &Value| {
            let kind = event["type"].as_str().unwrap();
            !["tool.", "session.", "memory."].iter().any(|prefix| kind.starts_with(prefix))
        };
        events.into_iter().filter(is_said).collect()
    }
}

fn default_session(zaxy: &Zaxy) -> String {
    format!("{}-default", zaxy.project)
}

#[test]
fn m43_tool_list_of_profile_has_fourteen_tools_in_order() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    let listed = zaxy.http.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS);
    for tool in &tools {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert_eq!(tool["annotations"].as_object().unwrap().len(), 4, "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
    }
    // What is not listed is called all the same, by the schema of its own profile.
    let why = zaxy.http.call("memory_why", json!({}));
    assert_eq!(why["isError"], true);
    let mistake = zaxy.mistake("memory_append", json!({"text": "x"}));
    assert!(mistake.contains("`event_type` is required"), "{mistake}");
}

#[test]
fn m44_append_answers_number_and_seal_and_redacts_before_sealing() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    let goal = zaxy.append("goal.created", json!({"title": "Ship the exporter"}));
    let seq = goal["seq"].as_u64().unwrap();
    let hash = goal["hash"].as_str().unwrap().to_owned();
    assert_eq!(hash.len(), 64);
    let session = default_session(&zaxy);
    let secret = json!({"note": "caf\u{e9}", "api_key": "sk-aaaaaaaaaaaaaaaa", "max_tokens": 200,
        "text": "the key is sk-bbbbbbbbbbbbbbbb."});
    zaxy.append("observation.recorded", secret);
    let events = zaxy.said(&session);
    assert_eq!(events[0]["seq"].as_u64(), Some(seq));
    assert_eq!(events[0]["hash"], hash.as_str());
    assert_eq!(events[0]["payload"]["title"], "Ship the exporter");
    let payload = &events[1]["payload"];
    assert_eq!(payload["api_key"], "[REDACTED]");
    assert_eq!(payload["max_tokens"], 200);
    assert_eq!(payload["text"], "the key is [REDACTED].");
    assert_eq!(events[1]["security"]["sensitivity"], "restricted");
}

#[test]
fn m44_append_refuses_what_would_poison_the_log() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    let event = |kind: &str, payload: Value| json!({"event_type": kind, "actor": "u", "payload": payload, "session_id": "poison"});
    let missing = zaxy.mistake("memory_append", event("skill.proposed", json!({"name": "no id"})));
    assert!(missing.starts_with("INVALID_ARGUMENT") && missing.contains("skill_id"), "{missing}");
    let large = "x".repeat(1 << 20);
    let mistake = zaxy.mistake("memory_append", event("note.taken", json!({"text": large})));
    assert!(mistake.contains("1048576 bytes"), "{mistake}");
    let mistake = zaxy.mistake("memory_append", event(&"a".repeat(251), json!({})));
    assert!(mistake.contains("`event_type`"), "{mistake}");
    let replay = zaxy.call("memory_replay", json!({"session_id": "poison"}));
    assert!(zaxy.said("poison").is_empty(), "{replay}");
    for id in ["../etc", "a/b", &"a".repeat(129)] {
        let mut event = event("goal.created", json!({}));
        event["session_id"] = json!(id);
        let mistake = zaxy.mistake("memory_append", event);
        assert!(mistake.contains("session_id"), "{id}: {mistake}");
    }
}

#[test]
fn m45_query_filters_by_time_on_every_lane_and_pages_stay_while_writes_go_on() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    for number in 0..7 {
        let text = format!("The exporter milestone {number} was reviewed by the harbour team.");
        zaxy.append("observation.recorded", json!({"observation": text}));
    }
    let past = json!({"query": "exporter milestone", "temporal_filter": "2020-01-01T00:00:00Z"});
    assert_eq!(zaxy.call("memory_query", past), json!([]));
    let question = json!({"query": "exporter milestone harbour team", "limit": 3, "paged": true});
    let mut page = zaxy.call("memory_query", question.clone());
    let mut seen = Vec::new();
    let mut pages = 0;
    loop {
        for context in page["contexts"].as_array().unwrap() {
            for member in
                ["content", "source", "score", "valid_from", "citation", "score_explanation"]
            {
                assert!(!context[member].is_null(), "{member}: {context}");
            }
            seen.push(context["citation"].as_str().unwrap().to_owned());
        }
        pages += 1;
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        // A write between two pages changes neither.
        zaxy.append("observation.recorded", json!({"observation": "exporter milestone new"}));
        let mut next = question.clone();
        next["cursor"] = json!(cursor);
        page = zaxy.call("memory_query", next);
        assert_eq!(page["offset"].as_u64().unwrap() as usize, seen.len());
    }
    assert!(pages >= 3, "{pages}: {seen:?}");
    let mut distinct = seen.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!((seen.len(), distinct.len()), (7, 7), "{seen:?}");
    for (arguments, says) in [
        (json!({"query": ""}), "`query` has 0 characters"),
        (json!({"query": "x".repeat(4_097)}), "4097"),
        (json!({"query": "x", "limit": 0}), "`limit`"),
        (json!({"query": "x", "limit": 101}), "`limit`"),
        (json!({"query": "x", "temporal_filter": "soon"}), "`temporal_filter`"),
        (json!({"query": "x", "cursor": "7b7d"}), "`cursor`"),
    ] {
        let mistake = zaxy.mistake("memory_query", arguments.clone());
        assert!(mistake.contains(says), "{arguments}: {mistake}");
    }
    let edge = json!({"query": "x".repeat(4_096), "limit": 100});
    assert!(zaxy.call("memory_query", edge).is_array());
}

const VALVE: &str = "First line.\nThe zephyr valve opens at noon.\n";

#[test]
fn m46_verbatim_finds_words_with_their_sources() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    let turn =
        json!({"role": "user", "content": "Die Br\u{fc}cke bei K\u{f6}nigstein ist gesperrt."});
    zaxy.call("context_after_turn", turn);
    let document = json!({
        "scope": zaxy.scope(&default_session(&zaxy)),
        "modality": "document",
        "content": {"kind": "text", "text": VALVE},
        "source": {"schema_version": 2, "source_id": "docs/valve.md", "modality": "document",
            "content_kind": "text/markdown", "source_fingerprint": crate::source::sha256(VALVE), "fragments": [{"fragment_id": "f1",
                "locator": {"kind": "document", "page": 1}, "byte_range": {"start": 0, "end": VALVE.len()},
                "content_fingerprint": crate::source::sha256(VALVE)}]},
        "context": {"observed_at": "2026-11-01T00:00:00Z"},
        "idempotency_key": "doc-1",
    });
    let written =
        own.server.client().send(&Request::post("/v1/experience?wait=indexed", &document));
    let written = written.unwrap();
    assert!(written.status < 300, "{}", written.text());
    let found = zaxy.call("memory_verbatim", json!({"query": "K\u{f6}nigstein"}));
    assert_eq!(found[0]["source_kind"], "transcript", "{found}");
    assert_eq!(found[0]["content"], "Die Br\u{fc}cke bei K\u{f6}nigstein ist gesperrt.");
    assert_eq!(found[0]["metadata"]["transcript_role"], "user");
    assert!(found[0]["metadata"]["transcript_turn_index"].is_u64(), "{found}");
    assert_eq!(found[0]["citation"].as_str().unwrap().rsplit('#').next().unwrap().len(), 64);
    let found = zaxy.call("memory_verbatim", json!({"query": "zephyr valve", "limit": 3}));
    assert_eq!(found[0]["source_kind"], "document", "{found}");
    assert_eq!(found[0]["metadata"]["source_start_line"], 1);
    assert!(found[0]["metadata"]["source_path"].is_string(), "{found}");
    let other = json!({"query": "zephyr valve", "session_id": "another"});
    assert_eq!(zaxy.call("memory_verbatim", other), json!([]));
}

#[test]
fn m47_feedback_says_what_it_touched_and_deletes_nothing() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    let made = zaxy.append("decision.made", json!({"decision": "Use ed25519 first"}));
    let id = made["event_id"].as_str().unwrap().to_owned();
    let rate = |feedback: &str, more: Value| {
        let mut arguments = json!({"entity_name": "Use ed25519 first", "entity_type": "decision",
            "feedback": feedback});
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        arguments
    };
    let cited = rate("used", json!({"citation": made["citation"], "importance": 0.9}));
    let used = zaxy.call("memory_feedback", cited);
    assert_eq!(used["event_type"], "memory.reinforced");
    assert!(used["resolved"].as_array().unwrap().contains(&json!(id)), "{used}");
    let unhelpful =
        zaxy.call("memory_feedback", rate("irrelevant", json!({"reason": "off topic"})));
    assert_eq!(unhelpful["event_type"], "memory.feedback");
    assert!(unhelpful["resolved"].as_array().unwrap().contains(&json!(id)), "{unhelpful}");
    let session = default_session(&zaxy);
    assert_eq!(zaxy.said(&session)[0]["payload"]["decision"], "Use ed25519 first");
    for more in [json!({"importance": 2}), json!({"citation": "eventloom://x/events/1#abc"})] {
        zaxy.mistake("memory_feedback", rate("used", more));
    }
}

#[test]
fn m50_invalidation_closes_facts_and_decisions_and_survives_a_restart() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    zaxy.append("decision.made", json!({"decision": "Use ed25519 first"}));
    let turn = json!({"role": "user", "content": "Ada works at Quillfeather."});
    zaxy.call("context_after_turn", turn);
    let facts = |zaxy: &mut Zaxy, query: &str| {
        let checkout = zaxy.call("memory_checkout", json!({"query": query}));
        checkout["current_facts"].to_string()
    };
    assert!(facts(&mut zaxy, "which decision about ed25519").contains("ed25519"));
    assert!(facts(&mut zaxy, "Where does Ada work?").contains("Quillfeather"));
    let close = |name: &str, kind: &str, at: &str| json!({"entity_name": name, "entity_type": kind, "invalid_at": at});
    let mistake = zaxy.mistake("memory_invalidate", close("Ada", "person", "soon"));
    assert!(mistake.contains("`invalid_at`"), "{mistake}");
    let mistake = zaxy.mistake("memory_invalidate", close("Nobody", "person", "2026-01-01"));
    assert!(mistake.starts_with("NOT_FOUND"), "{mistake}");
    // A moment after what is closed was observed.
    zaxy.append("observation.recorded", json!({"observation": "The bridge is red."}));
    let session = default_session(&zaxy);
    let at = zaxy.said(&session).last().unwrap()["timestamp"].as_str().unwrap().to_owned();
    let closed = zaxy.call("memory_invalidate", close("Ada", "person", &at));
    assert_eq!(closed["status"], "invalidated");
    assert!(closed["invalidated_facts"].as_u64().unwrap() >= 1, "{closed}");
    let again = zaxy.call("memory_invalidate", close("Ada", "person", &at));
    assert_eq!(again["seq"], closed["seq"], "a repetition is no new event");
    let decided = zaxy.call("memory_invalidate", close("Use ed25519 first", "decision", &at));
    assert_eq!(decided["status"], "invalidated");
    let project = zaxy.project.clone();
    let own = own.restart();
    let mut zaxy = Zaxy::in_project(&own, &project);
    assert!(!facts(&mut zaxy, "Where does Ada work?").contains("works at Quillfeather"));
    assert!(!facts(&mut zaxy, "which decision about ed25519").contains("decided"));
}
