//! Cutting what was said into sentences.

use super::{SENTENCES_MAX, Said, Sentence};

/// A sentence that is longer is cut: it is a table or a program, and nobody reads it as one.
const BYTES_MAX: usize = 600;

/// After these a full stop ends no sentence.
const SHORTENED: &[&str] = &[
    "mr", "mrs", "ms", "mx", "dr", "prof", "st", "no", "vs", "e.g", "i.e", "approx", "gen", "lt",
    "sgt", "capt", "col", "rev", "hon", "fig", "vol", "dept", "est", "ave", "blvd", "mt", "ft",
];
/// After these it may end one: it does if the next word begins like a sentence.
const PERHAPS: &[&str] = &[
    "inc", "ltd", "co", "corp", "llc", "plc", "bros", "gmbh", "etc", "jr", "sr", "a.m", "p.m",
    "u.s", "u.k", "e.u", "u.n", "u.s.a", "d.c", "ph.d", "b.sc", "m.sc", "jan", "feb", "mar", "apr",
    "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
];

/// The sentences of what was said, in order.
pub fn sentences<'a>(said: &[Said<'a>]) -> Vec<Sentence<'a>> {
    let mut sentences = Vec::new();
    for (at, said) in said.iter().enumerate() {
        for (start, text) in if said.in_lines { lines(said.text) } else { cut_at(said.text) } {
            if sentences.len() == SENTENCES_MAX {
                return sentences;
            }
            sentences.push(Sentence { said: at, text, start });
        }
    }
    sentences
}

/// The lines of a text, each with where it starts.
fn lines(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        push(&mut found, start, Some(line));
        start += line.len();
    }
    found
}

/// The sentences of one text, without their places.
pub fn cut(text: &str) -> Vec<&str> {
    cut_at(text).into_iter().map(|(_, sentence)| sentence).collect()
}

/// The sentences of a text, each with where it starts.
fn cut_at(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let after = at + c.len_utf8();
        let ends = match c {
            '\n' | '\u{3002}' | '\u{ff01}' | '\u{ff1f}' => true,
            '!' | '?' | '\u{2026}' => next.is_none_or(char::is_whitespace),
            '.' => {
                next.is_none_or(char::is_whitespace)
                    && !is_shortened(
                        text.get(start..at).unwrap_or_default(),
                        text.get(after..).unwrap_or_default(),
                    )
            }
            _ => false,
        };
        if ends || after - start >= BYTES_MAX {
            push(&mut found, start, text.get(start..after));
            start = after;
        }
    }
    push(&mut found, start, text.get(start..));
    found
}

fn push<'a>(found: &mut Vec<(usize, &'a str)>, start: usize, piece: Option<&'a str>) {
    let piece = piece.unwrap_or_default();
    let space = piece.len() - piece.trim_start().len();
    if piece.chars().any(char::is_alphanumeric) {
        found.push((start + space, piece.trim()));
    }
}

/// Whether the text before a full stop ends with a word that is written with one, and what comes after does not
/// begin a sentence of its own.
fn is_shortened(before: &str, after: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let lower = word.trim_start_matches(['(', '"', '\u{201c}']).to_lowercase();
    let initial = lower.chars().count() == 1 && word.chars().all(char::is_uppercase);
    let next = after.split_whitespace().next().unwrap_or_default();
    // `Inc. has`, `Inc. 200`: a capital would begin a sentence.
    let goes_on = next.chars().next().is_some_and(|first| !first.is_uppercase());
    SHORTENED.contains(&lower.as_str())
        || (initial && lower != "i")
        || (goes_on && PERHAPS.contains(&lower.as_str()))
}
