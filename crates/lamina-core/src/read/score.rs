//! Several judgements of one candidate as one score, with the contribution of each kept.
//!
//! A weighted sum of scores, each brought to 0..1 within the candidates. Ranks alone forget by how
//! much one record is better than the next, which measured clearly worse.

use crate::read::expand::{ConversationPlace, spread_around};
use crate::read::plan::Plan;
use crate::read::retrieve::{ChannelScores, weigh_channels};
use crate::read::tuning::Tuning;

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

/// A candidate with every judgement of it, before they are weighed against the other candidates.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ScoreCandidate {
    /// What the channels found.
    pub channels: ChannelScores,
    /// How well its words meet those of the question; 0 if they were not read.
    pub fit: f64,
    /// Its conversation and its place there.
    pub place: ConversationPlace,
    /// What its manner gives, from [`manner_worth`].
    pub manner: f64,
    /// When it was observed, in microseconds.
    pub observed: i64,
    /// It was observed at the time that the question names.
    pub is_hinted: bool,
}

/// The contributions of each candidate, in the order of the candidates.
pub fn score(candidates: &[ScoreCandidate], tuning: &Tuning) -> Vec<Signals> {
    let channels: Vec<ChannelScores> = candidates.iter().map(|one| one.channels).collect();
    let weighed = weigh_channels(&channels, &tuning.weights);
    let best = candidates.iter().map(|one| one.fit).fold(0.0, f64::max);
    let closer = |fit: f64| if best > 0.0 { tuning.closer * fit / best } else { 0.0 };
    let fitting = weighed.semantic.iter().zip(candidates);
    let semantic: Vec<f64> = fitting.map(|(own, one)| own + closer(one.fit)).collect();
    let own: Vec<f64> = weighed.lexical.iter().zip(&semantic).map(|(a, b)| a + b).collect();
    let places: Vec<ConversationPlace> = candidates.iter().map(|one| one.place).collect();
    let graph = spread_around(&places, &own, &tuning.spread);
    let instants = candidates.iter().map(|one| one.observed);
    let (first, last) = instants.fold((i64::MAX, i64::MIN), |(a, b), at| (a.min(at), b.max(at)));
    let span = (last.saturating_sub(first)).max(1) as f64;
    let of = |values: &[f64], at: usize| values.get(at).copied().unwrap_or(0.0);
    let signals = |(at, one): (usize, &ScoreCandidate)| {
        let recency = (one.observed - first) as f64 / span;
        let hinted = if one.is_hinted { tuning.in_time } else { 0.0 };
        Signals {
            lexical: of(&weighed.lexical, at),
            semantic: of(&semantic, at),
            graph: tuning.weights.graph * of(&graph, at),
            recency: tuning.weights.recency * recency + hinted,
            importance: tuning.weights.importance * one.manner,
            ..Signals::default()
        }
    };
    candidates.iter().enumerate().map(signals).collect()
}

/// Who says a text, and how.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TextManner {
    /// How far its speaker is meant by the question, 0 to 1.
    pub meant: f64,
    /// It ends with a question.
    pub asks: bool,
    /// It names a time.
    pub dates: bool,
    /// A user says in it how things are to be done.
    pub instructs: bool,
}

/// What the manner of a text gives it. Only what the plan asks about counts.
pub fn manner_worth(manner: &TextManner, plan: Plan, tuning: &Tuning) -> f64 {
    let if_so = |so: bool, worth: f64| if so { worth } else { 0.0 };
    let dates = plan == Plan::When && manner.dates;
    let rules = plan == Plan::Advice && manner.instructs;
    tuning.voice * manner.meant - if_so(manner.asks, tuning.asks)
        + if_so(dates, tuning.dates)
        + if_so(rules, tuning.instructs)
}

/// The positions of scores, the best first; equal ones keep their order.
pub fn order(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let score = |at: &usize| scores.get(*at).copied().unwrap_or(f64::NEG_INFINITY);
    order.sort_by(|a, b| score(b).total_cmp(&score(a)));
    order
}

#[cfg(test)]
mod tests;
