//! The order of what was found: the best first, and the newer above what it replaced.

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

#[cfg(test)]
mod tests;
