//! Why a data directory does not open, and which exit code that is.

use std::path::Path;

use lamina_engine::{LogError, OpenError};

use super::exit::{Exit, Failure};

/// The failure of a command that could not open the directory.
pub(super) fn failure(error: OpenError, _data: &Path) -> Failure {
    let (exit, help) = match &error {
        OpenError::InUse { .. } => {
            let help = "stop the server that uses it, or name another directory with --data";
            (Exit::Unreadable, Some(help.to_owned()))
        }
        OpenError::Log(LogError::Corrupt { .. }) => (Exit::Damage, None),
        OpenError::Format { .. } | OpenError::Log(LogError::NewerFormat { .. }) => {
            (Exit::Schema, None)
        }
        _ => (Exit::Unreadable, None),
    };
    Failure { help, ..Failure::new(exit, error) }
}
