//! `repair` mends what any open would, and refuses the rest.

use super::super::testing::{World, filled, target};
use super::super::{Log, LogError};
use super::{advice, repair};

#[test]
fn a_torn_tail_and_an_open_erasure_are_mended() {
    let world = filled(4);
    let (mut log, _) = world.open().unwrap();
    let victim = log.reader().read(1, None, 1, 1).unwrap().remove(0);
    // The `erase` is durable, the zeroing is not, and nothing of the `erased` is written.
    world.disk.power_off_after_bytes(420);
    log.erase(1, &[target(&victim)], b"").unwrap_err();
    drop(log);
    world.disk.restart();
    let report = repair(world.options()).unwrap();
    assert_eq!((report.open.finished_erasures, report.erased), (1, 1));
    assert_eq!(report.open.cut, None);
    world.assert_sound();

    let (mut log, _) = world.open().unwrap();
    world.disk.power_off_after_bytes(100);
    log.append(vec![world.says(1, "torn")], None).unwrap_err();
    drop(log);
    world.disk.restart();
    let report = repair(world.options()).unwrap();
    assert!(report.open.cut.is_some());
    world.assert_sound();
    // Nothing left to do, and nothing is written.
    let before = world.disk.contents(&world.segments()[0]).unwrap();
    repair(world.options()).unwrap();
    assert_eq!(world.disk.contents(&world.segments()[0]).unwrap(), before);
}

#[test]
fn an_empty_directory_stays_empty() {
    let world = World::new();
    repair(world.options()).unwrap();
    assert!(world.segments().is_empty());
}

#[test]
fn corruption_is_refused_with_advice_and_nothing_is_changed() {
    let world = filled(5);
    let segment = world.segments().remove(0);
    world.disk.poke(&segment, 300, &[0xFF]).unwrap();
    let before = world.disk.contents(&segment).unwrap();
    let error = repair(world.options()).unwrap_err();
    assert!(matches!(error, LogError::Corrupt { .. }), "{error:?}");
    assert!(advice(&error).unwrap().contains("backup"));
    assert_eq!(world.disk.contents(&segment).unwrap(), before);
}
