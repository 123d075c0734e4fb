//! What a text speaks of by common nouns: "the renewal", "a login page". Not what is said about it,
//! only that it occurs; understanding is made of what keeps occurring together.

use lamina_types::layer::extraction::{EntityKind, Mention};

use super::NOUNS_MAX;
use super::lexicon::{Class, Form};
use super::token::{Kind, Tokens};

/// Nouns in the order in which they are said, each as often as it is, without those in names.
pub(crate) fn nouns(tokens: &Tokens<'_>, names: &[Mention]) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut before = false;
    // Inside a phrase that an article opened, behind a name: "the Novo shares".
    let mut framed = false;
    for at in 0..tokens.len() {
        let span = tokens.span(at, at + 1);
        let covers = |name: &Mention| {
            let small = name.kind != EntityKind::Identifier && !tokens.at(at).capital;
            // One word that opens a sentence may be a name or not: what follows has to tell.
            let opens = name.span == span
                && name.kind == EntityKind::Thing
                && (at == 0 || matches!(tokens.before(at).kind, Kind::Newline | Kind::Punct));
            name.span.start < span.end && span.start < name.span.end && !small && !opens
        };
        let named = names.iter().any(covers);
        let noun = !named && is_noun(tokens, at, After { noun: before, framed });
        let opener = Class::DETERMINER.or(Class::POSSESSIVE).or(Class::ADJECTIVE);
        framed = named && (framed || at > 0 && tokens.before(at).is(opener));
        before = named || noun;
        if noun {
            let name = tokens.at(at).fold.clone();
            found.push(Mention { name, kind: EntityKind::Thing, span });
            if found.len() >= NOUNS_MAX {
                break;
            }
        }
    }
    found
}

/// What stands before a token.
#[derive(Debug, Clone, Copy)]
struct After {
    /// A noun, or a part of a name.
    noun: bool,
    /// A name, and before that what opens a phrase.
    framed: bool,
}

/// Words of these classes are no nouns.
const PLAIN: Class = Class::STOP
    .or(Class::ADVERB)
    .or(Class::INTERJECTION)
    .or(Class::FIRST)
    .or(Class::PRONOUN)
    .or(Class::POSSESSIVE)
    .or(Class::DETERMINER)
    .or(Class::PREPOSITION)
    .or(Class::CONJUNCTION)
    .or(Class::BE)
    .or(Class::HAVE)
    .or(Class::DO)
    .or(Class::MODAL)
    .or(Class::NEGATION)
    .or(Class::MONTH)
    .or(Class::WEEKDAY)
    .or(Class::TIME_UNIT)
    .or(Class::NUMBER_WORD)
    .or(Class::IRREALIS)
    .or(Class::HABITUAL)
    .or(Class::QUESTION)
    .or(Class::RELATIVE)
    .or(Class::ADJECTIVE)
    .or(Class::STATUS)
    .or(Class::CREED_TAIL);
/// Nor are these; but a noun that says an opinion may be a part of a name.
const CLOSED: Class = PLAIN.or(Class::PETTY);

/// Whether a word that lists know as something else is a noun all the same, or one that they do not know
/// is none; `None` if what stands around it has to tell.
fn small_word(tokens: &Tokens<'_>, at: usize) -> Option<bool> {
    let (token, previous, next) = (tokens.at(at), tokens.before(at), tokens.at(at + 1));
    let is_little = |fold: &str| SAYS_LITTLE.contains(&fold);
    let open = next.kind == Kind::Word && !next.is(CLOSED) && !is_little(&next.fold);
    // What follows is what an attribute goes with.
    let headed = open && next.verb.is_none();
    if ALSO_NOUNS.contains(&token.fold.as_str()) {
        // "the flat in Delft", and not "the flat tyre"; "the well pump", because no adverb stands there.
        let behind_article = previous.is(Class::DETERMINER.or(Class::POSSESSIVE));
        return Some(behind_article && (!headed || token.is(Class::ADVERB)));
    }
    // "a gem" is an opinion, "the gem shop" is none.
    let names_one = open && next.verb.is_some_and(|verb| verb.forms.has(Form::BASE));
    // "he's a catch" is one too, and "the catch was small" is none; "the catch is that" says nothing of either.
    let definite = previous.fold == "the"
        && !tokens.before(at.saturating_sub(1)).is(Class::BE)
        && tokens.at(at + 2).fold != "that";
    let opinion = token.is(Class::PETTY) && !token.is(PLAIN) && (headed || names_one || definite);
    // "the nightly load" is a load.
    let attribute = token.verb.is_none() && looks_otherwise(&token.fold) && headed;
    let none = token.is(CLOSED) && !opinion || is_little(&token.fold) || attribute;
    none.then_some(false)
}

/// Whether the token is a noun.
fn is_noun(tokens: &Tokens<'_>, at: usize, after: After) -> bool {
    let After { noun: after_noun, framed } = after;
    let token = tokens.at(at);
    let word = token.kind == Kind::Word
        && token.fold.chars().count() >= 3
        && token.fold.starts_with(char::is_alphabetic);
    let (previous, next) = (tokens.before(at), tokens.at(at + 1));
    if let Some(verdict) = small_word(tokens, at).filter(|_| word) {
        return verdict;
    }
    if !word {
        return false;
    }
    let opens = previous.is(Class::DETERMINER.or(Class::POSSESSIVE).or(Class::ADJECTIVE))
        || previous.is(Class::PREPOSITION) && previous.fold != "to"
        || previous.word(&["'s"]);
    // What follows is what a verb takes.
    let takes = next
        .is(Class::DETERMINER.or(Class::POSSESSIVE).or(Class::PRONOUN).or(Class::FIRST))
        || next.capital
        || next.is(Class::NUMBER_WORD)
        || next.kind == Kind::Number;
    let starts = at == 0 || matches!(previous.kind, Kind::Newline | Kind::Punct);
    let Some(verb) = token.verb else {
        let is_so = previous.is(Class::BE)
            || previous.is(Class::ADVERB) && tokens.before(at.saturating_sub(1)).is(Class::BE);
        return opens || framed || !(is_so || looks_otherwise(&token.fold) || after_noun && takes);
    };
    // "the deploy", "gateway deploy", "Deploy of the gateway", and not "Otto reviews the parser".
    if verb.forms.has(Form::ING) {
        let goes_on = previous.is(Class::BE.or(Class::HAVE))
            || previous.verb.is_some_and(|verb| ["keep", "start", "stop"].contains(&verb.lemma));
        return opens || !goes_on && !takes;
    }
    if verb.forms.has(Form::PAST) && !verb.forms.has(Form::BASE) {
        return false;
    }
    let third = verb.forms.has(Form::THIRD) && !verb.forms.has(Form::BASE);
    let begins = starts && !takes && next.kind == Kind::Word && next.fold != "to";
    let compound = after_noun && !takes && !third && !previous.fold.ends_with('s');
    let acts = next.verb.is_some() || next.is(Class::BE.or(Class::HAVE).or(Class::MODAL));
    // "the Novo shares, …", and not "the Atlas runs on Postgres".
    let past = next.fold.len() > 4 && next.fold.ends_with("ed");
    let heads = framed && (acts || past || next.kind != Kind::Word);
    opens || begins || heads || third && (starts || after_noun && acts) || compound
}

/// Adverbs and adjectives that name a thing behind an article.
const ALSO_NOUNS: &[&str] = &["well", "flat", "light", "rescue", "baby", "adult", "twin"];

/// Words that are no nouns, or that speak of nothing in particular.
const SAYS_LITTLE: &[&str] = &[
    "slow",
    "fast",
    "tight",
    "better",
    "best",
    "worse",
    "twice",
    "once",
    "full",
    "short",
    "shorter",
    "long",
    "longer",
    "early",
    "late",
    "later",
    "back",
    "hard",
    "flat",
    "rusty",
    "dry",
    "wet",
    "empty",
    "dirty",
    "idle",
    "thick",
    "thin",
    "wide",
    "narrow",
    "dead",
    "alive",
    "sharp",
    "loud",
    "cheap",
    "same",
    "other",
    "another",
    "such",
    "own",
    "more",
    "most",
    "less",
    "many",
    "time",
    "times",
    "date",
    "way",
    "ways",
    "thing",
    "things",
    "kind",
    "kinds",
    "lot",
    "lots",
    "part",
    "parts",
    "percent",
    "item",
    "question",
    "case",
    "point",
    "bit",
    "couple",
    "away",
    "somewhere",
    "anywhere",
    "everywhere",
    "elsewhere",
    "something",
    "anything",
    "everything",
    "nothing",
    "someone",
    "anyone",
    "everyone",
    "noon",
    "night",
    "please",
    "thanks",
];

/// Endings of words that are no nouns although no list knows them.
pub(super) fn looks_otherwise(fold: &str) -> bool {
    ["ly", "ed", "ful", "ous", "able", "ible", "less", "ier", "iest"]
        .iter()
        .any(|ending| fold.len() > ending.len() + 2 && fold.ends_with(ending))
}

#[cfg(test)]
mod tests;
