//! What fits: the best of what was ranked, within a number of tokens and so many of each layer.

use lamina_types::recall::{Layer, PackSelection};

/// What how good something is weighs against how little it repeats, where not everything fits.
pub const LAMBDA: f64 = 0.7;
/// What is so much like something that was taken says nothing more.
const SAME: f64 = 0.95;

/// How much a pack may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Tokens of all its records together.
    pub tokens: Option<u64>,
    /// Records of each layer, in the order of [`Layer::ALL`].
    pub records: [usize; 5],
}

impl Budget {
    /// How many records of a layer.
    pub fn of(&self, layer: Layer) -> usize {
        self.records.get(layer as usize).copied().unwrap_or(0)
    }
}

/// Something that wants into a pack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Its layer.
    pub layer: Layer,
    /// What it takes.
    pub tokens: u64,
    /// How good it is; candidates of all layers compare by it.
    pub score: f64,
}

/// Which of the ranked records a pack keeps: those that are good enough beside the best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TailCut {
    /// The share of the best score that a record has to have.
    pub share: f64,
    /// Events that are kept whatever their score.
    pub events_least: usize,
}

impl TailCut {
    /// The cut of a selection; nothing if every record stays.
    pub fn of(selection: PackSelection) -> Option<TailCut> {
        match selection {
            PackSelection::Precision => Some(TailCut { share: 0.6, events_least: 1 }),
            PackSelection::Balanced => Some(TailCut { share: 0.35, events_least: 2 }),
            PackSelection::Recall => None,
        }
    }

    /// Whether a record stays: one of these in its layer, with such a share of the best score.
    pub fn keeps(&self, layer: Layer, place: usize, share: f64) -> bool {
        share >= self.share || (layer == Layer::Events && place < self.events_least)
    }
}

/// What was packed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packed {
    /// The positions of those that are in, in the order they came.
    pub taken: Vec<usize>,
    /// How many had a place by their layer's limit and did not fit the tokens.
    pub evicted: usize,
    /// Tokens of those that are in.
    pub tokens: u64,
}

/// Packs candidates that come in the order of their rank, layer by layer or mixed. Within a layer the
/// limit is taken from the top. If the tokens do not suffice for all of these, they go to the best
/// first, whatever its layer; one that is too large makes room for smaller ones after it, and one that says what
/// another has said already (`alike`, 0 to 1) counts for less, or for nothing.
pub fn pack(
    candidates: &[Candidate],
    budget: &Budget,
    alike: &dyn Fn(usize, usize) -> f64,
) -> Packed {
    let mut places = budget.records;
    let mut standing = Vec::new();
    for (at, candidate) in candidates.iter().enumerate() {
        if let Some(left) = places.get_mut(candidate.layer as usize)
            && *left > 0
        {
            *left -= 1;
            standing.push(at);
        }
    }
    let tokens = standing.iter().filter_map(|at| candidates.get(*at)).map(|c| c.tokens).sum();
    if budget.tokens.is_none_or(|limit| tokens <= limit) {
        return Packed { taken: standing, evicted: 0, tokens };
    }
    fill(candidates, &standing, budget.tokens.unwrap_or(u64::MAX), alike)
}

/// Takes one after the other what is best and least like what was taken.
fn fill(
    candidates: &[Candidate],
    standing: &[usize],
    limit: u64,
    alike: &dyn Fn(usize, usize) -> f64,
) -> Packed {
    let best = standing.iter().filter_map(|at| candidates.get(*at)).map(|c| c.score);
    let best = best.fold(0.0, f64::max);
    // What is left, with how much it is like the one that it is most like of those that were taken.
    let mut left: Vec<(usize, Candidate, f64)> =
        standing.iter().filter_map(|at| Some((*at, *candidates.get(*at)?, 0.0))).collect();
    let (mut packed, mut tokens) = (Vec::new(), 0_u64);
    let worth = |(_, candidate, like): &(usize, Candidate, f64)| {
        let score = if best > 0.0 { candidate.score / best } else { 0.0 };
        LAMBDA * score - (1.0 - LAMBDA) * like
    };
    loop {
        left.retain(|(_, candidate, like)| {
            tokens.saturating_add(candidate.tokens) <= limit && *like < SAME
        });
        let next = (0..left.len()).reduce(|one, other| {
            let worth = |at: usize| left.get(at).map_or(f64::NEG_INFINITY, &worth);
            // Of equals the first.
            if worth(other) > worth(one) { other } else { one }
        });
        let Some(next) = next else { break };
        let (taken, candidate, _) = left.remove(next);
        tokens += candidate.tokens;
        packed.push(taken);
        for (at, _, like) in &mut left {
            *like = like.max(alike(*at, taken));
        }
    }
    packed.sort_unstable();
    Packed { evicted: standing.len() - packed.len(), taken: packed, tokens }
}

#[cfg(test)]
mod tests;
