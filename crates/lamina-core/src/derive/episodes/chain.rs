//! What caused what within an episode, and how central the episode is.
//!
//! Three roles are told apart: what set it off, what was decided, what came of it. Events may say
//! what preceded them and what they are; where they do not, the first and the last stand in.

use std::collections::BTreeMap;

use lamina_types::layer::Confidence;
use lamina_types::{EventId, ValidAt};

/// Links of a causal chain that are shown.
pub const LINKS_MAX: usize = 64;

/// The part an event plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It set the episode off.
    Trigger,
    /// Something was decided.
    Decision,
    /// It is what came of it.
    Outcome,
}

impl Role {
    /// As records say it.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Trigger => "trigger",
            Role::Decision => "decision",
            Role::Outcome => "outcome",
        }
    }

    /// The role that a typed event names by its kind or intent: `decision.made`, `task.completed`.
    pub fn of_kind(kind: &str) -> Option<Role> {
        let kind = kind.trim().to_lowercase();
        let (noun, verb) = kind.split_once(['.', '_', ':']).unwrap_or((kind.as_str(), ""));
        match (noun, verb) {
            ("decision" | "decide" | "approval", _) => Some(Role::Decision),
            ("outcome" | "result" | "resolution", _) => Some(Role::Outcome),
            ("trigger" | "request" | "question" | "alert", _) => Some(Role::Trigger),
            (_, "created" | "opened" | "started" | "requested" | "reported") => Some(Role::Trigger),
            (_, "decided" | "approved" | "rejected" | "chosen") => Some(Role::Decision),
            (_, "completed" | "closed" | "resolved" | "finished" | "failed" | "done") => {
                Some(Role::Outcome)
            }
            _ => None,
        }
    }
}

/// One event of an episode, as far as causes go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The event.
    pub event: EventId,
    /// When it happened.
    pub observed: ValidAt,
    /// What it says preceded it; events of other episodes do not count.
    pub preceded_by: Vec<EventId>,
    /// The role it names.
    pub role: Option<Role>,
}

/// The causal chain of an episode, in the order things happened.
pub fn chain(steps: &[Step]) -> Vec<(EventId, Role)> {
    let mut ordered: Vec<&Step> = steps.iter().collect();
    ordered.sort_by_key(|step| (step.observed, step.event));
    let path = longest_path(&ordered);
    let ends = if path.len() > 1 {
        path.first().copied().zip(path.last().copied())
    } else {
        ordered.first().zip(ordered.last()).map(|(first, last)| (first.event, last.event))
    };
    let named = |role: Role| ordered.iter().any(|step| step.role == Some(role));
    let mut links = Vec::new();
    for step in &ordered {
        let stands_in = ends.and_then(|(first, last)| {
            if step.event == first && !named(Role::Trigger) {
                Some(Role::Trigger)
            } else if step.event == last && first != last && !named(Role::Outcome) {
                Some(Role::Outcome)
            } else {
                None
            }
        });
        if let Some(role) = step.role.or(stands_in) {
            links.push((step.event, role));
        }
    }
    // A chain that is too long keeps how it began and how it ended.
    if links.len() > LINKS_MAX {
        let tail = links.split_off(links.len() - LINKS_MAX / 2);
        links.truncate(LINKS_MAX / 2);
        links.extend(tail);
    }
    links
}

/// The longest line of events that name each other as preceding, ties by order. An event can only
/// follow one that happened before it, so there is no cycle.
fn longest_path(ordered: &[&Step]) -> Vec<EventId> {
    let mut best: BTreeMap<EventId, (usize, Option<EventId>)> = BTreeMap::new();
    let mut end: Option<(usize, EventId)> = None;
    for step in ordered {
        let before = step
            .preceded_by
            .iter()
            .filter_map(|event| best.get(event).map(|(length, _)| (*length, *event)))
            .max_by_key(|(length, event)| (*length, std::cmp::Reverse(*event)));
        let length = before.map_or(1, |(length, _)| length + 1);
        best.insert(step.event, (length, before.map(|(_, event)| event)));
        if end.is_none_or(|(longest, _)| length > longest) {
            end = Some((length, step.event));
        }
    }
    let mut path = Vec::new();
    let mut at = end.map(|(_, event)| event);
    while let Some(event) = at {
        path.push(event);
        at = best.get(&event).and_then(|(_, before)| *before);
    }
    path.reverse();
    path
}

/// How central an episode is among those of its scope: the mean share of the other episodes that
/// its entities also occur in. `occurrences` says for each entity in how many episodes it occurs,
/// this one included. Exact, in ten-thousandths, rounded down.
pub fn centrality(occurrences: &[u32], episodes_count: u32) -> Confidence {
    let others = u64::from(episodes_count.saturating_sub(1));
    let entities = occurrences.len() as u64;
    if others == 0 || entities == 0 {
        return Confidence::new(0);
    }
    let reached: u64 =
        occurrences.iter().map(|count| u64::from(count.saturating_sub(1)).min(others)).sum();
    let share = u128::from(reached) * 10_000 / (u128::from(entities) * u128::from(others));
    Confidence::new(u16::try_from(share).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests;
