//! Words of a question and of a record, as ranking compares them: folded, cut, and weighed.
//!
//! This is not the analyzer of the index. It compares a question with a few dozen texts that were
//! already found, and it must give the same answer whatever the index holds.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The words of a text in lower case, in order. Apostrophes end a word (`Mel's` is `mel`); scripts that
/// are written without spaces give one word per character.
pub fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_word(text, &mut |word| found.push(word.to_owned()));
    found
}

/// Hands every word of a text to `each`, as [`words`] gives them.
pub fn each_word(text: &str, each: &mut dyn FnMut(&str)) {
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
            continue;
        }
        if !is_unspaced(c) && c.is_alphanumeric() {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            // `Mel's`, `don't`: what follows says nothing about the matter.
            if matches!(c, '\'' | '\u{2019}') {
                while chars.next_if(|next| next.is_alphanumeric()).is_some() {}
            }
            each(&word);
            word.clear();
        }
        if is_unspaced(c) {
            word.push(c);
            each(&word);
            word.clear();
        }
    }
    if !word.is_empty() {
        each(&word);
    }
}

/// Scripts whose words are not separated.
pub fn is_unspaced(c: char) -> bool {
    !c.is_ascii()
        && matches!(c,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{0e00}'..='\u{0e7f}' | '\u{20000}'..='\u{2fa1f}')
}

/// A word without its ending, so that `painted`, `painting` and `paints` are one. Deliberately coarse:
/// it is used to ask whether a record speaks of something, not to find it.
pub fn stem(word: &str) -> String {
    if word.len() <= 3 || !word.is_ascii() {
        return word.to_owned();
    }
    let cut = |ending: &str, left: usize| {
        word.strip_suffix(ending)
            .filter(|rest| rest.len() >= left && rest.contains(['a', 'e', 'i', 'o', 'u', 'y']))
    };
    let stem = cut("ingly", 3)
        .or_else(|| cut("edly", 3))
        .or_else(|| cut("ings", 3))
        .or_else(|| cut("ing", 3))
        .or_else(|| cut("ied", 2))
        .or_else(|| cut("ies", 2))
        .or_else(|| cut("ers", 3))
        .or_else(|| cut("ed", 3))
        .or_else(|| cut("er", 4))
        .or_else(|| cut("es", 3))
        .or_else(|| cut("ly", 4))
        .or_else(|| word.strip_suffix('s').filter(|rest| !rest.ends_with('s') && rest.len() >= 3))
        .unwrap_or(word);
    let stem = stem.strip_suffix(['e', 'y', 'i']).filter(|rest| rest.len() >= 3).unwrap_or(stem);
    let bytes = stem.as_bytes();
    match bytes {
        [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'z') && stem.len() > 3 => {
            stem.get(..stem.len() - 1).unwrap_or(stem).to_owned()
        }
        _ => stem.to_owned(),
    }
}

/// Words that carry no matter of their own.
const EMPTY: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "been", "before", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "for",
    "from", "get", "give", "go", "going", "had", "has", "have", "having", "he", "her", "here",
    "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "kind",
    "like", "likely", "make", "many", "may", "me", "might", "more", "most", "much", "my", "no",
    "not", "of", "on", "one", "or", "other", "our", "out", "over", "own", "please", "said", "say",
    "she", "should", "so", "some", "such", "tell", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "thing", "things", "this", "those", "to", "too", "type", "up", "us",
    "use", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom",
    "whose", "why", "will", "with", "would", "you", "your", "yours",
];

/// Whether a word carries no matter of its own.
pub fn is_empty_word(word: &str) -> bool {
    static PERHAPS: LazyLock<Perhaps> = LazyLock::new(|| Perhaps::of(EMPTY.iter().copied()));
    PERHAPS.has(word) && EMPTY.binary_search(&word).is_ok()
}

/// Says quickly of most words that they are not among some: none of these begins like that and is as long.
#[derive(Debug)]
pub(crate) struct Perhaps(Vec<u64>);

impl Perhaps {
    pub(crate) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Perhaps {
        let mut lengths = vec![0; 256];
        for word in words {
            let first = word.bytes().next().unwrap_or_default();
            if let Some(of_first) = lengths.get_mut(usize::from(first)) {
                *of_first |= bit(word);
            }
        }
        Perhaps(lengths)
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        let first = word.bytes().next().unwrap_or_default();
        self.0.get(usize::from(first)).is_some_and(|lengths| lengths & bit(word) != 0)
    }
}

fn bit(word: &str) -> u64 {
    1 << word.len().min(63)
}

/// What a question speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matter {
    /// Stems of its words, without those that carry nothing.
    pub stems: BTreeSet<String>,
    /// Those that are written like names in the middle of a sentence.
    pub names: BTreeSet<String>,
}

/// What a question speaks of. A capital at the beginning of a sentence says nothing; elsewhere it is a
/// name.
pub fn matter(question: &str) -> Matter {
    let mut matter = Matter::default();
    for word in words(question) {
        if !is_empty_word(&word) {
            matter.stems.insert(stem(&word));
        }
    }
    let mut begins = true;
    for piece in question.split_whitespace() {
        let bare = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let first = bare.chars().next();
        if let Some(word) = words(bare).first()
            && first.is_some_and(char::is_uppercase)
            && !begins
            && !is_empty_word(word)
            && word.chars().count() > 1
        {
            matter.names.insert(stem(word));
        }
        begins = piece.ends_with(['.', '!', '?', ':']) || (begins && bare.is_empty());
    }
    matter
}

/// The sentence that asks, if others stand around it; the last of several.
pub fn asking(question: &str) -> Option<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, c) in question.char_indices() {
        let end = at + c.len_utf8();
        let next = question.get(end..).and_then(|rest| rest.chars().next());
        let ends = match c {
            // Within a number or a name it ends nothing.
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
            '。' | '！' | '？' | '\n' => true,
            _ => false,
        };
        if ends {
            sentences.extend(question.get(start..end));
            start = end;
        }
    }
    sentences.extend(question.get(start..));
    sentences.retain(|sentence| sentence.contains(char::is_alphanumeric));
    let asks = |sentence: &&str| sentence.trim_end().ends_with(['?', '？']);
    let found = sentences.iter().rev().copied().find(asks).map(str::trim);
    found.filter(|_| sentences.len() > 1)
}

/// The question with the sentence that asks at its beginning: of a long one only the first words are
/// told apart.
pub fn asking_first(question: &str) -> Cow<'_, str> {
    match asking(question).and_then(|asks| question.split_once(asks).map(|rest| (asks, rest))) {
        Some((asks, (before, after))) => Cow::Owned(format!("{asks} {before} {after}")),
        None => Cow::Borrowed(question),
    }
}

/// The stems of a text.
pub fn stems(text: &str) -> BTreeSet<String> {
    words(text).iter().map(|word| stem(word)).collect()
}

#[cfg(test)]
mod tests;
