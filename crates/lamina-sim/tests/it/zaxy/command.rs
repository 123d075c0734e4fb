//! What a person types: keys, signed exports, verification, disclosure, logs, pushes, exit codes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use lamina_env::RealDisk;
use lamina_env::disk::{read_file, write_atomic};
use lamina_sim::process::run;
use serde_json::{Value, json};

use super::{export, log_of};
use crate::harness::{Own, binary, directory, string};

pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn lamina(words: &[&str]) -> Ended {
    let output = run(&binary(), words).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

#[track_caller]
pub(crate) fn fine(words: &[&str]) -> Ended {
    let ended = lamina(words);
    assert_eq!(ended.code, Some(0), "{words:?}: {}{}", ended.out, ended.err);
    ended
}

#[track_caller]
fn ends_with(code: i32, words: &[&str]) -> Ended {
    let ended = lamina(words);
    assert_eq!(ended.code, Some(code), "{words:?}: {}{}", ended.out, ended.err);
    ended
}

pub(crate) fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub(super) fn read(path: &Path) -> String {
    String::from_utf8(read_file(&RealDisk, path, 1 << 26).unwrap()).unwrap()
}

pub(super) fn write(path: &Path, text: &str) {
    write_atomic(&RealDisk, path, text.as_bytes()).unwrap();
}

pub(crate) fn keygen(private: &Path, public: &Path, algorithm: &str) -> Ended {
    fine(&[
        "export-keygen",
        "--out-private",
        shown(private),
        "--out-public",
        shown(public),
        "--algorithm",
        algorithm,
    ])
}

#[test]
fn key_is_private_and_not_replaced_and_says_that_signing_is_experimental() {
    let folder = directory();
    for algorithm in ["ed25519", "ml-dsa-65"] {
        let private = folder.path().join(format!("{algorithm}.pem"));
        let public = folder.path().join(format!("{algorithm}.pub"));
        let made = keygen(&private, &public, algorithm);
        assert!(made.err.contains("EXPERIMENTAL and UNAUDITED"), "{}", made.err);
        let mode = private.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let digits = if algorithm == "ed25519" { 64 } else { 3_904 };
        assert_eq!(read(&public).len(), digits);
        let key = read(&private);
        assert!(!made.out.contains(key.lines().nth(1).unwrap()), "{}", made.out);
        let words = ["export-keygen", "--out-private", shown(&private)];
        ends_with(64, &[&words[..], &["--out-public", shown(&public)]].concat());
        assert_eq!(read(&private), key);
    }
}

#[test]
fn session_is_signed_verified_and_disclosed_with_either_algorithm() {
    let own = Own::start();
    let url = format!("http://{}", own.server.address());
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    let mut api = own.api("command");
    let scope = "project:atlas/session:agent-1";
    for (kind, payload) in [
        ("goal.created", json!({"title": "Ship"})),
        ("decision.made", json!({"decision": "Use Rust"})),
    ] {
        let body = json!({"scope": scope, "modality": "observation",
            "content": {"kind": "json", "data": {"type": kind, "payload": payload}}});
        api.post("/v1/experience?wait=settled", &body).ok(200);
    }
    let session = ["--session-id", "agent-1", "--project", "atlas", "--url", &url];
    for algorithm in ["ed25519", "ml-dsa-65"] {
        let (private, public) = (at(&format!("{algorithm}.pem")), at(&format!("{algorithm}.pub")));
        keygen(&private, &public, algorithm);
        let (bundle, subset) = (at(&format!("{algorithm}.json")), at(&format!("{algorithm}.sub")));
        let words = ["export", "--out", shown(&bundle), "--private-key", shown(&private)];
        let exported = fine(&[&words[..], &session].concat());
        assert!(exported.out.contains(&format!("alg={algorithm}, root=")), "{}", exported.out);
        assert!(exported.err.contains("EXPERIMENTAL and UNAUDITED"), "{}", exported.err);
        let pin = read(&public);
        let verified = fine(&["verify-export", shown(&bundle), "--expect-public-key", &pin]);
        assert!(verified.out.starts_with("verify: OK\n"), "{}", verified.out);
        let loose = fine(&["verify", shown(&bundle)]);
        assert!(loose.out.contains("pinned       false") && loose.err.contains("nobody said"));
        ends_with(2, &["verify", shown(&bundle), "--require-pin"]);
        ends_with(2, &["verify-export", shown(&bundle), "--expect-public-key", &"00".repeat(32)]);
        let words = ["export-disclose", shown(&bundle), "--out", shown(&subset)];
        let some = [&words[..], &["--grains", "event", "--kinds", "goal.created"]].concat();
        let disclosed = fine(&some);
        assert!(disclosed.out.starts_with("disclosed 1 of "), "{}", disclosed.out);
        assert!(!read(&subset).contains("Use Rust"));
        let words = ["verify-export-subset", shown(&subset), "--expect-public-key", shown(&public)];
        fine(&words);
        fine(&["verify", shown(&subset), "--expect-public-key", &pin]);
        // Changed words, another shape, no JSON, no file.
        write(&at("changed"), &read(&bundle).replace("Use Rust", "Use Dust"));
        ends_with(2, &["verify", shown(&at("changed"))]);
        ends_with(2, &["export-disclose", shown(&at("changed")), "--out", "-"]);
        ends_with(3, &["verify-export-subset", shown(&bundle)]);
        write(&at("text"), "no JSON");
        ends_with(3, &["verify-export", shown(&at("text"))]);
        ends_with(3, &["verify", shown(&at("text"))]);
        ends_with(4, &["verify-export", shown(&at("nothing"))]);
        // The flags agree with the key, or nothing is signed.
        let other = if algorithm == "ed25519" { "ml-dsa-65" } else { "ed25519" };
        let words = ["export", "--out", "-", "--private-key", shown(&private)];
        ends_with(64, &[&words[..], &session, &["--algorithm", other]].concat());
    }
    let (private, public) = (at("ed25519.pem"), at("ml-dsa-65.pub"));
    let words = ["export", "--out", "-", "--private-key", shown(&private)];
    ends_with(64, &[&words[..], &session, &["--public-key", shown(&public)]].concat());
    // An empty selection is a bundle without entries, and nothing that can be signed.
    let none = ["--types", "nothing.here"];
    let empty = fine(&[&["export", "--out", "-"][..], &session, &none].concat());
    assert!(empty.err.contains("the selection is empty"), "{}", empty.err);
    ends_with(2, &[&words[..], &session, &none].concat());
    own.stop();
}

#[test]
fn http_and_command_line_give_the_same_bytes() {
    let own = Own::start();
    let url = format!("http://{}", own.server.address());
    let mut api = own.api("same-bytes");
    api.write_settled("Ada works at Quillfeather. \u{1f600}");
    api.write_settled("Bo likes tea.");
    let job = export(&mut api, &json!({"selector": {"max_seq": 1}}));
    let scope = api.scope.clone();
    let words = ["export", "--scope", &scope, "--max-seq", "1", "--out", "-", "--url", &url];
    assert_eq!(fine(&words).out, string(&job, "data"));
    let log = export(&mut api, &json!({"format": "eventloom"}));
    let words = ["export", "--scope", &scope, "--format", "eventloom", "--out", "-", "--url", &url];
    assert_eq!(fine(&words).out, string(&log, "data"));
    // A push writes what a pull gives.
    let folder = directory();
    let pushed = folder.path().join("pushed.json");
    let words = ["export-push", "--sink", "file", "--dest", shown(&pushed), "--scope", &scope];
    let said = fine(&[&words[..], &["--max-seq", "1", "--url", &url]].concat());
    assert!(said.out.starts_with("pushed ") && said.out.contains("(unsigned) to file"));
    assert_eq!(read(&pushed), string(&job, "data"));
    own.stop();
}

#[test]
fn log_is_written_once_verified_and_exported_without_a_server() {
    let own = Own::start();
    let url = format!("http://{}", own.server.address());
    let mut api = own.api("log");
    let scope = "project:atlas/session:agent-1";
    let body = json!({"scope": scope, "content": "Ada works at Quillfeather."});
    api.post("/v1/experience?wait=settled", &body).ok(200);
    let folder = directory();
    let logs = folder.path().join(".eventloom");
    let words =
        ["export", "--session-id", "agent-1", "--project", "atlas", "--format", "eventloom"];
    let words = [&words[..], &["--out", shown(&logs), "--url", &url]].concat();
    fine(&words);
    ends_with(64, &words);
    let log = logs.join("agent-1.jsonl");
    let text = read(&log);
    assert!(text.contains("inference.edge.generated") && text.contains("evt_zaxy_000000000001_"));
    for path in [&log, &logs, &folder.path().to_owned()] {
        assert!(fine(&["verify", shown(path)]).out.contains("verify: OK"));
    }
    let bundle = folder.path().join("bundle.json");
    let words = ["export", "--eventloom-path", shown(&logs), "--session-id", "agent-1"];
    fine(&[&words[..], &["--out", shown(&bundle)]].concat());
    let read_bundle: Value = serde_json::from_str(&read(&bundle)).unwrap();
    assert_eq!(read_bundle["session_id"], "agent-1");
    // A log that does not verify is not exported.
    write(&log, &text.replacen("Quillfeather", "Quillweather", 1));
    ends_with(2, &["verify", shown(&log)]);
    let refused = ends_with(2, &[&words[..], &["--out", "-"]].concat());
    assert!(refused.out.is_empty() && refused.err.contains("does not verify"), "{}", refused.err);
    own.stop();
}

#[test]
fn webhook_is_tried_again_and_sees_the_token_but_no_key() {
    use std::io::{Read as _, Write as _};
    let folder = directory();
    let logs = folder.path().join(".eventloom");
    lamina_env::Disk::create_dir_all(&RealDisk, &logs).unwrap();
    write(&logs.join("one.jsonl"), &log_of("one", &[("goal.created", json!({"title": "Ship"}))]));
    let (private, token) = (folder.path().join("k.pem"), folder.path().join("token"));
    keygen(&private, &folder.path().join("k.pub"), "ed25519");
    let key = read(&private);
    write(&token, "tok-123\n");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dest = format!("http://{}/hook", listener.local_addr().unwrap());
    let hook = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in ["503 Busy", "200 OK"] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = Vec::new();
            let mut piece = [0; 4_096];
            loop {
                let count = stream.read(&mut piece).unwrap();
                bytes.extend_from_slice(&piece[..count]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head.lines().find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
                });
                if length == Some(body.len()) {
                    break;
                }
            }
            let answer =
                format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
            asked.push(String::from_utf8(bytes).unwrap());
        }
        asked
    });
    let words = ["export-push", "--sink", "webhook", "--dest", &dest, "--session-id", "one"];
    let more = ["--eventloom-path", shown(&logs), "--private-key", shown(&private)];
    let pushed = fine(&[&words[..], &more, &["--auth-token-file", shown(&token)]].concat());
    assert!(pushed.out.contains("(signed) to webhook"), "{}", pushed.out);
    assert!(pushed.err.contains("attempt 1 of 5"), "{}", pushed.err);
    let asked = hook.join().unwrap();
    let body = |asked: &str| asked.split_once("\r\n\r\n").unwrap().1.to_owned();
    assert_eq!(body(&asked[0]), body(&asked[1]));
    assert!(asked[1].to_ascii_lowercase().contains("authorization: bearer tok-123"));
    assert!(!asked.concat().contains(key.lines().nth(1).unwrap()));
    for output in [&pushed.out, &pushed.err] {
        assert!(!output.contains("tok-123"));
    }
    // Nothing crosses the network in the clear.
    let words = ["export-push", "--sink", "webhook", "--dest", "http://example.com/hook"];
    ends_with(
        64,
        &[&words[..], &["--session-id", "one", "--eventloom-path", shown(&logs)]].concat(),
    );
}
