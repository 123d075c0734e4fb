//! Files that a disk changed, cut, lost or exchanged, under the real binary: what a user sees, and what `lamina check`
//! says. Everything that is not damaged is served as before.

use std::path::{Path, PathBuf};
use std::process::Output;

use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk, RealDisk};
use lamina_sim::client::Request;
use serde_json::json;
use tempfile::TempDir;

use crate::cli::{code, err, lamina, out, text};
use crate::harness::{Api, Own, data, launch, string};

mod contained;
mod starting;

/// What a disk does to a file.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Flipped,
    Truncated,
    Missing,
}

const FAULTS: [Fault; 3] = [Fault::Flipped, Fault::Truncated, Fault::Missing];

fn bytes(path: &Path) -> Vec<u8> {
    read_file(&RealDisk, path, 1 << 30).unwrap()
}

fn put(path: &Path, bytes: &[u8]) {
    write_atomic(&RealDisk, path, bytes).unwrap();
}

impl Fault {
    /// Does it to a file.
    fn strike(self, path: &Path) {
        let mut bytes = bytes(path);
        let middle = bytes.len() / 2;
        match self {
            Fault::Flipped => bytes[middle] ^= 0x40,
            Fault::Truncated => bytes.truncate(middle),
            Fault::Missing => return RealDisk.remove(path).unwrap(),
        }
        put(path, &bytes);
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    RealDisk.list(dir).unwrap().iter().map(|name| dir.join(name)).collect()
}

fn upload(api: &mut Api, bytes: &str) -> String {
    let request =
        Request::new("POST", "/v1/blobs").header("Content-Type", "text/plain").bytes(bytes);
    string(&api.send(&request).made(), "blob_id")
}

fn health(api: &mut Api) -> String {
    string(&api.get("/v1/health").ok(200), "status")
}

#[test]
fn damaged_blob_is_never_sent_and_degrades_health_at_once() {
    for fault in FAULTS {
        let own = Own::start();
        let mut api = own.api("faults-blob");
        let blobs = data(own.directory.path()).join("blobs");
        let id = upload(&mut api, "a scanned deed of the house");
        let [file] = &files(&blobs)[..] else { panic!("one blob, one file") };
        let (file, good) = (file.clone(), bytes(file));
        let whole = upload(&mut api, "another deed");
        let mut envelope = api.envelope("the deed is attached");
        envelope["content"]["media"] = json!([{"blob_id": id}]);
        let event = api.write_envelope(&envelope);
        assert_eq!(health(&mut api), "healthy");
        fault.strike(&file);
        api.get(&format!("/v1/blobs/{id}")).fails(503, "BLOB_DAMAGED");
        assert_eq!(health(&mut api), "degraded", "{fault:?}");
        // The rest is served as before.
        assert_eq!(api.get(&format!("/v1/blobs/{whole}")).response.text(), "another deed");
        assert_eq!(api.event(&event)["content"]["text"], "the deed is attached");
        let directory = own.stop();
        let checked = lamina(&["check", "--data", text(&data(directory.path()))]);
        code(&checked, 2);
        assert!(out(&checked).contains("DAMAGED: blobs/"), "{}", out(&checked));
        assert!(out(&checked).contains(&id), "{}", out(&checked));
        assert!(!out(&checked).contains(&whole), "{}", out(&checked));
        put(&file, &good);
        code(&lamina(&["check", "--data", text(&data(directory.path()))]), 0);
    }
}

#[test]
fn backup_of_a_damaged_blob_fails_and_keeps_its_good_copy() {
    let own = Own::start();
    let mut api = own.api("faults-backup");
    let data = data(own.directory.path());
    let (blobs, copy) = (data.join("blobs"), own.directory.path().join("copy"));
    upload(&mut api, "a scanned deed of the house");
    let [file] = &files(&blobs)[..] else { panic!("one blob, one file") };
    let good = bytes(file);
    let backup = || lamina(&["backup", "--data", text(&data), "--to", text(&copy)]);
    code(&backup(), 0);
    let kept = copy.join("blobs").join(file.file_name().unwrap());
    for fault in FAULTS {
        fault.strike(file);
        let refused = backup();
        assert!(!refused.status.success(), "{fault:?}: {}", out(&refused));
        assert!(err(&refused).contains("the blob blob_"), "{}", err(&refused));
        assert!(bytes(&kept) == good, "{fault:?}");
        if RealDisk.exists(file) {
            RealDisk.remove(file).unwrap();
        }
        put(file, &good);
    }
    // A copy that the backup's own disk damaged is made again.
    Fault::Flipped.strike(&kept);
    code(&backup(), 0);
    assert!(bytes(&kept) == good);
    // A blob that was deleted leaves the backup and fails nothing.
    let id = upload(&mut api, "soon gone");
    code(&backup(), 0);
    assert_eq!(files(&copy.join("blobs")).len(), 2);
    api.delete(&format!("/v1/blobs/{id}")).ok(200);
    code(&backup(), 0);
    assert_eq!(files(&copy.join("blobs")).len(), 1);
}

fn serve(data: &Path) -> Output {
    lamina(&["serve", "--data", text(data), "--listen", "127.0.0.1:0"])
}

/// A directory with several segments whose server was killed before it made a checkpoint.
fn killed() -> (TempDir, String) {
    let own = Own::start();
    let mut api = own.api("faults-tail");
    let first = api.write("the first event");
    let filler = "x".repeat(600_000);
    for _ in 0..9 {
        api.write(&filler);
    }
    api.event(&first);
    // Asking for its rows has the audit log written.
    api.get("/v1/audit?limit=1").ok(200);
    let Own { server, directory } = own;
    server.kill().unwrap();
    (directory, first)
}

#[test]
fn lost_segments_are_refused_until_the_loss_is_accepted() {
    // Whoever is left to tell: the record, the views, the audit log.
    for untold in [&[][..], &["acknowledged"][..], &["acknowledged", "views"][..]] {
        let (directory, first) = killed();
        let data = data(directory.path());
        let segments = files(&data.join("log"));
        assert!(segments.len() > 1);
        RealDisk.remove(segments.last().unwrap()).unwrap();
        for name in untold {
            match *name {
                "views" => RealDisk.remove_dir_all(&data.join(name)).unwrap(),
                name => RealDisk.remove(&data.join(name)).unwrap(),
            }
        }
        if untold.len() < 2 {
            let checked = lamina(&["check", "--data", text(&data)]);
            code(&checked, 2);
            assert!(out(&checked).contains("acknowledged up to entry"), "{}", out(&checked));
            let refused = lamina(&["repair", "--data", text(&data)]);
            code(&refused, 2);
            assert!(err(&refused).contains("--accept-loss"), "{}", err(&refused));
        }
        let refused = serve(&data);
        code(&refused, 2);
        assert!(err(&refused).contains("acknowledged up to entry"), "{}", err(&refused));
        code(&lamina(&["repair", "--data", text(&data), "--accept-loss"]), 0);
        let server = launch(directory.path(), &[]).start().unwrap();
        let own = Own { server, directory };
        let mut api = own.api("faults-accepted");
        assert_eq!(api.event(&first)["content"]["text"], "the first event");
        api.write("it goes on");
        let directory = own.stop();
        code(&lamina(&["check", "--data", text(&data)]), 0);
        drop(directory);
    }
}

#[test]
fn log_that_is_gone_is_no_new_directory() {
    let (directory, _) = killed();
    let data = data(directory.path());
    for segment in files(&data.join("log")) {
        RealDisk.remove(&segment).unwrap();
    }
    let refused = serve(&data);
    code(&refused, 2);
    assert!(err(&refused).contains("acknowledged up to entry"), "{}", err(&refused));
    assert!(files(&data.join("log")).is_empty(), "nothing was made in its place");
}
