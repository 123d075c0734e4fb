//! A scope whose log does not verify is exported by no format that proves something.

use std::path::{Path, PathBuf};

use lamina_env::disk::read_file;
use lamina_env::{Disk as _, RealDisk};
use serde_json::json;

use crate::harness::{Own, data, envelope};

/// The segments of the log, without those of the audit log.
fn segments(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for name in RealDisk.list(directory).unwrap() {
        let path = directory.join(&name);
        match path.is_dir() {
            true if name != "audit" => found.extend(segments(&path)),
            true => {}
            false if name.ends_with(".seg") => found.push(path),
            false => {}
        }
    }
    found
}

fn find(bytes: &[u8], words: &[u8]) -> Option<usize> {
    bytes.windows(words.len()).position(|window| window == words)
}

#[test]
fn scope_whose_log_was_changed_is_not_exported() {
    let own = Own::start();
    let mut api = own.api("zaxy-damaged");
    let (hurt, whole) = (format!("{}-hurt", api.scope), format!("{}-whole", api.scope));
    for (scope, words) in [(&hurt, "The cipher is obsidian."), (&whole, "The gate is green.")] {
        api.post("/v1/experience?wait=settled", &envelope(scope, words)).ok(200);
        api.post("/v1/experience?wait=settled", &envelope(scope, "Then came Tuesday.")).ok(200);
    }
    // One bit, under a server that runs: at a start it would refuse the whole directory.
    let flipped = segments(&data(own.directory.path())).into_iter().any(|segment| {
        let bytes = read_file(&RealDisk, &segment, 1 << 30).unwrap();
        let Some(at) = find(&bytes, b"The cipher is obsidian.") else { return false };
        let file = RealDisk.open(&segment).unwrap();
        file.write_at(&[bytes[at + 4] ^ 1], at as u64 + 4).unwrap();
        true
    });
    assert!(flipped, "the words stand in the log");
    for format in ["zaxy", "eventloom", "aegx"] {
        let answer = api.post("/v1/export", &json!({"scope": hurt, "format": format})).response;
        assert_eq!(answer.status, 503, "{format}: {}", answer.text());
        assert!(answer.text().contains("RECORD_DAMAGED"), "{format}: {}", answer.text());
        assert!(!answer.text().contains("Tuesday"), "{format}: {}", answer.text());
        let answer = api.post("/v1/export", &json!({"scope": whole, "format": format})).response;
        assert_eq!(
            answer.status,
            202,
            "damage of others hurts nobody: {format}: {}",
            answer.text()
        );
    }
    own.stop();
}
