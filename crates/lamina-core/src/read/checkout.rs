//! A checkout: the bounded, dated and cited state of memory that an agent reads before a turn.
//!
//! The engine gathers what a question finds ([`Gathered`]); [`assemble`] fits it into a number of tokens and judges
//! whether it answers; [`render`] writes it as one text. All of it is a function of values. The content of an item is
//! one line with harmless marks ([`line`]), so the text and the structure of an answer carry the same words.

mod assemble;
pub mod date;
mod prompt;
pub mod statement;
pub mod typed;
mod verdict;
pub mod work;

use lamina_types::Micros;

use crate::read::abstain::WhyNot;
use crate::read::prompt::quote_inline;
use crate::write::injected::disarm;

pub use assemble::{TOKENS_DEFAULT, TOKENS_MAX, TOKENS_MIN, assemble};
pub use prompt::{NOTICE, TAG, conflict_line, render};
pub use verdict::{Action, Answerability, Quality};
pub use work::{WorkCategory, WorkItem};

/// Characters of one item; a longer one is cut.
pub const ITEM_CHARS_MAX: usize = 280;

/// Where a current fact comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// A fact that was derived from events.
    Graph,
    /// A typed event as a sentence.
    Typed,
    /// The words of an event.
    Verbatim,
}

impl Lane {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Lane::Graph => "graph",
            Lane::Typed => "typed_event",
            Lane::Verbatim => "verbatim",
        }
    }
}

/// Whom or what a fact is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AboutEntity {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: String,
}

/// A fact that is so at the instant of the checkout.
#[derive(Debug, Clone, PartialEq)]
pub struct CurrentFact {
    /// The sentence.
    pub content: String,
    /// Since when, or when it was said.
    pub at: Micros,
    /// The event that says it; `None` if its words are gone.
    pub citation: Option<String>,
    /// Where it comes from.
    pub lane: Lane,
    /// The kind of a typed event.
    pub event_type: Option<String>,
    /// Whom it is about, if that is known.
    pub entity: Option<AboutEntity>,
    /// How well it fits, 0 to 1.
    pub score: f64,
}

/// The words that a fact stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceLine {
    /// The event.
    pub citation: String,
    /// When it happened.
    pub at: Micros,
    /// Who said it.
    pub author: String,
    /// The words.
    pub quote: String,
}

/// An instruction or a preference that applies to every question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingLine {
    /// The words.
    pub text: String,
    /// When it was said.
    pub at: Micros,
    /// Who said it.
    pub author: String,
    /// The event that says it.
    pub citation: Option<String>,
}

/// One of several things of which only one can be so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictSide {
    /// The sentence.
    pub content: String,
    /// The last event that says it.
    pub citation: Option<String>,
}

/// A conflict that nobody has decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenConflict {
    /// Since when it is known.
    pub at: Micros,
    /// The sides, two at least.
    pub sides: Vec<ConflictSide>,
}

/// What was found for a checkout, each list the best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathered {
    /// The scope that was asked.
    pub scope: String,
    /// The question.
    pub query: String,
    /// The instant whose knowledge it is.
    pub known_at: Micros,
    /// Facts that are so.
    pub facts: Vec<CurrentFact>,
    /// The words that facts stand on.
    pub evidence: Vec<EvidenceLine>,
    /// What applies to every question.
    pub standing: Vec<StandingLine>,
    /// Open goals, tasks and blockers, and the latest decisions.
    pub work: Vec<WorkItem>,
    /// Conflicts among the facts.
    pub conflicts: Vec<OpenConflict>,
    /// The latest events.
    pub recent: Vec<EvidenceLine>,
    /// Statements that were found and are over.
    pub superseded: usize,
    /// Facts of which an erasure took evidence.
    pub redacted: usize,
    /// How sure it is that what was found has to do with the question.
    pub relevance: f64,
    /// Why nothing answers, if nothing does.
    pub why_not: Option<WhyNot>,
    /// A part of memory could not be read.
    pub is_partial: bool,
}

/// How many items of each list did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Current facts.
    pub facts: usize,
    /// Evidence of facts that are shown.
    pub evidence: usize,
    /// Standing instructions.
    pub standing: usize,
    /// Items of the working set.
    pub work: usize,
    /// Warnings of conflicts.
    pub conflicts: usize,
    /// Recent events.
    pub recent: usize,
}

impl LeftOut {
    /// The lists with something left out, as a reader names them.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let LeftOut { facts, evidence, standing, work, conflicts, recent } = *self;
        let all = [
            ("current_facts", facts),
            ("evidence", evidence),
            ("standing", standing),
            ("working_set", work),
            ("conflicts", conflicts),
            ("recent", recent),
        ];
        all.into_iter().filter(|(_, count)| *count > 0)
    }
}

/// A checkout that fits its tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkout {
    /// What is shown: every list is a beginning of what was gathered, evidence only of facts that are shown.
    pub shown: Gathered,
    /// What did not fit.
    pub left_out: LeftOut,
    /// Warnings as sentences, conflicts first.
    pub warnings: Vec<String>,
    /// Whether it answers.
    pub quality: Quality,
}

impl Checkout {
    /// Current facts that have a citation.
    pub fn cited_facts(&self) -> usize {
        self.shown.facts.iter().filter(|fact| fact.citation.is_some()).count()
    }

    /// Every citation that is shown, once.
    pub fn citations(&self) -> Vec<&str> {
        let shown = &self.shown;
        let facts = shown.facts.iter().filter_map(|fact| fact.citation.as_deref());
        let standing = shown.standing.iter().filter_map(|one| one.citation.as_deref());
        let sides = shown.conflicts.iter().flat_map(|conflict| &conflict.sides);
        let sides = sides.filter_map(|side| side.citation.as_deref());
        let work = shown.work.iter().map(|item| item.citation.as_str());
        let lines = shown.evidence.iter().chain(&shown.recent).map(|line| line.citation.as_str());
        let mut all: Vec<&str> = Vec::new();
        for citation in facts.chain(standing).chain(sides).chain(work).chain(lines) {
            if !all.contains(&citation) {
                all.push(citation);
            }
        }
        all
    }
}

/// Stored text as the content of an item: one line, cut after so many characters, that closes neither its quotation
/// marks nor the block around it.
pub fn line(text: &str, chars_max: usize) -> String {
    let quoted = quote_inline(&disarm(text));
    let mut words = String::with_capacity(quoted.len());
    for word in quoted.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    // Runs of space can have hidden a tag.
    let words = disarm(&words).into_owned();
    match words.char_indices().nth(chars_max) {
        None => words,
        Some((end, _)) => {
            let cut = words.get(..end).unwrap_or_default();
            let at = cut.rfind(' ').filter(|at| *at > end / 2).unwrap_or(end);
            format!("{}\u{2026}", cut.get(..at).unwrap_or(cut).trim_end())
        }
    }
}

#[cfg(test)]
mod tests;
