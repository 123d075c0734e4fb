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

/// The conversation of candidates that are in none.
const NO_THREAD: u64 = u64::MAX;

/// Where a candidate stands in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConversationPlace {
    /// The number of its conversation, if it is part of one.
    pub thread: Option<u64>,
    /// Its place there, if that is known.
    pub position: Option<u64>,
}

/// What each candidate gets from around it, given how well each fits by itself.
pub fn spread_around(places: &[ConversationPlace], own: &[f64], spread: &Spread) -> Vec<f64> {
    let turn = |(at, (place, own)): (usize, (&ConversationPlace, &f64))| Turn {
        thread: place.thread.unwrap_or(NO_THREAD - at as u64),
        // Far from others, so that a candidate without a place is nobody's neighbour.
        position: place.position.unwrap_or(u64::MAX / 2 + 4 * at as u64),
        own: *own,
    };
    let turns: Vec<Turn> = places.iter().zip(own).enumerate().map(turn).collect();
    around(&turns, spread)
}

/// What each turn gets from around it, to be added to its own.
pub fn around(turns: &[Turn], spread: &Spread) -> Vec<f64> {
    let own = |at: usize| turns.get(at).map_or(0.0, |turn| turn.own);
    let numbered = turns.iter().enumerate();
    let mut places: Vec<(u64, u64, usize)> =
        numbered.map(|(at, turn)| (turn.thread, turn.position, at)).collect();
    places.sort_unstable();
    let threads = threads(&places, &own, spread.thread_best);
    let mut gained = vec![0.0; turns.len()];
    // Of two at one place the last counts.
    let mut spots: Vec<(u64, f64)> = Vec::new();
    for (thread, fits) in places.chunk_by(|one, other| one.0 == other.0).zip(threads) {
        let same_place = |one: &(u64, u64, usize), other: &(u64, u64, usize)| one.1 == other.1;
        spots.clear();
        let last = thread.chunk_by(same_place).filter_map(<[_]>::last);
        spots.extend(last.map(|(_, position, at)| (*position, own(*at))));
        for (number, same) in thread.chunk_by(same_place).enumerate() {
            let near = |steps: u64| near(&spots, number, steps);
            let gain = spread.neighbour * near(1) + spread.second * near(2) + spread.thread * fits;
            for (.., at) in same {
                if let Some(gained) = gained.get_mut(*at) {
                    *gained = gain;
                }
            }
        }
    }
    gained
}

/// How well the turns fit that are so many steps before and after one, among those of its conversation, in order.
fn near(spots: &[(u64, f64)], number: usize, steps: u64) -> f64 {
    let Some((position, _)) = spots.get(number) else { return 0.0 };
    let at = |wanted: Option<u64>| {
        let beside = spots.iter().skip(number.saturating_sub(2)).take(5);
        beside.filter(|(place, _)| Some(*place) == wanted).map(|(_, own)| *own).next()
    };
    at(position.checked_sub(steps)).unwrap_or(0.0) + at(position.checked_add(steps)).unwrap_or(0.0)
}

/// How well each conversation fits, in their order: the sum of its best turns, the best conversation 1.
fn threads(places: &[(u64, u64, usize)], own: &impl Fn(usize) -> f64, best: usize) -> Vec<f64> {
    let mut scores: Vec<f64> = Vec::new();
    let mut sums = Vec::new();
    for thread in places.chunk_by(|one, other| one.0 == other.0) {
        scores.clear();
        scores.extend(thread.iter().map(|(.., at)| own(*at)));
        scores.sort_unstable_by(|one, other| other.total_cmp(one));
        sums.push(scores.iter().take(best.max(1)).sum::<f64>());
    }
    let highest = sums.iter().copied().fold(0.0, f64::max);
    if highest > 0.0 {
        sums.iter_mut().for_each(|sum| *sum /= highest);
    }
    sums
}

#[cfg(test)]
mod tests;
