//! ISO-8601 durations, as policies write them (`P1Y`, `P7D`, `PT12H`).
//!
//! A policy counts days, not birthdays: a year is 365 days and a month 30, so that a period has one
//! length whenever it begins.

use lamina_types::limits::POLICY_PERIOD_DAYS_MAX;

const SECOND_US: i64 = 1_000_000;
const DAY_US: i64 = 86_400 * SECOND_US;
const PERIOD_US_MAX: i64 = POLICY_PERIOD_DAYS_MAX * DAY_US;

/// Why a text is not a period.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeriodError {
    /// Not of the form.
    #[error("a period is written like P1Y, P3M, P2W, P7D or PT12H, in whole numbers")]
    Form,
    /// No time at all.
    #[error("a period is longer than nothing")]
    Zero,
    /// Longer than the limit.
    #[error("a period is at most {POLICY_PERIOD_DAYS_MAX} days")]
    TooLong,
}

/// The length of a period in microseconds.
pub(super) fn parse(text: &str) -> Result<i64, PeriodError> {
    let rest = text.strip_prefix('P').ok_or(PeriodError::Form)?;
    let (date, time) = match rest.split_once('T') {
        Some((_, "")) => return Err(PeriodError::Form),
        Some((date, time)) => (date, time),
        None => (rest, ""),
    };
    if date.is_empty() && time.is_empty() {
        return Err(PeriodError::Form);
    }
    let date =
        sum(date, &[('Y', 365 * DAY_US), ('M', 30 * DAY_US), ('W', 7 * DAY_US), ('D', DAY_US)])?;
    let time = sum(time, &[('H', 3_600 * SECOND_US), ('M', 60 * SECOND_US), ('S', SECOND_US)])?;
    let total = date.checked_add(time).ok_or(PeriodError::TooLong)?;
    match total {
        0 => Err(PeriodError::Zero),
        total if total > PERIOD_US_MAX => Err(PeriodError::TooLong),
        total => Ok(total),
    }
}

/// The one text of a period that [`parse`] made: whole years, else whole days, else seconds.
pub(super) fn format(period_us: i64) -> String {
    if period_us % (365 * DAY_US) == 0 {
        format!("P{}Y", period_us / (365 * DAY_US))
    } else if period_us % DAY_US == 0 {
        format!("P{}D", period_us / DAY_US)
    } else {
        format!("PT{}S", period_us / SECOND_US)
    }
}

/// Numbers followed by unit letters, each letter at most once and in the given order.
fn sum(text: &str, units: &[(char, i64)]) -> Result<i64, PeriodError> {
    let mut units = units.iter();
    let mut total: i64 = 0;
    let mut number: Option<i64> = None;
    for c in text.chars() {
        if let Some(digit) = c.to_digit(10) {
            let shifted = number.unwrap_or(0).checked_mul(10);
            let next = shifted.and_then(|shifted| shifted.checked_add(i64::from(digit)));
            number = Some(next.ok_or(PeriodError::TooLong)?);
            continue;
        }
        let (_, length) = units.find(|(unit, _)| *unit == c).ok_or(PeriodError::Form)?;
        let part = number.take().ok_or(PeriodError::Form)?.checked_mul(*length);
        total = part.and_then(|part| total.checked_add(part)).ok_or(PeriodError::TooLong)?;
    }
    if number.is_some() {
        return Err(PeriodError::Form);
    }
    Ok(total)
}

#[cfg(test)]
mod tests;
