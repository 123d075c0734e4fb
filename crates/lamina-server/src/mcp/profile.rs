//! Which tools are listed. Every tool can be called, listed or not.

use std::fmt;
use std::str::FromStr;

/// A selection of tools for a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Five tools in few tokens.
    #[default]
    Slim,
}

/// Why a text names no profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is one profile in this version: `slim`")]
pub(crate) struct UnknownProfile;

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Profile, UnknownProfile> {
        match text {
            "slim" => Ok(Profile::Slim),
            _ => Err(UnknownProfile),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Profile::Slim => f.write_str("slim"),
        }
    }
}
