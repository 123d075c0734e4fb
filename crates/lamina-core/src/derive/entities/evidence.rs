//! What a name or a relation says about what bears it.
//!
//! Grammar seldom tells what kind of thing a sentence is about. Its predicate often does: who has a
//! husband is a person. So does a title before a name, or the legal form of a company after it.

use lamina_types::layer::extraction::EntityKind;

use super::name::{LEGAL_FORMS, TITLES};
use crate::derive::naming::words;

/// Relations that only people have.
const OF_PEOPLE: &[&str] = &[
    "colleague",
    "language",
    "lives_in",
    "manages",
    "nationality",
    "partner",
    "pronouns",
    "religion",
    "reports_to",
    "speaks",
    "spouse",
    "studied_at",
    "studies",
    "works_at",
];

/// What the subject of a relation is, if the relation tells.
pub fn kind_of_subject(predicate: &str) -> Option<EntityKind> {
    OF_PEOPLE.contains(&predicate).then_some(EntityKind::Person)
}

/// What bears a name, if the name itself tells.
pub fn kind_of_name(name: &str) -> Option<EntityKind> {
    let name = name.trim();
    if is_address(name) {
        return Some(EntityKind::Identifier);
    }
    let words = words(name);
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return None };
    if words.len() < 2 || !name.starts_with(char::is_uppercase) {
        return None;
    }
    if TITLES.contains(&first.as_str()) {
        Some(EntityKind::Person)
    } else if LEGAL_FORMS.contains(&last.as_str()) {
        Some(EntityKind::Organization)
    } else {
        None
    }
}

/// How sure it is who is meant by a name that was stated to be theirs, in ten-thousandths.
pub const STATED: u16 = 9_500;

/// The kind of name that the object of a relation is, and how sure it is that the subject is called so
/// from then on; `None` if the relation gives no name. `kind` is what the subject is.
pub fn names_by(predicate: &str, kind: EntityKind) -> Option<(EntityKind, u16)> {
    match predicate {
        "email" | "account" => Some((EntityKind::Identifier, 10_000)),
        "name" | "alias" => Some((kind, STATED)),
        _ => None,
    }
}

/// An e-mail address or an address of the web: one word that nothing else looks like.
fn is_address(name: &str) -> bool {
    if name.contains(char::is_whitespace) {
        return false;
    }
    let mail = name.split_once('@').is_some_and(|(user, host)| {
        !user.is_empty() && host.contains('.') && !host.starts_with('.') && !host.ends_with('.')
    });
    mail || name.contains("://")
}
