//! Texts as the numbers that a model of this kind was taught with (WordPiece).

use std::collections::HashMap;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::config::Config;
use super::{ModelError, ReadFile, file};

/// Letters of a word at most; a longer one is not known.
const WORD_LETTERS_MAX: usize = 100;

#[derive(Debug)]
pub(super) struct Tokenizer {
    vocabulary: HashMap<String, u32>,
    first: u32,
    last: u32,
    unknown: u32,
    lower_case: bool,
}

impl Tokenizer {
    pub(super) fn read(read: ReadFile<'_>, config: &Config) -> Result<Tokenizer, ModelError> {
        let (name, vocabulary) = match file(read, "vocab.txt")? {
            Some(bytes) => ("vocab.txt", lines(&bytes)?),
            None => {
                let bytes = file(read, "tokenizer.json")?;
                ("tokenizer.json", described(&bytes.ok_or(ModelError::Missing("vocab.txt"))?)?)
            }
        };
        let special = |token: &str| {
            let found = vocabulary.get(token).copied();
            found.ok_or_else(|| ModelError::bad(name, format!("has no token `{token}`")))
        };
        let (first, last, unknown) = (special("[CLS]")?, special("[SEP]")?, special("[UNK]")?);
        Ok(Tokenizer { first, last, unknown, lower_case: config.lower_case, vocabulary })
    }

    /// At most so many tokens, the first and the last ones included.
    pub(super) fn tokens(&self, text: &str, most: usize) -> Vec<u32> {
        let mut tokens = vec![self.first];
        let room = most.max(2) - 1;
        for word in self.words(text) {
            if tokens.len() >= room {
                break;
            }
            self.pieces(&word, &mut tokens);
        }
        tokens.truncate(room);
        tokens.push(self.last);
        tokens
    }

    /// Words, each sign and each Chinese character by itself.
    fn words(&self, text: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut take = |letter: char| {
            if letter.is_whitespace() {
                words.push(String::new());
            } else if letter.is_control() || letter == '\u{fffd}' {
                // Nothing that was ever written on purpose.
            } else if is_sign(letter) || stands_alone(letter) {
                words.push(letter.to_string());
                words.push(String::new());
            } else if let Some(word) = words.last_mut() {
                word.push(letter);
            }
        };
        match self.lower_case {
            true => text
                .chars()
                .flat_map(char::to_lowercase)
                .nfd()
                .filter(|letter| !is_combining_mark(*letter))
                .for_each(&mut take),
            false => text.chars().for_each(&mut take),
        }
        words.retain(|word| !word.is_empty());
        words
    }

    /// The longest pieces from the left.
    fn pieces(&self, word: &str, tokens: &mut Vec<u32>) {
        let before = tokens.len();
        if word.chars().count() > WORD_LETTERS_MAX {
            return tokens.push(self.unknown);
        }
        let mut rest = word;
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, letter)| at + letter.len_utf8()).rev();
            let found =
                ends.filter_map(|end| rest.split_at_checked(end)).find_map(|(piece, after)| {
                    let token = match tokens.len() == before {
                        true => self.vocabulary.get(piece),
                        false => self.vocabulary.get(&format!("##{piece}")),
                    };
                    token.map(|token| (*token, after))
                });
            let Some((token, after)) = found else {
                tokens.truncate(before);
                return tokens.push(self.unknown);
            };
            tokens.push(token);
            rest = after;
        }
    }
}

fn lines(bytes: &[u8]) -> Result<HashMap<String, u32>, ModelError> {
    let text = std::str::from_utf8(bytes);
    let text = text.map_err(|_| ModelError::bad("vocab.txt", "is not text"))?;
    Ok((0..).zip(text.lines()).map(|(number, line)| (line.trim().to_owned(), number)).collect())
}

fn described(bytes: &[u8]) -> Result<HashMap<String, u32>, ModelError> {
    let bad = |why: &str| ModelError::bad("tokenizer.json", why);
    let value: Value = serde_json::from_slice(bytes).map_err(|_| bad("is not JSON"))?;
    let model = value.get("model").ok_or_else(|| bad("names no model"))?;
    if model.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "WordPiece") {
        return Err(bad("is not of the kind WordPiece, the only one that is known"));
    }
    let vocabulary = model.get("vocab").and_then(Value::as_object);
    let vocabulary = vocabulary.ok_or_else(|| bad("has no vocabulary"))?.iter();
    let token = |(text, number): (&String, &Value)| {
        let number = number.as_u64().and_then(|number| u32::try_from(number).ok());
        number.map(|number| (text.clone(), number))
    };
    let all: Option<HashMap<String, u32>> = vocabulary.map(token).collect();
    all.ok_or_else(|| bad("has a token without a number"))
}

/// Signs that are tokens by themselves: all of ASCII, and the common ones of other scripts.
fn is_sign(letter: char) -> bool {
    letter.is_ascii_punctuation()
        || matches!(letter,
            '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}'
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}'
            | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{ff01}'..='\u{ff0f}'
            | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff3d}' | '\u{ff5b}'..='\u{ff65}')
}

fn stands_alone(letter: char) -> bool {
    matches!(letter,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}
