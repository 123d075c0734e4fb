//! Room on the disk: writes stop shortly before it is full.
//!
//! The log itself takes a full disk well: it writes into space that it has allocated before. The
//! store of the views does not; once a write of its own has failed it has to be opened again. So
//! ordinary writes are refused while there is still room for what the views have to write.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use lamina_env::Disk;
use lamina_store::log::LogError;

use crate::Error;

/// How much of the disk is left alone.
#[derive(Debug, Clone)]
pub struct Room {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    bytes_min: u64,
}

impl Room {
    /// Leaves so many bytes free on the disk of a directory.
    pub fn new(disk: Arc<dyn Disk>, dir: PathBuf, bytes_min: u64) -> Room {
        Room { disk, dir, bytes_min }
    }

    /// Whether there is too little room. A disk that does not tell has enough.
    pub fn is_low(&self) -> bool {
        self.disk.free_bytes(&self.dir).is_ok_and(|free| free < self.bytes_min)
    }
}

/// What a write is refused with then.
pub(crate) fn refusal() -> Error {
    let full = io::Error::from(io::ErrorKind::StorageFull);
    Error::LogUnavailable(Box::new(LogError::Full(full)))
}
