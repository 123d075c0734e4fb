//! Two beliefs that cannot both be true.
//!
//! Their tension is by how much their means exceed what one world allows: `m1 + m2 - 1`, at least
//! zero. Two sure beliefs that exclude each other are nearly at one; a sure one and its refuted
//! rival are at zero. It says nothing about which is right: that is the resolution.

use lamina_types::layer::Settling;
use lamina_types::{BeliefId, RecordedAt};

/// Means closer than this are in one confidence band.
const BAND: f64 = 0.2;

/// What a scope asks to be done with beliefs that exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResolutionPolicy {
    /// The newer one, unless the older one is clearly stronger.
    #[default]
    LatestWinsWithinConfidenceBand,
    /// The newer one.
    LatestWins,
    /// The stronger one.
    StrongestWins,
    /// Nobody decides.
    KeepOpen,
}

impl ResolutionPolicy {
    /// The policy a scope names; an unknown name is no policy of ours.
    pub fn named(name: &str) -> Option<ResolutionPolicy> {
        Some(match name {
            "latest_wins_within_confidence_band" => {
                ResolutionPolicy::LatestWinsWithinConfidenceBand
            }
            "latest_wins" | "newer_wins" => ResolutionPolicy::LatestWins,
            "strongest_wins" | "stronger_wins" | "highest_confidence" => {
                ResolutionPolicy::StrongestWins
            }
            "keep_open" | "keep_both" | "manual" => ResolutionPolicy::KeepOpen,
            _ => return None,
        })
    }

    /// The same for what is said to be so at one instant.
    pub fn settling(self) -> Option<Settling> {
        match self {
            ResolutionPolicy::LatestWinsWithinConfidenceBand => Some(Settling::LatestWithinBand),
            ResolutionPolicy::LatestWins => Some(Settling::Latest),
            ResolutionPolicy::StrongestWins => Some(Settling::Strongest),
            ResolutionPolicy::KeepOpen => None,
        }
    }
}

/// Which of two beliefs to prefer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// The one whose evidence is newer.
    NewerWins,
    /// The one with the higher mean.
    StrongerWins,
    /// Neither.
    Open,
}

impl Resolution {
    /// As records say it.
    pub fn as_str(self) -> &'static str {
        match self {
            Resolution::NewerWins => "newer_wins",
            Resolution::StrongerWins => "stronger_wins",
            Resolution::Open => "open",
        }
    }
}

/// One side of a tension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// The belief.
    pub belief: BeliefId,
    /// Its posterior mean.
    pub mean: f64,
    /// When evidence for it last came.
    pub last_evidence: RecordedAt,
}

/// What is between two beliefs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tension {
    /// By how much both cannot be right, between 0 and 1.
    pub tension: f64,
    /// What the policy proposes.
    pub resolution: Resolution,
    /// Whom it prefers, if anyone.
    pub prefers: Option<BeliefId>,
}

/// The tension between two beliefs of which at most one can be true. Symmetric.
pub fn tension(one: Side, other: Side, policy: ResolutionPolicy) -> Tension {
    let newer = if (one.last_evidence, one.belief) >= (other.last_evidence, other.belief) {
        one.belief
    } else {
        other.belief
    };
    let stronger = if one.mean.total_cmp(&other.mean).then(one.belief.cmp(&other.belief)).is_ge() {
        one.belief
    } else {
        other.belief
    };
    let close = (one.mean - other.mean).abs() <= BAND;
    let resolution = match policy {
        ResolutionPolicy::LatestWins => Resolution::NewerWins,
        ResolutionPolicy::StrongestWins => Resolution::StrongerWins,
        ResolutionPolicy::KeepOpen => Resolution::Open,
        ResolutionPolicy::LatestWinsWithinConfidenceBand if close => Resolution::NewerWins,
        ResolutionPolicy::LatestWinsWithinConfidenceBand => Resolution::StrongerWins,
    };
    let prefers = match resolution {
        Resolution::NewerWins => Some(newer),
        Resolution::StrongerWins => Some(stronger),
        Resolution::Open => None,
    };
    Tension { tension: (one.mean + other.mean - 1.0).max(0.0), resolution, prefers }
}

#[cfg(test)]
mod tests;
