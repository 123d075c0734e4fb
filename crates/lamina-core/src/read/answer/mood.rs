//! Whether a sentence is meant as so: what would be is not, and what somebody else told is less.

use crate::read::words::words;

/// Whether a sentence says what would be, or is wished to be.
pub(super) fn is_unreal(sentence: &str) -> bool {
    // An apostrophe parts words: `I'd` is `i d`.
    let said = words(&sentence.replace(['\'', '\u{2019}'], " "));
    let has = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
    let first =
        said.iter().find(|word| !["and", "but", "well", "so", "oh"].contains(&word.as_str()));
    let begins = |list: &[&str]| first.is_some_and(|first| list.contains(&first.as_str()));
    let conditional = has(&["if"]) && has(&["would", "could", "might", "d", "wouldn"]);
    conditional
        || begins(&["imagine", "suppose", "supposing", "hypothetically", "pretend"])
        || said
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if (a == "i" || a == "we") && b == "wish"))
        || has(&["hypothetically"])
}

/// Whether a sentence tells what somebody else, who is not named, is said to have told.
pub(super) fn is_hearsay(sentence: &str) -> bool {
    const TOLD: &[&str] = &[
        "i heard",
        "we heard",
        "i hear",
        "someone told",
        "somebody told",
        "someone said",
        "somebody said",
        "they say",
        "people say",
        "i was told",
        "we were told",
        "word is",
        "word has it",
        "rumor has",
        "rumour has",
        "there is a rumor",
        "there is a rumour",
    ];
    const SUPPOSED: &[&str] = &["apparently", "allegedly", "supposedly", "reportedly"];
    let said = words(sentence);
    let told = format!(" {} ", said.join(" "));
    TOLD.iter().any(|phrase| told.contains(&format!(" {phrase} ")))
        || said.iter().any(|word| SUPPOSED.contains(&word.as_str()))
}
