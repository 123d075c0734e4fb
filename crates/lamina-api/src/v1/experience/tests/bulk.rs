//! Bulk requests: both shapes, defaults, refusals per index.

use expect_test::expect;

use super::{Strictness, with};
use crate::error::ApiError;
use crate::v1::experience::{AdmittedBulk, read_bulk};

fn bulk(body: &str) -> Result<AdmittedBulk, ApiError> {
    with(Strictness::Strict, None, |ctx| read_bulk(body.as_bytes(), ctx))
}

/// An item without a scope.
fn item(key: &str, text: &str, second: u32) -> String {
    format!(
        r#"{{"modality":"conversation","content":{{"kind":"text","text":"{text}"}},
            "context":{{"observed_at":"2026-05-13T15:42:{second:02}Z"}},"idempotency_key":"{key}"}}"#
    )
}

fn of(head: &str, items: &[String]) -> String {
    format!("{{{head}\"items\":[{}]}}", items.join(","))
}

#[test]
fn the_top_is_the_default_of_every_item() {
    let own = r#"{"scope":"user:own","actor":"agent:own","modality":"document",
        "content":{"kind":"text","text":"b"},"context":{"observed_at":"2026-05-13T15:42:00Z"},
        "directives":{"embed":"eager"},"idempotency_key":"k2"}"#;
    let head = r#""scope":"org:acme","actor":{"id":"agent:a","session":"s"},"directives":{"embed":"lazy"},"#;
    let admitted = bulk(&of(head, &[item("k1", "a", 0), own.to_owned()])).unwrap();
    let shown: Vec<String> = admitted
        .items
        .iter()
        .map(|item| {
            let e = &item.experience;
            format!(
                "{} {} {:?} {} {:?} {}",
                e.scope,
                e.observed_actor.id,
                e.observed_actor.session,
                e.subject,
                e.directives.embed,
                e.idempotency_key
            )
        })
        .collect();
    expect![[r#"
        org:acme agent:a Some("s") agent:a Some("lazy") k1
        user:own agent:own None agent:own Some("eager") k2"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn one_key_for_the_request_gives_each_item_one() {
    let bare = r#"{"scope":"user:a","modality":"observation","content":{"kind":"text","text":"x"},
        "context":{"observed_at":"2026-05-13T15:42:00Z"}}"#;
    let admitted =
        bulk(&of(r#""idempotency_key":"req","#, &[bare.to_owned(), item("own", "x", 0)]));
    // The second item has no scope of its own, and the request gives none.
    assert_eq!(admitted.unwrap_err().field(), Some("items[1].scope"));
    let head = r#""idempotency_key":"req","scope":"user:a","#;
    let admitted = bulk(&of(head, &[bare.to_owned(), item("own", "x", 0)])).unwrap();
    let keys: Vec<&str> =
        admitted.items.iter().map(|item| item.experience.idempotency_key.as_str()).collect();
    assert_eq!(keys, ["req:0", "own"]);
}

#[test]
fn strict_temporal_orders_by_observation() {
    let items = [item("a", "x", 30), item("b", "x", 10), item("c", "x", 10)];
    let head = |ordering: &str| format!(r#""scope":"user:a","ordering":"{ordering}","#);
    let order = |ordering: &str| bulk(&of(&head(ordering), &items)).unwrap().append_order();
    assert_eq!(order("strict_temporal"), [1, 2, 0]);
    assert_eq!(order("batch_throughput"), [0, 1, 2]);
    let error = bulk(&of(&head("random"), &items)).unwrap_err();
    assert_eq!(error.field(), Some("ordering"));
}

#[test]
fn one_bad_item_refuses_all_and_every_bad_item_is_named() {
    let items = [item("a", "x", 0), item("b", "", 0), item("", "x", 0), item("d", "x", 60)];
    let error = bulk(&of(r#""scope":"user:a","#, &items)).unwrap_err();
    expect![[r#"
        {
          "error_code": "INVALID_ENVELOPE",
          "message": "3 of 4 items were refused and nothing was written; first: `items[1].content.text`: must not be empty",
          "request_id": "req_1",
          "details": {
            "field": "items[1].content.text",
            "reason": "must not be empty",
            "error_count": 3,
            "errors": [
              {
                "index": 1,
                "error_code": "INVALID_ENVELOPE",
                "field": "content.text",
                "reason": "must not be empty"
              },
              {
                "index": 2,
                "error_code": "INVALID_ENVELOPE",
                "field": "idempotency_key",
                "reason": "must not be empty"
              },
              {
                "index": 3,
                "error_code": "INVALID_TIMESTAMP",
                "field": "context.observed_at",
                "reason": "leap seconds are not supported; use second 59"
              }
            ]
          },
          "retriable": false
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&error.envelope("req_1", None)).unwrap());
}

#[test]
fn items_of_the_wrong_shape_are_named_too() {
    let body =
        of(r#""scope":"user:a","#, &[item("a", "x", 0), r#"{"foo":1}"#.to_owned(), "5".to_owned()]);
    let error = bulk(&body).unwrap_err();
    assert_eq!((error.status, error.code.as_str()), (422, "INVALID_BODY"));
    assert_eq!(error.field(), Some("items[1].foo"));
    let errors = error.details.iter().find(|(name, _)| *name == "errors");
    let errors = errors.unwrap().1.as_array().unwrap();
    assert_eq!(errors.len(), 2);
    assert_eq!(errors[1]["index"], 2);
    assert_eq!(errors[1]["field"], "body");
}

#[test]
fn a_key_used_twice_is_a_replay_or_a_conflict() {
    let head = r#""scope":"user:a","#;
    let replay = bulk(&of(head, &[item("k", "x", 0), item("k", "x", 5)]));
    assert_eq!(replay.unwrap().items.len(), 2, "observed_at is not part of the identity");
    let error = bulk(&of(head, &[item("k", "x", 0), item("k", "y", 0)])).unwrap_err();
    assert_eq!((error.status, error.code.as_str()), (409, "IDEMPOTENCY_CONFLICT"));
    assert_eq!(error.field(), Some("items[1].idempotency_key"));
}

#[test]
fn the_number_of_items_is_limited() {
    for (count, ok) in [(0, false), (1, true), (1_000, true), (1_001, false)] {
        let items: Vec<String> = (0..count).map(|n| item(&format!("k{n}"), "x", 0)).collect();
        let result = bulk(&of(r#""scope":"user:a","#, &items));
        assert_eq!(result.is_ok(), ok, "{count}");
        if let Err(error) = result {
            assert_eq!(error.field(), Some("items"));
        }
    }
    assert_eq!(bulk("{}").unwrap_err().field(), Some("items"));
    assert_eq!(bulk(r#"{"items":{}}"#).unwrap_err().field(), Some("items"));
}

#[test]
fn the_list_of_errors_is_bounded() {
    let items: Vec<String> = (0..60).map(|n| item(&format!("k{n}"), "", 0)).collect();
    let error = bulk(&of(r#""scope":"user:a","#, &items)).unwrap_err();
    let detail = |name: &str| error.details.iter().find(|(key, _)| *key == name).unwrap().1.clone();
    assert_eq!(detail("error_count"), 60);
    assert_eq!(detail("errors").as_array().unwrap().len(), 50);
}
