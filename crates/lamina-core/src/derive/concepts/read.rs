//! A concept as it is shown: how sure, how stale, how much of it is covered, and in words.

use std::fmt::Write as _;

use lamina_types::layer::Confidence;

use super::cluster::{Closeness, Supports, supports};
use super::graph::{Concept, Graph, Item, Standing};
use super::settle::{staleness, support_loss};
use super::{SUPPORT_LOSS_MAX, SUPPORTS_MIN};

/// Characters of a name.
pub const NAME_CHARS_MAX: usize = 80;
/// Things that a name lists.
const NAMED_MAX: usize = 3;
/// Sentences that a description quotes.
const QUOTED_MAX: usize = 3;

/// What can be said of a concept at the moment. All shares in ten-thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Cohesion times how far its supports exceed the least that is needed.
    pub confidence: Confidence,
    /// New supports that this version does not know of.
    pub staleness: Confidence,
    /// Supports lost since this version was made.
    pub support_loss: Confidence,
    /// The share of what is known about its things that this version stands on.
    pub coverage: Confidence,
    /// What it stands on now.
    pub supports: Supports,
    /// Whether default reads leave it out.
    pub hidden: bool,
}

/// Reads a concept.
pub fn read(graph: &dyn Graph, concept: &Concept) -> Reading {
    let now = supports(graph, concept.leader, &concept.members);
    let stale = staleness(concept, now);
    let loss = support_loss(concept);
    Reading {
        confidence: confidence(graph, concept, now),
        staleness: share(stale),
        support_loss: share(loss),
        coverage: share(10_000 - stale.min(10_000)),
        supports: now,
        hidden: concept.standing != Standing::Held || loss > SUPPORT_LOSS_MAX,
    }
}

/// The mean closeness of its things to its leader, times n / (n + 3) for n supports. A concept that
/// labels name has n / (n + 1).
fn confidence(graph: &dyn Graph, concept: &Concept, now: Supports) -> Confidence {
    let others: Vec<Item> =
        concept.members.iter().copied().filter(|item| *item != concept.leader).collect();
    if concept.leader.is_label() {
        // Somebody said that it is one: how sure that is depends on how often alone.
        let supports = u64::from(now.total());
        let sure = 10_000 * supports / (supports + 1);
        return share(u32::try_from(sure).unwrap_or(10_000));
    }
    let sum: u64 = others
        .iter()
        .map(|item| {
            let both = graph.together(concept.leader, *item);
            u64::from(Closeness::of(graph, concept.leader, *item, both).share())
        })
        .sum();
    let cohesion = sum / (others.len() as u64).max(1);
    let supports = u64::from(now.total());
    let sure = cohesion * supports / (supports + u64::from(SUPPORTS_MIN));
    share(u32::try_from(sure).unwrap_or(10_000))
}

fn share(ten_thousandths: u32) -> Confidence {
    Confidence::new(u16::try_from(ten_thousandths).unwrap_or(10_000))
}

/// The name of a concept: its leader and the things closest to it. `order` says in how many episodes a thing
/// occurs with the leader, and which of the things of the scope it was; `named` gives its name, if it still has one.
pub fn name(
    concept: &Concept,
    order: &dyn Fn(Item) -> (u32, u64),
    named: &dyn Fn(Item) -> Option<String>,
) -> Option<String> {
    let mut members = concept.members.clone();
    members.sort_by_key(|item| {
        let (both, first) = order(*item);
        (*item != concept.leader, std::cmp::Reverse(both), first, *item)
    });
    let names: Vec<String> = members.into_iter().filter_map(named).take(NAMED_MAX).collect();
    let text = listed(&names);
    (!text.is_empty()).then(|| text.chars().take(NAME_CHARS_MAX).collect())
}

/// Names as they are listed in a sentence: "Acme, renewal and seats".
fn listed(names: &[String]) -> String {
    match names {
        [one @ .., last] if !one.is_empty() => format!("{} and {last}", one.join(", ")),
        _ => names.concat(),
    }
}

/// How a concept came to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gathering {
    /// Its things occur together.
    Found,
    /// Labels name it.
    Named,
}

/// A concept that is to be described.
#[derive(Debug, Clone, Copy)]
pub struct Described {
    /// How it came to be one.
    pub gathering: Gathering,
    /// What it stands on.
    pub supports: Supports,
}

impl Described {
    /// A concept with its supports.
    pub fn of(concept: &Concept, supports: Supports) -> Described {
        let gathering = if concept.leader.is_label() { Gathering::Named } else { Gathering::Found };
        Described { gathering, supports }
    }
}

/// A description without a model: what keeps together, and what was said about it, quoted.
pub fn describe(name: &str, found: Described, said: &[String]) -> String {
    let Described { gathering, supports: now } = found;
    let together = match gathering {
        Gathering::Found => "together in",
        Gathering::Named => "named in",
    };
    let mut text = format!("{name}: {together} {}", counted(now.episodes, "episode"));
    if now.facts > 0 {
        let _ = write!(text, ", with {}", counted(now.facts, "fact"));
    }
    text.push('.');
    for sentence in said.iter().take(QUOTED_MAX) {
        let sentence = sentence.trim();
        let mark = if sentence.ends_with(['.', '!', '?', '…']) { "" } else { "." };
        let _ = write!(text, " {sentence}{mark}");
    }
    text
}

fn counted(count: u32, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests;
