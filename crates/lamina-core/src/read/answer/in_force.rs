//! Which of several sentences that answer is in force: the latest that has begun answers a question about the present,
//! the one that was in force then a question about the past, the earliest a question about the beginning.

use std::collections::BTreeSet;

use super::Has;
use super::kind::is_alike;
use super::{Judged, STRENGTH_MIN, Said, Sentence};
use crate::read::plan::{Plan, asks_of_past, plan};
use crate::read::words::{is_empty_word, stem, words};

/// A sentence competes with the best if it is at least this strong beside it.
const RIVAL_STRENGTH: f64 = 0.55;
/// A sentence competes with the best if it meets at least this share of the words that the best meets.
const RIVAL_COVERAGE: f64 = 0.8;
/// The same for a sentence that says that something has changed.
const CHANGED_COVERAGE: f64 = 0.55;
/// The strength of the sentence that is in force.
const IN_FORCE: f64 = 0.99;
/// What is left of the strength of a sentence that is not.
const OUTDATED: f64 = 0.4;

/// Words that add to what is known and replace nothing.
const ADDITIONS: &[&str] = &["also", "additionally", "besides", "another", "too", "plus"];
/// A sentence that says that something has changed answers less plainly.
const CHANGED_STRENGTH_MIN: f64 = 0.35;
/// How much less a sentence may have the kind of thing that is asked for.
const KIND_SLACK: f64 = 0.35;
/// Words that say that something has changed.
const CHANGES: &[&str] = &[
    "actually",
    "anymore",
    "became",
    "changed",
    "correction",
    "down",
    "instead",
    "longer",
    "migrated",
    "moved",
    "now",
    "raised",
    "replaced",
    "switched",
    "up",
    "new",
];
/// Words after which a date is a beginning.
const BEGINNINGS: &[&str] = &[
    "becomes", "become", "becoming", "from", "goes", "opens", "start", "starting", "starts",
    "takes", "will",
];
/// Words of a question for what came first.
const FIRST: &[&str] = &["first", "initially", "original", "originally"];

/// When a question is asked, and which time it asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QuestionTime {
    /// The present of the question, in microseconds; `None` if every record counts.
    pub now: Option<i64>,
    /// The first instant after the time that the question names.
    pub until: Option<i64>,
}

/// The part of a question before a clause that only says when: `before Colm`, `right after they moved`.
pub fn without_time_clause(question: &str) -> &str {
    let cut = [" before ", ", right after ", ", after ", ", before "];
    let at = cut.iter().filter_map(|clause| question.find(clause)).min();
    let head = at.and_then(|at| question.get(..at)).filter(|head| words(head).len() >= 3);
    head.unwrap_or(question)
}

/// Gives the sentence that is in force the first place, and takes the strength from those that it replaces. `begins`
/// tells from when on a sentence says that something is so.
pub fn put_in_force(
    question: &str,
    (said, sentences): (&[Said<'_>], &[Sentence<'_>]),
    mut judged: Vec<Judged>,
    time: QuestionTime,
    begins: &mut dyn FnMut(&Sentence<'_>) -> Option<i64>,
) -> Vec<Judged> {
    if is_about_several(question) {
        return judged;
    }
    let strongest = judged.iter().map(|one| one.strength).fold(0.0, f64::max);
    if strongest < STRENGTH_MIN {
        return judged;
    }
    let floor = (strongest * RIVAL_STRENGTH).max(STRENGTH_MIN);
    let strong = judged.iter().filter(|one| one.strength >= floor);
    let (coverage, kind) = strong.fold((0.0_f64, f64::MIN), |(coverage, kind), one| {
        (coverage.max(one.grounds.coverage), kind.max(one.grounds.kind))
    });
    let asked: BTreeSet<String> = stems(without_time_clause(question));
    let asks_how = ["how do", "how to", "how can"]
        .iter()
        .any(|start| question.to_lowercase().starts_with(start));
    let mut rivals = Vec::new();
    for (place, one) in judged.iter().enumerate() {
        let Some(sentence) = sentences.get(one.sentence) else { continue };
        let Some(record) = said.get(sentence.said) else { continue };
        let changed = has(sentence.text, CHANGES) || sentence.text.contains("as of");
        let (share, least) = match changed {
            true => (CHANGED_COVERAGE, CHANGED_STRENGTH_MIN),
            false => (RIVAL_COVERAGE, floor),
        };
        let is_rival = one.strength >= least
            && one.grounds.coverage >= coverage * share
            && one.grounds.kind >= kind - KIND_SLACK
            && speaks_of(sentence.text, &asked)
            && (asks_how || !is_procedure(sentence.text));
        if is_rival {
            let from = begins(sentence).filter(|from| *from > record.at && begins_later(sentence));
            rivals.push(Rival {
                place,
                at: from.unwrap_or(record.at),
                is_addition: has(sentence.text, ADDITIONS),
                is_hearsay: one.is_hearsay,
                text: sentence.text,
            });
        }
    }
    let Some(chosen) = choose(question, &rivals, time, (said, sentences)) else { return judged };
    let outdated: BTreeSet<usize> = rivals
        .iter()
        .filter(|rival| rival.place != chosen && !rival.is_addition)
        .map(|rival| rival.place)
        .collect();
    for (place, one) in judged.iter_mut().enumerate() {
        if place == chosen {
            one.strength = one.strength.max(IN_FORCE);
            one.grounds.score = 1.0;
        } else if outdated.contains(&place) {
            one.strength *= OUTDATED;
        }
    }
    judged.sort_by(|one, other| {
        other.strength.total_cmp(&one.strength).then_with(|| one.sentence.cmp(&other.sentence))
    });
    judged
}

/// A sentence that may be the one in force.
struct Rival<'a> {
    /// Its place among the judged.
    place: usize,
    /// From when on what it says is so.
    at: i64,
    is_addition: bool,
    is_hearsay: bool,
    text: &'a str,
}

/// The place of the sentence that answers; nothing if time does not decide.
fn choose(
    question: &str,
    rivals: &[Rival<'_>],
    time: QuestionTime,
    (said, sentences): (&[Said<'_>], &[Sentence<'_>]),
) -> Option<usize> {
    let replaces = |rival: &&Rival<'_>| !rival.is_addition && !rival.is_hearsay;
    let has_others = rivals.iter().any(|rival| replaces(&rival));
    let able: Vec<&Rival<'_>> =
        rivals.iter().filter(|rival| !has_others || replaces(rival)).collect();
    let latest = |until: Option<i64>| {
        let in_time = able.iter().filter(|rival| until.is_none_or(|until| rival.at < until));
        in_time.max_by_key(|rival| (rival.at, std::cmp::Reverse(rival.place))).copied()
    };
    if let Some(named) = clause_after(question, "before") {
        let is_named = |text: &str| {
            let known: BTreeSet<String> = words(text).iter().map(|word| stem(word)).collect();
            named.iter().all(|word| known.contains(word))
        };
        let mentions = sentences.iter().filter(|sentence| is_named(sentence.text));
        let first = mentions.filter_map(|one| said.get(one.said)).map(|one| one.at).min();
        let earlier = able.iter().filter(|rival| !is_named(rival.text));
        let earlier = earlier.filter(|rival| first.is_none_or(|first| rival.at < first));
        if let Some(found) = earlier.max_by_key(|rival| rival.at) {
            return Some(found.place);
        }
    }
    let past = asks_of_past(question);
    if past && has(question, FIRST) {
        return able.iter().min_by_key(|rival| rival.at).map(|rival| rival.place);
    }
    if time.until.is_some() {
        return latest(time.until).map(|rival| rival.place);
    }
    if past {
        return corrected(rivals, &able).map(|rival| rival.place);
    }
    let now = time.now.map(|now| now.saturating_add(1));
    latest(now).or_else(|| latest(None)).map(|rival| rival.place)
}

/// The last of the sentences that say the strongest one again with another value: of the past, too, the later word
/// counts.
fn corrected<'a, 'r>(rivals: &'r [Rival<'a>], able: &[&'r Rival<'a>]) -> Option<&'r Rival<'a>> {
    let first = rivals.first()?;
    let mut again =
        able.iter().copied().filter(|rival| is_said_again(first.text, rival.text)).peekable();
    again.peek()?;
    let all = again.chain([first]);
    all.max_by_key(|rival| (rival.at, std::cmp::Reverse(rival.place)))
}

/// Words at the end of a sentence that may be its value.
const VALUE_WORDS_MAX: usize = 8;
/// Words that two sentences begin with if one says the other again.
const SAID_AGAIN_MIN: usize = 4;

/// Whether two sentences are the same but for what stands at their end: `It was built by Ada`, `It was built by Ben`.
fn is_said_again(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    let equal = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let is_value = |said: &[String]| (1..=VALUE_WORDS_MAX).contains(&(said.len() - equal));
    equal >= SAID_AGAIN_MIN && is_value(&one) && is_value(&other)
}

/// Whether a question asks for several things, of which none replaces another.
fn is_about_several(question: &str) -> bool {
    let said = words(question);
    let counts = said.first().is_some_and(|first| first == "how") || has(question, &["many"]);
    match plan(question) {
        Plan::Ordering | Plan::Summary | Plan::History => true,
        Plan::Listing => !counts,
        _ => false,
    }
}

/// The stems of the words that carry something.
fn stems(text: &str) -> BTreeSet<String> {
    words(text).iter().filter(|word| !is_empty_word(word)).map(|word| super::rooted(word)).collect()
}

/// Whether a sentence itself has a word of the question, or one that says the same.
fn speaks_of(sentence: &str, asked: &BTreeSet<String>) -> bool {
    let own = Has::of(sentence).stems;
    asked.iter().any(|word| own.contains(word) || own.iter().any(|one| is_alike(one, word)))
}

/// `To change a price: update the sheet`.
fn is_procedure(sentence: &str) -> bool {
    sentence.starts_with("To ") && sentence.contains(':')
}

/// Whether the date in a sentence is when something begins.
fn begins_later(sentence: &Sentence<'_>) -> bool {
    has(sentence.text, BEGINNINGS)
}

fn has(text: &str, list: &[&str]) -> bool {
    words(text).iter().any(|word| list.contains(&word.as_str()))
}

/// The stems behind a word of a question; nothing if it does not have the word.
fn clause_after(question: &str, word: &str) -> Option<BTreeSet<String>> {
    let said = words(question);
    let at = said.iter().position(|one| one == word)?;
    let rest = said.iter().skip(at + 1).filter(|word| !is_empty_word(word));
    let stems: BTreeSet<String> = rest.map(|word| stem(word)).collect();
    (!stems.is_empty()).then_some(stems)
}

#[cfg(test)]
mod tests;
