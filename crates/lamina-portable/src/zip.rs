//! ZIP archives of strangers, read strictly, and stored archives of our own, written in one pass.
//!
//! The reader takes the subset that no two programs read differently: one disk, stored or deflated
//! entries, a directory that ends where the file ends, names that stay inside the archive and occur
//! once. Limits are checked by the declared sizes before anything is inflated, and the declared sizes
//! are enforced while it is.

use std::io;

mod bzip2;
mod directory;
mod entry;
mod fields;
mod write;

pub use directory::{ZipArchive, ZipEntry, ZipMethod, ZipTolerance};
pub use entry::EntryReader;
pub use write::{StoredFile, ZipWriter};

/// How much an archive may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZipLimits {
    /// Entries.
    pub entries_max: u64,
    /// Inflated bytes of one entry.
    pub entry_bytes_max: u64,
    /// Inflated bytes of all entries.
    pub total_bytes_max: u64,
    /// Bytes of the directory, which is held in memory.
    pub directory_bytes_max: u64,
    /// Inflated bytes for each compressed byte, for entries larger than [`Self::RATIO_FREE_BYTES`].
    pub ratio_max: u64,
}

impl ZipLimits {
    /// Entries of this size may be compressed as well as they can.
    pub const RATIO_FREE_BYTES: u64 = 8 << 20;

    /// The limits of imports.
    pub const IMPORT: ZipLimits = ZipLimits {
        entries_max: 100_000,
        entry_bytes_max: 10 << 30,
        total_bytes_max: 10 << 30,
        directory_bytes_max: 256 << 20,
        ratio_max: 200,
    };
}

/// Why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum ZipError {
    /// No end record.
    #[error("this is not a ZIP archive, or it was cut off: its end record is missing")]
    NoEndRecord,
    /// A record that contradicts the format.
    #[error("the ZIP archive is damaged: {0}")]
    Damaged(&'static str),
    /// Parts on several disks.
    #[error("the ZIP archive is split into several parts; join them first")]
    SeveralDisks,
    /// Too many entries.
    #[error("the ZIP archive has {count} entries; at most {max} are read")]
    EntriesTooMany {
        /// How many it has.
        count: u64,
        /// The limit.
        max: u64,
    },
    /// A name that leads out of the archive.
    #[error("the entry `{}` {why}", crate::quote(.name))]
    Name {
        /// The name.
        name: String,
        /// The fault.
        why: &'static str,
    },
    /// A second entry of the same name.
    #[error("the entry `{}` occurs twice", crate::quote(.0))]
    DuplicateName(String),
    /// A symbolic link or another special file.
    #[error("the entry `{}` is a symbolic link or another special file", crate::quote(.0))]
    SpecialFile(String),
    /// An encrypted entry.
    #[error("the entry `{}` is encrypted; unpack the archive with its password first", crate::quote(.0))]
    Encrypted(String),
    /// A method other than stored and deflated.
    #[error("the entry `{}` is compressed by method {method}; only stored and deflated entries are read", crate::quote(.name))]
    Method {
        /// The entry.
        name: String,
        /// The number of the method.
        method: u16,
    },
    /// An entry that is too large.
    #[error("the entry `{}` has {bytes} bytes; at most {max} are read", crate::quote(.name))]
    EntryTooLarge {
        /// The entry.
        name: String,
        /// Its inflated size.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// Too many bytes in all.
    #[error("the ZIP archive inflates to more than {max} bytes")]
    TotalTooLarge {
        /// The limit.
        max: u64,
    },
    /// A bomb.
    #[error("the entry `{}` inflates to more than {max} times its size", crate::quote(.name))]
    Ratio {
        /// The entry.
        name: String,
        /// The limit.
        max: u64,
    },
    /// An entry that contradicts the directory.
    #[error("the entry `{}` is damaged: {why}", crate::quote(.name))]
    Entry {
        /// The entry.
        name: String,
        /// The contradiction.
        why: &'static str,
    },
    /// A file that has another size than was announced for it.
    #[error("`{}` changed while it was read: {expected} bytes were announced", crate::quote(.name))]
    FileChanged {
        /// The file.
        name: String,
        /// The announced size.
        expected: u64,
    },
    /// The bytes could not be read or written.
    #[error("the ZIP archive could not be read or written")]
    Io(#[from] io::Error),
}

#[cfg(test)]
mod tests;
