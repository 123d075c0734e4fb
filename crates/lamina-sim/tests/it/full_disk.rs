//! A full disk under the real binary, on a small file system of its own: what is read and taken back goes on, what
//! grows is refused, and everything resumes when space returns.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lamina_env::{Disk, RealDisk};
use lamina_sim::client::{Deadline, Request};
use lamina_sim::process::Server;
use serde_json::json;
use tempfile::TempDir;

use crate::erasures::ended;
use crate::harness::{Api, Own, data, directory, launch, string};

/// How long the server may take to notice that space has returned.
const RESUMES: Duration = Duration::from_secs(60);

/// A small file system in memory, which goes with the value.
#[derive(Debug)]
struct SmallDisk {
    directory: TempDir,
}

impl SmallDisk {
    /// `None`, with the reason printed, where this process may not mount.
    fn mount(megabytes: u32) -> Option<SmallDisk> {
        let directory = directory();
        let options = format!("size={megabytes}m,mode=0700");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "lamina-it"])
            .arg(directory.path())
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(SmallDisk { directory }),
            other => {
                println!("skipped: no file system can be mounted here: {other:?}");
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }

    /// Leaves so many bytes free: somebody else writes the rest.
    fn fill_but(&self, bytes: u64) {
        let free = RealDisk.free_bytes(self.path()).unwrap();
        let file = match RealDisk.exists(&self.filler()) {
            true => RealDisk.open(&self.filler()).unwrap(),
            false => RealDisk.create_new(&self.filler()).unwrap(),
        };
        let len = file.len().unwrap();
        file.allocate(len + free.saturating_sub(bytes)).unwrap();
    }

    fn free(&self) {
        RealDisk.remove(&self.filler()).unwrap();
    }

    /// A server that keeps its data there.
    fn server(&self) -> Server {
        launch(self.path(), &[("LAMINA_STORAGE_FREE_BYTES_MIN", "16777216")]).start().unwrap()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.directory.path()).output());
    }
}

fn api(server: &Server, area: &str) -> Api {
    Api::of(server.client(), area)
}

fn reasons(api: &mut Api) -> String {
    // An unhealthy report is a 503 without the envelope of an error.
    api.client.send(&Request::get("/v1/health")).unwrap().text()
}

/// Waits until a write is taken again.
fn writes_again(api: &mut Api) -> String {
    let deadline = Deadline::after(RESUMES);
    loop {
        let envelope = api.envelope("there is space again");
        let answer = api.post("/v1/experience", &envelope);
        if answer.response.status == 202 {
            return string(&answer.response.json().unwrap(), "event_id");
        }
        assert!(!deadline.passed(), "{}", answer.response.text());
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn recalled(api: &mut Api, query: &str) -> String {
    let body = json!({"query": query, "scope": api.scope});
    api.post("/v1/recall", &body).ok(200).to_string()
}

/// Forgets one event with its words, as a person does: look first, then do it.
fn forget(api: &mut Api, event: &str) {
    let mut body = json!({
        "scope": api.scope, "cascade": "redact_events", "confirm_all": false,
        "selector": {"memory_ids": [event]}, "reason": "asked to",
    });
    let shown = api.post("/v1/forget/preview", &body).ok(200);
    body["from_preview_id"] = shown["preview_id"].clone();
    let done = api.post("/v1/forget", &body).ok(200);
    assert_eq!(done["deleted"]["events"], 1, "{done}");
}

#[test]
fn full_disk_refuses_writes_serves_reads_and_takes_back() {
    let Some(disk) = SmallDisk::mount(96) else { return };
    let server = disk.server();
    let mut api = api(&server, "full-disk");
    let kept = api.write_settled("Anna works at Zyxcorp in Lisbon.");
    let forgotten = api.write_settled("My dog is called Vimto.");
    let cancelled = api.write_settled("The meeting is on Friday.");
    let erased_scope = format!("{}/project:gone", api.scope);
    let mut envelope = api.envelope("Secret words of the project.");
    envelope["scope"] = json!(erased_scope);
    let erased = string(&api.post("/v1/experience?wait=settled", &envelope).ok(200), "event_id");
    disk.fill_but(0);

    // Reads and recall.
    assert_eq!(api.event(&kept)["content"]["text"], "Anna works at Zyxcorp in Lisbon.");
    assert!(recalled(&mut api, "Where does Anna work?").contains("Zyxcorp"));
    // Writes.
    let envelope = api.envelope("one more");
    api.post("/v1/experience", &envelope).fails(503, "WAL_UNAVAILABLE");
    let upload = Request::new("POST", "/v1/blobs").header("Content-Type", "text/plain");
    api.send(&upload.bytes("no room")).fails(503, "WAL_UNAVAILABLE");
    assert!(reasons(&mut api).contains("the disk is full"), "{}", reasons(&mut api));
    // What takes something back, and what keeps it from going.
    let target = format!("/v1/lifecycle/memory-event/{cancelled}/cancel");
    api.post(&target, &json!({"audit_note": "moved"})).ok(200);
    let hold = Request::new("PUT", "/v1/admin/legal-holds");
    api.send(&hold.json(&json!({"scope": api.scope, "reason": "a trial"}))).ok(200);
    let lifted = api.delete(&format!("/v1/admin/legal-holds?scope={}", api.scope));
    assert_eq!(lifted.response.status, 204, "{}", lifted.response.text());
    let revoked = api.post("/v1/auth/revoke", &json!({"jti": "lost"})).response;
    assert_eq!(revoked.status, 204, "{}", revoked.text());
    forget(&mut api, &forgotten);
    api.get(&format!("/v1/events/{forgotten}")).fails(410, "RESOURCE_DELETED");
    let body = json!({"scope": erased_scope, "audit_note": "asked to"});
    let shown = api.post("/v1/erasures/preview", &body).ok(200);
    let mut body = body;
    body["from_preview_id"] = shown["preview_id"].clone();
    let started = api.post("/v1/erasures", &body).ok(202);
    let done = ended(&mut api, &string(&started, "erasure_id"));
    assert_eq!(done["status"], "completed", "{done}");
    api.get(&format!("/v1/events/{erased}")).fails(410, "RESOURCE_DELETED");
    let gone = recalled(&mut api, "What is my dog called?");
    assert!(!gone.contains("Vimto"), "{gone}");
    // It is still full for writes.
    let envelope = api.envelope("one more");
    api.post("/v1/experience", &envelope).fails(503, "WAL_UNAVAILABLE");

    disk.free();
    let after = writes_again(&mut api);
    api.get(&format!("/v1/events/{after}")).ok(200);
    let settled = api.write_settled("Bob works at Quaxley.");
    assert!(recalled(&mut api, "Where does Bob work?").contains("Quaxley"));
    assert_eq!(api.event(&settled)["id"], json!(settled));
    assert_eq!(string(&api.get("/v1/health").ok(200), "status"), "healthy");
    server.stop().unwrap();
    let checked = crate::cli::lamina(&["check", "--data", crate::cli::text(&data(disk.path()))]);
    crate::cli::code(&checked, 0);
}

#[test]
fn start_on_a_full_disk_reads_and_erases() {
    let Some(disk) = SmallDisk::mount(96) else { return };
    let server = disk.server();
    let mut first = api(&server, "full-start");
    let kept = first.write_settled("Anna works at Zyxcorp in Lisbon.");
    let forgotten = first.write_settled("My dog is called Vimto.");
    server.kill().unwrap();
    disk.fill_but(0);
    let server = disk.server();
    let mut api = Api::of(server.client(), "full-start");
    api.scope.clone_from(&first.scope);
    assert_eq!(api.event(&kept)["content"]["text"], "Anna works at Zyxcorp in Lisbon.");
    let envelope = api.envelope("one more");
    api.post("/v1/experience", &envelope).fails(503, "WAL_UNAVAILABLE");
    forget(&mut api, &forgotten);
    api.get(&format!("/v1/events/{forgotten}")).fails(410, "RESOURCE_DELETED");
    // The space of the ballast is taken by somebody else, and the server starts again.
    disk.fill_but(0);
    assert!(server.stop().unwrap().success());
    let server = disk.server();
    let mut api = Api::of(server.client(), "full-start");
    assert_eq!(api.event(&kept)["content"]["text"], "Anna works at Zyxcorp in Lisbon.");
    disk.free();
    writes_again(&mut api);
    server.stop().unwrap();
}

#[test]
fn disk_that_fills_under_writes_and_derivation_resumes_without_a_restart() {
    let Some(disk) = SmallDisk::mount(80) else { return };
    let server = disk.server();
    let mut api = api(&server, "filling");
    let mut written = Vec::new();
    for round in 0..3 {
        let deadline = Deadline::after(RESUMES);
        for n in 0.. {
            let text =
                format!("Person{n} of round {round} works at Firm{n}. {}", "x".repeat(20_000));
            let envelope = api.envelope(&text);
            let answer = api.post("/v1/experience", &envelope);
            match answer.response.status {
                202 => written.push(string(&answer.response.json().unwrap(), "event_id")),
                _ => {
                    answer.fails(503, "WAL_UNAVAILABLE");
                    break;
                }
            }
            // Somebody else writes too.
            if n % 16 == 15 && RealDisk.free_bytes(disk.path()).unwrap() > 12 << 20 {
                let free = RealDisk.free_bytes(disk.path()).unwrap();
                disk.fill_but(free - (8 << 20));
            }
            assert!(!deadline.passed());
        }
        disk.fill_but(0);
        std::thread::sleep(Duration::from_millis(500));
        for event in written.iter().rev().take(8) {
            api.event(event);
        }
        disk.free();
        written.push(writes_again(&mut api));
    }
    for event in &written {
        api.event(event);
    }
    api.write_settled("It is over.");
    server.stop().unwrap();
    let own = Own { server: disk.server(), directory: directory() };
    let mut api = own.api("filling");
    for event in &written {
        api.event(event);
    }
    own.server.stop().unwrap();
}

/// A server whose ledger is on a disk of its own.
fn noting(directory: &Path, ledger: &Path) -> Server {
    let ledger = crate::cli::text(ledger);
    launch(directory, &[("LAMINA_STORAGE_LEDGER", ledger)]).start().unwrap()
}

#[test]
fn full_ledger_takes_nothing_back_says_so_and_serves_reads_after_a_restart() {
    let Some(disk) = SmallDisk::mount(2) else { return };
    let directory = directory();
    let ledger = disk.path().join("ledger");
    let server = noting(directory.path(), &ledger);
    let mut first = api(&server, "full-ledger");
    let kept = first.write_settled("Anna works at Zyxcorp.");
    let gone = first.write_settled("My dog is called Vimto.");
    assert_eq!(string(&first.get("/v1/health").ok(200), "status"), "healthy");
    disk.fill_but(0);
    let target = format!("/v1/lifecycle/memory-event/{gone}/cancel");
    let body = json!({"audit_note": "moved"});
    let refused = first.post(&target, &body).fails(503, "WAL_UNAVAILABLE");
    assert_eq!(refused["details"]["done"], false, "{refused}");
    assert!(string(&refused, "message").contains("Nothing was done"), "{refused}");
    assert_eq!(first.event(&gone)["content"]["text"], "My dog is called Vimto.");
    let health = reasons(&mut first);
    assert!(health.contains("ledger of erasures cannot be written"), "{health}");
    // Writes go on, and so does a server that starts now.
    first.write_settled("Bob works at Quaxley.");
    server.stop().unwrap();
    let server = noting(directory.path(), &ledger);
    let mut again = Api::of(server.client(), "full-ledger");
    assert_eq!(again.event(&kept)["content"]["text"], "Anna works at Zyxcorp.");
    again.post(&target, &body).fails(503, "WAL_UNAVAILABLE");
    disk.free();
    again.post(&target, &body).ok(200);
    assert_eq!(string(&again.get("/v1/health").ok(200), "status"), "healthy");
    server.stop().unwrap();
}

#[test]
fn empty_directory_takes_less_than_20_megabytes() {
    let Some(disk) = SmallDisk::mount(96) else { return };
    let before = RealDisk.free_bytes(disk.path()).unwrap();
    let server = disk.server();
    let mut api = api(&server, "empty");
    api.write_settled("The first event.");
    let taken = before - RealDisk.free_bytes(disk.path()).unwrap();
    assert!(taken < 20 << 20, "{taken} bytes");
    server.stop().unwrap();
}
