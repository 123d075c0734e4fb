//! Where names and noun phrases begin and end.

use crate::rules::lexicon::{Class, Form};
use crate::rules::token::{Kind, Tokens};

/// Tokens that a name may have.
const NAME_TOKENS_MAX: usize = 6;
/// Tokens that a noun phrase may have.
const NOUN_TOKENS_MAX: usize = 7;

/// Small words inside of names.
const PARTICLES: &[&str] = &[
    "of", "&", "de", "van", "von", "der", "da", "the", "for", "la", "el", "bin", "al", "los",
    "las", "del", "di", "du", "dos", "das", "den", "le", "ter", "zu",
];

/// Whether the token can be part of a name.
pub(crate) fn is_name_token(tokens: &Tokens<'_>, at: usize) -> bool {
    let token = tokens.at(at);
    if token.kind != Kind::Word || !token.capital || token.fold == "i" {
        return false;
    }
    let starts = at == 0 || matches!(tokens.before(at).kind, Kind::Newline | Kind::Punct);
    let closed = Class::STOP
        .or(Class::HEADING)
        .or(Class::PRONOUN)
        .or(Class::POSSESSIVE)
        .or(Class::DETERMINER)
        .or(Class::WEEKDAY);
    if token.is(closed)
        && (starts
            || !token.fold.chars().all(char::is_alphabetic)
            || token.is(Class::WEEKDAY.or(Class::POSSESSIVE).or(Class::PRONOUN)))
    {
        return false;
    }
    if !token.is(Class::MONTH) {
        return true;
    }
    // Months are names in company ("April Jones"), behind a relative ("my husband Jan"), and as
    // short forms away from dates.
    let dated = tokens.at(at + 1).kind == Kind::Number
        || tokens.before(at).kind == Kind::Number
        || tokens.before(at).is(Class::PREPOSITION)
        || tokens.before(at).word(&["last", "next", "this"]);
    let relative = tokens.before(at).is(Class::KIN);
    let short = token.fold.len() == 3 && token.fold != "may";
    !dated && (relative || short || is_capital_word(tokens, at + 1) && !starts)
}

fn is_capital_word(tokens: &Tokens<'_>, at: usize) -> bool {
    let token = tokens.at(at);
    token.kind == Kind::Word && token.capital && !token.is(Class::PRONOUN)
}

/// The end of the name that begins at `from`: capitals, with "of", "&" and numbers inside.
pub(crate) fn name_run(tokens: &Tokens<'_>, from: usize, to: usize) -> Option<usize> {
    if !is_name_token(tokens, from) || from >= to {
        return None;
    }
    let mut end = from + 1;
    while end < to && end - from < NAME_TOKENS_MAX {
        let token = tokens.at(end);
        // "Universidad de los Andes": at most two of them.
        let particle = |at: usize| tokens.at(at).word(PARTICLES);
        let after = end + 1 + usize::from(particle(end) && particle(end + 1));
        let inner = particle(end)
            && after < to
            && is_name_token(tokens, after)
            && (!token.word(&["the", "for"]) || tokens.before(end).fold == "of");
        let title = token.punct('.')
            && token.glued
            && tokens.before(end).word(&["dr", "mr", "mrs", "ms", "prof", "st"]);
        // "Acme, Inc. has": the comma and the stop are parts of the name.
        let legal = token.punct(',') && end + 1 < to && tokens.is_legal_form(end + 1)
            || token.punct('.')
                && token.glued
                && tokens.is_legal_form(end - 1)
                && tokens.at(end + 1).kind == Kind::Word
                && !tokens.at(end + 1).capital;
        let possessive_inside = token.fold == "'s"
            && end + 1 < to
            && is_name_token(tokens, end + 1)
            && tokens.at(end + 1).glued;
        if is_name_token(tokens, end) || inner || title || legal || possessive_inside {
            end += 1;
        } else {
            break;
        }
    }
    Some(end)
}

/// The end of the noun phrase that begins at `from` (behind its article).
pub(crate) fn noun_run(tokens: &Tokens<'_>, from: usize, to: usize) -> usize {
    let gerund = is_gerund(tokens, from);
    let mut end = from;
    while end < to && end - from < if gerund { NOUN_TOKENS_MAX + 3 } else { NOUN_TOKENS_MAX } {
        let token = tokens.at(end);
        let word = matches!(token.kind, Kind::Word | Kind::Number);
        if !word && token.kind != Kind::Quote {
            break;
        }
        let joined =
            token.is(Class::CONJUNCTION) && !(end > from && token.fold == "that" && gerund);
        let preposition = token.is(Class::PREPOSITION)
            && !(token.fold == "of" && end > from)
            && !(gerund
                && end > from
                && !token.word(&["because", "instead", "since", "until", "than", "as"]));
        let verb = token.is(Class::BE.or(Class::MODAL)) && token.fold != "may"
            || token.word(&["'ve", "has", "have", "had", "do", "does", "did", "not", "n't"]);
        let pronoun = token.is(Class::PRONOUN)
            && token.fold != "people"
            && !token.is(Class::POSSESSIVE.or(Class::NUMBER_WORD))
            && !(gerund && end > from && !token.is(Class::FIRST));
        let tail = token.is(Class::ADVERB)
            && end > from
            && !token.word(&["well", "long", "full-time", "over", "half"])
            && is_tail(tokens, end, to);
        let article =
            token.is(Class::DETERMINER) && end > from && !gerund && tokens.before(end).fold != "of";
        if joined || preposition || verb || pronoun || tail || article {
            break;
        }
        end += 1;
    }
    while end > from && tokens.at(end - 1).word(&["of"]) {
        end -= 1;
    }
    end
}

/// Adverbs that close a phrase: "tea too", "Oslo now", but not "a really good book".
fn is_tail(tokens: &Tokens<'_>, at: usize, to: usize) -> bool {
    let next = tokens.at(at + 1);
    at + 1 >= to
        || next.kind == Kind::Punct
        || next.is(Class::CONJUNCTION.or(Class::PREPOSITION).or(Class::ADVERB).or(Class::WEEKDAY))
        || tokens.at(at).word(&[
            "now",
            "too",
            "again",
            "today",
            "yesterday",
            "tomorrow",
            "here",
            "there",
            "currently",
            "lately",
            "anymore",
        ])
}

/// Fields of work that end like a gerund.
const FIELDS: &[&str] = &[
    "marketing",
    "engineering",
    "banking",
    "accounting",
    "consulting",
    "nursing",
    "manufacturing",
    "publishing",
    "advertising",
    "housing",
    "catering",
    "recruiting",
    "purchasing",
];

pub(crate) fn is_gerund(tokens: &Tokens<'_>, at: usize) -> bool {
    let token = tokens.at(at);
    if token.word(FIELDS) {
        return false;
    }
    let listed = token.verb.is_some_and(|verb| verb.forms.has(Form::ING));
    listed
        || token.kind == Kind::Word
            && token.fold.len() > 5
            && token.fold.ends_with("ing")
            && !token.capital
            && !token.is(Class::PRONOUN)
            && !token.is(Class::OCCASION)
}

/// The first token behind an article.
pub(crate) fn strip_article(tokens: &Tokens<'_>, from: usize, to: usize) -> usize {
    let mut at = from;
    while at < to && tokens.at(at).word(&["a", "an", "the", "some", "any"]) {
        at += 1;
    }
    at
}
