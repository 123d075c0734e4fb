//! The ground every test stands on: the real binary, a client, and the checks that hold for every
//! answer whatever was asked.
//!
//! Most tests share one server and keep apart by scope. It is shared through a weak pointer: the
//! last test that holds it ends it, so that nothing stays behind when the program ends.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use lamina_env::{Disk, RealDisk};
use lamina_sim::client::{Client, EventStream, Next, Request, Response, StreamEvent};
use lamina_sim::process::{Launch, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long a test waits for an event of a stream that must come.
pub(crate) const SOON: Duration = Duration::from_secs(20);
/// How long a test listens to a stream that must stay quiet.
pub(crate) const A_MOMENT: Duration = Duration::from_millis(150);

/// The binary under test. `cargo xtask check` says where it built it; a plain `cargo test` takes
/// what is already built beside the test program.
pub(crate) fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("LAMINA_BIN") {
        return PathBuf::from(path);
    }
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).unwrap();
    ["release", "debug"]
        .iter()
        .map(|profile| target.join(profile).join("lamina"))
        .filter(|path| RealDisk.exists(path))
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).unwrap())
        .unwrap_or_else(|| {
            panic!(
                "there is no `lamina` binary under {}: run `cargo xtask check`, or `cargo build` \
                 and then `cargo test`, or set LAMINA_BIN",
                target.display()
            )
        })
}

/// A server of a test's own, with a data directory that goes with it.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) server: Server,
    pub(crate) directory: TempDir,
}

impl Own {
    pub(crate) fn start() -> Own {
        Own::start_with(&[])
    }

    /// With these environment variables.
    pub(crate) fn start_with(environment: &[(&str, &str)]) -> Own {
        let directory = directory();
        let server = launch(directory.path(), environment).start().unwrap();
        Own { server, directory }
    }

    pub(crate) fn api(&self, area: &str) -> Api {
        Api { client: self.server.client(), scope: unique_scope(area), _held: None }
    }

    /// `kill -9` and start again on the same data.
    pub(crate) fn crash(self) -> Own {
        let Own { server, directory } = self;
        server.kill().unwrap();
        let server = launch(directory.path(), &[]).start().unwrap();
        Own { server, directory }
    }

    /// `SIGTERM`, wait, start again on the same data.
    pub(crate) fn restart(self) -> Own {
        let Own { server, directory } = self;
        assert!(server.stop().unwrap().success());
        let server = launch(directory.path(), &[]).start().unwrap();
        Own { server, directory }
    }

    /// Stops the server; the data stays until the directory is dropped.
    pub(crate) fn stop(self) -> TempDir {
        let status = self.server.stop().unwrap();
        assert!(status.success(), "{status}");
        self.directory
    }
}

pub(crate) fn directory() -> TempDir {
    tempfile::Builder::new().prefix("lamina-it-").tempdir().unwrap()
}

/// Where a server keeps its data inside the directory of a test.
pub(crate) fn data(directory: &Path) -> PathBuf {
    directory.join("data")
}

/// Small segments: the log turns over within a test, and a debug binary opens them quickly.
const SEGMENT_BYTES: &str = "4194304";

pub(crate) fn launch(directory: &Path, environment: &[(&str, &str)]) -> Launch {
    let small = [("LAMINA_STORAGE_SEGMENT_BYTES", SEGMENT_BYTES)];
    let launch = Launch::new(&binary(), &data(directory));
    small
        .iter()
        .chain(environment)
        .fold(launch, |launch, (name, value)| launch.environment(name, *value))
}

static SHARED: Mutex<Weak<Own>> = Mutex::new(Weak::new());
static SCOPES: AtomicUsize = AtomicUsize::new(1);

/// A scope that no other test writes to.
pub(crate) fn unique_scope(area: &str) -> String {
    let number = SCOPES.fetch_add(1, Ordering::SeqCst);
    format!("org:it/ws:{area}-{number}")
}

/// A caller of one server, with a scope of its own.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) client: Client,
    pub(crate) scope: String,
    _held: Option<Arc<Own>>,
}

impl Api {
    /// On the shared server.
    pub(crate) fn shared(area: &str) -> Api {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let held = shared.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Own::start());
            *shared = Arc::downgrade(&started);
            started
        });
        Api { client: held.server.client(), scope: unique_scope(area), _held: Some(held) }
    }

    /// A caller of a server that the test started by itself.
    pub(crate) fn of(client: Client, area: &str) -> Api {
        Api { client, scope: unique_scope(area), _held: None }
    }

    /// The same server, another connection.
    pub(crate) fn another_client(&self) -> Client {
        Client::new(self.client.address())
    }

    pub(crate) fn send(&mut self, request: &Request) -> Answer {
        let response = self.client.send(request).unwrap();
        Answer::checked(&request.method, &request.target, response)
    }

    pub(crate) fn get(&mut self, target: &str) -> Answer {
        self.send(&Request::get(target))
    }

    pub(crate) fn post(&mut self, target: &str, body: &Value) -> Answer {
        self.send(&Request::post(target, body))
    }

    pub(crate) fn delete(&mut self, target: &str) -> Answer {
        self.send(&Request::new("DELETE", target))
    }

    /// A full envelope, as a strict client sends it.
    pub(crate) fn envelope(&self, text: &str) -> Value {
        envelope(&self.scope, text)
    }

    /// Writes one event and returns its id.
    pub(crate) fn write(&mut self, text: &str) -> String {
        let envelope = self.envelope(text);
        self.write_envelope(&envelope)
    }

    pub(crate) fn write_envelope(&mut self, envelope: &Value) -> String {
        let answer = self.post("/v1/experience", envelope).ok(202);
        string(&answer, "event_id")
    }

    /// Writes one event and waits until every stage has run.
    pub(crate) fn write_settled(&mut self, text: &str) -> String {
        let envelope = self.envelope(text);
        let answer = self.post("/v1/experience?wait=settled", &envelope).ok(200);
        string(&answer, "event_id")
    }

    pub(crate) fn event(&mut self, id: &str) -> Value {
        self.get(&format!("/v1/events/{id}")).ok(200)
    }

    /// The ids of one page of a listing.
    pub(crate) fn list(&mut self, query: &str) -> Vec<String> {
        let page = self.get(&format!("/v1/events?{query}")).ok(200);
        ids(&page)
    }

    pub(crate) fn stream(&self, query: &str) -> EventStream {
        self.stream_with(&Request::get(&format!("/v1/lifecycle/stream?{query}")))
    }

    pub(crate) fn stream_with(&self, request: &Request) -> EventStream {
        let request = request.clone().header("Accept", "text/event-stream");
        match self.client.stream(&request).unwrap() {
            Ok(stream) => {
                check_headers(&request.target, stream.head());
                assert_eq!(stream.head().status, 200);
                stream
            }
            Err(response) => panic!("{}: {} {}", request.target, response.status, response.text()),
        }
    }
}

/// An answer that passed the checks which hold for all of them.
#[derive(Debug)]
pub(crate) struct Answer {
    asked: String,
    pub(crate) response: Response,
}

impl Answer {
    pub(crate) fn checked(method: &str, target: &str, response: Response) -> Answer {
        let shown: String = target.chars().take(200).collect();
        let asked = format!("{method} {shown}");
        check_headers(&asked, &response);
        if response.status >= 400 && method != "HEAD" {
            check_envelope(&asked, &response);
        }
        Answer { asked, response }
    }

    #[track_caller]
    pub(crate) fn ok(self, status: u16) -> Value {
        let Answer { asked, response } = self;
        assert_eq!(response.status, status, "{asked}: {}", response.text());
        response.json().unwrap()
    }

    /// Something was made: the specification does not say whether that is 200 or 201.
    #[track_caller]
    pub(crate) fn made(self) -> Value {
        let Answer { asked, response } = self;
        assert!(matches!(response.status, 200 | 201), "{asked}: {}", response.text());
        response.json().unwrap()
    }

    /// The error envelope, with this status and code.
    #[track_caller]
    pub(crate) fn fails(self, status: u16, code: &str) -> Value {
        let Answer { asked, response } = self;
        let body = response.text();
        assert_eq!(response.status, status, "{asked}: {body}");
        let error = response.json().unwrap();
        assert_eq!(error["error_code"], code, "{asked}: {body}");
        error
    }

    /// The same, and the field that the error names.
    #[track_caller]
    pub(crate) fn fails_at(self, status: u16, code: &str, field: &str) -> Value {
        let asked = self.asked.clone();
        let error = self.fails(status, code);
        assert_eq!(error["details"]["field"], field, "{asked}: {error}");
        assert!(error["details"]["reason"].is_string(), "{asked}: {error}");
        error
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.header(name)
    }
}

/// R014, R200, R206: what every answer carries, also the refusals.
#[track_caller]
pub(crate) fn check_headers(asked: &str, response: &Response) {
    let header = |name: &str| {
        response
            .header(name)
            .unwrap_or_else(|| panic!("{asked}: {} without {name}", response.status))
    };
    assert!(!header("x-cortex-request-id").is_empty(), "{asked}");
    let tiers = ["stable", "beta", "experimental"];
    let tier = header("x-cortex-stability");
    assert!(tiers.contains(&tier), "{asked}: stability {tier}");
    let notice = response.header("x-cortex-experimental-notice");
    assert_eq!(notice.is_some(), tier == "experimental", "{asked}");
    for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
        assert!(!header(name).is_empty(), "{asked}: {name}");
    }
    assert!(response.header("x-request-id").is_none(), "{asked}: R207");
}

/// R202: the one shape of every failure.
#[track_caller]
pub(crate) fn check_envelope(asked: &str, response: &Response) {
    let body = response.text();
    let kind = response.header("content-type").unwrap_or_default();
    assert!(kind.starts_with("application/json"), "{asked}: {kind}: {body}");
    let error = response.json().unwrap();
    let keys: Vec<&str> = error.as_object().unwrap().keys().map(String::as_str).collect();
    let known = ["error_code", "message", "request_id", "details", "retriable", "documentation"];
    assert!(keys.iter().all(|key| known.contains(key)), "{asked}: {body}");
    let code = error["error_code"].as_str().unwrap();
    let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    assert!(!code.is_empty() && code.chars().all(upper), "{asked}: {body}");
    assert!(!error["message"].as_str().unwrap().is_empty(), "{asked}: {body}");
    assert!(error["retriable"].is_boolean(), "{asked}: {body}");
    assert_eq!(
        error["request_id"].as_str(),
        response.header("x-cortex-request-id"),
        "{asked}: {body}"
    );
    assert_ne!(response.status, 500, "{asked}: {body}");
    for leak in ["/tmp/", "panicked", ".rs:", "RUST_BACKTRACE", "0x7f"] {
        assert!(!body.contains(leak), "{asked} leaks {leak}: {body}");
    }
}

/// A full envelope of a message, with a key of its own.
pub(crate) fn envelope(scope: &str, text: &str) -> Value {
    json!({
        "scope": scope,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": text},
        "context": {"observed_at": "2026-05-13T15:42:00Z"},
        "idempotency_key": unique_key(),
    })
}

static KEYS: AtomicUsize = AtomicUsize::new(1);

/// A key that no other test uses.
pub(crate) fn unique_key() -> String {
    format!("it-{}", KEYS.fetch_add(1, Ordering::SeqCst))
}

#[track_caller]
pub(crate) fn string(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value}")).to_owned()
}

#[track_caller]
pub(crate) fn strings(value: &Value) -> Vec<String> {
    value
        .as_array()
        .unwrap_or_else(|| panic!("not a list: {value}"))
        .iter()
        .map(|item| item.as_str().unwrap().to_owned())
        .collect()
}

/// The ids of the items of a page.
#[track_caller]
pub(crate) fn ids(page: &Value) -> Vec<String> {
    page["items"]
        .as_array()
        .unwrap_or_else(|| panic!("no items: {page}"))
        .iter()
        .map(|item| string(item, "id"))
        .collect()
}

/// Prefix, then 32 lower-case hex digits of a UUIDv7 (R108-R122, ruling 7).
#[track_caller]
pub(crate) fn check_id(id: &str, prefix: &str) {
    let hex = id
        .strip_prefix(prefix)
        .and_then(|rest| rest.strip_prefix('_'))
        .unwrap_or_else(|| panic!("{id} is not a {prefix}_ id"));
    assert_eq!(hex.len(), 32, "{id}");
    let lower_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    assert!(hex.chars().all(lower_hex), "{id}");
    assert_eq!(hex.as_bytes()[12], b'7', "{id} is not version 7");
    assert!(b"89ab".contains(&hex.as_bytes()[16]), "{id} has no RFC 9562 variant");
}

/// The next event of a stream; it must come.
#[track_caller]
pub(crate) fn expect_event(stream: &mut EventStream) -> StreamEvent {
    match stream.next_within(SOON).unwrap() {
        Next::Event(event) => event,
        other => panic!("no event came: {other:?}"),
    }
}

/// Percent-encodes everything that is not plain.
pub(crate) fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
