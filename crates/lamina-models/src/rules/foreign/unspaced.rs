//! Phrases of Chinese and Japanese: what stands before and behind the gap, within one clause.

use super::phrases::{Gap, Phrase};
use super::{Found, Part};

/// Marks that end a sentence.
const STOPS: &[char] = &['。', '！', '？', '!', '?', '\n', '；'];
/// Marks that end a clause.
const COMMAS: &[char] = &['，', ',', '、'];
/// Characters that a name or a noun may have.
const NOUN_CHARS_MAX: usize = 16;

/// What the phrases of a table find in a text.
pub(super) fn found(text: &str, phrases: &[Phrase]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, mark) in text.match_indices(STOPS).chain([(text.len(), "")]) {
        let sentence = Part { start, end: at };
        start = at + mark.len();
        let words = text.get(sentence.start..sentence.end).unwrap_or_default();
        let supposes = ["如果", "要是", "もし", "假如"].iter().any(|word| words.contains(word));
        let asks = matches!(mark, "？" | "?") || words.ends_with(['吗', '呢', 'か']);
        if asks || supposes || words.contains(['「', '“', '『']) {
            continue;
        }
        found.extend(clauses(text, sentence).into_iter().filter_map(|clause| {
            phrases.iter().find_map(|phrase| fit(text, clause, sentence, phrase))
        }));
    }
    found
}

fn clauses(text: &str, sentence: Part) -> Vec<Part> {
    let words = text.get(sentence.start..sentence.end).unwrap_or_default();
    let mut found = Vec::new();
    let mut start = 0;
    for (at, mark) in words.match_indices(COMMAS).chain([(words.len(), "")]) {
        found.push(Part { start: sentence.start + start, end: sentence.start + at });
        start = at + mark.len();
    }
    found
}

/// Words that may open a clause and add nothing.
const OPENERS: &[&str] = &[
    "对了",
    "其实",
    "现在",
    "目前",
    "另外",
    "还有",
    "ちなみに",
    "実は",
    "今は",
    "現在",
    "私は",
    "僕は",
    "俺は",
    "わたしは",
    "あと",
    "それと",
    "我现在",
    "我目前",
];

fn fit(text: &str, clause: Part, sentence: Part, phrase: &Phrase) -> Option<Found> {
    let mut start = clause.start;
    let words = |from: usize| text.get(from..clause.end).unwrap_or_default();
    start += words(start).len() - words(start).trim_start().len();
    let whole = Part { start, end: clause.end };
    // "我现在" is both an opener and the beginning of a phrase.
    if !words(start).starts_with(phrase.before) || phrase.before.is_empty() {
        while let Some(opener) = OPENERS.iter().find(|opener| words(start).starts_with(**opener)) {
            start += opener.len();
        }
    }
    let rest = words(start).strip_prefix(phrase.before)?;
    let from = clause.end - rest.len();
    let (value, tail) = match phrase.behind {
        "" => (rest, ""),
        behind => rest.split_once(behind)?,
    };
    let closed = tail.trim_end_matches(['了', '。', 'よ', 'ね', '的']).is_empty();
    let value = value.trim_end_matches('了');
    // "卵にアレルギーがあります": the particle is no part of the thing.
    let value = match phrase.predicate {
        "allergic_to" => value.trim_end_matches(['に', 'の']),
        _ => value,
    };
    let noun = value.chars().count() <= NOUN_CHARS_MAX && !value.contains(['我', '你', 'は']);
    if value.is_empty()
        || !closed
        || phrase.gap != Gap::Sentence && phrase.gap != Gap::Rest && !noun
    {
        return None;
    }
    let value = match phrase.gap {
        Gap::Sentence => Part { start: whole.start, end: sentence.end },
        _ => Part { start: from, end: from + value.len() },
    };
    let end = whole.end.max(value.end);
    Some(Found { phrase: *phrase, value, clause: Part { start: whole.start, end } })
}
