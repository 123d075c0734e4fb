//! What a sentence claims, and whether that still stands.
//!
//! A sentence whose claims were replaced, ended, denied or decided against is not quoted for how things are; what
//! ended it takes its place, as strong as it was.

use std::collections::{BTreeMap, BTreeSet};

use super::{Judged, Said, Sentence};
use crate::read::words::{is_empty_word, stem, words};

/// What ended something answers nearly as well as that would have.
const INHERITED: f64 = 0.98;

/// A claim of what was said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claimed {
    /// Where in the text it stands.
    pub bytes: (usize, usize),
    /// Whom or what it is about, as words.
    pub subject: String,
    /// That is whoever speaks.
    pub is_own: bool,
    /// What it says, as words.
    pub words: String,
    /// It says that this is over, as words.
    pub ends: Option<String>,
    /// It is so as far as is known.
    pub stands: bool,
    /// Which of what was said came in its place, or ended it.
    pub by: Vec<usize>,
}

/// The claims of a sentence that bear on a question: those that share a word with it, and if none does, all.
pub(super) fn bearing<'a>(
    said: &'a Said<'_>,
    sentence: &Sentence<'_>,
    asked: &BTreeSet<String>,
) -> Vec<&'a Claimed> {
    let all: Vec<&Claimed> = said.claims.iter().filter(|claim| is_in(claim, sentence)).collect();
    let touching: Vec<&Claimed> =
        all.iter().copied().filter(|claim| touches(&claim.words, asked)).collect();
    if touching.is_empty() { all } else { touching }
}

/// Whether words have any of these stems.
pub(super) fn touches(said: &str, asked: &BTreeSet<String>) -> bool {
    words(said).iter().any(|word| !is_empty_word(word) && asked.contains(&stem(word)))
}

/// If what a sentence claims is over: which of what was said came in its place. Claims count as far as they bear on
/// the question. A sentence of which nothing is known is over with what it names: `My car is a Tesla` with a later
/// `I sold my Tesla`.
pub(super) fn heirs(
    (sentence, of): (&Sentence<'_>, &Said<'_>),
    bearing: &[&Claimed],
    said: &[Said<'_>],
) -> Option<BTreeSet<usize>> {
    if !bearing.is_empty() {
        let over = bearing.iter().all(|claim| !claim.stands);
        return over.then(|| bearing.iter().flat_map(|claim| claim.by.iter().copied()).collect());
    }
    let names: BTreeSet<String> = words(sentence.text).into_iter().collect();
    let ended = |claim: &Claimed| {
        let ended = claim.ends.as_deref().filter(|_| claim.stands).map(words);
        ended
            .is_some_and(|ended| !ended.is_empty() && ended.iter().all(|word| names.contains(word)))
    };
    let later = said.iter().enumerate().filter(|(at, other)| {
        *at != sentence.said && other.at > of.at && other.claims.iter().any(ended)
    });
    let later: BTreeSet<usize> = later.map(|(at, _)| at).collect();
    (!later.is_empty()).then_some(later)
}

/// Leaves out what is over, and gives its strength to the best sentence of what came in its place.
pub(super) fn succeeded(
    judged: Vec<Judged>,
    heirs: &BTreeMap<usize, BTreeSet<usize>>,
    said: &[Said<'_>],
    sentences: &[Sentence<'_>],
) -> Vec<Judged> {
    let (over, mut rest): (Vec<Judged>, Vec<Judged>) =
        judged.into_iter().partition(|one| one.is_over);
    let of = |one: &Judged| sentences.get(one.sentence).map(|sentence| sentence.said);
    let speaks = |one: &Judged| {
        let sentence = sentences.get(one.sentence);
        let claims = sentence.and_then(|sentence| Some((sentence, said.get(sentence.said)?)));
        claims.is_some_and(|(sentence, said)| {
            said.claims.iter().any(|claim| claim.stands && is_in(claim, sentence))
        })
    };
    for one in over {
        for heir in heirs.get(&one.sentence).into_iter().flatten() {
            let of_it = rest.iter_mut().filter(|one| of(one) == Some(*heir));
            let best = of_it.max_by(|one, other| {
                speaks(one).cmp(&speaks(other)).then(one.strength.total_cmp(&other.strength))
            });
            if let Some(best) = best {
                best.strength = best.strength.max(one.strength * INHERITED);
                best.grounds.score = best.grounds.score.max(one.grounds.score);
            }
        }
    }
    rest
}

fn is_in(claim: &Claimed, sentence: &Sentence<'_>) -> bool {
    claim.bytes.0 < sentence.start + sentence.text.len() && sentence.start < claim.bytes.1
}
