//! Directories that earlier versions made: this version opens each, shows what it held, and goes on. The samples are in
//! `fixtures/directories`; `tools/sample_directory.py` adds one. `docs/OPERATIONS.md` has the policy.

use std::path::{Path, PathBuf};
use std::process::Command;

use lamina_env::disk::read_file;
use lamina_env::{Disk, RealDisk};
use serde_json::{Value, json};

use crate::cli::{code, err, lamina, out, text};
use crate::harness::{Api, Own, data, directory, launch, string};

const SAMPLE_BYTES_MAX: usize = 1 << 20;

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/directories");
    let names = RealDisk.list(&folder).unwrap();
    let samples: Vec<PathBuf> =
        names.iter().filter(|name| name.ends_with(".json")).map(|name| folder.join(name)).collect();
    assert!(!samples.is_empty(), "there is a sample of the first format");
    samples
}

fn unpack(sample: &Path, into: &Path) {
    let archive = sample.with_extension("tar.gz");
    assert!(read_file(&RealDisk, &archive, 1 << 30).unwrap().len() < SAMPLE_BYTES_MAX);
    let unpacked = Command::new("tar")
        .args(["--extract", "--gzip", "--file"])
        .arg(&archive)
        .arg("--directory")
        .arg(into)
        .status()
        .unwrap();
    assert!(unpacked.success());
}

fn expected(sample: &Path) -> Value {
    serde_json::from_slice(&read_file(&RealDisk, sample, 1 << 20).unwrap()).unwrap()
}

/// What a sample holds, over HTTP.
fn shows(api: &mut Api, expected: &Value) {
    for (id, words) in expected["events"].as_object().unwrap() {
        assert_eq!(api.event(id)["content"]["text"], *words);
    }
    let scope = string(expected, "scope");
    let page = api.get(&format!("/v1/facts?scope={scope}&limit=50")).ok(200);
    let mut facts: Vec<String> =
        page["items"].as_array().unwrap().iter().map(|fact| string(fact, "id")).collect();
    facts.sort();
    assert_eq!(json!(facts), expected["facts"], "ids of facts are minted once");
    let forgotten = string(expected, "forgotten");
    api.get(&format!("/v1/events/{forgotten}")).fails(410, "RESOURCE_DELETED");
    let cancelled = string(expected, "cancelled");
    assert_eq!(api.event(&cancelled)["excluded_from_recall"], true);
    let blob = string(&expected["blob"], "id");
    let bytes = api.get(&format!("/v1/blobs/{blob}")).response.text().to_owned();
    assert_eq!(json!(bytes), expected["blob"]["text"]);
    let recalled = api.post("/v1/recall", &json!({"scope": scope, "query": "Where do I live?"}));
    assert!(recalled.ok(200).to_string().contains("Lisbon"));
}

/// With the views of then, and without them: they are made again from the log.
#[test]
fn directory_of_an_earlier_version_opens_and_shows_what_it_held() {
    for sample in samples() {
        for views in [true, false] {
            let directory = directory();
            unpack(&sample, directory.path());
            let data = data(directory.path());
            if !views {
                RealDisk.remove_dir_all(&data.join("views")).unwrap();
            }
            let checked = lamina(&["check", "--data", text(&data)]);
            code(&checked, 0);
            assert!(!out(&checked).contains("DAMAGED"), "{}", out(&checked));
            let server = launch(directory.path(), &[]).start().unwrap();
            let own = Own { server, directory };
            let mut api = own.api("upgrades");
            let expected = expected(&sample);
            shows(&mut api, &expected);
            api.scope = string(&expected, "scope");
            let event = api.write_settled("I live in Rome now.");
            let own = own.restart();
            let mut api = own.api("upgrades");
            shows_event(&mut api, &event);
            let directory = own.stop();
            let data = crate::harness::data(directory.path());
            let checked = lamina(&["check", "--data", text(&data)]);
            code(&checked, 0);
            assert!(out(&checked).contains("everything verifies"), "{}", out(&checked));
            let word = string(&expected, "forgotten_word");
            assert!(!holds(&data, &word), "what was forgotten stays forgotten");
        }
    }
}

fn shows_event(api: &mut Api, id: &str) {
    assert_eq!(api.event(id)["content"]["text"], "I live in Rome now.");
}

/// Whether a word stands in a file of the log.
fn holds(data: &Path, word: &str) -> bool {
    RealDisk.list(&data.join("log")).unwrap().iter().any(|name| {
        let bytes = read_file(&RealDisk, &data.join("log").join(name), 1 << 30).unwrap();
        bytes.windows(word.len()).any(|part| part == word.as_bytes())
    })
}

#[test]
fn directory_of_a_later_format_is_refused_and_left_alone() {
    let sample = samples().remove(0);
    let directory = directory();
    unpack(&sample, directory.path());
    let data = data(directory.path());
    let later = b"lamina data directory\nformat 99\n";
    lamina_env::disk::write_atomic(&RealDisk, &data.join("FORMAT"), later).unwrap();
    let before = RealDisk.list(&data).unwrap();
    for command in ["serve", "check", "repair", "rebuild"] {
        let refused = lamina(&[command, "--data", text(&data)]);
        assert!(!refused.status.success(), "{command}: {}", out(&refused));
        let said = format!("{}{}", out(&refused), err(&refused));
        assert!(said.contains("format 99"), "{command}: {said}");
    }
    let mut after = RealDisk.list(&data).unwrap();
    after.retain(|name| name != "LOCK");
    let mut before = before;
    before.retain(|name| name != "LOCK");
    assert_eq!(after, before);
}
