//! Which language a text is in, told by its script and its function words.
//!
//! Function words are most of any running text, and a vote of them needs no tables of letters. Short
//! texts often have none; a document is then taken for English if its letters are Latin, and a question
//! is looked up by the stems of all languages of its script.

use rust_stemmers::{Algorithm, Stemmer};

use super::fold::{fold, lower};
use super::scan::Token;
use super::stop;

/// A language whose words are reduced to stems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names of languages")]
pub enum Language {
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
    Dutch,
    Swedish,
    Danish,
    Norwegian,
    Finnish,
    Hungarian,
    Romanian,
    Turkish,
    Russian,
    Greek,
    Arabic,
    Tamil,
}

/// Words that are looked at for telling the language.
const LOOKED_AT: usize = 200;
/// Votes that it takes if only one word votes: one that several languages share tells nothing.
const VOTES_MIN: f32 = 1.0;
/// Of so many words at least one has to be a function word. Running text of any language has more of them; what has fewer is a
/// list, a log, or a mixture, and a few words that happen to be some language's tell nothing about the others.
const WORDS_PER_VOTE_MAX: u32 = 8;

const LATIN: &[Language] = &[
    Language::English,
    Language::German,
    Language::French,
    Language::Spanish,
    Language::Italian,
    Language::Portuguese,
    Language::Dutch,
    Language::Swedish,
    Language::Danish,
    Language::Norwegian,
    Language::Finnish,
    Language::Hungarian,
    Language::Romanian,
    Language::Turkish,
];

impl Language {
    pub(super) fn bit(self) -> u32 {
        1 << self as u8
    }

    /// From a two-letter code (`en`, `de`), or a tag that begins with one (`pt-BR`).
    pub fn from_code(code: &str) -> Option<Language> {
        let head = code.split(['-', '_']).next().unwrap_or(code);
        Some(match head.to_ascii_lowercase().as_str() {
            "en" => Language::English,
            "de" => Language::German,
            "fr" => Language::French,
            "es" => Language::Spanish,
            "it" => Language::Italian,
            "pt" => Language::Portuguese,
            "nl" => Language::Dutch,
            "sv" => Language::Swedish,
            "da" => Language::Danish,
            "no" | "nb" | "nn" => Language::Norwegian,
            "fi" => Language::Finnish,
            "hu" => Language::Hungarian,
            "ro" => Language::Romanian,
            "tr" => Language::Turkish,
            "ru" => Language::Russian,
            "el" => Language::Greek,
            "ar" => Language::Arabic,
            "ta" => Language::Tamil,
            _ => return None,
        })
    }

    /// The stem of a word in lower case, without accents on Latin letters.
    pub(super) fn stem(self, lower: &str) -> String {
        // Numbers and their like have no stem.
        if !lower.chars().all(|letter| letter.is_alphabetic() || !letter.is_ascii()) {
            return fold(lower);
        }
        fold(&Stemmer::create(self.for_word(lower).algorithm()).stem(lower))
    }

    /// The language of one word: its letters decide if they cannot be of this one.
    fn for_word(self, lower: &str) -> Language {
        let script = lower.chars().next().and_then(script_of);
        match script {
            Some(language) => language,
            None if LATIN.contains(&self) => self,
            None => Language::English,
        }
    }

    fn algorithm(self) -> Algorithm {
        match self {
            Language::English => Algorithm::English,
            Language::German => Algorithm::German,
            Language::French => Algorithm::French,
            Language::Spanish => Algorithm::Spanish,
            Language::Italian => Algorithm::Italian,
            Language::Portuguese => Algorithm::Portuguese,
            Language::Dutch => Algorithm::Dutch,
            Language::Swedish => Algorithm::Swedish,
            Language::Danish => Algorithm::Danish,
            Language::Norwegian => Algorithm::Norwegian,
            Language::Finnish => Algorithm::Finnish,
            Language::Hungarian => Algorithm::Hungarian,
            Language::Romanian => Algorithm::Romanian,
            Language::Turkish => Algorithm::Turkish,
            Language::Russian => Algorithm::Russian,
            Language::Greek => Algorithm::Greek,
            Language::Arabic => Algorithm::Arabic,
            Language::Tamil => Algorithm::Tamil,
        }
    }
}

/// The language a document is indexed in.
pub(super) fn of_document(tokens: &[Token<'_>], text: &str) -> Language {
    detect(tokens, text).unwrap_or(Language::English)
}

/// The languages whose stems a question is looked up by. English is always among them if the letters
/// are Latin, because a document that tells nothing is taken for English.
pub(super) fn of_question(
    tokens: &[Token<'_>],
    text: &str,
    hint: Option<Language>,
) -> Vec<Language> {
    let mut languages: Vec<Language> = match hint.or_else(|| detect(tokens, text)) {
        Some(language) => vec![language],
        None => LATIN.to_vec(),
    };
    if !languages.contains(&Language::English) {
        languages.push(Language::English);
    }
    languages
}

/// What the script or the function words say; none if they say nothing.
pub(super) fn detect(tokens: &[Token<'_>], text: &str) -> Option<Language> {
    if let Some(language) = by_script(text) {
        return Some(language);
    }
    let mut votes = [(0.0_f32, 0_u32); LATIN.len()];
    let words = tokens.iter().filter_map(|token| match token {
        Token::Word { text, .. } => Some(*text),
        _ => None,
    });
    let mut looked_at = 0;
    for word in words.take(LOOKED_AT) {
        looked_at += 1;
        let languages = stop::languages_of(&lower(word));
        // A word that many languages share tells less.
        let share = 1.0 / (languages.count_ones().max(1) as f32);
        for (vote, language) in votes.iter_mut().zip(LATIN) {
            if languages & language.bit() != 0 {
                vote.0 += share;
                vote.1 += 1;
            }
        }
    }
    let mut best: Option<(f32, Language)> = None;
    // On equal votes the earlier in the list wins, English first.
    for ((vote, words), language) in votes.into_iter().zip(LATIN) {
        let is_enough = words.saturating_mul(WORDS_PER_VOTE_MAX) >= looked_at;
        let counts = is_enough && (words > 1 || vote >= VOTES_MIN);
        if counts && best.is_none_or(|(most, _)| vote > most) {
            best = Some((vote, *language));
        }
    }
    best.map(|(_, language)| language)
}

/// Scripts that one of the languages is written in, if most letters are of it.
fn by_script(text: &str) -> Option<Language> {
    if text.is_ascii() {
        return None;
    }
    let mut letters = 0_u32;
    let mut found = [Language::Russian, Language::Greek, Language::Arabic, Language::Tamil]
        .map(|language| (language, 0_u32));
    for letter in text.chars().filter(|letter| letter.is_alphabetic()).take(LOOKED_AT * 5) {
        letters += 1;
        let script = script_of(letter);
        for (language, count) in &mut found {
            *count += u32::from(script == Some(*language));
        }
    }
    found.into_iter().find(|(_, count)| *count * 2 > letters).map(|(language, _)| language)
}

/// The language that stands for a script which is not Latin.
fn script_of(letter: char) -> Option<Language> {
    match letter {
        '\u{0400}'..='\u{052f}' => Some(Language::Russian),
        '\u{0370}'..='\u{03ff}' | '\u{1f00}'..='\u{1fff}' => Some(Language::Greek),
        '\u{0600}'..='\u{06ff}' | '\u{0750}'..='\u{077f}' => Some(Language::Arabic),
        '\u{0b80}'..='\u{0bff}' => Some(Language::Tamil),
        _ => None,
    }
}
