//! Times that are asked for: `last 30 days`, `in March`, `before the launch`.
//!
//! The same phrases that are found in what people say (`rules::time`), read as a stretch of time to look
//! into. A question is about the past unless it says otherwise, so an incomplete date is the last one.

use jiff::civil::Date;
use jiff::{Span, Timestamp, ToSpan};
use lamina_types::{Micros, ValidAt};

use crate::rules::number;
use crate::rules::time::{self, Bound, Days, Observed, Tense, days};
use crate::rules::token::Tokens;

/// A stretch of time, half open; without an end it is open there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// Its first instant.
    pub from: Option<ValidAt>,
    /// The first instant after it.
    pub to: Option<ValidAt>,
}

/// What a time that is asked for is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    /// A stretch of the calendar.
    Window(Window),
    /// Before something that happened, named by its words.
    Before(String),
    /// After something that happened.
    After(String),
}

/// Reads a whole text as a time, relative to an instant in a zone; `None` if it is none.
pub fn when(text: &str, at: Micros, zone: Option<&str>) -> Option<When> {
    let text = text.trim().trim_end_matches(['.', '?', '!']);
    if let Some((from, to)) = text.split_once("..") {
        return between(from, to, at, zone).map(When::Window);
    }
    let asked = Asked::new(text, at, zone);
    if let Some((window, 0, end)) = asked.first()
        && end == asked.tokens.len()
    {
        return Some(When::Window(window));
    }
    // A bare `March`, `2025` or `Friday` is a time here, because nothing else can be meant.
    for preposition in ["in", "on"] {
        let said = format!("{preposition} {text}");
        let asked = Asked::new(&said, at, zone);
        if let Some((window, 0, end)) = asked.first()
            && end == asked.tokens.len()
        {
            return Some(When::Window(window));
        }
    }
    happened(text)
}

/// The words by which the day of an instant is called.
pub fn day_words(at: Micros) -> Vec<String> {
    let Ok(at) = Timestamp::from_microsecond(at.0) else { return Vec::new() };
    let day = at.to_zoned(jiff::tz::TimeZone::UTC);
    let padded = day.strftime("%Y %m %d %B %A").to_string().to_lowercase();
    let plain = [day.month().to_string(), day.day().to_string()];
    padded.split(' ').map(str::to_owned).chain(plain).collect()
}

/// The first time that a question speaks of, with the bytes it stands in.
pub fn spoken(question: &str, at: Micros, zone: Option<&str>) -> Option<(Window, (usize, usize))> {
    let asked = Asked::new(question, at, zone);
    let (window, start, end) = asked.first()?;
    let bytes = (asked.tokens.at(start).start, asked.tokens.at(end.checked_sub(1)?).end);
    Some((window, bytes))
}

/// From when on a text says that something is so: `from 1 April`, `on 1 July`, `starting this Thursday`. A date
/// without a year is the next one.
pub fn begins(text: &str, at: Micros, zone: Option<&str>) -> Option<Micros> {
    let asked = Asked::new(text, at, zone);
    let phrases = time::find(&asked.tokens, 0, asked.tokens.len());
    let starts = |bound| matches!(bound, Bound::From | Bound::Since | Bound::During);
    let sure = phrases.into_iter().find(|phrase| phrase.sure && starts(phrase.bound))?;
    let found = days(sure.anchor, Tense::Future, asked.observed.today)?;
    asked.start(found.first).map(|from| from.0)
}

/// The middle days of the month that a question names: `mid May`, `in the middle of June`.
pub fn middle_of_month(question: &str, at: Micros, zone: Option<&str>) -> Option<Window> {
    let lower = question.to_lowercase();
    let behind = ["middle of ", "mid-", "mid "].iter().find_map(|words| {
        let start = lower.find(words)?.checked_add(words.len())?;
        question.get(start..)?.split(|c: char| !c.is_alphanumeric()).next()
    })?;
    let When::Window(window) = when(behind, at, zone)? else { return None };
    let (from, to) = (window.from?, window.to?);
    let third = (to.0.0 - from.0.0) / 3;
    let middle = |thirds: i64| Some(ValidAt(from.0.plus(third.saturating_mul(thirds))));
    Some(Window { from: middle(1), to: middle(2) })
}

fn between(from: &str, to: &str, at: Micros, zone: Option<&str>) -> Option<Window> {
    let window = |text: &str| match when(text, at, zone)? {
        When::Window(window) => Some(window),
        When::Before(_) | When::After(_) => None,
    };
    let (from, to) = (window(from)?.from?, window(to)?.from?);
    (from < to).then_some(Window { from: Some(from), to: Some(to) })
}

/// "before the launch": what happened is to be found by its words.
fn happened(text: &str) -> Option<When> {
    let lower = text.to_lowercase();
    let named = |prefix: &str| {
        let rest = lower.strip_prefix(prefix)?;
        let cut = text.len().checked_sub(rest.len())?;
        let words = text.get(cut..)?.trim();
        (words.chars().filter(|c| c.is_alphanumeric()).count() >= 3).then(|| words.to_owned())
    };
    let before = ["before ", "prior to ", "until ", "up to "].iter().find_map(|p| named(p));
    if let Some(words) = before {
        return Some(When::Before(words));
    }
    ["after ", "since ", "following "].iter().find_map(|p| named(p)).map(When::After)
}

/// A text whose times are asked for.
struct Asked<'a> {
    tokens: Tokens<'a>,
    observed: Observed,
    at: Micros,
}

impl<'a> Asked<'a> {
    fn new(text: &'a str, at: Micros, zone: Option<&str>) -> Asked<'a> {
        Asked { tokens: Tokens::of(text), observed: Observed::new(at, zone), at }
    }

    /// The first time, with the tokens it stands in.
    fn first(&self) -> Option<(Window, usize, usize)> {
        (0..self.tokens.len()).find_map(|at| {
            let (window, end) =
                self.stretch(at).or_else(|| self.edge(at)).or_else(|| self.plain(at))?;
            Some((window, at, end))
        })
    }

    /// "the last 30 days", "in the past two hours", "the next 3 weeks", "recently".
    fn stretch(&self, at: usize) -> Option<(Window, usize)> {
        let word = |at: usize| self.tokens.at(at).fold.as_str();
        if matches!(word(at), "recently" | "lately") {
            return Some((self.back(14.days())?, at + 1));
        }
        let mut next = at;
        if matches!(word(next), "in" | "over" | "during" | "within" | "for") {
            next += 1;
        }
        if word(next) == "the" {
            next += 1;
        }
        let ahead = match word(next) {
            "last" | "past" | "previous" => false,
            "next" | "coming" => true,
            _ => return None,
        };
        next += 1;
        let (count, end) = if word(next) == "few" {
            (3, next + 1)
        } else if word(next) == "couple" {
            (2, next + 1 + usize::from(word(next + 1) == "of"))
        } else {
            match number::count(&self.tokens, next) {
                Some(counted) => counted,
                // "the last hour": shorter than a day, so no period of the calendar.
                None if matches!(word(next), "hour" | "minute") => (1, next),
                None => return None,
            }
        };
        let count = i64::from(count);
        let none = Span::new();
        let span = match word(end) {
            "minute" | "minutes" | "min" | "mins" => none.try_minutes(count),
            "hour" | "hours" | "hrs" => none.try_hours(count),
            "day" | "days" => none.try_days(count),
            "week" | "weeks" => none.try_weeks(count),
            "fortnight" | "fortnights" => none.try_weeks(count.checked_mul(2)?),
            "month" | "months" => none.try_months(count),
            "quarter" | "quarters" => none.try_months(count.checked_mul(3)?),
            "year" | "years" | "yrs" => none.try_years(count),
            _ => return None,
        };
        let span = span.ok()?;
        let window = if ahead { self.ahead(span)? } else { self.back(span)? };
        Some((window, end + 1))
    }

    /// From so long ago until now, now included.
    fn back(&self, span: Span) -> Option<Window> {
        let from = self.moved(span.checked_mul(-1).ok()?)?;
        Some(Window { from: Some(from), to: Some(ValidAt(self.at.plus(1))) })
    }

    fn ahead(&self, span: Span) -> Option<Window> {
        Some(Window { from: Some(ValidAt(self.at)), to: Some(self.moved(span)?) })
    }

    fn moved(&self, span: Span) -> Option<ValidAt> {
        let now = Timestamp::from_microsecond(self.at.0).ok()?;
        let there = now.to_zoned(self.observed.zone().clone()).checked_add(span).ok()?;
        Some(ValidAt(Micros(there.timestamp().as_microsecond())))
    }

    /// "before March 3", "after yesterday", "prior to 2024".
    fn edge(&self, at: usize) -> Option<(Window, usize)> {
        let word = |at: usize| self.tokens.at(at).fold.as_str();
        let (before, next) = match (word(at), word(at + 1)) {
            ("before", _) => (true, at + 1),
            ("prior", "to") => (true, at + 2),
            ("earlier" | "older", "than") => (true, at + 2),
            ("after", _) => (false, at + 1),
            ("later" | "newer", "than") => (false, at + 2),
            _ => return None,
        };
        let (days, end) = self.days_at(next)?;
        let window = match before {
            true => Window { from: None, to: Some(self.start(days.first)?) },
            false => Window { from: Some(self.start(days.after)?), to: None },
        };
        Some((window, end))
    }

    /// "in March", "yesterday", "since Friday", "from 3 to 7 June".
    fn plain(&self, at: usize) -> Option<(Window, usize)> {
        let phrase = time::find(&self.tokens, at, self.tokens.len()).into_iter().next()?;
        if phrase.start != at || !phrase.sure {
            return None;
        }
        let found = days(phrase.anchor, Tense::Past, self.observed.today)?;
        let (first, after) = (self.start(found.first)?, self.start(found.after)?);
        let window = match phrase.bound {
            Bound::During => Window { from: Some(first), to: Some(after) },
            Bound::Since | Bound::From => Window { from: Some(first), to: None },
            Bound::Until | Bound::By => Window { from: None, to: Some(after) },
            Bound::To(last) => {
                let last = days(last, Tense::Past, self.observed.today)?;
                Window { from: Some(first), to: Some(self.start(last.after)?) }
            }
        };
        let sound = window.from.zip(window.to).is_none_or(|(from, to)| from < to);
        sound.then_some((window, phrase.end))
    }

    /// Days that are named without a preposition of their own.
    fn days_at(&self, at: usize) -> Option<(Days, usize)> {
        let own = time::find(&self.tokens, at, self.tokens.len()).into_iter().next();
        if let Some(phrase) =
            own.filter(|phrase| phrase.start == at && phrase.bound == Bound::During)
        {
            return Some((days(phrase.anchor, Tense::Past, self.observed.today)?, phrase.end));
        }
        let (anchor, end) = time::anchor_after_preposition(&self.tokens, at)?;
        Some((days(anchor, Tense::Past, self.observed.today)?, end))
    }

    fn start(&self, date: Date) -> Option<ValidAt> {
        self.observed.start_of(date)
    }
}

#[cfg(test)]
mod tests;
