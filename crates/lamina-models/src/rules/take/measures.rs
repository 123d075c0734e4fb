//! Values with digits: counts, ages, amounts, dates, versions, telephone numbers.

use jiff::civil::Date;
use lamina_types::layer::extraction::Normaliser;

use super::phrases::trim;
use super::{Item, Value};
use crate::rules::lexicon::{self, Class};
use crate::rules::number;
use crate::rules::phrase::{name_run, noun_run};
use crate::rules::scene::Scene;
use crate::rules::time::{Anchor, Phrase, Tense, days};
use crate::rules::token::Kind;

/// Ages that people have.
const AGE_MAX: u32 = 120;

/// "200 seats": the number is the value, the noun its family.
pub(super) fn count(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let mut at = at;
    while tokens.at(at).word(&[
        "about",
        "around",
        "over",
        "roughly",
        "approximately",
        "exactly",
        "almost",
        "nearly",
        "only",
        "just",
        "some",
    ]) {
        at += 1;
    }
    if tokens.at(at).fold == "a" {
        return None;
    }
    let found = number::number(tokens, at)?;
    if number::money(tokens, at).is_some()
        || number::quantity(tokens, at).is_some()
        || found.end >= to
    {
        return None;
    }
    let start = found.end + usize::from(tokens.at(found.end).fold == "of");
    let end = trim(tokens, start, noun_run(tokens, start, to));
    let head = tokens.before(end);
    let plural = head.fold.ends_with('s') && !head.fold.ends_with("ss")
        || head.word(&[
            "people",
            "children",
            "women",
            "men",
            "mice",
            "sheep",
            "staff",
            "fish",
            "kids",
            "personnel",
            "feet",
            "teeth",
        ]);
    let blocked = (start..end).any(|at| tokens.at(at).is(Class::TIME_UNIT))
        || head.word(&[
            "percent",
            "degrees",
            "times",
            "things",
            "questions",
            "words",
            "problems",
            "options",
            "ideas",
            "reasons",
            "minutes",
        ]);
    if end <= start || !plural || blocked || found.value.contains('.') {
        return None;
    }
    let value = Value::Number { value: found.value, unit: None };
    let mut item = Item::of(value, at, found.end, Normaliser::Number);
    item.family = Some(super::fold_space(tokens.slice(start, end)).to_lowercase());
    Some((item, end))
}

/// A bare number: the first one of "from 45 to 60 licences".
pub(super) fn numeral(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let found = number::number(scene.tokens, at)?;
    let value = Value::Number { value: found.value, unit: None };
    Some((Item::of(value, at, found.end, Normaliser::Number), found.end))
}

/// An age: a number with nothing behind it but "years old".
pub(super) fn age(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let found = number::number(tokens, at)?;
    let value: u32 = found.value.parse().ok().filter(|value| *value > 0 && *value <= AGE_MAX)?;
    let mut end = found.end;
    if tokens.at(end).word(&["years", "year", "yrs", "yo"]) {
        end += 1;
        let old = tokens.at(end).word(&["old", "young"]);
        if !old && tokens.before(end).fold != "yo" {
            return None;
        }
        end += usize::from(old);
    }
    let next = tokens.at(end);
    // "My kids are 4 and 7": not of one.
    if next.word(&["and", ",", "&"]) && tokens.at(end + 1).kind == Kind::Number {
        return None;
    }
    let alone = end >= scene.end()
        || next.kind == Kind::Punct && !next.word(&["%", "$", "€", "£", "/"])
        || next.is(Class::CONJUNCTION)
        || next.is(Class::ADVERB)
        || trim(tokens, end - 1, scene.end()) <= end
        || scene.time_at(end).is_some()
        || next.is(Class::PRONOUN)
            && !next.is(Class::DETERMINER)
            && !next.word(&["people", "folks", "others"]);
    alone.then(|| {
        let value = Value::Number { value: value.to_string(), unit: None };
        (Item::of(value, at, found.end, Normaliser::Number), end)
    })
}

/// "1.82 m tall".
pub(super) fn height(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let (item, end) = quantity(scene, at)?;
    let tall = scene.tokens.at(end).word(&["tall", "high"]);
    tall.then_some((item, end + 1))
}

pub(super) fn quantity(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let (value, unit, end) = number::quantity(scene.tokens, at)?;
    let value = Value::Number { value, unit: Some(unit.to_owned()) };
    Some((Item::of(value, at, end, Normaliser::Quantity), end))
}

pub(super) fn money(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let (amount, currency, end) = number::money(scene.tokens, at)?;
    let value = Value::Money { amount, currency: currency.to_owned() };
    Some((Item::of(value, at, end, Normaliser::Money), end))
}

/// A date as an object: the day, with the hour if one is said.
pub(super) fn date(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let time = scene.time_at(at).or_else(|| {
        let next = scene.times.iter().find(|time| time.end > at)?;
        (next.start <= at && next.end > at).then_some(next)
    })?;
    let day = days(time.anchor, tense_of_date(scene), scene.observed.today)?;
    let text = local_date(time, day.first);
    let written = matches!(time.anchor, Anchor::Day(_, _, Some(_)));
    let normaliser = if written { Normaliser::Date } else { Normaliser::RelativeDate };
    // A month or a year is no date.
    let precise = day.is_one();
    precise.then(|| (Item::of(Value::Date(text), time.start, time.end, normaliser), time.end))
}

/// "was moved to 3 July" looks ahead from what happened; "was on 3 July" looks back.
fn tense_of_date(scene: &Scene<'_>) -> Tense {
    let Some(verb) = &scene.clause.verb else { return Tense::Present };
    let next = scene.tokens.at(scene.skip(verb.end));
    let state = verb.lemma == "be" && next.verb.is_none() && !next.fold.ends_with("ed");
    if state { scene.tense() } else { Tense::Future }
}

/// `2025-06-03`, or `2025-06-03T15:00` if an hour is said.
pub(crate) fn local_date(time: &Phrase, day: Date) -> String {
    match time.clock {
        Some((hour, minute)) => format!("{day}T{hour:02}:{minute:02}"),
        None => day.to_string(),
    }
}

/// A day of any year: `--05-03`; with a year it is a date.
pub(super) fn birthday(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let time = scene.times.iter().find(|time| time.start <= at + 1 && time.end > at)?;
    let Anchor::Day(day, month, year) = time.anchor else { return None };
    let text = match year {
        Some(year) => Date::new(year, month, day).ok()?.to_string(),
        None => format!("--{month:02}-{day:02}"),
    };
    Some((Item::of(Value::Date(text), time.start, time.end, Normaliser::Date), time.end))
}

/// A version: `v2.3`, `4.2`, `11`.
pub(super) fn version(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let token = scene.tokens.at(at);
    let digits = token.fold.strip_prefix('v').unwrap_or(&token.fold);
    let shaped = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c));
    let marked = digits.len() < token.fold.len()
        || digits.contains('.')
        || scene.tokens.before(at).word(&["version", "release", "v"]);
    let next = scene.tokens.at(at + 1);
    // "bumped React to 19": a plain number behind "to", with nothing that it counts.
    let bare = scene.tokens.before(at).fold == "to" && digits.len() <= 3 && next.kind != Kind::Word;
    let marked = marked || bare;
    let next = scene.tokens.at(at + 1);
    let alone = number::money(scene.tokens, at).is_none() && lexicon::unit(&next.fold).is_none();
    (shaped && marked && alone).then(|| (Item::text(scene, at, at + 1), at + 1))
}

/// A product with its version: "Node 20.1"; the version is the value, the product its family.
pub(super) fn release(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let end =
        name_run(tokens, at, to).or_else(|| tokens.at(at).is(Class::TOOL).then_some(at + 1))?;
    let version_at = end + usize::from(tokens.at(end).word(&["version", "v"]));
    let token = tokens.at(version_at);
    let digits = token.fold.strip_prefix('v').unwrap_or(&token.fold);
    let shaped = version_at < to
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.' || c == 'x');
    // "Safari 14 users": a version has no noun behind it.
    let next = tokens.at(version_at + 1);
    let alone = version_at + 1 >= scene.end()
        || next.kind != Kind::Word
        || !next.fold.ends_with('s')
        || next.is(Class::ADVERB.or(Class::CONJUNCTION).or(Class::PREPOSITION));
    if !shaped || !alone {
        return None;
    }
    let mut item = Item::text(scene, version_at, version_at + 1);
    item.family = Some(tokens.slice(at, end).to_owned());
    Some((item, version_at + 1))
}

pub(super) fn of_kind(scene: &Scene<'_>, at: usize, kind: Kind) -> Option<(Item, usize)> {
    (scene.tokens.at(at).kind == kind).then(|| (Item::text(scene, at, at + 1), at + 1))
}

/// A telephone number: digits in groups, seven at least.
pub(super) fn phone(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let mut end = at;
    let mut digits = 0;
    while end < scene.end() {
        let token = tokens.at(end);
        let grouped = token.kind == Kind::Number || token.word(&["(", ")", "-", "/", "+"]);
        if !grouped {
            break;
        }
        digits += token.fold.chars().filter(char::is_ascii_digit).count();
        end += 1;
    }
    while end > at && tokens.at(end - 1).kind == Kind::Punct {
        end -= 1;
    }
    (digits >= 7).then(|| (Item::text(scene, at, end), end))
}
