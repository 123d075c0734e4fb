//! How the things of a sentence hang together: "reports need billing data", "Plan Blue contradicts
//! Plan Red". Weaker than a claim, because nothing is dated and nobody is asked; it types the edges
//! between concepts and is no fact.

use lamina_types::layer::extraction::{Bond, Mention};

use super::BONDS_MAX;
use super::lexicon::{Class, Form};
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
    ("damage", "", "causes", Way::Forth),
    ("ruin", "", "causes", Way::Forth),
    ("destroy", "", "causes", Way::Forth),
    ("prevent", "", "causes", Way::Forth),
    ("interrupt", "", "causes", Way::Forth),
    ("slow", "", "causes", Way::Forth),
    ("lead", "to", "causes", Way::Forth),
    ("result", "in", "causes", Way::Forth),
    ("result", "from", "causes", Way::Back),
    ("stem", "from", "causes", Way::Back),
    ("due", "to", "causes", Way::Back),
    ("because", "of", "causes", Way::Back),
    ("because", "", "causes", Way::Back),
    ("thanks", "to", "causes", Way::Back),
    ("owing", "to", "causes", Way::Back),
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
const TAKING: &[&str] = &[
    "get", "take", "draw", "receive", "fetch", "read", "pull", "load", "import", "copy", "source",
];

/// What something is done with: "is sent with Pigeonpost".
const MEANS: &[&str] = &["with", "via", "through", "using"];

/// Verbs that say nothing of how two things hang together.
const LIGHT: &[&str] = &[
    "get", "give", "go", "have", "make", "take", "put", "let", "keep", "say", "tell", "ask",
    "want", "like", "love", "hate", "see", "know", "think", "find", "mean", "seem", "become",
    "stay",
];

/// What a reason begins with that may stand before what it is the reason of.
const REASONS: &[&str] = &["because", "due", "thanks", "owing"];

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
        let (before, after) = things.around(at, (start, end));
        let (from, to) = match way {
            Way::Forth => (before, after),
            Way::Back => (after, before),
        };
        tie(&mut found, relation, &from, &to);
    }
    // What any other verb connects hangs together somehow.
    for at in 0..tokens.len() {
        if connects(tokens, at).is_none() && things.is_done(at) && is_asserted(tokens, at) {
            tie(&mut found, RELATED, &things.before(at), &things.after(at + 1));
        }
    }
    found
}

/// The relation of which nothing more is known.
const RELATED: &str = "related_to";

/// Connects every thing on one side with every thing on the other. Of two that are connected already nothing more is
/// said by a relation that says nothing.
fn tie(found: &mut Vec<Bond>, relation: &str, from: &[&Mention], to: &[&Mention]) {
    for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (from, to))) {
        let known = |bond: &Bond| {
            [(from.span, to.span), (to.span, from.span)].contains(&(bond.from, bond.to))
        };
        let is_new = relation != RELATED || !found.iter().any(known);
        if from.name != to.name && is_new && found.len() < BONDS_MAX {
            let relation = relation.to_owned();
            found.push(Bond { from: from.span, relation, to: to.span });
        }
    }
}

/// The relation that a word at this place says, and where its words stand.
fn connects(tokens: &Tokens<'_>, at: usize) -> Option<(&'static str, Way, (usize, usize))> {
    let token = tokens.at(at);
    let fronted = token.word(REASONS) && opens(tokens, at);
    if token.kind != Kind::Word || token.capital && !fronted {
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
    // "is sent with Pigeonpost".
    let is_participle = token.verb.is_some_and(|verb| verb.forms.has(Form::PARTICIPLE))
        || token.verb.is_none() && token.fold.len() > 4 && token.fold.ends_with("ed");
    if is_participle && tokens.before(at).is(Class::BE) && next.word(MEANS) {
        return Some(("depends_on", Way::Forth, (at - 1, at + 2)));
    }
    // "cannot work without the compressor".
    if token.fold == "without" {
        let denied = (at.saturating_sub(REACH_MAX)..at)
            .rev()
            .take_while(|index| tokens.at(*index).kind == Kind::Word)
            .find(|index| tokens.at(*index).is(Class::NEGATION));
        return denied.map(|from| ("depends_on", Way::Forth, (from, at + 1)));
    }
    // "is a telescope of the observatory".
    let whole = token.fold == "of"
        && tokens.at(at + 1).is(Class::DETERMINER)
        && tokens.before(at.saturating_sub(1)).word(&["a", "an"])
        && tokens.before(at.saturating_sub(2)).is(Class::BE);
    whole.then(|| ("part_of", Way::Forth, (at.saturating_sub(3), at + 1)))
}

/// Whether a clause begins here.
fn opens(tokens: &Tokens<'_>, at: usize) -> bool {
    at == 0 || matches!(tokens.before(at).kind, Kind::Newline | Kind::Punct)
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
    let mut doubt = Class::NEGATION.or(Class::IRREALIS);
    // "does not work without it" says that it is needed.
    if tokens.at(at).fold == "without" {
        doubt = Class::IRREALIS;
    }
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
    /// What stands on both sides of words that connect.
    fn around(
        &self,
        at: usize,
        (start, end): (usize, usize),
    ) -> (Vec<&'a Mention>, Vec<&'a Mention>) {
        let (before, after) = (self.before(start), self.after(end));
        // "A panel is what the battery needs": what is needed stands ahead of it.
        let what = (start.saturating_sub(REACH_MAX)..start)
            .rev()
            .find(|index| self.tokens.at(*index).word(&["what"]))
            .filter(|what| *what > 0 && self.tokens.before(*what).is(Class::BE));
        if let Some(what) = what {
            let ahead = self.before(what - 1);
            if !before.is_empty() && !ahead.is_empty() {
                return (before, ahead);
            }
        }
        // "Because of the allergy the menu changed": what follows from it stands behind it.
        if before.is_empty() && opens(self.tokens, at) && self.tokens.at(at).word(REASONS) {
            let mut next = (end..end + REACH_MAX).find(|index| self.at(*index).is_some());
            while let Some(index) = next.filter(|index| self.at(*index).is_some()) {
                next = Some(index + 1);
            }
            // Between the two a comma may stand.
            let next = next.map(|index| index + usize::from(self.tokens.at(index).punct(',')));
            return (next.map(|index| self.after(index)).unwrap_or_default(), after);
        }
        (before, after)
    }

    /// Whether a verb that one thing does and another is done to stands here: "Sentra watches the
    /// refrigerator". What is done in the past, or by somebody else, and nothing that goes on or may be.
    fn is_done(&self, at: usize) -> bool {
        let (token, next) = (self.tokens.at(at), self.tokens.at(at + 1));
        if token.kind != Kind::Word || token.capital || at == 0 || self.at(at).is_some() {
            return false;
        }
        let finite = match token.verb {
            Some(verb) if LIGHT.contains(&verb.lemma) => false,
            Some(verb) => verb.forms.has(Form::THIRD) || verb.forms.has(Form::PAST),
            None => {
                token.fold.len() > 4 && (token.fold.ends_with("ed") || token.fold.ends_with('s'))
            }
        };
        let closed = Class::BE.or(Class::HAVE).or(Class::DO).or(Class::MODAL).or(Class::STOP);
        // The subject stands right before it, and the object right behind it.
        let subject = self.at(at - 1).is_some();
        let object = self.at(at + 1).is_some()
            || next.is(Class::DETERMINER) && (at + 2..at + 4).any(|index| self.at(index).is_some());
        finite && !token.is(closed) && subject && object
    }

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
