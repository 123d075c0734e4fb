//! What an accepted envelope becomes: defaults, short forms, what is kept as submitted.

use expect_test::{Expect, expect};
use lamina_types::Experience;

use super::{NOW, Strictness, envelope, lenient, strict, with};
use crate::error::ApiError;
use crate::time;
use crate::v1::experience::{Admitted, Wait, read, read_line};

fn show(admitted: Admitted) -> String {
    let Admitted { experience, warnings, key_drawn: _ } = admitted;
    let Experience {
        scope,
        observed_actor,
        subject,
        modality,
        content,
        context,
        directives,
        source,
        origin,
        hints,
        idempotency_key,
    } = experience;
    let mut lines = vec![
        format!("scope    {scope}"),
        format!("actor    {} {:?}", observed_actor.id, observed_actor.session),
        format!("subject  {subject}"),
        format!("modality {}", modality.as_str()),
        format!("content  {content:?}"),
        format!("observed {}", time::print(context.observed_at.0)),
        format!("key      {idempotency_key}"),
    ];
    if context.observed_at.0 == NOW {
        lines.push("at now".to_owned());
    }
    for (name, value) in [
        ("source_recorded_at", context.source_recorded_at.map(|at| time::print(at.0))),
        ("location", context.location),
        ("intent", context.intent),
        ("refers_to", context.refers_to),
        ("source", source),
        ("origin", origin),
        ("language", hints.language),
        ("timezone", hints.timezone),
    ] {
        lines.extend(value.map(|value| format!("{name} {value}")));
    }
    for (name, list) in [
        ("labels", context.labels),
        ("preceded_by", context.preceded_by.iter().map(ToString::to_string).collect()),
        ("scripts", hints.scripts),
        ("warnings", warnings),
    ] {
        if !list.is_empty() {
            lines.push(format!("{name} {list:?}"));
        }
    }
    if directives != lamina_types::Directives::default() {
        lines.push(format!("{directives:?}"));
    }
    lines.join("\n") + "\n"
}

#[track_caller]
fn check(result: Result<Admitted, ApiError>, expected: Expect) {
    expected.assert_eq(&show(result.unwrap()));
}

#[test]
fn the_specified_envelope() {
    check(
        strict(include_str!("../../../../fixtures/experience_envelope/full.json")),
        expect![[r#"
            scope    org:acme/dept:eng/user:alice
            actor    user:alice Some("run_abc")
            subject  user:alice
            modality conversation
            content  Message { role: User, text: "Acme moved to 200 seats and signed by 3:42pm", media: [] }
            observed 2026-05-13T15:42:00Z
            key      alice-msg-1747147320-001
            intent deal_close
            labels ["sales", "q3-launch"]
            preceded_by ["evt_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b"]
            Directives { extract: Some(["facts", "entities", "beliefs"]), consolidate_into: Some(ws:acme-q3-launch), confidence_floor: Some(0.5), ttl_for_belief_layer: Some("P30D"), ttl_for_event_layer: None, embed: Some("lazy"), no_supersede: false }
        "#]],
    );
}

#[test]
fn the_one_line_curl() {
    check(
        lenient(r#"{"scope":"user:alice","content":"Acme moved to 200 seats"}"#),
        expect![[r#"
            scope    user:alice
            actor    user:caller None
            subject  user:caller
            modality observation
            content  Text { text: "Acme moved to 200 seats", media: [] }
            observed 2026-05-13T16:00:00Z
            key      generated
            at now
        "#]],
    );
}

#[test]
fn a_role_makes_a_message_and_a_string_an_actor() {
    check(
        lenient(
            r#"{"scope":"user:alice","content":{"text":"hi","role":"assistant"},
                "observed_actor":"agent:bot","subject":"user:bob","context":{"labels":["a"]}}"#,
        ),
        expect![[r#"
            scope    user:alice
            actor    agent:bot None
            subject  user:bob
            modality observation
            content  Message { role: Assistant, text: "hi", media: [] }
            observed 2026-05-13T16:00:00Z
            key      generated
            at now
            labels ["a"]
        "#]],
    );
}

#[test]
fn the_subject_defaults_to_the_observed_actor() {
    check(
        strict(&envelope("observed_actor", r#"{"id":"user:bob","type":"user"}"#)),
        expect![[r#"
            scope    org:acme/user:alice
            actor    user:bob None
            subject  user:bob
            modality conversation
            content  Message { role: User, text: "hi", media: [] }
            observed 2026-05-13T15:42:00Z
            key      key-1
        "#]],
    );
}

#[test]
fn free_json_is_kept_as_submitted_without_white_space() {
    check(
        strict(&envelope(
            "content",
            "{ \"kind\" : \"json\", \"data\" : { \"b\" : [ 1.50 , 1E2, 12345678901234567890123 ] ,\n \"a\" : \"\\u00e9 \\/ x\" } }",
        )),
        expect![[r#"
            scope    org:acme/user:alice
            actor    user:caller None
            subject  user:caller
            modality conversation
            content  Json { data: "{\"b\":[1.50,1E2,12345678901234567890123],\"a\":\"\\u00e9 \\/ x\"}", media: [] }
            observed 2026-05-13T15:42:00Z
            key      key-1
        "#]],
    );
}

#[test]
fn every_optional_field_of_the_context() {
    check(
        strict(&envelope(
            "context",
            r#"{"observed_at":"2026-05-13T17:42:00.1234569+02:00","source_recorded_at":"2020-01-01T00:00:00Z",
                "location":{"city": "Berlin"},"timezone":"Europe/Berlin","refers_to":[{"from": "2026-05-01"}]}"#,
        )),
        expect![[r#"
            scope    org:acme/user:alice
            actor    user:caller None
            subject  user:caller
            modality conversation
            content  Message { role: User, text: "hi", media: [] }
            observed 2026-05-13T15:42:00.123456Z
            key      key-1
            source_recorded_at 2020-01-01T00:00:00Z
            location {"city":"Berlin"}
            refers_to [{"from":"2026-05-01"}]
            timezone Europe/Berlin
        "#]],
    );
}

#[test]
fn warnings_name_what_was_accepted_with_a_doubt() {
    let unknown = strict(&envelope("modality", "\"smell\"")).unwrap();
    assert_eq!(unknown.warnings, ["unknown_modality"]);
    let future = strict(&envelope("context", r#"{"observed_at":"2026-05-14T16:00:00.000001Z"}"#));
    assert_eq!(future.unwrap().warnings, ["observed_at_in_future"]);
    let edge = strict(&envelope("context", r#"{"observed_at":"2026-05-14T16:00:00Z"}"#));
    assert!(edge.unwrap().warnings.is_empty());
}

#[test]
fn the_header_is_the_key_of_a_body_without_one() {
    let admitted = with(Strictness::Lenient, Some("from-header"), |ctx| {
        read(br#"{"scope":"user:alice","content":"x"}"#, ctx)
    });
    assert_eq!(admitted.unwrap().experience.idempotency_key, "from-header");
}

#[test]
fn a_line_of_an_import_may_say_actor() {
    let line = |actor: &str| {
        with(Strictness::Strict, None, |ctx| {
            read_line(envelope("actor", actor).as_bytes(), ctx)
                .map(|admitted| admitted.experience.observed_actor)
        })
    };
    assert_eq!(line("\"user:bob\"").unwrap().id.as_str(), "user:bob");
    let actor = line(r#"{"id":"user:bob","type":"user","session":"s"}"#).unwrap();
    assert_eq!(actor.session.as_deref(), Some("s"));
    assert_eq!(line("\"bob\"").unwrap_err().field(), Some("actor"));
    assert_eq!(line(r#"{"id":"bob"}"#).unwrap_err().field(), Some("actor.id"));
    let both = envelope("actor", r#""user:bob","observed_actor":{"id":"user:bob"}"#);
    let error = with(Strictness::Strict, None, |ctx| read_line(both.as_bytes(), ctx)).unwrap_err();
    assert_eq!(error.field(), Some("actor"));
}

#[test]
fn unknown_fields_come_with_a_suggestion() {
    let suggestion = |field: &str, json: &str| {
        let error = strict(&envelope(field, json)).unwrap_err();
        error.detail("suggestion").unwrap_or("-").to_owned()
    };
    for (field, json, expected) in [
        ("modalty", "1", "modality"),
        ("idempotencyKey", "1", "idempotency_key"),
        ("actor", "\"user:bob\"", "observed_actor"),
        ("happened_at", "1", "context.observed_at"),
        ("text", "\"hi\"", "content"),
        ("labels", "[]", "context.labels"),
        ("zzz", "1", "-"),
        ("context", r#"{"observedAt":1}"#, "observed_at"),
        ("context", r#"{"happened_at":1}"#, "context.observed_at"),
        ("context", r#"{"recorded_at":1}"#, "context.source_recorded_at"),
        ("content", r#"{"kind":"text","txt":"x"}"#, "text"),
    ] {
        assert_eq!(suggestion(field, json), expected, "{field} = {json}");
    }
}

#[test]
fn an_error_says_where_in_the_text() {
    let error = strict("{\n  \"scope\": \"user:a\",\n  \"é\": tru }").unwrap_err();
    let envelope = error.envelope("req_1", None);
    expect![[r#"
        {
          "error_code": "INVALID_BODY",
          "message": "The body cannot be read as JSON: found 't' where a value is expected (line 3, column 8).",
          "request_id": "req_1",
          "details": {
            "reason": "found 't' where a value is expected",
            "line": 3,
            "column": 8,
            "field": "é"
          },
          "retriable": false
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&envelope).unwrap());
}

#[test]
fn wait_takes_five_values() {
    for wait in Wait::ALL {
        assert_eq!(Wait::parse(Some(wait.as_str())).unwrap(), *wait);
    }
    assert_eq!(Wait::parse(None).unwrap(), Wait::Accepted);
    for bad in ["", "extracted", "Indexed", "true"] {
        let error = Wait::parse(Some(bad)).unwrap_err();
        assert_eq!((error.status, error.code.as_str()), (422, "INVALID_WAIT"));
        assert!(error.message.contains("captured, indexed"), "{error}");
    }
}
