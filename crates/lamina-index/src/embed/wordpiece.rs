//! WordPiece: a word is cut into the longest pieces that the vocabulary has, from the left.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::table::Table;

/// Bytes of a word at most; what is longer is not one.
const WORD_BYTES_MAX: usize = 100;

/// Hands every token of a text to `each`, in order. Words that cannot be made of pieces are left out.
pub(super) fn tokens(text: &str, table: &Table, each: &mut dyn FnMut(u32)) {
    let mut word = String::new();
    let mut pieces = Vec::new();
    let mut flush = |word: &mut String, each: &mut dyn FnMut(u32)| {
        cut(word, table, &mut pieces, each);
        word.clear();
    };
    let mut take = |letter: char, each: &mut dyn FnMut(u32)| {
        if letter.is_alphanumeric() && !stands_alone(letter) {
            word.push(letter);
        } else if is_combining_mark(letter) {
            // Accents were taken off the letters; they are not tokens.
        } else {
            flush(&mut word, each);
            if !letter.is_whitespace() && !letter.is_control() {
                word.push(letter);
                flush(&mut word, each);
            }
        }
    };
    for letter in text.chars() {
        if letter.is_ascii() {
            take(letter.to_ascii_lowercase(), each);
        } else {
            letter.to_lowercase().nfd().for_each(|letter| take(letter, each));
        }
    }
    take(' ', each);
}

/// The longest pieces from the left; nothing if a rest has none.
fn cut(word: &str, table: &Table, pieces: &mut Vec<u32>, each: &mut dyn FnMut(u32)) {
    if word.is_empty() || word.len() > WORD_BYTES_MAX {
        return;
    }
    if let Some(token) = table.head(word) {
        return each(token);
    }
    pieces.clear();
    let mut rest = word;
    while !rest.is_empty() {
        let ends = rest.char_indices().map(|(at, letter)| at + letter.len_utf8()).rev();
        let found = ends.filter_map(|end| rest.split_at_checked(end)).find_map(|(piece, after)| {
            let token = if pieces.is_empty() { table.head(piece) } else { table.tail(piece) };
            token.map(|token| (token, after))
        });
        let Some((token, after)) = found else { return };
        pieces.push(token);
        rest = after;
    }
    pieces.iter().for_each(|token| each(*token));
}

/// Characters that are words by themselves.
fn stands_alone(letter: char) -> bool {
    matches!(letter,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}
