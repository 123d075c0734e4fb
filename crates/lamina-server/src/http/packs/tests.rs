//! How long a pack can be referred to, and by whom.

use std::sync::Arc;

use lamina_core::policy::{Caller, Preset, Stack};
use lamina_core::read::plan::plan;
use lamina_engine::ReadPermit;
use lamina_engine::read::recall::Recalled;
use lamina_types::recall::Recall;
use lamina_types::{ErrorCode, Micros, PackId, RecordedAt};

use super::{Kept, PACKS_MAX, Packs};

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
fn the_oldest_make_room() {
    let packs = Packs::default();
    for number in 0..=PACKS_MAX {
        let mut one = kept("roof", 0);
        one.question.idempotency_key = Some(number.to_string());
        let mut id = [0; 16];
        id[..8].copy_from_slice(&(number as u64).to_le_bytes());
        one.id = PackId::from_bytes(id);
        packs.keep(&caller("ada"), one, Micros(number as i64));
    }
    let state = packs.0.lock();
    assert_eq!(
        (state.by_id.len(), state.by_key.len(), state.made.len()),
        (PACKS_MAX, PACKS_MAX, PACKS_MAX)
    );
}
