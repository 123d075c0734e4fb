//! The whole surface in one process: the router over a real engine in a temporary directory, without
//! a socket. What needs a socket or a second process is tested from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use lamina_api::{Method, ROUTES, RouteStatus, Tier};
use lamina_engine::{Engine, Settings};
use lamina_env::{Env, RealDisk};
use serde_json::Value;
use tokio::sync::watch;
use tower::ServiceExt as _;

use super::answer::answer;
use super::app::{App, Parts};
use super::router;
use super::site::Site;
use crate::auth::Gate;
use crate::config::{Config, Environment, Flags};
use crate::mcp::access::McpAccess;
use crate::meters::Meters;

struct Server {
    app: Arc<App>,
    router: Router,
    _close: watch::Sender<bool>,
    _data: tempfile::TempDir,
}

struct Answered {
    status: u16,
    headers: HeaderMap,
    text: String,
}

impl Answered {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    fn code(&self) -> String {
        self.json()["error_code"].as_str().unwrap_or_default().to_owned()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Server {
    fn start(environment: Environment) -> Server {
        let data = tempfile::tempdir().unwrap();
        let flags = Flags { data: Some(data.path().to_owned()), ..Flags::default() };
        let config = Config::load(&flags, &environment, &RealDisk).unwrap();
        let env = Env::real();
        let settings = Settings { segment_bytes: 1 << 20, ..Settings::new(data.path()) };
        let (engine, _) = Engine::open(settings, env.clone()).unwrap();
        let (close, closing) = watch::channel(false);
        let parts = Parts {
            answerer: None,
            gate: Gate::of(&config, &env).unwrap(),
            engine,
            env,
            meters: Meters::install(),
            closing,
            mcp: McpAccess::default(),
        };
        let app = Arc::new(App::new(parts, &config));
        Server { router: router(Arc::clone(&app)), app, _close: close, _data: data }
    }

    async fn send(&self, request: Request) -> Answered {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answered {
            status: head.status.as_u16(),
            headers: head.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    async fn call(&self, method: &str, path: &str, body: &'static str) -> Answered {
        self.send(request(method, path, &[], body)).await
    }
}

fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &'static str) -> Request {
    let mut builder = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(Body::from(body)).unwrap()
}

#[tokio::test]
async fn every_route_answers_as_the_contract_says() {
    let server = Server::start(Environment::default());
    for route in ROUTES {
        // The stream would never end; it has tests of its own.
        if route.path == "/v1/lifecycle/stream" {
            continue;
        }
        let method = if route.method == Method::Any { "PUT" } else { route.method.as_str() };
        let path = route.path_params().fold(route.path.replace("{*", "{"), |path, name| {
            path.replace(&format!("{{{name}}}"), "x")
        });
        let answered = server.call(method, &path, "").await;
        let at = format!("{method} {path}: {} {}", answered.status, answered.text);
        match route.status {
            RouteStatus::NotImplemented => assert_eq!(answered.code(), "NOT_IMPLEMENTED", "{at}"),
            RouteStatus::Unavailable(code) => assert_eq!(answered.code(), code.as_str(), "{at}"),
            // Built, and off without a key to mint with.
            RouteStatus::Built if answered.status == 503 => {
                assert_eq!(answered.code(), "NOT_CONFIGURED", "{at}");
                assert!(["/v1/auth/signup", "/v1/auth/tokens"].contains(&route.path), "{at}");
            }
            RouteStatus::Built => assert!(answered.status < 500, "{at}"),
        }
        if answered.status >= 400 {
            assert_eq!(
                answered.json()["request_id"],
                answered.header("x-cortex-request-id"),
                "{at}"
            );
        }
        assert!(answered.header("x-cortex-request-id").starts_with("req_"), "{at}");
        assert_eq!(answered.header("x-cortex-stability"), route.tier.as_str(), "{at}");
        let noticed = answered.headers.contains_key("x-cortex-experimental-notice");
        assert_eq!(noticed, route.tier == Tier::Experimental, "{at}");
        for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
            assert!(answered.header(name).parse::<u64>().is_ok(), "{name} {at}");
        }
    }
}

#[tokio::test]
async fn a_write_is_read_back_and_a_retry_is_a_replay() {
    let server = Server::start(Environment::default());
    let body = r#"{"scope":"org:acme/user:alice","content":"200 seats","idempotency_key":"k"}"#;
    let first = server.call("POST", "/v1/experience", body).await;
    assert_eq!(first.status, 202, "{}", first.text);
    assert_eq!(
        first.header("x-cortex-policy"),
        "tier=deployment; decision=allow; capability=scope.write"
    );
    let id = first.json()["event_id"].as_str().unwrap().to_owned();

    let again = server.call("POST", "/v1/experience?wait=captured", body).await;
    assert_eq!((again.status, again.header("x-cortex-replay")), (200, "true"), "{}", again.text);
    assert_eq!(again.json()["event_id"], id.as_str());
    assert!(again.json()["elapsed_ms"]["capture"].is_number());

    let other = r#"{"scope":"org:acme/user:alice","content":"300 seats","idempotency_key":"k"}"#;
    let conflict = server.call("POST", "/v1/experience", other).await;
    assert_eq!((conflict.status, conflict.code().as_str()), (409, "IDEMPOTENCY_CONFLICT"));

    for path in [
        format!("/v1/events/{id}"),
        "/v1/events?scope=org:acme/user:alice".to_owned(),
        "/v1/events?scope=org%3Aacme%2Fuser%3Aalice".to_owned(),
        "/v1/events?scope=org:acme&view=descend".to_owned(),
    ] {
        let read = server.call("GET", &path, "").await;
        assert_eq!(read.status, 200, "{path} {}", read.text);
        assert!(read.text.contains("200 seats"), "{path} {}", read.text);
    }
    let by_key = server.call("GET", "/v1/experience/by-idempotency-key/k", "").await;
    assert_eq!(by_key.json()["event_id"], id.as_str());
    let unknown = server.call("GET", "/v1/experience/status?idempotency_key=none", "").await;
    assert_eq!((unknown.status, &unknown.json()["found"]), (200, &Value::Bool(false)));
}

#[tokio::test]
async fn a_blob_comes_back_and_goes_away() {
    let server = Server::start(Environment::default());
    let post = request("POST", "/v1/blobs", &[("content-type", "text/csv")], "a,b\n1,2\n");
    let uploaded = server.send(post).await;
    assert_eq!(uploaded.status, 201, "{}", uploaded.text);
    assert_eq!(uploaded.json()["size_bytes"], 8);
    let path = format!("/v1/blobs/{}", uploaded.json()["blob_id"].as_str().unwrap());
    let read = server.call("GET", &path, "").await;
    assert_eq!((read.status, read.text.as_str()), (200, "a,b\n1,2\n"));
    assert_eq!(read.header("content-type"), "text/csv");
    assert_eq!(read.header("x-content-type-options"), "nosniff");

    let deleted = server.call("DELETE", &path, "").await;
    assert_eq!((deleted.status, &deleted.json()["bytes_deleted"]), (200, &Value::from(8)));
    let gone = server.call("GET", &path, "").await;
    assert_eq!((gone.status, gone.code().as_str()), (404, "NOT_FOUND"));
    let health = server.call("GET", "/v1/health", "").await;
    assert_eq!(health.json()["status"], "healthy", "{}", health.text);
}

#[tokio::test]
async fn a_form_carries_one_file() {
    let server = Server::start(Environment::default());
    let form = |body| {
        request("POST", "/v1/blobs", &[("content-type", "multipart/form-data; boundary=B")], body)
    };
    let file = "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\
                Content-Type: text/plain\r\n\r\nhello\r\n--B--\r\n";
    let uploaded = server.send(form(file)).await;
    assert_eq!(uploaded.status, 201, "{}", uploaded.text);
    assert_eq!(uploaded.json()["content_type"], "text/plain");
    assert_eq!(uploaded.json()["size_bytes"], 5);

    let other = "--B\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nhello\r\n--B--\r\n";
    for (body, status, code) in [
        (other, 422, "INVALID_BODY"),
        ("--B--\r\n", 400, "MISSING_REQUIRED_FIELD"),
        ("--B\r\nContent-Disp", 400, "INVALID_BODY"),
    ] {
        let refused = server.send(form(body)).await;
        assert_eq!((refused.status, refused.code().as_str()), (status, code), "{}", refused.text);
    }
}

#[tokio::test]
async fn a_form_is_not_collected_in_memory() {
    let server = Server::start(Environment::default());
    let form = |pieces: Vec<Vec<u8>>| {
        let read = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&read);
        let pieces = pieces.into_iter().inspect(move |piece| {
            seen.fetch_add(piece.len(), Ordering::Relaxed);
        });
        let pieces = pieces.map(|piece| Ok::<_, std::convert::Infallible>(Bytes::from(piece)));
        let body = Body::from_stream(futures_util::stream::iter(pieces));
        let request = Request::post("/v1/blobs")
            .header("host", "localhost")
            .header("content-type", "multipart/form-data; boundary=B");
        (request.body(body).unwrap(), read)
    };
    let (endless, read) = form(vec![vec![b'x'; 64 << 10]; 1_024]);
    let refused = server.send(endless).await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "INVALID_BODY"));
    assert!(read.load(Ordering::Relaxed) < 8 << 20, "it was not read to its end");

    // A file of the same size is fine: it goes to the disk as it comes.
    let mut pieces = vec![b"--B\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n".to_vec()];
    pieces.extend(vec![vec![b'x'; 64 << 10]; 512]);
    pieces.push(b"\r\n--B--\r\n".to_vec());
    let (whole, _) = form(pieces);
    let uploaded = server.send(whole).await;
    assert_eq!(uploaded.status, 201, "{}", uploaded.text);
    assert_eq!(uploaded.json()["size_bytes"], 32 << 20);
}

#[tokio::test]
async fn a_stream_announces_stages_and_resumes_after_any_of_them() {
    let server = Server::start(Environment::default());
    let open =
        |headers: &[(&str, &str)]| request("GET", "/v1/lifecycle/stream?scope=user:a", headers, "");
    let live = server.router.clone().oneshot(open(&[])).await.unwrap();
    assert_eq!(live.headers()["content-type"], "text/event-stream");
    let body = r#"{"scope":"user:a","content":"x"}"#;
    let written = server.call("POST", "/v1/experience?wait=settled", body).await;
    let id = written.json()["event_id"].as_str().unwrap().to_owned();

    let seen = frames(live.into_body(), 4).await;
    let names: Vec<&str> = seen.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["captured", "extracted", "indexed", "consolidated"]);

    let (second, _) = &seen[1];
    let resumed = server.router.clone().oneshot(open(&[("last-event-id", second)])).await.unwrap();
    assert_eq!(frames(resumed.into_body(), 2).await, seen[2..]);
    let wrong = server.send(open(&[("last-event-id", &id)])).await;
    assert_eq!((wrong.status, wrong.code().as_str()), (422, "INVALID_ID"));

    let first_page = server.call("GET", "/v1/lifecycle?scope=user:a&limit=3", "").await.json();
    assert_eq!(first_page["items"].as_array().unwrap().len(), 3);
    let cursor = first_page["next_cursor"].as_str().unwrap();
    let path = format!("/v1/lifecycle?scope=user:a&limit=3&cursor={cursor}");
    let last_page = server.call("GET", &path, "").await.json();
    assert_eq!(last_page["items"][0]["event"], "consolidated");
    assert_eq!(last_page["has_more"], false);

    let one = server.call("GET", &format!("/v1/lifecycle/event/{second}"), "").await.json();
    assert_eq!((&one["stage"], &one["event_id"]), (&"extracted".into(), &id.as_str().into()));
    let path = format!("/v1/lifecycle/memory-event/{id}");
    let all = server.call("GET", &path, "").await.json();
    assert_eq!(all["lifecycle_event_ids"].as_array().unwrap().len(), 4);
    let cancelled = server.call("POST", &format!("{path}/cancel"), "").await;
    assert_eq!(cancelled.json()["excluded_from_recall"], true, "{}", cancelled.text);
    let listed = server.call("GET", "/v1/events?scope=user:a", "").await.json();
    assert_eq!(listed["items"], Value::Array(Vec::new()), "cancelled events are not listed");
}

/// The ids and names of the next frames of a stream.
async fn frames(mut body: Body, count: usize) -> Vec<(String, String)> {
    let mut seen = Vec::new();
    while seen.len() < count {
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        let text = String::from_utf8(frame.to_vec()).unwrap();
        let field =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        if let (Some(id), Some(event)) = (field("id: "), field("event: ")) {
            seen.push((id, event));
        }
    }
    seen
}

#[tokio::test]
async fn refusals_have_their_codes() {
    let server = Server::start(Environment::default());
    let evt = "/v1/events/lce_01a1e1b55d9f703d9b8004032bcf1273";
    let none = "/v1/events/evt_01a1e1b55d9f703d9b8004032bcf1273";
    for (method, path, body, status, code) in [
        ("GET", "/v1/nothing", "", 404, "NOT_FOUND"),
        ("DELETE", "/v1/forget", "", 405, "METHOD_NOT_ALLOWED"),
        ("BREW", "/v1/events", "", 405, "METHOD_NOT_ALLOWED"),
        ("POST", "/v1/experience", "{", 400, "INVALID_BODY"),
        ("POST", "/v1/experience", "", 400, "INVALID_BODY"),
        ("POST", "/v1/experience?wait=never", "{}", 422, "INVALID_WAIT"),
        (
            "POST",
            "/v1/experience",
            r#"{"scope":"nope","content":"x"}"#,
            422,
            "INVALID_SCOPE_GRAMMAR",
        ),
        ("GET", evt, "", 422, "INVALID_ID"),
        ("GET", none, "", 404, "NOT_FOUND"),
        ("GET", "/v1/events", "", 400, "MISSING_REQUIRED_FIELD"),
        ("GET", "/v1/events?scope=%zz", "", 422, "INVALID_PARAMETER"),
        (
            "GET",
            "/v1/events?scope=user:a&cursor=forged-cursor-of-nobody",
            "",
            422,
            "INVALID_CURSOR",
        ),
        ("POST", "/v1/export", "{}", 400, "MISSING_REQUIRED_FIELD"),
        ("GET", "/v1/export/exp_01890000000070008000000000000000", "", 404, "NOT_FOUND"),
        ("POST", "/v1/auth/signup", "{}", 503, "NOT_CONFIGURED"),
        ("GET", "/v1/code/repos", "", 503, "CODE_PLANE_DISABLED"),
    ] {
        let answered = server.call(method, path, body).await;
        let found = (answered.status, answered.code());
        assert_eq!(found, (status, code.to_owned()), "{method} {path} {}", answered.text);
    }
}

#[tokio::test]
async fn methods_are_listed_and_head_is_get_without_a_body() {
    let server = Server::start(Environment::default());
    let wrong = server.call("DELETE", "/v1/forget", "").await;
    assert_eq!((wrong.status, wrong.header("allow")), (405, "POST"));
    let options = server.call("OPTIONS", "/v1/blobs/x", "").await;
    assert_eq!((options.status, options.header("allow")), (204, "DELETE, GET, HEAD"));
    let head = server.call("HEAD", "/v1/admin/version", "").await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
}

#[tokio::test]
async fn callers_are_who_they_say_and_pages_of_strangers_are_refused() {
    let server = Server::start(Environment::default());
    let body = r#"{"scope":"user:bob","content":"x"}"#;
    let post = |headers: &[(&str, &str)]| request("POST", "/v1/experience", headers, body);
    let token = [("authorization", "Bearer whatever"), ("x-cortex-actor", "agent:bot")];
    assert_eq!(server.send(post(&token)).await.status, 202);
    let events = server.call("GET", "/v1/events?scope=user:bob", "").await;
    assert_eq!(events.json()["items"][0]["caller"], "agent:bot");

    let malformed = server.send(post(&[("x-cortex-actor", "nobody")])).await;
    assert_eq!((malformed.status, malformed.code().as_str()), (422, "INVALID_PARAMETER"));

    let stranger = server.send(post(&[("origin", "https://evil.example")])).await;
    assert_eq!((stranger.status, stranger.code().as_str()), (403, "POLICY_DENIED"));
    assert_eq!(stranger.json()["details"]["capability"], "scope.write");
    assert_eq!(stranger.json()["details"]["denied_by_tier"], "deployment");
}

#[tokio::test]
async fn strict_mode_wants_a_content_type_and_a_whole_envelope() {
    let server = Server::start(Environment::from([("LAMINA_ENVELOPE_LENIENT", "false")]));
    let body = r#"{"scope":"user:bob","content":"x"}"#;
    for (headers, status, code) in [
        (&[][..], 415, "UNSUPPORTED_MEDIA_TYPE"),
        (&[("content-type", "text/plain")], 415, "UNSUPPORTED_MEDIA_TYPE"),
        (&[("content-type", "application/json; charset=utf-8")], 422, "INVALID_ENVELOPE"),
    ] {
        let answered = server.send(request("POST", "/v1/experience", headers, body)).await;
        assert_eq!(
            (answered.status, answered.code().as_str()),
            (status, code),
            "{}",
            answered.text
        );
    }
}

#[tokio::test]
async fn experimental_routes_can_be_switched_off() {
    let server = Server::start(Environment::from([("LAMINA_EXPERIMENTAL_ENABLED", "false")]));
    let off = server.call("POST", "/v1/erasures", "{}").await;
    assert_eq!((off.status, off.code().as_str()), (403, "EXPERIMENTAL_DISABLED"));
    assert_eq!(off.header("x-cortex-stability"), "experimental");
    // It is there, and wants a scope.
    let stable = server.call("POST", "/v1/forget", "{}").await;
    assert_eq!(stable.status, 400);
}

#[tokio::test]
async fn a_panic_is_one_bad_answer_that_tells_nothing() {
    let server = Server::start(Environment::default());
    let app = Arc::clone(&server.app);
    let handler = |_| -> super::answer::Answer { Box::pin(async { panic!("the secret place") }) };
    let request = request("GET", "/", &[("x-cortex-request-id", "mine")], "");
    let response = answer(app, Arc::new(Site::nowhere("test")), handler, request).await;
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(response.headers()["x-cortex-request-id"], "mine");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(body.to_vec()).unwrap();
    assert!(text.contains("INTERNAL") && !text.contains("secret"), "{text}");
}
