//! Which tools a client lists. Every tool can be called, listed or not.
//!
//! A tool name may stand in two tables with two schemas: a call follows the table of its own profile first.

use std::fmt;
use std::str::FromStr;

use super::tools::{SLIM_TOOLS, Tool};
use super::zaxy::{FULL_TOOLS, ZAXY_TOOLS};

/// A selection of tools for a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Five tools in few tokens.
    #[default]
    Slim,
    /// The documented tools of Zaxy, with its schemas.
    Zaxy,
    /// The slim tools, those of Zaxy under other names, and the rest.
    Full,
}

/// A text that names no profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the profiles are `slim`, `zaxy` and `full`")]
pub(crate) struct UnknownProfile;

impl Profile {
    /// All profiles.
    #[cfg(test)]
    pub(crate) const ALL: [Profile; 3] = [Profile::Slim, Profile::Zaxy, Profile::Full];

    /// The name that `--profile` and the address take.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Profile::Slim => "slim",
            Profile::Zaxy => "zaxy",
            Profile::Full => "full",
        }
    }

    /// The tools that a client lists, in the order of the list.
    pub(crate) fn listed_tools(self) -> Vec<&'static Tool> {
        match self {
            Profile::Slim => SLIM_TOOLS.iter().collect(),
            Profile::Zaxy => ZAXY_TOOLS.iter().collect(),
            Profile::Full => first_of_each_name([SLIM_TOOLS, ZAXY_TOOLS, FULL_TOOLS]),
        }
    }

    /// Every tool that a call can name: the listed one where two tables have the name.
    pub(crate) fn callable_tools(self) -> Vec<&'static Tool> {
        match self {
            Profile::Zaxy => first_of_each_name([ZAXY_TOOLS, SLIM_TOOLS, FULL_TOOLS]),
            Profile::Slim | Profile::Full => {
                first_of_each_name([SLIM_TOOLS, ZAXY_TOOLS, FULL_TOOLS])
            }
        }
    }
}

fn first_of_each_name(tables: [&'static [Tool]; 3]) -> Vec<&'static Tool> {
    let mut tools: Vec<&'static Tool> = Vec::new();
    for tool in tables.into_iter().flatten() {
        if tools.iter().all(|known| known.name != tool.name) {
            tools.push(tool);
        }
    }
    tools
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Profile, UnknownProfile> {
        match text {
            "slim" => Ok(Profile::Slim),
            // `core` is what configurations made for Zaxy say.
            "zaxy" | "core" => Ok(Profile::Zaxy),
            "full" => Ok(Profile::Full),
            _ => Err(UnknownProfile),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
