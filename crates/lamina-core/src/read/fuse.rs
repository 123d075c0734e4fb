//! Several judgements of one record as one score, with what each contributed kept.
//!
//! A weighted sum of scores, each brought to 0..1 within the candidates. Ranks alone forget by how
//! much one record is better than the next, which measured clearly worse.

/// What is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// Words in common.
    Lexical,
    /// Meaning in common.
    Semantic,
    /// Neighbours, the session around it, records that stand on it.
    Graph,
    /// How long ago.
    Recency,
    /// How much else speaks of it.
    Importance,
    /// How sure it is.
    Confidence,
}

impl Signal {
    /// All of them, in the order of [`Signals`].
    pub const ALL: [Signal; 6] = [
        Signal::Lexical,
        Signal::Semantic,
        Signal::Graph,
        Signal::Recency,
        Signal::Importance,
        Signal::Confidence,
    ];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Signal::Lexical => "lexical",
            Signal::Semantic => "semantic",
            Signal::Graph => "graph",
            Signal::Recency => "recency",
            Signal::Importance => "importance",
            Signal::Confidence => "confidence",
        }
    }
}

/// One number per signal: judgements, weights or contributions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Signals {
    /// Words in common.
    pub lexical: f64,
    /// Meaning in common.
    pub semantic: f64,
    /// Neighbours, session, dependants.
    pub graph: f64,
    /// How long ago.
    pub recency: f64,
    /// How much else speaks of it.
    pub importance: f64,
    /// How sure it is.
    pub confidence: f64,
}

impl Signals {
    /// The number of a signal.
    pub fn of(&self, signal: Signal) -> f64 {
        match signal {
            Signal::Lexical => self.lexical,
            Signal::Semantic => self.semantic,
            Signal::Graph => self.graph,
            Signal::Recency => self.recency,
            Signal::Importance => self.importance,
            Signal::Confidence => self.confidence,
        }
    }

    /// Each number of one times that of the other.
    pub fn times(&self, other: &Signals) -> Signals {
        Signals {
            lexical: self.lexical * other.lexical,
            semantic: self.semantic * other.semantic,
            graph: self.graph * other.graph,
            recency: self.recency * other.recency,
            importance: self.importance * other.importance,
            confidence: self.confidence * other.confidence,
        }
    }

    /// All of them together.
    pub fn sum(&self) -> f64 {
        self.lexical + self.semantic + self.graph + self.recency + self.importance + self.confidence
    }
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

/// How recent something is: 1 now, half after `half_life`, and never 0. Both in microseconds.
pub fn recency(age_us: i64, half_life_us: i64) -> f64 {
    let age = age_us.max(0) as f64 / half_life_us.max(1) as f64;
    0.5_f64.powf(age)
}

#[cfg(test)]
mod tests;
