//! Saying what became of the facts of a scope: a belief, or why none.
//!
//! Beliefs follow evidence by themselves, so that building them is counting: facts about one claim are
//! a group, and every group either has a belief or a reason.

use std::collections::BTreeMap;

/// Why a group is no belief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejection {
    /// The scope has no facts.
    NoFactsInScope,
    /// The claim lacks a subject or a predicate.
    NoSubjectOrPredicate,
    /// Nothing in it can be weighed.
    NoBeliefShapedEvents,
    /// Nothing speaks for it.
    TooLittleSupport,
    /// It would be deleted at once.
    BelowFloor,
    /// Its evidence was told to live only so long.
    Expired,
}

impl Rejection {
    /// As the report says it.
    pub fn as_str(self) -> &'static str {
        match self {
            Rejection::NoFactsInScope => "no_facts_in_scope",
            Rejection::NoSubjectOrPredicate => "no_subject_or_predicate",
            Rejection::NoBeliefShapedEvents => "no_belief_shaped_events",
            Rejection::TooLittleSupport => "too_little_support",
            Rejection::BelowFloor => "below_floor",
            Rejection::Expired => "expired",
        }
    }
}

/// What a build did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Facts that were looked at.
    pub facts_scanned: u32,
    /// Pieces of evidence that were looked at.
    pub belief_events_found: u32,
    /// Groups that were looked at.
    pub groups_considered: u32,
    /// Groups that became no belief.
    pub groups_rejected: u32,
    /// How many for which reason.
    pub reasons: BTreeMap<Rejection, u32>,
}

impl Report {
    /// Counts a group of facts that made a belief, or did not.
    pub fn group(&mut self, facts: u32, pieces: u32, rejected: Option<Rejection>) {
        self.groups_considered = self.groups_considered.saturating_add(1);
        self.facts_scanned = self.facts_scanned.saturating_add(facts);
        self.belief_events_found = self.belief_events_found.saturating_add(pieces);
        if let Some(why) = rejected {
            self.groups_rejected = self.groups_rejected.saturating_add(1);
            *self.reasons.entry(why).or_insert(0) += 1;
        }
    }

    /// There was nothing to look at.
    pub fn nothing(&mut self) {
        self.reasons.insert(Rejection::NoFactsInScope, 1);
    }
}

#[cfg(test)]
mod tests;
