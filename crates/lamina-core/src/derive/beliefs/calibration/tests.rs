//! The fit against its own definition, and its window at both edges.

use lamina_types::Micros;
use proptest::prelude::*;

use super::*;

const DAY: i64 = 24 * 3_600 * 1_000_000;

fn day(at: i64) -> RecordedAt {
    RecordedAt(Micros(at * DAY))
}

fn sample(predicted: u16, came_true: bool, at: i64) -> Sample {
    Sample { predicted: Confidence::new(predicted), came_true, at: day(at) }
}

/// Of a hundred predictions of each tenth, as many came true as `rate` says.
fn samples(rate: impl Fn(f64) -> f64) -> Vec<Sample> {
    let mut all = Vec::new();
    for tenth in 1..10_u16 {
        let hits = (rate(f64::from(tenth) / 10.0) * 100.0).round() as u16;
        all.extend((0..100).map(|i| sample(tenth * 1_000, i < hits, 1)));
    }
    all
}

#[test]
fn well_calibrated_predictions_stay_as_they_are() {
    let found = calibrate(&samples(|p| p), day(2)).unwrap();
    assert!((found.slope - 1.0).abs() < 0.02 && found.shift.abs() < 0.01, "{found:?}");
    for p in [0.1, 0.5, 0.9] {
        assert!((found.apply(p) - p).abs() < 0.01);
    }
    // The sum of p(1-p) over the nine tenths, divided by nine.
    assert!((found.brier - 1.65 / 9.0).abs() < 1e-9, "{}", found.brier);
}

#[test]
fn overconfidence_is_pulled_to_the_middle() {
    let found = calibrate(&samples(|p| 0.5 + (p - 0.5) / 2.0), day(2)).unwrap();
    assert!(found.slope < 0.6, "{found:?}");
    assert!(found.apply(0.9) < 0.75 && found.apply(0.1) > 0.25);
}

/// At the minimum the gradient is zero: checked from the definition, not with the code's own sums.
#[test]
fn the_fit_is_a_minimum() {
    let all = samples(|p| p * p);
    let found = calibrate(&all, day(2)).unwrap();
    let hits = all.iter().filter(|s| s.came_true).count() as f64;
    let misses = all.len() as f64 - hits;
    let loss = |slope: f64, shift: f64| -> f64 {
        all.iter()
            .map(|s| {
                let p = s.predicted.as_f64();
                let q = 1.0 / (1.0 + (-(slope * (p / (1.0 - p)).ln() + shift)).exp());
                let t =
                    if s.came_true { (hits + 1.0) / (hits + 2.0) } else { 1.0 / (misses + 2.0) };
                -(t * q.ln() + (1.0 - t) * (1.0 - q).ln())
            })
            .sum()
    };
    let best = loss(found.slope, found.shift);
    for (a, b) in [(1e-4, 0.0), (-1e-4, 0.0), (0.0, 1e-4), (0.0, -1e-4), (1e-4, -1e-4)] {
        assert!(loss(found.slope + a, found.shift + b) >= best);
    }
}

#[test]
fn only_the_last_thirty_days_count_and_few_samples_say_nothing() {
    let old: Vec<Sample> = (0..50).map(|_| sample(9_000, false, 0)).collect();
    assert_eq!(calibrate(&old, day(30)), None);
    assert_eq!(calibrate(&old, day(29)).unwrap().samples, 50);
    let few: Vec<Sample> = (0..9).map(|_| sample(9_000, true, 1)).collect();
    assert_eq!(calibrate(&few, day(2)), None);
    let future: Vec<Sample> = (0..50).map(|_| sample(9_000, true, 9)).collect();
    assert_eq!(calibrate(&future, day(2)), None);
    let found = calibrate(&old, day(20)).unwrap();
    assert!(!found.is_stale(day(30)) && found.is_stale(day(31)));
}

#[test]
fn the_latest_samples_are_used_when_there_are_too_many() {
    let mut all: Vec<Sample> = (0..SAMPLES_MAX).map(|_| sample(10_000, true, 2)).collect();
    all.extend((0..5).map(|_| sample(10_000, false, 1)));
    let found = calibrate(&all, day(3)).unwrap();
    assert_eq!((found.samples, found.brier), (SAMPLES_MAX, 0.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_samples_give_finite_numbers_in_any_order(
        raw in prop::collection::vec((0..10_001_u16, any::<bool>(), 0..40_i64), 0..60),
    ) {
        let mut all: Vec<Sample> = raw.iter().map(|(p, y, at)| sample(*p, *y, *at)).collect();
        let found = calibrate(&all, day(35));
        all.reverse();
        prop_assert_eq!(found, calibrate(&all, day(35)));
        if let Some(found) = found {
            prop_assert!(found.slope.is_finite() && found.shift.is_finite());
            prop_assert!((0.0..=1.0).contains(&found.brier));
            for p in [0.0, 0.3, 1.0] {
                prop_assert!((0.0..=1.0).contains(&found.apply(p)));
            }
        }
    }
}
