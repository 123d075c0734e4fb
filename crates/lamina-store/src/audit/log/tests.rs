//! Writing: chains go on across segments and restarts, indexes are made again, crashes are mended.

use lamina_env::sim::SimRng;

use super::super::testing::{World, all};
use super::super::{AuditFilter, Chain};
use super::*;

#[test]
fn rows_are_there_after_a_restart_and_their_chain_goes_on() {
    let world = World::new();
    let mut written = Vec::new();
    for _ in 0..4 {
        let mut log = world.open();
        written.extend(world.fill(&mut log, 50));
        log.close().unwrap();
    }
    assert!(world.segments().len() > 3, "several segments");
    let log = world.open();
    for tenant in [1, 2] {
        let (rows, _) = all(&log.reader(), tenant, &AuditFilter::default(), 1_000);
        let expected: Vec<_> = written.iter().filter(|row| row.tenant == tenant).collect();
        assert_eq!(rows.iter().map(|row| &row.row).collect::<Vec<_>>(), expected);
        let mut prev = [0; 32];
        for (row, seq) in rows.iter().zip(1..) {
            assert_eq!((row.seq, row.prev_seal), (seq, prev), "one chain without a gap");
            prev = row.seal;
        }
        let chain = Chain { head: prev, length: rows.len() as u64 };
        assert_eq!(log.reader().chain(tenant).unwrap(), chain);
    }
    assert_eq!(log.reader().chain(3).unwrap(), Chain { head: [0; 32], length: 0 });
    world.assert_sound();
}

#[test]
fn a_tenant_that_was_silent_for_many_segments_goes_on_where_it_stood() {
    let world = World::new();
    let mut log = world.open();
    let lone = world.row(9, "user:z");
    log.append(&[lone], None).unwrap();
    world.fill(&mut log, 200);
    drop(log);
    world.disk.restart();
    let mut log = world.open();
    assert!(world.segments().len() > 4);
    let lone = world.row(9, "user:z");
    log.append(&[lone], None).unwrap();
    let (rows, _) = all(&log.reader(), 9, &AuditFilter::default(), 10);
    assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(rows[1].prev_seal, rows[0].seal);
    world.assert_sound();
}

#[test]
fn an_index_that_is_gone_or_damaged_is_made_again() {
    let world = World::new();
    let mut log = world.open();
    let written = world.fill(&mut log, 120);
    let before = all(&log.reader(), 1, &AuditFilter::default(), 50).0;
    drop(log);
    world.disk.restart();
    let indexes = world.indexes();
    assert!(indexes.len() > 2);
    let golden: Vec<_> = indexes.iter().map(|path| world.disk.contents(path).unwrap()).collect();
    lamina_env::Disk::remove(&world.disk, &indexes[0]).unwrap();
    world.disk.poke(&indexes[1], 60, &[0xAA]).unwrap();
    // The rows of the third are damaged, which its head does not show.
    let last = golden[2].len() as u64 - 10;
    world.disk.poke(&indexes[2], last, &[0xAA]).unwrap();
    let (log, report) = world.try_open().unwrap();
    assert_eq!(report.reindexed, 2);
    assert_eq!(all(&log.reader(), 1, &AuditFilter::default(), 50).0, before);
    for (path, golden) in indexes.iter().zip(&golden).take(2) {
        assert_eq!(&world.disk.contents(path).unwrap(), golden, "byte for byte");
    }
    assert_eq!(written.len(), 120);
}

#[test]
fn coverage_survives_and_never_goes_back() {
    let world = World::new();
    let mut log = world.open();
    assert_eq!(log.covered(), 0);
    log.append(&[world.row(1, "user:a")], Some(40)).unwrap();
    log.append(&[], Some(30)).unwrap();
    assert_eq!(log.covered(), 40);
    drop(log);
    assert_eq!(world.open().covered(), 40);
    // The segment that says so is sealed and others follow.
    let mut log = world.open();
    world.fill(&mut log, 100);
    drop(log);
    world.disk.restart();
    assert_eq!(world.open().covered(), 40);
}

#[test]
fn what_was_appended_outlives_the_power() {
    for seed in 0..40 {
        let world = World { rng: Arc::new(SimRng::new(seed)), ..World::new() };
        let mut log = world.open();
        let written = world.fill(&mut log, 20);
        world.disk.power_off_after_bytes(seed * 977);
        let mut later = Vec::new();
        loop {
            let row = world.row(1, "user:a");
            later.push(row.clone());
            if log.append(&[row], None).is_err() {
                break;
            }
        }
        drop(log);
        world.disk.crash(&SimRng::new(seed));
        let log = world.open();
        let rows = all(&log.reader(), 1, &AuditFilter::default(), 1_000).0;
        let kept: Vec<_> = rows.iter().map(|row| row.row.clone()).collect();
        let mut expected: Vec<_> = written.into_iter().filter(|row| row.tenant == 1).collect();
        expected.extend(later);
        assert!(kept.len() + 1 >= expected.len(), "only the last one may be lost");
        assert_eq!(kept, expected[..kept.len()]);
        world.assert_sound();
    }
}

#[test]
fn a_full_disk_takes_nothing_and_space_that_returns_does() {
    let world = World::new();
    let mut log = world.open();
    world.fill(&mut log, 20);
    world.disk.set_capacity(Some(world.disk.used_bytes()));
    let mut refused = None;
    for _ in 0..200 {
        refused = log.append(&[world.row(1, "user:a")], None).err();
        if refused.is_some() {
            break;
        }
    }
    assert!(matches!(refused, Some(LogError::Full(_))));
    assert!(log.stats().full);
    world.disk.set_capacity(None);
    log.append(&[world.row(1, "user:a")], None).unwrap();
    drop(log);
    world.open();
    world.assert_sound();
}
