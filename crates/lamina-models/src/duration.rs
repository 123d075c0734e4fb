//! How long a while is that somebody writes as an ISO 8601 duration.

use jiff::Timestamp;
use jiff::fmt::temporal::SpanParser;
use jiff::tz::TimeZone;
use lamina_types::Micros;

/// Microseconds from `from` until the end of the duration, by the calendar in UTC; `None` if it is no
/// positive duration. One that ends beyond the last instant that can be written lasts until then.
pub fn duration_us(text: &str, from: Micros) -> Option<i64> {
    static PARSER: SpanParser = SpanParser::new();
    let span = PARSER.parse_span(text).ok()?;
    if !span.is_positive() {
        return None;
    }
    let start = Timestamp::from_microsecond(from.0).ok()?.to_zoned(TimeZone::UTC);
    let end = start.checked_add(span).map_or(Micros::MAX.0, |end| end.timestamp().as_microsecond());
    Some(end.min(Micros::MAX.0) - from.0)
}

#[cfg(test)]
mod tests;
