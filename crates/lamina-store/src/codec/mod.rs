//! Hand-written codecs for the plaintext of log sections.
//!
//! A section starts with the version of its layout; then come fields of (tag, length, bytes), so
//! that a field can be added without a new version and an older reader skips it. These bytes live
//! as long as the log does: golden bytes in the tests hold them still, and a tag is never reused.

pub mod experience;
pub mod answer;
pub mod control;
pub mod dependants;
pub mod models;
pub mod wire;

/// Why bytes are not what they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The bytes end inside a field.
    #[error("the bytes end inside a field")]
    Truncated,
    /// The layout is newer than this program.
    #[error("the layout has version {found}, this program reads version {supported}")]
    Version {
        /// The version in the bytes.
        found: u8,
        /// The version we read.
        supported: u8,
    },
    /// A field that is always there is not.
    #[error("the field `{field}` is missing")]
    Missing {
        /// Its name.
        field: &'static str,
    },
    /// A field that is there once is there twice.
    #[error("the field `{field}` is there twice")]
    Twice {
        /// Its name.
        field: &'static str,
    },
    /// A field does not hold a value of its type.
    #[error("the field `{field}` does not hold a value of its type")]
    Malformed {
        /// Its name.
        field: &'static str,
    },
}
