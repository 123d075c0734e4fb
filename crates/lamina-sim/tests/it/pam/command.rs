//! `lamina export --format pam`, `lamina verify` and `lamina import` of stores: what a person types and sees.

use std::path::Path;

use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk as _, RealDisk};
use lamina_portable::sign::SigningKey;
use lamina_sim::process::run;
use serde_json::{Value, json};

use super::fill;
use crate::harness::{Own, binary, directory, string};
use crate::import::fixtures;

struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

fn lamina(words: &[&str]) -> Ended {
    let output = run(&binary(), words).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn store(folder: &Path) -> Value {
    let bytes = read_file(&RealDisk, &folder.join("memory-store.json"), 1 << 24).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn store_is_signed_here_verified_and_imported() {
    let own = Own::start();
    let url = format!("http://{}", own.server.address());
    let mut api = own.api("pam-command");
    fill(&mut api);
    let key = SigningKey::from_seed(&[7; 32]);
    let pem = own.directory.path().join("key.pem");
    write_atomic(&RealDisk, &pem, key.to_pem().as_bytes()).unwrap();
    let folder = own.directory.path().join("nora-pam");
    let words = [
        "export",
        "--format",
        "pam",
        "--scope",
        &api.scope,
        "--out",
        shown(&folder),
        "--url",
        &url,
        "--private-key",
        shown(&pem),
    ];
    let ended = lamina(&words);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    let written = store(&folder);
    assert_eq!(written["owner"]["did"], key.public().to_did_key());
    let id = string(&written, "export_id");
    assert!(ended.err.contains(&format!("--base {id}")), "{}", ended.err);
    // What is there stays there.
    let refused = lamina(&words);
    assert_eq!(refused.code, Some(64), "{}{}", refused.out, refused.err);
    assert_eq!(store(&folder)["signature"], written["signature"]);
    let hex = key.public().to_hex();
    let checked = lamina(&["verify", shown(&folder), "--expect-public-key", &hex]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
    assert!(checked.out.contains("verify: OK") && checked.out.contains("verified by did:key:"));
    let other = SigningKey::from_seed(&[8; 32]).public().to_hex();
    let wrong = lamina(&["verify", shown(&folder), "--expect-public-key", &other]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.out);
    // A delta as a ZIP.
    super::say(&mut api, "I moved to Berlin.", "2025-09-10T10:00:00Z");
    let zip = own.directory.path().join("delta.zip");
    let ended = lamina(&[
        "export",
        "--format",
        "pam",
        "--scope",
        &api.scope,
        "--out",
        shown(&zip),
        "--url",
        &url,
        "--base",
        &id,
    ]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    let checked = lamina(&["verify", shown(&zip), "--json"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
    let report: Value = serde_json::from_str(&checked.out).unwrap();
    assert_eq!((&report["ok"], &report["signature"]), (&json!(true), &json!("unsigned")));
    check_signed_import(&folder, &api.scope);
    own.stop();
}

/// Into a server that knows nothing: the command recognizes the store.
fn check_signed_import(folder: &Path, scope: &str) {
    let second = Own::start();
    let url = format!("http://{}", second.server.address());
    let words = ["import", shown(folder), "--scope", scope, "--url", &url, "--require-signature"];
    let ended = lamina(&words);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("a portable memory store"), "{}", ended.out);
    second.stop();
}

#[test]
fn verify_names_the_rule_the_file_and_the_place() {
    let folder = directory();
    let copy = folder.path().join("pam");
    RealDisk.create_dir_all(&copy.join("conversations")).unwrap();
    for name in ["memory-store.json", "conversations/talk-1.json"] {
        let bytes = read_file(&RealDisk, &fixtures().join("pam").join(name), 1 << 20).unwrap();
        write_atomic(&RealDisk, &copy.join(name), &bytes).unwrap();
    }
    let good = lamina(&["verify", shown(&copy)]);
    assert_eq!(good.code, Some(0), "{}{}", good.out, good.err);
    let path = copy.join("memory-store.json");
    let text = String::from_utf8(read_file(&RealDisk, &path, 1 << 20).unwrap()).unwrap();
    let broken = text.replace("User lives in Lisbon", "User lives in London");
    write_atomic(&RealDisk, &path, broken.as_bytes()).unwrap();
    let bad = lamina(&["verify", shown(&copy)]);
    assert_eq!(bad.code, Some(2), "{}{}", bad.out, bad.err);
    let line = "error content-hash: memory-store.json /memories/1";
    assert!(bad.out.contains(line), "{}", bad.out);
    assert!(bad.out.contains("error integrity-checksum: memory-store.json"), "{}", bad.out);
    write_atomic(&RealDisk, &path, b"{\"schema\": \"portable-ai-memory\"").unwrap();
    let none = lamina(&["verify", shown(&copy)]);
    assert_eq!(none.code, Some(3), "{}{}", none.out, none.err);
    // A format without a signature takes no key.
    let words = [
        "export",
        "--format",
        "mem0",
        "--scope",
        "user:a",
        "--out",
        "-",
        "--private-key",
        shown(&path),
    ];
    assert_eq!(lamina(&words).code, Some(64));
}
