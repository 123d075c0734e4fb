//! The order of what was found: the newer above what it replaced, repetitions behind what they repeat,
//! variety where a question asks for several things.

use std::collections::BTreeSet;

/// The positions of scores, the best first; equal ones keep their order.
pub fn order(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let score = |at: &usize| scores.get(*at).copied().unwrap_or(f64::NEG_INFINITY);
    order.sort_by(|a, b| score(b).total_cmp(&score(a)));
    order
}

/// Something and what came in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replaced {
    /// What was replaced.
    pub older: usize,
    /// What came in its place.
    pub newer: usize,
}

/// Moves everything that replaced something directly above it, where it is not above it already. A
/// chain of replacements ends in the order of the chain. Pairs that contradict each other (a cycle)
/// leave the order of those involved as it is.
pub fn newer_first(order: &mut Vec<usize>, pairs: &[Replaced]) {
    // Each round can carry one link of a chain further up.
    for _ in 0..=pairs.len() {
        let mut moved = false;
        for pair in pairs {
            let older = order.iter().position(|at| *at == pair.older);
            let newer = order.iter().position(|at| *at == pair.newer);
            if let (Some(older), Some(newer)) = (older, newer)
                && older < newer
            {
                let carried = order.remove(newer);
                order.insert(older, carried);
                moved = true;
            }
        }
        if !moved {
            return;
        }
    }
}

/// Takes up to `take` of the ordered, each time the one that is best in itself and least like what was
/// taken (maximal marginal relevance). `lambda` is the weight of being good, 1 is the order as it is.
/// `alike` says how alike two are, 0 to 1; being less alike than `free` costs nothing.
pub fn vary(
    order: &[usize],
    scores: &[f64],
    lambda: f64,
    free: f64,
    take: usize,
    alike: impl Fn(usize, usize) -> f64,
) -> Vec<usize> {
    let best = order.first().and_then(|first| scores.get(*first)).copied().unwrap_or(0.0);
    let share = |at: usize| {
        let score = scores.get(at).copied().unwrap_or(0.0);
        if best > 0.0 { score / best } else { 0.0 }
    };
    let mut left: Vec<(usize, f64)> = order.iter().map(|at| (*at, 0.0)).collect();
    let mut taken = Vec::new();
    while taken.len() < take && !left.is_empty() {
        let marginal = |(at, likest): &(usize, f64)| lambda * share(*at) - (1.0 - lambda) * likest;
        let mut chosen = 0;
        for (index, candidate) in left.iter().enumerate() {
            let current = left.get(chosen).map_or(f64::NEG_INFINITY, marginal);
            if marginal(candidate) > current {
                chosen = index;
            }
        }
        let (at, _) = left.remove(chosen);
        for (other, likest) in &mut left {
            let alike = alike(at, *other);
            if alike > free {
                *likest = likest.max(alike);
            }
        }
        taken.push(at);
    }
    taken
}

/// Leaves out what stands on nothing but what is shown already: a fact whose every event is above it in
/// the pack says nothing new to whoever reads both. Of equal texts only the first stays.
pub fn distinct<K: Ord + Clone>(keys: &[K]) -> Vec<bool> {
    let mut seen = BTreeSet::new();
    keys.iter().map(|key| seen.insert(key.clone())).collect()
}

#[cfg(test)]
mod tests;
