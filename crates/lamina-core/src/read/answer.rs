//! Answering by quoting: which sentences of what was recalled answer the question, if any does.
//!
//! Nothing is written here that was not said. Each sentence is held against the question: which of its
//! words it has, or words near in meaning; whether it has the kind of thing that is asked for; how well
//! its record was found. Below a floor nothing is quoted: not to know is an answer.

mod fields;
mod in_force;
mod kind;
mod lapsed;
mod mood;
mod sentence;
mod sought;
pub mod verify;

use std::collections::{BTreeMap, BTreeSet};

use crate::read::words::{is_empty_word, matter, stem, words};
pub(in crate::read) use kind::is_alike;
use kind::{Kind, about_the_answer, base, implied, is_dated};
use lapsed::{bearing, heirs, succeeded, touches};
use mood::{is_hearsay, is_unreal};
use sought::{RELATION_MIN, Sought};

pub use fields::{FieldAnswer, answer_from_fields};
pub use in_force::{QuestionTime, put_in_force, without_time_clause};
pub use kind::Kind as AnswerKind;
pub use lapsed::Claimed;
pub use sentence::{cut, sentences};

/// A strength below this is not an answer.
pub const STRENGTH_MIN: f64 = 0.5;
/// Sentences that are looked at.
pub const SENTENCES_MAX: usize = 400;
/// A sentence that is quoted beside the best is nearly as strong.
const BESIDE: f64 = 0.8;
/// What a word counts for the relation that only stands elsewhere in the record.
const AROUND: f64 = 0.3;
/// What a word counts for the relation that another one says otherwise.
const ALIKE: f64 = 0.8;
/// The word that carries the relation has to be met this far.
const HEAD_MIN: f64 = 0.4;
/// What is left of the strength of somebody else's words about what the asker does, and about what is his.
const STRANGER_TO_I: f64 = 0.5;
const STRANGER_TO_MINE: f64 = 0.7;
/// Words nearer than this in meaning may stand for each other.
const NEAR_MIN: f64 = 0.45;

/// Something that was said, and may answer.
#[derive(Debug, Clone)]
pub struct Said<'a> {
    /// The words.
    pub text: &'a str,
    /// Who spoke, as words.
    pub speaker: &'a str,
    /// How well its record fits, 0 to 1.
    pub score: f64,
    /// Which of them was said just before it.
    pub after: Option<usize>,
    /// What is known because of it, in words.
    pub known: Vec<String>,
    /// What it claims; nothing if it does not matter whether that still stands.
    pub claims: Vec<Claimed>,
    /// When, in microseconds.
    pub at: i64,
    /// Each line stands for itself.
    pub in_lines: bool,
    /// Whoever asks said it.
    pub is_asker: bool,
}

/// One sentence of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// Which of what was said.
    pub said: usize,
    /// The words.
    pub text: &'a str,
    /// Where in it they start.
    pub start: usize,
}

/// What speaks for a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Grounds {
    /// The share of the question's words that it has, or words near them.
    pub coverage: f64,
    /// The share of the question's names that it, or what stands around it, has; 1 without names.
    pub names: f64,
    /// How near its meaning is to that of the question.
    pub nearness: f64,
    /// Whether it has the kind of thing that is asked for, -1 to 1.
    pub kind: f64,
    /// How well its record was found.
    pub score: f64,
}

/// A sentence that answers, or might.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Which of the sentences.
    pub sentence: usize,
    /// How sure it is that it answers, 0 to 1.
    pub strength: f64,
    /// Why.
    pub grounds: Grounds,
    /// What it claims is so no more.
    pub is_over: bool,
    /// Somebody who is not named is said to have told it.
    pub is_hearsay: bool,
}

/// How near two words and two texts are in meaning; 0 for nothing in common.
pub trait Meaning {
    /// Two words.
    fn words(&mut self, one: &str, other: &str) -> f64;
    /// A sentence, and the question.
    fn question(&mut self, sentence: &str) -> f64;
}

/// Every sentence that may answer with how well it does, the best first.
pub fn judge(
    question: &str,
    said: &[Said<'_>],
    sentences: &[Sentence<'_>],
    meaning: &mut dyn Meaning,
) -> Vec<Judged> {
    let asked = Asked::new(question, sentences);
    let own: Vec<Has> = sentences.iter().map(|sentence| Has::of(sentence.text)).collect();
    let whole: Vec<Has> = said.iter().map(|said| Has::around(said)).collect();
    let mut judged: Vec<Judged> = Vec::with_capacity(sentences.len());
    let mut over: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let stranger = share_of_strangers(question);
    // `Where do I live`: what others say of themselves does not answer it, if the asker has said anything.
    let own_words = stranger < 1.0 && said.iter().any(|one| one.is_asker);
    for (at, (sentence, has)) in sentences.iter().zip(&own).enumerate() {
        // Whoever asks does not answer, nor does whoever says what would be.
        let asks = sentence.text.trim_end().ends_with(['?', '\u{ff1f}']);
        if asks || (!asked.sought.is_unreal && is_unreal(sentence.text)) {
            continue;
        }
        let Some((of, around)) = said.get(sentence.said).zip(whole.get(sentence.said)) else {
            continue;
        };
        let before =
            of.after.and_then(|before| said.get(before)).filter(|before| self::asks(before));
        let before = before.map(|before| Has::of(before.text));
        let near = Near { has, around, before: before.as_ref(), known: Vec::new() };
        let grounds = Grounds {
            coverage: asked.coverage(sentence.text, &near, meaning),
            names: asked.named(&near),
            nearness: meaning.question(sentence.text).clamp(0.0, 1.0),
            kind: asked.kind.fits(sentence.text, &asked.stems),
            score: of.score,
        };
        let claims = bearing(of, sentence, &asked.stems);
        let heirs = heirs((sentence, of), &claims, said);
        let near =
            Near { known: claims.iter().map(|claim| Has::of(&claim.words)).collect(), ..near };
        let answers =
            asked.is_about(&claims) && asked.is_met(sentence.text, &near, &grounds, meaning);
        let strength = if answers { strength(&grounds) } else { 0.0 };
        let strength = if own_words && !of.is_asker { strength * stranger } else { strength };
        let (is_over, is_hearsay) = (heirs.is_some(), is_hearsay(sentence.text));
        judged.push(Judged { sentence: at, strength, grounds, is_over, is_hearsay });
        over.extend(heirs.map(|heirs| (at, heirs)));
    }
    let mut judged = succeeded(judged, &over, said, sentences);
    judged.sort_by(|one, other| {
        other.strength.total_cmp(&one.strength).then_with(|| one.sentence.cmp(&other.sentence))
    });
    judged
}

/// Those that are quoted: the best, if it is strong enough, and what is nearly as strong, of other
/// records.
pub fn quoted(judged: &[Judged], sentences: &[Sentence<'_>], most: usize) -> Vec<Judged> {
    let Some(best) = judged.first().filter(|best| best.strength >= STRENGTH_MIN) else {
        return Vec::new();
    };
    let floor = (best.strength * BESIDE).max(STRENGTH_MIN);
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut records: BTreeSet<usize> = BTreeSet::new();
    let mut quoted: Vec<Judged> = Vec::new();
    // What is only said to have been told gives way to what somebody says.
    let strong = || judged.iter().take_while(|one| one.strength >= floor);
    let is_told = strong().all(|one| one.is_hearsay);
    for one in strong().filter(|one| is_told || !one.is_hearsay) {
        let Some(sentence) = sentences.get(one.sentence) else { continue };
        // The same words said twice answer once, and a record speaks once.
        let new = records.insert(sentence.said) && seen.insert(words(sentence.text).join(" "));
        if new && quoted.len() < most {
            quoted.push(*one);
        }
    }
    // What was found best comes first: it knows what has been replaced.
    let order = |one: &Judged| one.strength + one.grounds.score;
    quoted.sort_by(|one, other| {
        order(other).total_cmp(&order(one)).then_with(|| one.sentence.cmp(&other.sentence))
    });
    quoted
}

/// What is left of the strength of somebody else's words: who asks about himself is answered by his own, unless he
/// asks how something is done.
fn share_of_strangers(question: &str) -> f64 {
    let said = words(question);
    let has = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
    match said.first().map(String::as_str) {
        Some("how" | "should" | "can" | "may") => 1.0,
        _ if has(&["i"]) => STRANGER_TO_I,
        _ if has(&["my", "me", "mine"]) => STRANGER_TO_MINE,
        _ => 1.0,
    }
}

/// How sure it is that a sentence answers. A logistic of its grounds.
fn strength(grounds: &Grounds) -> f64 {
    let Grounds { coverage, names, nearness, kind, score } = *grounds;
    let x = -4.6 + 5.0 * coverage + 2.4 * nearness + 1.0 * score + 0.9 * kind - 2.0 * (1.0 - names);
    1.0 / (1.0 + (-x).exp())
}

fn asks(said: &Said<'_>) -> bool {
    said.text.trim_end().ends_with(['?', '\u{ff1f}'])
}

/// The words of a sentence, of the record around it, and of the question it follows.
struct Near<'a> {
    has: &'a Has,
    around: &'a Has,
    before: Option<&'a Has>,
    /// What the sentence claims, in the words of what is known.
    known: Vec<Has>,
}

/// What a question asks.
struct Asked {
    kind: Kind,
    /// Its stems with how telling each is.
    weights: BTreeMap<String, (String, f64)>,
    stems: BTreeSet<String>,
    names: BTreeSet<String>,
    sought: Sought,
}

impl Asked {
    fn new(question: &str, sentences: &[Sentence<'_>]) -> Asked {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for sentence in sentences {
            for stem in Has::of(sentence.text).stems {
                *seen.entry(stem).or_default() += 1;
            }
        }
        let count = sentences.len() as f64;
        let mut weights = BTreeMap::new();
        let counts = |word: &String| !is_empty_word(word) && !sought::NOW.contains(&word.as_str());
        for word in words(question).into_iter().filter(counts) {
            let stem = rooted(&word);
            let often = seen.get(&stem).copied().unwrap_or(0) as f64;
            let telling = (1.0 + (count + 1.0) / (often + 0.5)).ln();
            let telling = if about_the_answer(&word) { 0.3 * telling } else { telling };
            weights.insert(stem, (word, telling));
        }
        let mut names = matter(question).names;
        // A month in a question says when, and names nobody.
        let dated: BTreeSet<String> = words(question)
            .iter()
            .filter(|word| is_dated(&[(*word).clone()]))
            .map(|word| stem(word))
            .collect();
        names.retain(|name| !dated.contains(name));
        let stems = weights.keys().cloned().collect();
        let sought = Sought::of(question, &names);
        Asked { kind: Kind::of(question), weights, stems, names, sought }
    }

    /// The share of the question's words that a sentence has. What stands around it counts for less,
    /// and so does a word that is only near in meaning.
    fn coverage(&self, sentence: &str, near: &Near<'_>, meaning: &mut dyn Meaning) -> f64 {
        let (mut found, mut total) = (0.0, 0.0);
        let thing = &self.sought.thing;
        let is_there = thing.is_in(sentence, &near.own(), &self.names, false);
        for (stem, (word, telling)) in &self.weights {
            total += telling;
            // Who gives a number need not say that it is a number.
            let share = match thing.is_called(word) && is_there {
                true => 1.0,
                false => near.share((stem, word), meaning),
            };
            found += telling * share;
        }
        if total > 0.0 { found / total } else { 0.0 }
    }

    fn named(&self, near: &Near<'_>) -> f64 {
        if self.names.is_empty() {
            return 1.0;
        }
        let known = |name: &&String| near.has_stem(name);
        self.names.iter().filter(known).count() as f64 / self.names.len() as f64
    }

    /// Whether a sentence has what is sought: the relation, and a thing of the kind.
    fn is_met(
        &self,
        sentence: &str,
        near: &Near<'_>,
        grounds: &Grounds,
        meaning: &mut dyn Meaning,
    ) -> bool {
        let Sought { thing, relation, is_check, .. } = &self.sought;
        let says_nothing_new = grounds.kind <= -1.0 && self.kind == Kind::Thing;
        if grounds.names <= 0.0 || (says_nothing_new && !is_check) {
            return false;
        }
        let exact = relation.iter().all(|word| near.has.stems.contains(&rooted(word)))
            && !is_state(sentence, relation);
        let mut met = 0.0;
        for word in relation {
            let share = near.relates((&rooted(word), word), meaning);
            if self.sought.head.as_ref() == Some(word) && share < HEAD_MIN {
                return false;
            }
            met += share;
        }
        let far = !relation.is_empty() && met < RELATION_MIN * relation.len() as f64;
        !far && thing.is_in(sentence, &near.own(), &self.names, exact)
    }

    /// Whether what a sentence claims is about whom the question is about. Who asks about himself is not
    /// answered by what somebody else does.
    fn is_about(&self, claims: &[&Claimed]) -> bool {
        if !self.sought.is_own || claims.iter().any(|claim| claim.is_own) {
            return true;
        }
        let is_somebody =
            |claim: &Claimed| claim.subject.chars().next().is_some_and(char::is_uppercase);
        // What something is says nothing about who has it.
        let mut others = claims.iter().filter(|claim| !claim.words.contains(" is a ")).peekable();
        others.peek().is_none()
            || others.all(|claim| !is_somebody(claim) && !touches(&claim.words, &self.stems))
    }
}

impl Near<'_> {
    /// The stems of the sentence and of what it claims.
    fn own(&self) -> BTreeSet<String> {
        let known = self.known.iter().flat_map(|known| &known.stems);
        known.chain(&self.has.stems).cloned().collect()
    }

    fn has_stem(&self, stem: &str) -> bool {
        self.has.stems.contains(stem)
            || self.around.stems.contains(stem)
            || self.before.is_some_and(|before| before.stems.contains(stem))
    }

    /// How far a word of the relation is met: by the sentence itself, by what it claims, by the question that it
    /// answers; what else its record says is of other things.
    fn relates(&self, (stem, word): (&str, &str), meaning: &mut dyn Meaning) -> f64 {
        if self.has.stems.contains(stem) {
            return 1.0;
        }
        let mut known = self.known.iter().chain(self.before);
        if known.any(|known| known.stems.contains(stem)) {
            return 0.9;
        }
        let near = self.has.words.iter().chain(self.known.iter().flat_map(|known| &known.words));
        let near = near.map(|other| meaning.words(word, other)).fold(0.0, f64::max);
        let around = if self.around.stems.contains(stem) { AROUND } else { 0.0 };
        let alike = self.has.stems.iter().any(|other| kind::is_alike(stem, other));
        match near {
            _ if alike => ALIKE,
            near if near >= NEAR_MIN => near.max(around),
            _ => around,
        }
    }

    /// How far a word is met.
    fn share(&self, (stem, word): (&str, &str), meaning: &mut dyn Meaning) -> f64 {
        if self.has.stems.contains(stem) {
            1.0
        } else if self.has_stem(stem) {
            0.8
        } else {
            let near = self.has.words.iter().map(|other| meaning.words(word, other));
            let near = near.fold(0.0, f64::max);
            if near >= NEAR_MIN { near.min(0.9) } else { 0.0 }
        }
    }
}

/// Whether a sentence says of a word that something is like that, and not that it happened: `is divorced`.
fn is_state(sentence: &str, relation: &[String]) -> bool {
    let said = words(sentence);
    said.windows(2).any(|pair| {
        let [verb, word] = pair else { return false };
        matches!(verb.as_str(), "is" | "are" | "am")
            && relation.iter().any(|asked| rooted(asked) == rooted(word))
    })
}

/// The words of a text.
struct Has {
    stems: BTreeSet<String>,
    /// Those that carry something, whole.
    words: BTreeSet<String>,
}

impl Has {
    fn of(text: &str) -> Has {
        let all = words(text);
        let mut stems: BTreeSet<String> = all.iter().map(|word| rooted(word)).collect();
        stems.extend(implied(&all).map(stem));
        let words = all.into_iter().filter(|word| !is_empty_word(word)).collect();
        Has { stems, words }
    }

    /// The whole record: what else was said, by whom, and what is known because of it.
    fn around(said: &Said<'_>) -> Has {
        let mut text = format!("{} {}", said.speaker, said.text);
        for known in &said.known {
            text.push(' ');
            text.push_str(known);
        }
        Has::of(&text)
    }
}

/// A word without its ending, and without the form of its verb.
pub(in crate::read) fn rooted(word: &str) -> String {
    base(word).map_or_else(|| stem(word), stem)
}

#[cfg(test)]
mod tests;
