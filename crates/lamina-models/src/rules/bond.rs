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

impl Way {
    fn turned(self) -> Way {
        match self {
            Way::Forth => Way::Back,
            Way::Back => Way::Forth,
        }
    }
}

/// What may stand between a preposition and its thing.
const OPENS: Class = Class::DETERMINER.or(Class::POSSESSIVE).or(Class::ADJECTIVE);

/// Words that connect: as they are said, or by the base form of their verb; what has to follow.
const CONNECTING: &[(&str, &str, &str, Way)] = &[
    ("use", "", "depends_on", Way::Forth),
    ("need", "", "depends_on", Way::Forth),
    ("require", "", "depends_on", Way::Forth),
    ("depend", "on", "depends_on", Way::Forth),
    ("rely", "on", "depends_on", Way::Forth),
    ("build", "on", "depends_on", Way::Forth),
    ("base", "on", "depends_on", Way::Forth),
    ("hinge", "on", "depends_on", Way::Forth),
    ("wait", "for", "depends_on", Way::Forth),
    ("power", "by", "depends_on", Way::Forth),
    ("block", "by", "depends_on", Way::Forth),
    ("run", "", "depends_on", Way::Back),
    ("own", "", "depends_on", Way::Back),
    ("maintain", "", "depends_on", Way::Back),
    ("cause", "", "causes", Way::Forth),
    ("trigger", "", "causes", Way::Forth),
    ("fill", "", "causes", Way::Forth),
    ("break", "", "causes", Way::Forth),
    ("delay", "", "causes", Way::Forth),
    ("affect", "", "causes", Way::Forth),
    ("lead", "to", "causes", Way::Forth),
    ("result", "in", "causes", Way::Forth),
    ("result", "from", "causes", Way::Back),
    ("stem", "from", "causes", Way::Back),
    ("due", "to", "causes", Way::Back),
    ("because", "of", "causes", Way::Back),
    ("because", "", "causes", Way::Back),
    ("contradict", "", "contradicts", Way::Forth),
    ("exclude", "", "contradicts", Way::Forth),
    ("replace", "", "contradicts", Way::Forth),
    ("conflict", "with", "contradicts", Way::Forth),
    ("disagree", "with", "contradicts", Way::Forth),
    ("part", "of", "part_of", Way::Forth),
    ("belong", "to", "part_of", Way::Forth),
    ("include", "", "part_of", Way::Back),
    ("contain", "", "part_of", Way::Back),
    ("consist", "of", "part_of", Way::Back),
    ("kind", "of", "is_a", Way::Forth),
    ("type", "of", "is_a", Way::Forth),
];

/// Verbs by which one thing lives on another: "gets its water from the well".
const TAKING: &[&str] = &["get", "take", "draw", "receive", "fetch"];

/// Things of one phrase that a word connects.
const THINGS_MAX: usize = 3;

/// The bonds between names and nouns, in the order in which they are said. What is said of a part or
/// of a compound ("the sourdough line", "the certificate of the gateway") is said of each of its things:
/// which of them people come back to is not known yet.
pub(crate) fn bonds(tokens: &Tokens<'_>, names: &[Mention], nouns: &[Mention]) -> Vec<Bond> {
    let things = Things { tokens, names, nouns };
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let Some((relation, way, (start, end))) = connects(tokens, at) else { continue };
        if !is_asserted(tokens, at) {
            continue;
        }
        let (before, after) = (things.before(start), things.after(end));
        let (from, to) = match way {
            Way::Forth => (before, after),
            Way::Back => (after, before),
        };
        for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (from, to))) {
            if from.name != to.name && found.len() < BONDS_MAX {
                let relation = relation.to_owned();
                found.push(Bond { from: from.span, relation, to: to.span });
            }
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
    let mut rows = CONNECTING.iter().filter(|(word, ..)| of(word));
    for (_, follows, relation, way) in rows.by_ref() {
        // "is caused by": what is named first is not what does it.
        if follows.is_empty() && next.fold == "by" && token.fold != "because" {
            return Some((*relation, way.turned(), (at, at + 2)));
        }
        if !follows.is_empty() && next.fold == *follows {
            return Some((*relation, *way, (at, at + 2)));
        }
        if follows.is_empty() && !next.is(Class::PREPOSITION) {
            return Some((*relation, *way, (at, at + 1)));
        }
    }
    // "gets its water from the well".
    if TAKING.iter().any(|word| of(word)) && next.is(Class::POSSESSIVE) {
        let from = (at + 2..at + REACH_MAX).find(|index| tokens.at(*index).fold == "from");
        return from.map(|from| ("depends_on", Way::Forth, (at, from + 1)));
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
    let ending = |stem: &str| {
        fold.strip_prefix(stem).is_some_and(|ending| matches!(ending, "s" | "es" | "ed" | "d"))
    };
    ending(word) || word.strip_suffix('y').is_some_and(|stem| ending(&format!("{stem}i")))
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

/// What a text speaks of, by where it stands.
struct Things<'a> {
    tokens: &'a Tokens<'a>,
    names: &'a [Mention],
    nouns: &'a [Mention],
}

impl<'a> Things<'a> {
    /// The nearest phrase before a place, and what it belongs to or is made of.
    fn before(&self, at: usize) -> Vec<&'a Mention> {
        let mut said = (at.saturating_sub(REACH_MAX)..at).rev();
        let said = said.by_ref().take_while(|index| self.goes_on(*index));
        let Some(last) = said.into_iter().find(|index| self.at(*index).is_some()) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut next = self.back(last, &mut found);
        // "the certificate of the gateway": its head stands further ahead.
        while next.is_some_and(|index| self.tokens.at(index).is(OPENS)) {
            next = next.and_then(|index| index.checked_sub(1));
        }
        if let Some(index) = next.filter(|index| self.tokens.at(*index).word(&["of", "by"])) {
            index.checked_sub(1).and_then(|head| self.back(head, &mut found));
        }
        found.truncate(THINGS_MAX);
        found
    }

    /// The nearest phrase behind a place, and what it belongs to.
    fn after(&self, at: usize) -> Vec<&'a Mention> {
        let mut said = (at..at + REACH_MAX).take_while(|index| self.goes_on(*index));
        let Some(first) = said.find(|index| self.at(*index).is_some()) else { return Vec::new() };
        let mut found = Vec::new();
        let mut next = self.forth(first, &mut found);
        if self.tokens.at(next).fold == "of" {
            next += 1;
            while self.tokens.at(next).is(OPENS) {
                next += 1;
            }
            self.forth(next, &mut found);
        }
        found.truncate(THINGS_MAX);
        found
    }

    /// The things that end here side by side; the place before them.
    fn back(&self, from: usize, found: &mut Vec<&'a Mention>) -> Option<usize> {
        let mut at = from;
        loop {
            match self.at(at) {
                Some(thing) if !found.contains(&thing) => found.push(thing),
                Some(_) => {}
                None if self.tokens.at(at).word(&["'s"]) => {}
                None => return Some(at),
            }
            at = at.checked_sub(1)?;
        }
    }

    /// The things that begin here side by side; the place behind them.
    fn forth(&self, from: usize, found: &mut Vec<&'a Mention>) -> usize {
        let mut at = from;
        loop {
            match self.at(at) {
                Some(thing) if !found.contains(&thing) => found.push(thing),
                Some(_) => {}
                None if at > from && self.tokens.at(at).word(&["'s"]) => {}
                None => return at,
            }
            at += 1;
        }
    }

    fn goes_on(&self, at: usize) -> bool {
        !matches!(self.tokens.at(at).kind, Kind::Punct | Kind::Newline)
    }

    fn at(&self, at: usize) -> Option<&'a Mention> {
        if at >= self.tokens.len() {
            return None;
        }
        let span = self.tokens.span(at, at + 1);
        let here = |thing: &&Mention| thing.span.start <= span.start && span.end <= thing.span.end;
        let name = || self.names.iter().find(here).filter(|_| !self.tokens.at(at).is(OPENS));
        self.nouns.iter().find(here).or_else(name)
    }
}

#[cfg(test)]
mod tests;
