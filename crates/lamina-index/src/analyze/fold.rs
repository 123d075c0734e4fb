//! One spelling of a word: lower case, compatibility forms, and accents of Latin letters removed after
//! stemming (stemmers need them before).

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Lower case, in one spelling of each character.
pub(super) fn lower(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

/// Without accents on Latin letters; other scripts keep their marks, which carry meaning there.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut folded = String::with_capacity(text.len());
    let mut after_latin = false;
    for letter in text.nfd() {
        if is_combining_mark(letter) && after_latin {
            continue;
        }
        after_latin = letter.is_ascii_alphabetic();
        match letter {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' => folded.push('d'),
            'ı' => folded.push('i'),
            other => folded.push(other),
        }
    }
    folded.nfc().collect()
}
