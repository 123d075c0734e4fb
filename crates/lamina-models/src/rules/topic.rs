//! What a text is about, as hashes: folded content words, lightly stemmed. Two events that share
//! topics are about the same; the hashes do not give the words back.

use super::TOPICS_MAX;
use super::lexicon::Class;
use super::token::{Kind, Tokens};

pub(crate) fn topics(tokens: &Tokens<'_>) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    for at in 0..tokens.len() {
        let token = tokens.at(at);
        let ordinary = Class::STOP
            .or(Class::ADVERB)
            .or(Class::INTERJECTION)
            .or(Class::PRONOUN)
            .or(Class::BE)
            .or(Class::MODAL)
            .or(Class::PREPOSITION);
        let short = token.fold.chars().count() < 3 && token.fold.is_ascii();
        if token.kind != Kind::Word || token.is(ordinary) || short {
            continue;
        }
        let stem = match token.verb {
            Some(verb) => verb.lemma,
            None => stem(&token.fold),
        };
        let hash = fnv(stem.as_bytes());
        if !found.contains(&hash) {
            found.push(hash);
        }
        if found.len() >= TOPICS_MAX {
            break;
        }
    }
    found.sort_unstable();
    found
}

/// Plural, "-ing" and a last "e" off; enough to join "deadline" and "deadlines".
fn stem(fold: &str) -> &str {
    let plural =
        fold.strip_suffix('s').filter(|stem| stem.len() >= 3 && !stem.ends_with(['s', 'u', 'i']));
    let stem = plural.unwrap_or(fold);
    let stem = stem.strip_suffix("ing").filter(|stem| stem.len() >= 4).unwrap_or(stem);
    stem.strip_suffix('e').filter(|stem| stem.len() >= 3).unwrap_or(stem)
}

/// FNV-1a, 32 bits: stored, so it must never change.
fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests;
