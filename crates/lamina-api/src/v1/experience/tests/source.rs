//! The source descriptor, field by field.

use lamina_types::stdx::hex;
use sha2::{Digest, Sha256};

use super::{assert_in_schema, envelope, strict, verdict};

const HASH: &str = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"; // sha256("hi")

/// A good descriptor of the text "hi" with one field of it replaced.
fn source(field: &str, json: &str) -> String {
    let fragment = format!(
        r#"[{{"fragment_id":"f0","locator":{{"kind":"generic","ordinal":0}},"content_fingerprint":"sha256:{HASH}"}}]"#
    );
    let fields = [
        ("schema_version", "2"),
        ("source_id", "\"file-1\""),
        ("modality", "\"conversation\""),
        ("content_kind", "\"text/plain\""),
        ("source_fingerprint", &format!("\"sha256:{HASH}\"")),
        ("fragments", &fragment),
    ]
    .map(|(name, value)| (name, value.to_owned()));
    let mut members: Vec<String> = fields
        .iter()
        .filter(|(name, _)| *name != field)
        .map(|(name, value)| format!("{name:?}:{value}"))
        .collect();
    if json != "-" && !field.is_empty() {
        members.push(format!("{field:?}:{json}"));
    }
    envelope("source", &format!("{{{}}}", members.join(",")))
}

#[track_caller]
fn check(rows: &[(&str, &str, &str)]) {
    for (field, json, expected) in rows {
        let body = source(field, json);
        let found = verdict(&strict(&body));
        assert_eq!(found, *expected, "{field} = {json}");
        if found == "ok" {
            assert_in_schema(&body);
        }
    }
}

/// A fragment with this locator.
fn located(locator: &str) -> String {
    format!(r#"[{{"fragment_id":"f0","locator":{locator},"content_fingerprint":"sha256:{HASH}"}}]"#)
}

#[test]
#[rustfmt::skip]
fn the_head() {
    let long = |chars| format!("\"{}\"", "x".repeat(chars));
    check(&[
        ("", "", "ok"),
        ("schema_version", "1", "422 INVALID_ENVELOPE source.schema_version"),
        ("schema_version", "\"2\"", "422 INVALID_BODY source.schema_version"),
        ("schema_version", "-", "422 INVALID_ENVELOPE source.schema_version"),
        ("source_id", "-", "422 INVALID_ENVELOPE source.source_id"),
        ("source_id", "\"\"", "422 INVALID_ENVELOPE source.source_id"),
        ("source_id", "\" a\"", "422 INVALID_ENVELOPE source.source_id"),
        ("source_id", "\"a\\u0001\"", "422 INVALID_ENVELOPE source.source_id"),
        ("source_id", &long(4_096), "ok"),
        ("source_id", &long(4_097), "422 INVALID_ENVELOPE source.source_id"),
        ("modality", "\"document\"", "422 INVALID_ENVELOPE source.modality"),
        ("content_kind", &long(257), "422 INVALID_ENVELOPE source.content_kind"),
        ("language", "\"en\"", "ok"),
        ("language", "\"en us\"", "422 INVALID_ENVELOPE source.language"),
        ("source_fingerprint", "\"md5:00\"", "422 INVALID_ENVELOPE source.source_fingerprint"),
        ("source_fingerprint", &format!("\"sha256:{}\"", HASH.to_uppercase()), "422 INVALID_ENVELOPE source.source_fingerprint"),
        ("source_fingerprint", &format!("\"blake3:{HASH}\""), "ok"),
        ("fragments", "[]", "422 INVALID_ENVELOPE source.fragments"),
        ("fragments", "{}", "422 INVALID_BODY source.fragments"),
        ("fragments", "[5]", "422 INVALID_BODY source.fragments[0]"),
        ("extra", "1", "422 INVALID_BODY source.extra"),
    ]);
}

#[test]
#[rustfmt::skip]
fn locators() {
    let rows: &[(&str, &str)] = &[
        (r#"{"kind":"conversation","session_id":"s","turn_index":0,"speaker":"a","message_id":"m"}"#, "ok"),
        (r#"{"kind":"conversation","session_id":"s"}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.turn_index"),
        (r#"{"kind":"conversation","session_id":"","turn_index":0}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.session_id"),
        (r#"{"kind":"conversation","session_id":"s","turn_index":9007199254740992}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.turn_index"),
        (r#"{"kind":"conversation","session_id":"s","turn_index":-1}"#, "422 INVALID_BODY source.fragments[0].locator"),
        (r#"{"kind":"document","page":3}"#, "ok"),
        (r#"{"kind":"document","section_path":["a","b"],"block_index":1}"#, "ok"),
        (r#"{"kind":"document","section_path":[]}"#, "422 INVALID_ENVELOPE source.fragments[0].locator"),
        (r#"{"kind":"document","section_path":[""]}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.section_path"),
        (r#"{"kind":"json","pointer":""}"#, "ok"),
        (r#"{"kind":"json","pointer":"/a~1b/~0"}"#, "ok"),
        (r#"{"kind":"json","pointer":"a"}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.pointer"),
        (r#"{"kind":"json","pointer":"/~2"}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.pointer"),
        (r#"{"kind":"table","table":"t","row":5,"column":"c"}"#, "ok"),
        (r#"{"kind":"table"}"#, "422 INVALID_ENVELOPE source.fragments[0].locator"),
        (r#"{"kind":"code","file":"a.rs","symbol":"f","lines":{"start":1,"end":1}}"#, "ok"),
        (r#"{"kind":"code","file":"a.rs","lines":{"start":0,"end":1}}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.lines"),
        (r#"{"kind":"code","file":"a.rs","lines":{"start":2,"end":1}}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.lines"),
        (r#"{"kind":"code"}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.file"),
        (r#"{"kind":"log","timestamp":"2026-05-13T15:42:00Z","level":"warn"}"#, "ok"),
        (r#"{"kind":"log","timestamp":"yesterday"}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.timestamp"),
        (r#"{"kind":"log","level":"warn"}"#, "422 INVALID_ENVELOPE source.fragments[0].locator"),
        (r#"{"kind":"media","time_range":{"start_ms":0,"end_ms":1},"region":{"x":0,"y":0,"width":1,"height":1}}"#, "ok"),
        (r#"{"kind":"media","time_range":{"start_ms":1,"end_ms":1}}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.time_range"),
        (r#"{"kind":"media","region":{"x":0,"y":0,"width":0,"height":1}}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.region"),
        (r#"{"kind":"media"}"#, "422 INVALID_ENVELOPE source.fragments[0].locator"),
        (r#"{"kind":"generic","path":["a"]}"#, "ok"),
        (r#"{"kind":"generic"}"#, "422 INVALID_ENVELOPE source.fragments[0].locator"),
        (r#"{"kind":"generic","ordinal":1,"foo":1}"#, "422 INVALID_BODY source.fragments[0].locator.foo"),
        (r#"{"kind":"planet"}"#, "422 INVALID_BODY source.fragments[0].locator.kind"),
        (r#"{}"#, "422 INVALID_ENVELOPE source.fragments[0].locator.kind"),
    ];
    for (locator, expected) in rows {
        check(&[("fragments", &located(locator), expected)]);
    }
}

#[test]
#[rustfmt::skip]
fn fragments() {
    let fragment = |id: &str, ordinal: u32, more: &str| {
        format!(
            r#"{{"fragment_id":"{id}","locator":{{"kind":"generic","ordinal":{ordinal}}},{more}"content_fingerprint":"sha256:{HASH}"}}"#
        )
    };
    let many = |count: u32| {
        let all: Vec<String> = (0..count).map(|n| fragment(&n.to_string(), n, "")).collect();
        format!("[{}]", all.join(","))
    };
    let two = |a: &str, b: &str| format!("[{a},{b}]");
    let range = |start: u32, end: u32| format!(r#""byte_range":{{"start":{start},"end":{end}}},"#);
    check(&[
        ("fragments", &many(1_024), "ok"),
        ("fragments", &many(1_025), "422 INVALID_ENVELOPE source.fragments"),
        ("fragments", &two(&fragment("a", 0, ""), &fragment("a", 1, "")), "422 INVALID_ENVELOPE source.fragments[1].fragment_id"),
        // One is composed, the other is not: the same id after NFC.
        ("fragments", &two(&fragment("\u{e9}", 0, ""), &fragment("e\u{301}", 1, "")), "422 INVALID_ENVELOPE source.fragments[1].fragment_id"),
        ("fragments", &two(&fragment("a", 0, ""), &fragment("b", 0, "")), "422 INVALID_ENVELOPE source.fragments[1]"),
        ("fragments", &two(&fragment("a", 0, &range(0, 1)), &fragment("b", 0, &range(1, 2))), "ok"),
        ("fragments", &format!("[{}]", fragment("a", 0, &range(1, 1))), "422 INVALID_ENVELOPE source.fragments[0].byte_range"),
        ("fragments", &format!("[{}]", fragment("", 0, "")), "422 INVALID_ENVELOPE source.fragments[0].fragment_id"),
    ]);
}

#[test]
#[rustfmt::skip]
fn a_single_fragment_is_held_to_its_text() {
    let with = |print: &str| {
        format!(
            r#"[{{"fragment_id":"f","locator":{{"kind":"generic","ordinal":0}},"content_fingerprint":"{print}"}}]"#
        )
    };
    let blake = blake3::hash(b"hi").to_hex();
    let other = hex::encode(&Sha256::digest(b"ho"));
    check(&[
        ("fragments", &with(&format!("sha256:{HASH}")), "ok"),
        ("fragments", &with(&format!("blake3:{blake}")), "ok"),
        ("fragments", &with(&format!("sha256:{other}")), "422 INVALID_ENVELOPE source.fragments[0].content_fingerprint"),
        ("fragments", &with(&format!("blake3:{HASH}")), "422 INVALID_ENVELOPE source.fragments[0].content_fingerprint"),
        ("fragments", &with("sha256:00"), "422 INVALID_ENVELOPE source.fragments[0].content_fingerprint"),
    ]);
}

#[test]
#[rustfmt::skip]
fn a_descriptor_is_limited_as_a_whole() {
    let big: Vec<String> = (0..1_000)
        .map(|n| format!(r#"{{"fragment_id":"{n}-{}","locator":{{"kind":"generic","ordinal":{n}}},"content_fingerprint":"sha256:{HASH}"}}"#, "x".repeat(200)))
        .collect();
    check(&[("fragments", &format!("[{}]", big.join(",")), "422 INVALID_ENVELOPE source")]);
}
