//! A short range of seeds, and that a seed repeats itself.

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
