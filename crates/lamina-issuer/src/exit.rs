//! How a command ends: the exit codes that scripts rely on, and the line that says why.

use std::process::ExitCode;

/// How a command ended (ruling 21).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything is in order.
    Fine = 0,
    /// What is stored is damaged.
    Damage = 2,
    /// The directory was made by a later version.
    Schema = 3,
    /// Something cannot be read, written or used.
    Unreadable = 4,
    /// The command line is wrong, or asks for something that is not there.
    Usage = 64,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) error: anyhow::Error,
    /// What the person at the keyboard can do about it.
    pub(crate) help: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Failure {
        Failure { exit, error: error.into(), help: None }
    }

    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Failure {
        Failure::new(Exit::Usage, error)
    }

    pub(crate) fn unreadable(error: impl Into<anyhow::Error>) -> Failure {
        Failure::new(Exit::Unreadable, error)
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Failure {
        Failure { help: Some(help.into()), ..self }
    }
}
