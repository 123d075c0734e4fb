//! Whether two samples come from the same distribution: the Mann-Whitney U test, which asks nothing
//! of the shape of the distribution and is not moved by a few slow answers.

use std::f64::consts::SQRT_2;

/// The median; of an even number the mean of the middle two.
pub(super) fn median(sample: &[i64]) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_unstable();
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default() as f64;
    match sorted.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => at(odd / 2),
        even => f64::midpoint(at(even / 2 - 1), at(even / 2)),
    }
}

/// The probability of samples at least as different as these if they do not differ in truth. Two
/// sided, by the normal approximation with corrections for ties and continuity: good from about
/// twenty values on.
pub(super) fn p_value(one: &[i64], other: &[i64]) -> f64 {
    let (n1, n2) = (one.len() as f64, other.len() as f64);
    let mut all: Vec<(i64, bool)> = one.iter().map(|value| (*value, true)).collect();
    all.extend(other.iter().map(|value| (*value, false)));
    all.sort_unstable();
    let (mut rank_sum, mut ties, mut before) = (0.0, 0.0, 0.0);
    for equal in all.chunk_by(|a, b| a.0 == b.0) {
        let count = equal.len() as f64;
        // Equal values share the mean of their ranks.
        let rank = before + f64::midpoint(count, 1.0);
        rank_sum += rank * equal.iter().filter(|(_, is_one)| *is_one).count() as f64;
        ties += count.powi(3) - count;
        before += count;
    }
    let n = n1 + n2;
    let u = rank_sum - n1 * (n1 + 1.0) / 2.0;
    let variance = n1 * n2 / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    if variance.is_nan() || variance <= 0.0 {
        // Nothing, or nothing but one value.
        return 1.0;
    }
    let distance = ((u - n1 * n2 / 2.0).abs() - 0.5).max(0.0);
    erfc(distance / variance.sqrt() / SQRT_2).min(1.0)
}

/// The complementary error function for `x >= 0`, to seven digits (Abramowitz and Stegun, 7.1.26).
fn erfc(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let sum = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    sum * (-x * x).exp()
}

#[cfg(test)]
mod tests;
