//! A short range of seeds, and that a seed repeats itself.

use lamina_env::sim::rng::SimRng;

use super::imports::{self, RowRange};
use super::world::World;
use super::{checkers, workload};

/// Rows of the file of the import laws, and of one of its steps.
const FILE_ROWS: usize = 9;
const STEP_ROWS: usize = 2;

#[test]
fn seeds_hold() {
    let (mut recalled, mut asked_for_erased) = (0, 0);
    for seed in 0..40 {
        match super::run(seed, &mut |_| {}) {
            Ok(summary) => {
                recalled += summary.recalled;
                asked_for_erased += summary.asked_for_erased;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    assert!(recalled > 200 && asked_for_erased > 40, "{recalled} {asked_for_erased}");
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let trace = |seed| {
        let mut lines = Vec::new();
        let summary = super::run(seed, &mut |line| lines.push(line.to_owned()));
        (lines, summary)
    };
    assert_eq!(trace(7), trace(7));
}

/// A batch of audit rows that failed was covered by the next one that went well.
#[test]
fn seed_862_lost_rows_are_not_covered() {
    super::run(862, &mut |_| {}).unwrap();
}

/// A checkpoint that failed after a batch of audit rows made them be written twice.
#[test]
fn seed_6102_rows_are_written_once() {
    super::run(6102, &mut |_| {}).unwrap();
}

/// What an import left: the words in the order of the log, and how many records the views have.
#[derive(Debug, PartialEq, Eq)]
struct EndState {
    words: Vec<String>,
    records: usize,
}

/// Imports a file in one life, whose power fails after so many calls of the disk if a number is given;
/// then again from its first row in a second life. Gives the end state, and whether the power failed.
fn import_file(derives: bool, calls: Option<u64>) -> (EndState, bool) {
    let seed = u64::from(derives);
    let (mut world, choices) = (World::new(seed), SimRng::new(seed ^ 0x1F));
    world.open(&mut |_| {}).unwrap();
    imports::add_file(&mut world, &choices, FILE_ROWS as u64);
    if let Some(calls) = calls {
        world.armed = true;
        world.disk.power_off_after_calls(calls);
    }
    import_by_steps(&mut world, &choices);
    let failed = world.disk.is_off();
    world.crash(&SimRng::new(calls.unwrap_or(0)));
    world.armed = false;
    world.open(&mut |_| {}).unwrap();
    checkers::after_open(&mut world).unwrap();
    imports::finish(&mut world, &choices).unwrap();
    world.close().unwrap();
    world.crash(&choices);
    world.open(&mut |_| {}).unwrap();
    checkers::after_open(&mut world).unwrap();
    let events = world.model.events.values();
    let mut events: Vec<(u64, String)> =
        events.map(|event| (event.wal_offset, event.said.text.clone())).collect();
    events.sort();
    let words = events.into_iter().map(|(_, text)| text).collect();
    let records = checkers::records(&world).unwrap();
    checkers::at_the_end(&mut world).unwrap();
    (EndState { words, records }, failed)
}

/// The steps of one import, each followed by the rows from the beginning once more.
fn import_by_steps(world: &mut World, choices: &SimRng) {
    for from in (0..FILE_ROWS).step_by(STEP_ROWS) {
        let to = FILE_ROWS.min(from + STEP_ROWS);
        for range in [RowRange { file: 0, from, to }, RowRange { file: 0, from: 0, to }] {
            imports::write_rows(world, choices, range).unwrap();
            workload::apply(world);
            if world.disk.is_off() {
                return;
            }
        }
    }
}

/// Law (c): power fails at every call of the disk in turn.
fn check_import_at_every_call(derives: bool) {
    let (whole, _) = import_file(derives, None);
    assert_eq!(whole.words.len(), FILE_ROWS);
    let mut crashes = 0;
    for calls in 0.. {
        let (state, failed) = import_file(derives, Some(calls));
        assert_eq!(state, whole, "power off after {calls} calls");
        if !failed {
            break;
        }
        crashes += 1;
    }
    assert!(crashes > 3 * FILE_ROWS / STEP_ROWS, "{crashes} places to fail at");
}

#[test]
fn import_cut_at_every_disk_call_ends_as_one_run() {
    check_import_at_every_call(false);
}

#[test]
fn import_cut_at_every_disk_call_ends_as_one_run_when_derived() {
    check_import_at_every_call(true);
}
