//! Parameters and bodies at their limits, and durations.

use super::*;

fn pairs(text: &str) -> Vec<(String, String)> {
    text.split('&')
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap();
            (name.to_owned(), value.to_owned())
        })
        .collect()
}

#[test]
fn questions_are_read_and_bad_ones_refused() {
    let query = ConceptsQuery::parse(&pairs("scope=org:acme&topic=renewal&depth=5")).unwrap();
    assert_eq!((query.topic.as_deref(), query.depth, query.limit), (Some("renewal"), 5, 50));
    assert!(!query.at.include_deprecated);
    for bad in [
        "scope=org:acme&depth=6",
        "scope=org:acme&depth=-1",
        "scope=org:acme&depth=x",
        "scope=org:acme&include_deprecated=perhaps",
        "scope=org:acme&min_confidence=1.01",
        "scope=org:acme&limit=0",
        "scope=org:acme&limit=1001",
        "scope=org:acme&as_of=yesterday",
        "scope=org:acme&valid_during=2025-01-02..2025-01-01",
        "topic=renewal",
    ] {
        assert!(ConceptsQuery::parse(&pairs(bad)).is_err(), "{bad}");
    }
    let long = format!("scope=org:acme&topic={}", "x".repeat(513));
    assert!(ConceptsQuery::parse(&pairs(&long)).is_err());
    let related = RelatedQuery::parse(&pairs("relation=depends_on&depth=2")).unwrap();
    assert_eq!((related.relation.as_deref(), related.depth), (Some("depends_on"), 2));
    for bad in ["relation=a b", "depth=0", "depth=6"] {
        assert!(RelatedQuery::parse(&pairs(bad)).is_err(), "{bad}");
    }
}

#[test]
fn a_cursor_belongs_to_its_question() {
    let mac = |bytes: &[u8]| {
        let mut mac = [7; 32];
        bytes.iter().enumerate().for_each(|(at, byte)| mac[at % 32] ^= byte);
        mac
    };
    let one = ConceptsQuery::parse(&pairs("scope=org:acme&topic=a")).unwrap();
    let cursor = one.next_cursor(b"here", &mac);
    let again = ConceptsQuery { cursor: Some(cursor.clone()), limit: 7, ..one };
    assert_eq!(again.start(&mac).unwrap(), crate::PageStart::After(b"here".to_vec()));
    let mut other = ConceptsQuery::parse(&pairs("scope=org:acme&topic=b")).unwrap();
    other.cursor = Some(cursor);
    assert!(other.start(&mac).is_err());
}

#[test]
fn requests_for_synthesis_are_read_and_bad_ones_refused() {
    let read = |body: &str| SynthesizeRequest::read(body.as_bytes(), Some("header"));
    let wanted = read(r#"{"scope": "org:acme", "topics": []}"#).unwrap();
    assert_eq!((wanted.force, wanted.idempotency_key.as_deref()), (false, Some("header")));
    let wanted =
        read(r#"{"scope": "org:acme", "idempotency_key": "body", "force": true}"#).unwrap();
    assert_eq!((wanted.force, wanted.idempotency_key.as_deref()), (true, Some("body")));
    for bad in [
        r#"{"topics": []}"#,
        r#"{"scope": "nothing"}"#,
        r#"{"scope": "org:acme", "model": "large"}"#,
        r#"{"scope": "org:acme", "topics": "renewal"}"#,
        r#"{"scope": "org:acme", "force": "yes"}"#,
        "[]",
        "",
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
    let many = |count: usize| {
        let topics: Vec<String> = (0..count).map(|at| format!("\"t{at}\"")).collect();
        read(&format!(r#"{{"scope": "org:acme", "topics": [{}]}}"#, topics.join(",")))
    };
    assert!(many(100).is_ok());
    assert!(many(101).is_err());
    let keyed = |chars: usize| {
        read(&format!(r#"{{"scope": "org:acme", "idempotency_key": "{}"}}"#, "k".repeat(chars)))
    };
    assert!(keyed(64).is_ok());
    assert!(keyed(65).is_err());
}

#[test]
fn durations_are_written_as_people_read_them() {
    for (seconds, expected) in
        [(0, "PT0S"), (59, "PT59S"), (3_600, "PT1H"), (90_061, "P1DT1H1M1S"), (172_800, "P2D")]
    {
        assert_eq!(duration(seconds * 1_000_000), expected);
    }
    assert_eq!(duration(-1), "PT0S");
}
