//! The times of other programs: RFC 3339, its careless relatives without a zone, dates, and numbers
//! since 1970 in four units.
//!
//! A text without a zone does not name an instant. The reader says so, or takes the zone that its
//! caller chose and reports it as an assumption; it never guesses in silence.

use lamina_types::Micros;

use crate::json::{NumberToken, Value};

mod calendar;
mod spelled;

pub use calendar::print;
pub(crate) use calendar::{from_dos, to_dos};
pub use spelled::parse_spelled;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// How to read a time without a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NaiveTimes {
    /// As an error.
    Refuse,
    /// As local time so many minutes east of UTC.
    Assume {
        /// Minutes east of UTC.
        offset_minutes: i16,
    },
}

impl NaiveTimes {
    /// As UTC.
    pub const UTC: NaiveTimes = NaiveTimes::Assume { offset_minutes: 0 };
}

/// An instant of a source, and whether the source really said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceTime {
    /// The instant.
    pub at: Micros,
    /// The assumption behind it.
    pub assumption: Option<TimeAssumption>,
}

/// The part of a time that its text left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeAssumption {
    /// The zone.
    Zone,
    /// The time of the day, which became midnight, and the zone.
    Midnight,
}

impl TimeAssumption {
    /// The sentence of a report.
    pub fn why(self) -> &'static str {
        match self {
            TimeAssumption::Zone => "the time has no zone; it was read in the assumed one",
            TimeAssumption::Midnight => "a date without a time was read as its midnight",
        }
    }
}

/// Why a value is no time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// Not of a form that is known.
    #[error("`{}` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970", crate::quote(.0))]
    Form(String),
    /// Without a zone, where that is refused.
    #[error("`{}` has no zone; end with `Z` or `+hh:mm`, or say which zone to assume", crate::quote(.0))]
    NoZone(String),
    /// A part that does not exist in the calendar, or an instant outside of the years 1 to 9999.
    #[error("`{}` is out of range", crate::quote(.0))]
    Range(String),
    /// Neither a text nor a number.
    #[error("{0} is no time")]
    Type(&'static str),
}

/// Reads the time in a JSON value: a text, or a number since 1970.
pub fn read_value(value: &Value, naive: NaiveTimes) -> Result<SourceTime, TimeError> {
    match value {
        Value::String(text) => parse(text.to_lossy().as_ref(), naive),
        Value::Number(token) => parse_epoch(token).map(SourceTime::stated),
        other => Err(TimeError::Type(other.type_name())),
    }
}

/// Reads a time: RFC 3339 with a `T` or a space, a date, or digits since 1970.
pub fn parse(text: &str, naive: NaiveTimes) -> Result<SourceTime, TimeError> {
    let trimmed = text.trim();
    if trimmed.bytes().all(|c| c.is_ascii_digit() || c == b'.') && !trimmed.is_empty() {
        return epoch(trimmed).map(SourceTime::stated);
    }
    let mut cursor = Cursor { rest: trimmed.as_bytes(), text: trimmed };
    let day = cursor.date()?;
    if cursor.rest.is_empty() {
        return assume(day * DAY, TimeAssumption::Midnight, naive, trimmed);
    }
    if !matches!(cursor.next(), Some(b'T' | b't' | b' ')) {
        return Err(cursor.form());
    }
    let local = day * DAY + cursor.clock()?;
    match cursor.offset()? {
        Some(offset_seconds) => instant(local - offset_seconds * SECOND, trimmed),
        None => assume(local, TimeAssumption::Zone, naive, trimmed),
    }
}

/// Reads a number since 1970. Its size tells the unit: seconds until the year 5138, milliseconds,
/// microseconds, nanoseconds.
pub fn parse_epoch(token: &NumberToken) -> Result<Micros, TimeError> {
    epoch(token.as_str())
}

impl SourceTime {
    fn stated(at: Micros) -> SourceTime {
        SourceTime { at, assumption: None }
    }
}

fn instant(micros: i64, text: &str) -> Result<SourceTime, TimeError> {
    match (Micros::MIN.0..=Micros::MAX.0).contains(&micros) {
        true => Ok(SourceTime::stated(Micros(micros))),
        false => Err(TimeError::Range(text.to_owned())),
    }
}

fn assume(
    local: i64,
    assumption: TimeAssumption,
    naive: NaiveTimes,
    text: &str,
) -> Result<SourceTime, TimeError> {
    let NaiveTimes::Assume { offset_minutes } = naive else {
        return Err(TimeError::NoZone(text.to_owned()));
    };
    let time = instant(local - i64::from(offset_minutes) * 60 * SECOND, text)?;
    Ok(SourceTime { assumption: Some(assumption), ..time })
}

/// Digits beyond these carry no microsecond.
const EPOCH_DIGITS_MAX: usize = 30;

/// Reads decimal digits exactly; a double would lose microseconds.
fn epoch(text: &str) -> Result<Micros, TimeError> {
    let form = || TimeError::Form(text.to_owned());
    let range = || TimeError::Range(text.to_owned());
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| form())?),
        None => (digits, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|c| c.is_ascii_digit()) {
        return Err(form());
    }
    let fraction = fraction.get(..EPOCH_DIGITS_MAX).unwrap_or(fraction);
    if whole.len() > EPOCH_DIGITS_MAX || exponent.abs() > 30 {
        return Err(range());
    }
    // The value is `scaled × 10^-places`.
    let scaled: i128 = format!("{whole}{fraction}").parse().map_err(|_| range())?;
    let places = i32::try_from(fraction.len()).unwrap_or(i32::MAX).saturating_sub(exponent);
    let nanos = match places {
        ..=9 => scale_up(scaled, 9 - places),
        _ => 10_i128.checked_pow((places - 9).unsigned_abs()).map(|power| scaled / power),
    };
    let nanos = nanos.ok_or_else(range)?;
    let micros = match nanos / 1_000_000_000 {
        0..100_000_000_000 => nanos / 1_000,
        100_000_000_000..100_000_000_000_000 => nanos / 1_000_000,
        100_000_000_000_000..100_000_000_000_000_000 => nanos / 1_000_000_000,
        _ => nanos / 1_000_000_000_000,
    };
    let micros = if is_negative { -micros } else { micros };
    let micros = i64::try_from(micros).map_err(|_| range())?;
    instant(micros, text).map(|time| time.at)
}

fn scale_up(number: i128, places: i32) -> Option<i128> {
    number.checked_mul(10_i128.checked_pow(places.unsigned_abs())?)
}

/// The rest of a text that is being read.
struct Cursor<'a> {
    rest: &'a [u8],
    text: &'a str,
}

impl Cursor<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.next();
        }
        found
    }

    fn form(&self) -> TimeError {
        TimeError::Form(self.text.to_owned())
    }

    fn range(&self) -> TimeError {
        TimeError::Range(self.text.to_owned())
    }

    fn expect(&mut self, byte: u8) -> Result<(), TimeError> {
        if self.take(byte) { Ok(()) } else { Err(self.form()) }
    }

    fn number(&mut self, digits: usize) -> Result<i64, TimeError> {
        let mut number = 0;
        for _ in 0..digits {
            match self.next() {
                Some(c @ b'0'..=b'9') => number = number * 10 + i64::from(c - b'0'),
                _ => return Err(self.form()),
            }
        }
        Ok(number)
    }

    /// Days since 1970.
    fn date(&mut self) -> Result<i64, TimeError> {
        let year = self.number(4)?;
        self.expect(b'-')?;
        let month = self.number(2)?;
        self.expect(b'-')?;
        let day = self.number(2)?;
        calendar::days(year, month, day).ok_or_else(|| self.range())
    }

    /// Microseconds since midnight: `hh:mm[:ss[.fff]]`.
    fn clock(&mut self) -> Result<i64, TimeError> {
        let hour = self.number(2)?;
        self.expect(b':')?;
        let minute = self.number(2)?;
        let mut second = 0;
        let mut fraction = 0;
        if self.take(b':') {
            second = self.number(2)?;
            if self.take(b'.') || self.take(b',') {
                fraction = self.fraction()?;
            }
        }
        if hour > 23 || minute > 59 || second > 59 {
            return Err(self.range());
        }
        Ok((hour * 3_600 + minute * 60 + second) * SECOND + fraction)
    }

    /// Microseconds; further digits are cut off.
    fn fraction(&mut self) -> Result<i64, TimeError> {
        let (mut micros, mut unit, mut count) = (0, SECOND, 0_usize);
        while let Some(c @ b'0'..=b'9') = self.rest.first().copied() {
            self.next();
            unit /= 10;
            micros += i64::from(c - b'0') * unit;
            count += 1;
        }
        if count == 0 { Err(self.form()) } else { Ok(micros) }
    }

    /// Seconds east of UTC; `None` if nothing is left. `Z`, ` UTC`, `+hh`, `+hhmm`, `+hh:mm`.
    fn offset(&mut self) -> Result<Option<i64>, TimeError> {
        self.take(b' ');
        let sign = match self.rest {
            // A sign alone is an offset that was cut off.
            [] | [b'+' | b'-'] => return Ok(None),
            [b'Z' | b'z'] | b"UTC" | b"GMT" => return Ok(Some(0)),
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return Err(self.form()),
        };
        self.next();
        let hour = self.number(2)?;
        self.take(b':');
        let minute = if self.rest.is_empty() { 0 } else { self.number(2)? };
        if !self.rest.is_empty() {
            return Err(self.form());
        }
        if hour > 23 || minute > 59 {
            return Err(self.range());
        }
        Ok(Some(sign * (hour * 3_600 + minute * 60)))
    }
}

#[cfg(test)]
mod tests;
