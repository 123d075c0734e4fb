//! A short range of seeds, and that a seed repeats itself.

#[test]
fn seeds_hold() {
    for seed in 0..40 {
        if let Err(error) = super::run(seed, &mut |_| {}) {
            panic!("seed {seed}: {error}");
        }
    }
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
