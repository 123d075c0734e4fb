//! Patterns: how relations are said, as data. A row is written the way people speak
//! (`live|reside in <place>`), compiled once, and matched behind the verb of a clause.
//!
//! `a|b` is one of these words, `a|b?` perhaps one of them, `<kind>` takes a value of that kind.
//! Adverbs and times between the parts are skipped, so no row needs to think of them.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::scene::{Scene, Times};
use super::table;
use super::take::{self, Item, Take};

/// How the time of a clause bounds what it states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aspect {
    /// It is so, for as long as it is: "live in". In the past tense it is over.
    State,
    /// It starts to be so: "moved to", "joined".
    Begin,
    /// It happened: "visited", "read".
    Event,
    /// It stops being so: "left", "sold".
    End,
    /// It will happen: "going to".
    Plan,
    /// It is so once and for all: "born in", "founded".
    Fact,
    /// The times of the clause are about something else: "my aunt Ruth turned 90 in June".
    Timeless,
}

/// Who the subject must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// Somebody: an actor, a relative, a name, an animal.
    Person,
    /// The same, and a bare name only if people are called so: a company can be based somewhere too.
    Somebody,
    /// Something, or somebody by name.
    Thing,
    Anyone,
}

/// Where a part of a fact is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    Subject,
    /// The values of the n-th `<kind>`.
    Taken(usize),
    /// The speaker, whoever the subject is: "Grafana replaced Kibana".
    Speaker,
    /// The verb itself: "the deal closed".
    Verb,
    /// Nothing is named: "I'm unemployed".
    Nothing,
}

/// One fact that a row states.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Means {
    pub(crate) predicate: &'static str,
    pub(crate) subject: Slot,
    pub(crate) object: Slot,
    /// It ends what held.
    pub(crate) ends: bool,
}

/// Subject and first value.
pub(crate) const fn is(predicate: &'static str) -> Means {
    Means { predicate, subject: Slot::Subject, object: Slot::Taken(0), ends: false }
}

/// Subject and n-th value.
pub(crate) const fn nth(predicate: &'static str, n: usize) -> Means {
    Means { predicate, subject: Slot::Subject, object: Slot::Taken(n), ends: false }
}

/// The first value is the subject: "Bob owns the roadmap".
pub(crate) const fn of(predicate: &'static str) -> Means {
    Means { predicate, subject: Slot::Taken(0), object: Slot::Subject, ends: false }
}

/// One value is the subject, the other the object.
pub(crate) const fn among(predicate: &'static str, subject: usize, object: usize) -> Means {
    Means { predicate, subject: Slot::Taken(subject), object: Slot::Taken(object), ends: false }
}

/// The n-th value no longer holds.
pub(crate) const fn ends(predicate: &'static str, n: usize) -> Means {
    Means { predicate, subject: Slot::Subject, object: Slot::Taken(n), ends: true }
}

/// Something stops holding, and what is not said.
pub(crate) const fn ends_unnamed(predicate: &'static str) -> Means {
    Means { predicate, subject: Slot::Subject, object: Slot::Nothing, ends: true }
}

/// One way to say something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) says: &'static str,
    pub(crate) who: Who,
    pub(crate) aspect: Aspect,
    pub(crate) means: &'static [Means],
}

#[derive(Debug)]
enum Part {
    Words(Vec<&'static str>),
    Perhaps(Vec<&'static str>),
    Take(Take),
}

/// A row, compiled.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) row: &'static Row,
    parts: Vec<Part>,
}

impl Pattern {
    /// Whether it begins with a word of its own: only such rows may be read out of a fragment.
    pub(crate) fn opens_with_word(&self) -> bool {
        let first = self.parts.iter().find(|part| !matches!(part, Part::Perhaps(_)));
        matches!(first, Some(Part::Words(_)))
    }
}

/// What a row found.
#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) row: &'static Row,
    pub(crate) taken: Vec<Vec<Item>>,
}

/// The patterns of a verb, in the order of the tables.
pub(crate) fn patterns(lemma: &str) -> &'static [Pattern] {
    static COMPILED: OnceLock<HashMap<&'static str, Vec<Pattern>>> = OnceLock::new();
    let compiled = COMPILED.get_or_init(|| {
        let mut by_verb: HashMap<&'static str, Vec<Pattern>> = HashMap::new();
        for row in table::rows() {
            let mut words = row.says.split_whitespace();
            let verbs = words.next().unwrap_or_default();
            for verb in verbs.split('|') {
                let parts = words.clone().map(part).collect();
                by_verb.entry(verb).or_default().push(Pattern { row, parts });
            }
        }
        by_verb
    });
    compiled.get(lemma).map_or(&[], Vec::as_slice)
}

fn part(word: &'static str) -> Part {
    if let Some(kind) = word.strip_prefix('<').and_then(|word| word.strip_suffix('>')) {
        return Part::Take(Take::named(kind).expect("the tables name only known kinds"));
    }
    match word.strip_suffix('?') {
        Some(words) => Part::Perhaps(words.split('|').collect()),
        None => Part::Words(word.split('|').collect()),
    }
}

/// Matches a pattern at `at`.
pub(crate) fn matches(pattern: &Pattern, scene: &Scene<'_>, at: usize) -> Option<Match> {
    let mut at = at;
    let mut taken = Vec::new();
    let dated = pattern.parts.iter().any(|part| matches!(part, Part::Take(kind) if kind.is_time()));
    let times = if dated { Times::Entered } else { Times::Whole };
    for part in &pattern.parts {
        match part {
            Part::Words(words) => {
                at = scene.skip_to(at, words, times)?;
                at += 1;
            }
            Part::Perhaps(words) => {
                if let Some(found) = scene.skip_to(at, words, times) {
                    at = found + 1;
                }
            }
            Part::Take(kind) => {
                let from = if kind.is_time() { at } else { scene.skip(at) };
                let (items, next) =
                    take::take(*kind, scene, from).or_else(|| take::take(*kind, scene, at))?;
                taken.push(items);
                at = next;
            }
        }
    }
    Some(Match { row: pattern.row, taken })
}

#[cfg(test)]
mod tests;
