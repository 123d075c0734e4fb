//! Text becomes terms: the same way when a document is put and when a question is asked.
//!
//! Words are runs of letters, marks and digits. Scripts that do not part words by spaces are cut into
//! overlapping pairs of characters. What looks like code (paths, versions, `camelCase`) is kept whole
//! and also split. Words are reduced to their stems in the language that the text seems to be in; a
//! question that tells no language tries the stems of all, and every question the English ones and its words as they are.

mod scan;
mod identifier;
mod language;
mod stop;
mod fold;

pub use language::Language;

use scan::{Token, tokens};

/// Bytes of a term; a longer one (a key, a blob in base 64) is replaced by its hash.
pub const TERM_BYTES_MAX: usize = 64;
/// Words of one question that are looked up; what comes after them is not looked at.
pub const QUESTION_WORDS_MAX: usize = 64;

/// What a document is indexed by, in order, with repetitions.
pub fn terms(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let language = language::of_document(&tokens, text);
    let mut terms = Vec::with_capacity(tokens.len());
    for token in &tokens {
        match token {
            Token::Word { text, marked } => {
                let lower = fold::lower(text);
                if *marked || !stop::is_stop(&lower, language) {
                    terms.push(bounded(language.stem(&lower)));
                }
            }
            Token::Piece(text) => terms.push(bounded(language.stem(&fold::lower(text)))),
            Token::Whole(text) => terms.push(bounded(fold::fold(&fold::lower(text)))),
            Token::Pair(text) => terms.push(fold::lower(text)),
            // Single characters are indexed too: a question may have nothing else.
            Token::Single(text) | Token::Inner(text) => terms.push(fold::lower(text)),
        }
    }
    terms
}

/// The language that a text seems to be in; none if nothing tells.
pub fn language(text: &str) -> Option<Language> {
    language::detect(&tokens(text), text)
}

/// A word of a question, with every term that it may be indexed as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// In lower case, as it was written.
    pub(crate) word: String,
    /// The terms, sorted; any of them counts as the word.
    pub(crate) terms: Vec<String>,
}

impl Asked {
    /// Whether the two could be the same word.
    pub(crate) fn overlaps(&self, other: &Asked) -> bool {
        self.terms.iter().any(|term| other.terms.contains(term))
    }

    fn join(&mut self, other: Asked) {
        self.terms.extend(other.terms);
        self.terms.sort();
        self.terms.dedup();
    }
}

/// The words that a question is looked up by; each once, stop words left out.
pub(crate) fn question(text: &str, hint: Option<Language>) -> Vec<Asked> {
    let tokens = tokens(text);
    let languages = language::of_question(&tokens, text, hint);
    let is_stop = |word: &str| {
        let lower = fold::lower(word);
        languages.iter().any(|language| stop::is_stop(&lower, *language))
    };
    let mut asked: Vec<Asked> = Vec::new();
    for token in &tokens {
        let (word, mut terms) = match token {
            Token::Word { text, marked: false } if is_stop(text) => continue,
            Token::Word { text, .. } | Token::Piece(text) => {
                let lower = fold::lower(text);
                let mut terms: Vec<String> =
                    languages.iter().map(|language| bounded(language.stem(&lower))).collect();
                terms.push(bounded(fold::fold(&lower)));
                (lower, terms)
            }
            Token::Whole(text) => {
                let folded = fold::fold(&fold::lower(text));
                (folded.clone(), vec![bounded(folded)])
            }
            Token::Pair(text) | Token::Single(text) => {
                let lower = fold::lower(text);
                (lower.clone(), vec![lower])
            }
            // Part of a pair that is asked for anyway.
            Token::Inner(_) => continue,
        };
        terms.sort();
        terms.dedup();
        let asks = Asked { word, terms };
        match asked.iter_mut().find(|earlier| earlier.overlaps(&asks)) {
            // `violin` and `violins` are one word: counted twice it would weigh twice.
            Some(earlier) => earlier.join(asks),
            None => asked.push(asks),
        }
        if asked.len() == QUESTION_WORDS_MAX {
            break;
        }
    }
    asked
}

/// The term itself, or the hash of one that is too long to be a word.
fn bounded(term: String) -> String {
    if term.len() <= TERM_BYTES_MAX {
        return term;
    }
    // FNV-1a: stable, and nobody gains by making two of these collide.
    let hash = term.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("#{hash:016x}")
}

#[cfg(test)]
mod tests;
