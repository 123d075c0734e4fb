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

/// Files of a folder and of the folders below it.
fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in files(dir) {
        match RealDisk.list(&path) {
            Ok(_) => found.extend(files_below(&path)),
            Err(_) => found.push(path),
        }
    }
    found
}

#[test]
fn check_names_every_damaged_file_of_the_search_index() {
    let own = Own::start();
    let mut api = own.api("faults-search");
    for n in 0..20 {
        api.write_settled(&format!("Person{n} works at Firm{n} in Lisbon."));
    }
    let directory = own.stop();
    let data = data(directory.path());
    let search = data.join("search");
    let checked = lamina(&["check", "--data", text(&data), "--json"]);
    code(&checked, 0);
    let report: serde_json::Value = serde_json::from_str(&out(&checked)).unwrap();
    assert!(report["search_files"].as_u64() > Some(4), "{report}");
    let mut struck = 0;
    for file in files_below(&search) {
        let name = file.strip_prefix(&search).unwrap().to_string_lossy().into_owned();
        // Words of a segment, and rows and state of the vectors: what has a checksum.
        let is_data = ["term", "idx", "fast", "fieldnorm", "pos"];
        let is_data = is_data.iter().any(|ending| name.ends_with(&format!(".{ending}")))
            || name.contains("/rows-") && bytes(&file).iter().any(|byte| *byte != 0)
            || name.ends_with("/state");
        if !is_data {
            continue;
        }
        struck += 1;
        let good = bytes(&file);
        Fault::Flipped.strike(&file);
        let checked = lamina(&["check", "--data", text(&data)]);
        put(&file, &good);
        let said = out(&checked);
        assert!(said.contains(&format!("search/{name}")), "{name}: {said}");
        assert!(said.contains("can be made again"), "{said}");
    }
    assert!(struck >= 4, "{struck}");
    assert!(!out(&lamina(&["check", "--data", text(&data)])).contains("search/"));
}

#[test]
fn tenant_key_of_another_directory_is_refused_with_its_name() {
    let own = Own::start();
    let mut api = own.api("faults-key");
    let event = api.write_settled("My dog is called Vimto.");
    let directory = own.stop();
    let other = Own::start().stop();
    let data_of = |directory: &TempDir| data(directory.path());
    for (views, name) in [(true, "tenant-1"), (false, "tenant-1"), (true, "tenant-0")] {
        let data = data_of(&directory);
        let (key, wrong) = (data.join("keys").join(name), data_of(&other).join("keys").join(name));
        let good = bytes(&key);
        put(&key, &bytes(&wrong));
        if !views {
            RealDisk.remove_dir_all(&data.join("views")).unwrap();
        }
        let refused = serve(&data);
        assert!(!refused.status.success(), "{}", out(&refused));
        let said = err(&refused);
        assert!(said.contains(name) && said.contains("another key"), "{said}");
        assert!(said.contains("backup"), "what to do is said: {said}");
        if views {
            let checked = lamina(&["check", "--data", text(&data)]);
            code(&checked, 2);
            assert!(out(&checked).contains("another key"), "{}", out(&checked));
        }
        put(&key, &good);
        let server = launch(directory.path(), &[]).start().unwrap();
        let mut api = Api::of(server.client(), "faults-key");
        assert_eq!(api.event(&event)["content"]["text"], "My dog is called Vimto.");
        server.stop().unwrap();
        code(&lamina(&["check", "--data", text(&data)]), 0);
    }
}

#[test]
fn check_reads_the_format_of_the_directory() {
    let directory = Own::start().stop();
    let data = data(directory.path());
    let format = data.join("FORMAT");
    for (bytes, expected) in [
        (&b"lamina data directory\nformat 9\n"[..], "format 9"),
        (b"garbage", "not the format file"),
    ] {
        put(&format, bytes);
        let checked = lamina(&["check", "--data", text(&data)]);
        assert!(!checked.status.success(), "{}", out(&checked));
        assert!(err(&checked).contains(expected), "{}", err(&checked));
    }
    RealDisk.remove(&format).unwrap();
    let checked = lamina(&["check", "--data", text(&data)]);
    assert!(!checked.status.success());
    assert!(err(&checked).contains("no Lamina data directory"), "{}", err(&checked));
}

#[test]
fn second_server_on_a_directory_is_refused_while_the_first_serves() {
    let own = Own::start();
    let mut api = own.api("faults-second");
    let event = api.write("the first event");
    let data = data(own.directory.path());
    let mut others = Vec::new();
    for _ in 0..3 {
        let data = data.clone();
        others.push(std::thread::spawn(move || serve(&data)));
    }
    for other in others {
        let refused = other.join().unwrap();
        assert!(!refused.status.success());
        assert!(err(&refused).contains("in use"), "{}", err(&refused));
    }
    assert_eq!(api.event(&event)["content"]["text"], "the first event");
    api.write("it goes on");
    // After a kill the lock is free at once.
    let own = own.crash();
    let mut api = own.api("faults-second");
    assert_eq!(api.event(&event)["content"]["text"], "the first event");
}

#[test]
fn stopped_process_goes_on_where_it_was() {
    let own = Own::start();
    let mut api = own.api("faults-signals");
    let event = api.write("before");
    let pid = rustix::process::Pid::from_raw(own.server.pid().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    assert_eq!(api.event(&event)["content"]["text"], "before");
    let after = api.write("after");
    let own = own.restart();
    let mut api = own.api("faults-signals");
    assert_eq!(api.event(&after)["content"]["text"], "after");
}
