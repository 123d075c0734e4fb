//! Room on the disk: writes stop shortly before it is full.
//!
//! Ordinary writes, and derivation, are refused while there is still room for what the views, the audit log and the
//! search index have to write. What takes something back goes on, if need be into the space of the ballast.

use std::io;

use lamina_store::ballast::Ballast;
use lamina_store::log::LogError;

use crate::Error;

/// How much of the disk is left alone.
#[derive(Debug, Clone)]
pub struct Room {
    ballast: Ballast,
    bytes_min: u64,
}

impl Room {
    /// Leaves so many bytes free on the disk of a ballast, beside those that the ballast lacks.
    pub fn new(ballast: Ballast, bytes_min: u64) -> Room {
        Room { ballast, bytes_min }
    }

    /// Whether there is too little room. A disk that does not tell has enough.
    pub fn is_low(&self) -> bool {
        self.ballast.free() < self.bytes_min.saturating_add(self.ballast.missing())
    }

    /// Whether so many bytes can be written, if need be into the space of the ballast.
    pub(crate) fn secure(&self, bytes: u64) -> bool {
        self.ballast.secure(bytes)
    }
}

/// What a write is refused with then.
pub(crate) fn refusal() -> Error {
    let full = io::Error::from(io::ErrorKind::StorageFull);
    Error::LogUnavailable(Box::new(LogError::Full(full)))
}
