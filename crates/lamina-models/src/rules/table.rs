//! The tables of patterns, by field of life. The order within a verb matters: the first row that fits
//! is the one that speaks.

mod people;
mod work;
mod life;

use super::pattern::Row;

/// All rows in order.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    people::ROWS.iter().chain(work::ROWS).chain(life::ROWS)
}

/// Attributes that somebody or something has: "my name is", "the budget for X is".
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trait {
    /// The words of the attribute, folded.
    pub(crate) words: &'static str,
    pub(crate) predicate: &'static str,
    /// The kind of its value.
    pub(crate) takes: &'static str,
}

const fn has(words: &'static str, predicate: &'static str, takes: &'static str) -> Trait {
    Trait { words, predicate, takes }
}

/// What may be said of somebody as "my x is y". Longer ones first.
pub(crate) const TRAITS: &[Trait] = &[
    has("name", "name", "word"),
    has("full name", "name", "word"),
    has("first name", "name", "word"),
    has("nickname", "alias", "word"),
    has("pronouns", "pronouns", "word"),
    has("birthday", "birthday", "birthday"),
    has("date of birth", "born_on", "date"),
    has("email", "email", "email"),
    has("email address", "email", "email"),
    has("e-mail", "email", "email"),
    has("e-mail address", "email", "email"),
    has("work email", "email", "email"),
    has("new email", "email", "email"),
    has("new email address", "email", "email"),
    has("number", "phone", "phone"),
    has("phone", "phone", "phone"),
    has("phone number", "phone", "phone"),
    has("new number", "phone", "phone"),
    has("mobile", "phone", "phone"),
    has("mobile number", "phone", "phone"),
    has("cell", "phone", "phone"),
    has("cell number", "phone", "phone"),
    has("new phone number", "phone", "phone"),
    has("website", "website", "url"),
    has("blog", "website", "url"),
    has("site", "website", "url"),
    has("homepage", "website", "url"),
    has("portfolio", "website", "url"),
    has("address", "address", "rest"),
    has("home address", "address", "rest"),
    has("new address", "address", "rest"),
    has("shipping address", "address", "rest"),
    has("timezone", "timezone", "word"),
    has("time zone", "timezone", "word"),
    has("preferred language", "language", "language"),
    has("language", "language", "language"),
    has("native language", "speaks", "language"),
    has("mother tongue", "speaks", "language"),
    has("first language", "speaks", "language"),
    has("nationality", "nationality", "nationality"),
    has("religion", "religion", "noun"),
    has("height", "height", "quantity"),
    has("weight", "weight", "quantity"),
    has("hometown", "from", "place"),
    has("home town", "from", "place"),
    has("job", "role", "role"),
    has("job title", "role", "role"),
    has("title", "role", "role"),
    has("role", "role", "role"),
    has("position", "role", "role"),
    has("employer", "works_at", "org"),
    has("major", "studies", "noun"),
    has("budget", "budget", "money"),
    has("revenue", "revenue", "money"),
    has("annual revenue", "revenue", "money"),
    has("turnover", "revenue", "money"),
    has("price", "price", "money"),
    has("cost", "price", "money"),
    has("deadline", "deadline", "date"),
    has("due date", "deadline", "date"),
    has("status", "status", "status"),
    has("version", "version", "version"),
    has("owner", "owner", "person"),
    has("goal", "goal", "activity"),
    has("plan", "plans", "activity"),
    has("main goal", "goal", "activity"),
    has("big goal", "goal", "activity"),
    has("dream", "goal", "activity"),
    has("aim", "goal", "activity"),
    has("headquarters", "located_in", "place"),
    has("hq", "located_in", "place"),
    has("office", "located_in", "place"),
    has("main office", "located_in", "place"),
    has("head office", "located_in", "place"),
];
