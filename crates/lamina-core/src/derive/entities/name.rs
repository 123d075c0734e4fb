//! What is left of a name when everything that does not tell two things apart is taken away.

use std::fmt;

use lamina_types::layer::extraction::EntityKind;

use crate::derive::naming::words;

/// A folded name: one or more words. Two names with the same key are the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameKey {
    words: Vec<String>,
}

/// A folded relation between an owner and what is only known as theirs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelationKey(String);

const ARTICLES: &[&str] = &["the", "a", "an"];
pub(super) const TITLES: &[&str] =
    &["mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "madam"];
/// Endings that say of what legal form a company is.
pub(super) const LEGAL_FORMS: &[&str] = &[
    "inc",
    "incorporated",
    "ltd",
    "limited",
    "llc",
    "llp",
    "plc",
    "corp",
    "corporation",
    "gmbh",
    "pty",
    "srl",
    "sarl",
    "oyj",
];
/// The same, but these are words or initials of other things too: only after what is known to be an
/// organization.
const LEGAL_FORMS_SHORT: &[&str] =
    &["co", "company", "ag", "kg", "se", "sa", "sas", "spa", "bv", "nv", "oy", "ab", "as", "kk"];

/// What one has with a customer or a partner, and calls by their name.
const AFFAIRS: &[&str] = &[
    "account",
    "client",
    "contract",
    "customer",
    "deal",
    "engagement",
    "opportunity",
    "renewal",
];

/// Relations that say the same of the same person.
const SAME_RELATION: &[&[&str]] = &[
    &["spouse", "wife", "husband"],
    &["partner", "girlfriend", "boyfriend", "fiance", "fiancee"],
    &["mother", "mom", "mum", "mama", "mummy", "mommy"],
    &["father", "dad", "papa", "daddy"],
    &["grandmother", "grandma", "granny"],
    &["grandfather", "grandpa", "granddad"],
    &["manager", "boss", "supervisor"],
];

impl NameKey {
    /// The key of a name of this kind of thing; `None` if nothing is left of it.
    pub fn new(name: &str, kind: EntityKind) -> Option<NameKey> {
        if kind == EntityKind::Identifier {
            // Punctuation is what identifiers are made of.
            let whole = name.trim().trim_start_matches('@').to_lowercase();
            return (!whole.is_empty()).then(|| NameKey { words: vec![whole] });
        }
        let name = name.trim();
        let owner = ["'s", "’s"].iter().find_map(|ending| name.strip_suffix(ending));
        let mut words = words(owner.unwrap_or(name));
        drop_first(&mut words, ARTICLES);
        if kind == EntityKind::Person {
            drop_first(&mut words, TITLES);
        }
        if matches!(kind, EntityKind::Organization | EntityKind::Thing) {
            while words.len() > 1 && words.last().is_some_and(|last| is_legal_form(last, kind)) {
                words.pop();
            }
        }
        (!words.is_empty()).then_some(NameKey { words })
    }

    /// The name without the word for what is going on with whoever bears it: "Acme" of "Acme deal".
    pub fn bearer(&self) -> Option<NameKey> {
        let (last, words) = self.words.split_last()?;
        let is_affair = AFFAIRS.contains(&last.as_str()) && !words.is_empty();
        is_affair.then(|| NameKey { words: words.to_vec() })
    }

    /// Its words.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether it is more than one word: a first name alone is little evidence.
    pub fn is_full(&self) -> bool {
        self.words.len() > 1
    }
}

impl fmt::Display for NameKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

impl RelationKey {
    /// The key of a relation; `None` if nothing is left of it.
    pub fn new(relation: &str) -> Option<RelationKey> {
        let folded = words(relation).join(" ");
        let same = SAME_RELATION.iter().find(|same| same.contains(&folded.as_str()));
        let folded = same.and_then(|same| same.first()).map_or(folded, |first| (*first).to_owned());
        (!folded.is_empty()).then_some(RelationKey(folded))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a last word only says of what legal form a company is. "GmbH & Co. KG" has an "and".
fn is_legal_form(word: &str, kind: EntityKind) -> bool {
    let is_organization = kind == EntityKind::Organization;
    LEGAL_FORMS.contains(&word)
        || (is_organization && (word == "and" || LEGAL_FORMS_SHORT.contains(&word)))
}

fn drop_first(words: &mut Vec<String>, list: &[&str]) {
    if words.len() > 1 && words.first().is_some_and(|first| list.contains(&first.as_str())) {
        words.remove(0);
    }
}
