//! `lamina import`: what a person types and sees.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk, RealDisk};
use lamina_sim::process::run;
use serde_json::{Value, json};

use super::{events, fixtures, line};
use crate::harness::{Own, binary, data, directory};

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

#[test]
fn directory_goes_to_a_server_once_and_leaves_a_report() {
    let own = Own::start();
    let url = format!("http://{}", own.server.address());
    let report = own.directory.path().join("report.json");
    let source = fixtures().join("claude");
    let words = [
        "import",
        shown(&source),
        "--scope",
        "user:nora",
        "--url",
        &url,
        "--report",
        shown(&report),
    ];
    let dry = lamina(&[&words[..], &["--dry-run"]].concat());
    assert_eq!(dry.code, Some(0), "{}{}", dry.out, dry.err);
    assert!(dry.out.contains("would write             8"), "{}", dry.out);
    let first = lamina(&words);
    assert_eq!(first.code, Some(0), "{}", first.err);
    assert!(
        first.out.contains("This is a Claude export")
            && first.out.contains("written                 8"),
        "{}",
        first.out
    );
    let told: Value =
        serde_json::from_slice(&read_file(&RealDisk, &report, 1 << 20).unwrap()).unwrap();
    assert_eq!((&told["format"], &told["written"]), (&json!("claude"), &json!(8)), "{told}");
    let again = lamina(&words);
    assert!(again.out.contains("known already           8"), "{}", again.out);
    let mut api = own.api("command");
    assert_eq!(events(&mut api, "user:nora").len(), 8);
    own.stop();
}

#[test]
fn data_directory_takes_an_import_without_a_server() {
    let folder = directory();
    let place = data(folder.path());
    let source = folder.path().join("notes.jsonl");
    let lines = [line("user:nora", "I like tea.", 1), "broken".to_owned()].join("\n");
    write_atomic(&RealDisk, &source, lines.as_bytes()).unwrap();
    let words = ["import", shown(&source), "--data", shown(&place), "--actor", "user:nora"];
    let ended = lamina(&words);
    assert_eq!(ended.code, Some(2), "a refused row: {}{}", ended.out, ended.err);
    assert!(
        ended.err.contains("This is JSONL") && ended.out.contains("line 2: INVALID_BODY"),
        "{}{}",
        ended.out,
        ended.err
    );
    let json = lamina(&[&words[..], &["--json"]].concat());
    let job: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&job["known"], &job["failed"]), (&json!(1), &json!(1)), "{job}");
    let server = crate::harness::launch(folder.path(), &[]).start().unwrap();
    let own = Own { server, directory: folder };
    let mut api = own.api("command");
    assert_eq!(events(&mut api, "user:nora").len(), 1);
    own.stop();
}

#[test]
fn data_directory_gives_an_export_without_a_server() {
    let folder = directory();
    let place = data(folder.path());
    let source = folder.path().join("notes.jsonl");
    // More than an answer holds, so that the bytes are streamed.
    let row = |n: u32| line("user:nora", &format!("note {n} {}", "x".repeat(1_000)), n);
    let lines: Vec<String> = (0..3_000).map(row).collect();
    write_atomic(&RealDisk, &source, lines.join("\n").as_bytes()).unwrap();
    let words = ["import", shown(&source), "--data", shown(&place), "--actor", "user:nora"];
    assert_eq!(lamina(&words).code, Some(0));
    let out = folder.path().join("nora.jsonl");
    let words = [
        "export",
        "--scope",
        "user:nora",
        "--data",
        shown(&place),
        "--actor",
        "user:nora",
        "--out",
        shown(&out),
    ];
    let ended = lamina(&words);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    let text = String::from_utf8(read_file(&RealDisk, &out, 64 << 20).unwrap()).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains("\"note ")).count(), 3_000);
    let own = Own {
        server: crate::harness::launch(folder.path(), &[]).start().unwrap(),
        directory: folder,
    };
    let used = lamina(&[&words[..], &["--force"]].concat());
    assert_eq!(used.code, Some(4), "a server uses the directory: {}{}", used.out, used.err);
    own.stop();
}

#[test]
fn source_that_cannot_be_imported_says_why() {
    let folder = directory();
    let place = data(folder.path());
    let at = |name: &str| folder.path().join(name);
    write_atomic(&RealDisk, &at("hello.txt"), b"hello").unwrap();
    write_atomic(&RealDisk, &at("empty.json"), b"{\"edges\":[]}").unwrap();
    RealDisk.create_dir_all(&at("linked")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", at("linked").join("conversations.json")).unwrap();
    let missing = at("missing.zip");
    let cases: [(&str, &[&str], i32, &str); 4] = [
        (shown(&missing), &[], 4, "is not there"),
        (&at("hello.txt").display().to_string(), &[], 64, "No format was recognized"),
        (&at("empty.json").display().to_string(), &["--format", "zep"], 4, "no rows"),
        (&at("linked").display().to_string(), &[], 4, "symbolic link"),
    ];
    for (path, more, code, word) in cases {
        let words = ["import", path, "--scope", "user:nora", "--data", shown(&place)];
        let ended = lamina(&[&words[..], more].concat());
        assert_eq!(ended.code, Some(code), "{path}: {}{}", ended.out, ended.err);
        assert!(ended.err.contains(word), "{path}: {}", ended.err);
    }
}

/// Somebody goes on writing to the file: nothing of it comes in, and nothing stays in staging.
#[test]
fn file_that_changes_while_it_is_read_is_refused() {
    let own = Own::start();
    let url = format!("http://{}", own.server.address());
    let path = own.directory.path().join("growing.jsonl");
    let row = |n: u32| line("user:nora", &format!("note {n} {}", "x".repeat(1_000)), n % 40_000);
    let lines: Vec<String> = (0..8_000).map(row).collect();
    write_atomic(&RealDisk, &path, (lines.join("\n") + "\n").as_bytes()).unwrap();
    let is_over = AtomicBool::new(false);
    let words = ["import", shown(&path), "--scope", "user:nora", "--url", &url];
    let ended = std::thread::scope(|threads| {
        threads.spawn(|| {
            let file = RealDisk.open(&path).unwrap();
            let mut n = 0;
            while !is_over.load(Ordering::Relaxed) {
                n += 1;
                file.write_at((row(n) + "\n").as_bytes(), file.len().unwrap()).unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let ended = lamina(&words);
        is_over.store(true, Ordering::Relaxed);
        ended
    });
    assert_eq!(ended.code, Some(4), "{}{}", ended.out, ended.err);
    assert!(ended.err.contains("changed while it was read; try again"), "{}", ended.err);
    let mut api = own.api("command");
    assert_eq!(events(&mut api, "user:nora"), Vec::<Value>::new());
    // Nobody writes any more: the file comes in.
    let again = lamina(&words);
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
    let directory = own.stop();
    let staged = data(directory.path()).join("imports");
    assert_eq!(RealDisk.list(&staged).unwrap(), Vec::<String>::new());
}
