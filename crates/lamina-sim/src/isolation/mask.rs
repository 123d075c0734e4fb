//! An answer without what is a server's own and random: ids, hashes, cursors and the time. Two
//! servers that were asked the same then say the same.
//!
//! Every masked word is replaced by its kind and the number it was first seen under, so that an id
//! that comes back in another place, or one that should not be there at all, still shows.

use std::collections::{BTreeMap, HashMap, HashSet};

use lamina_types::Micros;
use serde_json::Value;

use crate::client::Response;

/// Headers that tell the time, or the length of what was masked.
const HEADERS: &[&str] = &[
    "date",
    "content-length",
    "x-ratelimit-reset",
    "x-cortex-token-expires-in",
    "x-cortex-token-expires-at",
];
/// Numbers that tell how long something took, or when it did.
const DURATIONS: &[&str] = &[
    "elapsed_ms",
    "uptime_ms",
    "behind_ms",
    "time_ms",
    "recall_ms",
    "llm_ms",
    "total_ms",
    "estimated_duration_ms",
    "idle_seconds",
    "began_at_us",
    "issued_at_us",
    "synthesis_lag",
];
/// How far a computed number may be from its twin: some of them depend on how old a record is.
const NUMBERS_APART_MAX: f64 = 0.002;
const ID_DIGITS: usize = 32;
const HASH_DIGITS: usize = 64;
const SIGNATURE_DIGITS: usize = 128;

/// What one server has shown so far.
#[derive(Debug)]
pub(super) struct Mask {
    /// Times from here on are the run's own.
    since: Micros,
    names: HashMap<String, String>,
    /// Masked words by kind, in the order they were first seen.
    own: BTreeMap<String, Vec<String>>,
    /// The kinds and words of all of them, in that order.
    order: Vec<(String, String)>,
    /// Whether words that were not seen before get a name.
    naming: bool,
}

impl Mask {
    /// Nothing seen yet.
    pub(super) fn new(since: Micros) -> Mask {
        Mask { since, names: HashMap::new(), own: BTreeMap::new(), order: Vec::new(), naming: true }
    }

    /// The words of a kind that this server has shown, first seen first.
    pub(super) fn own(&self, kind: &str) -> &[String] {
        self.own.get(kind).map(Vec::as_slice).unwrap_or_default()
    }

    /// How much was seen so far.
    pub(super) fn seen(&self) -> usize {
        self.order.len()
    }

    /// Forgets what was seen since.
    pub(super) fn back_to(&mut self, seen: usize) {
        for (kind, word) in self.order.drain(seen.min(self.order.len())..) {
            self.names.remove(&word);
            if let Some(own) = self.own.get_mut(&kind) {
                own.retain(|known| *known != word);
            }
        }
    }

    /// The answer as both servers must give it. Words in `foreign` are what the client itself brought
    /// along and stay as they are.
    pub(super) fn answer(&mut self, response: &Response, foreign: &HashSet<String>) -> String {
        let mut text = format!("{}\n", response.status);
        for (name, value) in &response.headers {
            if !HEADERS.contains(&name.as_str()) {
                let value = self.text(value, foreign);
                text.push_str(&format!("{name}: {value}\n"));
            }
        }
        text.push('\n');
        text.push_str(&self.body(&response.text(), foreign));
        text
    }

    /// A body, or the data of an event.
    pub(super) fn body(&mut self, body: &str, foreign: &HashSet<String>) -> String {
        match serde_json::from_str::<Value>(body) {
            Ok(mut value) => {
                self.value("", &mut value, foreign);
                value.to_string()
            }
            Err(_) => self.text(body, foreign),
        }
    }

    fn value(&mut self, key: &str, value: &mut Value, foreign: &HashSet<String>) {
        match value {
            Value::Object(members) => {
                let named: Vec<(String, Value)> = std::mem::take(members).into_iter().collect();
                // Records by their ids come in the order of these.
                let by_id = named.iter().any(|(name, _)| is_id(name));
                let shape = |mask: &mut Mask, (name, value): &(String, Value)| match by_id {
                    true => [&Value::from(name.as_str()), value]
                        .map(|part| mask.shape(key, part, foreign)),
                    false => [name.clone(), String::new()],
                };
                let mut shaped = self.shaped(named, shape);
                if by_id {
                    shaped.sort_by(|(one, _), (other, _)| one.cmp(other));
                }
                self.each(shaped, |mask, (name, mut value)| {
                    // The parts of a duration are durations.
                    let key = if DURATIONS.contains(&key) { key } else { &name };
                    mask.value(key, &mut value, foreign);
                    let mut name = mask.text(&name, foreign);
                    while members.contains_key(&name) {
                        name.push('\'');
                    }
                    members.insert(name, value);
                });
            }
            Value::Array(items) => {
                // Records of one entry have ids in no particular order, and some lists are sorted by id.
                let shape = |mask: &mut Mask, item: &Value| mask.shape(key, item, foreign);
                let mut shaped = self.shaped(std::mem::take(items), shape);
                shaped.sort_by(|(one, _), (other, _)| one.cmp(other));
                self.each(shaped, |mask, mut item| {
                    mask.value(key, &mut item, foreign);
                    items.push(item);
                });
            }
            Value::Number(_) if DURATIONS.contains(&key) => *value = Value::from("<duration>"),
            Value::String(_) if DURATIONS.contains(&key) => *value = Value::from("<duration>"),
            Value::String(text) => {
                let now = lamina_api::time::parse(text).is_ok_and(|at| at >= self.since);
                *text = match key {
                    _ if now => "<time>".to_owned(),
                    "next_cursor" if !is_id(text) => self.name("cursor", text),
                    _ => self.text(text, foreign),
                };
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Things with what they look like to somebody who has not seen them before.
    fn shaped<T, S>(&mut self, all: Vec<T>, shape: impl Fn(&mut Mask, &T) -> S) -> Vec<(S, T)> {
        all.into_iter().map(|one| (shape(self, &one), one)).collect()
    }

    /// Masks things in their order. Which of several that look alike is which another answer may tell; a name
    /// given here would be chance.
    fn each<S: PartialEq, T>(&mut self, shaped: Vec<(S, T)>, mut mask: impl FnMut(&mut Mask, T)) {
        let alike: Vec<usize> =
            shaped.chunk_by(|(one, _), (other, _)| one == other).map(<[_]>::len).collect();
        let alone = alike.into_iter().flat_map(|count| std::iter::repeat_n(count == 1, count));
        let naming = self.naming;
        for (is_alone, (_, one)) in alone.collect::<Vec<_>>().into_iter().zip(shaped) {
            self.naming = naming && is_alone;
            mask(self, one);
        }
        self.naming = naming;
    }

    /// An item without what is a server's own, but for what was named before: the same on both servers,
    /// whatever its ids are.
    fn shape(&mut self, key: &str, item: &Value, foreign: &HashSet<String>) -> String {
        let was = std::mem::replace(&mut self.naming, false);
        let mut item = item.clone();
        self.value(key, &mut item, foreign);
        self.naming = was;
        item.to_string()
    }

    fn text(&mut self, text: &str, foreign: &HashSet<String>) -> String {
        let mut masked = String::with_capacity(text.len());
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut rest = text;
        while let Some(start) = rest.find(is_word) {
            let (between, after) = rest.split_at(start);
            let end = after.find(|c| !is_word(c)).unwrap_or(after.len());
            let (word, left) = after.split_at(end);
            masked.push_str(between);
            if foreign.contains(word) {
                masked.push_str(word);
            } else if is_id(word) {
                let kind = word.rsplit_once('_').map_or("", |(kind, _)| kind).to_owned();
                masked.push_str(&self.name(&kind, word));
            } else if word.len() == HASH_DIGITS && is_hex(word) {
                masked.push_str(&self.name("hash", word));
            } else if word.len() == SIGNATURE_DIGITS && is_hex(word) {
                masked.push_str(&self.name("signature", word));
            } else if word.len() == ID_DIGITS && is_hex(word) {
                masked.push_str(&self.name("bare", word));
            } else {
                masked.push_str(word);
            }
            rest = left;
        }
        masked + rest
    }

    fn name(&mut self, kind: &str, word: &str) -> String {
        if let Some(name) = self.names.get(word) {
            return name.clone();
        }
        if !self.naming {
            return format!("<{kind}>");
        }
        let own = self.own.entry(kind.to_owned()).or_default();
        let name = format!("<{kind} {}>", own.len());
        own.push(word.to_owned());
        self.order.push((kind.to_owned(), word.to_owned()));
        self.names.insert(word.to_owned(), name.clone());
        name
    }
}

/// Whether two masked answers say the same: every word, and every number that is not a fraction.
pub(super) fn same(one: &str, other: &str) -> bool {
    let numeric = |c: char| c.is_ascii_digit() || c == '.';
    let words = |text: &str| -> Vec<String> {
        text.split_inclusive(|c: char| !numeric(c)).map(str::to_owned).collect()
    };
    let (one, other) = (words(one), words(other));
    let fraction = |word: &str| -> Option<f64> {
        let number = word.trim_end_matches(|c: char| !numeric(c));
        number.contains('.').then(|| number.parse().ok()).flatten()
    };
    let close = |one: &str, other: &str| match (fraction(one), fraction(other)) {
        (Some(a), Some(b)) => {
            one.chars().last() == other.chars().last() && (a - b).abs() <= NUMBERS_APART_MAX
        }
        _ => false,
    };
    one.len() == other.len() && one.iter().zip(&other).all(|(a, b)| a == b || close(a, b))
}

/// A prefix, a line, and 32 digits.
pub(super) fn is_id(word: &str) -> bool {
    word.rsplit_once('_').is_some_and(|(kind, digits)| {
        !kind.is_empty() && digits.len() == ID_DIGITS && is_hex(digits)
    })
}

fn is_hex(digits: &str) -> bool {
    digits.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
}

#[cfg(test)]
mod tests;
