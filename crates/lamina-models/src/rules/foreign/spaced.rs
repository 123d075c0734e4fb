//! Phrases of languages that put spaces between words.

use super::phrases::{Gap, Phrase, Table};
use super::{Found, Part};

/// Words that a name or a noun phrase may have.
const NOUN_WORDS_MAX: usize = 6;
/// Words that an activity or an instruction may have.
const REST_WORDS_MAX: usize = 24;

/// A word with its place.
#[derive(Debug, Clone)]
struct Word {
    fold: String,
    part: Part,
}

/// What the phrases of a table find in a text.
pub(super) fn found(text: &str, table: &Table) -> Vec<Found> {
    let mut found = Vec::new();
    for sentence in sentences(text) {
        let Some(words) = text.get(sentence.start..sentence.end) else { continue };
        let after = text.get(sentence.end..).and_then(|rest| rest.chars().next());
        let first = cut(words, sentence.start).into_iter().next();
        let opens = first.and_then(|clause| clause.first().map(|word| word.fold.clone()));
        let supposes = opens.is_some_and(|word| table.supposing.contains(&word.as_str()));
        if after == Some('?') || words.contains(['¿', '"', '«', '“', '„']) || supposes {
            continue;
        }
        for clause in cut(words, sentence.start) {
            let clause = without_openers(&clause, table);
            let Some(hit) = table.phrases.iter().find_map(|phrase| fit(phrase, clause, table))
            else {
                continue;
            };
            // An activity goes on behind its comma: "ich habe vor, im Mai zu heiraten".
            let value = match hit.phrase.gap {
                Gap::Sentence => Part { start: hit.clause.start, end: sentence.end },
                Gap::Rest => Part { start: hit.value.start, end: sentence.end },
                Gap::Noun | Gap::Name => hit.value,
            };
            let value = trimmed(text, value);
            let clause = Part { start: hit.clause.start, end: hit.clause.end.max(value.end) };
            found.push(Found { value, clause, ..hit });
        }
    }
    found
}

/// Sentences end at a mark with white space or nothing behind it, or at a line end. A stop behind one or two digits
/// is that of a date ("am 3. Mai").
fn sentences(text: &str) -> Vec<Part> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let after = text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        let digits = text.get(start..at).is_some_and(|text| {
            let tail = text.chars().rev().take_while(char::is_ascii_digit).count();
            (1..=2).contains(&tail)
        });
        let closes = after.is_none_or(char::is_whitespace) && !(c == '.' && digits);
        if c == '\n' || matches!(c, '.' | '!' | '?' | '…') && closes {
            if at > start {
                found.push(Part { start, end: at });
            }
            start = at + c.len_utf8();
        }
    }
    if text.len() > start {
        found.push(Part { start, end: text.len() });
    }
    found
}

/// The clauses of a sentence: between commas, semicolons, colons and brackets.
fn cut(sentence: &str, offset: usize) -> Vec<Vec<Word>> {
    let mut clauses: Vec<Vec<Word>> = vec![Vec::new()];
    let mut start = None;
    let close = |clauses: &mut Vec<Vec<Word>>, from: Option<usize>, to: usize| {
        let Some(from) = from else { return };
        let word = sentence.get(from..to).unwrap_or_default();
        let part = Part { start: offset + from, end: offset + to };
        let fold = word.to_lowercase().replace('\u{2019}', "'");
        if let Some(clause) = clauses.last_mut() {
            clause.push(Word { fold, part });
        }
    };
    for (at, c) in sentence.char_indices() {
        let is_word = c.is_alphanumeric() || matches!(c, '\'' | '\u{2019}' | '-' | '.' | '&' | '+');
        match (is_word, start) {
            (true, None) => start = Some(at),
            (false, from) => {
                close(&mut clauses, from, at);
                start = None;
                if matches!(c, ',' | ';' | ':' | '(' | ')') {
                    clauses.push(Vec::new());
                }
            }
            (true, Some(_)) => {}
        }
    }
    close(&mut clauses, start, sentence.len());
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

/// A clause without the words that only open it.
fn without_openers<'a>(clause: &'a [Word], table: &Table) -> &'a [Word] {
    let opens = clause.iter().take_while(|word| table.openers.contains(&word.fold.as_str()));
    clause.get(opens.count()..).unwrap_or_default()
}

/// What a phrase finds at the beginning of a clause.
fn fit(phrase: &Phrase, clause: &[Word], table: &Table) -> Option<Found> {
    let mut at = 0;
    for wanted in phrase.before.split_whitespace() {
        let is_wanted = |word: &Word| wanted.split('|').any(|other| word.fold == other);
        let is_filler = |word: &Word| table.fillers.contains(&word.fold.as_str());
        while at > 0 && clause.get(at).is_some_and(|word| is_filler(word) && !is_wanted(word)) {
            at += 1;
        }
        if clause.get(at).is_none_or(|word| !is_wanted(word)) {
            return None;
        }
        at += 1;
    }
    let whole = Part { start: clause.first()?.part.start, end: clause.last()?.part.end };
    let rest = clause.get(at..)?;
    let end = match phrase.behind {
        "" => rest.len(),
        behind => rest.iter().position(|word| behind.split('|').any(|other| word.fold == other))?,
    };
    let rest = rest.get(..end)?;
    let words = match phrase.gap {
        Gap::Sentence => clause,
        Gap::Rest if rest.is_empty() => {
            // The activity stands behind the comma.
            let value = Part { start: whole.end, end: whole.end };
            return Some(Found { phrase: *phrase, value, clause: whole });
        }
        Gap::Rest => rest.get(..rest.len().min(REST_WORDS_MAX))?,
        Gap::Noun | Gap::Name => noun(rest, table),
    };
    let (first, last) = (words.first()?, words.last()?);
    if table.refusing.contains(&first.fold.as_str()) {
        return None;
    }
    let value = Part { start: first.part.start, end: last.part.end };
    Some(Found { phrase: *phrase, value, clause: whole })
}

/// A noun phrase without its article, up to the word that goes on with something else.
fn noun<'a>(rest: &'a [Word], table: &Table) -> &'a [Word] {
    let skips = |word: &Word| {
        table.articles.contains(&word.fold.as_str()) || table.fillers.contains(&word.fold.as_str())
    };
    let from = rest.iter().take_while(|word| skips(word)).count();
    let rest = rest.get(from..).unwrap_or_default();
    let stops = |word: &Word| {
        table.joints.contains(&word.fold.as_str())
            || table.fillers.contains(&word.fold.as_str())
            || word.fold.starts_with(|c: char| c.is_ascii_digit())
    };
    let end = rest.iter().position(stops).unwrap_or(rest.len()).min(NOUN_WORDS_MAX);
    rest.get(..end).unwrap_or_default()
}

/// A part without the marks and spaces at its ends.
fn trimmed(text: &str, part: Part) -> Part {
    let Some(words) = text.get(part.start..part.end) else { return part };
    let is_mark = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '.' | '!' | '…');
    let start = part.start + (words.len() - words.trim_start_matches(is_mark).len());
    let end = part.start + words.trim_end_matches(is_mark).len();
    Part { start, end: end.max(start) }
}
