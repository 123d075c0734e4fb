//! Word classes: what a token may be, looked up once when it is cut.
//!
//! Closed classes (pronouns, months, kinship) are complete; open ones (occupations, conditions,
//! tools) are the common members, and rules that use them also accept telling shapes. A word may be
//! in several classes: the clause decides.

mod words;
mod verbs;
mod given;

use std::collections::HashMap;
use std::sync::OnceLock;

pub(crate) use given::is_given;
pub(crate) use verbs::{Form, Verb};
pub(crate) use words::{Kin, kin, unit};

/// A set of word classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Class(u64);

macro_rules! classes {
    ($($name:ident = $bit:expr;)*) => {
        impl Class {
            pub(crate) const NONE: Class = Class(0);
            $(pub(crate) const $name: Class = Class(1 << $bit);)*
        }
    };
}

classes! {
    FIRST = 0;        // I, we
    PRONOUN = 1;      // he, it, everyone
    POSSESSIVE = 2;   // my, our, his
    DETERMINER = 3;   // a, the, this
    PREPOSITION = 4;
    CONJUNCTION = 5;
    ADVERB = 6;       // may stand between subject, verb and complement
    BE = 7;
    HAVE = 8;
    DO = 9;
    MODAL = 10;
    NEGATION = 11;
    MONTH = 12;
    WEEKDAY = 13;
    TIME_UNIT = 14;
    NUMBER_WORD = 15;
    NATIONALITY = 16;
    LANGUAGE = 17;
    RELIGION = 18;
    DIET = 19;
    OCCUPATION = 20;
    PLAYABLE = 21;    // instruments and sports
    STATUS = 22;
    CONDITION = 23;   // illnesses
    OCCASION = 24;    // things that happen at a time
    ABSTRACT = 25;    // what one has without owning it
    INTERJECTION = 26;
    TOOL = 27;        // software
    PLACE = 28;
    ADJECTIVE = 29;
    ANIMAL = 30;
    KIN = 31;
    PETTY = 32;       // nouns that say an opinion, not a kind
    IRREALIS = 33;    // might, would, maybe
    HABITUAL = 34;    // usually, often
    QUESTION = 35;    // who, where
    TEAM = 36;        // team, guild, board
    MEDICINE = 37;
    CREED_TAIL = 38;  // tall, old: what follows a measure
    RELATIVE = 39;    // who, which, that
    STOP = 40;        // never a topic, never a name
    SCHOOL = 41;
    CONSUMABLE = 42;
    HEADING = 44;     // words that open a note: no names, though written large
    COMMON = 43;      // common nouns that are not names when written small
    COMPANY = 46;     // names by which everybody knows a company
    LEGAL = 47;       // Inc, GmbH: what closes the name of one
    TRADE = 48;       // Labs, Holdings: what closes it too
    MARK = 45;        // opens a phrase by which people announce, doubt or take back
}

impl Class {
    pub(crate) const fn or(self, other: Class) -> Class {
        Class(self.0 | other.0)
    }

    pub(crate) fn intersects(self, other: Class) -> bool {
        self.0 & other.0 != 0
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    class: Class,
    verb: Option<Verb>,
}

/// What a folded word may be.
pub(crate) fn look_up(fold: &str) -> (Class, Option<Verb>) {
    match table().get(fold) {
        Some(entry) => (entry.class, entry.verb),
        None => (Class::NONE, None),
    }
}

/// Whether a folded word is of a class.
pub(crate) fn is(fold: &str, class: Class) -> bool {
    look_up(fold).0.intersects(class)
}

fn table() -> &'static HashMap<String, Entry> {
    static TABLE: OnceLock<HashMap<String, Entry>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: HashMap<String, Entry> = HashMap::with_capacity(4_096);
        let mut add = |word: &str, class: Class, verb: Option<Verb>| {
            let entry =
                table.entry(word.to_owned()).or_insert(Entry { class: Class::NONE, verb: None });
            entry.class = entry.class.or(class);
            entry.verb = match (entry.verb, verb) {
                (Some(one), Some(two)) if one.lemma == two.lemma => Some(one.or(two)),
                (one, two) => one.or(two),
            };
        };
        for (class, words) in words::CLASSES {
            for word in words.split_whitespace() {
                add(word, *class, None);
            }
        }
        for word in super::clause::marks() {
            add(word, Class::MARK, None);
        }
        for (word, _) in words::KINSHIP {
            add(word, Class::KIN, None);
        }
        for verb in verbs::all() {
            for (form, word) in verb.forms() {
                add(&word, Class::NONE, Some(Verb { lemma: verb.lemma, forms: form }));
            }
        }
        table
    })
}

#[cfg(test)]
mod tests;
