//! Whether somebody says how things are to be done from then on: an instruction, or a preference.
//!
//! Such a sentence applies to questions that share no word with it, so it is not found by searching; it is noted when
//! it is said. The rules are English and ask for a form, not for a word: `never open the door` is an instruction, `I have
//! never been there` is not.

mod revoke;
mod rule;

pub use revoke::{Setting, revoked, revokes, settings};
pub use rule::Rule;

use crate::read::answer::cut;
use crate::read::words::words;

/// Sentences of a text that are looked at: who gives instructions says so soon.
const SENTENCES_MAX: usize = 64;

/// How an instruction begins; `please` and the like before it are passed over.
const OPENINGS: &[&str] = &[
    "always",
    "never",
    "avoid",
    "do not ever",
    "don t ever",
    "do not use",
    "don t use",
    "from now on",
    "going forward",
    "in future",
    "in the future",
    "remember to",
    "remember that i prefer",
    "make sure to",
    "make sure you",
    "make sure that you",
    "be sure to",
    "keep your answers",
    "keep answers",
    "keep it short",
    "call me",
    "address me",
    "refer to me",
    "answer in",
    "answer me in",
    "answer with",
    "reply in",
    "respond in",
    "respond with",
    "speak to me in",
    "write in",
    "stop using",
    "stop calling",
    "stop asking",
    "use metric",
    "use celsius",
    "use bullet",
    "use simple",
    "use plain",
    "use short",
];

/// What opens an instruction that says when it applies.
const WHENEVER: &[&str] =
    &["whenever", "every time", "each time", "any time", "anytime", "when i", "if i"];

/// What says that somebody is told to do something, wherever it stands.
const ASKED: &[&str] = &[
    "i want you to",
    "i would like you to",
    "i d like you to",
    "i need you to",
    "i expect you to",
    "i ask you to",
    "you should always",
    "you should never",
    "you must always",
    "you must never",
    "please always",
    "please never",
    "from now on",
];

/// What says how somebody likes things, wherever it stands.
const PREFERS: &[&str] = &[
    "i prefer",
    "i always prefer",
    "i usually prefer",
    "i generally prefer",
    "i much prefer",
    "i strongly prefer",
    "i d prefer",
    "i would prefer",
    "i d rather you",
    "i would rather you",
    "my preference is",
    "i m allergic to",
    "i am allergic to",
    "i m vegetarian",
    "i am vegetarian",
    "i m a vegetarian",
    "i am a vegetarian",
    "i m vegan",
    "i am vegan",
    "i m a vegan",
    "i am a vegan",
    "i don t eat",
    "i do not eat",
    "i never eat",
    "i don t drink",
    "i do not drink",
    "i never drink",
    "i like my",
    "i like it when you",
    "i hate it when you",
    "i like answers",
    "i hate it when",
    "i can t stand",
    "i cannot stand",
];

/// What may stand before an opening.
const POLITE: &[&str] =
    &["please", "kindly", "and", "but", "so", "also", "ok", "okay", "hey", "well", "just"];

/// What an imperative after `whenever ...,` begins with.
const IMPERATIVES: &[&str] = &[
    "add", "always", "answer", "ask", "avoid", "call", "check", "cite", "do", "don", "explain",
    "format", "give", "include", "keep", "list", "make", "mention", "never", "please", "put",
    "remind", "reply", "respond", "show", "start", "suggest", "tell", "use", "warn", "write",
];

/// Whether a text says how things are to be done from then on.
pub fn stands(text: &str) -> bool {
    cut(text).into_iter().take(SENTENCES_MAX).any(stands_in)
}

/// The sentences of a text that do.
pub fn standing(text: &str) -> Vec<&str> {
    cut(text).into_iter().take(SENTENCES_MAX).filter(|sentence| stands_in(sentence)).collect()
}

fn stands_in(sentence: &str) -> bool {
    if sentence.trim_end().ends_with(['?', '\u{ff1f}']) {
        return false;
    }
    // An apostrophe parts words: `I'd` is `i d`, `don't` is `don t`.
    let said = words(&sentence.replace(['\'', '\u{2019}'], " "));
    let polite = said.iter().take_while(|word| POLITE.contains(&word.as_str())).count();
    let said = said.get(polite..).unwrap_or_default();
    OPENINGS.iter().any(|opening| begins(said, opening))
        || ASKED.iter().chain(PREFERS).any(|phrase| has(said, phrase))
        || (WHENEVER.iter().any(|opening| begins(said, opening)) && commands(sentence))
}

/// Whether what follows the first comma tells somebody to do something.
fn commands(sentence: &str) -> bool {
    let Some((_, then)) = sentence.split_once(',') else { return false };
    let first = words(then).into_iter().find(|word| !POLITE.contains(&word.as_str()));
    first.is_some_and(|first| IMPERATIVES.contains(&first.as_str()))
        || then.trim_start().to_lowercase().starts_with("please")
}

fn has(said: &[String], phrase: &str) -> bool {
    (0..said.len()).any(|at| said.get(at..).is_some_and(|from| begins(from, phrase)))
}

/// Whether these words come first. Most begin otherwise, and the phrase is not cut for them.
fn begins(said: &[String], phrase: &str) -> bool {
    let first = said.first().is_some_and(|first| phrase.starts_with(first.as_str()));
    first && {
        let mut said = said.iter();
        phrase.split(' ').all(|word| said.next().is_some_and(|next| next == word))
    }
}

#[cfg(test)]
mod tests;
