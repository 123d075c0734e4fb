//! Automatic sweeps over a real engine with a simulated clock: what goes by itself, what is stopped, and that the
//! audit log has both.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use http_body_util::BodyExt as _;
use lamina_engine::{Engine, Settings};
use lamina_env::sim::SimClock;
use lamina_env::{Env, RealDisk};
use lamina_types::Micros;
use serde_json::{Value, json};
use tokio::sync::watch;
use tower::ServiceExt as _;

use super::*;
use crate::auth::Gate;
use crate::config::{Config, Environment, Flags};
use crate::http::{Parts, router};
use crate::mcp::access::McpAccess;
use crate::meters::Meters;

const HOUR: i64 = 3_600 * 1_000_000;
const DAY: i64 = 24 * HOUR;

struct Server {
    app: Arc<App>,
    router: Router,
    clock: Arc<SimClock>,
    told: BTreeMap<u32, JobId>,
    _close: watch::Sender<bool>,
    _data: tempfile::TempDir,
}

impl Server {
    fn start() -> Server {
        let data = tempfile::tempdir().unwrap();
        let flags = Flags { data: Some(data.path().to_owned()), ..Flags::default() };
        let config = Config::load(&flags, &Environment::default(), &RealDisk).unwrap();
        let clock = Arc::new(SimClock::at(Micros(1_700_000_000_000_000)));
        let env = Env { clock: Arc::clone(&clock) as _, ..Env::real() };
        let settings = Settings { retention_days: Some(30), ..Settings::new(data.path()) };
        let (engine, _) = Engine::open(settings, env.clone()).unwrap();
        let (close, closing) = watch::channel(false);
        let gate = Gate::of(&config, &env).unwrap();
        let meters = Meters::install();
        let mcp = McpAccess::default();
        let parts = Parts { answerer: None, gate, engine, env, meters, closing, mcp };
        let app = Arc::new(App::new(parts, &config));
        let router = router(Arc::clone(&app));
        Server { app, router, clock, told: BTreeMap::new(), _close: close, _data: data }
    }

    async fn send(&self, method: &str, path: &str, body: Value) -> Value {
        let request = Request::builder().method(method).uri(path);
        let request = request.body(Body::from(body.to_string())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&bytes).unwrap()
    }

    async fn get(&self, path: &str) -> Value {
        self.send("GET", path, json!({})).await
    }

    async fn write(&self, scope: &str, texts: impl Iterator<Item = u32>) {
        for text in texts {
            let body = json!({"scope": scope, "content": format!("event {text}")});
            assert!(self.send("POST", "/v1/experience", body).await["event_id"].is_string());
        }
    }

    async fn turn(&mut self) {
        turn(&self.app, &mut self.told).await;
    }

    async fn events(&self, scope: &str) -> usize {
        let page = self.get(&format!("/v1/events?scope={scope}&limit=100")).await;
        page["items"].as_array().unwrap().len()
    }

    /// The rows of the audit log of this act.
    async fn rows(&self, act: &str) -> Vec<Value> {
        let page = self.get(&format!("/v1/audit?q={}&limit=100", act.replace(' ', "%20"))).await;
        let rows = page["items"].as_array().unwrap().iter();
        rows.filter(|row| row["endpoint"] == act).cloned().collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn due_event_goes_by_itself_and_the_audit_log_says_who_did_it() {
    let mut server = Server::start();
    server.write("user:alice", 0..1).await;
    server.clock.advance(29 * DAY);
    server.write("user:alice", 1..2).await;
    server.turn().await;
    assert_eq!(server.events("user:alice").await, 2);
    server.clock.advance(DAY + HOUR);
    server.turn().await;
    assert_eq!(server.events("user:alice").await, 1);
    let mut rows = Vec::new();
    for _ in 0..600 {
        // The audit thread writes by the simulated clock.
        server.clock.advance(1_000_000);
        rows = server.rows("retention sweep").await;
        if !rows.is_empty() {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    let row = rows.first().unwrap();
    assert_eq!((&row["actor"], &row["capability"]), (&json!(SWEEPER), &json!("system.retain")));
    server.app.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sweep_that_takes_too_much_is_stopped_told_once_and_runs_when_confirmed() {
    let mut server = Server::start();
    server.write("ws:sales", 0..20).await;
    server.clock.advance(400 * DAY);
    server.turn().await;
    server.turn().await;
    assert_eq!(server.events("ws:sales").await, 20);
    let clock = server.get("/v1/admin/clock").await;
    let stopped = &clock["stopped_sweeps"][0];
    assert_eq!((&stopped["of"], &stopped["scope"]), (&json!("scope"), &json!("ws:sales")));
    assert_eq!((&stopped["overdue"], &stopped["events"]), (&json!(20), &json!(20)));
    let health = server.get("/v1/admin/health").await;
    assert_eq!(health["status"], "degraded");
    assert!(health["reasons"].to_string().contains("automatic sweep"), "{health}");
    for _ in 0..600 {
        server.clock.advance(1_000_000);
        if !server.rows("retention sweep stopped").await.is_empty() {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(server.rows("retention sweep stopped").await.len(), 1);
    let body = json!({"sweep_id": stopped["sweep_id"]});
    let after = server.send("POST", "/v1/admin/clock/confirm", body.clone()).await;
    assert_eq!(after["stopped_sweeps"], json!([]), "{after}");
    let again = server.send("POST", "/v1/admin/clock/confirm", body).await;
    assert_eq!(again["error_code"], "NOT_FOUND");
    server.turn().await;
    assert_eq!(server.events("ws:sales").await, 0);
    server.app.engine.shutdown().await;
}
