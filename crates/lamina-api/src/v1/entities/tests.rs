//! What is read of queries and bodies, and what is refused.

use super::*;

fn pairs(text: &[(&str, &str)]) -> Vec<(String, String)> {
    text.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_query_is_read() {
    let id = EntityId::from_bytes([7; 16]);
    let cursor = id.to_string();
    let asked = [("scope", "user:a"), ("name", "Acme"), ("cursor", &cursor), ("limit", "3")];
    let query = EntitiesQuery::parse(&pairs(&asked)).unwrap();
    assert_eq!((query.after, query.limit, query.name.as_deref()), (Some(id), 3, Some("Acme")));
    let refused = EntitiesQuery::parse(&pairs(&[("scope", "user:a"), ("cursor", "5")]));
    assert_eq!(refused.unwrap_err().code, ErrorCode::InvalidCursor);
    assert!(EntitiesQuery::parse(&pairs(&[])).is_err());
}

#[test]
fn bodies_are_read() {
    let id = EntityId::from_bytes([7; 16]);
    let body = format!(r#"{{"into":"{id}","reason":"the same"}}"#);
    assert_eq!(MergeRequest::read(body.as_bytes()).unwrap(), id);
    for bad in [r#"{}"#, r#"{"into":"evt_1"}"#, r#"{"into":"x","from":"y"}"#, "[]"] {
        assert!(MergeRequest::read(bad.as_bytes()).is_err(), "{bad}");
    }
    SplitRequest::read(b"").unwrap();
    SplitRequest::read(br#"{"reason":"two after all"}"#).unwrap();
    assert!(SplitRequest::read(br#"{"into":"x"}"#).is_err());
    let long = format!(r#"{{"reason":"{}"}}"#, "x".repeat(AUDIT_NOTE_CHARS_MAX + 1));
    assert!(SplitRequest::read(long.as_bytes()).is_err());
}
