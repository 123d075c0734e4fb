//! Whether a checkout answers: from memory, after another look, or not without the user.

use super::Gathered;
use super::work::asks_for_work;
use crate::read::abstain::WhyNot;

/// What the reader may do with a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answerability {
    /// Current facts with current citations and no open conflict.
    AnswerFromMemory,
    /// Memory has more, or better, than this checkout shows.
    RefreshRecommended,
    /// Memory cannot tell.
    AskUser,
}

impl Answerability {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Answerability::AnswerFromMemory => "answer_from_memory",
            Answerability::RefreshRecommended => "refresh_recommended",
            Answerability::AskUser => "ask_user",
        }
    }
}

/// What has to happen before the checkout is relied on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Another checkout.
    Refresh {
        /// The question to ask.
        query: String,
        /// Why.
        reason: &'static str,
    },
    /// A question to the user.
    Ask {
        /// Why.
        reason: &'static str,
    },
}

/// The judgement of a checkout.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// What the reader may do.
    pub answerability: Answerability,
    /// How well the checkout is founded, 0 to 0.95.
    pub confidence: f64,
    /// Why, as sentences.
    pub reasons: Vec<&'static str>,
    /// What has to happen first, if something has to.
    pub required_action: Option<Action>,
    /// How far what was found is from answering, if nothing does.
    pub why_not: Option<WhyNot>,
}

const CITED: &str = "Current facts with citations were found.";
const WORK: &str = "The working set answers, with citations.";
const UNCITED: &str = "Current facts were found, but some have no citation.";
const CONFLICT: &str = "Sources disagree, and nobody has decided.";
const SUPERSEDED: &str = "Everything that was found has been superseded or has ended.";
const NOTHING: &str = "Nothing in memory answers this.";
const BELOW_FLOOR: &str = "What was found is below the relevance floor.";
const LEFT_OUT: &str = "Facts were found, but max_tokens leaves no room for them.";
const PARTIAL: &str = "A part of memory could not be read.";

const REFRESH: &str = "Check out again before relying on this.";
const ASK: &str = "Ask the user instead of guessing.";
const ASK_SIDE: &str = "Ask the user which side is right.";

/// Characters of the question that a recommended one repeats.
const QUERY_CHARS_MAX: usize = 160;

/// Judges what is shown. `found` is how many facts there were before the tokens were counted, `warnings` how many
/// warnings the checkout has.
pub(super) fn judge(shown: &Gathered, found: Found) -> Quality {
    let work = if asks_for_work(&shown.query) { shown.work.len() } else { 0 };
    let cited = shown.facts.iter().filter(|fact| fact.citation.is_some()).count();
    let (facts, citations) = (shown.facts.len() + work, cited + work);
    let confidence = confidence(shown, facts, citations, found.warnings);
    let is_irrelevant = shown.why_not.is_some() && work == 0;
    let mut reasons = Vec::new();
    let answerability = if found.conflicts > 0 && !is_irrelevant {
        reasons.push(CONFLICT);
        Answerability::AskUser
    } else if facts == 0 && found.facts > 0 {
        reasons.push(LEFT_OUT);
        Answerability::RefreshRecommended
    } else if facts == 0 || is_irrelevant {
        reasons.push(match (&shown.why_not, shown.superseded) {
            (Some(why), _) if why.candidates > 0 => BELOW_FLOOR,
            (None, 1..) => SUPERSEDED,
            _ => NOTHING,
        });
        if shown.is_partial { Answerability::RefreshRecommended } else { Answerability::AskUser }
    } else if citations < facts {
        reasons.push(UNCITED);
        Answerability::RefreshRecommended
    } else if shown.is_partial {
        Answerability::RefreshRecommended
    } else {
        reasons.push(if cited > 0 { CITED } else { WORK });
        Answerability::AnswerFromMemory
    };
    if shown.is_partial {
        reasons.push(PARTIAL);
    }
    Quality {
        answerability,
        confidence,
        required_action: action(shown, answerability, found.conflicts > 0),
        reasons,
        why_not: shown.why_not,
    }
}

/// What there was before the tokens were counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// Current facts.
    pub(super) facts: usize,
    /// Open conflicts.
    pub(super) conflicts: usize,
    /// Warnings, conflicts included.
    pub(super) warnings: usize,
}

/// The arithmetic of the Zaxy contract: a share for facts, one for citations, and less for every warning.
fn confidence(shown: &Gathered, facts: usize, citations: usize, warnings: usize) -> f64 {
    if facts == 0 {
        return 0.0;
    }
    let superseded = if shown.superseded > 0 { 0.07 } else { 0.0 };
    let founded = 0.25 + 0.22 * facts.min(2) as f64 + 0.28 * citations.min(2) as f64 + superseded;
    let warned = (0.18 * warnings as f64).min(0.35);
    ((founded.min(0.95) - warned).max(0.0) * 100.0).round() / 100.0
}

fn action(shown: &Gathered, answerability: Answerability, disputed: bool) -> Option<Action> {
    match answerability {
        Answerability::AnswerFromMemory => None,
        Answerability::RefreshRecommended => {
            let query: String = shown.query.chars().take(QUERY_CHARS_MAX).collect();
            let query = super::line(&query, QUERY_CHARS_MAX);
            let query = format!("current decisions, blockers, and next actions for: {query}");
            Some(Action::Refresh { query, reason: REFRESH })
        }
        Answerability::AskUser => {
            Some(Action::Ask { reason: if disputed { ASK_SIDE } else { ASK } })
        }
    }
}
