//! How long a pack can be referred to, and by whom.

use std::sync::Arc;

use lamina_core::policy::{Caller, Preset, Stack};
use lamina_core::read::plan::plan;
use lamina_engine::ReadPermit;
use lamina_engine::read::recall::Recalled;
use lamina_types::recall::Recall;
use lamina_types::{ErrorCode, Micros, PackId, RecordedAt};

use super::{Gone, Kept, PACKS_BYTES_MAX, Packs};

fn question(query: &str) -> Recall {
    let body = format!(r#"{{"scope":"user:ada","query":"{query}","idempotency_key":"k"}}"#);
    lamina_api::v1::recall::RecallRequest::read(body.as_bytes()).unwrap()
}

pub(in crate::http) fn kept(query: &str, number: u8) -> Kept {
    Kept {
        id: PackId::from_bytes([number; 16]),
        body: bytes::Bytes::from_static(b"{}"),
        question: question(query),
        recalled: Arc::new(Recalled::nothing(plan(query), RecordedAt(Micros(0)))),
        reach: Arc::new(reach()),
        concepts: false,
    }
}

fn reach() -> ReadPermit {
    let scope = "user:ada".parse().unwrap();
    let permit = Stack::of_preset(Preset::DevLocal).permit(&caller("ada"), Some(&scope));
    ReadPermit::Local(permit.unwrap())
}

fn caller(name: &str) -> Caller {
    Caller::local(format!("user:{name}").parse().unwrap(), 1)
}

#[test]
fn a_pack_lives_for_a_minute_and_is_its_callers() {
    let packs = Packs::default();
    packs.keep(&caller("ada"), kept("roof", 1), Micros(0));
    let find = |who: &str, query: &str, at: i64| {
        packs.by_key(&caller(who), "k", &question(query), Micros(at))
    };
    assert_eq!(find("ada", "roof", 59_999_999).unwrap().unwrap().id, PackId::from_bytes([1; 16]));
    assert!(find("ben", "roof", 1).unwrap().is_none(), "somebody else's key");
    let conflict = find("ada", "garden", 1).unwrap_err();
    assert_eq!(conflict.code, ErrorCode::IdempotencyConflict);
    assert!(find("ada", "roof", 60_000_000).unwrap().is_none(), "60 s from its making, not longer");
}

#[test]
fn packs_over_the_bytes_make_the_largest_tenant_drop_its_oldest() {
    let packs = Packs::default();
    let large = |number: u8| {
        let mut one = kept("roof", number);
        one.body = vec![b' '; PACKS_BYTES_MAX / 10].into();
        one.question.idempotency_key = Some(number.to_string());
        one
    };
    let other = Caller::local("user:ada".parse().unwrap(), 2);
    packs.keep(&other, kept("roof", 200), Micros(0));
    for number in 0..10 {
        packs.keep(&caller("ada"), large(number), Micros(i64::from(number)));
    }
    let lives = |who: &Caller, number: u8| {
        packs.by_id(who, PackId::from_bytes([number; 16]), Micros(20)).is_some()
    };
    assert!(lives(&other, 200), "another tenant filled the cache");
    assert!(!lives(&caller("ada"), 0) && lives(&caller("ada"), 9));
    let state = packs.0.lock();
    assert_eq!((state.by_id.len(), state.by_key.len(), state.shares.len()), (5, 5, 5));
}

#[test]
fn deletion_of_a_tenant_drops_its_packs_and_those_of_shared_scopes() {
    let packs = Packs::default();
    let other = Caller::local("user:ben".parse().unwrap(), 2);
    packs.keep(&caller("ada"), kept("roof", 1), Micros(0));
    let mut own = kept("roof", 2);
    own.question.scope = "user:ben".parse().unwrap();
    packs.keep(&other, own, Micros(0));
    let mut shared = kept("roof", 3);
    shared.question.scope = "global:tips".parse().unwrap();
    packs.keep(&other, shared, Micros(0));
    let lives = |who: &Caller, number: u8| {
        packs.by_id(who, PackId::from_bytes([number; 16]), Micros(1)).is_some()
    };
    let scope = "user:ada".parse().unwrap();
    packs.forget(&Gone { tenant: 2, scope: &scope, id: "evt_1" });
    assert!(lives(&caller("ada"), 1), "another tenant cancelled an event of its own `user:ada`");
    packs.clear(Some(1));
    assert!(!lives(&caller("ada"), 1) && lives(&other, 2) && !lives(&other, 3));
    packs.clear(None);
    assert!(!lives(&other, 2));
}

#[test]
fn expiry_does_not_wait_for_the_next_recall() {
    let packs = Packs::default();
    packs.keep(&caller("ada"), kept("roof", 1), Micros(0));
    packs.expire(Micros(60_000_000));
    assert_eq!(packs.0.lock().by_id.len(), 0);
}
