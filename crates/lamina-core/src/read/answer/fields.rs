//! Questions that a structured record answers: which record is meant, which of its fields is asked for, and whether the
//! value says yes or no.
//!
//! A record comes as lines `key: value`. Its first text names it. Of several records of one source about one thing, the
//! last that was made by the time in question counts.

use std::collections::BTreeSet;

use super::kind::base;
use super::{QuestionTime, Said};
use crate::read::plan::asks_of_past;
use crate::read::words::{is_empty_word, stem, words};

/// A field of a record that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldAnswer {
    /// Which of what was said.
    pub said: usize,
    /// The name of the record and the field, as words.
    pub text: String,
    /// Whether the value says yes, if the question wants to know that.
    pub verdict: Option<bool>,
}

/// Groups of words of which one in a question asks for a key that has another.
const ASPECTS: &[&[&str]] = &[
    &["price", "cost", "charge", "worth", "amount", "pay", "quote", "fee", "sum", "total", "sold"],
    &["owner", "own", "responsible", "assignee", "assigned"],
    &["percent", "percentage", "rollout", "rolled"],
    &["status", "state", "stage", "result", "phase"],
    &["seats", "seat", "licences", "licenses"],
];
/// Words that ask for the state of a thing.
const STATES: &[&str] = &[
    "active", "approved", "closed", "done", "enabled", "failing", "finished", "fixed", "green",
    "happened", "off", "on", "open", "passed", "passing", "ready", "red", "running", "sold",
    "live", "broken", "failed", "doing",
];
/// Keys that have it.
const STATE_KEYS: &[&str] =
    &["status", "state", "stage", "result", "enabled", "active", "open", "done", "phase"];
/// States and values that are the wished ones, and those that are not.
const GOOD: &[&str] = &[
    "active",
    "approved",
    "closed",
    "done",
    "enabled",
    "finished",
    "fixed",
    "green",
    "live",
    "on",
    "passed",
    "passing",
    "ready",
    "running",
    "sold",
    "true",
    "won",
    "success",
    "ok",
    "completed",
    "paid",
    "shipped",
];
const BAD: &[&str] = &[
    "broken",
    "failed",
    "failing",
    "false",
    "off",
    "open",
    "red",
    "pending",
    "progress",
    "lost",
    "inactive",
    "disabled",
    "blocked",
    "cancelled",
    "todo",
    "error",
];
/// Endings of keys that hold money.
const MONEY: &[&str] = &["gbp", "eur", "usd", "chf", "price", "cost", "amount", "total"];
const CHECKS: &[&str] =
    &["is", "are", "was", "were", "has", "have", "did", "does", "do", "am", "can"];
/// Words of a question that name no thing.
const ASKING: &[&str] = &["still", "now", "already", "currently", "much", "many", "get", "got"];

/// A record as its lines.
struct Fields<'a> {
    said: usize,
    lines: Vec<(&'a str, &'a str)>,
}

impl<'a> Fields<'a> {
    fn of(said: usize, text: &'a str) -> Option<Fields<'a>> {
        let lines: Vec<(&str, &str)> =
            text.lines().filter_map(|line| line.split_once(": ")).collect();
        (lines.len() > 1).then_some(Fields { said, lines })
    }

    /// The place of the line that names the record: its first text.
    fn name(&self) -> Option<usize> {
        self.lines.iter().position(|(_, value)| is_text(value))
    }
}

fn is_text(value: &str) -> bool {
    value.chars().any(char::is_alphabetic) && !matches!(value, "true" | "false")
}

fn is_number(value: &str) -> bool {
    value.parse::<f64>().is_ok()
}

fn roots(text: &str) -> BTreeSet<String> {
    let all = words(text);
    let told = all.iter().filter(|word| !is_empty_word(word));
    told.map(|word| base(word).map_or_else(|| stem(word), stem)).collect()
}

/// The field that answers a question; nothing if no record does.
pub fn answer_from_fields(
    question: &str,
    said: &[Said<'_>],
    time: QuestionTime,
) -> Option<FieldAnswer> {
    let asked = Question::new(question);
    let records: Vec<Fields<'_>> = said
        .iter()
        .enumerate()
        .filter(|(_, one)| one.in_lines)
        .filter_map(|(at, one)| Fields::of(at, one.text))
        .collect();
    let fit = |record: &Fields<'_>| asked.fit(record);
    let best = records.iter().filter_map(fit).max()?;
    let at = |record: &Fields<'_>| said.get(record.said).map_or(0, |one| one.at);
    let until = time.until.or(time.now.map(|now| now.saturating_add(1)));
    let meant = records.iter().filter(|record| fit(record) == Some(best));
    let in_time = meant.filter(|record| until.is_none_or(|until| at(record) < until));
    let fields = in_time.filter_map(|record| Some((record, asked.field(record)?)));
    let is_first = question.contains("first");
    let (record, field) = match is_first && asks_of_past(question) {
        true => fields.min_by_key(|(record, _)| at(record)),
        false => fields.max_by_key(|(record, _)| at(record)),
    }?;
    let (key, value) = *record.lines.get(field)?;
    let name = record.name().filter(|name| *name != field);
    let name = name.and_then(|name| record.lines.get(name)).map(|(_, name)| *name);
    let text = match name {
        Some(name) => format!("{name}: {key} {value}"),
        None => format!("{key}: {value}"),
    };
    let verdict = asked.verdict(key, value);
    Some(FieldAnswer { said: record.said, text, verdict })
}

/// What a question asks of a record.
struct Question {
    said: Vec<String>,
    roots: BTreeSet<String>,
    is_check: bool,
}

impl Question {
    fn new(question: &str) -> Question {
        let said = words(question);
        let starts = said.first().is_some_and(|first| CHECKS.contains(&first.as_str()));
        let short =
            said.len() <= 4 && said.last().is_some_and(|last| STATES.contains(&last.as_str()));
        Question { is_check: starts || short, roots: roots(question), said }
    }

    fn has(&self, list: &[&str]) -> bool {
        self.said.iter().any(|word| list.contains(&word.as_str()))
    }

    /// How many words of the question stand in the values of a record; nothing if its name is not asked about, or if
    /// the question speaks of much else.
    fn fit(&self, record: &Fields<'_>) -> Option<usize> {
        let (_, name) = record.lines.get(record.name()?)?;
        let named = roots(name).intersection(&self.roots).count();
        if named == 0 {
            return None;
        }
        let mut known: BTreeSet<String> = BTreeSet::new();
        for (key, value) in &record.lines {
            known.extend(roots(key));
            if is_text(value) {
                known.extend(roots(value));
            }
        }
        let other = self.said.iter().filter(|word| {
            let root = base(word).map_or_else(|| stem(word), stem);
            let asks = STATES.contains(&word.as_str())
                || ASKING.contains(&word.as_str())
                || super::kind::about_the_answer(word)
                || ASPECTS.iter().flat_map(|group| group.iter()).any(|one| stem(one) == root);
            !is_empty_word(word) && !asks && !known.contains(&root)
        });
        // One word may say what the thing is: `deal`, `suite`, `till`.
        (other.count() <= 2).then_some(named)
    }

    /// The line that has what is asked for.
    fn field(&self, record: &Fields<'_>) -> Option<usize> {
        let name = record.name();
        let places = || (0..record.lines.len()).filter(|at| Some(*at) != name);
        let key = |at: usize| record.lines.get(at).map_or("", |(key, _)| *key);
        let value = |at: usize| record.lines.get(at).map_or("", |(_, value)| *value);
        let named = || name.map(value).map(roots).unwrap_or_default();
        // A word of the question that is not a word of the name stands in the key.
        let own: BTreeSet<String> = self.roots.difference(&named()).cloned().collect();
        let direct = |at: &usize| !roots(key(*at)).is_disjoint(&own);
        let alike = |at: &usize| {
            let key: BTreeSet<String> = roots(key(*at));
            ASPECTS.iter().any(|group| {
                let group: BTreeSet<String> = group.iter().map(|word| stem(word)).collect();
                !group.is_disjoint(&key) && !group.is_disjoint(&own)
            })
        };
        let quantity = self.said.windows(2).any(|pair| {
            matches!(pair, [how, much] if how == "how" && (much == "much" || much == "many"))
        });
        let money = |at: &usize| {
            is_number(value(*at))
                && words(key(*at)).iter().any(|word| MONEY.contains(&word.as_str()))
        };
        let state =
            |at: &usize| words(key(*at)).iter().any(|word| STATE_KEYS.contains(&word.as_str()));
        if self.said.first().is_some_and(|first| first == "who" || first == "whose") {
            return places().filter(|at| is_text(value(*at))).find(|at| direct(at) || alike(at));
        }
        let numbers: Vec<usize> = places().filter(|at| is_number(value(*at))).collect();
        if quantity {
            let numbers = || numbers.iter().copied();
            return numbers()
                .find(|at| direct(at) || alike(at))
                .or_else(|| numbers().find(money).filter(|_| self.has(&["much"])))
                .or(match numbers().collect::<Vec<_>>().as_slice() {
                    [one] => Some(*one),
                    _ => None,
                });
        }
        if self.is_check && self.has(STATES) {
            return places().find(state).or_else(|| places().find(direct));
        }
        places()
            .find(direct)
            .or_else(|| places().find(alike))
            .or_else(|| places().find(state).filter(|_| self.has(STATES)))
    }

    /// Whether a value says yes to a question that wants to know whether something is so.
    fn verdict(&self, key: &str, value: &str) -> Option<bool> {
        if !self.is_check {
            return None;
        }
        let value = value.to_lowercase();
        let said = words(&value.replace('_', " "));
        let is_one = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
        // A flag that is named for what is asked: `failing: true`.
        let of_key = words(&key.replace('_', " ")).iter().any(|word| BAD.contains(&word.as_str()));
        let good = match (is_one(GOOD), is_one(BAD)) {
            (true, false) => !of_key,
            (false, true) => of_key,
            _ => return None,
        };
        let asks = |list: &[&str]| self.has(list);
        match (asks(GOOD), asks(BAD)) {
            (true, false) => Some(good),
            (false, true) => Some(!good),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
