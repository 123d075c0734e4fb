//! How long something takes: "for three years", "a couple of weeks".

use super::find::unit;
use super::{Anchor, Unit};
use crate::rules::lexicon::{Class, Form};
use crate::rules::number;
use crate::rules::token::{Kind, Tokens};

/// Tokens between a verb and the words for how long.
const LASTING_REACH_MAX: usize = 14;

/// "for three years" behind "has lived": what goes on began so long ago. Of what is over or lies ahead it says no
/// beginning.
pub(super) fn lasting(tokens: &Tokens<'_>, at: usize) -> Option<(Anchor, usize)> {
    if tokens.at(at).fold != "for" {
        return None;
    }
    let mut next = at + 1 + usize::from(tokens.at(at + 1).fold == "the");
    next += usize::from(tokens.at(next).word(&["past", "last"]));
    while tokens.at(next).word(&[
        "over", "about", "around", "roughly", "almost", "nearly", "more", "than", "at", "least",
        "well", "some", "good", "up",
    ]) {
        next += 1;
    }
    let (count, end) = length(tokens, next)?;
    let (unit, count) = span_of(&tokens.at(end).fold, count)?;
    let ends = |index: &usize| {
        let token = tokens.at(*index);
        token.kind == Kind::Newline || token.word(&[".", ";", "!", "?"])
    };
    let from = (at.saturating_sub(LASTING_REACH_MAX)..at).rev().find(ends);
    let from = from.map_or(at.saturating_sub(LASTING_REACH_MAX), |index| index + 1);
    // "For the past five years I have been": the verb may come later.
    let to = if from == at { at + LASTING_REACH_MAX } else { at };
    (from..to)
        .take_while(|index| *index < at || !ends(index))
        .any(|index| goes_on(tokens, index))
        .then_some(())?;
    Some((Anchor::Away(unit, count.checked_neg()?), end + 1))
}

/// Whether a verb in the perfect stands here: "have lived", "'s been".
fn goes_on(tokens: &Tokens<'_>, at: usize) -> bool {
    let mut next = at + 1;
    while tokens.at(next).is(Class::ADVERB) || tokens.at(next).is(Class::NEGATION) {
        next += 1;
    }
    let participle = tokens.at(next).verb.is_some_and(|verb| verb.forms.has(Form::PARTICIPLE));
    tokens.at(at).word(&["have", "has", "'ve"]) && (participle || tokens.at(next).fold == "been")
        || tokens.at(at).fold == "'s" && tokens.at(next).fold == "been"
}

/// "a couple of", "a", "three": how many, and the token after.
pub(super) fn length(tokens: &Tokens<'_>, at: usize) -> Option<(i32, usize)> {
    if tokens.words_at(at, &["a", "couple", "of"]) {
        Some((2, at + 3))
    } else if tokens.words_at(at, &["a", "couple"]) {
        Some((2, at + 2))
    } else if tokens.at(at).word(&["a", "an"]) {
        Some((1, at + 1))
    } else {
        number::count(tokens, at)
    }
}

/// So many of a unit of days.
pub(super) fn span_of(word: &str, count: i32) -> Option<(Unit, i32)> {
    match word {
        "fortnight" => Some((Unit::Week, count.checked_mul(2)?)),
        "decade" | "decades" => Some((Unit::Year, count.checked_mul(10)?)),
        _ => Some((unit(word)?, count)),
    }
}
