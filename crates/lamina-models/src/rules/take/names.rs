//! Values that are names: people, places, companies, tools, titles.

use lamina_types::layer::extraction::{Normaliser, Term};

use super::{Item, Value};
use crate::rules::lexicon::Class;
use crate::rules::phrase::{Nature, is_name_token, name_run, noun_run, refer};
use crate::rules::scene::Scene;
use crate::rules::token::{Kind, Tokens};

/// Somebody: a name, a relative, a pronoun that is resolved.
pub(super) fn person(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let first = tokens.at(at);
    if first.is(Class::POSSESSIVE) || first.word(&["me", "us", "you"]) {
        let end = noun_end(tokens, at, to);
        let referent = refer(tokens, at, end, scene.parties, scene.discourse)?;
        if referent.nature == Nature::Thing {
            return None;
        }
        let normaliser = match referent.term {
            Term::Named { .. } => Normaliser::Identity,
            _ => Normaliser::Speaker,
        };
        let mut item =
            Item::of(Value::Term(referent.term.clone()), referent.start, referent.end, normaliser);
        item.referent = Some(Box::new(referent));
        return Some((item, end));
    }
    let end = name_run(tokens, at, to).or_else(|| small_name(tokens, at, to))?;
    // "Bob's wife" is not Bob.
    if tokens.at(end).fold == "'s" {
        let whole = noun_end(tokens, end + 1, to);
        let referent = refer(tokens, at, whole, scene.parties, scene.discourse)?;
        if !matches!(referent.term, Term::Named { .. }) {
            return None;
        }
        let mut item = Item::of(
            Value::Term(referent.term.clone()),
            referent.start,
            referent.end,
            Normaliser::Identity,
        );
        item.referent = Some(Box::new(referent));
        return Some((item, whole));
    }
    Some((named(scene, at, end), end))
}

fn named(scene: &Scene<'_>, start: usize, end: usize) -> Item {
    let mut item = Item::text(scene, start, end);
    item.referent = refer(scene.tokens, start, end, scene.parties, scene.discourse).map(Box::new);
    item
}

fn noun_end(tokens: &Tokens<'_>, at: usize, to: usize) -> usize {
    let mut end = at;
    while end < to {
        let token = tokens.at(end);
        let stops = token.kind != Kind::Word
            || end > at
                && token
                    .is(Class::PREPOSITION.or(Class::CONJUNCTION).or(Class::BE).or(Class::MODAL))
            || end > at && token.is(Class::ADVERB) && !token.is(Class::ADJECTIVE);
        if stops {
            break;
        }
        end += 1;
    }
    end
}

/// A name in small letters: one word that is nothing else.
fn small_name(tokens: &Tokens<'_>, at: usize, to: usize) -> Option<usize> {
    let token = tokens.at(at);
    let closed = Class::STOP
        .or(Class::COMMON)
        .or(Class::PRONOUN)
        .or(Class::DETERMINER)
        .or(Class::ADVERB)
        .or(Class::ADJECTIVE)
        .or(Class::PREPOSITION)
        .or(Class::INTERJECTION)
        .or(Class::NUMBER_WORD)
        .or(Class::OCCASION)
        .or(Class::ABSTRACT)
        .or(Class::KIN)
        .or(Class::POSSESSIVE);
    let known = token.is(Class::PLACE.or(Class::TOOL));
    let plain = token.kind == Kind::Word
        && !token.is(closed)
        && token.verb.is_none()
        && token.fold.len() > 1;
    (at < to && (known || plain)).then_some(at + 1)
}

pub(super) fn place(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let start = at + usize::from(tokens.at(at).fold == "the");
    let end = match name_run(tokens, start, to) {
        Some(end) => end,
        None if start > at => return None,
        None => {
            let end = small_name(tokens, start, to)?;
            let goes_on = small_name(tokens, end, to).filter(|_| !tokens.at(end).is(Class::PLACE));
            match goes_on {
                // "in software development" is no place; "in new york" is.
                Some(_) if !tokens.at(start).is(Class::PLACE) => return None,
                _ => end,
            }
        }
    };
    if tokens.at(end).word(&["'s"])
        || tokens.at(start).is(Class::TOOL) && !tokens.at(start).is(Class::PLACE)
        || start == at && is_company(tokens, start, end)
    {
        return None;
    }
    Some((Item::text(scene, start, end), end))
}

/// Nouns that make a place of whatever they close: "Apple Valley".
const GROUNDS: &[&str] = &[
    "valley", "city", "town", "park", "street", "road", "river", "county", "lake", "bay", "hills",
    "heights", "island", "islands", "beach", "creek", "springs", "village",
];

/// Whether a name is certainly that of a company.
fn is_company(tokens: &Tokens<'_>, start: usize, end: usize) -> bool {
    let last = (start..end).rev().find(|at| tokens.at(*at).kind == Kind::Word).unwrap_or(start);
    let closed = last > start
        && tokens.at(last).capital
        && tokens.at(last).is(Class::LEGAL.or(Class::TRADE));
    let known = tokens.at(start).is(Class::COMPANY) && !tokens.at(last).word(GROUNDS);
    closed || known
}

/// A company that is certainly one: known to everybody, or with a legal form behind its name.
pub(super) fn firm(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let (item, end) = organization(scene, at)?;
    is_company(scene.tokens, item.start, item.end).then_some((item, end))
}

/// A company or an institution: a name, or a noun with "the".
pub(super) fn organization(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let the = tokens.at(at).fold == "the";
    if tokens.at(at).word(&["a", "an"]) {
        // "a small startup called Nimbus".
        let called = (at..to.min(at + 6)).find(|at| tokens.at(*at).word(&["called", "named"]))?;
        let end = name_run(tokens, called + 1, to)?;
        return Some((Item::text(scene, called + 1, end), end));
    }
    let start = at + usize::from(the);
    if let Some(end) = name_run(tokens, start, to) {
        let end = with_noun(tokens, end, to);
        if tokens.at(end).fold == "'s" {
            let end = after_genitive(scene, end, to)?;
            return Some((Item::text(scene, start, end), end));
        }
        return Some((Item::text(scene, start, end), end));
    }
    let end = if the { noun_run(tokens, start, to) } else { small_name(tokens, start, to)? };
    let head = tokens.before(end);
    let blocked = head
        .is(Class::OCCASION.or(Class::ABSTRACT).or(Class::WEEKDAY).or(Class::TIME_UNIT))
        || the
            && head.word(&[
                "moment", "house", "table", "door", "keys", "room", "best", "same", "past", "way",
                "weekend",
            ]);
    (end > start && !blocked).then(|| (Item::text(scene, start, end), end))
}

/// "St. Mary's Hospital", "McDonald's": where a name with a genitive in it ends; `None` if something
/// else follows that is somebody's.
fn after_genitive(scene: &Scene<'_>, mark: usize, to: usize) -> Option<usize> {
    let tokens = scene.tokens;
    if let Some(end) = name_run(tokens, mark + 1, to) {
        return Some(end);
    }
    let next = tokens.at(mark + 1);
    let ends = mark + 1 >= to
        || next.kind == Kind::Punct
        || next.is(Class::PREPOSITION.or(Class::CONJUNCTION).or(Class::ADVERB));
    ends.then_some(mark + 1)
}

/// "Beacon team", "Leeds university": a name goes on with its noun.
fn with_noun(tokens: &Tokens<'_>, end: usize, to: usize) -> usize {
    let token = tokens.at(end);
    let noun = token.is(Class::TEAM.or(Class::SCHOOL))
        || token.word(&["bank", "office", "account", "group", "hospital", "app", "store"]);
    if end < to && noun { end + 1 } else { end }
}

/// Something by name.
pub(super) fn name(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    if tokens.at(at).kind == Kind::Quote {
        return Some((Item::text(scene, at, at + 1), at + 1));
    }
    let mut start = at + usize::from(tokens.at(at).fold == "the");
    // "a beat-up Renault": what it is like comes before its name.
    while start + 1 < to
        && !tokens.at(start).capital
        && (tokens.at(start).is(Class::ADJECTIVE) || tokens.at(start).fold.contains('-'))
        && (start + 1..to.min(start + 3)).any(|at| is_name_token(tokens, at))
    {
        start += 1;
    }
    if let Some(end) = name_run(tokens, start, to) {
        let mut end = end;
        while end < to && tokens.at(end).kind == Kind::Number {
            end += 1;
        }
        return Some((named(scene, start, end), end));
    }
    let end = small_name(tokens, start, to)?;
    Some((named(scene, start, end), end))
}

/// Software, a product: a name, a known tool, or a word that is nothing else.
pub(super) fn tool(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let start = at + usize::from(tokens.at(at).fold == "the");
    let token = tokens.at(start);
    if token.is(Class::TOOL) {
        let end = name_run(tokens, start, to).unwrap_or(start + 1);
        return Some((Item::text(scene, start, end), end));
    }
    if token.is(Class::POSSESSIVE.or(Class::PRONOUN)) {
        return None;
    }
    if let Some(end) = name_run(tokens, start, to) {
        return Some((Item::text(scene, start, end), end));
    }
    let end = small_name(tokens, start, to)?;
    let alone = end >= to
        || tokens.at(end).kind == Kind::Punct
        || tokens.at(end).is(Class::CONJUNCTION.or(Class::PREPOSITION).or(Class::ADVERB));
    alone.then(|| (Item::text(scene, start, end), end))
}

/// Software that a list knows: one also knows people and places.
pub(super) fn software(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let start = at + 2 * usize::from(scene.tokens.words_at(at, &["a", "little"]));
    let start = start
        + 3 * usize::from(
            scene.tokens.words_at(at, &["a", "bit", "of"])
                || scene.tokens.words_at(at, &["some", "bits", "of"]),
        );
    scene.tokens.at(start).is(Class::TOOL).then(|| (Item::text(scene, start, start + 1), start + 1))
}

/// A title of a book or a film: capitals or quotation marks.
pub(super) fn title(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    if tokens.at(at).kind == Kind::Quote {
        return Some((Item::text(scene, at, at + 1), at + 1));
    }
    // In a title the article belongs to the name.
    let run =
        if tokens.at(at).capital && tokens.at(at).is(Class::DETERMINER) { at + 1 } else { at };
    let mut end = name_run(tokens, run, to)?;
    let small = |at: usize| {
        tokens
            .at(at)
            .word(&["in", "and", "on", "with", "to", "the", "a", "of", "for", "from", "at"])
    };
    // "Migration to the North": at most two small words between the large ones.
    while end + 1 < to && small(end) {
        let next = end + 1 + usize::from(tokens.at(end + 1).word(&["the", "a", "an"]));
        match name_run(tokens, next, to) {
            Some(name) => end = name,
            None => break,
        }
    }
    Some((Item::text(scene, at, end), end))
}

/// An employer that somebody leaves: a name, because one also leaves houses and parties.
pub(super) fn employer(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let start = at + usize::from(tokens.at(at).fold == "the");
    let end = name_run(tokens, start, scene.before_time(at))?;
    let end = with_noun(tokens, end, scene.before_time(at));
    let genitive =
        (tokens.at(end).fold == "'s").then(|| after_genitive(scene, end, scene.before_time(at)));
    let end = genitive.flatten().unwrap_or(end);
    let place = end == start + 1 && tokens.at(start).is(Class::PLACE);
    let open = tokens.at(end).word(&["'s"])
        || tokens.at(end).kind == Kind::Word
            && !tokens.at(end).is(Class::PREPOSITION.or(Class::CONJUNCTION).or(Class::ADVERB))
            && scene.time_at(end).is_none()
            && end < scene.end();
    (!place && !open).then(|| (Item::text(scene, start, end), end))
}

/// A place that was visited: a name, or a known place.
pub(super) fn visited(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let start = at + usize::from(tokens.at(at).fold == "the");
    let end = name_run(tokens, start, to)
        .or_else(|| tokens.at(start).is(Class::PLACE).then_some(start + 1))?;
    let blocked = tokens.at(end).word(&["'s"])
        || tokens.at(start).is(Class::TOOL) && !tokens.at(start).is(Class::PLACE);
    (!blocked).then(|| (Item::text(scene, start, end), end))
}

/// A place that everybody knows as one: "left London".
pub(super) fn known_place(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let (item, end) = visited(scene, at)?;
    let known = scene.tokens.at(item.start).is(Class::PLACE) && item.end == item.start + 1;
    known.then_some((item, end))
}

/// What a service runs on: a machine or a provider by its name. Software is used, not run on.
pub(super) fn host(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let at = at + usize::from(tokens.at(at).word(&["the", "our"]));
    let token = tokens.at(at);
    let mixed = token.fold.contains(|c: char| c.is_ascii_digit())
        && token.fold.starts_with(|c: char| c.is_ascii_alphabetic());
    let end = match name_run(tokens, at, to) {
        Some(end) if !token.is(Class::TOOL.or(Class::PLACE)) => end,
        None if token.kind == Kind::Word && mixed && at < to => at + 1,
        _ => return None,
    };
    // "Node 20.1" is a version, "Fernway credits" is no host.
    let next = tokens.at(end);
    let closes = end >= scene.end()
        || next.kind == Kind::Punct
        || next.is(Class::CONJUNCTION.or(Class::PREPOSITION).or(Class::ADVERB))
        || scene.time_at(end).is_some();
    closes.then(|| (Item::text(scene, at, end), end))
}
