//! How the things of a sentence hang together: "reports need billing data", "Plan Blue contradicts
//! Plan Red". Weaker than a claim, because nothing is dated and nobody is asked; it types the edges
//! between concepts and is no fact.

mod words;

use lamina_types::layer::extraction::{Bond, Mention};

use self::words::{FRONTED, GIVING, LIGHT, MAKING, MEANS, REACHING, REASONS, TAKING};
use super::BONDS_MAX;
use super::lexicon::{Class, Form};
use super::noun::looks_otherwise;
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
        // "the boat support": what is a noun here connects nothing.
        if !is_asserted(tokens, at) || things.is_noun_here(at) {
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
        if connects(tokens, at).is_some() || !is_asserted(tokens, at) {
            continue;
        }
        if things.is_made_so(at) {
            tie(&mut found, "causes", &things.before(at), &things.after(at + 1));
        } else if let Some(link) = things.is_done(at) {
            tie(&mut found, RELATED, &things.before(at), &things.after(link));
        } else if things.is_done_by(at) {
            tie(&mut found, RELATED, &things.after(at + 2), &things.before(at));
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
    let fronted = token.word(FRONTED) && opens(tokens, at);
    if token.kind != Kind::Word || token.capital && !fronted {
        return None;
    }
    listed(tokens, at)
        .or_else(|| handed(tokens, at))
        .or_else(|| by_means(tokens, at))
        .or_else(|| on_condition(tokens, at))
        .or_else(|| of_whole(tokens, at))
}

/// A word of the list, with what has to follow it.
fn listed(tokens: &Tokens<'_>, at: usize) -> Option<(&'static str, Way, (usize, usize))> {
    let token = tokens.at(at);
    let next = tokens.at(at + 1);
    // "decided to postpone the gala", "stopped playing the cello": nothing is done to them yet, or not by that.
    let open = tokens.before(at).fold == "to"
        || !token.word(REASONS)
            && next
                .verb
                .is_some_and(|verb| verb.forms.has(Form::ING) && !verb.forms.has(Form::BASE));
    for row in words::rows(&token.fold, token.verb.map(|verb| verb.lemma)) {
        if open && matches!(row.relation, "causes" | "contradicts") {
            continue;
        }
        let acts = row.relation != "causes" || !row.follows.is_empty() || is_doing(tokens, at);
        if row.follows.is_empty() && acts {
            // "is caused by": what is named first is not what does it.
            if next.fold == "by" && token.fold != "because" {
                return Some((row.relation, row.way.turned(), (at, at + 2)));
            }
            // "tore down the bridge": the particle is a part of the verb.
            let particle = next.word(&["out", "up", "down", "off", "away", "apart"])
                && tokens.at(at + 2).is(Class::DETERMINER.or(Class::POSSESSIVE));
            if !next.is(Class::PREPOSITION) || particle {
                return Some((row.relation, row.way, (at, at + 1 + usize::from(particle))));
            }
        } else if let Some(end) = follow(tokens, at + 1, row.follows) {
            // "was knocked out by the surge".
            return Some(match tokens.at(end).fold.as_str() {
                "by" => (row.relation, row.way.turned(), (at, end + 1)),
                _ => (row.relation, row.way, (at, end)),
            });
        }
    }
    None
}

/// Whether a word that may also be a noun or an adjective ("alarm", "lower", "closing") is what something does here.
fn is_doing(tokens: &Tokens<'_>, at: usize) -> bool {
    let token = tokens.at(at);
    if token.word(REASONS) || token.fold.ends_with("ed") {
        return true;
    }
    let mut last = at;
    while last > 0 && tokens.before(last).is(Class::ADVERB) {
        last -= 1;
    }
    let before = tokens.before(last);
    let forms = token.verb.map(|verb| verb.forms);
    let has = |form: Form| forms.is_some_and(|forms| forms.has(form));
    let going = before.is(Class::BE);
    let is_many = |index: usize| {
        let token = tokens.at(index);
        token.fold.ends_with('s') && token.verb.is_none() && !token.is(Class::BE)
    };
    // "the fans of the derby fill": the many may stand further ahead.
    let of = (at.saturating_sub(REACH_MAX)..at).find(|index| tokens.at(*index).fold == "of");
    let many = before.is(Class::PRONOUN.or(Class::MODAL).or(Class::DO))
        || last.checked_sub(1).is_some_and(is_many)
        || of.and_then(|of| of.checked_sub(1)).is_some_and(is_many);
    if has(Form::ING) {
        return going;
    }
    let helped = before.is(Class::HAVE) || going;
    has(Form::PAST) || has(Form::PARTICIPLE) && helped || token.fold.ends_with('s') || many
}

/// The token after the words that have to follow; adverbs may stand before them ("depends entirely on").
fn follow(tokens: &Tokens<'_>, at: usize, follows: &str) -> Option<usize> {
    let mut at = at;
    let stands = |at: usize, word: &str| word.split('|').any(|word| tokens.at(at).fold == word);
    let first = follows.split(' ').next().unwrap_or_default();
    let adverb = |at: usize| tokens.at(at).is(Class::ADVERB) || tokens.at(at).fold.ends_with("ly");
    while adverb(at) && !stands(at, first) {
        at += 1;
    }
    for word in follows.split(' ') {
        if !stands(at, word) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// "gets its water from the well", "sends every order to the warehouse": what goes on always, and no single thing.
fn handed(tokens: &Tokens<'_>, at: usize) -> Option<(&'static str, Way, (usize, usize))> {
    let (token, next) = (tokens.at(at), tokens.at(at + 1));
    let of = |words: &[&str]| {
        token.verb.is_some_and(|verb| words.contains(&verb.lemma))
            || words.iter().any(|word| {
                token
                    .fold
                    .strip_prefix(word)
                    .is_some_and(|end| matches!(end, "s" | "ed" | "d" | "es"))
            })
    };
    let own =
        next.word(&["its", "their"]) && token.verb.is_none_or(|verb| verb.forms.has(Form::THIRD));
    let links: &[&str] = if of(TAKING) {
        &["from"]
    } else if of(GIVING) {
        &["to"]
    } else if own && token.fold.ends_with('s') {
        // "keeps its stock in the barn".
        &["from", "to", "in", "on", "through", "via", "with"]
    } else {
        return None;
    };
    let always = next.is(Class::POSSESSIVE) || next.word(&["all", "every", "each", "most"]);
    let found = (at + 2..at + REACH_MAX + 1)
        .take_while(|index| tokens.at(*index).kind == Kind::Word)
        .find(|index| tokens.at(*index).word(links));
    found.filter(|_| always).map(|found| ("depends_on", Way::Forth, (at, found + 1)))
}

/// "is sent with Pigeonpost".
fn by_means(tokens: &Tokens<'_>, at: usize) -> Option<(&'static str, Way, (usize, usize))> {
    let sound = is_participle(tokens, at)
        && tokens.before(at).is(Class::BE)
        && tokens.at(at + 1).word(MEANS);
    sound.then(|| ("depends_on", Way::Forth, (at - 1, at + 2)))
}

fn is_participle(tokens: &Tokens<'_>, at: usize) -> bool {
    let token = tokens.at(at);
    token.verb.is_some_and(|verb| verb.forms.has(Form::PARTICIPLE))
        || token.verb.is_none() && token.fold.len() > 4 && token.fold.ends_with("ed")
}

/// "cannot work without the compressor", "does not open until the gate is up", "opens only after the delivery".
fn on_condition(tokens: &Tokens<'_>, at: usize) -> Option<(&'static str, Way, (usize, usize))> {
    let token = tokens.at(at);
    if token.fold == "only" && tokens.at(at + 1).word(&["after", "when", "once", "if", "with"]) {
        return Some(("depends_on", Way::Forth, (at, at + 2)));
    }
    // "stays closed as long as the tower is silent".
    if token.word(&["as", "so"])
        && tokens.at(at + 1).word(&["long", "soon"])
        && tokens.at(at + 2).fold == "as"
    {
        return Some(("depends_on", Way::Forth, (at, at + 3)));
    }
    if token.fold == "without" && opens(tokens, at) {
        return Some(("depends_on", Way::Forth, (at, at + 1)));
    }
    if !token.word(CONDITIONS) {
        return None;
    }
    let denied = (at.saturating_sub(REACH_MAX)..at)
        .rev()
        .take_while(|index| tokens.at(*index).kind == Kind::Word)
        .find(|index| tokens.at(*index).is(Class::NEGATION));
    denied.map(|from| ("depends_on", Way::Forth, (from, at + 1)))
}

/// What makes a condition of what is denied before it.
const CONDITIONS: &[&str] = &["without", "until", "unless"];

/// "is a telescope of the observatory".
fn of_whole(tokens: &Tokens<'_>, at: usize) -> Option<(&'static str, Way, (usize, usize))> {
    let whole = tokens.at(at).fold == "of"
        && tokens.at(at + 1).is(Class::DETERMINER)
        && tokens.before(at.saturating_sub(1)).word(&["a", "an"])
        && tokens.before(at.saturating_sub(2)).is(Class::BE);
    whole.then(|| ("part_of", Way::Forth, (at.saturating_sub(3), at + 1)))
}

/// Whether a clause begins here.
fn opens(tokens: &Tokens<'_>, at: usize) -> bool {
    at == 0 || matches!(tokens.before(at).kind, Kind::Newline | Kind::Punct)
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
    if tokens.at(at).word(CONDITIONS) {
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
        // "the mixer that Nachtfunk needs": so it does where a relative has its object ahead.
        let gap = self.at(end).is_none() && !self.tokens.at(end).is(OPENS);
        let that = (start.saturating_sub(REACH_MAX)..start)
            .rev()
            .take_while(|index| self.goes_on(*index))
            .find(|index| self.tokens.at(*index).word(&["that", "which"]))
            .filter(|that| gap && (*that + 1..start).any(|at| self.at(at).is_some()));
        if let Some(that) = that.filter(|that| *that > 0 && self.at(*that - 1).is_some()) {
            return (before, self.before(that));
        }
        // "Because of the allergy the menu changed": what follows from it stands behind it.
        if before.is_empty() && opens(self.tokens, at) && self.tokens.at(at).word(FRONTED) {
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

    /// Whether a word that may be a verb is a noun where it stands: right behind what opens a phrase.
    fn is_noun_here(&self, at: usize) -> bool {
        self.tokens.at(at).verb.is_some()
            && self.at(at).is_some()
            && !self.tokens.at(at + 1).word(&["of", "for", "to", "with", "from"])
            && at > 0
            && self.tokens.before(at).is(OPENS)
    }

    /// "makes the road slippery", "left the hall empty": a verb of making, something, and how it is then.
    fn is_made_so(&self, at: usize) -> bool {
        let token = self.tokens.at(at);
        let makes = token.verb.is_some_and(|verb| {
            MAKING.contains(&verb.lemma)
                && (verb.forms.has(Form::THIRD) || verb.forms.has(Form::PAST))
        });
        let mut next = at + 1;
        while self.tokens.at(next).is(OPENS) {
            next += 1;
        }
        let first = next;
        while self.at(next).is_some() {
            next += 1;
        }
        let then = self.tokens.at(next);
        let so = then.is(Class::ADJECTIVE.or(Class::STATUS)) || looks_otherwise(&then.fold);
        makes && next > first && so && then.kind == Kind::Word
    }

    /// Where the object begins of a verb that one thing does and another is done to: "Sentra watches the refrigerator".
    /// What is done in the past, or by somebody else, and nothing that goes on or may be.
    fn is_done(&self, at: usize) -> Option<usize> {
        let token = self.tokens.at(at);
        if token.kind != Kind::Word || token.capital || at == 0 || self.at(at).is_some() {
            return None;
        }
        let finite = match token.verb {
            // "goes into the press" says where, "goes" alone nothing.
            Some(verb) if LIGHT.contains(&verb.lemma) && !self.tokens.at(at + 1).word(REACHING) => {
                false
            }
            Some(verb) => verb.forms.has(Form::THIRD) || verb.forms.has(Form::PAST),
            None => {
                token.fold.len() > 4 && (token.fold.ends_with("ed") || token.fold.ends_with('s'))
            }
        };
        let closed = Class::BE.or(Class::HAVE).or(Class::DO).or(Class::MODAL).or(Class::STOP);
        // The subject stands right before it, and the object right behind it.
        let mut before = at - 1;
        while before > 0 && self.tokens.at(before).is(Class::ADVERB) && self.at(before).is_none() {
            before -= 1;
        }
        let bound = self.tokens.at(at + 1).word(REACHING);
        let link = at + 1 + usize::from(bound);
        let object = self.at(link).is_some()
            || self.tokens.at(link).is(Class::DETERMINER)
                && (link + 1..link + 3).any(|index| self.at(index).is_some());
        let sound = finite && !token.is(closed) && self.at(before).is_some() && object;
        sound.then_some(link)
    }

    /// "is watched by Sentra".
    fn is_done_by(&self, at: usize) -> bool {
        at > 1
            && self.at(at - 2).is_some()
            && is_participle(self.tokens, at)
            && self.tokens.before(at).is(Class::BE)
            && self.tokens.at(at + 1).fold == "by"
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
