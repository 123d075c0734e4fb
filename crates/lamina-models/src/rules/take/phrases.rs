//! Values that are noun phrases: what is had, liked, sold, responsible for.

use super::Item;
use super::activity::activity;
use crate::rules::lexicon::{self, Class, Form};
use crate::rules::phrase::{is_name_token, name_run, noun_run, refer, strip_article};
use crate::rules::scene::Scene;
use crate::rules::token::{Kind, Tokens};

/// A noun phrase without its article.
pub(super) fn noun(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let start = strip_article(tokens, at, to);
    let start =
        if tokens.at(start).is(Class::POSSESSIVE) && start + 1 < to { start + 1 } else { start };
    let start = after_partitive(tokens, start, to);
    let end = trim(tokens, start, noun_run(tokens, start, to));
    let first = tokens.at(start);
    let sound = end > start
        && !(end == start + 1
            && first.is(Class::PRONOUN.or(Class::ADVERB).or(Class::INTERJECTION)));
    sound.then(|| (Item::text(scene, start, end), end))
}

/// "a bit of Basque" is Basque.
fn after_partitive(tokens: &Tokens<'_>, start: usize, to: usize) -> usize {
    let partitive =
        tokens.at(start).word(&["bit", "little", "lot", "lots", "kind", "sort", "types", "kinds"])
            && tokens.at(start + 1).fold == "of";
    if partitive && start + 2 < to { start + 2 } else { start }
}

/// Something definite: "the pricing page", "travel bookings", "Atlas".
pub(super) fn the(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    if tokens.at(at).word(&["a", "an", "my", "no", "some", "it", "that", "this"])
        || tokens.at(at).is(Class::NUMBER_WORD)
        || tokens.at(at).kind == Kind::Number
    {
        return None;
    }
    let start = at + usize::from(tokens.at(at).word(&["the", "our", "all"]));
    let start = start + usize::from(tokens.at(start).fold == "the" && start > at);
    let end = trim(tokens, start, noun_run(tokens, start, to));
    let pronoun = end == start + 1 && tokens.at(start).is(Class::PRONOUN);
    if end <= start || pronoun {
        return None;
    }
    let mut item = Item::text(scene, start, end);
    // "the Fjord project" is Fjord, wherever it stands.
    if let Some(referent) = refer(tokens, start, end, scene.parties, scene.discourse) {
        item = Item::text(scene, referent.start, referent.end);
    }
    Some((item, end))
}

/// Words that close a phrase without being part of it.
const TRAILING: &[&str] = &[
    "too",
    "now",
    "tbh",
    "lol",
    "though",
    "tho",
    "please",
    "pls",
    "again",
    "currently",
    "anymore",
    "already",
    "still",
    "either",
    "here",
    "haha",
    "thanks",
    "instead",
    "btw",
    "fwiw",
    "also",
    "right",
    "ok",
    "obviously",
    "though",
    "honestly",
    "imo",
    "rn",
    "yet",
    "then",
];

/// Without what closes it.
pub(crate) fn trim(tokens: &Tokens<'_>, start: usize, end: usize) -> usize {
    let mut end = end;
    loop {
        let before = end;
        while end > start
            && (tokens.at(end - 1).word(TRAILING)
                || tokens.at(end - 1).kind == Kind::Punct && !tokens.at(end - 1).punct('+'))
        {
            end -= 1;
        }
        for tail in [
            &["as", "well"][..],
            &["any", "more"],
            &["a", "lot"],
            &["so", "much"],
            &["very", "much"],
            &["at", "all"],
            &["at", "the", "moment"],
            &["these", "days"],
            &["for", "now"],
            &["right", "now"],
            &["in", "general"],
            &["by", "the", "way"],
            &["of", "course"],
        ] {
            if end > start + tail.len() && tokens.words_at(end - tail.len(), tail) {
                end -= tail.len();
            }
        }
        if end == before {
            return end;
        }
    }
}

/// What somebody bought or owns: with an article or a name, and not abstract.
pub(super) fn owned(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    had(scene, at).filter(|(item, _)| {
        let head = scene.tokens.before(item.end);
        !head.is(Class::CONSUMABLE) && !scene.tokens.at(item.start).is(Class::CONSUMABLE)
    })
}

/// What somebody has, if having it is owning it.
pub(super) fn had(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let first = tokens.at(at);
    let article =
        first.word(&["a", "an", "my", "our", "his", "her", "their", "the", "another", "any"]);
    let start = at + usize::from(article);
    if !article && !is_name_token(tokens, start) {
        return None;
    }
    let fresh =
        tokens.at(start).word(&["new", "brand-new", "brand", "second-hand"]) && start + 1 < to;
    let start = start + usize::from(fresh);
    let mut end = noun_run(tokens, start, to);
    let head_end = trim(tokens, start, end);
    let head = tokens.before(head_end);
    // "a cottage in Asturias" is that cottage.
    if tokens.at(end).word(&["in", "near", "by"]) && is_name_token(tokens, end + 1) && end < to {
        end = name_run(tokens, end + 1, to)?;
    }
    // "I have a train to catch".
    if tokens.at(end).fold == "to" && tokens.at(end + 1).verb.is_some() && end < to {
        return None;
    }
    let end = trim(tokens, start, end);
    let person = (start..head_end).any(|at| lexicon::kin(&tokens.at(at).fold).is_some());
    let blocked = Class::ABSTRACT
        .or(Class::OCCASION)
        .or(Class::TIME_UNIT)
        .or(Class::CONDITION)
        .or(Class::PETTY)
        .or(Class::WEEKDAY)
        .or(Class::PRONOUN);
    let abstract_first = tokens.at(start).is(Class::ABSTRACT.or(Class::PRONOUN))
        && !tokens.at(start).is(Class::ADJECTIVE);
    let sound = end > start
        && !person
        && (!head.is(blocked) || head.capital)
        && !abstract_first
        && !is_condition_shape(&head.fold)
        && head.verb.is_none_or(|verb| !verb.forms.has(Form::ING) || head.is(Class::COMMON));
    sound.then(|| (Item::text(scene, start, end), end))
}

/// Endings that illnesses have.
pub(super) fn is_condition_shape(fold: &str) -> bool {
    ["itis", "osis", "emia", "aemia", "algia", "pathy", "oma", "plegia", "phobia", "sclerosis"]
        .iter()
        .any(|tail| fold.len() > tail.len() + 2 && fold.ends_with(tail))
        || [
            "disease",
            "syndrome",
            "disorder",
            "deficiency",
            "intolerance",
            "allergy",
            "allergies",
            "condition",
            "pressure",
            "fever",
            "infection",
            "injury",
            "cancer",
            "palsy",
            "apnea",
            "apnoea",
            "murmur",
            "dystrophy",
            "impairment",
            "thyroid",
        ]
        .contains(&fold)
}

/// What somebody likes: a thing or an activity; not "it", not "that you came".
pub(super) fn liked(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let first = tokens.at(at);
    if first.fold == "to" && tokens.at(at + 1).verb.is_some() {
        return activity(scene, at + 1);
    }
    // "I hate cilantro. My husband loves it".
    if first.word(&["it", "them"]) && trim(tokens, at, scene.end().min(at + 4)) == at + 1 {
        let (start, end) = scene.recent.liked?;
        return Some((Item::text(scene, start, end), at + 1));
    }
    let blocked = first.is(Class::PRONOUN) && !first.is(Class::POSSESSIVE)
        || first.word(&[
            "that", "this", "how", "when", "what", "your", "these", "those", "the", "my", "our",
        ]) && !is_thing_after(tokens, at + 1)
        || first.word(&["that", "how", "when", "what", "your", "this"]);
    if blocked || first.is(Class::BE) {
        return None;
    }
    let (item, end) = noun(scene, at)?;
    let head = tokens.before(item.end);
    let served =
        first.is(Class::POSSESSIVE) && item.end > item.start + 1 && head.is(Class::ADJECTIVE);
    let opinion = served
        || head.word(&[
            "idea",
            "way",
            "sound",
            "look",
            "fact",
            "suggestion",
            "thought",
            "question",
            "plan",
        ]);
    (!opinion).then_some((item, end))
}

fn is_thing_after(tokens: &Tokens<'_>, at: usize) -> bool {
    tokens.at(at).kind == Kind::Word && !tokens.at(at).is(Class::PRONOUN)
}

/// What somebody is good at: a thing or an activity in "-ing".
pub(super) fn skill(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let (item, end) = noun(scene, at)?;
    let plain = !scene.tokens.at(item.start).is(Class::PRONOUN)
        && !scene.tokens.at(at).is(Class::POSSESSIVE.or(Class::PRONOUN));
    plain.then_some((item, end))
}

/// Something that happens: "a dentist appointment".
pub(super) fn occasion(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let (item, end) = noun(scene, at)?;
    let head = scene.tokens.before(item.end);
    let with = (item.start..item.end).any(|at| scene.tokens.at(at).is(Class::OCCASION));
    let end_of = end.max(item.end);
    (head.is(Class::OCCASION) || with).then_some((item, end_of))
}

/// What is sold or lost, with the owner's word before it already taken.
pub(super) fn sold(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let (item, end) = noun(scene, at)?;
    let head = scene.tokens.before(item.end);
    let blocked = Class::ABSTRACT.or(Class::OCCASION).or(Class::KIN).or(Class::TIME_UNIT);
    let petty = head.word(&[
        "way", "mind", "temper", "voice", "job", "game", "keys", "cool", "patience", "memory",
        "tickets",
    ]);
    (!head.is(blocked) && !petty).then_some((item, end))
}

/// What somebody got: only with an article, and nothing that one merely gets.
pub(super) fn bought(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    if !scene.tokens.at(at).word(&["a", "an"]) {
        return None;
    }
    owned(scene, at).filter(|(item, _)| {
        let head = scene.tokens.before(item.end);
        !head.word(&[
            "haircut",
            "raise",
            "promotion",
            "job",
            "message",
            "email",
            "letter",
            "reply",
            "offer",
            "refund",
            "discount",
            "tattoo",
            "vaccine",
            "shot",
            "diagnosis",
            "grade",
            "ride",
            "lift",
            "seat",
            "table",
            "spot",
            "position",
            "degree",
        ])
    })
}
