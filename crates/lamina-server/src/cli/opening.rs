//! Why a data directory does not open, which exit code that is, and what can be done.

use lamina_engine::maintenance::advice;
use lamina_engine::{LogError, OpenError};

use super::exit::{Exit, Failure};

/// The failure of a command that could not open the directory.
pub(super) fn failure(error: OpenError) -> Failure {
    let exit = match &error {
        OpenError::Log(LogError::Corrupt { .. } | LogError::LostTail { .. }) => Exit::Damage,
        OpenError::Format { .. } | OpenError::Log(LogError::NewerFormat { .. }) => Exit::Schema,
        _ => Exit::Unreadable,
    };
    let help = match &error {
        OpenError::InUse { .. } => {
            Some("stop the server that uses it, or name another directory with --data")
        }
        OpenError::BehindLedger { .. } => Some(
            "it is an older copy, in which erased words are still there: put it in place with `lamina restore`",
        ),
        OpenError::Log(error) => advice(error),
        _ => None,
    };
    Failure { help: help.map(str::to_owned), ..Failure::new(exit, error) }
}

#[cfg(test)]
mod tests;
