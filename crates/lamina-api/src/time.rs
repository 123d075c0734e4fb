//! Timestamps on the wire: strict RFC 3339 in, UTC out.
//!
//! Written by hand because the general parsers are too kind: they take a missing offset, a space for
//! the `T`, or second 60, and each of those has cost somebody an hour of their history. Digits
//! beyond the microsecond are cut off.

use std::fmt;

use jiff::fmt::temporal::SpanParser;
use lamina_types::{ErrorCode, Micros};

use crate::error::ApiError;

/// Why a text is not a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimestampError {
    /// Not of the form at all.
    #[error("expected an RFC 3339 timestamp such as 2026-05-13T15:42:00Z")]
    Form,
    /// No `Z` and no offset.
    #[error("the UTC offset is missing; end with `Z` or `+hh:mm`")]
    NoOffset,
    /// A month, day, hour, minute, second or offset that does not exist.
    #[error("the {0} is out of range")]
    Range(&'static str),
    /// Second 60.
    #[error("leap seconds are not supported; use second 59")]
    LeapSecond,
    /// Outside the years that can be written.
    #[error("the year must be between 0001 and 9999 in UTC")]
    Year,
}

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// Reads an RFC 3339 timestamp.
pub fn parse(text: &str) -> Result<Micros, TimestampError> {
    let mut cursor = Cursor(text.as_bytes());
    let day = date(&mut cursor)?;
    if !matches!(cursor.next(), Some(b'T' | b't')) {
        return Err(TimestampError::Form);
    }
    let time = clock(&mut cursor)?;
    let fraction = fraction(&mut cursor)?;
    let offset = offset(&mut cursor)?;
    if !cursor.0.is_empty() {
        return Err(TimestampError::Form);
    }
    let at = Micros(day * DAY + time * SECOND + fraction - offset * SECOND);
    if at < Micros::MIN || at > Micros::MAX {
        return Err(TimestampError::Year);
    }
    Ok(at)
}

/// Reads a timestamp of a query: also a bare date, which is its midnight in UTC, and a `+` that the
/// decoding of the query turned into a space.
pub fn parse_query(text: &str) -> Result<Micros, TimestampError> {
    if text.len() == "2026-05-13".len() {
        let mut cursor = Cursor(text.as_bytes());
        return date(&mut cursor).map(|day| Micros(day * DAY));
    }
    match text.contains(' ') {
        true => parse(&text.replace(' ', "+")),
        false => parse(text),
    }
}

/// Reads a timestamp of a question about claims: also a year or a month, which is its first instant.
pub fn parse_coarse(text: &str) -> Result<Micros, TimestampError> {
    match text.len() {
        4 => parse_query(&format!("{text}-01-01")),
        7 => parse_query(&format!("{text}-01")),
        _ => parse_query(text),
    }
}

/// Reads a positive ISO 8601 duration as microseconds. A year counts as 365 days and a month as 30:
/// these are ages and retentions, not dates.
pub fn duration_us(text: &str) -> Option<i64> {
    static PARSER: SpanParser = SpanParser::new();
    let span = PARSER.parse_span(text).ok()?;
    if !text.starts_with('P') || !span.is_positive() {
        return None;
    }
    let days = i64::from(span.get_years()) * 365
        + i64::from(span.get_months()) * 30
        + i64::from(span.get_weeks()) * 7
        + i64::from(span.get_days());
    let seconds =
        i64::from(span.get_hours()) * 3_600 + span.get_minutes() * 60 + span.get_seconds();
    let whole = days.checked_mul(86_400)?.checked_add(seconds)?.checked_mul(SECOND)?;
    let fraction =
        span.get_milliseconds() * 1_000 + span.get_microseconds() + span.get_nanoseconds() / 1_000;
    whole.checked_add(fraction).filter(|us| *us > 0)
}

/// Checks a local date or date-time without an offset: `YYYY-MM-DD` or `YYYY-MM-DDThh:mm[:ss]`.
pub fn check_local(text: &str) -> Result<(), TimestampError> {
    let mut cursor = Cursor(text.as_bytes());
    date(&mut cursor)?;
    if cursor.0.is_empty() {
        return Ok(());
    }
    if !matches!(cursor.next(), Some(b'T')) {
        return Err(TimestampError::Form);
    }
    hour_minute(&mut cursor)?;
    if cursor.take(b':') {
        second(&mut cursor)?;
    }
    match cursor.0.is_empty() {
        true => Ok(()),
        false => Err(TimestampError::Form),
    }
}

/// Prints an instant as RFC 3339 in UTC, with 0, 3 or 6 digits of the second's fraction.
pub fn print(at: Micros) -> String {
    Printed(at).to_string()
}

/// Reads the timestamp of a field.
pub(crate) fn field(field: &str, text: &str) -> Result<Micros, ApiError> {
    parse(text).map_err(|error| refuse(field, error))
}

/// The refusal of the timestamp in a field.
pub(crate) fn refuse(field: &str, error: TimestampError) -> ApiError {
    ApiError::at(ErrorCode::InvalidTimestamp, field, error.to_string())
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.0.first() == Some(&byte);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), TimestampError> {
        match self.take(byte) {
            true => Ok(()),
            false => Err(TimestampError::Form),
        }
    }

    fn number(&mut self, digits: usize) -> Result<i64, TimestampError> {
        let mut value = 0;
        for _ in 0..digits {
            match self.next() {
                Some(c @ b'0'..=b'9') => value = value * 10 + i64::from(c - b'0'),
                _ => return Err(TimestampError::Form),
            }
        }
        Ok(value)
    }
}

/// Days since 1970-01-01.
fn date(cursor: &mut Cursor<'_>) -> Result<i64, TimestampError> {
    let year = cursor.number(4)?;
    cursor.expect(b'-')?;
    let month = cursor.number(2)?;
    cursor.expect(b'-')?;
    let day = cursor.number(2)?;
    if year == 0 {
        return Err(TimestampError::Year);
    }
    if !(1..=12).contains(&month) {
        return Err(TimestampError::Range("month"));
    }
    if day < 1 || day > days_in(year, month) {
        return Err(TimestampError::Range("day"));
    }
    Ok(days_from_civil(year, month, day))
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The proleptic Gregorian calendar, counted in 400-year cycles that start in March, so that the
/// leap day is the last of its year.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let cycle = year.div_euclid(400);
    let year_of_cycle = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    cycle * 146_097 + day_of_cycle - 719_468
}

/// The inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let cycle = shifted.div_euclid(146_097);
    let day_of_cycle = shifted.rem_euclid(146_097);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524
        - day_of_cycle / 146_096)
        / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = (shifted_month + 2) % 12 + 1;
    (cycle * 400 + year_of_cycle + i64::from(month <= 2), month, day)
}

fn hour_minute(cursor: &mut Cursor<'_>) -> Result<i64, TimestampError> {
    let hour = cursor.number(2)?;
    cursor.expect(b':')?;
    let minute = cursor.number(2)?;
    if hour > 23 {
        return Err(TimestampError::Range("hour"));
    }
    if minute > 59 {
        return Err(TimestampError::Range("minute"));
    }
    Ok(hour * 3_600 + minute * 60)
}

fn second(cursor: &mut Cursor<'_>) -> Result<i64, TimestampError> {
    match cursor.number(2)? {
        60 => Err(TimestampError::LeapSecond),
        61.. => Err(TimestampError::Range("second")),
        second => Ok(second),
    }
}

fn clock(cursor: &mut Cursor<'_>) -> Result<i64, TimestampError> {
    let time = hour_minute(cursor)?;
    cursor.expect(b':')?;
    Ok(time + second(cursor)?)
}

/// Microseconds; further digits are cut off.
fn fraction(cursor: &mut Cursor<'_>) -> Result<i64, TimestampError> {
    if !cursor.take(b'.') {
        return Ok(0);
    }
    let (mut micros, mut unit, mut digits) = (0, SECOND, 0_usize);
    while let Some(c @ b'0'..=b'9') = cursor.0.first().copied() {
        cursor.next();
        unit /= 10;
        micros += i64::from(c - b'0') * unit;
        digits += 1;
    }
    match digits {
        0 => Err(TimestampError::Form),
        _ => Ok(micros),
    }
}

/// Seconds east of UTC.
fn offset(cursor: &mut Cursor<'_>) -> Result<i64, TimestampError> {
    let sign = match cursor.next() {
        Some(b'Z' | b'z') => return Ok(0),
        Some(b'+') => 1,
        Some(b'-') => -1,
        None => return Err(TimestampError::NoOffset),
        Some(_) => return Err(TimestampError::Form),
    };
    let offset = hour_minute(cursor).map_err(|error| match error {
        TimestampError::Range(_) => TimestampError::Range("UTC offset"),
        other => other,
    })?;
    Ok(sign * offset)
}

struct Printed(Micros);

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Micros(micros) = self.0;
        let (year, month, day) = civil_from_days(micros.div_euclid(DAY));
        let seconds = micros.rem_euclid(DAY) / SECOND;
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match micros.rem_euclid(SECOND) {
            0 => f.write_str("Z"),
            fraction if fraction % 1_000 == 0 => write!(f, ".{:03}Z", fraction / 1_000),
            fraction => write!(f, ".{fraction:06}Z"),
        }
    }
}

#[cfg(test)]
mod tests;
