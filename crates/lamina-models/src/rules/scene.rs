//! One clause with everything around it that rules look at.

use lamina_types::layer::extraction::{Effect, Term};

use super::claims::Draft;
use super::clause::Clause;
use super::lexicon::Class;
use super::phrase::{Discourse, Parties};
use super::time::{Observed, Phrase, Tense};
use super::token::{Kind, Tokens};
use super::verb::Modal;

/// A clause under analysis.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) tokens: &'a Tokens<'a>,
    pub(crate) clause: &'a Clause,
    /// Times in the clause, in order.
    pub(crate) times: Vec<Phrase>,
    pub(crate) parties: Parties<'a>,
    pub(crate) discourse: &'a Discourse,
    pub(crate) observed: &'a Observed,
    pub(crate) recent: &'a Recent,
}

/// What the clauses before have claimed, for what points back at it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recent {
    /// The tokens of what was liked or disliked last, if it was one thing.
    pub(crate) liked: Option<(usize, usize)>,
    /// Who has left an employer.
    pub(crate) left: Vec<Term>,
    /// Somebody's pet or relative who was spoken of without a name: whose, and the token of the word.
    pub(crate) unnamed: Option<(Term, usize)>,
}

impl Recent {
    /// Remembers what a clause claims.
    pub(crate) fn note(&mut self, drafts: &[Draft]) {
        let mut tastes =
            drafts.iter().filter(|draft| matches!(draft.predicate.as_str(), "likes" | "dislikes"));
        match (tastes.next(), tastes.next()) {
            (Some(one), None) => self.liked = Some((one.start, one.end)),
            (Some(_), Some(_)) => self.liked = None,
            _ => {}
        }
        let left = drafts
            .iter()
            .filter(|draft| draft.predicate == "works_at" && draft.effect == Effect::Ends);
        self.left.extend(left.map(|draft| draft.subject.clone()));
    }
}

/// Whether a preposition may be taken out of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    Entered,
    Whole,
}

impl Scene<'_> {
    /// The token after the clause.
    pub(crate) fn end(&self) -> usize {
        self.clause.end
    }

    /// The time that begins at a token.
    pub(crate) fn time_at(&self, at: usize) -> Option<&Phrase> {
        self.times.iter().find(|time| time.start == at)
    }

    /// The first token from `at` on that belongs to a time, or the end of the clause.
    pub(crate) fn before_time(&self, at: usize) -> usize {
        let next = self.times.iter().map(|time| time.start).find(|start| *start >= at);
        next.unwrap_or(self.end()).min(self.end())
    }

    /// Skips times and adverbs.
    pub(crate) fn skip(&self, at: usize) -> usize {
        let mut at = at;
        while at < self.end() {
            if let Some(time) = self.time_at(at) {
                at = time.end;
            } else if self.tokens.at(at).is(Class::ADVERB)
                && !self.tokens.at(at).is(Class::DETERMINER)
                && self.tokens.at(at).fold != "long"
            {
                at += 1;
            } else {
                break;
            }
        }
        at
    }

    /// The token at which one of `words` stands, if only times and adverbs come before it. A word that
    /// opens a time ("from Monday") is taken for itself only by rows that take a time.
    pub(crate) fn skip_to(&self, at: usize, words: &[&str], times: Times) -> Option<usize> {
        let mut at = at;
        loop {
            if at >= self.end() {
                return None;
            }
            let open = times == Times::Entered || self.time_at(at).is_none();
            if open && self.tokens.at(at).word(words) && self.tokens.at(at).kind != Kind::Quote {
                return Some(at);
            }
            if let Some(time) = self.time_at(at) {
                at = time.end;
            } else if self.tokens.at(at).is(Class::ADVERB)
                && !self.tokens.at(at).is(Class::DETERMINER)
            {
                at += 1;
            } else {
                return None;
            }
        }
    }

    /// The tense of the clause, by which incomplete dates are completed.
    pub(crate) fn tense(&self) -> Tense {
        match &self.clause.verb {
            // "I've been dating Freja since June": the past up to now.
            Some(verb) if verb.perfect => Tense::Past,
            Some(verb)
                if verb.modal == Modal::None
                    && verb.progressive
                    && verb.tense == Tense::Present =>
            {
                Tense::Future
            }
            Some(verb) => verb.tense,
            None => Tense::Present,
        }
    }
}
