//! A belief as it is shown: mean, interval, stance and decay, computed from the stored masses.
//!
//! Evidence that nobody confirms fades: both masses shrink by `2^(-age / half life)`, so that the
//! posterior drifts back to the prior and its interval widens. Nothing is stored for it, and no
//! float ever decides whether a record exists (`revise` does that, exactly).

use lamina_types::RecordedAt;

use super::beta;
use super::evidence::UNIT;
use super::revise::{Settings, Standing, State};

/// Pieces of evidence beyond which an interval is not made narrower: it would only pretend to know.
const PIECES_SHOWN_MAX: f64 = 1_000_000.0;

/// How the evidence leans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stance {
    /// At least six tenths speak for it.
    Supported,
    /// At most four tenths speak for it.
    Contradicted,
    /// In between, or none of the evidence has words any more.
    Uncertain,
    /// Kept for questions about the past.
    Deprecated,
}

/// A credible interval of the confidence, equal tails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub lower: f64,
    /// Its upper end.
    pub upper: f64,
    /// The probability it holds.
    pub level: f64,
}

/// Why what is shown is not the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialReason {
    /// Evidence is known that the revision policy does not show yet.
    RevisionInProgress,
    /// The words of all evidence are gone.
    SupportingEvidenceRedacted,
}

/// Why a list leaves it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// It is deprecated.
    Deprecated,
    /// It is gone: a lookup by id says so.
    Deleted,
    /// It faded below the floor, and comes back with the next evidence.
    Faded,
}

/// A belief at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// How the evidence leans.
    pub stance: Stance,
    /// How sure one may be of the stance.
    pub confidence: f64,
    /// The interval of the confidence.
    pub interval: Interval,
    /// The posterior mean of the claim itself, whatever the stance: what tension and calibration use.
    pub mean: f64,
    /// The share of the evidence whose words are gone.
    pub redacted_fraction: f64,
    /// Why this is not the whole, if it is not.
    pub partial: Option<PartialReason>,
    /// Why lists leave it out, if they do.
    pub hidden: Option<Hidden>,
}

/// What a belief shows without its interval, which takes most of the time: enough to tell whether it is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glance {
    /// How the evidence leans.
    pub stance: Stance,
    /// How sure one may be of the stance.
    pub confidence: f64,
    /// The posterior mean of the claim itself.
    pub mean: f64,
    /// Why lists leave it out, if they do.
    pub hidden: Option<Hidden>,
}

/// What speaks for a claim and against it at `at`, in pieces of evidence.
fn masses(state: &State, settings: &Settings, at: RecordedAt) -> (f64, f64) {
    let fade = fade(state, settings, at);
    let unit = UNIT as f64;
    let a = (state.prior.supports as f64 + fade * state.shown.supports as f64) / unit;
    let b = (state.prior.against as f64 + fade * state.shown.against as f64) / unit;
    (a, b)
}

fn is_contradicted(a: f64, b: f64) -> bool {
    a * 10.0 <= (a + b) * 4.0
}

/// What its words cost if they are gone.
fn factor(state: &State, settings: &Settings) -> f64 {
    if state.all_redacted() { settings.redaction_factor.as_f64() } else { 1.0 }
}

/// What a belief shows at `at`, but for its interval.
pub fn glance(state: &State, settings: &Settings, at: RecordedAt) -> Glance {
    let (a, b) = masses(state, settings, at);
    let mean = a / (a + b);
    let contradicted = is_contradicted(a, b);
    let lean = if contradicted {
        Stance::Contradicted
    } else if a * 10.0 >= (a + b) * 6.0 {
        Stance::Supported
    } else {
        Stance::Uncertain
    };
    // The confidence is that of the stance.
    let sure = if contradicted { 1.0 - mean } else { mean };
    let confidence = sure * factor(state, settings);
    let stance = match state.standing {
        Standing::Deprecated { .. } => Stance::Deprecated,
        _ if state.all_redacted() => Stance::Uncertain,
        _ => lean,
    };
    Glance {
        stance,
        confidence,
        mean,
        hidden: match state.standing {
            Standing::Deleted { .. } => Some(Hidden::Deleted),
            Standing::Deprecated { .. } => Some(Hidden::Deprecated),
            Standing::Held if confidence < settings.floor.as_f64() => Some(Hidden::Faded),
            Standing::Held => None,
        },
    }
}

/// What a belief shows at `at`.
pub fn read(state: &State, settings: &Settings, at: RecordedAt) -> Shown {
    let Glance { stance, confidence, mean, hidden } = glance(state, settings, at);
    let (a, b) = masses(state, settings, at);
    let tail = (1.0 - settings.level.as_f64()) / 2.0;
    let cut = (PIECES_SHOWN_MAX / (a + b)).min(1.0);
    let bound = |p: f64| beta::quantile(a * cut, b * cut, p);
    let (low, high) = (bound(tail), bound(1.0 - tail));
    // The interval is that of the confidence, which is that of the stance.
    let (lower, upper) = if is_contradicted(a, b) { (1.0 - high, 1.0 - low) } else { (low, high) };
    let (factor, level) = (factor(state, settings), settings.level.as_f64());
    Shown {
        stance,
        confidence,
        interval: Interval { lower: lower * factor, upper: upper * factor, level },
        mean,
        redacted_fraction: redacted_fraction(state),
        partial: partial(state),
        hidden,
    }
}

/// What remains of the evidence since it was last confirmed, between 0 and 1.
fn fade(state: &State, settings: &Settings, at: RecordedAt) -> f64 {
    let age = at.0.0.saturating_sub(state.last_evidence.0.0);
    match settings.half_life_us {
        Some(half_life) if half_life > 0 && age > 0 => (-(age as f64) / half_life as f64).exp2(),
        _ => 1.0,
    }
}

fn redacted_fraction(state: &State) -> f64 {
    match state.pieces() {
        0 => 0.0,
        pieces => f64::from(state.redacted_count) / f64::from(pieces),
    }
}

fn partial(state: &State) -> Option<PartialReason> {
    if state.all_redacted() {
        return Some(PartialReason::SupportingEvidenceRedacted);
    }
    state.due.map(|_| PartialReason::RevisionInProgress)
}

#[cfg(test)]
mod tests;
