//! The part a member plays in a scope.

use std::fmt;
use std::str::FromStr;

/// A role, weakest first, so that the strongest of several is their maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemberRole {
    /// May read.
    Reader,
    /// May read and write.
    Writer,
    /// May read, write, and change members and policy.
    Owner,
}

/// The name is not one of the three.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a role is one of owner, writer, reader")]
pub struct MemberRoleError;

impl MemberRole {
    /// All roles, weakest first.
    pub const ALL: &'static [MemberRole] =
        &[MemberRole::Reader, MemberRole::Writer, MemberRole::Owner];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            MemberRole::Reader => "reader",
            MemberRole::Writer => "writer",
            MemberRole::Owner => "owner",
        }
    }

    /// Whether the scope is at or below the natural level of whoever has this role there (R425).
    pub fn writes(self) -> bool {
        self >= MemberRole::Writer
    }
}

impl fmt::Display for MemberRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for MemberRole {
    type Err = MemberRoleError;

    fn from_str(text: &str) -> Result<Self, MemberRoleError> {
        MemberRole::ALL.iter().copied().find(|role| role.as_str() == text).ok_or(MemberRoleError)
    }
}

#[cfg(test)]
mod tests;
