//! The three identities of an experience: caller, observed actor, subject.
//!
//! An actor id is `type:id`. Unlike a scope segment its id may hold `.`, `@` and `+` (C08), so that
//! `user:priya@acme` is an actor though it is not a scope.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::TenantName;
use crate::limits::ACTOR_CHARS_MAX;

/// A well-formed actor id, `type:id`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(Arc<str>);

/// Who performed an experience, or whom it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// `type:id`.
    pub id: ActorId,
    /// The run or session the act belongs to.
    pub session: Option<String>,
}

/// Why a text is not an actor id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "an actor is `type:id` with type [a-z][a-z0-9_]* and id [A-Za-z0-9._@+-]+, at most {ACTOR_CHARS_MAX} characters"
)]
pub struct ActorError;

impl ActorId {
    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part before the colon.
    pub fn kind(&self) -> &str {
        self.0.split_once(':').map_or("", |(kind, _)| kind)
    }

    /// The name that this actor of a tenant has where actors of several tenants meet. No tenant's name
    /// has an `@` in it, so that whatever an actor calls itself, two of them never have one name.
    pub fn of_tenant(&self, tenant: &TenantName) -> Result<ActorId, ActorError> {
        format!("{self}@{tenant}").parse()
    }

    /// Takes such a name apart: who it is at home, and of which tenant.
    pub fn at_home(&self) -> Option<(ActorId, TenantName)> {
        let (own, tenant) = self.0.rsplit_once('@')?;
        Some((own.parse().ok()?, tenant.parse().ok()?))
    }
}

impl Actor {
    /// An actor without a session.
    pub fn new(id: ActorId) -> Actor {
        Actor { id, session: None }
    }
}

impl FromStr for ActorId {
    type Err = ActorError;

    fn from_str(text: &str) -> Result<Self, ActorError> {
        let (kind, id) = text.split_once(':').ok_or(ActorError)?;
        let kind_ok = kind.starts_with(|c: char| c.is_ascii_lowercase())
            && kind.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_');
        let id_ok = !id.is_empty()
            && id.bytes().all(|c| c.is_ascii_alphanumeric() || b"._@+-".contains(&c));
        if text.len() > ACTOR_CHARS_MAX || !kind_ok || !id_ok {
            return Err(ActorError);
        }
        Ok(ActorId(Arc::from(text)))
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
