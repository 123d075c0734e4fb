//! Lifecycle rows as they go over the wire.

use expect_test::{Expect, expect};
use lamina_types::lifecycle::Payload;
use lamina_types::{BatchId, EventId, LifecycleEvent, LifecycleId, LifecycleKind, Micros, Stage};

use super::{
    CancelRequest, CapabilityDiff, CapturedDetail, EVENT_NAMES, Lagging, LifecycleBody,
    PolicyChanged, PolicyRevoked, Said,
};

pub(crate) fn row(kind: LifecycleKind, payload: Payload) -> LifecycleEvent {
    LifecycleEvent {
        id: LifecycleId::from_bytes([0x44; 16]),
        kind,
        event_id: EventId::from_bytes([0x11; 16]),
        scope: "org:acme/user:alice".parse().unwrap(),
        at: Micros(1_778_686_929_418_000),
        seq: 2,
        batch_id: None,
        payload,
    }
}

pub(crate) fn every_payload() -> Vec<LifecycleEvent> {
    let extracted = Payload::Extracted { facts: 3, entities: 2, beliefs: 1, episodes: 0 };
    let consolidated =
        Payload::Consolidated { beliefs_updated: 1, conflicts_resolved: 2, superseded_facts: 3 };
    vec![
        row(LifecycleKind::Stage(Stage::Captured), Payload::Captured { wal_offset: 5 }),
        row(LifecycleKind::Stage(Stage::Extracted), extracted),
        row(LifecycleKind::Stage(Stage::Indexed), Payload::Indexed { layers: 0b101 }),
        row(LifecycleKind::Stage(Stage::Consolidated), consolidated),
        row(
            LifecycleKind::Stage(Stage::Compressed),
            Payload::Compressed {
                episode: lamina_types::EpisodeId::from_bytes([0x44; 16]),
                understanding: vec![lamina_types::ConceptId::from_bytes([0x55; 16])],
            },
        ),
        row(LifecycleKind::Failed(Stage::Indexed), Payload::Failed { attempts: 4 }),
        row(LifecycleKind::Cancelled, cancelled()),
    ]
}

fn cancelled() -> Payload {
    let mut dependants = lamina_types::lifecycle::Dependants::default();
    let fact = lamina_types::FactId::from_bytes([0x66; 16]);
    dependants
        .add(lamina_types::lifecycle::Fate::Removed, lamina_types::lifecycle::Derived::Fact(fact));
    Payload::Cancelled { from: Some(Stage::Indexed), dependants: Box::new(dependants) }
}

#[test]
fn a_row() {
    let mut event = row(LifecycleKind::Stage(Stage::Captured), Payload::Captured { wal_offset: 5 });
    event.batch_id = Some(BatchId::from_bytes([0x55; 16]));
    let detail = CapturedDetail { actor: "user:alice", modality: "conversation" };
    let body = LifecycleBody::new(&event, Some(detail));
    expect![[r#"
        {
          "lifecycle_id": "lce_44444444444444444444444444444444",
          "event": "captured",
          "stage": "captured",
          "event_id": "evt_11111111111111111111111111111111",
          "batch_id": "batch_55555555555555555555555555555555",
          "scope": "org:acme/user:alice",
          "ts": "2026-05-13T15:42:09.418Z",
          "timestamp": "2026-05-13T15:42:09.418Z",
          "seq": 2,
          "payload": {
            "event_id": "evt_11111111111111111111111111111111",
            "actor": "user:alice",
            "modality": "conversation",
            "wal_offset": 5
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&body).unwrap());
}

#[test]
fn payloads() {
    let check = |expected: Expect| {
        let lines: Vec<String> = every_payload()
            .iter()
            .map(|event| {
                let body = LifecycleBody::new(event, None);
                let payload = body.payload.to_string();
                let payload =
                    payload.replace("\"event_id\":\"evt_11111111111111111111111111111111\"", "…");
                assert!(EVENT_NAMES.contains(&body.event.as_str()), "{}", body.event);
                format!("{} {:?} {payload}", body.event, body.stage.unwrap_or_default())
            })
            .collect();
        expected.assert_eq(&lines.join("\n"));
    };
    check(expect![[r#"
        captured "captured" {…,"actor":null,"modality":null,"wal_offset":5}
        extracted "extracted" {…,"derived":{"facts":3,"entities":2,"beliefs":1,"episodes":0}}
        indexed "indexed" {…,"layers_indexed":["events","facts"]}
        consolidated "consolidated" {…,"beliefs_updated":1,"conflicts_resolved":2,"superseded_facts":3}
        compressed "compressed" {…,"episode_id":"ep_44444444444444444444444444444444","understanding_ids":["concept_55555555555555555555555555555555"]}
        failed "indexed" {…,"stage":"indexed","attempts":4}
        cancelled "" {…,"stages_cancelled":["indexed","consolidated","compressed"],"dependants":{"rederived":{"count":0,"ids":[]},"demoted":{"count":0,"ids":[]},"stale":{"count":0,"ids":[]},"removed":{"count":1,"ids":["fact_66666666666666666666666666666666"]}}}"#]]);
}

/// R384, R385, C39: rows as all others, of no event.
#[test]
fn words_about_policies() {
    let scope = "org:acme/user:alice".parse().unwrap();
    let id = LifecycleId::from_bytes([0x44; 16]);
    let said = |scope| Said { id, scope, at: Micros(1_778_686_929_418_000) };
    let changed = PolicyChanged {
        tier: "scope".to_owned(),
        scope_or_actor: Some("org:acme".to_owned()),
        capability_diff: CapabilityDiff {
            allowed: Vec::new(),
            denied: vec!["blob.upload".to_owned()],
        },
    };
    let body = LifecycleBody::policy_changed(said(Some(&scope)), 3, &changed);
    expect![[r#"{"lifecycle_id":"lce_44444444444444444444444444444444","event":"policy_changed","stage":null,"event_id":null,"scope":"org:acme/user:alice","ts":"2026-05-13T15:42:09.418Z","timestamp":"2026-05-13T15:42:09.418Z","seq":3,"payload":{"tier":"scope","scope_or_actor":"org:acme","capability_diff":{"allowed":[],"denied":["blob.upload"]}}}"#]]
    .assert_eq(&serde_json::to_string(&body).unwrap());
    assert_eq!(serde_json::to_value(&changed).unwrap(), body.payload);
    let revoked = PolicyRevoked { reason: "the token was revoked".to_owned() };
    let body = LifecycleBody::policy_revoked(said(None), &revoked);
    assert_eq!(serde_json::to_value(&revoked).unwrap(), body.payload);
    assert_eq!((body.event.as_str(), body.scope), ("policy_revoked", None));
}

#[test]
fn lagging_says_how_far_and_from_where() {
    let body = Lagging::new(31_005, Some(LifecycleId::from_bytes([0x44; 16])));
    assert_eq!(body.behind_by, "PT31.005S");
    assert!(body.since_lifecycle_id.unwrap().starts_with("lce_44"));
}

#[test]
fn a_cancel_may_have_no_body() {
    assert_eq!(CancelRequest::read(b" ").unwrap(), CancelRequest::default());
    assert_eq!(CancelRequest::read(b"{}").unwrap(), CancelRequest::default());
    let note = CancelRequest::read(br#"{"audit_note":"wrong text"}"#).unwrap();
    assert_eq!(note.audit_note.as_deref(), Some("wrong text"));
    let long = format!(r#"{{"audit_note":"{}"}}"#, "x".repeat(2_001));
    for (body, status, field) in [
        ("[]", 422, Some("body")),
        (r#"{"note":"x"}"#, 422, Some("note")),
        (r#"{"audit_note":5}"#, 422, Some("audit_note")),
        (&long, 422, Some("audit_note")),
        ("{", 400, None),
    ] {
        let error = CancelRequest::read(body.as_bytes()).unwrap_err();
        assert_eq!((error.status, error.field()), (status, field), "{body}");
    }
}
