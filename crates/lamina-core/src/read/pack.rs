//! What fits: the best of what was ranked, within a number of tokens and so many of each layer.

use lamina_types::recall::Layer;

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
/// first, whatever its layer; one that is too large makes room for smaller ones after it.
pub fn pack(candidates: &[Candidate], budget: &Budget) -> Packed {
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
    let Some(limit) = budget.tokens else {
        let tokens = standing.iter().filter_map(|at| candidates.get(*at)).map(|c| c.tokens).sum();
        return Packed { taken: standing, evicted: 0, tokens };
    };
    let score = |at: &usize| candidates.get(*at).map_or(f64::NEG_INFINITY, |c| c.score);
    let mut by_score = standing.clone();
    by_score.sort_by(|a, b| score(b).total_cmp(&score(a)));
    let (mut packed, mut tokens) = (Vec::new(), 0_u64);
    for at in by_score {
        let takes = candidates.get(at).map_or(u64::MAX, |candidate| candidate.tokens);
        if tokens.saturating_add(takes) <= limit {
            tokens += takes;
            packed.push(at);
        }
    }
    packed.sort_unstable();
    Packed { evicted: standing.len() - packed.len(), taken: packed, tokens }
}

#[cfg(test)]
mod tests;
