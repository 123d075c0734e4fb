//! Audit rows: golden bytes, round trips, and bytes from someone who means harm.

use expect_test::expect;
use lamina_types::stdx::hex;
use proptest::prelude::*;

use super::*;

fn full() -> AuditRow {
    AuditRow {
        id: AuditId::from_bytes([1; 16]),
        at: Micros(1_767_225_600_000_000),
        tenant: 7,
        who: Some(AuditWho {
            actor: Some("agent:planner_v3".parse().unwrap()),
            token_jti: Some("tok_1".to_owned()),
            scope: Some("org:acme/user:alice".parse().unwrap()),
            path: "/v1/experience".to_owned(),
            client_ip: Some("1.2.3.4".to_owned()),
            user_agent: Some("cortex-py/1.0.0".to_owned()),
            request_id: "req_1".to_owned(),
        }),
        endpoint: "POST /v1/experience".to_owned(),
        capability: "scope.write".to_owned(),
        decision: Decision::Allow,
        decided_by_tier: "scope".to_owned(),
        method: "POST".to_owned(),
        body_hash: Some([2; 32]),
        headers_hash: Some([3; 32]),
        body_bytes: Some(4_823),
        pepper_version: 3,
        response_status: Some(202),
        event_id: Some(EventId::from_bytes([4; 16])),
        elapsed_ms: Some(12),
        gdpr: true,
        recovered: true,
    }
}

fn bare() -> AuditRow {
    AuditRow {
        who: Some(AuditWho::default()),
        body_hash: None,
        headers_hash: None,
        body_bytes: None,
        pepper_version: 0,
        response_status: None,
        event_id: None,
        elapsed_ms: None,
        gdpr: false,
        recovered: false,
        decision: Decision::Deny,
        ..full()
    }
}

fn again(row: &AuditRow) -> AuditRow {
    let who = row.who.as_ref().map(|who| decode_who(&encode_who(who)).unwrap());
    AuditRow { who, ..decode_what(row.tenant, &encode_what(row)).unwrap() }
}

#[test]
fn golden_bytes() {
    expect!["0101106167656e743a706c616e6e65725f76330205746f6b5f3103136f72673a61636d652f757365723a616c696365040e2f76312f657870657269656e63650507312e322e332e34060f636f727465782d70792f312e302e3007057265715f31"].assert_eq(&hex::encode(&encode_who(full().who.as_ref().unwrap())));
    expect!["01011001010101010101010101010101010101020800402046484706000313504f5354202f76312f657870657269656e6365040b73636f70652e7772697465050101060573636f70650704504f535408200202020202020202020202020202020202020202020202020202020202020202092003030303030303030303030303030303030303030303030303030303030303030a02d7250b01030c02ca010e010c0d10040404040404040404040404040404040f001000"].assert_eq(&hex::encode(&encode_what(&full())));
    expect!["0104000700"].assert_eq(&hex::encode(&encode_who(&AuditWho::default())));
    expect!["01011001010101010101010101010101010101020800402046484706000313504f5354202f76312f657870657269656e6365040b73636f70652e7772697465050100060573636f70650704504f5354"].assert_eq(&hex::encode(&encode_what(&bare())));
    expect!["010102ac02"].assert_eq(&hex::encode(&encode_covered(300)));
}

#[test]
fn every_field_survives() {
    assert_eq!(again(&full()), full());
    assert_eq!(again(&bare()), bare());
    assert_eq!(decode_covered(&encode_covered(u64::MAX)), Ok(u64::MAX));
}

#[test]
fn a_person_is_named_in_who_only() {
    let what = encode_what(&full());
    let who = full().who.unwrap();
    for word in [who.path.as_str(), "planner", "tok_1", "acme", "1.2.3.4", "cortex-py", "req_1"] {
        // The route without its values is the endpoint.
        let named = what.windows(word.len()).any(|window| window == word.as_bytes());
        assert_eq!(named, word == "/v1/experience", "{word}");
    }
}

#[test]
fn a_cut_section_is_refused_at_every_byte() {
    // Nothing in it is optional.
    let what = encode_what(&bare());
    for at in 0..what.len() {
        assert!(decode_what(7, &what[..at]).is_err(), "cut at {at}");
    }
    let who = encode_who(&full().who.unwrap());
    for at in 0..who.len() {
        assert!(decode_who(&who[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn an_unknown_field_is_skipped_and_a_newer_version_refused() {
    let mut what = encode_what(&bare());
    what.extend_from_slice(&[200, 2, 1, 1]);
    assert!(decode_what(7, &what).is_ok());
    what[0] = 2;
    assert_eq!(decode_what(7, &what), Err(CodecError::Version { found: 2, supported: 1 }));
    let mut twice = encode_what(&bare());
    twice.extend_from_slice(&[what_tag::METHOD, 1, b'x']);
    assert_eq!(decode_what(7, &twice), Err(CodecError::Twice { field: "method" }));
    let mut large = encode_what(&bare());
    large.extend_from_slice(&[what_tag::STATUS, 3, 0xFF, 0xFF, 0x7F]);
    assert_eq!(decode_what(7, &large), Err(CodecError::Malformed { field: "status" }));
}

fn text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[ -~äß]{0,40}").unwrap()
}

fn who() -> impl Strategy<Value = AuditWho> {
    let optional = || proptest::option::of(text());
    (any::<bool>(), optional(), any::<bool>(), text(), optional(), optional(), text()).prop_map(
        |(actor, token_jti, scope, path, client_ip, user_agent, request_id)| AuditWho {
            actor: actor.then(|| "user:x".parse().unwrap()),
            token_jti,
            scope: scope.then(|| "org:a/user:x".parse().unwrap()),
            path,
            client_ip,
            user_agent,
            request_id,
        },
    )
}

fn row() -> impl Strategy<Value = AuditRow> {
    let first = (any::<[u8; 16]>(), any::<i64>(), any::<u32>(), who(), text(), text(), text());
    let numbers = (
        proptest::option::of(any::<u64>()),
        any::<u32>(),
        proptest::option::of(any::<u16>()),
        proptest::option::of(any::<u64>()),
    );
    let hashes = (
        proptest::option::of(any::<[u8; 32]>()),
        proptest::option::of(any::<[u8; 32]>()),
        proptest::option::of(any::<[u8; 16]>()),
    );
    (first, numbers, hashes, any::<[bool; 3]>()).prop_map(|(first, numbers, hashes, flags)| {
        AuditRow {
            id: AuditId::from_bytes(first.0),
            at: Micros(first.1),
            tenant: first.2,
            who: Some(first.3),
            endpoint: first.4,
            capability: first.5,
            decision: if flags[0] { Decision::Allow } else { Decision::Deny },
            decided_by_tier: first.6.clone(),
            method: first.6,
            body_hash: hashes.0,
            headers_hash: hashes.1,
            body_bytes: numbers.0,
            pepper_version: numbers.1,
            response_status: numbers.2,
            event_id: hashes.2.map(EventId::from_bytes),
            elapsed_ms: numbers.3,
            gdpr: flags[1],
            recovered: flags[2],
        }
    })
}

proptest! {
    #[test]
    fn any_row_survives(row in row()) {
        prop_assert_eq!(again(&row), row);
    }

    #[test]
    fn hostile_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..300), ours: bool) {
        if ours && let Some(first) = bytes.first_mut() {
            *first = 1;
        }
        let _ = decode_who(&bytes);
        let _ = decode_what(1, &bytes);
        let _ = decode_covered(&bytes);
    }
}
