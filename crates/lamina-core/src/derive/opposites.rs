//! Relations that deny each other: whoever dislikes something does not like it.
//!
//! A denial within one relation ("I don't own a car") stands on the same track as what it denies, and
//! the algebra of tracks decides. Of these two relations each has tracks of its own, so a claim of one
//! has to be brought to the other: it ends what is known there and is evidence against it.

/// Relations of which only one can hold between the same two at a time.
const OPPOSITES: &[(&str, &str)] = &[("likes", "dislikes")];

/// The relation that a claim of this one denies.
pub fn opposite(predicate: &str) -> Option<&'static str> {
    OPPOSITES.iter().find_map(|(one, other)| match predicate {
        _ if predicate == *one => Some(*other),
        _ if predicate == *other => Some(*one),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
