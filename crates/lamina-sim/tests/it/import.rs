//! `/v1/import`: every source through the real server, read back over HTTP; the forms of a request; who may look
//! at a job.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lamina_env::disk::read_file;
use lamina_env::{Disk, RealDisk};
use lamina_portable::zip::{StoredFile, ZipWriter};
use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{Answer, Api, Own, encode, string};

mod command;
mod forms;
mod hostile;
mod people;
mod round_trip;
mod sources;

/// How long a test waits for a job.
const JOB_TIME: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);

/// Whatever sends requests.
pub(crate) trait Sender {
    fn ask(&mut self, request: Request) -> Answer;
}

impl Sender for Api {
    fn ask(&mut self, request: Request) -> Answer {
        self.send(&request)
    }
}

impl Sender for crate::tokens::Signed {
    fn ask(&mut self, request: Request) -> Answer {
        self.send(request)
    }
}

/// The upload of a file.
pub(crate) fn upload(query: &str, bytes: impl Into<Vec<u8>>) -> Request {
    Request::new("POST", &format!("/v1/import?{query}"))
        .header("Content-Type", "application/octet-stream")
        .bytes(bytes)
}

/// Sends an import and waits for its end.
#[track_caller]
pub(crate) fn import(sender: &mut impl Sender, request: Request) -> Value {
    let accepted = sender.ask(request).ok(202);
    finished(sender, &string(&accepted, "import_id"))
}

/// The last state of a job.
#[track_caller]
pub(crate) fn finished(sender: &mut impl Sender, id: &str) -> Value {
    let target = format!("/v1/import/{id}");
    let looks = JOB_TIME.as_millis() / LOOK.as_millis();
    for _ in 0..looks {
        let job = sender.ask(Request::get(&target)).ok(200);
        if !matches!(job["status"].as_str(), Some("queued" | "running")) {
            return job;
        }
        std::thread::sleep(LOOK);
    }
    panic!("{id} does not end");
}

/// A file of the fixtures.
pub(crate) fn fixture(path: &str) -> Vec<u8> {
    let path = fixtures().join(path);
    read_file(&RealDisk, &path, 1 << 20)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/import")
}

/// A directory of the fixtures as an archive.
pub(crate) fn archive_of(directory: &str) -> Vec<u8> {
    let mut names = Vec::new();
    collect(&fixtures().join(directory), "", &mut names);
    names.sort();
    let mut zip = ZipWriter::new(Vec::new());
    for name in names {
        let bytes = fixture(&format!("{directory}/{name}"));
        let file = StoredFile { name: &name, bytes: bytes.len() as u64, modified: None };
        zip.add(file, &mut bytes.as_slice()).unwrap();
    }
    zip.finish().unwrap()
}

fn collect(directory: &Path, prefix: &str, names: &mut Vec<String>) {
    for name in RealDisk.list(directory).unwrap() {
        let path = directory.join(&name);
        match path.is_dir() {
            true => collect(&path, &format!("{prefix}{name}/"), names),
            false => names.push(format!("{prefix}{name}")),
        }
    }
}

/// An archive of these files.
pub(crate) fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Vec::new());
    for (name, bytes) in files {
        let file = StoredFile { name, bytes: bytes.len() as u64, modified: None };
        zip.add(file, &mut &bytes[..]).unwrap();
    }
    zip.finish().unwrap()
}

/// Every event of a scope and below it, oldest in the log first.
pub(crate) fn events(api: &mut Api, scope: &str) -> Vec<Value> {
    let mut events = Vec::new();
    let mut cursor = String::new();
    loop {
        let target = format!("/v1/events?scope={scope}&view=descend&limit=200{cursor}");
        let page = api.get(&target).ok(200);
        events.extend(page["items"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={}", encode(next)),
            None => break,
        }
    }
    events.sort_by_key(|event| event["wal_offset"].as_u64());
    events
}

/// A line of an import.
pub(crate) fn line(scope: &str, text: &str, minute: u32) -> String {
    let at =
        format!("2026-01-{:02}T{:02}:{:02}:00Z", 1 + minute / 1_440, minute / 60 % 24, minute % 60);
    json!({
        "scope": scope,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": text},
        "context": {"observed_at": at},
    })
    .to_string()
}

#[test]
fn job_of_a_small_import_is_over_in_the_answer() {
    // No other job of the tenant makes it wait.
    let own = Own::start();
    let mut api = own.api("import");
    let scope = api.scope.clone();
    let lines = [line(&scope, "I live in Oslo.", 1), line(&scope, "I like tea.", 2)].join("\n");
    let answer =
        api.ask(upload(&format!("format=jsonl&scope={scope}&name=two.jsonl"), lines)).ok(202);
    assert_eq!(answer["status"], "completed", "{answer}");
    assert_eq!((&answer["accepted"], &answer["failed"]), (&json!(2), &json!(0)), "{answer}");
    let id = string(&answer, "import_id");
    crate::harness::check_id(&id, "imp");
    assert_eq!(answer["status_url"], format!("/v1/import/{id}"));
    assert_eq!(answer["lifecycle_stream"], format!("/v1/lifecycle/stream?import_id={id}"));
    let job = finished(&mut api, &id);
    assert_eq!(job["fraction_complete"], 1.0, "{job}");
    assert_eq!(
        (&job["processed"], &job["total"], &job["written"]),
        (&json!(2), &json!(2), &json!(2))
    );
    assert_eq!(job["errors"], json!([]));
    let report = &job["report"];
    assert_eq!(
        (&report["format"], &report["source"]["name"]),
        (&json!("jsonl"), &json!("two.jsonl"))
    );
    assert_eq!(events(&mut api, &scope).len(), 2);
    own.stop();
}

/// The lifecycle events of a job, once its end is among them.
fn announced(api: &mut Api, id: &str) -> Vec<Value> {
    let looks = JOB_TIME.as_millis() / LOOK.as_millis();
    for _ in 0..looks {
        let page = api.get(&format!("/v1/lifecycle?import_id={id}")).ok(200);
        let items = page["items"].as_array().cloned().unwrap_or_default();
        if items.iter().any(|item| item["event"] == "import_complete") {
            return items;
        }
        std::thread::sleep(LOOK);
    }
    panic!("{id} was never announced as complete");
}

#[test]
fn r386_progress_errors_and_the_end_are_announced() {
    let own = Own::start();
    let mut api = own.api("import-stream");
    let scope = api.scope.clone();
    let said = json!({
        "scope": scope,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": "I like tea."},
    });
    let lines = format!("{said}\nnot json");
    let job = import(&mut api, upload(&format!("format=jsonl&scope={scope}"), lines));
    let id = string(&job, "import_id");
    let items = announced(&mut api, &id);
    let payload = |name: &str| {
        let found = items.iter().find(|item| item["event"] == name);
        found.unwrap_or_else(|| panic!("{name}: {items:?}"))["payload"].clone()
    };
    let error = payload("import_error");
    assert_eq!(error["import_id"], id.as_str(), "{error}");
    assert_eq!(error["line"], 2, "{error}");
    assert_eq!(payload("import_progress")["processed"], 1);
    let complete = payload("import_complete");
    assert_eq!(complete["status"], "completed", "{complete}");
    assert_eq!(complete["summary"]["written"], 1, "{complete}");
    own.stop();
}
