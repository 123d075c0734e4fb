//! Held against values worked out elsewhere.

use super::*;

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 2e-6, "{found}, not {expected}");
}

#[test]
fn the_error_function_has_its_known_values() {
    for (x, expected) in [(0.0, 1.0), (0.5, 0.479_500_1), (1.0, 0.157_299_2), (2.0, 0.004_677_7)] {
        close(erfc(x), expected);
    }
}

/// By hand: U = 17 of 20, mean 10, variance 50/3, so z = 6.5 / 4.0825 = 1.5922.
#[test]
fn a_small_example_without_ties() {
    let (one, other) = ([19, 22, 16, 29, 24], [20, 11, 17, 12]);
    close(p_value(&one, &other), 0.111_346_9);
    close(p_value(&other, &one), 0.111_346_9);
}

/// By hand: ranks 1, 2.5, 5, 5 and 2.5, 5, 7, 8; U = 3.5, mean 8, variance 4/3 * (9 - 30/56), so
/// z = 4 / 3.3594 = 1.1907.
#[test]
fn ties_share_their_ranks() {
    close(p_value(&[1, 2, 3, 3], &[2, 3, 4, 5]), 0.233_778_8);
}

#[test]
fn equal_samples_are_not_told_apart_and_shifted_ones_are() {
    let sample: Vec<i64> = (0..1_000).map(|number| number * 7_919 % 1_009).collect();
    let shifted: Vec<i64> = sample.iter().map(|value| value + 100).collect();
    close(p_value(&sample, &sample), 1.0);
    assert!(p_value(&sample, &shifted) < 1e-9);
    close(p_value(&[5; 10], &[5; 10]), 1.0);
    close(p_value(&[], &[]), 1.0);
}

#[test]
fn medians() {
    close(median(&[3, 1, 2]), 2.0);
    close(median(&[4, 1, 2, 3]), 2.5);
    close(median(&[]), 0.0);
}
