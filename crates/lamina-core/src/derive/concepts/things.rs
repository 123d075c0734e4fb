//! From the words of an episode to the things it is about.
//!
//! Names are things. Nouns are things too, but two that always stand side by side are one ("login
//! page"), and a noun that is known to go alone stays alone. All of it is decided over keyed hashes:
//! which words are names and nouns was read from words, and stands in the answers.

use std::collections::{BTreeMap, BTreeSet};

use crate::derive::naming::words;

/// A keyed hash of a folded name.
pub type Key = [u8; 16];

/// Articles that are no part of a name.
const ARTICLES: &[&str] = &["the", "a", "an"];

/// A noun of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noun {
    /// Its word.
    pub word: Key,
    /// Its word and the next noun's as one, if that follows at once.
    pub with_next: Option<Key>,
    /// It opens a sentence, so that its capital does not tell whether it is a name.
    pub maybe_name: bool,
}

/// What one event speaks of, in the order in which it is said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spoken {
    /// Names.
    pub names: Vec<Key>,
    /// Nouns, each as often as it is said.
    pub nouns: Vec<Noun>,
}

/// How often something is said.
#[derive(Debug, Clone, Copy, Default)]
struct Said {
    times: u32,
    events: u32,
    last: Option<usize>,
    first: usize,
    /// At least once it is no name for sure.
    sure: bool,
}

impl Said {
    fn count(&mut self, event: usize, order: usize) {
        if self.times == 0 {
            self.first = order;
        }
        self.times += 1;
        if self.last != Some(event) {
            self.events += 1;
            self.last = Some(event);
        }
    }
}

/// The things of an episode, the most important first: names before nouns, what more events speak of
/// before what fewer do. `known` says whether something occurred as a thing of its own before.
pub fn things(events: &[Spoken], known: &dyn Fn(Key) -> bool) -> Vec<Key> {
    let mut names: BTreeMap<Key, Said> = BTreeMap::new();
    let mut single: BTreeMap<Key, Said> = BTreeMap::new();
    let mut double: BTreeMap<(Key, Key, Key), Said> = BTreeMap::new();
    let mut order = 0;
    for (event, spoken) in events.iter().enumerate() {
        for name in &spoken.names {
            order += 1;
            names.entry(*name).or_default().count(event, order);
        }
        for (noun, next) in
            spoken.nouns.iter().zip(spoken.nouns.iter().skip(1).map(Some).chain([None]))
        {
            order += 1;
            single.entry(noun.word).or_default().count(event, order);
            if let (Some(both), Some(next)) = (noun.with_next, next) {
                let said = double.entry((noun.word, next.word, both)).or_default();
                said.count(event, order);
                said.sure |= !noun.maybe_name;
            }
        }
    }
    let times = |word: &Key| single.get(word).map_or(0, |said| said.times);
    // The first of a run wins: "search index rebuild" is a search index, and a rebuild; but what goes
    // with something known before it goes with nothing behind it.
    let behind: BTreeSet<Key> = double.keys().map(|(_, other, _)| *other).collect();
    let mut pairs: Vec<((Key, Key, Key), Said)> = double.into_iter().collect();
    pairs.sort_by_key(|(_, said)| said.first);
    let mut joined: BTreeMap<Key, Key> = BTreeMap::new();
    for ((one, other, both), said) in pairs {
        let always = times(&one) == said.times && times(&other) == said.times && one != other;
        let apart =
            known(one) || known(other) || names.contains_key(&one) || names.contains_key(&other);
        if always
            && !behind.contains(&one)
            && (known(both) || !apart && said.sure)
            && !joined.contains_key(&one)
            && !joined.contains_key(&other)
        {
            joined.insert(one, both);
            joined.insert(other, both);
        }
    }
    let mut nouns: BTreeMap<Key, Said> = BTreeMap::new();
    for (word, said) in single {
        let thing = joined.get(&word).copied().unwrap_or(word);
        let kept = nouns.entry(thing).or_insert(said);
        kept.first = kept.first.min(said.first);
    }
    let ranked = |counted: BTreeMap<Key, Said>| {
        let mut all: Vec<(Key, Said)> = counted.into_iter().collect();
        all.sort_by_key(|(_, said)| (std::cmp::Reverse(said.events), said.first));
        all.into_iter().map(|(key, _)| key)
    };
    let mut all: Vec<Key> = ranked(names).collect();
    for noun in ranked(nouns) {
        if !all.contains(&noun) {
            all.push(noun);
        }
    }
    all
}

/// A name or a noun without what does not tell two things apart: case, accents, punctuation, an
/// article, a plural. `None` if nothing is left.
pub fn folded(name: &str) -> Option<String> {
    let mut words = words(name);
    if words.len() > 1 && words.first().is_some_and(|first| ARTICLES.contains(&first.as_str())) {
        words.remove(0);
    }
    if let Some(last) = words.pop() {
        words.push(singular(&last));
    }
    (!words.is_empty()).then(|| words.join(" "))
}

/// The singular of a word, as far as its ending tells; enough to join "refund" and "refunds".
fn singular(word: &str) -> String {
    let is = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    let cut = |ending: usize| word.get(..word.len().saturating_sub(ending)).unwrap_or(word);
    if word.chars().count() < 4 || !word.ends_with('s') || is(&["ss", "us", "is"]) {
        word.to_owned()
    } else if word.len() > 4 && is(&["ies"]) {
        format!("{}y", cut(3))
    } else if is(&["sses", "shes", "ches", "xes", "oes"]) {
        cut(2).to_owned()
    } else {
        cut(1).to_owned()
    }
}

#[cfg(test)]
mod tests;
