//! Building the beliefs of a scope on demand, and saying why a group of facts did not become one.

use std::collections::BTreeMap;

use lamina_types::RecordedAt;

use super::BeliefKey;
use super::evidence::{Evidence, Polarity};
use super::revise::{Deletion, Reason, Revision, Settings, Standing, State, replay};

/// Groups that one build looks at.
pub const GROUPS_MAX: usize = 100_000;

/// All evidence about one claim, in the order it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The claim; none if a subject or predicate is missing.
    pub key: Option<BeliefKey>,
    /// Facts it was made of.
    pub facts_count: u32,
    /// The evidence.
    pub evidence: Vec<Evidence>,
}

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
    /// This build looked at as many groups as one may.
    TooManyGroups,
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
            Rejection::TooManyGroups => "too_many_groups",
        }
    }
}

/// One belief that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The claim.
    pub key: BeliefKey,
    /// What it is.
    pub state: State,
    /// How it came to be so.
    pub history: Vec<Revision>,
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

/// The beliefs that the groups of a scope make at `at`, and why the others make none.
pub fn build(
    settings: &Settings,
    groups: impl IntoIterator<Item = Group>,
    at: RecordedAt,
) -> (Vec<Built>, Report) {
    let mut report = Report::default();
    let mut built = Vec::new();
    for (index, group) in groups.into_iter().enumerate() {
        report.groups_considered += 1;
        report.facts_scanned = report.facts_scanned.saturating_add(group.facts_count);
        let pieces = u32::try_from(group.evidence.len()).unwrap_or(u32::MAX);
        report.belief_events_found = report.belief_events_found.saturating_add(pieces);
        let verdict = if index < GROUPS_MAX {
            judge(settings, group, at)
        } else {
            Err(Rejection::TooManyGroups)
        };
        match verdict {
            Ok(belief) => built.push(belief),
            Err(why) => {
                report.groups_rejected += 1;
                *report.reasons.entry(why).or_insert(0) += 1;
            }
        }
    }
    if report.facts_scanned == 0 {
        report.reasons.insert(Rejection::NoFactsInScope, 1);
    }
    (built, report)
}

fn judge(settings: &Settings, group: Group, at: RecordedAt) -> Result<Built, Rejection> {
    let key = group.key.ok_or(Rejection::NoSubjectOrPredicate)?;
    let (state, history) =
        replay(settings, &group.evidence, at).ok_or(Rejection::NoBeliefShapedEvents)?;
    if !group.evidence.iter().any(|piece| piece.polarity == Polarity::Supports) {
        return Err(Rejection::TooLittleSupport);
    }
    match state.standing {
        Standing::Deleted { why: Deletion::Expired, .. } => Err(Rejection::Expired),
        Standing::Deleted { .. } => Err(Rejection::BelowFloor),
        Standing::Held | Standing::Deprecated { .. } => {
            assert!(matches!(history.first(), Some(step) if step.reason == Reason::Created));
            Ok(Built { key, state, history })
        }
    }
}

#[cfg(test)]
mod tests;
