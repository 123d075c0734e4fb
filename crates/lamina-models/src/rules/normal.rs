//! The normalisers: from the bytes of a span to the object they may stand for. They know nothing of
//! the rules, read only the span, and are what the gate compares with.

use lamina_types::layer::extraction::Object;

use super::number;
use super::take::{base_form, fold_space, local_date};
use super::time::{self, Anchor, Observed, Tense, days};
use super::token::{Kind, Tokens};

/// The number that the words are, all of them.
pub(crate) fn number(words: &str) -> Option<Object> {
    let tokens = Tokens::of(words);
    let found = number::number(&tokens, 0)?;
    (found.end == tokens.len()).then_some(Object::Number { value: found.value, unit: None })
}

/// The quantity that the words are.
pub(crate) fn quantity(words: &str) -> Option<Object> {
    let tokens = Tokens::of(words);
    let (value, unit, end) = number::quantity(&tokens, 0)?;
    (end == tokens.len()).then(|| Object::Number { value, unit: Some(unit.to_owned()) })
}

/// The amount of money that the words are.
pub(crate) fn money(words: &str) -> Option<Object> {
    let tokens = Tokens::of(words);
    let (amount, currency, end) = number::money(&tokens, 0)?;
    (end == tokens.len()).then(|| Object::Money { amount, currency: currency.to_owned() })
}

/// The dates that the words can mean: one for each direction in which they can be completed.
pub(crate) fn dates(words: &str, observed: &Observed) -> Vec<String> {
    let tokens = Tokens::of(words);
    let found = time::find(&tokens, 0, tokens.len());
    let [phrase] = found.as_slice() else { return Vec::new() };
    if phrase.start != 0 || phrase.end != tokens.len() {
        return Vec::new();
    }
    let mut dates = Vec::new();
    if let Anchor::Day(day, month, None) = phrase.anchor {
        dates.push(format!("--{month:02}-{day:02}"));
    }
    for tense in [Tense::Past, Tense::Present, Tense::Future] {
        if let Some(days) = days(phrase.anchor, tense, observed.today) {
            dates.push(local_date(phrase, days.first));
        }
    }
    dates
}

/// The forms of an activity: as said or with its verb in the base form, with its times or without.
pub(crate) fn activities(words: &str) -> Vec<String> {
    let tokens = Tokens::of(words);
    let first = tokens.at(0);
    if first.kind != Kind::Word {
        return Vec::new();
    }
    let times = time::find(&tokens, 1, tokens.len());
    let mut kept = String::new();
    let mut at = 1;
    for time in &times {
        kept.push(' ');
        kept.push_str(tokens.slice(at, time.start));
        at = time.end;
    }
    kept.push(' ');
    kept.push_str(tokens.slice(at, tokens.len()));
    let whole = tokens.slice(1, tokens.len());
    let mut heads = vec![tokens.slice(0, 1).to_owned()];
    heads.extend(base_form(first));
    heads
        .iter()
        .flat_map(|head| [format!("{head} {whole}"), format!("{head} {kept}")])
        .map(|text| fold_space(&text))
        .collect()
}

/// Every instant that a time in the text can mean.
pub(crate) fn instants(text: &str, observed: &Observed) -> Vec<lamina_types::ValidAt> {
    let tokens = Tokens::of(text);
    let mut found = vec![lamina_types::ValidAt(observed.at)];
    for phrase in time::find(&tokens, 0, tokens.len()) {
        let mut anchors = vec![phrase.anchor];
        if let time::Bound::To(last) = phrase.bound {
            anchors.push(last);
        }
        for anchor in anchors {
            for tense in [Tense::Past, Tense::Present, Tense::Future] {
                if let Some(days) = days(anchor, tense, observed.today) {
                    found.extend(observed.start_of(days.first));
                    found.extend(observed.start_of(days.after));
                }
            }
        }
    }
    found
}

/// The instant from which the words say that something holds.
pub(crate) fn begins(words: &str, observed: &Observed) -> Option<lamina_types::ValidAt> {
    let days = only_days(words, Tense::Past, observed)?;
    observed.start_of(days.first)
}

/// The instant at which, by the words, something is over.
pub(crate) fn is_over(words: &str, observed: &Observed) -> Option<lamina_types::ValidAt> {
    let days = only_days(words, Tense::Future, observed)?;
    observed.start_of(days.after)
}

/// The days that the one time among the words means.
fn only_days(words: &str, tense: Tense, observed: &Observed) -> Option<time::Days> {
    let tokens = Tokens::of(words);
    let found = time::find(&tokens, 0, tokens.len());
    let [phrase] = found.as_slice() else { return None };
    days(phrase.anchor, tense, observed.today)
}
