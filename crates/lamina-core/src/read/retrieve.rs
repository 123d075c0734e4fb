//! What the channels found for one candidate, and what their scores weigh together.

use crate::read::score::Signals;

/// What the weakest hit of a channel has over a candidate that the channel did not find.
const LIFT: f64 = 0.1;
/// The share of meaning that a configured model has; the built-in vectors have the rest.
const MODEL_SHARE: f64 = 0.35;

/// The scores of one candidate, as the channels give them; `None` where a channel did not find it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChannelScores {
    /// By words.
    pub lexical: Option<f64>,
    /// By the built-in vectors.
    pub semantic: Option<f64>,
    /// By the vectors of a configured model.
    pub model: Option<f64>,
    /// The model has a vector of it. One that it has not seen yet is not held against a candidate.
    pub is_known_to_model: bool,
}

/// Scores of all candidates, each brought to 0..1 and weighed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WeighedChannels {
    /// By words.
    pub lexical: Vec<f64>,
    /// By meaning.
    pub semantic: Vec<f64>,
}

impl WeighedChannels {
    /// Both channels of each candidate together.
    pub fn sums(&self) -> Vec<f64> {
        self.lexical.iter().zip(&self.semantic).map(|(one, other)| one + other).collect()
    }
}

/// Brings the scores of each channel to 0..1 and weighs them.
pub fn weigh_channels(candidates: &[ChannelScores], weights: &Signals) -> WeighedChannels {
    let scaled = |scores: Vec<Option<f64>>, weight: f64| -> Vec<f64> {
        let lifted = |(score, found): (f64, &Option<f64>)| match found {
            Some(_) => weight * (LIFT + (1.0 - LIFT) * score),
            None => 0.0,
        };
        min_max(&scores).into_iter().zip(&scores).map(lifted).collect()
    };
    let lexical = candidates.iter().map(|one| one.lexical).collect();
    let semantic = candidates.iter().map(|one| one.semantic).collect();
    let mut semantic = scaled(semantic, weights.semantic);
    if candidates.iter().any(|one| one.is_known_to_model) {
        let model = scaled(candidates.iter().map(|one| one.model).collect(), weights.semantic);
        for ((own, model), candidate) in semantic.iter_mut().zip(model).zip(candidates) {
            if candidate.is_known_to_model {
                *own += MODEL_SHARE * (model - *own);
            }
        }
    }
    WeighedChannels { lexical: scaled(lexical, weights.lexical), semantic }
}

/// Brings scores to 0..1: the best is 1, the worst 0, what has none stays 0. Where all are equal, all
/// are 1.
pub fn min_max(scores: &[Option<f64>]) -> Vec<f64> {
    let finite = scores.iter().flatten().copied().filter(|score| score.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), s| (low.min(s), high.max(s)));
    let spread = high - low;
    let scale = |score: f64| {
        if !score.is_finite() {
            0.0
        } else if spread > 0.0 {
            (score - low) / spread
        } else {
            1.0
        }
    };
    scores.iter().map(|score| score.map_or(0.0, scale)).collect()
}

#[cfg(test)]
mod tests;
