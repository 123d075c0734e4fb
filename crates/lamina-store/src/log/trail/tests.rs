//! A history that was written anew, consistent in itself, is given away by what was signed.

use std::path::Path;

use super::super::record;
use super::super::segment::Commit;
use super::super::testing::{World, read_all, small_log};
use super::super::{Log, Section, SegmentLog};
use super::*;
use crate::entry::{Entry, SectionState};

fn chain(world: &World, entries: &[Entry], scope: u64) -> ChainCheck {
    let last =
        entries.iter().rev().find(|entry| (entry.head.tenant, entry.head.scope) == (1, scope));
    let head = last.map(|last| ChainHead { seq: last.head.scope_seq, seal: last.head.seal });
    let zero = ChainHead { seq: 0, seal: [0; 32] };
    ChainCheck {
        tenant: 1,
        scope,
        after: zero,
        tip: [0; 32],
        head: head.unwrap_or(zero),
        public_key: world.options().keys.public(),
    }
}

/// Writes the only segment anew with other words in one entry: every checksum, commitment, seal
/// and tip is made again, only the signatures are not.
fn rewrite(world: &World, log: &SegmentLog, entries: &[Entry], victim: u64) -> Vec<u8> {
    let seed = Seed::of(&log.log_id());
    let old = world.disk.contents(&world.segments()[0]).unwrap();
    let mut bytes = old[..HEAD_LEN].to_vec();
    let mut seals: BTreeMap<(u32, u64), [u8; 32]> = BTreeMap::new();
    let mut tip = [0; 32];
    let batches = entries.last().unwrap().head.batch;
    for batch in 1..=batches {
        let mut hash = TipHash::after(&tip);
        let mut count = 0;
        for entry in entries.iter().filter(|entry| entry.head.batch == batch) {
            let mut head = entry.head.clone();
            head.prev_seal = seals.get(&(head.tenant, head.scope)).copied().unwrap_or_default();
            let section = |state: &SectionState, len: u32, forged: bool| match state {
                SectionState::Absent => Section::absent().bytes().to_vec(),
                SectionState::Erased => vec![0; len as usize],
                SectionState::Live(_) if forged => {
                    Section::seal([1; 32], b"forged").bytes().to_vec()
                }
                SectionState::Live(plaintext) => Section::seal([1; 32], plaintext).bytes().to_vec(),
            };
            let what = section(&entry.what, head.what_len, head.offset == victim);
            let who = section(&entry.who, head.who_len, false);
            if let SectionState::Live(plaintext) = &entry.who {
                head.who_commit = Section::seal([1; 32], plaintext).commit();
            }
            if let SectionState::Live(plaintext) = &entry.what {
                let words: &[u8] = if head.offset == victim { b"forged" } else { plaintext };
                head.what_commit = Section::seal([1; 32], words).commit();
            }
            (head.who_len, head.what_len) = (who.len() as u32, what.len() as u32);
            record::encode(&mut bytes, seed, &mut head, &who, &what);
            seals.insert((head.tenant, head.scope), head.seal);
            hash.seal(&head.seal);
            count += 1;
        }
        tip = hash.finish();
        Commit { batch, count, tip }.encode(&mut bytes, seed);
    }
    bytes.resize(old.len(), 0);
    bytes
}

#[test]
fn a_sound_chain_holds_with_its_erasures_and_checkpoints() {
    let world = World::new();
    small_log(&world);
    let (log, _) = world.open().unwrap();
    let entries = read_all(&*log.reader()).unwrap();
    for scope in [0, 1, 2, 9] {
        let check = chain(&world, &entries, scope);
        let verdict = log.segment_reader().verify_chain(&check).unwrap();
        assert_eq!((verdict.first_broken, verdict.head), (None, check.head), "scope {scope}");
        assert_eq!(verdict.checkpoints, 1);
    }
}

#[test]
fn a_history_written_anew_breaks_at_the_first_entry_that_was_signed() {
    let world = World::new();
    small_log(&world);
    let (mut log, _) = world.open().unwrap();
    log.close().unwrap();
    let entries = read_all(&*log.reader()).unwrap();
    let forged = rewrite(&world, &log, &entries, entries[2].head.offset);
    world.disk.poke(&world.segments()[0], 0, &forged).unwrap();
    // It is consistent: whoever does not look at signatures and at what was known finds nothing.
    let plain = world.check();
    assert!(
        plain
            .findings
            .iter()
            .all(|finding| finding.what.contains("checkpoint") || finding.what.contains("signed"))
    );
    assert!(!plain.is_sound());
    for scope in [1, 2] {
        let check = chain(&world, &entries, scope);
        let verdict = log.segment_reader().verify_chain(&check).unwrap();
        assert_eq!(verdict.first_broken, Some(1), "scope {scope}");
        assert_eq!(verdict.checkpoints, 0);
    }
    assert!(world.disk.contents(Path::new("/data/checkpoints/latest.json")).is_ok());
}

#[test]
fn another_key_proves_nothing() {
    let world = World::new();
    small_log(&world);
    let (log, _) = world.open().unwrap();
    let entries = read_all(&*log.reader()).unwrap();
    let check = ChainCheck { public_key: [7; 32], ..chain(&world, &entries, 1) };
    let verdict = log.segment_reader().verify_chain(&check).unwrap();
    assert_eq!((verdict.first_broken, verdict.checkpoints), (Some(1), 0));
}
