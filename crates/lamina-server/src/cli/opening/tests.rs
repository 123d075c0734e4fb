//! Scripts branch on these codes.

use std::io;

use lamina_engine::{LogError, OpenError};

use super::super::exit::Exit;
use super::failure;

#[test]
fn every_reason_has_its_exit_code_and_most_have_advice() {
    let corrupt =
        LogError::Corrupt { file: "0.log".to_owned(), position: 7, what: "crc".to_owned() };
    let path = std::path::PathBuf::from("data");
    let io = || io::Error::other("gone");
    for (error, exit, helped) in [
        (OpenError::InUse { path: path.clone() }, Exit::Unreadable, true),
        (OpenError::Log(corrupt), Exit::Damage, true),
        (OpenError::Log(LogError::NewerFormat { found: 9, supported: 1 }), Exit::Schema, true),
        (
            OpenError::Format { path: path.clone(), what: "format 9".to_owned() },
            Exit::Schema,
            false,
        ),
        (OpenError::Io { doing: "read", path, source: io() }, Exit::Unreadable, false),
    ] {
        let text = error.to_string();
        let failure = failure(error);
        assert_eq!(failure.exit, exit, "{text}");
        assert_eq!(failure.help.is_some(), helped, "{text}");
    }
}
