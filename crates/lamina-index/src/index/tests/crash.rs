//! The power goes off at every call to the disk; what is found then is made whole by applying the rest.

use super::*;

/// What is applied, one after the other: puts, replacements, removals.
fn history() -> Vec<Change> {
    let mut changes: Vec<Change> =
        (0..6).map(|n| put(n, "org:a/user:x", "violin concert")).collect();
    changes.push(put(2, "org:a/user:x", "trumpet"));
    changes.push(remove(4));
    changes.push(put(7, "org:a/user:new", "violin and trumpet"));
    changes.push(remove(0));
    changes
}

/// Applies what is missing; commits after every third change, and purges at the end.
fn run(index: &Index, from: u64) -> Result<(), Error> {
    for (number, change) in (0_u64..).zip(history()).skip(usize::try_from(from).unwrap()) {
        index.apply(1, &[change], number + 1)?;
        if number % 3 == 2 {
            index.commit()?;
        }
    }
    index.commit()?;
    index.purge(1).map(drop)
}

fn answers(index: &Index) -> (Vec<u64>, Vec<u64>, Vec<u64>, crate::index::Stats) {
    let mut stats = index.stats(1).unwrap();
    (stats.segments, stats.cached_bytes, stats.pending) = (0, 0, 0);
    (
        words(index, 1, "violin", all()),
        words(index, 1, "trumpet", all()),
        meaning(index, 1, "violin", all(), 10),
        stats,
    )
}

#[test]
fn power_off_at_calls_of_every_kind() {
    let whole = SimDisk::new();
    let (index, _) = open(&whole);
    run(&index, 0).unwrap();
    let expected = answers(&index);
    drop(index);
    let calls = whole.calls();
    assert!(calls > 100, "the history does something");
    // Each one opens threads and files, so all of them take minutes: only `RUN_SLOW_TESTS` asks for each.
    let stride = if std::env::var_os("RUN_SLOW_TESTS").is_some() { 1 } else { 37 };
    let mut survived = 0;
    for at in (1..calls).step_by(stride) {
        let disk = SimDisk::new();
        disk.power_off_after_calls(at);
        if let Ok((index, _)) = Index::open(setup(&disk)) {
            drop(run(&index, 0));
            drop(index);
        }
        disk.crash(&SimRng::new(at));
        let (index, opened) = open(&disk);
        let resumed = run(&index, opened.applied);
        // An index that a crash damaged says so and is made again.
        if let Err(error) = &resumed {
            assert!(error.calls_for_rebuild(), "call {at}: {error:?}");
            index.clear().unwrap();
            run(&index, 0).unwrap();
        } else {
            survived += u32::from(opened.applied > 0);
        }
        assert_eq!(answers(&index), expected, "power off at call {at}");
    }
    assert!(survived > 5, "most crashes leave an index that is used");
}
