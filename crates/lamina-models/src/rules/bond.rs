//! How the things of a sentence hang together: "reports need billing data", "Plan Blue contradicts
//! Plan Red". Weaker than a claim, because nothing is dated and nobody is asked; it types the edges
//! between concepts and is no fact.

use lamina_types::layer::extraction::{Bond, Mention};

use super::BONDS_MAX;
use super::lexicon::Class;
use super::token::{Kind, Tokens};

/// Tokens between a thing and the word that connects it.
const REACH_MAX: usize = 5;

/// Which of the two things is the subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The one before the word.
    Forth,
    /// The one behind it.
    Back,
}

/// Words that connect: as they are said, or by the base form of their verb; what has to follow.
const CONNECTING: &[(&str, &str, &str, Way)] = &[
    ("use", "", "depends_on", Way::Forth),
    ("need", "", "depends_on", Way::Forth),
    ("require", "", "depends_on", Way::Forth),
    ("depend", "on", "depends_on", Way::Forth),
    ("rely", "on", "depends_on", Way::Forth),
    ("block", "by", "depends_on", Way::Forth),
    ("run", "", "depends_on", Way::Back),
    ("own", "", "depends_on", Way::Back),
    ("maintain", "", "depends_on", Way::Back),
    ("cause", "", "causes", Way::Forth),
    ("trigger", "", "causes", Way::Forth),
    ("fill", "", "causes", Way::Forth),
    ("break", "", "causes", Way::Forth),
    ("lead", "to", "causes", Way::Forth),
    ("because", "", "causes", Way::Back),
    ("contradict", "", "contradicts", Way::Forth),
    ("exclude", "", "contradicts", Way::Forth),
    ("replace", "", "contradicts", Way::Forth),
    ("conflict", "with", "contradicts", Way::Forth),
    ("part", "of", "part_of", Way::Forth),
    ("belong", "to", "part_of", Way::Forth),
    ("kind", "of", "is_a", Way::Forth),
    ("type", "of", "is_a", Way::Forth),
];

/// The bonds between names and nouns, in the order in which they are said.
pub(crate) fn bonds(tokens: &Tokens<'_>, names: &[Mention], nouns: &[Mention]) -> Vec<Bond> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let Some((relation, way, (start, end))) = connects(tokens, at) else { continue };
        if found.len() >= BONDS_MAX || !is_asserted(tokens, at) {
            continue;
        }
        let (Some(before), Some(after)) =
            (thing_before(tokens, start, names, nouns), thing_after(tokens, end, names, nouns))
        else {
            continue;
        };
        let (from, to) = match way {
            Way::Forth => (before, after),
            Way::Back => (after, before),
        };
        if from.name != to.name {
            let relation = relation.to_owned();
            found.push(Bond { from: from.span, relation, to: to.span });
        }
    }
    found
}

/// The relation that a word at this place says, and where its words stand.
fn connects(tokens: &Tokens<'_>, at: usize) -> Option<(&'static str, Way, (usize, usize))> {
    let token = tokens.at(at);
    if token.kind != Kind::Word || token.capital {
        return None;
    }
    let of = |word: &str| {
        token.fold == word
            || token.verb.is_some_and(|verb| verb.lemma == word)
            || is_form(&token.fold, word)
    };
    let next = tokens.at(at + 1);
    let row = CONNECTING.iter().find(|(word, follows, _, _)| {
        of(word)
            && if follows.is_empty() { !next.is(Class::PREPOSITION) } else { next.fold == *follows }
    });
    if let Some((_, follows, relation, way)) = row {
        return Some((*relation, *way, (at, at + 1 + usize::from(!follows.is_empty()))));
    }
    // "is a telescope of the observatory".
    let whole = token.fold == "of"
        && tokens.at(at + 1).is(Class::DETERMINER)
        && tokens.before(at.saturating_sub(1)).word(&["a", "an"])
        && tokens.before(at.saturating_sub(2)).is(Class::BE);
    whole.then(|| ("part_of", Way::Forth, (at.saturating_sub(3), at + 1)))
}

/// A regular form of a verb that no list knows.
fn is_form(fold: &str, word: &str) -> bool {
    fold.strip_prefix(word).is_some_and(|ending| matches!(ending, "s" | "es" | "ed" | "d"))
}

/// Not asked, not denied, and not imagined.
fn is_asserted(tokens: &Tokens<'_>, at: usize) -> bool {
    let ends = |index: usize| {
        let token = tokens.at(index);
        token.kind == Kind::Newline || token.punct('.') || token.punct('?') || token.punct('!')
    };
    let start = (0..at).rev().find(|index| ends(*index)).map_or(0, |index| index + 1);
    let end = (at..tokens.len()).find(|index| ends(*index)).unwrap_or(tokens.len());
    let doubt = Class::NEGATION.or(Class::IRREALIS);
    !tokens.at(end).punct('?')
        && (start..at)
            .all(|index| !tokens.at(index).is(doubt) && !tokens.at(index).word(&["if", "whether"]))
}

fn thing_before<'a>(
    tokens: &Tokens<'_>,
    at: usize,
    names: &'a [Mention],
    nouns: &'a [Mention],
) -> Option<&'a Mention> {
    let from = (at.saturating_sub(REACH_MAX)..at).rev();
    let said = from.take_while(|index| tokens.at(*index).kind != Kind::Punct);
    said.filter_map(|index| thing_at(tokens, index, names, nouns)).next()
}

fn thing_after<'a>(
    tokens: &Tokens<'_>,
    at: usize,
    names: &'a [Mention],
    nouns: &'a [Mention],
) -> Option<&'a Mention> {
    let said = (at..at + REACH_MAX).take_while(|index| tokens.at(*index).kind != Kind::Punct);
    let mut said = said.take_while(|index| tokens.at(*index).kind != Kind::Newline);
    said.find_map(|index| thing_at(tokens, index, names, nouns))
}

fn thing_at<'a>(
    tokens: &Tokens<'_>,
    at: usize,
    names: &'a [Mention],
    nouns: &'a [Mention],
) -> Option<&'a Mention> {
    let span = tokens.span(at, at + 1);
    let here = |thing: &&Mention| thing.span.start <= span.start && span.end <= thing.span.end;
    nouns.iter().find(here).or_else(|| names.iter().find(here))
}

#[cfg(test)]
mod tests;
