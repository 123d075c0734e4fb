//! The `source` descriptor, version 2 (clients, 1.2): limits, fragments, locators, and fingerprints
//! that the server verifies itself.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Answer, Api};

const TEXT: &str = "The contract was signed on Monday.";

pub(crate) fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn descriptor() -> Value {
    json!({
        "schema_version": 2,
        "source_id": "notes/2026/contract.md",
        "modality": "document",
        "content_kind": "text/markdown",
        "language": "en",
        "source_fingerprint": sha256(TEXT),
        "fragments": [{
            "fragment_id": "f1",
            "locator": {"kind": "document", "page": 1},
            "byte_range": {"start": 0, "end": TEXT.len()},
            "content_fingerprint": sha256(TEXT),
        }],
    })
}

fn write(api: &mut Api, source: Value) -> Answer {
    let mut envelope = api.envelope(TEXT);
    envelope["modality"] = json!("document");
    envelope["content"] = json!({"kind": "text", "text": TEXT});
    envelope["source"] = source;
    api.post("/v1/experience", &envelope)
}

#[test]
fn a_descriptor_is_kept_as_it_was_submitted() {
    let mut api = Api::shared("source");
    let source = descriptor();
    let body = write(&mut api, source.clone()).ok(202);
    let event = api.event(body["event_id"].as_str().unwrap());
    assert_eq!(event["source"], source);
}

#[test]
fn every_kind_of_locator_is_known() {
    let mut api = Api::shared("locators");
    for locator in [
        json!({"kind": "conversation", "session_id": "s", "turn_index": 3, "speaker": "ann", "message_id": "m"}),
        json!({"kind": "document", "page": 2, "section_path": ["1", "1.2"], "block_index": 0}),
        json!({"kind": "json", "pointer": "/a/0"}),
        json!({"kind": "table", "table": "t", "sheet": "s", "row": 1, "column": "B", "field": "f"}),
        json!({"kind": "code", "file": "a.py", "symbol": "f", "lines": {"start": 1, "end": 2}}),
        json!({"kind": "log", "record_id": "r", "record_index": 1, "timestamp": "2026-05-13T15:42:00Z"}),
        json!({"kind": "media", "page": 1, "frame_index": 2}),
        json!({"kind": "generic", "path": ["a", "b"], "ordinal": 1}),
    ] {
        let mut source = descriptor();
        source["fragments"][0]["locator"] = locator.clone();
        let answer = write(&mut api, source);
        assert_eq!(answer.response.status, 202, "{locator}: {}", answer.response.text());
    }
}

/// A wrong fingerprint means that the sender and we do not speak of the same text.
#[test]
fn fingerprints_of_a_single_fragment_are_verified() {
    let mut api = Api::shared("fingerprints");
    let wrong = sha256("something else");
    let mut source = descriptor();
    source["fragments"][0]["content_fingerprint"] = json!(wrong);
    let answer = write(&mut api, source);
    let text = answer.response.text();
    assert_eq!(answer.response.status, 422, "{text}");
    assert!(text.contains("source.fragments[0].content_fingerprint"), "{text}");
}

#[test]
fn a_malformed_descriptor_is_refused_with_the_place() {
    let mut api = Api::shared("source");
    let long = |bytes: usize| json!("x".repeat(bytes));
    let digest = sha256(TEXT);
    let fragment = descriptor()["fragments"][0].clone();
    let fragments = |count: usize| -> Value {
        (0..count)
            .map(|number| {
                let mut one = fragment.clone();
                one["fragment_id"] = json!(format!("f{number}"));
                one
            })
            .collect()
    };
    let cases: Vec<(&str, Value, &str)> = vec![
        ("/schema_version", json!(1), "source.schema_version"),
        ("/schema_version", json!(3), "source.schema_version"),
        ("/source_id", long(4_097), "source.source_id"),
        ("/source_id", json!(""), "source.source_id"),
        ("/modality", json!("conversation"), "source.modality"),
        ("/content_kind", long(257), "source.content_kind"),
        ("/source_fingerprint", json!("md5:abcd"), "source.source_fingerprint"),
        ("/source_fingerprint", json!(digest.to_uppercase()), "source.source_fingerprint"),
        ("/source_fingerprint", json!("sha256:abcd"), "source.source_fingerprint"),
        ("/fragments", json!([]), "source.fragments"),
        ("/fragments", fragments(1_025), "source.fragments"),
        ("/fragments/0/fragment_id", long(1_025), "source.fragments[0].fragment_id"),
        ("/fragments/0/locator/kind", json!("nowhere"), "source.fragments[0].locator.kind"),
    ];
    for (pointer, value, field) in cases {
        let mut source = descriptor();
        *source.pointer_mut(pointer).unwrap() = value;
        let answer = write(&mut api, source);
        let text = answer.response.text();
        assert_eq!(answer.response.status, 422, "{pointer}: {text}");
        let error = answer.response.json().unwrap();
        assert_eq!(error["details"]["field"], field, "{text}");
    }
    let mut twice = descriptor();
    twice["fragments"] = json!([fragment, fragment]);
    let text = write(&mut api, twice).fails(422, "INVALID_ENVELOPE").to_string();
    assert!(text.contains("fragment_id"), "{text}");
}

#[test]
fn a_descriptor_has_at_most_256_kib_and_1024_fragments() {
    let mut api = Api::shared("source-size");
    let fragment = |number: usize, padding: usize| {
        json!({
            "fragment_id": format!("f{number}{}", "x".repeat(padding)),
            "locator": {"kind": "generic", "ordinal": number},
            "content_fingerprint": sha256(TEXT),
        })
    };
    let with = |count: usize, padding: usize| {
        let mut source = descriptor();
        source["fragments"] = (0..count).map(|n| fragment(n, padding)).collect();
        source
    };
    write(&mut api, with(1_024, 0)).ok(202);
    let over = with(400, 900);
    assert!(over.to_string().len() > 262_144);
    let text = write(&mut api, over).fails(422, "INVALID_ENVELOPE").to_string();
    assert!(text.contains("source"), "{text}");
}
