//! Experience sections: golden bytes, round trips, and bytes from someone who means harm.

use expect_test::expect;
use lamina_types::stdx::hex;
use lamina_types::{BlobId, EventId, MediaRef, Micros, Role, ValidAt};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;

fn who() -> ExperienceWho {
    ExperienceWho {
        caller: "agent:scribe".parse().unwrap(),
        observed_actor: Actor {
            id: "user:priya@acme".parse().unwrap(),
            session: Some("s-1".to_owned()),
        },
        subject: "user:x".parse().unwrap(),
        request_id: "req_07".to_owned(),
        audit_id: AuditId::from_bytes([8; 16]),
        decision: String::new(),
        home: None,
        as_system: false,
    }
}

fn small() -> ExperienceWhat {
    ExperienceWhat {
        scope: "user:alice".parse().unwrap(),
        modality: Modality("observation".to_owned()),
        content: Content::Text { text: "Acme moved to 200 seats".to_owned(), media: Vec::new() },
        context: Context {
            observed_at: ValidAt(Micros(1_700_000_000_000_000)),
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
        idempotency_key: "k1".to_owned(),
        identity: Identity {
            family: FAMILY_EXPERIENCE,
            idem_mac: [1; 32],
            body_mac: [2; 32],
            batch_id: None,
        },
    }
}

/// Every field is there.
fn full() -> ExperienceWhat {
    ExperienceWhat {
        content: Content::Message {
            role: Role::Assistant,
            text: "é".to_owned(),
            media: vec![MediaRef { blob_id: BlobId::from_bytes([3; 16]) }],
        },
        context: Context {
            observed_at: ValidAt(Micros(-1)),
            source_recorded_at: Some(ValidAt(Micros(2))),
            location: Some("\"home\"".to_owned()),
            preceded_by: vec![EventId::from_bytes([4; 16])],
            intent: Some("i".to_owned()),
            labels: vec!["a".to_owned(), "b".to_owned()],
            refers_to: Some("[]".to_owned()),
        },
        directives: Directives {
            extract: Some(vec!["facts".to_owned(), String::new()]),
            consolidate_into: Some("org:acme".parse().unwrap()),
            confidence_floor: Some(0.5),
            ttl_for_belief_layer: Some("P1D".to_owned()),
            ttl_for_event_layer: None,
            embed: Some("lazy".to_owned()),
            no_supersede: false,
        },
        source: Some("{}".to_owned()),
        hints: Hints {
            language: Some("de".to_owned()),
            scripts: vec!["Latn".to_owned()],
            timezone: Some("Europe/Berlin".to_owned()),
        },
        identity: Identity {
            family: FAMILY_BULK,
            idem_mac: [1; 32],
            body_mac: [2; 32],
            batch_id: Some(BatchId::from_bytes([9; 16])),
        },
        ..small()
    }
}

#[test]
fn golden_who() {
    expect!["01010c6167656e743a736372696265020f757365723a70726979614061636d650303732d310406757365723a7805067265715f3037061008080808080808080808080808080808"].assert_eq(&hex::encode(&who().encode()));
}

#[test]
fn golden_what() {
    expect!["01010a757365723a616c696365020b6f62736572766174696f6e030102051741636d65206d6f76656420746f20323030207365617473080800401e18240a060018026b311901001a2001010101010101010101010101010101010101010101010101010101010101011b200202020202020202020202020202020202020202020202020202020202020202"].assert_eq(&hex::encode(&small().encode()));
    expect!["01010a757365723a616c696365020b6f62736572766174696f6e0301010401020502c3a90710030303030303030303030303030303030808ffffffffffffffff090802000000000000000a0622686f6d65220b10040404040404040404040404040404040c01690d01610d01620e025b5d0f070566616374730010086f72673a61636d651108000000000000e03f120350314413046c617a7914027b7d1502646516044c61746e170d4575726f70652f4265726c696e18026b311901011a2001010101010101010101010101010101010101010101010101010101010101011b2002020202020202020202020202020202020202020202020202020202020202021c1009090909090909090909090909090909"].assert_eq(&hex::encode(&full().encode()));
}

/// The origin is the last field, so that entries without one keep the bytes above.
#[test]
fn golden_what_with_origin() {
    let imported = ExperienceWhat { origin: Some("{\"a\":1}".to_owned()), ..small() };
    let bytes = hex::encode(&imported.encode());
    let rest = bytes.strip_prefix(&hex::encode(&small().encode()));
    expect!["1f077b2261223a317d"].assert_eq(rest.unwrap());
}

#[test]
fn every_field_survives() {
    assert_eq!(ExperienceWhat::decode(&small().encode()), Ok(small()));
    assert_eq!(ExperienceWhat::decode(&full().encode()), Ok(full()));
    let imported = ExperienceWhat { origin: Some("{\"a\":1}".to_owned()), ..full() };
    assert_eq!(ExperienceWhat::decode(&imported.encode()), Ok(imported.clone()));
    assert_eq!(assemble(who(), imported.clone()).1.origin, imported.origin);
    assert_eq!(ExperienceWho::decode(&who().encode()), Ok(who()));
    let decided = ExperienceWho { decision: "dev_local".to_owned(), ..who() };
    assert_eq!(ExperienceWho::decode(&decided.encode()), Ok(decided));
    let elsewhere = ExperienceWho { home: Some(3), ..who() };
    assert_eq!(ExperienceWho::decode(&elsewhere.encode()), Ok(elsewhere));
    let as_system = ExperienceWho { as_system: true, ..who() };
    assert_eq!(ExperienceWho::decode(&as_system.encode()), Ok(as_system));
}

#[test]
fn splitting_and_assembling_is_identity() {
    let (caller, experience) = assemble(who(), full());
    let admission = Admission {
        caller: caller.clone(),
        request_id: who().request_id,
        audit_id: who().audit_id,
        decision: String::new(),
        home: None,
        as_system: false,
    };
    assert_eq!(split(admission, experience, full().identity), (who(), full()));
    assert_eq!(caller, who().caller);
}

#[test]
fn a_cut_record_is_refused_at_every_byte() {
    let bytes = small().encode();
    for at in 0..bytes.len() {
        assert!(ExperienceWhat::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
    let bytes = who().encode();
    for at in 0..bytes.len() {
        assert!(ExperienceWho::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn a_newer_version_is_refused() {
    let mut bytes = small().encode();
    bytes[0] = 9;
    assert_eq!(ExperienceWhat::decode(&bytes), Err(CodecError::Version { found: 9, supported: 1 }));
    assert_eq!(ExperienceWhat::decode(&[]), Err(CodecError::Truncated));
}

fn media() -> impl Strategy<Value = Vec<MediaRef>> {
    vec(any::<[u8; 16]>().prop_map(|id| MediaRef { blob_id: BlobId::from_bytes(id) }), 0..3)
}

fn contents() -> impl Strategy<Value = Content> {
    let text = || ".{0,20}";
    prop_oneof![
        (prop::sample::select(Role::ALL), text(), media())
            .prop_map(|(role, text, media)| Content::Message { role, text, media }),
        (text(), media()).prop_map(|(text, media)| Content::Text { text, media }),
        (text(), media()).prop_map(|(data, media)| Content::Json { data, media }),
        (any::<[u8; 16]>(), option::of(text()), media()).prop_map(|(id, transcript, media)| {
            Content::BlobRef { blob_id: BlobId::from_bytes(id), transcript, media }
        }),
        (text(), media()).prop_map(|(triple, media)| Content::Triple { triple, media }),
    ]
}

fn contexts() -> impl Strategy<Value = Context> {
    let id = any::<[u8; 16]>().prop_map(EventId::from_bytes);
    (
        any::<i64>(),
        option::of(any::<i64>()),
        option::of(".{0,9}"),
        vec(id, 0..3),
        option::of(".{0,9}"),
        vec(".{0,9}", 0..4),
        option::of(".{0,9}"),
    )
        .prop_map(|(at, source, location, preceded_by, intent, labels, refers_to)| Context {
            observed_at: ValidAt(Micros(at)),
            source_recorded_at: source.map(|at| ValidAt(Micros(at))),
            location,
            preceded_by,
            intent,
            labels,
            refers_to,
        })
}

proptest! {
    #[test]
    fn any_experience_survives(
        content in contents(),
        context in contexts(),
        extract in option::of(vec(".{0,9}", 0..3)),
        floor in option::of(0.0f64..=1.0),
        scripts in vec(".{0,4}", 0..3),
        batch in option::of(any::<[u8; 16]>()),
        macs: ([u8; 32], [u8; 32]),
    ) {
        let what = ExperienceWhat {
            content,
            context,
            directives: Directives { extract, confidence_floor: floor, ..Directives::default() },
            hints: Hints { scripts, ..Hints::default() },
            identity: Identity {
                family: FAMILY_BULK,
                idem_mac: macs.0,
                body_mac: macs.1,
                batch_id: batch.map(BatchId::from_bytes),
            },
            ..small()
        };
        prop_assert_eq!(ExperienceWhat::decode(&what.encode()), Ok(what));
    }

    #[test]
    fn hostile_bytes_never_panic(mut bytes in vec(any::<u8>(), 0..300), right_version: bool) {
        if right_version && let Some(first) = bytes.first_mut() {
            *first = 1;
        }
        let _ = ExperienceWhat::decode(&bytes);
        let _ = ExperienceWho::decode(&bytes);
    }

    #[test]
    fn flipped_bytes_never_panic(flips in vec((any::<usize>(), 1u8..), 1..4)) {
        let mut bytes = full().encode();
        for (at, xor) in flips {
            let at = at % bytes.len();
            bytes[at] ^= xor;
        }
        let _ = ExperienceWhat::decode(&bytes);
    }
}
