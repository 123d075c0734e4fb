//! Which tools are listed. Every tool can be called, listed or not.

use std::fmt;
use std::str::FromStr;

/// A selection of tools for a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Five tools in few tokens.
    #[default]
    Slim,
    /// The tools of Zaxy's contract, with its schemas and answers.
    Zaxy,
    /// Both; a name that both have is the one of the slim profile.
    Full,
}

/// Why a text names no profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the profiles are `slim`, `zaxy` and `full`")]
pub(crate) struct UnknownProfile;

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Profile, UnknownProfile> {
        match text {
            "slim" => Ok(Profile::Slim),
            "zaxy" => Ok(Profile::Zaxy),
            "full" => Ok(Profile::Full),
            _ => Err(UnknownProfile),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Profile::Slim => "slim",
            Profile::Zaxy => "zaxy",
            Profile::Full => "full",
        })
    }
}
