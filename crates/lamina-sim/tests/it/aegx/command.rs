//! The commands: export, verify, import, and their exit codes.

use std::path::{Path, PathBuf};

use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk as _, RealDisk};
use serde_json::{Value, json};

use super::write;
use crate::harness::{Own, directory};
use crate::zaxy::command::{Ended, fine, lamina, shown};

#[track_caller]
fn ends_with(code: i32, words: &[&str]) -> Ended {
    let ended = lamina(words);
    assert_eq!(ended.code, Some(code), "{words:?}: {}{}", ended.out, ended.err);
    ended
}

fn bytes(path: &Path) -> Vec<u8> {
    read_file(&RealDisk, path, 1 << 26).unwrap()
}

/// A server with a scope of three events, and a bundle of it in a directory.
fn exported(own: &Own, home: &Path) -> (String, PathBuf) {
    let mut api = own.api("aegx-cli");
    for text in ["I live in Porto.", "I keep bees.", "The ferry leaves at noon."] {
        write(&mut api, text, &json!({}));
    }
    let place = home.join("bundle");
    let url = format!("http://{}", own.server.address());
    fine(&[
        "export", "--format", "aegx", "--scope", &api.scope, "--url", &url, "--out", shown(&place),
    ]);
    (api.scope.clone(), place)
}

#[test]
fn bundle_is_exported_verified_and_imported() {
    let own = Own::start();
    let home = directory();
    let (scope, place) = exported(&own, home.path());
    let url = format!("http://{}", own.server.address());
    let ended = fine(&["verify", shown(&place)]);
    assert!(ended.out.contains("verify: OK"), "{}", ended.out);
    let proof = format!("proof: all 3 events of {scope} up to entry");
    assert!(ended.out.contains(&proof), "{}", ended.out);
    fine(&["verify", shown(&place), "--reference"]);
    let archive = home.path().join("bundle.aegx.zip");
    let words = ["export", "--format", "aegx", "--scope", &scope, "--url", &url];
    fine(&[&words[..], &["--out", shown(&archive), "--pseudonymous"]].concat());
    let ended = fine(&["verify", shown(&archive), "--json"]);
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((&report["ok"], &report["proof"]["events"]), (&json!(true), &json!(3)), "{report}");
    assert!(!ended.out.contains(&scope), "{}", ended.out);
    // The key that signs the log pins the bundle.
    let key = report["proof"]["signed_by"].as_str().unwrap();
    let pinned = fine(&["verify", shown(&place), "--expect-public-key", key, "--json"]);
    let report: Value = serde_json::from_str(&pinned.out).unwrap();
    assert_eq!(report["pinned"], true);
    let other = "ab".repeat(32);
    ends_with(2, &["verify", shown(&place), "--expect-public-key", &other]);
    let named = home.path().join("log.key");
    write_atomic(&RealDisk, &named, format!("log-signing ed25519 {key}\n").as_bytes()).unwrap();
    fine(&["verify", shown(&place), "--expect-public-key", shown(&named), "--require-pin"]);
    ends_with(2, &["verify", shown(&place), "--require-pin"]);
    // A place that is taken stays.
    ends_with(64, &[&words[..], &["--out", shown(&place)]].concat());
    fine(&[&words[..], &["--out", shown(&place), "--force"]].concat());
    for source in [&place, &archive] {
        let target = format!("{scope}-{}", if source == &place { "copy" } else { "names" });
        let ended = fine(&["import", shown(source), "--scope", &target, "--url", &url]);
        assert!(ended.err.contains("evidence bundle") || ended.out.contains('3'), "{}", ended.out);
    }
    own.stop();
}

#[test]
fn every_error_is_told_and_the_worst_decides_the_exit_code() {
    let own = Own::start();
    let home = directory();
    let (_, place) = exported(&own, home.path());
    let records = String::from_utf8(bytes(&place.join("records.jsonl"))).unwrap();
    let edit = |name: &str, text: &str| {
        write_atomic(&RealDisk, &place.join(name), text.as_bytes()).unwrap();
    };
    let changed = records
        .replace("I live in Porto.", "I live in Paris.")
        .replace("I keep bees.", "I keep wasps.");
    edit("records.jsonl", &changed);
    let ended = ends_with(2, &["verify", shown(&place)]);
    assert_eq!(ended.out.matches("RECORD_ID_MISMATCH").count(), 2, "{}", ended.out);
    assert!(ended.out.contains("records.jsonl line "), "{}", ended.out);
    edit("records.jsonl", &changed.replacen("\"principal\":\"SYS\"", "\"principal\":\"GOD\"", 1));
    let ended = ends_with(3, &["verify", shown(&place)]);
    assert!(ended.out.contains("MEMBER_INVALID"), "{}", ended.out);
    assert!(ended.out.contains("RECORD_ID_MISMATCH"), "the others are told too: {}", ended.out);
    RealDisk.remove(&place.join("audit-log.jsonl")).unwrap();
    let ended = ends_with(4, &["verify", shown(&place)]);
    assert!(ended.out.contains("FILE_MISSING"), "{}", ended.out);
    let ended = ends_with(4, &["verify", shown(&place), "--json"]);
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(report["exit_code"], 4);
    assert!(report["findings"].as_array().unwrap().len() >= 3, "{report}");
    ends_with(4, &["verify", shown(&home.path().join("nowhere"))]);
    own.stop();
}

/// An archive whose one entry inflates to this many zeros.
fn bomb(bytes: usize) -> Vec<u8> {
    let mut zip = lamina_portable::zip::ZipWriter::new(Vec::new());
    zip.add_deflated("records.jsonl", &vec![b' '; bytes]).unwrap();
    zip.finish().unwrap()
}

#[test]
fn hostile_archive_is_refused_before_it_is_inflated() {
    let home = directory();
    let place = home.path().join("bomb.aegx.zip");
    write_atomic(&RealDisk, &place, &bomb(64 << 20)).unwrap();
    let ended = ends_with(4, &["verify", shown(&place)]);
    assert!(ended.out.contains("ARCHIVE"), "{}", ended.out);
}
