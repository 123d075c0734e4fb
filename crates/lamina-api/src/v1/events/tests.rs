//! An event as it goes over the wire.

use expect_test::expect;
use lamina_types::{
    Actor, BlobId, Content, Context, Directives, EventId, EventRecord, Experience, Hints, MediaRef,
    Micros, Modality, RecordedAt, Role, ValidAt,
};

use super::EventBody;

/// A record in which everything optional is absent.
pub(crate) fn bare() -> EventRecord {
    EventRecord {
        id: EventId::from_bytes([0x11; 16]),
        caller: "user:caller".parse().unwrap(),
        as_system: false,
        tenant_id: "default".to_owned(),
        recorded_at: RecordedAt(Micros(1_778_686_929_000_000)),
        wal_offset: 134_892,
        number: 7,
        seal: [0xab; 32],
        excluded_from_recall: false,
        experience: Experience {
            scope: "org:acme/user:alice".parse().unwrap(),
            observed_actor: Actor::new("agent:bot".parse().unwrap()),
            subject: "user:bob".parse().unwrap(),
            modality: Modality("conversation".to_owned()),
            content: Content::Message {
                role: Role::User,
                text: "hi".to_owned(),
                media: Vec::new(),
            },
            context: Context {
                observed_at: ValidAt(Micros(1_778_686_920_000_000)),
                source_recorded_at: None,
                location: None,
                preceded_by: Vec::new(),
                intent: None,
                labels: Vec::new(),
                refers_to: None,
            },
            directives: Directives::default(),
            source: None,
            origin: None,
            hints: Hints::default(),
            idempotency_key: "secret-key".to_owned(),
        },
    }
}

/// A record in which everything optional is present.
pub(crate) fn full() -> EventRecord {
    let mut record = bare();
    let experience = &mut record.experience;
    experience.observed_actor.session = Some("run_abc".to_owned());
    experience.content = Content::Json {
        data: r#"{"b":1.50,"a":[12345678901234567890123]}"#.to_owned(),
        media: vec![MediaRef { blob_id: BlobId::from_bytes([0x22; 16]) }],
    };
    experience.context.source_recorded_at = Some(ValidAt(Micros(1)));
    experience.context.location = Some(r#"{"city":"Berlin"}"#.to_owned());
    experience.context.preceded_by = vec![EventId::from_bytes([0x33; 16])];
    experience.context.intent = Some("deal_close".to_owned());
    experience.context.labels = vec!["sales".to_owned()];
    experience.context.refers_to = Some(r#"[{"from":"2026-05-01","zone":"UTC"}]"#.to_owned());
    experience.directives = Directives {
        extract: Some(vec!["facts".to_owned()]),
        consolidate_into: Some("ws:x".parse().unwrap()),
        confidence_floor: Some(0.5),
        ttl_for_belief_layer: Some("P30D".to_owned()),
        ttl_for_event_layer: Some("P90D".to_owned()),
        embed: Some("lazy".to_owned()),
        no_supersede: true,
    };
    experience.source = Some(format!(
        r#"{{"schema_version":2,"source_id":"s","modality":"conversation","content_kind":"text/plain","source_fingerprint":"sha256:{0}","fragments":[{{"fragment_id":"f","locator":{{"kind":"generic","ordinal":0}},"content_fingerprint":"sha256:{0}"}}]}}"#,
        "0".repeat(64),
    ));
    experience.hints = Hints {
        language: Some("en".to_owned()),
        scripts: vec!["Latn".to_owned()],
        timezone: Some("Europe/Berlin".to_owned()),
    };
    record.excluded_from_recall = true;
    record
}

#[test]
fn an_event_without_options() {
    let body = EventBody::new(&bare(), Vec::new());
    expect![[r#"
        {
          "id": "evt_11111111111111111111111111111111",
          "scope": "org:acme/user:alice",
          "actor": "agent:bot",
          "observed_actor": {
            "id": "agent:bot",
            "type": "agent"
          },
          "subject": {
            "id": "user:bob",
            "type": "user"
          },
          "caller": "user:caller",
          "tenant_id": "default",
          "modality": "conversation",
          "content": {
            "kind": "message",
            "role": "user",
            "text": "hi"
          },
          "context": {
            "observed_at": "2026-05-13T15:42:00Z",
            "recorded_at": "2026-05-13T15:42:09Z",
            "preceded_by": [],
            "labels": []
          },
          "derives": [],
          "wal_offset": 134892,
          "citation": "eventloom://org:acme%2Fuser:alice/events/7#abababababababababababababababababababababababababababababababab"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&body).unwrap());
}

#[test]
fn an_event_with_every_option() {
    let body = EventBody::new(&full(), vec!["fact_1".to_owned()]);
    let text = serde_json::to_string(&body).unwrap();
    for part in [
        r#""session":"run_abc""#,
        // The number keeps the spelling it was submitted with.
        r#""content":{"kind":"json","data":{"b":1.50,"a":[12345678901234567890123]},"media":[{"blob_id":"blob_22222222222222222222222222222222"}]}"#,
        r#""source_recorded_at":"1970-01-01T00:00:00.000001Z""#,
        r#""location":{"city":"Berlin"}"#,
        r#""preceded_by":["evt_33333333333333333333333333333333"]"#,
        r#""timezone":"Europe/Berlin","refers_to":[{"from":"2026-05-01","zone":"UTC"}]"#,
        r#""directives":{"extract":["facts"],"consolidate_into":"ws:x","confidence_floor":0.5,"ttl_for_belief_layer":"P30D","ttl_for_event_layer":"P90D","embed":"lazy","no_supersede":true}"#,
        r#""source":{"schema_version":2,"#,
        r#""language":"en","scripts":["Latn"]"#,
        r#""derives":["fact_1"]"#,
        r#""excluded_from_recall":true"#,
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
    assert!(!text.contains("secret-key") && !text.contains("_partial"));
}

#[test]
fn origin_of_an_imported_event_is_shown_by_the_single_event_alone() {
    let mut record = bare();
    assert!(EventBody::new(&record, Vec::new()).with_origin(&record).origin.is_none());
    record.experience.origin = Some(r#"{"format":"mem0","id":"m-1","score":1.50}"#.to_owned());
    let body = EventBody::new(&record, Vec::new());
    assert!(!serde_json::to_string(&body).unwrap().contains("origin"));
    let text = serde_json::to_string(&body.with_origin(&record)).unwrap();
    assert!(text.contains(r#""origin":{"format":"mem0","id":"m-1","score":1.50}"#), "{text}");
}
