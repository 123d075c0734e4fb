//! Values of closed or telling classes: roles, teams, animals, illnesses, medicines, states.

use lamina_types::layer::extraction::Normaliser;

use super::phrases::{is_condition_shape, trim};
use super::{Item, Value};
use crate::rules::lexicon::{self, Class, Form};
use crate::rules::number;
use crate::rules::phrase::{is_name_token, name_run, noun_run, strip_article};
use crate::rules::scene::Scene;
use crate::rules::token::{Kind, Tokens};

/// Whether a noun phrase is what somebody works as.
pub(crate) fn is_role(tokens: &Tokens<'_>, start: usize, end: usize) -> bool {
    if end <= start {
        return false;
    }
    let head = tokens.at(end - 1);
    let master =
        head.fold == "master" && tokens.at(end.saturating_sub(2)).word(&["scrum", "station"]);
    if head.is(Class::OCCUPATION) || master {
        return true;
    }
    let opinion = head.is(Class::PETTY
        .or(Class::ANIMAL)
        .or(Class::KIN)
        .or(Class::COMMON)
        .or(Class::OCCASION));
    let shaped = [
        "ologist",
        "ician",
        "grapher",
        "ineer",
        "keeper",
        "smith",
        "iatrist",
        "iatrician",
        "ographer",
        "esthetist",
    ]
    .iter()
    .any(|tail| head.fold.ends_with(tail) && head.fold.len() > tail.len() + 1);
    !opinion && shaped
}

pub(super) fn role(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let mut start = strip_article(tokens, at, to);
    while tokens
        .at(start)
        .word(&["our", "my", "their", "your", "its", "new", "current", "acting", "proud"])
    {
        start += 1;
    }
    let mut end = start;
    let mut chief = false;
    while end < to && end - start < 6 {
        let token = tokens.at(end);
        // "head of sales", "VP of engineering": what follows is part of the role unless it is a name.
        let of = token.fold == "of"
            && tokens.before(end).is(Class::OCCUPATION)
            && !is_name_token(tokens, end + 1)
            && !tokens
                .at(end + 1)
                .is(Class::DETERMINER.or(Class::POSSESSIVE).or(Class::NUMBER_WORD));
        chief |= of;
        let closed = Class::PREPOSITION.or(Class::CONJUNCTION).or(Class::PRONOUN).or(Class::BE);
        // "a translator living in Rome".
        let doing = end > start
            && tokens.before(end).is(Class::OCCUPATION)
            && token.verb.is_some_and(|verb| verb.forms.has(Form::ING));
        let stops = token.kind != Kind::Word
            || doing
            || token.is(closed) && !of
            || token.is(Class::ADVERB) && end > start && !token.is(Class::ADJECTIVE);
        if stops {
            break;
        }
        end += 1;
    }
    let sound = is_role(tokens, start, end) || chief && end > start + 2;
    sound.then(|| (Item::text(scene, start, end), end))
}

/// What a named thing is: "a scheduling service", not "a mess".
pub(super) fn kind(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    if !tokens.at(at).word(&["a", "an"]) {
        return None;
    }
    let start = at + 1;
    let end = trim(tokens, start, noun_run(tokens, start, to));
    // "a platform built on Kafka" is a platform.
    let made = |at: &usize| {
        let verb = tokens.at(*at).verb;
        verb.is_some_and(|verb| verb.forms.has(Form::PARTICIPLE))
            && tokens.at(at + 1).is(Class::PREPOSITION)
    };
    let end = (start + 1..end).find(made).unwrap_or(end);
    if end <= start {
        return None;
    }
    let head = tokens.at(end - 1);
    let opinion = tokens.at(start).is(Class::PETTY)
        || head.is(Class::PETTY.or(Class::ABSTRACT).or(Class::ADVERB))
        || head.is(Class::ADJECTIVE) && end == start + 1
        || head.is(Class::KIN)
        || tokens.at(start).word(&[
            "very",
            "really",
            "such",
            "bit",
            "little",
            "beautiful",
            "lovely",
            "great",
            "nice",
            "wonderful",
            "terrible",
            "amazing",
            "good",
            "bad",
            "horrible",
            "fantastic",
            "perfect",
            "cute",
            "sweet",
        ]);
    // "Terry is a fan of": the noun goes on to something else.
    let open = tokens.at(end).word(&["of", "to", "than"]);
    (!opinion && !open).then(|| (Item::text(scene, start, end), end))
}

/// A team: "the platform team", "the Beacon team", "the design guild".
pub(super) fn team(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let start = strip_article(tokens, at, to);
    let start =
        if tokens.at(start).word(&["our", "their", "your", "my"]) { start + 1 } else { start };
    let limit = to.min(start + 5);
    let head = (start..limit).find(|at| tokens.at(*at).is(Class::TEAM))?;
    let clean = (start..head).all(|at| {
        let token = tokens.at(at);
        token.kind == Kind::Word
            && !token.is(Class::PREPOSITION.or(Class::CONJUNCTION).or(Class::PRONOUN))
    });
    // "the payments team's standups" is not the team; "a team of five" has no name.
    let after = tokens.at(head + 1);
    let open = after.word(&["'s", "of"]) || after.is(Class::OCCASION) || head == start;
    (clean && !open).then(|| (Item::text(scene, start, head + 1), head + 1))
}

pub(super) fn school(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let start = at + usize::from(tokens.at(at).fold == "the");
    let end = name_run(tokens, start, to)?;
    let end = end + usize::from(end < to && tokens.at(end).is(Class::SCHOOL));
    let is = (start..end).any(|at| tokens.at(at).is(Class::SCHOOL));
    is.then(|| (Item::text(scene, start, end), end))
}

/// An animal that is kept: "a ferret called Otto"; the name is the value, the animal its family.
pub(super) fn pet(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let start = at + usize::from(tokens.at(at).word(&["a", "an", "another", "my", "our", "the"]));
    if start == at {
        return None;
    }
    let limit = to.min(start + 4);
    let animal = (start..limit)
        .rev()
        .find(|at| tokens.at(*at).is(Class::ANIMAL) && !tokens.at(*at + 1).is(Class::ANIMAL))?;
    let clean = (start..animal).all(|at| {
        tokens.at(at).kind == Kind::Word
            && !tokens.at(at).is(Class::PREPOSITION.or(Class::CONJUNCTION))
    });
    if !clean {
        return None;
    }
    let kind = tokens.slice(start, animal + 1);
    let mut next = animal + 1;
    next += usize::from(tokens.at(next).punct(','));
    let called = tokens.at(next).word(&["called", "named"]);
    let name_from = next + usize::from(called);
    let end = name_run(tokens, name_from, to).or_else(|| called.then_some(name_from + 1))?;
    let mut item = Item::text(scene, name_from, end);
    item.family = Some(kind.to_owned());
    Some((item, end))
}

/// One word or name, whatever it is.
pub(super) fn word(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let token = tokens.at(at);
    if token.kind == Kind::Punct && token.fold != "@"
        || token.is(Class::PRONOUN.or(Class::DETERMINER))
        || matches!(token.kind, Kind::Newline)
    {
        return None;
    }
    let start = at + usize::from(token.fold == "@");
    let end = name_run(tokens, start, scene.end()).unwrap_or(start + 1);
    (end <= scene.end()).then(|| (Item::text(scene, start, end), end))
}

/// A word of a class, behind an article and "a bit of".
pub(super) fn classed(scene: &Scene<'_>, at: usize, class: Class) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let mut start = strip_article(tokens, at, scene.end());
    while tokens.at(start).word(&[
        "bit",
        "little",
        "of",
        "some",
        "fluent",
        "basic",
        "native",
        "good",
        "decent",
        "conversational",
        "electric",
        "acoustic",
        "lead",
    ]) && start < scene.end()
    {
        start += 1;
    }
    let electric = (start > at && tokens.before(start).word(&["electric", "acoustic"])) as usize;
    let start = start - electric;
    let word = start + electric;
    let guitar =
        usize::from(tokens.at(word).fold == "bass" && tokens.at(word + 1).fold == "guitar");
    tokens
        .at(word)
        .is(class)
        .then(|| (Item::text(scene, start, word + 1 + guitar), word + 1 + guitar))
}

/// A word of a class that is the whole complement: "I'm Dutch", not "I'm Dutch food's biggest fan".
pub(super) fn alone(scene: &Scene<'_>, at: usize, class: Class) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let start = strip_article(tokens, at, scene.end());
    let token = tokens.at(start);
    let mut end = start + 1;
    let half = token.word(&["half"]);
    if half {
        end += 1;
    }
    if tokens.at(end).word(&["citizen", "national"]) {
        let item = Item::text(scene, start, end);
        return token.is(class).then_some((item, end + 1));
    }
    let next = tokens.at(end);
    let ends = end >= scene.end()
        || next.kind != Kind::Word
        || next.is(Class::CONJUNCTION.or(Class::ADVERB).or(Class::PREPOSITION).or(Class::PRONOUN));
    (token.is(class) && ends && !half).then(|| (Item::text(scene, start, end), end))
}

pub(super) fn diet(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let start = strip_article(tokens, at, scene.end());
    let token = tokens.at(start);
    if tokens.at(start + 1).fold == "free"
        && token.word(&["gluten", "dairy", "lactose", "sugar", "nut"])
    {
        let text = format!("{}-free", token.fold);
        return Some((
            Item::of(Value::Text(text), start, start + 2, Normaliser::Lexicon),
            start + 2,
        ));
    }
    let next = tokens.at(start + 1);
    let ends = start + 1 >= scene.end()
        || next.kind != Kind::Word
        || scene.time_at(start + 1).is_some()
        || next.is(Class::CONJUNCTION
            .or(Class::ADVERB)
            .or(Class::PREPOSITION)
            .or(Class::PRONOUN)
            .or(Class::INTERJECTION)
            .or(Class::DETERMINER))
        || next.word(&["diet", "food"]);
    (token.is(Class::DIET) && ends).then(|| (Item::text(scene, start, start + 1), start + 1))
}

/// An illness: a known word, a telling ending, or "disease" and its kin as the head.
pub(super) fn condition(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let start = strip_article(tokens, at, to);
    let end = trim(tokens, start, noun_run(tokens, start, to));
    if end <= start {
        return None;
    }
    let head = tokens.at(end - 1);
    let is = head.is(Class::CONDITION)
        || is_condition_shape(&head.fold)
        || tokens.at(start).is(Class::CONDITION)
        || end > start + 1
            && tokens.at(end - 1).word(&["pain", "problems", "issues"])
            && tokens.at(start).word(&["chronic", "back", "knee", "heart", "thyroid", "kidney"]);
    // "have a fever" passes; "hay fever" stays.
    let passing = end == start + 1
        && head.word(&[
            "fever",
            "pressure",
            "condition",
            "infection",
            "injury",
            "allergy",
            "allergies",
        ]);
    let open = head.fold == "intolerant" && (end == start + 1 || tokens.at(end).fold == "to");
    (is && !passing && !open).then(|| (Item::text(scene, start, end), end))
}

/// Endings that medicines have.
const MEDICINE_TAILS: &[&str] = &[
    "pril",
    "olol",
    "statin",
    "sartan",
    "azole",
    "oxetine",
    "cillin",
    "mycin",
    "formin",
    "gliptin",
    "parin",
    "profen",
    "oxacin",
    "dipine",
    "lukast",
    "tidine",
    "triptan",
    "azepam",
    "azolam",
    "thyroxine",
    "sone",
    "solone",
    "pine",
    "pam",
    "mab",
    "nib",
    "vir",
    "traline",
    "opram",
    "afil",
    "zosin",
    "setron",
    "xaban",
    "prazole",
    "triptyline",
    "amine",
    "phylline",
    "terol",
    "tide",
    "codone",
    "barbital",
    "toin",
    "gabalin",
    "pentin",
    "idone",
    "apine",
    "done",
    "xetine",
    "faxine",
    "mide",
    "zide",
    "purinol",
    "pidem",
    "zine",
    "caine",
    "fenac",
    "trexate",
    "azine",
    "iptan",
    "grelor",
    "dronate",
    "glutide",
    "gliflozin",
    "cycline",
    "conazole",
    "lamide",
];

/// A medicine: a known one, or an ending that medicines have.
pub(super) fn medicine(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let mut start = strip_article(tokens, at, scene.end());
    // "20 mg of lisinopril".
    if let Some((_, _, end)) = number::quantity(tokens, start) {
        start = end + usize::from(tokens.at(end).fold == "of");
    }
    if tokens.at(start).word(&["my", "daily"]) {
        start += 1;
    }
    let token = tokens.at(start);
    let shaped = token.kind == Kind::Word
        && token.fold.len() >= 7
        && token.verb.is_none()
        && !token.is(Class::STOP.or(Class::COMMON).or(Class::ADVERB))
        && MEDICINE_TAILS.iter().any(|tail| token.fold.ends_with(tail));
    // "an insulin pump" is a thing.
    let next = tokens.at(start + 1);
    let thing = start + 1 < scene.end()
        && next.kind == Kind::Word
        && next.class == Class::NONE
        && next.verb.is_none()
        && !next.word(&[
            "tablets",
            "pills",
            "injections",
            "shots",
            "cream",
            "drops",
            "twice",
            "thrice",
            "tho",
        ])
        && lexicon::unit(&next.fold).is_none();
    ((token.is(Class::MEDICINE) || shaped) && !thing)
        .then(|| (Item::text(scene, start, start + 1), start + 1))
}

/// Phrases that say how something stands.
const STATES: &[&[&str]] = &[
    &["on", "hold"],
    &["on", "track"],
    &["on", "pause"],
    &["on", "ice"],
    &["in", "review"],
    &["in", "negotiation"],
    &["in", "negotiations"],
    &["in", "progress"],
    &["in", "production"],
    &["in", "beta"],
    &["in", "alpha"],
    &["in", "testing"],
    &["in", "development"],
    &["in", "staging"],
    &["in", "qa"],
    &["in", "planning"],
    &["in", "legal", "review"],
    &["in", "discovery"],
    &["at", "risk"],
    &["behind", "schedule"],
    &["ahead", "of", "schedule"],
    &["under", "review"],
    &["under", "construction"],
    &["out", "of", "stock"],
    &["up", "and", "running"],
    &["waiting", "for", "approval"],
    &["out", "of", "scope"],
    &["over", "budget"],
    &["off", "track"],
];

pub(super) fn status(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    if let Some(words) = STATES.iter().find(|words| tokens.words_at(at, words)) {
        let end = at + words.len();
        return (end <= scene.end()).then(|| (Item::text(scene, at, end), end));
    }
    // "80% complete".
    if tokens.at(at).kind == Kind::Number
        && (tokens.at(at + 1).punct('%') || tokens.at(at + 1).fold == "percent")
        && tokens.at(at + 2).word(&["complete", "done", "finished", "ready"])
    {
        return (at + 3 <= scene.end()).then(|| (Item::text(scene, at, at + 3), at + 3));
    }
    let token = tokens.at(at);
    let next = tokens.at(at + 1);
    // "closed deals": a participle before a noun is no state.
    let ends = at + 1 >= scene.end()
        || next.kind != Kind::Word
        || next.is(Class::CONJUNCTION
            .or(Class::ADVERB)
            .or(Class::PREPOSITION)
            .or(Class::PRONOUN)
            .or(Class::DETERMINER))
        || scene.time_at(at + 1).is_some();
    (token.is(Class::STATUS) && ends && !next.word(&["to"]))
        .then(|| (Item::text(scene, at, at + 1), at + 1))
}

/// What somebody is allergic to in "a peanut allergy".
pub(super) fn allergen(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let head = (at + 1..scene.end().min(at + 4))
        .find(|at| tokens.at(*at).word(&["allergy", "allergies"]))?;
    let plain = (at..head)
        .all(|at| tokens.at(at).kind == Kind::Word && !tokens.at(at).is(Class::PREPOSITION));
    plain.then(|| (Item::text(scene, at, head), head))
}
