//! Finding phrases of time: a preposition, an anchor, an hour, in the orders in which people say them.

use jiff::civil::Weekday;

use super::length::{lasting, length, span_of};
use super::{Anchor, Bound, Phrase, Unit, Which};
use crate::rules::lexicon::Class;
use crate::rules::token::{Kind, Tokens};

/// The phrases in tokens `from..to`, in order, none overlapping another.
pub(crate) fn find(tokens: &Tokens<'_>, from: usize, to: usize) -> Vec<Phrase> {
    let mut found = Vec::new();
    let mut at = from;
    while at < to {
        match phrase(tokens, at) {
            Some(phrase) if phrase.end <= to && phrase.end > at => {
                at = phrase.end;
                found.push(phrase);
            }
            _ => at += 1,
        }
    }
    found
}

/// An anchor that stands somewhere.
struct Found {
    anchor: Anchor,
    end: usize,
    sure: bool,
}

fn found(anchor: Anchor, end: usize) -> Option<Found> {
    Some(Found { anchor, end, sure: true })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefix {
    None,
    In,
    On,
    Since,
    From,
    Until,
    By,
    Between,
}

/// The phrase that begins at `at`.
fn phrase(tokens: &Tokens<'_>, at: usize) -> Option<Phrase> {
    if let Some((anchor, end)) = lasting(tokens, at) {
        let bound = Bound::Since;
        return Some(Phrase { start: at, end, bound, anchor, clock: None, sure: true });
    }
    let (prefix, mut next) = prefix(tokens, at);
    let mut clock = None;
    if let Some((hour, end)) = hour(tokens, next) {
        return hour_first(tokens, at, next, prefix, hour, end);
    }
    if matches!(prefix, Prefix::None | Prefix::From | Prefix::Between)
        && let Some((first, last, end)) = day_range(tokens, next)
    {
        return Some(Phrase {
            start: at,
            end,
            bound: Bound::To(last),
            anchor: first,
            clock,
            sure: true,
        });
    }
    let first = anchor(tokens, next, prefix)?;
    next = first.end;
    if let Some((hour, end)) = hour(tokens, next) {
        clock = hour;
        next = end;
    }
    let joint: &[&str] = match prefix {
        Prefix::From => &["to", "until", "till", "through", "-", "\u{2013}"],
        Prefix::Between => &["and"],
        _ => &["\u{2013}", "through"],
    };
    if tokens.at(next).word(joint)
        && let Some(last) = anchor(tokens, next + 1, Prefix::From)
    {
        let bound = Bound::To(last.anchor);
        return Some(Phrase {
            start: at,
            end: last.end,
            bound,
            anchor: first.anchor,
            clock,
            sure: true,
        });
    }
    if prefix == Prefix::Between {
        return None;
    }
    let sure = first.sure || prefix != Prefix::None;
    Some(Phrase { start: at, end: next, bound: bound(prefix), anchor: first.anchor, clock, sure })
}

/// "at 3pm tomorrow", "at noon": the hour may come first, or alone.
fn hour_first(
    tokens: &Tokens<'_>,
    at: usize,
    hour_at: usize,
    before: Prefix,
    clock: Option<(i8, i8)>,
    end: usize,
) -> Option<Phrase> {
    if before != Prefix::None {
        return None;
    }
    let (inner, start) = prefix(tokens, end);
    if let Some(found) = anchor(tokens, start, inner) {
        let bound = bound(inner);
        return Some(Phrase {
            start: at,
            end: found.end,
            bound,
            anchor: found.anchor,
            clock,
            sure: true,
        });
    }
    let said = tokens.at(hour_at).fold == "at" && clock.is_some();
    let bound = Bound::During;
    said.then_some(Phrase { start: at, end, bound, anchor: Anchor::Offset(0), clock, sure: true })
}

fn bound(prefix: Prefix) -> Bound {
    match prefix {
        Prefix::None | Prefix::In | Prefix::On | Prefix::Between => Bound::During,
        Prefix::Since => Bound::Since,
        Prefix::From => Bound::From,
        Prefix::Until => Bound::Until,
        Prefix::By => Bound::By,
    }
}

fn prefix(tokens: &Tokens<'_>, at: usize) -> (Prefix, usize) {
    let word = tokens.at(at).fold.as_str();
    let next = tokens.at(at + 1).fold.as_str();
    match (word, next) {
        ("as", "of" | "from") => (Prefix::Since, at + 2),
        ("effective", "of" | "from") => (Prefix::From, at + 2),
        ("back" | "early" | "late" | "later" | "earlier" | "mid" | "sometime", "in") => {
            (Prefix::In, at + 2)
        }
        ("starting" | "beginning", "in" | "on" | "from") => (Prefix::From, at + 2),
        ("ever", "since") => (Prefix::Since, at + 2),
        ("up", "until" | "to" | "till") => (Prefix::Until, at + 2),
        ("no", "later") => (Prefix::By, at + 3),
        ("since", _) => (Prefix::Since, at + 1),
        ("from" | "starting" | "effective", _) => (Prefix::From, at + 1),
        ("until" | "till" | "til", _) => (Prefix::Until, at + 1),
        ("by", _) => (Prefix::By, at + 1),
        ("between", _) => (Prefix::Between, at + 1),
        ("in" | "during" | "within" | "around", _) => (Prefix::In, at + 1),
        ("on", _) => (Prefix::On, at + 1),
        ("early" | "late" | "later" | "earlier" | "mid" | "sometime", _) => (Prefix::None, at + 1),
        _ => (Prefix::None, at),
    }
}

fn anchor(tokens: &Tokens<'_>, at: usize, prefix: Prefix) -> Option<Found> {
    let at = if tokens.at(at).word(&["early", "late", "mid"]) { at + 1 } else { at };
    fixed(tokens, at)
        .or_else(|| close(tokens, at))
        .or_else(|| edge(tokens, at))
        .or_else(|| which(tokens, at))
        .or_else(|| day_month(tokens, at))
        .or_else(|| weekday(tokens, at, prefix))
        .or_else(|| month(tokens, at, prefix))
        .or_else(|| bare_season(tokens, at, prefix))
        .or_else(|| numeric(tokens, at))
        .or_else(|| away(tokens, at, prefix))
        .or_else(|| year(tokens, at, prefix))
        .or_else(|| ordinal(tokens, at, prefix))
}

/// Days that stand after a preposition which is read elsewhere, and the token after them.
pub(crate) fn anchor_after_preposition(tokens: &Tokens<'_>, at: usize) -> Option<(Anchor, usize)> {
    anchor(tokens, at, Prefix::In).map(|found| (found.anchor, found.end))
}

/// Words that are a day by themselves.
fn fixed(tokens: &Tokens<'_>, at: usize) -> Option<Found> {
    let skip = usize::from(tokens.at(at).fold == "the");
    if tokens.words_at(at + skip, &["day", "after", "tomorrow"]) {
        return found(Anchor::Offset(2), at + skip + 3);
    }
    if tokens.words_at(at + skip, &["day", "before", "yesterday"]) {
        return found(Anchor::Offset(-2), at + skip + 3);
    }
    let part = tokens.at(at + 1).word(&["morning", "afternoon", "evening", "night", "noon"]);
    let end = at + 1 + usize::from(part);
    match tokens.at(at).fold.as_str() {
        "today" | "tonight" => found(Anchor::Offset(0), end),
        "tomorrow" | "tmrw" => found(Anchor::Offset(1), end),
        "yesterday" => found(Anchor::Offset(-1), end),
        "this" if part => found(Anchor::Offset(0), end),
        "last" if tokens.at(at + 1).fold == "night" => found(Anchor::Offset(-1), end),
        _ => None,
    }
}

/// "end of day Friday", "EOD tomorrow", "close of business": the day itself, today if none is said.
fn close(tokens: &Tokens<'_>, at: usize) -> Option<Found> {
    const CLOSES: &[&[&str]] = &[
        &["end", "of", "day"],
        &["end", "of", "the", "day"],
        &["close", "of", "business"],
        &["close", "of", "play"],
        &["eod"],
        &["cob"],
    ];
    let at = at + usize::from(tokens.at(at).fold == "the");
    let words = CLOSES.iter().find(|words| tokens.words_at(at, words))?;
    let end = at + words.len();
    let on = usize::from(tokens.at(end).word(&["on", ","]));
    anchor(tokens, end + on, Prefix::On).or_else(|| found(Anchor::Offset(0), end))
}

/// "the end of March", "the beginning of the year".
fn edge(tokens: &Tokens<'_>, at: usize) -> Option<Found> {
    let at = at + usize::from(tokens.at(at).fold == "the");
    let is_end = match tokens.at(at).fold.as_str() {
        "end" => true,
        "beginning" | "start" | "middle" => false,
        _ => return None,
    };
    let at = at + 1 + usize::from(tokens.at(at + 1).fold == "of");
    let skip = usize::from(tokens.at(at).fold == "the");
    let inner = which(tokens, at)
        .or_else(|| month(tokens, at, Prefix::In))
        .or_else(|| {
            let unit = unit(&tokens.at(at + skip).fold)?;
            found(Anchor::Period(unit, Which::This), at + skip + 1)
        })
        .or_else(|| year(tokens, at, Prefix::In))?;
    let anchor = match inner.anchor {
        Anchor::Month(month, year, _) if is_end => Anchor::EndOf(month, year),
        Anchor::Period(unit, which) if is_end => Anchor::EndOfPeriod(unit, which),
        Anchor::Year(year) if is_end => Anchor::EndOf(12, Some(year)),
        other => other,
    };
    found(anchor, inner.end)
}

/// "last Tuesday", "next month", "this summer".
fn which(tokens: &Tokens<'_>, at: usize) -> Option<Found> {
    let at = at + usize::from(tokens.at(at).fold == "the");
    let which = match tokens.at(at).fold.as_str() {
        "last" | "past" | "previous" => Which::Last,
        "next" | "coming" | "following" => Which::Next,
        "this" | "current" => Which::This,
        "weekend" => return found(Anchor::Weekend(Which::Bare), at + 1),
        _ => return None,
    };
    let token = tokens.at(at + 1);
    let end = at + 2;
    if let Some(day) = day_name(&token.fold) {
        let part = tokens.at(end).word(&["morning", "afternoon", "evening", "night"]);
        let which = if which == Which::This { Which::Bare } else { which };
        return found(Anchor::Weekday(day, which), end + usize::from(part));
    }
    if let Some(month) = month_name(&token.fold) {
        return found(Anchor::Month(month, None, which), end);
    }
    if token.word(&["weekend"]) {
        return found(Anchor::Weekend(which), end);
    }
    if let Some(month) = season(&token.fold) {
        return found(Anchor::Season(month, which), end);
    }
    found(Anchor::Period(unit(&token.fold)?, which), end)
}

/// "3 May", "the 3rd of May 2025", "May 3rd, 2025".
fn day_month(tokens: &Tokens<'_>, at: usize) -> Option<Found> {
    let start = at + usize::from(tokens.at(at).fold == "the");
    let weekday = day_name(&tokens.at(start).fold).is_some();
    let comma = usize::from(weekday && tokens.at(start + 1).punct(','));
    let start = start + usize::from(weekday) + comma;
    let start = start + usize::from(weekday && tokens.at(start).fold == "the");
    if let Some(day) = day_number(tokens, start) {
        let of = usize::from(tokens.at(start + 1).fold == "of");
        let month = month_name(&tokens.at(start + 1 + of).fold)?;
        return with_year(tokens, day, month, start + 2 + of);
    }
    let month = month_name(&tokens.at(start).fold)?;
    let the = usize::from(tokens.at(start + 1).fold == "the");
    let day = day_number(tokens, start + 1 + the)?;
    // "may 3" in small letters can be a verb and a number.
    if !tokens.at(start).capital && tokens.at(start).is(Class::MODAL) {
        return None;
    }
    with_year(tokens, day, month, start + 2 + the)
}

fn with_year(tokens: &Tokens<'_>, day: i8, month: i8, end: usize) -> Option<Found> {
    let comma = usize::from(tokens.at(end).punct(','));
    match year_number(tokens, end + comma) {
        Some(year) => found(Anchor::Day(day, month, Some(year)), end + comma + 1),
        None => found(Anchor::Day(day, month, None), end),
    }
}

/// "from 3 to 7 June", "3-7 June".
fn day_range(tokens: &Tokens<'_>, at: usize) -> Option<(Anchor, Anchor, usize)> {
    if let Some((first, last)) = tokens.at(at).fold.split_once(['-', '\u{2013}'])
        && tokens.at(at).kind == Kind::Number
    {
        let (first, last): (i8, i8) = (first.parse().ok()?, last.parse().ok()?);
        let month = month_name(&tokens.at(at + 1).fold)?;
        let end = with_year(tokens, last, month, at + 2)?;
        return Some((Anchor::Day(first, month, year_of(end.anchor)), end.anchor, end.end));
    }
    let at = at + usize::from(tokens.at(at).fold == "the");
    let first = day_number(tokens, at)?;
    if !tokens.at(at + 1).word(&["to", "until", "till", "through", "and", "-", "\u{2013}"]) {
        return None;
    }
    let last = day_month(tokens, at + 2)?;
    let Anchor::Day(_, month, year) = last.anchor else { return None };
    Some((Anchor::Day(first, month, year), last.anchor, last.end))
}

fn year_of(anchor: Anchor) -> Option<i16> {
    match anchor {
        Anchor::Day(_, _, year) => year,
        _ => None,
    }
}

fn weekday(tokens: &Tokens<'_>, at: usize, prefix: Prefix) -> Option<Found> {
    let token = tokens.at(at);
    let day = day_name(&token.fold)?;
    // "every Tuesday" is no day.
    if tokens.before(at).word(&["every", "each", "other", "alternate", "most"]) {
        return None;
    }
    // "sat" and "sun" are also words.
    if token.fold.len() <= 4 && !(token.capital && prefix != Prefix::None) {
        return None;
    }
    let part = tokens.at(at + 1).word(&["morning", "afternoon", "evening", "night", "noon"]);
    let end = at + 1 + usize::from(part);
    if tokens.at(end).word(&["next"]) && tokens.at(end + 1).word(&["week"]) {
        return found(Anchor::Weekday(day, Which::Next), end + 2);
    }
    found(Anchor::Weekday(day, Which::Bare), end)
}

fn month(tokens: &Tokens<'_>, at: usize, prefix: Prefix) -> Option<Found> {
    let token = tokens.at(at);
    let month = month_name(token.fold.strip_prefix("mid-").unwrap_or(&token.fold))?;
    if let Some(year) = year_number(tokens, at + 1) {
        return found(Anchor::Month(month, Some(year), Which::Bare), at + 2);
    }
    let of = usize::from(tokens.at(at + 1).fold == "of");
    if of == 1
        && tokens.at(at + 2).word(&["last", "next", "this"])
        && tokens.at(at + 3).fold == "year"
    {
        return found(Anchor::Month(month, None, Which::Bare), at + 4);
    }
    // "may" is a verb and "March" a name unless a preposition says otherwise.
    let said =
        !matches!(prefix, Prefix::None | Prefix::On) && (token.capital || token.fold.len() > 3);
    said.then_some(Found {
        anchor: Anchor::Month(month, None, Which::Bare),
        end: at + 1,
        sure: true,
    })
}

/// "in the spring", "by autumn".
fn bare_season(tokens: &Tokens<'_>, at: usize, prefix: Prefix) -> Option<Found> {
    let at = at + usize::from(tokens.at(at).fold == "the");
    let month = season(&tokens.at(at).fold)?;
    if let Some(year) = year_number(tokens, at + 1) {
        return found(Anchor::Month(month, Some(year), Which::Bare), at + 2);
    }
    let next = tokens.at(at + 1);
    let alone = next.kind != Kind::Word
        || next.is(Class::PREPOSITION.or(Class::CONJUNCTION).or(Class::PRONOUN));
    let said = !matches!(prefix, Prefix::None | Prefix::On) && alone;
    said.then_some(Found { anchor: Anchor::Season(month, Which::Bare), end: at + 1, sure: true })
}

/// `2025-06-03`, `03.06.2025`, `Q3 2025`.
fn numeric(tokens: &Tokens<'_>, at: usize) -> Option<Found> {
    let token = tokens.at(at);
    if let Some(quarter) = token.fold.strip_prefix('q').and_then(|digit| digit.parse::<i8>().ok())
        && (1..=4).contains(&quarter)
    {
        let year = year_number(tokens, at + 1);
        return found(Anchor::Quarter(quarter, year), at + 1 + usize::from(year.is_some()));
    }
    if token.kind != Kind::Number {
        return None;
    }
    let iso: Vec<&str> = token.fold.split('-').collect();
    if let [year, month, day] = iso.as_slice()
        && year.len() == 4
    {
        let day = day.get(..2)?;
        return found(
            Anchor::Day(day.parse().ok()?, month.parse().ok()?, Some(year.parse().ok()?)),
            at + 1,
        );
    }
    let dotted: Vec<&str> = token.fold.split('.').collect();
    if let [day, month, year] = dotted.as_slice()
        && year.len() == 4
    {
        return found(
            Anchor::Day(day.parse().ok()?, month.parse().ok()?, Some(year.parse().ok()?)),
            at + 1,
        );
    }
    None
}

/// "two weeks ago", "in three days", "a year from now".
fn away(tokens: &Tokens<'_>, at: usize, prefix: Prefix) -> Option<Found> {
    let at =
        at + usize::from(tokens.at(at).word(&["about", "around", "roughly", "almost", "nearly"]));
    let (count, next) = length(tokens, at)?;
    let word = tokens.at(next).fold.as_str();
    let short = matches!(word, "hour" | "hours" | "minute" | "minutes" | "min" | "mins" | "hrs");
    let (unit, count) = if short { (Unit::Day, 0) } else { span_of(word, count)? };
    let after = tokens.at(next + 1);
    if after.word(&["ago", "earlier", "back"]) {
        return found(Anchor::Away(unit, count.checked_neg()?), next + 2);
    }
    if after.word(&["from"]) && tokens.at(next + 2).word(&["now", "today"]) {
        return found(Anchor::Away(unit, count), next + 3);
    }
    (prefix == Prefix::In).then_some(())?;
    found(Anchor::Away(unit, count), next + 1)
}

fn year(tokens: &Tokens<'_>, at: usize, prefix: Prefix) -> Option<Found> {
    if matches!(prefix, Prefix::None | Prefix::On) {
        return None;
    }
    // "in 2019 seats" is a count.
    let year = year_number(tokens, at)?;
    found(Anchor::Year(year), at + 1)
}

/// "on the 6th".
fn ordinal(tokens: &Tokens<'_>, at: usize, prefix: Prefix) -> Option<Found> {
    if prefix == Prefix::None || prefix == Prefix::In || tokens.at(at).fold != "the" {
        return None;
    }
    let token = tokens.at(at + 1);
    let ends = ["st", "nd", "rd", "th"].iter().any(|tail| token.fold.ends_with(tail));
    let alone = tokens.at(at + 2).kind != Kind::Word
        || tokens.at(at + 2).is(Class::PREPOSITION.or(Class::CONJUNCTION));
    let day = day_number(tokens, at + 1)?;
    (ends && alone).then_some(())?;
    found(Anchor::DayOfMonth(day), at + 2)
}

/// An hour at `at`, and the token after it. The inner is `None` if morning or evening is not said.
fn hour(tokens: &Tokens<'_>, at: usize) -> Option<(Option<(i8, i8)>, usize)> {
    let said = tokens.at(at).fold == "at" || tokens.at(at).punct('@');
    let at = at + usize::from(said);
    let token = tokens.at(at);
    match token.fold.as_str() {
        "noon" | "midday" => return Some((Some((12, 0)), at + 1)),
        "midnight" if said => return Some((Some((0, 0)), at + 1)),
        _ => {}
    }
    if token.kind != Kind::Number {
        return None;
    }
    let digits = token.fold.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let tail = token.fold.get(digits.len()..).unwrap_or("");
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hours, minutes): (i8, i8) = (hours.parse().ok()?, minutes.parse().ok()?);
    if !(0..24).contains(&hours) || !(0..60).contains(&minutes) {
        return None;
    }
    let next = tokens.at(at + 1);
    let (half, end) = match (tail, next.fold.as_str()) {
        ("am" | "pm", _) => (tail, at + 1),
        ("", "am" | "pm") => (next.fold.as_str(), at + 2),
        ("h", _) | ("", "h" | "o'clock") => ("", at + 1 + usize::from(tail.is_empty())),
        ("", _) => ("", at + 1),
        _ => return None,
    };
    match half {
        "pm" => Some((
            Some((
                if hours == 12 { 12 } else { hours.checked_add(12).filter(|h| *h < 24)? },
                minutes,
            )),
            end,
        )),
        "am" => Some((Some((if hours == 12 { 0 } else { hours }, minutes)), end)),
        _ if digits.contains(':') && said => Some((Some((hours, minutes)), end)),
        _ if said => {
            // "at 5": morning or evening is not said, so no hour is.
            let bare = !tokens.at(end).is(Class::TIME_UNIT) && next.kind != Kind::Word;
            bare.then_some((None, end))
        }
        _ => None,
    }
}

fn day_number(tokens: &Tokens<'_>, at: usize) -> Option<i8> {
    let token = tokens.at(at);
    if token.kind != Kind::Number {
        return None;
    }
    let digits = token.fold.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let tail = token.fold.get(digits.len()..)?;
    if !matches!(tail, "" | "st" | "nd" | "rd" | "th") || digits.len() > 2 {
        return None;
    }
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

fn year_number(tokens: &Tokens<'_>, at: usize) -> Option<i16> {
    let token = tokens.at(at);
    let sound = token.kind == Kind::Number && token.fold.len() == 4;
    sound.then(|| token.fold.parse().ok()).flatten().filter(|year| (1900..=2100).contains(year))
}

pub(super) fn unit(fold: &str) -> Option<Unit> {
    match fold {
        "day" | "days" => Some(Unit::Day),
        "week" | "weeks" => Some(Unit::Week),
        "month" | "months" => Some(Unit::Month),
        "quarter" | "quarters" => Some(Unit::Quarter),
        "year" | "years" | "yr" | "yrs" => Some(Unit::Year),
        _ => None,
    }
}

fn season(fold: &str) -> Option<i8> {
    match fold {
        "spring" => Some(3),
        "summer" => Some(6),
        "autumn" | "fall" => Some(9),
        "winter" => Some(12),
        _ => None,
    }
}

fn day_name(fold: &str) -> Option<Weekday> {
    match fold {
        "monday" | "mon" => Some(Weekday::Monday),
        "tuesday" | "tue" | "tues" => Some(Weekday::Tuesday),
        "wednesday" | "wed" => Some(Weekday::Wednesday),
        "thursday" | "thu" | "thur" | "thurs" => Some(Weekday::Thursday),
        "friday" | "fri" => Some(Weekday::Friday),
        "saturday" | "sat" => Some(Weekday::Saturday),
        "sunday" | "sun" => Some(Weekday::Sunday),
        _ => None,
    }
}

pub(crate) fn month_name(fold: &str) -> Option<i8> {
    const MONTHS: &[&str] = &[
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let whole = MONTHS.iter().position(|name| *name == fold);
    let short = || {
        let short = if fold == "sept" { "sep" } else { fold };
        MONTHS.iter().position(|name| short.len() == 3 && name.starts_with(short))
    };
    whole.or_else(short).and_then(|at| i8::try_from(at + 1).ok())
}
