//! Every rule of section F at its edge: what is sent, what is answered.

use super::{Strictness, assert_in_schema, envelope, lenient, strict, verdict, with};
use crate::v1::experience::read;

/// Checks a table of `(field, JSON of the field, verdict)`, each an otherwise good envelope, strict.
#[track_caller]
fn check(rows: &[(&str, &str, &str)]) {
    for (field, json, expected) in rows {
        let body = envelope(field, json);
        let found = verdict(&strict(&body));
        assert_eq!(found, *expected, "{field} = {json}");
        if found == "ok" {
            assert_in_schema(&body);
        }
    }
}

fn text(chars: usize) -> String {
    format!("\"{}\"", "x".repeat(chars))
}

fn list(item: &str, count: usize) -> String {
    format!("[{}]", vec![item; count].join(","))
}

#[test]
#[rustfmt::skip]
fn bodies_that_are_not_json() {
    let deep = format!("{}1{}", "[".repeat(65), "]".repeat(65));
    let rows: &[(&[u8], &str)] = &[
        (b"", "400 INVALID_BODY -"),
        (b"   \n", "400 INVALID_BODY -"),
        (b"{", "400 INVALID_BODY -"),
        (b"{}{}", "400 INVALID_BODY -"),
        (b"{} x", "400 INVALID_BODY -"),
        (b"{\"scope\":}", "400 INVALID_BODY scope"),
        (b"{\"scope\":\"user:a\",}", "400 INVALID_BODY -"),
        (b"{'scope':1}", "400 INVALID_BODY -"),
        (b"{\"scope\":\"\xff\"}", "400 INVALID_BODY -"),
        (b"\xef\xbb\xbf{}", "400 INVALID_BODY -"),
        (b"{\"scope\":\"a\nb\"}", "400 INVALID_BODY scope"),
        (b"{\"scope\":\"\\x\"}", "400 INVALID_BODY scope"),
        (b"{\"scope\":\"\\ud800\"}", "400 INVALID_BODY scope"),
        (b"{\"scope\":\"\\udc00\\ud800\"}", "400 INVALID_BODY scope"),
        (b"{\"scope\":\"a\",\"scope\":\"b\"}", "400 INVALID_BODY scope"),
        (b"{\"scope\":01}", "400 INVALID_BODY scope"),
        (b"{\"scope\":1e999}", "400 INVALID_BODY scope"),
        (b"{\"scope\":NaN}", "400 INVALID_BODY scope"),
        (b"{\"scope\":+1}", "400 INVALID_BODY scope"),
        (b"{\"scope\":.5}", "400 INVALID_BODY scope"),
        (b"{\"scope\":1.}", "400 INVALID_BODY scope"),
        (b"{\"scope\":tru}", "400 INVALID_BODY scope"),
        (b"// {}", "400 INVALID_BODY -"),
        (b"null", "422 INVALID_BODY body"),
        (b"[]", "422 INVALID_BODY body"),
        (b"[\"user:a\"]", "422 INVALID_BODY body"),
        (b"\"user:a\"", "422 INVALID_BODY body"),
        (b"1", "422 INVALID_BODY body"),
    ];
    for (body, expected) in rows {
        let found = with(Strictness::Strict, None, |ctx| verdict(&read(body, ctx)));
        assert_eq!(found, *expected, "{}", String::from_utf8_lossy(body));
    }
    check(&[(
        "content",
        &format!("{{\"kind\":\"json\",\"data\":{deep}}}"),
        "400 INVALID_BODY content.data[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]",
    )]);
}

#[test]
#[rustfmt::skip]
fn depth_is_exactly_64() {
    // The envelope and `content` are two levels, so 62 arrays fit into `data`.
    for (levels, expected) in [(62, "ok"), (63, "400 INVALID_BODY")] {
        let data = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let body = envelope("content", &format!("{{\"kind\":\"json\",\"data\":{data}}}"));
        let found = verdict(&strict(&body));
        assert!(found.starts_with(expected), "{levels}: {found}");
    }
}

#[test]
#[rustfmt::skip]
fn repeated_keys_are_found_everywhere() {
    check(&[
        ("content", r#"{"kind":"json","data":{"a":1,"a":2}}"#, "400 INVALID_BODY content.data.a"),
        ("content", r#"{"kind":"json","data":[{"a":{"b":1,"c":2,"b":3}}]}"#, "400 INVALID_BODY content.data[0].a.b"),
        ("content", r#"{"kind":"json","data":{"a":1,"\u0061":2}}"#, "400 INVALID_BODY content.data.a"),
        ("content", r#"{"kind":"text","text":"a","text":"b"}"#, "400 INVALID_BODY content.text"),
        ("context", r#"{"observed_at":"2026-05-13T15:42:00Z","location":{"x":1,"x":1}}"#, "400 INVALID_BODY context.location.x"),
        ("source", r#"{"a":1,"a":2}"#, "400 INVALID_BODY source.a"),
        ("directives", r#"{"embed":"lazy","embed":"lazy"}"#, "400 INVALID_BODY directives.embed"),
    ]);
}

#[test]
#[rustfmt::skip]
fn numbers_that_do_not_fit() {
    check(&[
        ("content", r#"{"kind":"json","data":1e999}"#, "400 INVALID_BODY content.data"),
        ("content", r#"{"kind":"json","data":[-1e400]}"#, "400 INVALID_BODY content.data[0]"),
        ("content", r#"{"kind":"json","data":123456789012345678901234567890}"#, "ok"),
        ("content", r#"{"kind":"json","data":1e-999}"#, "ok"),
        ("directives", r#"{"confidence_floor":1e999}"#, "400 INVALID_BODY directives.confidence_floor"),
    ]);
}

#[test]
#[rustfmt::skip]
fn unknown_and_wrongly_typed_fields() {
    check(&[
        ("unknown", "1", "422 INVALID_BODY unknown"),
        ("origin", r#"{"format":"mem0"}"#, "422 INVALID_BODY origin"),
        ("actor", "\"user:bob\"", "422 INVALID_BODY actor"),
        ("happened_at", "\"x\"", "422 INVALID_BODY happened_at"),
        ("recorded_at", "\"x\"", "422 INVALID_BODY recorded_at"),
        ("scope", "5", "422 INVALID_BODY scope"),
        ("scope", "[\"user:a\"]", "422 INVALID_BODY scope"),
        ("modality", "{}", "422 INVALID_BODY modality"),
        ("content", "5", "422 INVALID_BODY content"),
        ("content", "[]", "422 INVALID_BODY content"),
        ("content", "\"hello\"", "422 INVALID_BODY content"),
        ("content", r#"{"kind":"text","text":5}"#, "422 INVALID_BODY content.text"),
        ("content", r#"{"kind":"text","text":"a","foo":1}"#, "422 INVALID_BODY content.foo"),
        ("content", r#"{"kind":"text","text":"a","media":{}}"#, "422 INVALID_BODY content.media"),
        ("content", r#"{"kind":"text","text":"a","media":["blob_1"]}"#, "422 INVALID_BODY content.media[0]"),
        ("content", r#"{"kind":"text","text":"a","media":[{"blob":"x"}]}"#, "422 INVALID_BODY content.media[0].blob"),
        ("context", "[\"2026-05-13T15:42:00Z\"]", "422 INVALID_BODY context"),
        ("context", "\"now\"", "422 INVALID_BODY context"),
        ("context", r#"{"observed_at":5}"#, "422 INVALID_BODY context.observed_at"),
        ("context", r#"{"happened_at":"2026-05-13T15:42:00Z"}"#, "422 INVALID_BODY context.happened_at"),
        ("context", r#"{"observed_at":"2026-05-13T15:42:00Z","recorded_at":"x"}"#, "422 INVALID_BODY context.recorded_at"),
        ("context", r#"{"observed_at":"2026-05-13T15:42:00Z","labels":"a"}"#, "422 INVALID_BODY context.labels"),
        ("context", r#"{"observed_at":"2026-05-13T15:42:00Z","labels":["a",1]}"#, "422 INVALID_BODY context.labels[1]"),
        ("context", r#"{"observed_at":"2026-05-13T15:42:00Z","labels":[null]}"#, "422 INVALID_BODY context.labels[0]"),
        ("context", r#"{"observed_at":"2026-05-13T15:42:00Z","location":5}"#, "422 INVALID_BODY context.location"),
        ("context", r#"{"observed_at":"2026-05-13T15:42:00Z","location":[1]}"#, "422 INVALID_BODY context.location"),
        ("directives", "[]", "422 INVALID_BODY directives"),
        ("directives", r#"{"confidence_floor":"0.5"}"#, "422 INVALID_BODY directives.confidence_floor"),
        ("directives", r#"{"extract":"facts"}"#, "422 INVALID_BODY directives.extract"),
        ("directives", r#"{"no_such":1}"#, "422 INVALID_BODY directives.no_such"),
        ("observed_actor", "\"user:bob\"", "422 INVALID_BODY observed_actor"),
        ("observed_actor", "5", "422 INVALID_BODY observed_actor"),
        ("observed_actor", r#"{"id":"user:b","name":"x"}"#, "422 INVALID_BODY observed_actor.name"),
        ("subject", "\"user:bob\"", "422 INVALID_BODY subject"),
        ("subject", r#"{"id":"user:b","session":"x"}"#, "422 INVALID_BODY subject.session"),
        ("language", "[\"en\"]", "422 INVALID_BODY language"),
        ("scripts", "\"Latn\"", "422 INVALID_BODY scripts"),
        ("idempotency_key", "5", "422 INVALID_BODY idempotency_key"),
        ("source", "\"x\"", "422 INVALID_BODY source"),
        ("", "", "ok"),
    ]);
}

#[test]
#[rustfmt::skip]
fn scopes() {
    let long = format!("\"user:{}\"", "a".repeat(4_096));
    let many = format!("\"{}\"", vec!["user:a"; 33].join("/"));
    let most = format!("\"{}\"", vec!["user:a"; 32].join("/"));
    check(&[
        ("scope", "-", "422 INVALID_ENVELOPE scope"),
        ("scope", "null", "422 INVALID_ENVELOPE scope"),
        ("scope", "\"\"", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", "\"alice\"", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", "\"user:\"", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", "\"user:a/\"", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", "\"/user:a\"", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", "\"user:a//user:b\"", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", "\"user:a/../user:b\"", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", "\"User:a\"", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", "\"user:a b\"", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", "\"user:a@b\"", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", "\"user:\\u0000\"", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", "\"user:é\"", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", &long, "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", &many, "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope", &most, "ok"),
        ("scope", "\"user:A-b_9\"", "ok"),
        ("scope", "\"org:acme/ns:x\"", "ok"),
        ("scope", "\"org:acme/zz:x\"", "422 UNREGISTERED_SCOPE_TYPE scope"),
        ("scope", "\"system:x\"", "422 INVALID_ENVELOPE scope"),
        ("scope", "\"org:acme/system:x\"", "422 INVALID_ENVELOPE scope"),
        ("scope", "\"global:pool\"", "ok"),
    ]);
}

#[test]
#[rustfmt::skip]
fn actors() {
    let long = format!(r#"{{"id":"user:{}"}}"#, "a".repeat(252));
    let longest = format!(r#"{{"id":"user:{}"}}"#, "a".repeat(251));
    let session = format!(r#"{{"id":"user:b","session":{}}}"#, text(257));
    check(&[
        ("observed_actor", "{}", "422 INVALID_ENVELOPE observed_actor.id"),
        ("observed_actor", r#"{"id":"bob"}"#, "422 INVALID_ENVELOPE observed_actor.id"),
        ("observed_actor", r#"{"id":"user:"}"#, "422 INVALID_ENVELOPE observed_actor.id"),
        ("observed_actor", r#"{"id":"user:a b"}"#, "422 INVALID_ENVELOPE observed_actor.id"),
        ("observed_actor", r#"{"id":"user:a/b"}"#, "422 INVALID_ENVELOPE observed_actor.id"),
        ("observed_actor", r#"{"id":"user:a\u0000"}"#, "422 INVALID_ENVELOPE observed_actor.id"),
        ("observed_actor", &long, "422 INVALID_ENVELOPE observed_actor.id"),
        ("observed_actor", &longest, "ok"),
        ("observed_actor", r#"{"id":"user:priya@acme","type":"user"}"#, "ok"),
        ("observed_actor", r#"{"id":"user:b","type":"agent"}"#, "422 INVALID_ENVELOPE observed_actor.type"),
        ("observed_actor", r#"{"id":"user:b","session":""}"#, "422 INVALID_ENVELOPE observed_actor.session"),
        ("observed_actor", r#"{"id":"user:b","session":"a\u0007"}"#, "422 INVALID_ENVELOPE observed_actor.session"),
        ("observed_actor", &session, "422 INVALID_ENVELOPE observed_actor.session"),
        ("subject", "{}", "422 INVALID_ENVELOPE subject.id"),
        ("subject", r#"{"id":"x"}"#, "422 INVALID_ENVELOPE subject.id"),
        ("subject", r#"{"id":"user:b","type":"agent"}"#, "422 INVALID_ENVELOPE subject.type"),
        ("subject", r#"{"id":"user:b","type":"user"}"#, "ok"),
    ]);
}

#[test]
#[rustfmt::skip]
fn modalities_are_an_open_set() {
    check(&[
        ("modality", "-", "422 INVALID_ENVELOPE modality"),
        ("modality", "\"\"", "422 INVALID_ENVELOPE modality"),
        ("modality", "\"a\\u0000b\"", "422 INVALID_ENVELOPE modality"),
        ("modality", &text(129), "422 INVALID_ENVELOPE modality"),
        ("modality", &text(128), "ok"),
        ("modality", "\"smell\"", "ok"),
    ]);
}

#[test]
#[rustfmt::skip]
fn contents() {
    let id = "blob_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b";
    let media = |count| {
        format!(
            r#"{{"kind":"text","text":"a","media":{}}}"#,
            list(&format!(r#"{{"blob_id":"{id}"}}"#), count)
        )
    };
    check(&[
        ("content", "-", "422 INVALID_ENVELOPE content"),
        ("content", "{}", "422 INVALID_ENVELOPE content.kind"),
        ("content", r#"{"text":"a"}"#, "422 INVALID_ENVELOPE content.kind"),
        ("content", r#"{"kind":"poem","text":"a"}"#, "422 INVALID_ENVELOPE content.kind"),
        ("content", r#"{"kind":"Text","text":"a"}"#, "422 INVALID_ENVELOPE content.kind"),
        ("content", r#"{"kind":"text"}"#, "422 INVALID_ENVELOPE content.text"),
        ("content", r#"{"kind":"text","text":""}"#, "422 INVALID_ENVELOPE content.text"),
        ("content", r#"{"kind":"text","text":"a\u0000b\u0007"}"#, "ok"),
        ("content", r#"{"kind":"text","text":"a","role":"user"}"#, "422 INVALID_ENVELOPE content.role"),
        ("content", r#"{"kind":"text","text":"a","data":1}"#, "422 INVALID_ENVELOPE content.data"),
        ("content", r#"{"kind":"message","text":"a"}"#, "422 INVALID_ENVELOPE content.role"),
        ("content", r#"{"kind":"message","role":"bot","text":"a"}"#, "422 INVALID_ENVELOPE content.role"),
        ("content", r#"{"kind":"message","role":"USER","text":"a"}"#, "422 INVALID_ENVELOPE content.role"),
        ("content", r#"{"kind":"message","role":"tool"}"#, "422 INVALID_ENVELOPE content.text"),
        ("content", r#"{"kind":"json"}"#, "422 INVALID_ENVELOPE content.data"),
        ("content", r#"{"kind":"json","data":null}"#, "422 INVALID_ENVELOPE content.data"),
        ("content", r#"{"kind":"json","data":0}"#, "ok"),
        ("content", r#"{"kind":"json","data":{},"text":"a"}"#, "422 INVALID_ENVELOPE content.text"),
        ("content", r#"{"kind":"blob_ref"}"#, "422 INVALID_ENVELOPE content.blob_id"),
        ("content", r#"{"kind":"blob_ref","blob_id":"x"}"#, "422 INVALID_ENVELOPE content.blob_id"),
        ("content", r#"{"kind":"blob_ref","blob_id":"evt_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b"}"#, "422 INVALID_ENVELOPE content.blob_id"),
        ("content", &format!(r#"{{"kind":"blob_ref","blob_id":"{id}","transcript":""}}"#), "422 INVALID_ENVELOPE content.transcript"),
        ("content", &format!(r#"{{"kind":"blob_ref","blob_id":"{id}","transcript":"t"}}"#), "ok"),
        ("content", r#"{"kind":"text","text":"a","media":[{"blob_id":"x"}]}"#, "422 INVALID_ENVELOPE content.media[0].blob_id"),
        ("content", r#"{"kind":"text","text":"a","media":[{}]}"#, "422 INVALID_ENVELOPE content.media[0].blob_id"),
        ("content", &format!(r#"{{"kind":"message","role":"user","text":"","media":[{{"blob_id":"{id}"}}]}}"#), "ok"),
        ("content", &media(64), "ok"),
        ("content", &media(65), "422 INVALID_ENVELOPE content.media"),
    ]);
}

#[test]
#[rustfmt::skip]
fn the_flattened_text_is_limited_with_its_role() {
    let mebi = 1_048_576;
    let body = |kind: &str, chars: usize| format!("{{{kind},\"text\":{}}}", text(chars));
    check(&[
        ("content", &body("\"kind\":\"text\"", mebi), "ok"),
        ("content", &body("\"kind\":\"text\"", mebi + 1), "422 INVALID_ENVELOPE content.text"),
        ("content", &body("\"kind\":\"message\",\"role\":\"user\"", mebi - 7), "ok"),
        ("content", &body("\"kind\":\"message\",\"role\":\"user\"", mebi - 6), "422 INVALID_ENVELOPE content.text"),
        ("content", &format!(r#"{{"kind":"json","data":{}}}"#, text(mebi)), "422 INVALID_ENVELOPE content.data"),
    ]);
}

#[test]
#[rustfmt::skip]
fn triples() {
    let triple = |subject: &str, predicate: &str, object: &str| {
        format!(
            r#"{{"kind":"triple","triple":{{"subject":{subject},"predicate":{predicate},"object":{object}}}}}"#
        )
    };
    let entity = r#"{"type":"entity","id":"ent_acme_corp","name":"Acme"}"#;
    let literal = |datatype: &str, value: &str| {
        format!(r#"{{"type":"literal","datatype":"{datatype}","value":{value}}}"#)
    };
    let of = |object: &str| triple(entity, "\"seats\"", object);
    check(&[
        ("content", r#"{"kind":"triple"}"#, "422 INVALID_ENVELOPE content.triple"),
        ("content", r#"{"kind":"triple","triple":[]}"#, "422 INVALID_BODY content.triple"),
        ("content", r#"{"kind":"triple","triple":{}}"#, "422 INVALID_ENVELOPE content.triple.subject"),
        ("content", r#"{"kind":"triple","triple":{"subject":"Acme"}}"#, "422 INVALID_BODY content.triple.subject"),
        ("content", r#"{"kind":"triple","triple":{"verb":"x"}}"#, "422 INVALID_BODY content.triple.verb"),
        ("content", &of(&literal("integer", "200")), "ok"),
        ("content", &of(&literal("integer", "2.5")), "422 INVALID_ENVELOPE content.triple.object.value"),
        ("content", &of(&literal("integer", "\"200\"")), "422 INVALID_ENVELOPE content.triple.object.value"),
        ("content", &of(&literal("string", "\"x\"")), "ok"),
        ("content", &of(&literal("string", "5")), "422 INVALID_ENVELOPE content.triple.object.value"),
        ("content", &of(&literal("boolean", "true")), "ok"),
        ("content", &of(&literal("boolean", "\"true\"")), "422 INVALID_ENVELOPE content.triple.object.value"),
        ("content", &of(&literal("number", "-2.5e3")), "ok"),
        ("content", &of(&literal("number", "\"2\"")), "422 INVALID_ENVELOPE content.triple.object.value"),
        ("content", &of(&literal("money", "\"EUR 5\"")), "ok"),
        ("content", &of(&literal("string", "{}")), "422 INVALID_ENVELOPE content.triple.object.value"),
        ("content", &of(&literal("string", "null")), "422 INVALID_ENVELOPE content.triple.object.value"),
        ("content", &of(&literal("", "\"x\"")), "422 INVALID_ENVELOPE content.triple.object.datatype"),
        ("content", &of(r#"{"type":"literal","value":"x"}"#), "422 INVALID_ENVELOPE content.triple.object.datatype"),
        ("content", &of(r#"{"type":"literal","datatype":"string","value":"x","id":"y"}"#), "422 INVALID_ENVELOPE content.triple.object.id"),
        ("content", &of(r#"{"type":"concept","id":"c"}"#), "ok"),
        ("content", &of(r#"{"type":"concept","id":"c","name":"n"}"#), "422 INVALID_ENVELOPE content.triple.object.name"),
        ("content", &of(r#"{"type":"entity"}"#), "422 INVALID_ENVELOPE content.triple.object.id"),
        ("content", &of(r#"{"type":"entity","id":"\u0001"}"#), "422 INVALID_ENVELOPE content.triple.object.id"),
        ("content", &of(r#"{"type":"thing","id":"x"}"#), "422 INVALID_ENVELOPE content.triple.object.type"),
        ("content", &of(r#"{"id":"x"}"#), "422 INVALID_ENVELOPE content.triple.object.type"),
        ("content", &triple(entity, "\"\"", entity), "422 INVALID_ENVELOPE content.triple.predicate"),
        ("content", &triple(entity, "null", entity), "422 INVALID_ENVELOPE content.triple.predicate"),
        ("content", &triple(entity, &text(257), entity), "422 INVALID_ENVELOPE content.triple.predicate"),
        ("content", &triple(&literal("string", "\"Acme\""), &text(256), entity), "ok"),
    ]);
}

#[test]
#[rustfmt::skip]
fn validity_of_triples() {
    let dated = |members: &str| {
        format!(
            r#"{{"kind":"triple","triple":{{"subject":{{"type":"entity","id":"a"}},"predicate":"p","object":{{"type":"entity","id":"b"}},{members}}}}}"#
        )
    };
    let (one, two) = ("\"2019-03-01T00:00:00Z\"", "\"2021-03-01T02:00:00+02:00\"");
    let interval = |from: &str, to: &str| dated(&format!(r#""valid_from":{from},"valid_to":{to}"#));
    let sure = |share: &str| dated(&format!(r#""confidence":{share}"#));
    check(&[
        ("content", &interval(one, two), "ok"),
        ("content", &interval("null", two), "ok"),
        ("content", &interval(one, "null"), "ok"),
        ("content", &interval(one, one), "422 INVALID_ENVELOPE content.triple.valid_to"),
        ("content", &interval(two, one), "422 INVALID_ENVELOPE content.triple.valid_to"),
        ("content", &interval("\"2019-03-01\"", two), "422 INVALID_TIMESTAMP content.triple.valid_from"),
        ("content", &interval(one, "\"later\""), "422 INVALID_TIMESTAMP content.triple.valid_to"),
        ("content", &interval(one, "5"), "422 INVALID_BODY content.triple.valid_to"),
        ("content", &sure("0"), "ok"),
        ("content", &sure("1"), "ok"),
        ("content", &sure("1.0001"), "422 INVALID_ENVELOPE content.triple.confidence"),
        ("content", &sure("-0.1"), "422 INVALID_ENVELOPE content.triple.confidence"),
        ("content", &sure("\"0.5\""), "422 INVALID_BODY content.triple.confidence"),
    ]);
}

#[test]
#[rustfmt::skip]
fn timestamps() {
    let at = |text: &str| format!(r#"{{"observed_at":"{text}"}}"#);
    let bad = "422 INVALID_TIMESTAMP context.observed_at";
    check(&[
        ("context", "-", "422 INVALID_ENVELOPE context"),
        ("context", "{}", "422 INVALID_ENVELOPE context.observed_at"),
        ("context", r#"{"observed_at":null}"#, "422 INVALID_ENVELOPE context.observed_at"),
        ("context", &at(""), bad),
        ("context", &at("now"), bad),
        ("context", &at("1778686920"), bad),
        ("context", &at("2026-05-13"), bad),
        ("context", &at("2026-05-13T15:42:00"), bad),
        ("context", &at("2026-05-13T15:42Z"), bad),
        ("context", &at("2026-05-13 15:42:00Z"), bad),
        ("context", &at("2026-05-13T15:42:00 Z"), bad),
        ("context", &at(" 2026-05-13T15:42:00Z"), bad),
        ("context", &at("2026-13-13T15:42:00Z"), bad),
        ("context", &at("2026-02-29T15:42:00Z"), bad),
        ("context", &at("2024-02-29T15:42:00Z"), "ok"),
        ("context", &at("2026-05-13T24:00:00Z"), bad),
        ("context", &at("2026-05-13T15:60:00Z"), bad),
        ("context", &at("2026-06-30T23:59:60Z"), bad),
        ("context", &at("2026-05-13T15:42:00+24:00"), bad),
        ("context", &at("2026-05-13T15:42:00+0200"), bad),
        ("context", &at("2026-05-13T15:42:00.Z"), bad),
        ("context", &at("0000-01-01T00:00:00Z"), bad),
        ("context", &at("0001-01-01T00:00:00+01:00"), bad),
        ("context", &at("9999-12-31T23:59:59-01:00"), bad),
        ("context", &at("12026-05-13T15:42:00Z"), bad),
        ("context", &at("9999-12-31T23:59:59.999999Z"), "ok"),
        ("context", &at("2026-05-13t15:42:00.1234567z"), "ok"),
        ("context", &at("2026-05-13T15:42:00-23:59"), "ok"),
        ("context", r#"{"observed_at":"2026-05-13T15:42:00Z","source_recorded_at":"x"}"#, "422 INVALID_TIMESTAMP context.source_recorded_at"),
        ("context", r#"{"observed_at":"2026-05-13T15:42:00Z","source_recorded_at":null}"#, "ok"),
    ]);
}

#[test]
#[rustfmt::skip]
fn contexts() {
    let with = |field: &str| format!(r#"{{"observed_at":"2026-05-13T15:42:00Z",{field}}}"#);
    let event = "\"evt_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b\"";
    check(&[
        ("context", &with(&format!("\"preceded_by\":{}", list(event, 64))), "ok"),
        ("context", &with(&format!("\"preceded_by\":{}", list(event, 65))), "422 INVALID_ENVELOPE context.preceded_by"),
        ("context", &with(r#""preceded_by":["lce_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b"]"#), "422 INVALID_ENVELOPE context.preceded_by[0]"),
        ("context", &with(r#""preceded_by":["evt_0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"]"#), "ok"),
        ("context", &with(r#""preceded_by":["evt_1"]"#), "422 INVALID_ENVELOPE context.preceded_by[0]"),
        ("context", &with(&format!("\"labels\":{}", list("\"a\"", 64))), "ok"),
        ("context", &with(&format!("\"labels\":{}", list("\"a\"", 65))), "422 INVALID_ENVELOPE context.labels"),
        ("context", &with(r#""labels":["a",""]"#), "422 INVALID_ENVELOPE context.labels[1]"),
        ("context", &with(r#""labels":["a\u0000"]"#), "422 INVALID_ENVELOPE context.labels[0]"),
        ("context", &with(r#""labels":["a\u0085"]"#), "422 INVALID_ENVELOPE context.labels[0]"),
        ("context", &with(&format!("\"labels\":[{}]", text(257))), "422 INVALID_ENVELOPE context.labels[0]"),
        ("context", &with(&format!("\"labels\":[\"{}\"]", "é".repeat(256))), "ok"),
        ("context", &with(&format!("\"intent\":{}", text(257))), "422 INVALID_ENVELOPE context.intent"),
        ("context", &with(r#""intent":"""#), "422 INVALID_ENVELOPE context.intent"),
        ("context", &with(r#""location":"Berlin""#), "ok"),
        ("context", &with(r#""location":{"lat":52.5,"lon":13.4}"#), "ok"),
        ("context", &with(&format!("\"location\":{}", text(4_095))), "422 INVALID_ENVELOPE context.location"),
        ("context", &with(r#""timezone":"Europe/Berlin""#), "ok"),
        ("context", &with(r#""timezone":"UTC""#), "ok"),
        ("context", &with(r#""timezone":"Etc/GMT+5""#), "ok"),
        ("context", &with(r#""timezone":"""#), "422 INVALID_ENVELOPE context.timezone"),
        ("context", &with(r#""timezone":"Europe/../Berlin""#), "422 INVALID_ENVELOPE context.timezone"),
        ("context", &with(r#""timezone":"+02:00""#), "422 INVALID_ENVELOPE context.timezone"),
        ("context", &with(r#""refers_to":[{"from":"2026-05-01","zone":"Europe/Berlin"}]"#), "ok"),
        ("context", &with(r#""timezone":"UTC","refers_to":[{"from":"2026-05-01T10:00","to":"2026-05-02","precision":"hour","confidence":0.5,"ambiguous":true,"expr_original":"last Friday","candidates":[{"from":"2026-04-24"}]}]"#), "ok"),
        ("context", &with(r#""refers_to":[{"from":"2026-05-01"}]"#), "422 INVALID_ENVELOPE context.refers_to[0].zone"),
        ("context", &with(r#""timezone":"UTC","refers_to":[{}]"#), "422 INVALID_ENVELOPE context.refers_to[0].from"),
        ("context", &with(r#""timezone":"UTC","refers_to":[{"from":"2026-05-01T10:00Z"}]"#), "422 INVALID_ENVELOPE context.refers_to[0].from"),
        ("context", &with(r#""timezone":"UTC","refers_to":[{"from":"2026-05-01","to":"soon"}]"#), "422 INVALID_ENVELOPE context.refers_to[0].to"),
        ("context", &with(r#""timezone":"UTC","refers_to":[{"from":"2026-05-01","confidence":2}]"#), "422 INVALID_ENVELOPE context.refers_to[0].confidence"),
        ("context", &with(r#""timezone":"UTC","refers_to":["2026-05-01"]"#), "422 INVALID_BODY context.refers_to[0]"),
        ("context", &with(r#""timezone":"UTC","refers_to":{"from":"2026-05-01"}"#), "422 INVALID_BODY context.refers_to"),
    ]);
}

#[test]
#[rustfmt::skip]
fn directives_and_hints() {
    check(&[
        ("directives", r#"{"extract":["facts","entities","beliefs"]}"#, "ok"),
        ("directives", r#"{"extract":[]}"#, "ok"),
        ("directives", r#"{"extract":["facts","everything"]}"#, "422 INVALID_ENVELOPE directives.extract[1]"),
        ("directives", r#"{"consolidate_into":"ws:acme-q3-launch"}"#, "ok"),
        ("directives", r#"{"consolidate_into":"acme"}"#, "422 INVALID_SCOPE_GRAMMAR directives.consolidate_into"),
        ("directives", r#"{"consolidate_into":"zz:acme"}"#, "422 UNREGISTERED_SCOPE_TYPE directives.consolidate_into"),
        ("directives", r#"{"consolidate_into":"system:x"}"#, "422 INVALID_ENVELOPE directives.consolidate_into"),
        ("directives", r#"{"confidence_floor":0}"#, "ok"),
        ("directives", r#"{"confidence_floor":1.0}"#, "ok"),
        ("directives", r#"{"confidence_floor":-0.1}"#, "422 INVALID_ENVELOPE directives.confidence_floor"),
        ("directives", r#"{"confidence_floor":1.1}"#, "422 INVALID_ENVELOPE directives.confidence_floor"),
        ("directives", r#"{"ttl_for_belief_layer":"P30D"}"#, "ok"),
        ("directives", r#"{"ttl_for_belief_layer":"P1Y2M3W4DT5H6M7.5S"}"#, "ok"),
        ("directives", r#"{"ttl_for_belief_layer":"30 days"}"#, "422 INVALID_ENVELOPE directives.ttl_for_belief_layer"),
        ("directives", r#"{"ttl_for_belief_layer":"P0D"}"#, "422 INVALID_ENVELOPE directives.ttl_for_belief_layer"),
        ("directives", r#"{"ttl_for_belief_layer":"-P1D"}"#, "422 INVALID_ENVELOPE directives.ttl_for_belief_layer"),
        ("directives", r#"{"ttl_for_belief_layer":"p1d"}"#, "422 INVALID_ENVELOPE directives.ttl_for_belief_layer"),
        ("directives", r#"{"ttl_for_belief_layer":""}"#, "422 INVALID_ENVELOPE directives.ttl_for_belief_layer"),
        ("directives", r#"{"embed":"eager"}"#, "ok"),
        ("directives", r#"{"embed":"never"}"#, "422 INVALID_ENVELOPE directives.embed"),
        ("directives", "null", "ok"),
        ("language", "\"pt-BR\"", "ok"),
        ("language", "\"zh-Hant-TW\"", "ok"),
        ("language", "\"x-klingon\"", "ok"),
        ("language", "\"\"", "422 INVALID_ENVELOPE language"),
        ("language", "\"english language\"", "422 INVALID_ENVELOPE language"),
        ("language", "\"en_US\"", "422 INVALID_ENVELOPE language"),
        ("language", "\"e\"", "422 INVALID_ENVELOPE language"),
        ("language", "\"en-\"", "422 INVALID_ENVELOPE language"),
        ("scripts", "[\"Latn\",\"Cyrl\"]", "ok"),
        ("scripts", "[\"Latin\"]", "422 INVALID_ENVELOPE scripts[0]"),
        ("scripts", "[\"La1n\"]", "422 INVALID_ENVELOPE scripts[0]"),
        ("scripts", &list("\"Latn\"", 16), "ok"),
        ("scripts", &list("\"Latn\"", 17), "422 INVALID_ENVELOPE scripts"),
    ]);
}

#[test]
#[rustfmt::skip]
fn idempotency_keys() {
    check(&[
        ("idempotency_key", "-", "422 INVALID_ENVELOPE idempotency_key"),
        ("idempotency_key", "\"\"", "422 INVALID_ENVELOPE idempotency_key"),
        ("idempotency_key", &text(64), "ok"),
        ("idempotency_key", &text(65), "422 INVALID_ENVELOPE idempotency_key"),
        ("idempotency_key", &format!("\"{}\"", "é".repeat(64)), "ok"),
        ("idempotency_key", "\"a\\nb\"", "422 INVALID_ENVELOPE idempotency_key"),
    ]);
    let by_header = |header, key| {
        with(Strictness::Strict, header, |ctx| {
            verdict(&read(envelope("idempotency_key", key).as_bytes(), ctx))
        })
    };
    let long = "x".repeat(65);
    for (header, key, expected) in [
        (Some("h"), "-", "ok"),
        (Some("h"), "\"h\"", "ok"),
        (Some("h"), "\"other\"", "422 INVALID_ENVELOPE idempotency_key"),
        (Some(""), "-", "422 INVALID_ENVELOPE idempotency_key"),
        (Some(long.as_str()), "-", "422 INVALID_ENVELOPE idempotency_key"),
    ] {
        assert_eq!(by_header(header, key), expected, "{header:?} {key}");
    }
}

#[test]
#[rustfmt::skip]
fn what_lenient_mode_still_refuses() {
    for (body, expected) in [
        (r#"{}"#, "422 INVALID_ENVELOPE scope"),
        (r#"{"scope":"user:alice"}"#, "422 INVALID_ENVELOPE content"),
        (r#"{"scope":"user:alice","content":""}"#, "422 INVALID_ENVELOPE content.text"),
        (r#"{"scope":"user:alice","content":{}}"#, "422 INVALID_ENVELOPE content.kind"),
        (r#"{"scope":"user:alice","content":{"data":1}}"#, "422 INVALID_ENVELOPE content.kind"),
        (r#"{"scope":"user:alice","content":5}"#, "422 INVALID_BODY content"),
        (r#"{"scope":"user:alice","content":"x","observed_actor":"bob"}"#, "422 INVALID_ENVELOPE observed_actor"),
        (r#"{"scope":"user:alice","content":"x","actor":"user:bob"}"#, "422 INVALID_BODY actor"),
        (r#"{"scope":"user:alice","text":"x"}"#, "422 INVALID_BODY text"),
        (r#"{"scope":"user:alice","content":"x","context":{"observed_at":"yesterday"}}"#, "422 INVALID_TIMESTAMP context.observed_at"),
    ] {
        assert_eq!(verdict(&lenient(body)), expected, "{body}");
    }
}
