//! Timestamps of log records: kept as text and checked on reading.

use crate::time::{NaiveTimes, parse};

/// Whether a timestamp is a date or a time of ISO 8601 in its extended form, as the records of Zaxy are.
pub(super) fn is_iso_8601(text: &str) -> bool {
    let is_extended = text.as_bytes().get(4) == Some(&b'-') && text.trim() == text;
    is_extended && parse(text, NaiveTimes::UTC).is_ok()
}
