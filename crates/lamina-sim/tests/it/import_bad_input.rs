//! Hostile and broken sources: each is a clear error with its place, memory stays bounded, nothing is half done.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::harness::{Api, Own};
use crate::import::{Sender, archive, events, import, line, upload};

/// A source that is refused as a whole: nothing begins.
#[track_caller]
fn refused(api: &mut Api, query: &str, bytes: Vec<u8>, status: u16, word: &str) {
    let scope = api.scope.clone();
    let answer = api.ask(upload(&format!("{query}&scope={scope}"), bytes));
    assert_eq!(answer.response.status, status, "{query}: {}", answer.response.text());
    let text = answer.response.text();
    assert!(text.contains(word), "{query}: {text}");
    assert_eq!(events(api, &scope), Vec::<Value>::new());
}

/// A source of which some rows are refused, with the words of the first error.
#[track_caller]
fn costs_rows(api: &mut Api, query: &str, bytes: Vec<u8>, written: u64, word: &str) -> Value {
    let scope = api.scope.clone();
    let job = import(api, upload(&format!("{query}&scope={scope}"), bytes));
    assert_eq!(job["written"], written, "{query}: {job}");
    assert!(job["failed"].as_u64().unwrap() > 0, "{query}: {job}");
    let errors = job["errors"].to_string();
    assert!(errors.contains(word), "{query}: {errors}");
    job
}

#[test]
fn archive_with_path_escape_is_refused() {
    let mut api = Api::shared("bad-zip");
    for name in ["../evil.json", "/etc/evil.json", "a/../../evil.json", "C:\\\\evil.json"] {
        refused(&mut api, "format=openai", archive(&[(name, b"[]")]), 400, "source");
    }
}

#[test]
fn archive_with_symbolic_link_is_refused() {
    let mut api = Api::shared("bad-link");
    let mut zip = archive(&[("conversations.json", b"/etc/passwd")]);
    // The central record: made by Unix, mode 0120777.
    let at = zip.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    zip[at + 5] = 3;
    zip[at + 38..at + 42].copy_from_slice(&(0o120_777_u32 << 16).to_le_bytes());
    refused(&mut api, "format=openai", zip, 400, "link");
}

#[test]
fn archive_that_inflates_without_bound_is_refused() {
    let mut api = Api::shared("bad-bomb");
    let zeros = vec![b' '; 32 << 20];
    let mut deflated = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    deflated.write_all(&zeros).unwrap();
    let packed = deflated.finish().unwrap();
    let zip = deflated_archive("conversations.json", &packed, zeros.len() as u32);
    refused(&mut api, "format=openai", zip, 413, "source");
}

/// One deflated entry, by hand.
fn deflated_archive(name: &str, packed: &[u8], bytes: u32) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(&vec![b' '; bytes as usize]);
    let head = |central: bool| {
        let mut out = Vec::new();
        out.extend(if central { b"PK\x01\x02" } else { b"PK\x03\x04" });
        if central {
            out.extend([20, 0]);
        }
        out.extend([20, 0, 0, 0, 8, 0, 0, 0, 33, 0]);
        out.extend(crc.sum().to_le_bytes());
        out.extend((packed.len() as u32).to_le_bytes());
        out.extend(bytes.to_le_bytes());
        out.extend((name.len() as u16).to_le_bytes());
        out.extend([0, 0]);
        if central {
            out.extend([0; 14]);
        }
        out.extend(name.as_bytes());
        out
    };
    let mut zip = head(false);
    zip.extend(packed);
    let start = zip.len() as u32;
    let central = head(true);
    zip.extend(&central);
    zip.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend((central.len() as u32).to_le_bytes());
    zip.extend(start.to_le_bytes());
    zip.extend([0, 0]);
    zip
}

#[test]
fn archive_with_100_001_files_is_refused() {
    let mut api = Api::shared("bad-many");
    let names: Vec<String> = (0..=100_000).map(|n| format!("{n}.json")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"{}"[..])).collect();
    refused(&mut api, "format=openai", archive(&files), 413, "100000");
}

#[test]
fn archive_that_is_cut_is_refused() {
    let mut api = Api::shared("bad-cut");
    let whole = archive(&[("conversations.json", b"[]")]);
    refused(&mut api, "format=openai", whole[..whole.len() - 8].to_vec(), 400, "source");
}

#[test]
fn text_of_another_encoding_is_read_or_refused() {
    let mut api = Api::shared("bad-encoding");
    let scope = api.scope.clone();
    let text = line(&scope, "Grüße aus Köln", 1);
    let utf16: Vec<u8> =
        [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let job = import(&mut api, upload(&format!("format=jsonl&scope={scope}"), utf16));
    assert_eq!(job["written"], 1, "{job}");
    assert_eq!(events(&mut api, &scope)[0]["content"]["text"], "Grüße aus Köln");
    let mut latin = line(&scope, "gone", 2).into_bytes();
    let at = latin.windows(4).position(|four| four == b"gone").unwrap();
    latin[at] = 0xFC;
    let mut both = latin;
    both.extend(b"\n");
    both.extend(line(&scope, "kept", 3).into_bytes());
    let job = import(&mut api, upload(&format!("format=jsonl&scope={scope}"), both));
    assert!(job["failed"].as_u64().unwrap() > 0, "{job}");
    assert!(job["errors"].to_string().contains("UTF-8"), "{job}");
}

#[test]
fn lines_that_are_no_json_cost_themselves() {
    let mut api = Api::shared("bad-json");
    let scope = api.scope.clone();
    let cases = [
        "{\"scope\": \"user:a\", \"content\"",
        "{\"a\": 1, \"a\": 2}",
        "{\"a\": \"\\ud800\"}",
        "{\"a\": NaN}",
        "\"text\"",
    ];
    for bad in cases {
        let lines =
            [line(&scope, "first", 1), bad.to_owned(), line(&scope, "second", 2)].join("\n");
        let job = import(&mut api, upload(&format!("format=jsonl&scope={scope}"), lines));
        assert_eq!(job["failed"], 1, "{bad}: {job}");
        assert_eq!(job["errors"][0]["line"], 2, "{bad}: {job}");
        let taken = job["written"].as_u64().unwrap() + job["known"].as_u64().unwrap();
        assert_eq!(taken, 2, "{bad}: {job}");
    }
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    costs_rows(
        &mut api,
        "format=jsonl",
        [line(&scope, "third", 3), deep].join("\n").into_bytes(),
        1,
        "line 2",
    );
}

#[test]
fn document_that_is_cut_keeps_the_rows_before_the_cut() {
    let mut api = Api::shared("bad-half");
    let page = br#"{"results":[{"id":"1","memory":"Likes tea","created_at":"2026-01-01T00:00:00Z"},{"id":"2","mem"#;
    costs_rows(&mut api, "format=mem0", page.to_vec(), 1, "line 1");
}

/// Three agent files in the wild are JSON strings that hold JSON.
#[test]
fn json_string_that_holds_json_is_read() {
    let mut api = Api::shared("bad-nested");
    let scope = api.scope.clone();
    let inner = String::from_utf8(crate::import::fixture("letta/version1.af")).unwrap();
    let job =
        import(&mut api, upload(&format!("format=letta&scope={scope}"), json!(inner).to_string()));
    assert!(job["written"].as_u64().unwrap() > 0, "{job}");
    assert!(job["report"]["changed"].to_string().contains("JSON string"), "{job}");
}

#[test]
fn dates_without_zones_are_refused_or_read_in_the_named_zone() {
    let mut api = Api::shared("bad-zones");
    let csv = b"text,time\nLikes tea,2026-01-05 10:00:00\n";
    costs_rows(&mut api, "format=csv", csv.to_vec(), 0, "zone");
    let scope = api.scope.clone();
    let query = format!("format=csv&naive_times=%2B02:00&scope={scope}");
    let job = import(&mut api, upload(&query, csv.to_vec()));
    assert_eq!(job["written"], 1, "{job}");
    assert_eq!(events(&mut api, &scope)[0]["context"]["observed_at"], "2026-01-05T08:00:00Z");
    assert!(job["report"]["changed"].to_string().contains("zone"), "{job}");
}

#[test]
fn csv_with_10_000_columns_is_refused_at_its_header() {
    let mut api = Api::shared("bad-columns");
    let scope = api.scope.clone();
    let header: Vec<String> = (0..10_000).map(|n| format!("c{n}")).collect();
    let job = import(&mut api, upload(&format!("format=csv&scope={scope}"), header.join(",")));
    assert_eq!(job["written"], 0, "{job}");
    assert!(job["errors"].to_string().contains("columns"), "{job}");
}

/// A body that stops in the middle begins nothing, and leaves nothing in staging.
#[test]
fn upload_that_is_cut_off_leaves_nothing() {
    let own = Own::start();
    let mut api = own.api("bad-upload");
    let scope = api.scope.clone();
    let head = format!(
        "POST /v1/import?format=jsonl&scope={scope} HTTP/1.1\r\nHost: localhost\r\n\
         Content-Type: application/octet-stream\r\nContent-Length: 100000\r\n\r\n{}",
        line(&scope, "half", 1)
    );
    let mut socket = std::net::TcpStream::connect(api.client.address()).unwrap();
    socket.write_all(head.as_bytes()).unwrap();
    drop(socket);
    assert_eq!(events(&mut api, &scope), Vec::<Value>::new());
    let directory = own.stop();
    let staged = crate::harness::data(directory.path()).join("imports");
    let left = lamina_env::Disk::list(&lamina_env::RealDisk, &staged).unwrap_or_default();
    assert_eq!(left, Vec::<String>::new());
}

/// A gzip file that inflates without bound: the rows before it are in, the rest is an error with its place.
#[test]
fn gzip_that_inflates_without_bound_is_refused() {
    let own = Own::start();
    let mut api = own.api("bad-gzip");
    let scope = api.scope.clone();
    let query = format!("format=jsonl&scope={scope}");
    let pack = |bytes: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    };
    // Two gigabytes would come out of two megabytes.
    let bomb = pack(&vec![b' '; 1 << 20]).repeat(2_048);
    let before = peak_kib(&own);
    let job = import(&mut api, upload(&query, bomb.clone()));
    assert_eq!((&job["written"], &job["failed"]), (&json!(0), &json!(1)), "{job}");
    assert!(job["errors"].to_string().contains("200 times its size (source, line 1"), "{job}");
    let rows = line(&scope, "before the bomb", 1) + "\n";
    let job = import(&mut api, upload(&query, [pack(rows.as_bytes()), bomb].concat()));
    assert_eq!((&job["written"], &job["failed"]), (&json!(1), &json!(1)), "{job}");
    assert!(job["errors"].to_string().contains("200 times its size (source, line 2"), "{job}");
    let cut = pack(rows.as_bytes());
    let job = import(&mut api, upload(&query, cut[..cut.len() - 6].to_vec()));
    assert!(job["errors"].to_string().contains("cut off"), "{job}");
    assert!(peak_kib(&own) < before + 200 * 1_024, "memory stays bounded");
    own.stop();
}

/// The most memory that a server had so far; 0 where the system does not say it.
fn peak_kib(own: &Own) -> u64 {
    let status = format!("/proc/{}/status", own.server.pid());
    let text = lamina_env::disk::read_pseudo_file(&lamina_env::RealDisk, status.as_ref());
    let text = text.unwrap_or_default();
    let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or_default()
}
