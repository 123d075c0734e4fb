//! Cutting what was said into sentences.

use super::{SENTENCES_MAX, Said, Sentence};

/// A sentence that is longer is cut: it is a table or a program, and nobody reads it as one.
const BYTES_MAX: usize = 600;

/// After these a full stop ends no sentence.
const SHORTENED: &[&str] =
    &["mr", "mrs", "ms", "dr", "prof", "st", "no", "vs", "e.g", "i.e", "etc", "approx", "jr", "sr"];

/// The sentences of what was said, in order.
pub fn sentences<'a>(said: &[Said<'a>]) -> Vec<Sentence<'a>> {
    let mut sentences = Vec::new();
    for (at, said) in said.iter().enumerate() {
        for text in cut(said.text) {
            if sentences.len() == SENTENCES_MAX {
                return sentences;
            }
            sentences.push(Sentence { said: at, text });
        }
    }
    sentences
}

pub(crate) fn cut(text: &str) -> Vec<&str> {
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
                    && !is_shortened(text.get(start..at).unwrap_or_default())
            }
            _ => false,
        };
        if ends || after - start >= BYTES_MAX {
            push(&mut found, text.get(start..after));
            start = after;
        }
    }
    push(&mut found, text.get(start..));
    found
}

fn push<'a>(found: &mut Vec<&'a str>, piece: Option<&'a str>) {
    let piece = piece.unwrap_or_default().trim();
    if piece.chars().any(char::is_alphanumeric) {
        found.push(piece);
    }
}

/// Whether the text before a full stop ends with a word that is written with one.
fn is_shortened(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let lower = word.trim_start_matches(['(', '"', '\u{201c}']).to_lowercase();
    let initial = lower.chars().count() == 1 && word.chars().all(char::is_uppercase);
    SHORTENED.contains(&lower.as_str()) || (initial && lower != "i")
}
