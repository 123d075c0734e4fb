//! Decisions of one scope, exported and done again in another: the same facts and beliefs, and nothing
//! changes when they are done twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use http_body_util::BodyExt as _;
use lamina_engine::{Engine, Settings};
use lamina_env::{Env, RealDisk};
use lamina_portable::export::LineKind;
use lamina_portable::json::{ReadPolicy, parse};
use serde_json::{Value, json};
use tokio::sync::watch;
use tower::ServiceExt as _;

use super::*;
use crate::auth::Gate;
use crate::config::{Config, Environment, Flags};
use crate::http::{App, Parts, router};
use crate::mcp::access::McpAccess;
use crate::meters::Meters;

struct Server {
    app: Arc<App>,
    router: Router,
    _close: watch::Sender<bool>,
    _data: tempfile::TempDir,
}

impl Server {
    fn start() -> Server {
        let data = tempfile::tempdir().expect("there is room");
        let flags = Flags { data: Some(data.path().to_owned()), ..Flags::default() };
        let config =
            Config::load(&flags, &Environment::default(), &RealDisk).expect("is a configuration");
        let env = Env::real();
        let settings = Settings { segment_bytes: 1 << 20, ..Settings::new(data.path()) };
        let (engine, _) = Engine::open(settings, env.clone()).expect("opens");
        let (close, closing) = watch::channel(false);
        let gate = Gate::of(&config, &env).expect("lets in");
        let meters = Meters::install();
        let mcp = McpAccess::default();
        let parts = Parts { answerer: None, gate, engine, env, meters, closing, mcp };
        let app = Arc::new(App::new(parts, &config));
        Server { router: router(Arc::clone(&app)), app, _close: close, _data: data }
    }

    async fn call(&self, method: &str, target: &str, body: &Value) -> Value {
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header("host", "localhost")
            .header("content-type", "application/json")
            .body(Body::from(if method == "GET" { String::new() } else { body.to_string() }))
            .expect("is a request");
        let response = self.router.clone().oneshot(request).await.expect("answers");
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await.expect("is whole").to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!((200..300).contains(&status), "{method} {target}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    async fn post(&self, target: &str, body: &Value) -> Value {
        self.call("POST", target, body).await
    }

    async fn get(&self, target: &str) -> Value {
        self.call("GET", target, &Value::Null).await
    }

    async fn say(&self, scope: &str, day: &str, text: &str) -> EventId {
        let body = json!({
            "scope": scope,
            "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": text},
            "context": {"observed_at": format!("{day}T10:00:00Z")},
            "idempotency_key": format!("{scope}-{day}-{text}"),
        });
        let answer = self.post("/v1/experience?wait=settled", &body).await;
        answer["event_id"].as_str().and_then(|id| id.parse().ok()).expect("has an id")
    }

    fn target(&self, scope: &str) -> ControlTarget {
        let desk = Desk { app: Arc::clone(&self.app), record: Arc::default() };
        let caller = Caller::local("user:local".parse().expect("is an actor"), 1);
        let audit_id = self.app.engine.audit_id();
        let noted = Noted { audit_id, request_id: String::new(), note: String::new() };
        ControlTarget { desk, caller, scope: scope.parse().expect("is a scope"), noted }
    }

    /// The control lines of a scope.
    async fn controls(&self, scope: &str) -> Vec<ControlLine> {
        let job = self.post("/v1/export", &json!({"scope": scope})).await;
        let data = job["data"].as_str().expect("is small");
        let mut lines = Vec::new();
        for line in data.lines() {
            let value: Value = serde_json::from_str(line).expect("is JSON");
            let kind = value["lamina"]["line"].as_str().and_then(LineKind::find);
            let kind = kind.expect("has a kind");
            if !matches!(kind, LineKind::Header | LineKind::Event) {
                let body = parse(line.as_bytes(), &ReadPolicy::STRICT).expect("is JSON");
                lines.push(ControlLine::read(kind, &body).expect("is a line"));
            }
        }
        lines
    }

    /// Facts of a scope without ids and the recorded axis.
    async fn facts(&self, scope: &str) -> Vec<String> {
        let page = self.get(&format!("/v1/facts?scope={scope}&limit=200")).await;
        let items = page["items"].as_array().cloned().unwrap_or_default();
        let mut facts: Vec<String> = items
            .iter()
            .map(|fact| {
                let side = |term: &Value| term["value"].to_string() + &term["name"].to_string();
                format!(
                    "{} {} {} {} {}",
                    side(&fact["subject"]),
                    fact["predicate"],
                    side(&fact["object"]),
                    fact["valid_from"],
                    fact["valid_to"]
                )
            })
            .collect();
        facts.sort();
        facts
    }
}

const SAID: [(&str, &str); 5] = [
    ("2025-01-10", "I live in Rome."),
    ("2025-01-10", "I live in Oslo."),
    ("2025-01-11", "Acme is based in Berlin."),
    ("2025-01-12", "Globex is based in Paris."),
    ("2025-01-13", "Ada works at Initech."),
];

/// A scope with decisions of every kind, and its events.
async fn decided(server: &Server, scope: &str) -> Vec<EventId> {
    let words = json!({"name": "words", "scope": scope, "predicates": [{"id": "likes"}]});
    server.post("/v1/vocabularies", &words).await;
    let mut events = Vec::new();
    for (day, text) in SAID {
        events.push(server.say(scope, day, text).await);
    }
    let cancelled = events.last().expect("there are some");
    server.post(&format!("/v1/lifecycle/memory-event/{cancelled}/cancel"), &json!({})).await;
    let page = server.get(&format!("/v1/conflicts?scope={scope}")).await;
    let conflict = &page["conflicts"][0];
    let sides = conflict["records"].as_array().expect("has sides");
    let oslo = sides.iter().find(|side| side.to_string().contains("Oslo")).expect("is a side");
    let id = conflict["id"].as_str().expect("has an id");
    let body = json!({"action": "pick", "winner": oslo["id"], "reason": "I asked"});
    server.post(&format!("/v1/conflicts/{id}/resolve"), &body).await;
    let mut ids = Vec::new();
    for name in ["Globex", "Acme"] {
        let page = server.get(&format!("/v1/entities?scope={scope}&name={name}")).await;
        ids.push(page["items"][0]["id"].as_str().expect("is known").to_owned());
    }
    let [globex, acme] = ids.as_slice() else { panic!("two entities") };
    server.post(&format!("/v1/entities/{globex}/merge"), &json!({"into": acme})).await;
    let fact = server.get(&format!("/v1/facts?scope={scope}&subject=Acme&limit=1")).await;
    let fact = fact["items"][0]["id"].as_str().expect("is a fact").to_owned();
    let named = json!([events.first().expect("is there").to_string(), fact]);
    let body = json!({"scope": scope, "statement": "Acme is growing.", "subject": "Acme",
        "predicate": "trend", "confidence": 0.9, "supports": named});
    server.post("/v1/beliefs", &body).await;
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_done_again_give_the_same_memory_once() {
    // Entities are the tenant's: another server stands for the other side.
    let (here, there) = (Server::start(), Server::start());
    let exported = decided(&here, "ws:one").await;
    let lines = here.controls("ws:one").await;
    let kinds: Vec<LineKind> = lines.iter().map(ControlLine::kind).collect();
    assert_eq!(
        kinds,
        [
            LineKind::Vocabulary,
            LineKind::Cancellation,
            LineKind::EntityMerge,
            LineKind::ConflictDecision,
            LineKind::DeclaredBelief
        ]
    );
    let mut events = BTreeMap::new();
    for (id, (day, text)) in exported.iter().zip(SAID) {
        events.insert(*id, there.say("ws:two", day, text).await);
    }
    let target = there.target("ws:two");
    assert!(settle(&target).await.expect("may read"));
    for line in &lines {
        let outcome = apply(line, &target, &events).await.expect("may do it");
        assert_eq!(outcome, ControlOutcome::Applied, "{line:?}");
        assert!(settle(&target).await.expect("may read"));
    }
    assert_eq!(there.facts("ws:two").await, here.facts("ws:one").await);
    let again = there.controls("ws:two").await;
    assert_eq!(again.len(), lines.len());
    for line in &lines {
        let outcome = apply(line, &target, &events).await.expect("may do it");
        assert_eq!(outcome, ControlOutcome::Known, "{line:?}");
    }
    assert_eq!(there.controls("ws:two").await.len(), lines.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_without_their_things_are_skipped() {
    let (here, there) = (Server::start(), Server::start());
    decided(&here, "ws:one").await;
    there.say("ws:two", "2025-01-10", "It rains.").await;
    let target = there.target("ws:two");
    for line in here.controls("ws:one").await {
        let outcome = apply(&line, &target, &BTreeMap::new()).await.expect("may do it");
        let is_alone = matches!(line.kind(), LineKind::Vocabulary | LineKind::DeclaredBelief);
        match is_alone {
            true => assert_eq!(outcome, ControlOutcome::Applied, "{line:?}"),
            false => assert!(matches!(outcome, ControlOutcome::Skipped { .. }), "{line:?}"),
        }
    }
}
