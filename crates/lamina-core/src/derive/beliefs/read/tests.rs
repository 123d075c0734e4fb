//! What is shown, against an integral of the density that shares no code with it.

use lamina_types::layer::Confidence;
use lamina_types::{Micros, RecordedAt, ValidAt};
use proptest::prelude::*;

use super::*;
use crate::derive::beliefs::revise::{Deprecation, Mass, deprecate};

const DAY: i64 = 24 * 3_600 * 1_000_000;

fn at(micros: i64) -> RecordedAt {
    RecordedAt(Micros(micros))
}

fn state(supports: u64, against: u64) -> State {
    State {
        prior: Mass::UNIFORM,
        known: Mass { supports, against },
        shown: Mass { supports, against },
        supports_count: 3,
        against_count: 1,
        redacted_count: 0,
        created: at(0),
        last_revised: at(0),
        last_evidence: at(0),
        revision_count: 0,
        recent: Vec::new(),
        due: None,
        valid_from: ValidAt(Micros(0)),
        expires: None,
        standing: Standing::Held,
    }
}

/// An oracle of its own: the density summed over a fine grid by the midpoint rule.
fn oracle(a: f64, b: f64, p: f64) -> f64 {
    let n = 400_000_u32;
    let density = |x: f64| ((a - 1.0) * x.ln() + (b - 1.0) * (1.0 - x).ln()).exp();
    let step = 1.0 / f64::from(n);
    let mut sums = Vec::with_capacity(n as usize);
    let mut sum = 0.0;
    for i in 0..n {
        // Simpson on each cell: exact enough that only the last interpolation matters.
        let (l, r) = (f64::from(i) * step, f64::from(i + 1) * step);
        let ends = |x: f64| if x <= 0.0 || x >= 1.0 { 0.0 } else { density(x) };
        sum += (ends(l) + 4.0 * density((l + r) / 2.0) + ends(r)) / 6.0 * step;
        sums.push(sum);
    }
    let want = p * sum;
    let cell = sums.partition_point(|s| *s < want);
    let before = if cell == 0 { 0.0 } else { sums[cell - 1] };
    let left = cell as f64 * step;
    // Solve within the cell with the density at its middle, twice refined.
    let mut x = left + (want - before) / density(left + step / 2.0);
    for _ in 0..3 {
        let mid = (left + x) / 2.0;
        let area = (density(left.max(1e-300)) + 4.0 * density(mid) + density(x)) / 6.0 * (x - left);
        x += (want - before - area) / density(x);
    }
    x
}

#[test]
fn mean_and_interval_equal_the_oracle() {
    let settings = Settings::default();
    for (supports, against) in
        [(30_000, 10_000), (12_345, 23_456), (90_000, 15_000), (45_500, 45_500)]
    {
        let shown = read(&state(supports, against), &settings, at(0));
        let (a, b) = ((supports + UNIT) as f64 / 1e4, (against + UNIT) as f64 / 1e4);
        let (low, high) = (oracle(a, b, 0.05), oracle(a, b, 0.95));
        let flip = |x: f64| if shown.stance == Stance::Contradicted { 1.0 - x } else { x };
        let (lower, upper) = (flip(low).min(flip(high)), flip(low).max(flip(high)));
        assert!((shown.interval.lower - lower).abs() < 1e-9, "{} {lower}", shown.interval.lower);
        assert!((shown.interval.upper - upper).abs() < 1e-9, "{} {upper}", shown.interval.upper);
        assert!((shown.confidence - flip(a / (a + b))).abs() < 1e-12);
        assert_eq!(shown.interval.level, 0.9);
    }
}

#[test]
fn the_stance_changes_at_six_and_four_tenths() {
    let settings = Settings { half_life_us: None, ..Settings::default() };
    let stance = |s, a| read(&state(s, a), &settings, at(0)).stance;
    assert_eq!(stance(5_000, 0), Stance::Supported); // 1.5 of 2.5
    assert_eq!(stance(4_999, 0), Stance::Uncertain);
    assert_eq!(stance(0, 5_000), Stance::Contradicted);
    assert_eq!(stance(0, 4_999), Stance::Uncertain);
    assert_eq!(stance(80_000, 80_000), Stance::Uncertain);
}

#[test]
fn evidence_halves_with_the_half_life_and_ends_at_the_prior() {
    let settings = Settings { half_life_us: Some(180 * DAY), ..Settings::default() };
    let fresh = read(&state(40_000, 0), &settings, at(0));
    let half = read(&state(40_000, 0), &settings, at(180 * DAY));
    let same = read(&state(20_000, 0), &settings, at(0));
    assert!((half.mean - same.mean).abs() < 1e-9);
    assert!((half.interval.lower - same.interval.lower).abs() < 1e-9);
    assert!((half.interval.upper - same.interval.upper).abs() < 1e-9);
    assert!(fresh.mean > half.mean);
    let gone = read(&state(40_000, 0), &settings, at(i64::MAX));
    assert!((gone.mean - 0.5).abs() < 1e-9);
    assert_eq!(gone.stance, Stance::Uncertain);
    // A question before the evidence does not make it stronger.
    assert_eq!(read(&state(40_000, 0), &settings, at(-DAY)), fresh);
}

#[test]
fn redaction_shows_in_fraction_stance_and_reason() {
    let settings = Settings::default();
    let mut some = state(60_000, 0);
    some.redacted_count = 1;
    let shown = read(&some, &settings, at(0));
    assert_eq!((shown.redacted_fraction, shown.partial), (0.25, None));
    assert_eq!(shown.stance, Stance::Supported);
    some.redacted_count = 4;
    let all = read(&some, &settings, at(0));
    assert_eq!(all.redacted_fraction, 1.0);
    assert_eq!(all.partial, Some(PartialReason::SupportingEvidenceRedacted));
    assert_eq!(all.stance, Stance::Uncertain);
    assert!((all.confidence - shown.confidence / 2.0).abs() < 1e-12);
}

#[test]
fn what_waits_and_what_is_over_says_so() {
    let settings = Settings::default();
    let mut waiting = state(60_000, 0);
    waiting.due = Some(at(5));
    assert_eq!(read(&waiting, &settings, at(0)).partial, Some(PartialReason::RevisionInProgress));
    deprecate(&mut waiting, Deprecation::Vocabulary, at(1));
    let shown = read(&waiting, &settings, at(2));
    assert_eq!((shown.stance, shown.hidden), (Stance::Deprecated, Some(Hidden::Deprecated)));
    let strict = Settings { floor: Confidence::new(9_000), ..settings };
    let faded = read(&state(200_000, 0), &strict, at(3_000 * DAY));
    assert_eq!(faded.hidden, Some(Hidden::Faded));
}

proptest! {
    #[test]
    fn whatever_is_stored_can_be_shown(
        supports in 0..u64::MAX / 4, against in 0..u64::MAX / 4, declared in 0..100_001_u64,
        redacted in 0..5_u32, now in any::<i64>(),
    ) {
        let mut state = state(supports, against);
        state.prior = Mass { supports: declared, against: 100_000 - declared };
        state.redacted_count = redacted;
        let shown = read(&state, &Settings::default(), at(now));
        for value in [shown.confidence, shown.mean, shown.interval.lower, shown.interval.upper] {
            prop_assert!((0.0..=1.0).contains(&value), "{shown:?}");
        }
        prop_assert!(shown.interval.lower <= shown.interval.upper);
    }
}
