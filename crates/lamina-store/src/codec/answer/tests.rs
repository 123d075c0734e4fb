//! Answers: golden bytes, round trips, and bytes from someone who means harm.

use expect_test::expect;
use lamina_types::layer::{
    Bond, ByteSpan, Cardinality, Claim, Confidence, Effect, EntityKind, Mention, Normaliser,
    Object, Term,
};
use lamina_types::stdx::hex;
use proptest::prelude::*;

use super::*;

fn terms() -> impl Strategy<Value = Term> {
    let word = "[a-zé]{1,8}";
    let leaf = prop_oneof![
        Just(Term::Actor("user:alice".parse().unwrap())),
        word.prop_map(|name| Term::Named { name, kind: EntityKind::Person }),
    ];
    (leaf, proptest::collection::vec(word, 0..4)).prop_map(|(term, relations)| {
        let own = |owner, relation| Term::Of { owner: Box::new(owner), relation };
        relations.into_iter().fold(term, own)
    })
}

fn objects() -> impl Strategy<Value = Object> {
    prop_oneof![
        terms().prop_map(Object::Entity),
        ".{0,12}".prop_map(Object::Text),
        ("[0-9]{1,6}", proptest::option::of("kg|m"))
            .prop_map(|(value, unit)| Object::Number { value, unit }),
        "[0-9]{1,6}".prop_map(|amount| Object::Money { amount, currency: "EUR".to_owned() }),
        Just(Object::Date("2025-06-03".to_owned())),
        any::<bool>().prop_map(Object::Bool),
    ]
}

fn claims() -> impl Strategy<Value = Claim> {
    let at = proptest::option::of(any::<i64>().prop_map(|at| ValidAt(Micros(at))));
    let many = proptest::option::of(prop_oneof![Just(Cardinality::One), Just(Cardinality::Many)]);
    let effect = prop_oneof![Just(Effect::Holds), Just(Effect::Corrects), Just(Effect::Ends)];
    (terms(), objects(), effect, at.clone(), at, many, 0u16..=10_000).prop_map(
        |(subject, object, effect, valid_from, valid_to, cardinality, confidence)| Claim {
            subject,
            predicate: "lives_in".to_owned(),
            object,
            effect,
            valid_from,
            valid_to,
            cardinality,
            confidence: Confidence::new(confidence),
            span: ByteSpan { start: 3, end: 300 },
            normaliser: Normaliser::Clause,
            clause: ByteSpan { start: 0, end: 301 },
        },
    )
}

fn answer(claims: Vec<Claim>) -> Answer {
    Answer {
        observed_at: ValidAt(Micros(1_700_000_000_000_000)),
        extraction: Extraction {
            extractor: "rules/1".to_owned(),
            language: Some("en".to_owned()),
            mentions: vec![Mention {
                name: "Bob".to_owned(),
                kind: EntityKind::Person,
                span: ByteSpan { start: 2, end: 5 },
            }],
            nouns: vec![Mention {
                name: "wife".to_owned(),
                kind: EntityKind::Thing,
                span: ByteSpan { start: 9, end: 13 },
            }],
            bonds: vec![Bond {
                from: ByteSpan { start: 9, end: 13 },
                relation: "part_of".to_owned(),
                to: ByteSpan { start: 2, end: 5 },
            }],
            claims,
            topics: vec![7, 0x0102_0304],
        },
        matches: vec![Match {
            name: "Bobb".to_owned(),
            kind: EntityKind::Person,
            is: Term::Named { name: "Bob".to_owned(), kind: EntityKind::Person },
            stated: false,
            confidence: 8_000,
        }],
        mapped: vec![Mapped {
            claim: 1,
            confidence: 9_500,
            vocabulary: "sales".to_owned(),
            predicate: "stage of deal".to_owned(),
            object: Some("POC".to_owned()),
        }],
        relations: Vec::new(),
        ungrounded: vec![1],
        shifts_topic: true,
        preceded_by: vec![EventId::from_bytes([8; 16])],
        asked: Asked {
            no_supersede: true,
            confidence_floor: Some(3_000),
            belief_ttl: Some(60_000_000),
            event_ttl: None,
            consolidate_into: Some("org:acme".parse().unwrap()),
            no_beliefs: false,
            feedback: false,
            settles: None,
            source: None,
        },
        awaits_model: false,
        cost: None,
        source_class: SourceClass::Said,
        judged: None,
        rated: Vec::new(),
        echoes: Vec::new(),
        echoed: Vec::new(),
        stands: false,
        revoked: Vec::new(),
        concepts: Vec::new(),
    }
}

#[test]
fn golden_bytes() {
    let claim = Claim {
        subject: Term::Of {
            owner: Box::new(Term::Actor("user:alice".parse().unwrap())),
            relation: "wife".to_owned(),
        },
        predicate: "works_at".to_owned(),
        object: Object::Entity(Term::Named {
            name: "Acme".to_owned(),
            kind: EntityKind::Organization,
        }),
        effect: Effect::Holds,
        valid_from: Some(ValidAt(Micros(1))),
        valid_to: None,
        cardinality: Some(Cardinality::One),
        confidence: Confidence::new(9_000),
        span: ByteSpan { start: 17, end: 21 },
        normaliser: Normaliser::Identity,
        clause: ByteSpan { start: 0, end: 21 },
    };
    expect!["01010800401e18240a0600020772756c65732f310302656e0406010205426f62140700090d77696665150b090d0205706172745f6f660548010112020477696665000a757365723a616c6963650208776f726b735f617403080001020441636d65040100050801000000000000000701010802a846090211150a01000b02001506080700000004030201160f0100c03e04426f6262010103426f62101b019c4a0573616c65730d7374616765206f66206465616c01504f4308010109000a000b02b8170c0800879303000000000d086f72673a61636d650f1008080808080808080808080808080808"].assert_eq(&hex::encode(&answer(vec![claim]).encode()));
    let who =
        AnswerWho { observed_actor: "user:alice".parse().unwrap(), session: Some("s1".to_owned()) };
    expect!["01010a757365723a616c69636502027331"].assert_eq(&hex::encode(&who.encode()));
    assert_eq!(AnswerWho::decode(&who.encode()), Ok(who));
}

#[test]
fn an_endless_chain_of_owners_is_refused() {
    let deep = |owners: usize| {
        let mut bytes = [2, 1, b'a'].repeat(owners);
        bytes.extend_from_slice(b"\x00\x06user:x");
        decode_with_subject(&bytes)
    };
    assert!(deep(8).is_ok());
    assert_eq!(deep(9), Err(CodecError::Malformed { field: "term" }));
}

/// A claim that is only a subject: what is missing is told, what is malformed too.
fn decode_with_subject(subject: &[u8]) -> Result<(), CodecError> {
    let mut claim = FieldWriter::new(1, 64);
    claim.field(1, subject);
    let mut out = FieldWriter::new(1, 64);
    out.field(5, &claim.finish());
    match Answer::decode(&out.finish()) {
        Err(CodecError::Missing { field: "predicate" }) => Ok(()),
        Err(error) => Err(error),
        Ok(_) => unreachable!("an answer without a time is refused"),
    }
}

proptest! {
    #[test]
    fn answers_come_back(claims in proptest::collection::vec(claims(), 0..4)) {
        let answer = answer(claims);
        prop_assert_eq!(Answer::decode(&answer.encode()), Ok(answer));
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Answer::decode(&bytes);
        let _ = AnswerWho::decode(&bytes);
    }

    #[test]
    fn cut_and_flipped_bytes_do_no_harm(claims in proptest::collection::vec(claims(), 1..3), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut bytes = answer(claims).encode();
        let at = at.index(bytes.len());
        let _ = Answer::decode(bytes.get(..at).unwrap());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << bit;
        }
        let _ = Answer::decode(&bytes);
    }
}

/// Every field that the other golden answer does not have.
#[test]
fn golden_bytes_of_the_rest() {
    let said = Answer {
        observed_at: ValidAt(Micros(1)),
        extraction: Extraction { extractor: "rules/1".to_owned(), ..Extraction::default() },
        matches: Vec::new(),
        mapped: Vec::new(),
        relations: vec![0, 3],
        ungrounded: Vec::new(),
        shifts_topic: false,
        preceded_by: Vec::new(),
        asked: Asked {
            event_ttl: Some(60_000_000),
            no_beliefs: true,
            feedback: true,
            settles: Some(Settling::Latest),
            source: Some("crm".to_owned()),
            ..Asked::default()
        },
        awaits_model: true,
        cost: Some(Cost { input_tokens: 900, output_tokens: 70, micros: 5 }),
        source_class: SourceClass::Tool,
        judged: Some((BeliefId::from_bytes([7; 16]), true)),
        rated: vec![Rating { layer: Layer::Facts, id: [9; 16], useful: false }],
        echoes: vec![Echo {
            span: ByteSpan { start: 2, end: 9 },
            of: EventId::from_bytes([8; 16]),
        }],
        echoed: vec![2],
        stands: true,
        revoked: vec![Revoked { event: EventId::from_bytes([6; 16]), value: [5; 16] }],
        concepts: Vec::new(),
    };
    expect!["0101080100000000000000020772756c65732f310e003c001f003400210800879303000000003d0b01010284070201460301051e0101280102370363726d290100290103201107070707070707070707070707070707013512030909090909090909090909090909090900321802000000090000000808080808080808080808080808080833010236200606060606060606060606060606060605050505050505050505050505050505"].assert_eq(&hex::encode(&said.encode()));
    assert_eq!(Answer::decode(&said.encode()).unwrap(), said);
}

#[test]
fn what_scopes_and_vocabularies_say_is_kept() {
    for way in Settling::ALL {
        let mut said = Answer { relations: vec![0, 3], ..answer(Vec::new()) };
        said.asked.settles = Some(way);
        assert_eq!(Answer::decode(&said.encode()).unwrap(), said);
    }
}

#[test]
fn names_of_concepts_are_kept_and_take_nothing_where_there_are_none() {
    let concepts = vec!["food".to_owned(), "travel plans".to_owned()];
    let named = Answer { concepts, ..answer(Vec::new()) };
    assert_eq!(Answer::decode(&named.encode()).unwrap(), named);
    let more = named.encode().len() - answer(Vec::new()).encode().len();
    assert_eq!(more, 2 + "food".len() + 2 + "travel plans".len());
}

#[test]
fn what_a_model_has_to_do_with_it_is_kept() {
    let cost = Cost { input_tokens: 900, output_tokens: 70, micros: 1 << 40 };
    let waits = Answer { awaits_model: true, ..answer(Vec::new()) };
    let paid = Answer { cost: Some(cost), ..answer(Vec::new()) };
    assert_eq!(Answer::decode(&waits.encode()).unwrap(), waits);
    assert_eq!(Answer::decode(&paid.encode()).unwrap(), paid);
    let more = waits.encode().len() - answer(Vec::new()).encode().len();
    assert_eq!(more, 2, "an empty field");
}
