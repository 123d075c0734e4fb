//! How a command ends: the exit codes that scripts rely on, and the one line that says why.

use std::process::ExitCode;

/// How a command ended (ruling 21).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything is in order.
    Fine = 0,
    /// Stored bytes are damaged, or something does not verify.
    Damage = 2,
    /// The data has a format that this version does not read.
    Schema = 3,
    /// Something cannot be read or used: a directory in use, a file, a port.
    Unreadable = 4,
    /// The command line or the configuration is wrong.
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

    /// The command line or the configuration is wrong.
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Failure {
        Failure::new(Exit::Usage, error)
    }

    /// Something cannot be read or used.
    pub(crate) fn unreadable(error: impl Into<anyhow::Error>) -> Failure {
        Failure::new(Exit::Unreadable, error)
    }
}
