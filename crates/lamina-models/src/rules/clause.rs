//! Sentences and clauses: where one assertion ends and the next begins, who it is about, and whether
//! it is one at all.
//!
//! A clause is cut where a connector is followed by a new finite verb; without one, what follows is
//! more of the same object ("tea and jazz"). Questions, conditions, hearsay and requests are found
//! here, once, so that no rule needs to think of them.

mod mood;
mod phrases;
mod split;

use super::token::{Kind, Tokens};
use super::verb::Group;

/// One clause.
#[derive(Debug, Clone)]
pub(crate) struct Clause {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Which sentence it is part of.
    pub(crate) sentence: usize,
    pub(crate) subject: Subject,
    pub(crate) verb: Option<Group>,
    /// Whether it asserts anything.
    pub(crate) asserted: bool,
    /// It only places or describes another: what goes on behind it is about the subject before it.
    pub(crate) aside: bool,
    /// Whether it says that what was said before was never so.
    pub(crate) corrects: bool,
    /// The instruction that it is: its tokens.
    pub(crate) instruction: Option<(usize, usize)>,
}

/// Where the subject of a clause is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// In these tokens.
    Said(usize, usize),
    /// That of the clause before.
    Inherited,
    /// The last thing named before ("who", "which").
    Relative,
    /// Left out: the speaker.
    Elided,
    /// A fragment without a verb.
    None,
}

impl Clause {
    /// Where the complement begins.
    pub(crate) fn complement(&self) -> usize {
        self.verb.as_ref().map_or(self.start, |verb| verb.end)
    }
}

/// A sentence: its tokens and how it ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sentence {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) asks: bool,
}

/// The first words of the phrases that are looked for anywhere: only there is a phrase compared.
pub(crate) fn marks() -> impl Iterator<Item = &'static str> {
    phrases::ALL.iter().flat_map(|list| list.iter().filter_map(|words| words.first().copied()))
}

/// All clauses of a text, in order.
pub(crate) fn clauses(tokens: &Tokens<'_>) -> Vec<Clause> {
    if mood::is_in_jest(tokens) {
        return Vec::new();
    }
    let mut all = Vec::new();
    let (mut corrects, mut material) = (false, false);
    for (index, sentence) in sentences(tokens).into_iter().enumerate() {
        corrects |= mood::corrects(tokens, sentence);
        let mut clauses = split::split(tokens, sentence, index);
        if material {
            clauses.iter_mut().for_each(|clause| clause.asserted = false);
        } else {
            mood::judge(tokens, sentence, &mut clauses);
        }
        material |= mood::hands_over(tokens, sentence);
        for clause in &mut clauses {
            clause.corrects = corrects;
        }
        all.extend(clauses);
    }
    all
}

/// Words before a full stop that do not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "dr", "mr", "mrs", "ms", "prof", "st", "vs", "etc", "e.g", "i.e", "approx", "no", "inc", "ltd",
    "co", "jr", "sr", "corp", "llc", "plc",
];

pub(crate) fn sentences(tokens: &Tokens<'_>) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut start = 0;
    for at in 0..tokens.len() {
        let token = tokens.at(at);
        let stop = match token.kind {
            Kind::Newline => true,
            Kind::Punct => match token.fold.as_str() {
                "!" | "?" | "\u{2026}" | "\u{3002}" => true,
                "." => !is_abbreviation(tokens, at),
                ":" => is_emoticon(tokens, at),
                _ => {
                    !token.fold.is_ascii()
                        && !token.word(&[
                            "\u{2013}", "\u{2014}", "€", "£", "¥", "₹", "\u{2019}", "\u{201d}",
                        ])
                }
            },
            _ => false,
        };
        if stop {
            if at > start {
                found.push(Sentence { start, end: at, asks: asks(tokens, at) });
            }
            start = at + 1;
        }
    }
    if tokens.len() > start {
        found.push(Sentence { start, end: tokens.len(), asks: false });
    }
    found
}

/// "what?!", "really??": a question mark anywhere in the marks that end the sentence.
fn asks(tokens: &Tokens<'_>, at: usize) -> bool {
    (at..tokens.len())
        .take_while(|at| tokens.at(*at).kind == Kind::Punct)
        .any(|at| tokens.at(at).punct('?'))
}

fn is_abbreviation(tokens: &Tokens<'_>, at: usize) -> bool {
    let before = tokens.before(at);
    let next = tokens.at(at + 1);
    let initial = before.capital && before.fold.chars().count() == 1 && before.fold != "i";
    let known = ABBREVIATIONS.contains(&before.fold.as_str())
        && (before.fold != "no" || next.kind == Kind::Number);
    tokens.at(at).glued && next.kind != Kind::Newline && (initial || known) && at + 1 < tokens.len()
}

/// `:)` and its kin end a sentence like a full stop.
fn is_emoticon(tokens: &Tokens<'_>, at: usize) -> bool {
    let next = tokens.at(at + 1);
    next.glued
        && next.word(&[")", "(", "d", "p", "/", "-", "|", "'"])
        && !(next.fold == "/" && tokens.at(at + 2).fold == "/")
}

#[cfg(test)]
mod tests;
