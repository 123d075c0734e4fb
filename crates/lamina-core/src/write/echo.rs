//! Whether something that is written only says again what was shown from memory.
//!
//! An agent that quotes its memory brings no news: were it learned, every recall would make the memory surer of
//! itself. A sentence is an echo if a sentence that was shown has what it says: its names and numbers all, its other
//! words nearly all, in the same or in a near meaning, and denies as much. Whoever says more, or other, is heard.
//! Wrongly hearing an echo costs a little confidence, wrongly passing over news costs the news; so it is strict.

use crate::read::answer::cut;
use crate::read::words::{is_empty_word, is_unspaced, stem, words};

mod lists;

/// What of a sentence must have been shown, weighed by how telling its words are...
const SHARE_MIN: f64 = 0.76;
/// ...of a short one, which has nothing to spare...
const SHARE_SHORT_MIN: f64 = 0.9;
/// ...which is one with fewer words than this that tell something.
const SHORT_WORDS: usize = 4;
/// A sentence with fewer says too little to be told apart.
const WORDS_MIN: usize = 2;
/// Nearness below this is chance.
const NEAR_MIN: f64 = 0.45;
/// Sentences of what was shown that are joined to make up one.
const JOINED_AMONG: usize = 4;

/// A sentence of what is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Its words, without the frame that a context block puts around them.
    pub text: &'a str,
    /// Where it begins, its frame included.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// It stands in a line of a context block.
    pub is_framed: bool,
}

/// The sentences of a text, with what a context block has put around them.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let bare = unframed(line);
        let is_framed = bare.len() < line.len();
        let frame = line.len() - bare.len();
        let mut from = frame;
        for sentence in cut(bare) {
            let Some(at) = line.get(from..).and_then(|rest| rest.find(sentence)) else { continue };
            // The frame belongs to the first.
            let start = if from == frame { 0 } else { from + at };
            from += at + sentence.len();
            let (start, end) = (line_start + start, line_start + from);
            pieces.push(Piece { text: sentence, start, end, is_framed });
        }
        line_start += line.len();
    }
    pieces
}

/// A line without `[2026-05-13 15:00 UTC] [user]` at its beginning.
fn unframed(line: &str) -> &str {
    let rest = line.trim_start();
    let Some((stamp, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return line;
    };
    let is_stamp = stamp.ends_with(" UTC") && stamp.starts_with(|c: char| c.is_ascii_digit());
    if !is_stamp {
        return line;
    }
    let mut rest = after.trim_start();
    while let Some((_, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        rest = after.trim_start();
    }
    rest
}

/// Something that was shown: one sentence, and what else is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Those that tell something.
    telling: Vec<String>,
    /// Stems of all of them, and of what goes without saying: who spoke, and when. Sorted.
    stems: Vec<String>,
    denies: bool,
}

/// What a sentence says that was shown; `known` is what goes without saying.
pub fn shown(sentence: &str, known: &[String]) -> Shown {
    let all = words(sentence);
    let telling: Vec<String> = all.iter().filter(|word| tells(word)).cloned().collect();
    let mut stems: Vec<String> = all.iter().chain(known).map(|word| folded(word)).collect();
    stems.sort_unstable();
    stems.dedup();
    Shown { denies: denies(sentence), telling, stems }
}

impl Shown {
    fn has(&self, word: &str) -> bool {
        self.stems.binary_search(&folded(word)).is_ok()
    }

    /// A number by which it can be told quickly that it has little in common with a sentence.
    pub fn signature(&self) -> u64 {
        self.stems.iter().fold(0, |bits, stem| bits | bit(stem))
    }

    /// Bytes that it takes in memory, roughly.
    pub fn bytes(&self) -> usize {
        let words = self.telling.iter().chain(&self.stems);
        words.map(|word| word.len() + size_of::<String>()).sum()
    }
}

/// A sentence of what is written, to be held against what was shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// Words that tell something, how much, and whether nothing else can stand for them.
    telling: Vec<(String, f64, bool)>,
    denies: bool,
    asks: bool,
}

/// What a sentence says; `weight` is how telling a word is, 0 to 1. Nothing stands for its names, numbers and `nouns`:
/// a violin is near a piano, and is none.
pub fn said(sentence: &str, nouns: &[String], weight: impl Fn(&str) -> f64) -> Said {
    let bare = unmarked(sentence);
    let names = capitalised(&bare);
    let mut telling: Vec<(String, f64, bool)> = Vec::new();
    for word in words(&bare).into_iter().filter(|word| tells(word)) {
        if telling.iter().all(|(known, ..)| *known != word) {
            let exact = names.contains(&word)
                || nouns.contains(&word)
                || word.contains(|c: char| c.is_numeric());
            let weight = weight(&word).max(0.05);
            telling.push((word, weight, exact));
        }
    }
    let asks = sentence.trim_end().ends_with(['?', '\u{ff1f}']);
    Said { denies: denies(&bare), telling, asks }
}

impl Said {
    /// The same number as that of what was shown.
    pub fn signature(&self) -> u64 {
        self.telling.iter().fold(0, |bits, (word, ..)| bits | bit(&folded(word)))
    }

    /// Whether it says enough to be an echo at all.
    pub fn can_echo(&self) -> bool {
        !self.asks && self.telling.len() >= WORDS_MIN
    }

    /// How much of it was shown by any of these, with words of the same stem only.
    fn plainly(&self, shown: &[&Shown]) -> f64 {
        let total: f64 = self.telling.iter().map(|(_, weight, _)| weight).sum();
        let met = self.telling.iter().filter(|(word, ..)| shown.iter().any(|one| one.has(word)));
        let met: f64 = met.map(|(_, weight, _)| weight).sum();
        if total > 0.0 { met / total } else { 0.0 }
    }

    /// Whether it says nothing that these do not. `near` is how near two words are in meaning.
    fn echoes(&self, shown: &[&Shown], near: &mut dyn FnMut(&str, &str) -> f64) -> bool {
        if self.denies != shown.iter().any(|one| one.denies) || self.turns(shown) {
            return false;
        }
        let (mut met, mut total) = (0.0, 0.0);
        for (word, weight, exact) in &self.telling {
            total += weight;
            if shown.iter().any(|one| one.has(word)) {
                met += weight;
                continue;
            }
            if *exact {
                return false;
            }
            let others = shown.iter().flat_map(|one| &one.telling);
            let nearest = others.map(|other| near(word, other)).fold(0.0, f64::max);
            met += weight * ((nearest - NEAR_MIN) / (1.0 - NEAR_MIN)).clamp(0.0, 1.0).sqrt();
        }
        let needed = if self.telling.len() < SHORT_WORDS { SHARE_SHORT_MIN } else { SHARE_MIN };
        total > 0.0 && met / total >= needed
    }

    /// Whether it says the opposite of something.
    fn turns(&self, shown: &[&Shown]) -> bool {
        let shows = |side: &[&str]| {
            shown.iter().any(|one| one.telling.iter().any(|word| side.contains(&word.as_str())))
        };
        let says =
            |side: &[&str]| self.telling.iter().any(|(word, ..)| side.contains(&word.as_str()));
        lists::OPPOSITES.iter().any(|(one, other)| {
            let says = (says(one), says(other));
            let shows = (shows(one), shows(other));
            (says.0 && !shows.0 && shows.1) || (says.1 && !shows.1 && shows.0)
        })
    }
}

/// Which of what was shown a sentence only says again, by position; none if it brings something of its own. Two
/// sentences may have been made into one.
pub fn echoed(
    said: &Said,
    shown: &[&Shown],
    near: &mut dyn FnMut(&str, &str) -> f64,
) -> Vec<usize> {
    if !said.can_echo() {
        return Vec::new();
    }
    let mut best: Vec<(f64, usize)> =
        shown.iter().enumerate().map(|(at, one)| (said.plainly(&[one]), at)).collect();
    best.retain(|(share, _)| *share > 0.0);
    best.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    best.truncate(JOINED_AMONG);
    let of = |at: usize| shown.get(at).copied();
    for (_, at) in &best {
        if of(*at).is_some_and(|one| said.echoes(&[one], near)) {
            return vec![*at];
        }
    }
    for (place, (_, first)) in best.iter().enumerate() {
        for (_, second) in best.iter().skip(place + 1) {
            if let Some((one, other)) = of(*first).zip(of(*second))
                && said.echoes(&[one, other], near)
            {
                return vec![*first, *second];
            }
        }
    }
    Vec::new()
}

/// Whether a word says something of the matter.
fn tells(word: &str) -> bool {
    let is_letter = word.chars().count() == 1 && !word.contains(is_unspaced);
    let is_number = word.contains(|c: char| c.is_numeric());
    (!is_letter || is_number) && !is_empty_word(word) && lists::FRAMES.binary_search(&word).is_err()
}

/// Whether a sentence denies something.
fn denies(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    lower.contains("n't") || lower.contains("n\u{2019}t") || {
        let said = words(&lower);
        said.iter().any(|word| lists::DENIALS.binary_search(&word.as_str()).is_ok())
    }
}

/// A word as it is compared: without its ending, numbers as digits.
fn folded(word: &str) -> String {
    let number = lists::NUMBERS.iter().position(|number| *number == word);
    number.map_or_else(|| stem(word), |number| number.to_string())
}

/// A sentence without markers such as `[1]`.
fn unmarked(sentence: &str) -> String {
    let mut bare = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('[') {
        bare.push_str(before);
        match after.split_once(']') {
            Some((marker, after)) if marker.chars().all(|c| c.is_ascii_digit() || c == 'S') => {
                bare.push(' ');
                rest = after;
            }
            _ => {
                bare.push('[');
                rest = after;
            }
        }
    }
    bare.push_str(rest);
    bare
}

/// The words that are written with a capital, also at the beginning: there it may be a name.
fn capitalised(sentence: &str) -> Vec<String> {
    let pieces = sentence.split(|c: char| c.is_whitespace() || c == '-' || c == '/');
    let bare = pieces.map(|piece| piece.trim_start_matches(|c: char| !c.is_alphanumeric()));
    let named = bare.filter(|piece| piece.starts_with(char::is_uppercase));
    named.filter_map(|piece| words(piece).into_iter().next()).collect()
}

fn bit(stem: &str) -> u64 {
    // FNV-1a.
    let hash = stem.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    1 << (hash >> 58)
}

#[cfg(test)]
mod tests;
