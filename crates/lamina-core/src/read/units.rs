//! What a text asks for, in units that a record has or has not.
//!
//! In scripts with spaces a unit is a word. Other scripts are searched by overlapping pairs of characters,
//! and a pair is not a word: half of them stand across two words and are in no record that does not repeat
//! the question. So what counts there are the characters, each met by either of its two pairs; and
//! characters that only hold a sentence together count nothing.

use std::collections::BTreeSet;

use crate::read::rerank::Touch;
use crate::read::words::{is_unspaced, stem};

/// Words of a question that are told apart.
const TERMS_MAX: usize = 64;

/// A unit of what is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// How telling it is.
    pub weight: f64,
    /// The words of the question by any of which it is met, as bits.
    pub terms: u64,
    /// It is a name.
    pub is_name: bool,
    /// It is a character of a script without spaces.
    pub is_character: bool,
}

/// The units of a text: the whole question, or a sentence of it. `terms` are the words that the question
/// was searched by, with how telling they are.
pub fn units(
    text: &str,
    is_whole: bool,
    terms: &[(&str, f64)],
    names: &BTreeSet<String>,
) -> Vec<Unit> {
    let lower = text.to_lowercase();
    let mut units = Vec::new();
    for (at, (word, weight)) in terms.iter().enumerate().take(TERMS_MAX) {
        if !word.contains(is_cut) && (is_whole || lower.contains(word)) {
            let is_name = names.contains(&stem(word));
            let terms = 1 << at;
            units.push(Unit { weight: *weight, terms, is_name, is_character: false });
        }
    }
    let mut characters = characters(&lower, terms, &|c| !holds_together(c));
    if characters.is_empty() && units.is_empty() {
        characters = self::characters(&lower, terms, &|_| true);
    }
    units.extend(characters);
    units
}

/// The characters of scripts without spaces that count.
fn characters(text: &str, terms: &[(&str, f64)], counts: &dyn Fn(char) -> bool) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut known = BTreeSet::new();
    for run in text.split(|c| !is_cut(c)).filter(|run| !run.is_empty()) {
        let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).collect();
        let end_of = |index: usize| starts.get(index).copied().unwrap_or(run.len());
        for (index, c) in run.chars().enumerate().filter(|(_, c)| counts(*c)) {
            let before = index.checked_sub(1).map(|first| (end_of(first), end_of(index + 1)));
            let after = (end_of(index), end_of(index + 2));
            let pairs = before.into_iter().chain([after]);
            let (mut bits, mut sum, mut met) = (0_u64, 0.0, 0.0);
            for pair in pairs.filter_map(|(from, to)| run.get(from..to)) {
                // A character at the end of a run is its own second pair, which nobody searched by.
                let found = terms.iter().take(TERMS_MAX).position(|(word, _)| *word == pair);
                if let Some((at, (_, weight))) = found.and_then(|at| Some((at, terms.get(at)?))) {
                    bits |= 1 << at;
                    sum += weight;
                    met += 1.0;
                }
            }
            if bits != 0 && known.insert((c, bits)) {
                // Two characters make a word, more or less.
                let weight = 0.5 * sum / met;
                units.push(Unit { weight, terms: bits, is_name: false, is_character: true });
            }
        }
    }
    units
}

/// The share of what is asked for that these words of the question are.
pub fn share(units: &[Unit], bits: u64) -> f64 {
    let total: f64 = units.iter().map(|unit| unit.weight).sum();
    let here = units.iter().filter(|unit| unit.terms & bits != 0);
    let weight: f64 = here.map(|unit| unit.weight).sum();
    if total > 0.0 { weight / total } else { 0.0 }
}

/// The share of what is asked for that is written in scripts without spaces.
pub fn unspaced(units: &[Unit]) -> f64 {
    let weight =
        |units: &mut dyn Iterator<Item = &Unit>| units.map(|unit| unit.weight).sum::<f64>();
    let total = weight(&mut units.iter());
    let characters = weight(&mut units.iter().filter(|unit| unit.is_character));
    if total > 0.0 { characters / total } else { 0.0 }
}

/// How far the best of these comes to what is asked for, with its names or without; `None` if that is
/// nothing, or if there are none. A character is met or not: the meanings of single characters are so much
/// alike that their nearness says nothing.
pub fn met(units: &[Unit], touches: &[&Touch], with_names: bool) -> Option<f64> {
    let counts = |unit: &&Unit| with_names || !unit.is_name;
    let total: f64 = units.iter().filter(counts).map(|unit| unit.weight).sum();
    let near = |touch: &Touch, unit: &Unit| {
        let met = touch.met.iter().enumerate().take(TERMS_MAX);
        let any = met.filter(|(at, _)| unit.terms >> at & 1 == 1);
        let near = any.map(|(_, met)| f64::from(*met)).fold(0.0, f64::max);
        if unit.is_character { near.floor() } else { near }
    };
    let meets = |touch: &&Touch| {
        let each = units.iter().filter(counts).map(|unit| near(touch, unit) * unit.weight);
        each.sum::<f64>()
    };
    let best = touches.iter().map(meets).fold(0.0, f64::max);
    (total > 0.0 && !touches.is_empty()).then(|| best / total)
}

/// Scripts that are searched by pairs of characters.
fn is_cut(c: char) -> bool {
    is_unspaced(c)
        || matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7a3}'
            | '\u{0e80}'..='\u{0eff}' | '\u{1780}'..='\u{17ff}' | '\u{1000}'..='\u{109f}')
}

/// Characters that stand for grammar and not for a matter: Chinese particles, pronouns and words of
/// questions, and the syllables in which Japanese writes its endings.
fn holds_together(c: char) -> bool {
    const HOLDS: &str = "的了是在有和与或也都就不没吗呢吧啊呀哦哎唉嗯诶哈什么哪谁怎那这个些我你您他她它\
                         们之其而且但被把对从到给为以于及着过地得很太真只还再又会能可要想请问是否";
    matches!(c, '\u{3041}'..='\u{3096}') || HOLDS.contains(c)
}

#[cfg(test)]
mod tests;
