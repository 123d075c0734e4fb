//! By what a name that is nearly the same is found.
//!
//! Two names that differ by one slip share at least one key: the first letter and the consonants of each
//! word in the order of the alphabet, or the same with one consonant left out. So a view that keeps the
//! hashes of keys finds every candidate by a few lookups; whether it is near enough is decided from the
//! words.

use std::collections::BTreeSet;

use super::NameKey;

/// Words with less letters have no slips.
const LETTERS_MIN: usize = 5;
/// Longer names are not compared.
const WORDS_MAX: usize = 4;
/// Keys of one name.
const KEYS_MAX: usize = 24;

/// The keys of a name; none if it is too short for a slip.
pub fn near_keys(name: &NameKey) -> Vec<String> {
    let words = name.words();
    let long = |word: &String| word.chars().count() >= LETTERS_MIN;
    if words.len() > WORDS_MAX || !words.iter().any(long) {
        return Vec::new();
    }
    let frames: Vec<Vec<char>> = words.iter().map(|word| frame(word)).collect();
    let mut keys = BTreeSet::from([joined(&frames)]);
    for (at, _) in words.iter().enumerate().filter(|(_, word)| long(word)) {
        let letters = frames.get(at).map_or(0, Vec::len);
        // Neither the first letter nor a digit is ever a slip.
        for left_out in 1..letters {
            if keys.len() >= KEYS_MAX {
                break;
            }
            let mut frames = frames.clone();
            if let Some(frame) = frames.get_mut(at)
                && frame.get(left_out).is_some_and(|letter| !letter.is_ascii_digit())
            {
                frame.remove(left_out);
            }
            keys.insert(joined(&frames));
        }
    }
    keys.into_iter().collect()
}

/// The first letter, and the rest without vowels in the order of the alphabet.
fn frame(word: &str) -> Vec<char> {
    let mut letters = word.chars();
    let first = letters.next();
    let is_vowel = |letter: &char| matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    let mut rest: Vec<char> = letters.filter(|letter| !is_vowel(letter)).collect();
    rest.sort_unstable();
    first.into_iter().chain(rest).collect()
}

fn joined(frames: &[Vec<char>]) -> String {
    let words: Vec<String> = frames.iter().map(|frame| frame.iter().collect()).collect();
    words.join(" ")
}
