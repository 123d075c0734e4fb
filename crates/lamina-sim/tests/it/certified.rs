//! Certificates of erasures: anybody can check one with the public key, and hold it against a directory. One of
//! a directory that was tampered with, cut, or not erased does not verify.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk, RealDisk};
use lamina_sim::client::Deadline;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::cli::{code, lamina, out, text};
use crate::coverage::check_schema;
use crate::harness::{Api, Own, data, directory, string};

/// An erasure waits for the search index, on a machine that may be busy.
const LONG: Duration = Duration::from_secs(180);

pub(crate) fn ended(api: &mut Api, id: &str) -> Value {
    let deadline = Deadline::after(LONG);
    loop {
        let status = api.get(&format!("/v1/erasures/{id}")).ok(200);
        check_schema("erasure_job", &status);
        if status["status"] != "running" {
            return status;
        }
        assert_eq!(status["certificate"], Value::Null, "nothing is certified before it is done");
        assert!(!deadline.passed(), "{status}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Writes into a scope and erases it; the manifest, and the answer with the certificate.
fn erased(own: &Own, area: &str) -> (Value, Value, String) {
    let mut api = own.api(area);
    for words in ["I live in Quaxley.", "My dog is called Vimto.", "I work at Zyxcorp."] {
        api.write_settled(words);
    }
    let begun = api.post("/v1/erasures", &json!({"scope": api.scope, "confirm_all": true})).ok(202);
    let manifest = api.get(&string(&begun, "manifest_url")).ok(200);
    let status = ended(&mut api, &string(&begun, "erasure_id"));
    (manifest, status, api.scope.clone())
}

pub(crate) fn save(path: &Path, value: &Value) -> PathBuf {
    write_atomic(&RealDisk, path, value.to_string().as_bytes()).unwrap();
    path.to_owned()
}

#[test]
fn a_certificate_is_checked_with_the_key_alone() {
    let own = Own::start();
    let (manifest, status, scope) = erased(&own, "certified");
    let certificate = &status["certificate"];
    assert_eq!(certificate["counts"]["deleted_events"], 3);
    assert_eq!((&certificate["number"], &certificate["previous"]), (&json!(1), &Value::Null));
    assert_eq!(certificate["audit_id"], status["audit_id"]);
    assert!(!certificate.to_string().contains("certified"), "no path is in it: {certificate}");
    let (_, second, _) = erased(&own, "certified-next");
    let hash = Sha256::digest(certificate.to_string().as_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(second["certificate"]["previous"], json!(hash), "each names the one before it");
    // It is there after a restart too.
    let own = own.restart();
    let target = format!("/v1/erasures/{}", string(&status, "erasure_id"));
    assert_eq!(own.api("certified").get(&target).ok(200)["certificate"], *certificate);

    let root = own.directory.path().to_owned();
    let keys = lamina(&["keys", "--data", text(&data(&root))]);
    code(&keys, 0);
    let key = root.join("key.txt");
    write_atomic(&RealDisk, &key, out(&keys).as_bytes()).unwrap();
    let bare = save(&root.join("bare.json"), certificate);
    let whole = save(&root.join("whole.json"), &status);
    let plan = save(&root.join("manifest.json"), &manifest);
    let key = text(&key);
    code(&lamina(&["verify", text(&bare), "--key", key]), 0);
    let words =
        ["verify", text(&whole), "--key", key, "--manifest", text(&plan), "--scope", &scope];
    let done = lamina(&words);
    code(&done, 0);
    assert!(out(&done).ends_with("the certificate verifies\n"), "{}", out(&done));
    code(&lamina(&["verify", text(&whole), "--key", key, "--scope", "user:other"]), 2);
    // Another key, another manifest, no key at all, no certificate.
    code(&lamina(&["verify", text(&bare), "--key", &"ab".repeat(32)]), 2);
    let other = save(
        &root.join("other.json"),
        &json!({
            "events_to_delete": [], "events_to_redact": [], "events_under_legal_hold": [],
        }),
    );
    code(&lamina(&["verify", text(&bare), "--key", key, "--manifest", text(&other)]), 2);
    code(&lamina(&["verify", text(&bare)]), 64);
    code(&lamina(&["verify", text(&plan), "--key", key]), 3);
    code(&lamina(&["verify", text(&root.join("nothing")), "--key", key]), 4);
    // Whatever is changed in it.
    for (field, value) in [
        ("number", json!(7)),
        ("counts", json!({"deleted_events": 3000})),
        ("scope_commitment", json!("00".repeat(32))),
        ("extra", json!(1)),
    ] {
        let mut changed = certificate.clone();
        changed[field] = value;
        let changed = save(&root.join("changed.json"), &changed);
        code(&lamina(&["verify", text(&changed), "--key", key]), 2);
    }
}

#[test]
fn a_directory_that_is_not_as_the_certificate_says_does_not_verify() {
    let own = Own::start();
    let copy = own.directory.path().join("copy");
    let source = data(own.directory.path());
    let mut api = own.api("held-against");
    api.write_settled("I live in Quaxley.");
    code(&lamina(&["backup", "--data", text(&source), "--to", text(&copy)]), 0);
    let begun = api.post("/v1/erasures", &json!({"scope": api.scope, "confirm_all": true})).ok(202);
    let status = ended(&mut api, &string(&begun, "erasure_id"));
    let held = own.stop();
    let dir = data(held.path());
    let certificate = save(&held.path().join("certificate.json"), &status);
    let strings = held.path().join("strings.txt");
    write_atomic(&RealDisk, &strings, b"Quaxley\n").unwrap();
    let verify = |dir: &Path| {
        lamina(&["verify", text(&certificate), "--data", text(dir), "--absent", text(&strings)])
    };
    let done = verify(&dir);
    code(&done, 0);
    assert!(out(&done).contains("sections are zero"), "{}", out(&done));
    // The directory as it was before.
    let before = directory();
    let earlier = data(before.path());
    let words = ["restore", "--from", text(&copy), "--data", text(&earlier), "--without-ledger"];
    code(&lamina(&words), 0);
    let done = verify(&earlier);
    code(&done, 2);
    assert!(out(&done).contains("FAIL"), "{}", out(&done));
    // It has everything in its index, and does not say otherwise.
    assert!(!out(&done).contains("ok   the search index"), "{}", out(&done));
    assert!(out(&done).contains("FAIL whether the search index"), "{}", out(&done));
    // A byte in a section that was erased; a log that was cut; the same directory again.
    let segment = dir.join("log").join("0000000000000000.seg");
    let bytes = read_file(&RealDisk, &segment, 1 << 30).unwrap();
    let zeros = bytes.windows(64).position(|at| at.iter().all(|byte| *byte == 0)).unwrap();
    let file = RealDisk.open(&segment).unwrap();
    file.write_at(b"Quaxley", zeros as u64 + 8).unwrap();
    code(&verify(&dir), 2);
    file.write_at(&[0; 7], zeros as u64 + 8).unwrap();
    code(&verify(&dir), 0);
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    file.write_at(&vec![0; end - end / 2], (end / 2) as u64).unwrap();
    code(&verify(&dir), 2);
    file.write_at(&bytes, 0).unwrap();
    code(&verify(&dir), 0);
    // Another directory altogether.
    let other = Own::start().stop();
    code(&verify(&data(other.path())), 2);
}

/// Every file below a directory: its bytes, and when they were written.
fn files(directory: &Path) -> BTreeMap<PathBuf, (Vec<u8>, i64)> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(folder) = open.pop() {
        for name in RealDisk.list(&folder).unwrap() {
            let path = folder.join(name);
            if RealDisk.list(&path).is_ok() {
                open.push(path);
                continue;
            }
            let bytes = read_file(&RealDisk, &path, 1 << 30).unwrap();
            let hash = Sha256::digest(&bytes).to_vec();
            let written = RealDisk.modified(&path).unwrap().0;
            found.insert(path, ([hash, bytes.len().to_le_bytes().to_vec()].concat(), written));
        }
    }
    found
}

#[test]
fn verifying_writes_nothing() {
    let own = Own::start();
    let (_, status, scope) = erased(&own, "looked-at");
    let held = own.stop();
    let dir = data(held.path());
    let certificate = save(&held.path().join("certificate.json"), &status);
    let strings = held.path().join("strings.txt");
    write_atomic(&RealDisk, &strings, b"Quaxley\n").unwrap();
    let before = files(&dir);
    let plain = ["verify", text(&certificate), "--data", text(&dir), "--scope", &scope];
    code(&lamina(&plain), 0);
    assert_eq!(files(&dir), before, "verifying changed a file");
    code(&lamina(&[&plain[..], &["--absent", text(&strings)]].concat()), 0);
    assert_eq!(files(&dir), before, "looking for strings changed a file");
}
