//! Golden bytes, round trips of anything, and bytes from someone who means harm.

use expect_test::{Expect, expect};
use lamina_types::stdx::hex;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn by() -> By {
    By {
        caller: "user:root".parse().unwrap(),
        audit_id: AuditId::from_bytes([2; 16]),
        request_id: "req_1".to_owned(),
        decision: "policy.administer.scope".to_owned(),
        note: "left".to_owned(),
        home: None,
    }
}

fn policy() -> PolicySet {
    PolicySet {
        target: PolicyTarget::Scope("org:acme".parse().unwrap()),
        document: Some("deny forget.gdpr\n".to_owned()),
        version: 3,
    }
}

fn revoked() -> TokenRevoked {
    TokenRevoked { token: [7; 32], exp: Micros(1_800_000_000_000_000) }
}

fn scope_set() -> ScopeSet {
    ScopeSet {
        path: "ws:q3".parse().unwrap(),
        members: vec![
            ("user:alice".parse().unwrap(), MemberRole::Owner),
            ("agent:planner".parse().unwrap(), MemberRole::Writer),
            ("agent:reader".parse().unwrap(), MemberRole::Reader),
        ],
        policies: "{\"audit\":\"full\"}".to_owned(),
        auto: false,
    }
}

fn check(bytes: &[u8], golden: Expect) {
    golden.assert_eq(&hex::encode(bytes));
}

#[test]
fn golden_bytes() {
    check(
        &by().encode(),
        expect![
            "010109757365723a726f6f7402100202020202020202020202020202020203057265715f310417706f6c6963792e61646d696e69737465722e73636f706505046c656674"
        ],
    );
    check(
        &policy().encode(),
        expect!["0101010202086f72673a61636d65031164656e7920666f726765742e676470720a040103"],
    );
    check(
        &revoked().encode(),
        expect![
            "010120070707070707070707070707070707070707070707070707070707070707070702080080982817650600"
        ],
    );
    check(
        &scope_set().encode(),
        expect![
            "01010577733a7133020b03757365723a616c696365020e026167656e743a706c616e6e6572020d016167656e743a72656164657203107b226175646974223a2266756c6c227d040100"
        ],
    );
    check(&ScopeRemoved { path: "ws:q3".parse().unwrap() }.encode(), expect!["01010577733a7133"]);
}

#[test]
fn a_cut_record_is_refused_at_every_byte() {
    let full = scope_set();
    let bytes = full.encode();
    for at in 0..bytes.len() {
        assert!(ScopeSet::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
    let bytes = policy().encode();
    for at in 0..bytes.len() {
        assert!(PolicySet::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
    let bytes = revoked().encode();
    for at in 0..bytes.len() {
        assert!(TokenRevoked::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn a_target_that_does_not_fit_its_tier_is_refused() {
    for (tier, words) in
        [(0, "org:acme"), (1, "x"), (2, ""), (2, "user:a@b"), (3, "nobody"), (4, "")]
    {
        let mut out = FieldWriter::new(VERSION, 64);
        out.field(1, &[tier]);
        out.field(2, words.as_bytes());
        out.field(3, b"");
        out.number(4, 1);
        let refused = PolicySet::decode(&out.finish());
        assert_eq!(refused, Err(CodecError::Malformed { field: "target" }), "{tier} {words}");
    }
}

#[test]
fn a_role_that_is_none_is_refused() {
    let mut out = FieldWriter::new(VERSION, 64);
    out.field(1, b"ws:q3");
    out.field(2, b"\x04user:alice");
    out.field(4, &[0]);
    let refused = ScopeSet::decode(&out.finish());
    assert_eq!(refused, Err(CodecError::Malformed { field: "member" }));
}

fn targets() -> impl Strategy<Value = PolicyTarget> {
    prop_oneof![
        Just(PolicyTarget::Deployment),
        Just(PolicyTarget::Tenant),
        "[a-z]{1,4}:[A-Za-z0-9_-]{1,9}(/[a-z]{1,4}:[a-z0-9]{1,9}){0,3}"
            .prop_map(|path| PolicyTarget::Scope(path.parse().unwrap())),
        actors().prop_map(PolicyTarget::Actor),
    ]
}

fn actors() -> impl Strategy<Value = ActorId> {
    "[a-z]{1,4}:[A-Za-z0-9._@+-]{1,9}".prop_map(|actor| actor.parse().unwrap())
}

proptest! {
    #[test]
    fn every_record_survives(
        target in targets(),
        words in vec(".{0,40}", 4),
        version: u64,
        token: [u8; 32],
        exp: i64,
        members in vec((actors(), 0usize..3), 0..9),
        auto: bool,
    ) {
        let document = (version % 2 == 0).then(|| words[0].clone());
        let policy = PolicySet { target, document, version };
        prop_assert_eq!(PolicySet::decode(&policy.encode()), Ok(policy));
        let revoked = TokenRevoked { token, exp: Micros(exp) };
        prop_assert_eq!(TokenRevoked::decode(&revoked.encode()), Ok(revoked));
        let members = members.into_iter().map(|(actor, role)| (actor, MemberRole::ALL[role]));
        let set = ScopeSet {
            members: members.collect(),
            policies: words[1].clone(),
            auto,
            ..scope_set()
        };
        prop_assert_eq!(ScopeSet::decode(&set.encode()), Ok(set));
        let by = By {
            request_id: words[1].clone(),
            decision: words[2].clone(),
            note: words[3].clone(),
            ..by()
        };
        prop_assert_eq!(By::decode(&by.encode()), Ok(by.clone()));
        let elsewhere = By { home: Some(7), ..by };
        prop_assert_eq!(By::decode(&elsewhere.encode()), Ok(elsewhere));
        let removed = ScopeRemoved { path: "ws:q3".parse().unwrap() };
        prop_assert_eq!(ScopeRemoved::decode(&removed.encode()), Ok(removed));
    }

    #[test]
    fn hostile_bytes_never_panic(mut bytes in vec(any::<u8>(), 0..200), known: bool) {
        if known && let Some(first) = bytes.first_mut() {
            *first = VERSION;
        }
        let _ = By::decode(&bytes);
        let _ = PolicySet::decode(&bytes);
        let _ = TokenRevoked::decode(&bytes);
        let _ = ScopeSet::decode(&bytes);
        let _ = ScopeRemoved::decode(&bytes);
    }

    #[test]
    fn a_flipped_byte_never_panics(at in 0usize..150, xor in 1u8..) {
        let mut bytes = scope_set().encode();
        let at = at % bytes.len();
        bytes[at] ^= xor;
        let _ = ScopeSet::decode(&bytes);
        let mut bytes = policy().encode();
        let at = at % bytes.len();
        bytes[at] ^= xor;
        let _ = PolicySet::decode(&bytes);
    }
}
