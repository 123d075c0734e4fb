//! What takes back something that was said to apply: `stop answering in French`, `you no longer need to ...`, `I'm not
//! allergic to ...`; and what says the same thing otherwise: another language, another name to be called by.

use std::collections::BTreeSet;

use super::{POLITE, begins, has};
use crate::read::answer::cut;
use crate::read::words::{is_empty_word, stem, words};

/// Sentences of a text that are looked at.
const SENTENCES_MAX: usize = 64;

/// How a sentence begins that takes back all the rest of it.
const ENDS: &[&str] = &[
    "stop",
    "you can stop",
    "you may stop",
    "no need to",
    "there is no need to",
    "you do not need to",
    "you don t need to",
    "you do not have to",
    "you don t have to",
    "you needn t",
    "forget about",
    "forget what i said about",
    "ignore what i said about",
    "never mind",
    "nevermind",
    "i am not allergic",
    "i m not allergic",
    "i am not vegetarian",
    "i m not vegetarian",
    "i am not a vegetarian",
    "i m not a vegetarian",
    "i am not vegan",
    "i m not vegan",
    "i am not a vegan",
    "i m not a vegan",
];
/// What says so anywhere in an order, or in what somebody says of himself.
const NO_MORE: &[&str] = &["anymore", "any more", "any longer", "no longer"];
/// How such a sentence begins.
const SPOKEN_BY: &[&str] = &["do not", "don t", "you", "i", "no", "please", "from now on"];
/// What stands before something that is taken back beside something new.
const RATHER: &[&str] = &["instead of", "rather than", "and not in", "not in"];
/// What may stand before all of it.
const TURNS: &[&str] = &["actually", "sorry", "correction", "wait", "no", "oh"];
/// Words of taking back: they say nothing about what.
const EMPTY: &[&str] = &[
    "about", "actually", "always", "any", "anymore", "don", "forget", "future", "instead",
    "longer", "m", "re", "mind", "need", "never", "no", "now", "please", "rather", "stop", "t",
];

/// What a text takes back: the stems of each.
pub fn revoked(text: &str) -> Vec<BTreeSet<String>> {
    let each = cut(text).into_iter().take(SENTENCES_MAX).flat_map(revoked_in);
    each.filter(|taken| !taken.is_empty()).collect()
}

/// One of these is in whatever takes something back: most texts have none.
const SIGNS: &[&str] = &[
    "stop",
    "more",
    "longer",
    "need",
    "have to",
    "forget",
    "ignore",
    "mind",
    "instead",
    "rather",
    "not in",
    "not allergic",
    "not veg",
    "not a veg",
];

/// Whether a text takes anything back.
pub fn revokes(text: &str) -> bool {
    let lower = text.to_lowercase();
    if !SIGNS.iter().any(|sign| lower.contains(sign)) {
        return false;
    }
    cut(text).into_iter().take(SENTENCES_MAX).any(|sentence| !revoked_in(sentence).is_empty())
}

fn revoked_in(sentence: &str) -> Vec<BTreeSet<String>> {
    if sentence.trim_end().ends_with(['?', '\u{ff1f}']) {
        return Vec::new();
    }
    let sentence = sentence.replace(['\'', '\u{2019}'], " ");
    let mut taken = Vec::new();
    let clauses: Vec<&str> = sentence.split([',', ';']).collect();
    for clause in &clauses {
        let said = words(clause);
        let turn =
            |word: &&String| POLITE.contains(&word.as_str()) || TURNS.contains(&word.as_str());
        // `No need` begins with a word that may turn.
        let all = said.as_slice();
        let rest = all.get(all.iter().take_while(turn).count()..).unwrap_or_default();
        for said in [all, rest] {
            let ends = ENDS.iter().any(|opening| begins(said, opening));
            let no_more = NO_MORE.iter().any(|phrase| has(said, phrase))
                && SPOKEN_BY.iter().any(|opening| begins(said, opening));
            if ends || no_more {
                taken.push(stems_of(said));
                break;
            }
        }
        for phrase in RATHER {
            let length = phrase.split(' ').count();
            let at =
                (0..all.len()).find(|at| all.get(*at..).is_some_and(|from| begins(from, phrase)));
            if let Some(rest) = at.and_then(|at| all.get(at + length..)) {
                taken.push(stems_of(rest));
                break;
            }
        }
    }
    taken.retain(|stems| !stems.is_empty());
    taken
}

fn stems_of(said: &[String]) -> BTreeSet<String> {
    let counts = |word: &&String| !is_empty_word(word) && !EMPTY.contains(&word.as_str());
    // Twice: `answering` and `answer` are one.
    said.iter().filter(counts).map(|word| stem(&stem(word))).collect()
}

/// What a sentence sets that can be set one way only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// In which language is answered.
    Language,
    /// How somebody is called.
    Name,
    /// In which units is measured.
    Units,
    /// How much is said.
    Length,
}

/// The settings that a text names.
pub fn settings(text: &str) -> BTreeSet<Setting> {
    let said = words(text);
    let any = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
    let speaks = any(&[
        "answer",
        "answers",
        "reply",
        "replies",
        "respond",
        "responses",
        "speak",
        "talk",
        "write",
        "language",
    ]);
    let mut settings = BTreeSet::new();
    if speaks && any(LANGUAGES) {
        settings.insert(Setting::Language);
    }
    if has(&said, "call me") || has(&said, "address me as") || has(&said, "refer to me as") {
        settings.insert(Setting::Name);
    }
    if any(&["metric", "imperial", "celsius", "fahrenheit"]) {
        settings.insert(Setting::Units);
    }
    let long = ["short", "shorter", "brief", "concise", "terse", "long", "longer", "detailed"];
    if speaks && any(&long) {
        settings.insert(Setting::Length);
    }
    settings
}

const LANGUAGES: &[&str] = &[
    "arabic",
    "bengali",
    "bulgarian",
    "catalan",
    "chinese",
    "croatian",
    "czech",
    "danish",
    "dutch",
    "english",
    "estonian",
    "farsi",
    "finnish",
    "french",
    "german",
    "greek",
    "hebrew",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "japanese",
    "korean",
    "latin",
    "latvian",
    "lithuanian",
    "mandarin",
    "norwegian",
    "persian",
    "polish",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "slovak",
    "slovenian",
    "spanish",
    "swedish",
    "thai",
    "turkish",
    "ukrainian",
    "vietnamese",
];
