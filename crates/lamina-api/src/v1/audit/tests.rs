//! Filters and bodies of the audit routes, good and bad.

use super::*;

fn parse(pairs: &[(&str, &str)]) -> Result<AuditQuery, ApiError> {
    let pairs: Vec<(String, String)> =
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    AuditQuery::parse(&pairs)
}

#[test]
fn filters_are_read() {
    let query =
        parse(&[("decision", "deny"), ("actor", "user:a"), ("since", "2026-05-01")]).unwrap();
    assert_eq!((query.allowed, query.limit), (Some(false), PAGE_DEFAULT_LIFECYCLE));
    assert_eq!(query.actor.unwrap().as_str(), "user:a");
    assert_eq!(parse(&[]).unwrap().allowed, None);
}

#[test]
fn bad_filters_are_refused() {
    for (name, value, code) in [
        ("decision", "maybe", ErrorCode::InvalidParameter),
        ("limit", "0", ErrorCode::InvalidParameter),
        ("scope", "x", ErrorCode::InvalidScopeGrammar),
        ("actor", "x", ErrorCode::InvalidParameter),
        ("since", "yesterday", ErrorCode::InvalidTimestamp),
        ("q", " .:", ErrorCode::InvalidParameter),
        ("q", "x".repeat(257).leak(), ErrorCode::InvalidParameter),
    ] {
        assert_eq!(parse(&[(name, value)]).unwrap_err().code, code, "{name}={value}");
    }
}

#[test]
fn only_cursors_of_this_list_for_this_caller_are_taken() {
    let mac =
        |message: &[u8]| Sha256::new().chain_update(b"key").chain_update(message).finalize().into();
    let (alice, bob): (ActorId, ActorId) =
        ("user:alice".parse().unwrap(), "user:bob".parse().unwrap());
    let query = parse(&[("decision", "deny")]).unwrap();
    let cursor = query.next_cursor(7, &alice, &mac);
    let before = |pairs: &[(&str, &str)], caller: &ActorId| {
        parse(pairs).unwrap().before(caller, &mac).map_err(|error| error.code)
    };
    assert_eq!(before(&[("decision", "deny"), ("cursor", &cursor)], &alice), Ok(Some(7)));
    assert_eq!(before(&[("decision", "deny")], &alice), Ok(None));
    let refused = Err(ErrorCode::InvalidCursor);
    assert_eq!(before(&[("decision", "deny"), ("cursor", &cursor)], &bob), refused);
    assert_eq!(before(&[("decision", "allow"), ("cursor", &cursor)], &alice), refused);
    for bad in ["evt_1", "7", "c"] {
        assert_eq!(before(&[("decision", "deny"), ("cursor", bad)], &alice), refused, "{bad}");
    }
}

#[test]
fn verifying_names_a_row() {
    let text = format!(r#"{{"audit_id":"audit_{}","body":"{{}}"}}"#, "0".repeat(32));
    assert_eq!(AuditVerifyRequest::read(text.as_bytes()).unwrap().1, "{}");
    let wrong = AuditVerifyRequest::read(br#"{"audit_id":"evt_1","body":""}"#).unwrap_err();
    assert_eq!(wrong.code, ErrorCode::InvalidId);
}
