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
/// Numbers that tell how long something took.
const DURATIONS: &[&str] = &["elapsed_ms", "uptime_ms", "behind_ms"];
const ID_DIGITS: usize = 32;
const HASH_DIGITS: usize = 64;

/// What one server has shown so far.
#[derive(Debug)]
pub(super) struct Mask {
    /// Times from here on are the run's own.
    since: Micros,
    names: HashMap<String, String>,
    /// Masked words by kind, in the order they were first seen.
    own: BTreeMap<String, Vec<String>>,
}

impl Mask {
    /// Nothing seen yet.
    pub(super) fn new(since: Micros) -> Mask {
        Mask { since, names: HashMap::new(), own: BTreeMap::new() }
    }

    /// The words of a kind that this server has shown, first seen first.
    pub(super) fn own(&self, kind: &str) -> &[String] {
        self.own.get(kind).map(Vec::as_slice).unwrap_or_default()
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
                for (name, value) in members.iter_mut() {
                    // The parts of a duration are durations.
                    let key = if DURATIONS.contains(&key) { key } else { name };
                    self.value(key, value, foreign);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(key, item, foreign)),
            Value::Number(_) if DURATIONS.contains(&key) => *value = Value::from("<duration>"),
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
        let own = self.own.entry(kind.to_owned()).or_default();
        let name = format!("<{kind} {}>", own.len());
        own.push(word.to_owned());
        self.names.insert(word.to_owned(), name.clone());
        name
    }
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
