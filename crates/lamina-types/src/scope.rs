//! Scope paths: the one namespace.
//!
//! `segment ("/" segment)*`, a segment is `type:id`. A [`ScopePath`] is known to be well formed, so
//! nothing downstream checks the grammar again.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::ActorId;
use crate::limits::{SCOPE_CHARS_MAX, SCOPE_SEGMENTS_MAX};

/// The types that have a meaning of their own (R069, C09).
pub const BUILT_IN_TYPES: &[&str] = &[
    "org", "dept", "team", "app", "user", "agent", "service", "ws", "project", "session", "global",
    "system",
];

/// The types whose scopes belong to the actor of the same name: `org:acme/user:alice` is that of
/// `user:alice`.
pub const PERSON_TYPES: &[&str] = &["user", "agent", "service"];

/// The types of shared places that a tenant administrator registers.
pub const GROUP_TYPES: &[&str] = &["org", "dept", "team"];

/// A well-formed scope path.
///
/// Invariant: 1..=[`SCOPE_SEGMENTS_MAX`] segments of `type:id`, at most [`SCOPE_CHARS_MAX`]
/// characters. The only way to get one is [`ScopePath::from_str`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopePath(Arc<str>);

/// A scope and everything below it, as tokens name it: a path, with or without `/*` after it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopePrefix(ScopePath);

/// How far a read reaches from the scope it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScopeView {
    /// Exactly this scope.
    Local,
    /// This scope and its ancestors.
    Holistic,
    /// This scope and everything below it.
    Descend,
}

/// Why a text is not a scope path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// Nothing was given.
    #[error("a scope needs at least one `type:id` segment")]
    Empty,
    /// Longer than the limit.
    #[error("a scope has at most {SCOPE_CHARS_MAX} characters")]
    TooLong,
    /// More segments than the limit.
    #[error("a scope has at most {SCOPE_SEGMENTS_MAX} segments")]
    TooManySegments,
    /// A segment has no colon, or an empty half.
    #[error("segment {index} is not `type:id`")]
    NotTypeId {
        /// Which segment, counted from 0.
        index: usize,
    },
    /// The type has a character outside `[a-z][a-z0-9_]*`.
    #[error("the type of segment {index} must match [a-z][a-z0-9_]*")]
    BadType {
        /// Which segment, counted from 0.
        index: usize,
    },
    /// The id has a character outside `[A-Za-z0-9_-]+`.
    #[error("the id of segment {index} must match [A-Za-z0-9_-]+")]
    BadId {
        /// Which segment, counted from 0.
        index: usize,
    },
}

impl ScopePath {
    /// The text of the path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The segments, outermost first, as (type, id).
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        self.0.split('/').map(|segment| segment.split_once(':').unwrap_or((segment, "")))
    }

    /// The type of the last segment.
    pub fn leaf_type(&self) -> &str {
        self.segments().next_back().map_or("", |(kind, _)| kind)
    }

    /// Whether `other` is this scope or lies below it. Compares whole segments: `org:ac` does not
    /// contain `org:acme`.
    pub fn contains(&self, other: &ScopePath) -> bool {
        match other.as_str().strip_prefix(self.as_str()) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }

    /// The scope one level up, if there is one.
    pub fn parent(&self) -> Option<ScopePath> {
        self.0.rsplit_once('/').map(|(head, _)| ScopePath(Arc::from(head)))
    }

    /// This scope and its ancestors, innermost first.
    pub fn self_and_ancestors(&self) -> Vec<ScopePath> {
        std::iter::successors(Some(self.clone()), ScopePath::parent).collect()
    }

    /// Whether the scope is one that is meant for all tenants: its first segment is `global:`.
    pub fn is_shared(&self) -> bool {
        self.segments().next().is_some_and(|(kind, _)| kind == "global")
    }

    /// The actor whose name the last segment bears, for the person types. Nobody's in a shared scope,
    /// where actors of several tenants have the same name.
    pub fn person(&self) -> Option<ActorId> {
        let segment = self.0.rsplit('/').next()?;
        let is_person = PERSON_TYPES.contains(&self.leaf_type()) && !self.is_shared();
        if is_person { segment.parse().ok() } else { None }
    }

    /// Whether this is the scope of a person, or lies below one.
    pub fn is_personal(&self) -> bool {
        !self.is_shared() && self.segments().any(|(kind, _)| PERSON_TYPES.contains(&kind))
    }

    /// Whether the scope ends in a group: an organization, a department or a team.
    pub fn is_group(&self) -> bool {
        GROUP_TYPES.contains(&self.leaf_type())
    }

    /// Whether any segment has this type.
    pub fn has_type(&self, kind: &str) -> bool {
        self.segments().any(|(found, _)| found == kind)
    }
}

impl ScopePrefix {
    /// The outermost scope it covers.
    pub fn path(&self) -> &ScopePath {
        &self.0
    }

    /// Whether this scope is covered; by whole segments, like [`ScopePath::contains`].
    pub fn contains(&self, scope: &ScopePath) -> bool {
        self.0.contains(scope)
    }
}

impl From<ScopePath> for ScopePrefix {
    fn from(path: ScopePath) -> ScopePrefix {
        ScopePrefix(path)
    }
}

impl FromStr for ScopePrefix {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, ScopeError> {
        text.strip_suffix("/*").unwrap_or(text).parse().map(ScopePrefix)
    }
}

impl fmt::Display for ScopePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/*", self.0)
    }
}

impl FromStr for ScopePath {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, ScopeError> {
        if text.is_empty() {
            return Err(ScopeError::Empty);
        }
        if text.len() > SCOPE_CHARS_MAX {
            return Err(ScopeError::TooLong);
        }
        for (index, segment) in text.split('/').enumerate() {
            if index >= SCOPE_SEGMENTS_MAX {
                return Err(ScopeError::TooManySegments);
            }
            check_segment(index, segment)?;
        }
        Ok(ScopePath(Arc::from(text)))
    }
}

fn check_segment(index: usize, segment: &str) -> Result<(), ScopeError> {
    let (kind, id) = segment.split_once(':').ok_or(ScopeError::NotTypeId { index })?;
    if kind.is_empty() || id.is_empty() {
        return Err(ScopeError::NotTypeId { index });
    }
    let kind_ok = kind.starts_with(|c: char| c.is_ascii_lowercase())
        && kind.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_');
    if !kind_ok {
        return Err(ScopeError::BadType { index });
    }
    if !id.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-') {
        return Err(ScopeError::BadId { index });
    }
    Ok(())
}

impl fmt::Display for ScopePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ScopePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
