//! How well confidences came true: Platt scaling and the Brier score over the last thirty days.
//!
//! A sample is what was predicted and what feedback said about it. The scaling is logistic
//! regression of the outcome on the log-odds of the prediction, with Platt's smoothed targets, so
//! that it stays finite when every prediction came true. A fixed number of damped Newton steps makes
//! it the same on every run.

use lamina_types::RecordedAt;
use lamina_types::layer::Confidence;

/// How far back samples count.
pub const WINDOW_US: i64 = 30 * 24 * 3_600 * 1_000_000;
/// Samples that are used, the latest ones.
pub const SAMPLES_MAX: usize = 10_000;
/// Samples below which nothing is said.
pub const SAMPLES_MIN: usize = 10;
/// A calibration older than this is stale.
pub const STALE_US: i64 = WINDOW_US;
const STEPS: u32 = 50;
/// Keeps the system solvable when all predictions are equal.
const RIDGE: f64 = 1e-6;
/// Predictions are kept this far from certainty: the log-odds of 0 and 1 are infinite.
const EDGE: f64 = 5e-5;

/// One prediction that feedback judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The mean that was shown.
    pub predicted: Confidence,
    /// Whether it came true.
    pub came_true: bool,
    /// When feedback was recorded.
    pub at: RecordedAt,
}

/// How far confidences can be taken at their word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// What log-odds are multiplied with.
    pub slope: f64,
    /// What is added to them.
    pub shift: f64,
    /// The mean squared distance between prediction and outcome.
    pub brier: f64,
    /// Samples it stands on.
    pub samples: usize,
    /// The latest sample: what `last_calibrated_at` tells.
    pub at: RecordedAt,
}

impl Calibration {
    /// The name of the method and its version.
    pub const MODEL: &'static str = "platt_v1";

    /// What a confidence turned out to be worth.
    pub fn apply(&self, confidence: f64) -> f64 {
        logistic(self.slope * log_odds(confidence) + self.shift)
    }

    /// Whether it is too old to be trusted.
    pub fn is_stale(&self, now: RecordedAt) -> bool {
        now.0.0.saturating_sub(self.at.0.0) > STALE_US
    }
}

/// The calibration at `now`, from samples in any order; none if there are too few.
pub fn calibrate(samples: &[Sample], now: RecordedAt) -> Option<Calibration> {
    let from = now.0.plus(-WINDOW_US);
    let mut used: Vec<&Sample> = samples.iter().filter(|s| s.at.0 > from && s.at <= now).collect();
    // The sum of floats depends on its order, so the order is decided.
    used.sort_by_key(|s| (s.at, s.predicted, s.came_true));
    let used = used.split_off(used.len().saturating_sub(SAMPLES_MAX));
    if used.len() < SAMPLES_MIN {
        return None;
    }
    let at = used.last()?.at;
    let (slope, shift) = platt(&used);
    Some(Calibration { slope, shift, brier: brier(&used), samples: used.len(), at })
}

fn brier(samples: &[&Sample]) -> f64 {
    let square = |s: &&Sample| {
        let off = s.predicted.as_f64() - f64::from(u8::from(s.came_true));
        off * off
    };
    samples.iter().map(square).sum::<f64>() / samples.len() as f64
}

fn platt(samples: &[&Sample]) -> (f64, f64) {
    let hits = samples.iter().filter(|s| s.came_true).count() as f64;
    let misses = samples.len() as f64 - hits;
    let targets = ((hits + 1.0) / (hits + 2.0), 1.0 / (misses + 2.0));
    let points: Vec<(f64, f64)> = samples
        .iter()
        .map(|s| {
            let target = if s.came_true { targets.0 } else { targets.1 };
            (log_odds(s.predicted.as_f64()), target)
        })
        .collect();
    let (mut slope, mut shift) = (1.0, 0.0);
    let mut loss = cross_entropy(&points, slope, shift);
    for _ in 0..STEPS {
        let (mut g0, mut g1) = (0.0, 0.0);
        let (mut h00, mut h01, mut h11) = (RIDGE, 0.0, RIDGE);
        for (x, target) in &points {
            let p = logistic(slope * x + shift);
            let (error, weight) = (p - target, p * (1.0 - p));
            g0 += error * x;
            g1 += error;
            h00 += weight * x * x;
            h01 += weight * x;
            h11 += weight;
        }
        let determinant = h00 * h11 - h01 * h01;
        let (d0, d1) = ((h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant);
        // Halved until it helps: a full step can overshoot where the curve is flat.
        let mut length = 1.0;
        for _ in 0..20 {
            let tried = cross_entropy(&points, slope - length * d0, shift - length * d1);
            if tried < loss {
                (slope, shift, loss) = (slope - length * d0, shift - length * d1, tried);
                break;
            }
            length /= 2.0;
        }
    }
    (slope, shift)
}

fn cross_entropy(points: &[(f64, f64)], slope: f64, shift: f64) -> f64 {
    let one = |(x, target): &(f64, f64)| {
        let z = slope * x + shift;
        // ln(1 + e^z) - target * z, without overflow.
        z.max(0.0) + (-z.abs()).exp().ln_1p() - target * z
    };
    points.iter().map(one).sum()
}

fn log_odds(p: f64) -> f64 {
    let p = p.clamp(EDGE, 1.0 - EDGE);
    (p / (1.0 - p)).ln()
}

fn logistic(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

#[cfg(test)]
mod tests;
