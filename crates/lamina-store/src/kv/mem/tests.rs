//! The store in memory: order, crashes and failures on request.

use std::ops::ControlFlow;

use super::*;

fn put(kv: &MemKv, key: &str, value: &str) {
    let mut batch = Batch::default();
    batch.put(Space::Meta, key, value);
    kv.write(batch).unwrap();
}

fn keys(kv: &dyn Kv, from: &str, to: &str, direction: Direction) -> String {
    let mut seen = String::new();
    let mut visit = |key: &[u8], _: &[u8]| {
        seen.push_str(std::str::from_utf8(key).unwrap());
        ControlFlow::Continue(())
    };
    kv.scan(Space::Meta, from.as_bytes(), to.as_bytes(), direction, &mut visit).unwrap();
    seen
}

#[test]
fn scans_are_half_open_and_go_both_ways() {
    let kv = MemKv::new();
    for key in ["a", "b", "c", "d"] {
        put(&kv, key, "");
    }
    assert_eq!(keys(&kv, "b", "d", Direction::Forward), "bc");
    assert_eq!(keys(&kv, "b", "d", Direction::Backward), "cb");
    assert_eq!(keys(&kv, "b", "", Direction::Forward), "bcd");
    assert_eq!(keys(&kv, "", "", Direction::Backward), "dcba");
    assert_eq!(keys(&kv, "d", "b", Direction::Forward), "");
    assert_eq!(keys(&kv, "b", "b", Direction::Forward), "");
}

#[test]
fn a_scan_longer_than_a_chunk_shows_every_key_once() {
    let kv = MemKv::new();
    let all: String = (0..SCAN_CHUNK * 3).map(|n| format!("{n:05}")).collect();
    for n in 0..SCAN_CHUNK * 3 {
        put(&kv, &format!("{n:05}"), "");
    }
    assert_eq!(keys(&kv, "", "", Direction::Forward), all);
    assert_eq!(keys(&kv, "", "", Direction::Backward).len(), all.len());
    kv.clear(Space::Meta).unwrap();
    assert_eq!(keys(&kv, "", "", Direction::Forward), "");
}

#[test]
fn a_crash_keeps_a_prefix_of_the_batches_since_the_last_persist() {
    let kv = MemKv::new();
    put(&kv, "a", "1");
    kv.persist().unwrap();
    put(&kv, "a", "2");
    put(&kv, "b", "1");
    let mut batch = Batch::default();
    batch.delete(Space::Meta, "a");
    batch.put(Space::Meta, "b", "2");
    kv.write(batch).unwrap();
    assert_eq!(kv.batches_unpersisted(), 3);
    kv.crash(2);
    assert_eq!(kv.get(Space::Meta, b"a").unwrap(), Some(b"2".to_vec()));
    assert_eq!(kv.get(Space::Meta, b"b").unwrap(), Some(b"1".to_vec()));
    put(&kv, "b", "3");
    kv.crash(0);
    assert_eq!(kv.get(Space::Meta, b"b").unwrap(), Some(b"1".to_vec()));
}

#[test]
fn the_nth_call_fails_once_and_changes_nothing() {
    let kv = MemKv::new();
    kv.fail_after(1);
    put(&kv, "a", "1");
    let mut batch = Batch::default();
    batch.put(Space::Meta, "a", "2");
    assert!(kv.write(batch).is_err());
    assert_eq!(kv.get(Space::Meta, b"a").unwrap(), Some(b"1".to_vec()));
    assert_eq!(kv.calls(), 3);
}
