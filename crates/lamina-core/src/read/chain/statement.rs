//! Plain statements: one sentence that says one thing of a named subject, such as `The author of Dune is Frank
//! Herbert` or `Ada works in the field of optics`.
//!
//! A relation that no vocabulary knows is a fact only in its words. The sentence has to begin with the subject, or with
//! a noun phrase that ends in it, and must not depend on who speaks or on a condition.

use crate::read::words::{is_empty_word, words};

/// Words of a sentence that says one thing.
const WORDS_MAX: usize = 24;
/// A name is joined to the noun before it by one of these.
const JOINS: &[&str] = &["a", "an", "at", "by", "for", "in", "of", "the", "to", "where", "with"];
/// A clause that ends in the name is begun by one of these.
const RELATIVES: &[&str] = &["that", "which", "who"];
const COPULAS: &[&str] = &["are", "is", "was", "were"];
/// A value that is no name stands after the last of these.
const BEFORE_VALUE: &[&str] =
    &["are", "as", "by", "from", "in", "is", "of", "to", "was", "were", "with"];
/// What a sentence with one of these says depends on who speaks, or on something else.
const DEPENDENT: &[&str] = &[
    "although", "because", "but", "he", "her", "his", "i", "if", "it", "its", "me", "my", "not",
    "our", "she", "their", "they", "us", "we", "when", "while", "you", "your",
];

/// What a sentence says of its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The words of the relation.
    pub relation: Vec<String>,
    /// The value, as it is written.
    pub value: String,
}

/// What a sentence says of a name; nothing if the name is not its subject, or if it says more than one thing.
pub fn statement_about(sentence: &str, name: &str) -> Option<Statement> {
    let sentence = sentence.trim();
    let tokens: Vec<&str> = sentence.split_whitespace().collect();
    if tokens.len() > WORDS_MAX || sentence.ends_with(['?', '\u{ff1f}']) {
        return None;
    }
    let (from, to) = place_of(&tokens, name)?;
    let (before, after) = (tokens.get(..from)?, tokens.get(to..)?);
    let said = words(&[before, after].concat().join(" "));
    if said.iter().any(|word| DEPENDENT.contains(&word.as_str())) {
        return None;
    }
    let is_begun = is_lower(after.first()?) && after.len() >= 2 && leads_to_name(before);
    if !is_begun {
        return None;
    }
    let value_at = value_place(before, after)?;
    let value = after.get(value_at..)?.join(" ");
    let value =
        value.strip_suffix('.').unwrap_or(&value).trim_matches(['"', '\u{201c}', '\u{201d}']);
    let told = [before, after.get(..value_at)?].concat().join(" ");
    let relation: Vec<String> =
        words(&told).into_iter().filter(|word| !is_empty_word(word)).collect();
    let is_said = !relation.is_empty() && !words(value).is_empty();
    is_said.then(|| Statement { relation, value: value.to_owned() })
}

/// Where a name stands among tokens: the first, and the one after the last.
fn place_of(tokens: &[&str], name: &str) -> Option<(usize, usize)> {
    let name = words(name);
    let first = name.first()?;
    for from in 0..tokens.len() {
        if words(tokens.get(from)?).first() != Some(first) {
            continue;
        }
        for to in from + 1..=tokens.len() {
            let said = words(&tokens.get(from..to)?.join(" "));
            if said == name {
                return Some((from, to));
            }
            if said.len() >= name.len() {
                break;
            }
        }
    }
    None
}

/// Whether the tokens before a name are a noun phrase that ends in it, or nothing.
fn leads_to_name(before: &[&str]) -> bool {
    let (Some(first), Some(last)) = (before.first(), before.last()) else { return true };
    let is = |token: &str, list: &[&str]| list.contains(&token.to_lowercase().as_str());
    let has_relative = before.iter().any(|token| is(token, RELATIVES));
    is(first, &["the", "a", "an"]) && (is(last, JOINS) || has_relative)
}

/// Where the value begins: at the first capital after the verb, and without one after the last joining word.
fn value_place(before: &[&str], after: &[&str]) -> Option<usize> {
    let is_in = |at: &usize, list: &[&str]| {
        after.get(*at).is_some_and(|token| list.contains(&token.to_lowercase().as_str()))
    };
    let is_capital = |at: &usize| after.get(*at).is_some_and(|token| is_upper(token));
    let all = || 0..after.len();
    // Of a noun phrase the value stands after its verb; of a name itself after the next word.
    let start = match before.len() {
        0 | 1 => 1,
        _ => {
            let end = all().find(is_capital).unwrap_or(after.len());
            let copula = all().take(end).rfind(|at| is_in(at, COPULAS));
            copula.or_else(|| all().find(|at| is_in(at, COPULAS)))? + 1
        }
    };
    let capital = all().skip(start).find(is_capital);
    let joined = || all().skip(start).rfind(|at| is_in(at, BEFORE_VALUE));
    let at = capital.or_else(|| joined().map(|at| at + 1)).unwrap_or(start);
    (at < after.len()).then_some(at)
}

fn is_lower(token: &str) -> bool {
    token.chars().next().is_some_and(char::is_lowercase)
}

/// Whether a token begins with a capital or a digit, perhaps in quotation marks.
fn is_upper(token: &str) -> bool {
    let bare = token.trim_start_matches(|c: char| !c.is_alphanumeric());
    bare.chars().next().is_some_and(|c| c.is_uppercase() || c.is_ascii_digit())
}

#[cfg(test)]
mod tests;
