//! Canonical JSON: four writers whose bytes others hash or sign.
//!
//! | writer | keys sorted by | text | doubles |
//! |---|---|---|---|
//! | [`python_ascii`] | code point | escaped to ASCII | as Python prints them |
//! | [`python_utf8`] | code point | raw UTF-8 | as Python prints them |
//! | [`jcs`] | UTF-16 unit | raw UTF-8 | as ECMAScript prints them (RFC 8785) |
//! | [`aegx`] | UTF-8 byte, before normalization | NFC, raw UTF-8 | shortest digits of a lossy parse |
//!
//! Each takes a value as it was read, with its number tokens, and refuses a value that it cannot write.

#[cfg(feature = "aegx")]
mod aegx;
mod double;
mod jcs;
mod python;

#[cfg(feature = "aegx")]
pub use aegx::aegx;
pub use double::{ecma_double, python_double};
pub use jcs::jcs;
pub(crate) use python::python_spaced_sorted;
pub use python::{python_ascii, python_compact_ascii, python_indented, python_spaced, python_utf8};

/// Why a value has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonError {
    /// Half of a surrogate pair, which UTF-8 cannot hold.
    #[error("a string holds half of a surrogate pair")]
    LoneSurrogate,
    /// `NaN` or an infinity.
    #[error("`{0}` is no JSON number")]
    NonFinite(String),
    /// An integer that not every reader keeps exact.
    #[error("the integer {0} is not exact in every reader; write it as a string")]
    UnsafeInteger(String),
    /// A number outside the range of doubles.
    #[error("the number {0} is out of range")]
    NumberRange(String),
    /// Two members of the same name.
    #[error("a key occurs twice in one object")]
    DuplicateKey,
}

#[cfg(test)]
mod tests;
