//! What stands beside a hit: the turns before and after it, and the conversation it is part of.
//!
//! People answer each other. The words of the question are often in one turn and the answer in the
//! next, and a conversation that speaks of the matter in several turns is more likely the right one
//! than a single turn elsewhere.

/// One turn among the candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    /// The conversation it is part of.
    pub thread: u64,
    /// Its place in it; neighbours differ by 1.
    pub position: u64,
    /// How well it fits by itself, 0 to 1.
    pub own: f64,
}

/// How much of a hit its surroundings get.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// What a turn gets of each of its neighbours.
    pub neighbour: f64,
    /// What it gets of those beside them.
    pub second: f64,
    /// What it gets of its conversation.
    pub thread: f64,
    /// How many of its turns a conversation is judged by.
    pub thread_best: usize,
}

/// What each turn gets from around it, to be added to its own.
pub fn around(turns: &[Turn], spread: &Spread) -> Vec<f64> {
    let mut at: Vec<((u64, u64), f64)> =
        turns.iter().map(|turn| ((turn.thread, turn.position), turn.own)).collect();
    at.sort_by_key(|(place, _)| *place);
    // Of two at one place the last counts.
    at.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 = later.1;
        }
        same
    });
    let own = |thread: u64, position: Option<u64>| {
        let place = position.map(|position| (thread, position));
        let found = place.and_then(|place| at.binary_search_by_key(&place, |(at, _)| *at).ok());
        found.and_then(|found| at.get(found)).map_or(0.0, |(_, own)| *own)
    };
    let near = |turn: &Turn, steps: u64| {
        own(turn.thread, turn.position.checked_sub(steps))
            + own(turn.thread, turn.position.checked_add(steps))
    };
    let threads = threads(turns, spread.thread_best);
    turns
        .iter()
        .map(|turn| {
            let thread = threads.binary_search_by_key(&turn.thread, |(thread, _)| *thread).ok();
            let thread = thread.and_then(|at| threads.get(at)).map_or(0.0, |(_, fits)| *fits);
            spread.neighbour * near(turn, 1)
                + spread.second * near(turn, 2)
                + spread.thread * thread
        })
        .collect()
}

/// How well each conversation fits, in their order: the sum of its best turns, the best conversation 1.
fn threads(turns: &[Turn], best: usize) -> Vec<(u64, f64)> {
    let mut scores: Vec<(u64, f64)> = turns.iter().map(|turn| (turn.thread, turn.own)).collect();
    scores
        .sort_unstable_by(|one, other| one.0.cmp(&other.0).then_with(|| other.1.total_cmp(&one.1)));
    let of_thread = |scores: &[(u64, f64)]| {
        let thread = scores.first().map_or(0, |(thread, _)| *thread);
        (thread, scores.iter().take(best.max(1)).map(|(_, score)| score).sum())
    };
    let mut sums: Vec<(u64, f64)> =
        scores.chunk_by(|one, other| one.0 == other.0).map(of_thread).collect();
    let highest = sums.iter().map(|(_, sum)| *sum).fold(0.0, f64::max);
    if highest > 0.0 {
        sums.iter_mut().for_each(|(_, sum)| *sum /= highest);
    }
    sums
}

#[cfg(test)]
mod tests;
