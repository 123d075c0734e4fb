//! Lines of decisions, good and bad.

use lamina_portable::json::{ReadPolicy, parse};

use super::*;

fn read(kind: LineKind, text: &str) -> Result<ControlLine, String> {
    ControlLine::read(kind, &parse(text.as_bytes(), &ReadPolicy::STRICT).expect("is JSON"))
}

fn event_id(byte: u8) -> EventId {
    EventId::from_bytes([byte; 16])
}

#[test]
fn cancellation_names_its_exported_event() {
    let text = format!(r#"{{"scope":"user:a","event":"{}"}}"#, event_id(7));
    let line = read(LineKind::Cancellation, &text).expect("is a line");
    assert_eq!((line.scope(), line.kind()), ("user:a", LineKind::Cancellation));
    assert_eq!(line.events(), [event_id(7)]);
}

#[test]
fn declaration_names_all_events_of_its_supports() {
    let text = format!(
        r#"{{"scope":"user:a","statement":"s","predicate":"p","confidence":0.5,
            "valid_from":"2026-01-01T00:00:00Z","supports":[{{"event":"{}"}},
            {{"fact":{{"id":"fact_x","subject":"n","predicate":"q","objects":[],"events":["{}"]}}}}]}}"#,
        event_id(1),
        event_id(2)
    );
    let line = read(LineKind::DeclaredBelief, &text).expect("is a line");
    assert_eq!(line.events(), [event_id(1), event_id(2)]);
}

#[test]
fn bad_lines_say_which_member_is_wrong() {
    for (kind, text, member) in [
        (LineKind::Vocabulary, r#"{"name":"sales"}"#, "scope"),
        (LineKind::Cancellation, r#"{"scope":"user:a"}"#, "event"),
        (LineKind::Cancellation, r#"{"scope":"user:a","event":"fact_1"}"#, "event"),
        (
            LineKind::EntityMerge,
            r#"{"scope":"user:a","from":{"name":"x","kind":"person"}}"#,
            "into",
        ),
        (LineKind::Vocabulary, r#"{"scope":"user:a"}"#, "name"),
        (
            LineKind::ConflictDecision,
            r#"{"scope":"user:a","claims":[],"decision":{"action":"pick","winner":0}}"#,
            "winner",
        ),
        (
            LineKind::ConflictDecision,
            r#"{"scope":"user:a","claims":[],"decision":{"action":"toss"}}"#,
            "action",
        ),
        (
            LineKind::DeclaredBelief,
            r#"{"scope":"user:a","confidence":2,"supports":[]}"#,
            "confidence",
        ),
        (LineKind::Event, r#"{"scope":"user:a"}"#, "event"),
    ] {
        let error = read(kind, text).expect_err(text);
        assert!(error.contains(member), "{text}: {error}");
    }
}
