//! Rows go when their time is over, those of erasures stay, and the chain holds throughout.

use super::super::testing::{DIR, World, all};
use super::super::{AuditFilter, AuditLog};
use super::*;
use lamina_env::Clock;
use lamina_env::sim::SimRng;

const SECOND: i64 = 1_000_000;

/// Rows of two tenants, one in ten about an erasure, a second apart.
fn filled(world: &World, log: &mut AuditLog, rows: usize) -> Vec<AuditRow> {
    let mut written = Vec::new();
    for n in 0..rows {
        world.clock.advance(SECOND);
        let row = AuditRow { gdpr: n % 10 == 0, ..world.row(1 + u32::from(n % 3 == 0), "user:a") };
        log.append(std::slice::from_ref(&row), None).unwrap();
        written.push(row);
    }
    written
}

fn retain_all(log: &mut AuditLog, now: Micros, keep: &dyn Fn(u32) -> i64) -> Retained {
    let mut all = Retained::default();
    loop {
        let done = log.retain(now, keep).unwrap();
        if done == Retained::default() {
            return all;
        }
        all.rows_erased += done.rows_erased;
        all.rows_carried += done.rows_carried;
        all.segments_dropped += done.segments_dropped;
    }
}

fn holds(world: &World, log: &AuditLog) {
    for tenant in [1, 2] {
        let verified = log.reader().verify(tenant, world.keys().public()).unwrap();
        assert_eq!(verified.first_broken_index, None, "tenant {tenant}");
    }
    world.assert_sound();
}

#[test]
fn expired_segments_are_dropped_and_the_chain_goes_on() {
    let world = World::new();
    let mut log = world.open();
    let written = filled(&world, &mut log, 200);
    let before = (log.reader().chain(1).unwrap(), world.segments().len());
    let now = world.clock.wall();
    let keep = 50 * SECOND;
    let done = retain_all(&mut log, now, &|_| keep);
    assert!(done.segments_dropped > 2 && done.rows_carried > 5, "{done:?}");
    assert!(world.segments().len() < before.1);
    assert!(world.indexes().len() < before.1);
    let cut = now.plus(-keep);
    let check = |log: &AuditLog| {
        for row in &written {
            let found = log.reader().row(row.tenant, row.id).unwrap();
            match row.gdpr || row.at > cut {
                true => assert_eq!(found.unwrap().row, *row),
                // Those of the segment being written wait until it is sealed.
                false => assert!(found.is_none_or(|_| row.at > cut.plus(-30 * SECOND))),
            }
        }
        assert!(log.reader().chain(1).unwrap().length > before.0.length, "carried rows count");
        holds(&world, log);
    };
    check(&log);
    drop(log);
    world.disk.restart();
    check(&world.open());
    // And it goes on from there.
    let mut log = world.open();
    filled(&world, &mut log, 20);
    log.close().unwrap();
    holds(&world, &log);
}

#[test]
fn a_tenant_that_keeps_its_rows_does_not_keep_others() {
    let world = World::new();
    let mut log = world.open();
    let written = filled(&world, &mut log, 150);
    let now = world.clock.wall();
    let done =
        retain_all(&mut log, now, &|tenant| if tenant == 1 { 20 * SECOND } else { i64::MAX });
    assert_eq!(done.segments_dropped, 0);
    assert!(done.rows_erased > 50);
    let (kept, _) = all(&log.reader(), 2, &AuditFilter::default(), 100);
    assert_eq!(kept.len(), written.iter().filter(|row| row.tenant == 2).count());
    let (left, _) = all(&log.reader(), 1, &AuditFilter::default(), 100);
    assert!(left.iter().any(|row| row.row.gdpr) && left.len() < 60);
    holds(&world, &log);
    // No word of an erased row is left in a file.
    let gone = written.iter().find(|row| row.tenant == 1 && !row.gdpr).unwrap();
    for file in world.disk.files().iter().filter(|file| file.starts_with(DIR)) {
        let bytes = world.disk.contents(file).unwrap();
        let named = bytes.windows(16).any(|window| window == gone.id.as_bytes());
        assert!(!named, "{}", file.display());
    }
}

#[test]
fn a_tenant_without_a_row_left_continues_its_chain() {
    let world = World::new();
    let mut log = world.open();
    let lone = world.row(9, "user:z");
    log.append(&[lone], None).unwrap();
    let head = log.reader().chain(9).unwrap();
    filled(&world, &mut log, 150);
    let done = retain_all(&mut log, world.clock.wall(), &|_| 10 * SECOND);
    assert!(done.segments_dropped > 0);
    drop(log);
    world.disk.restart();
    let mut log = world.open();
    assert_eq!(log.reader().chain(9).unwrap(), head);
    let lone = world.row(9, "user:z");
    log.append(&[lone], None).unwrap();
    let (rows, _) = all(&log.reader(), 9, &AuditFilter::default(), 10);
    assert_eq!((rows[0].seq, rows[0].prev_seal), (2, head.head));
    assert_eq!(log.reader().verify(9, world.keys().public()).unwrap().first_broken_index, None);
    world.assert_sound();
}

#[test]
fn an_anchor_that_was_changed_is_refused_and_reported() {
    let world = World::new();
    let mut log = world.open();
    filled(&world, &mut log, 150);
    retain_all(&mut log, world.clock.wall(), &|_| 10 * SECOND);
    drop(log);
    world.disk.restart();
    world.disk.poke(&std::path::Path::new(DIR).join("anchor"), 30, &[0xAB]).unwrap();
    assert!(world.try_open().is_err());
}

/// The power fails at every moment of it.
#[test]
fn a_crash_in_between_leaves_a_log_that_opens_and_holds() {
    for calls in 1..60 {
        let world = World::new();
        let mut log = world.open();
        let written = filled(&world, &mut log, 120);
        log.close().unwrap();
        let now = world.clock.wall();
        world.disk.power_off_after_calls(calls * 3);
        let _ = log.retain(now, &|tenant| if tenant == 1 { 10 * SECOND } else { 60 * SECOND });
        drop(log);
        world.disk.crash(&SimRng::new(calls));
        let log = world.open();
        for row in written.iter().filter(|row| row.gdpr || row.at > now.plus(-10 * SECOND)) {
            let found = log.reader().row(row.tenant, row.id).unwrap();
            assert_eq!(found.map(|found| found.row).as_ref(), Some(row), "calls {calls}");
        }
        for tenant in [1, 2] {
            let verified = log.reader().verify(tenant, world.keys().public()).unwrap();
            assert_eq!(verified.first_broken_index, None, "calls {calls}");
        }
    }
}
