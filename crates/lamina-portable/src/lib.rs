//! Codecs of the formats in which memory travels: bytes to values and back.
//!
//! Nothing here opens a file, asks the time, draws a number or knows the engine: bytes, keys, nonces
//! and instants are parameters.

pub mod json;
pub mod canon;
pub mod time;
pub mod merkle;
pub mod sign;
pub mod bytes;
pub mod encoding;
pub mod zip;
pub mod gzip;
pub mod csv;
pub mod source;
pub mod loss;
pub mod foreign;
pub mod export;
pub mod pam;
pub mod zaxy;
pub mod targets;

/// A name inside a message: at most 80 characters, printable.
pub(crate) fn quote(name: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 80;
    let mut shown: String =
        name.chars().take(SHOWN_CHARS_MAX).flat_map(char::escape_debug).collect();
    if name.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}
