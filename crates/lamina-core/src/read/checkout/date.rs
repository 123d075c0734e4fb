//! Days and minutes as text. The proleptic Gregorian calendar in UTC, without a calendar library.

use lamina_types::Micros;

const DAY_US: i64 = 86_400_000_000;
const MINUTE_US: i64 = 60_000_000;

/// The day of an instant: `2026-05-13`.
pub fn day(at: Micros) -> String {
    let at = at.clamp(Micros::MIN, Micros::MAX);
    let (year, month, day) = civil(at.0.div_euclid(DAY_US));
    format!("{year:04}-{month:02}-{day:02}")
}

/// The minute of an instant: `2026-05-13 15:00 UTC`.
pub fn minute(at: Micros) -> String {
    let at = at.clamp(Micros::MIN, Micros::MAX);
    let minutes = at.0.rem_euclid(DAY_US) / MINUTE_US;
    format!("{} {:02}:{:02} UTC", day(at), minutes / 60, minutes % 60)
}

/// Year, month and day of a number of days since 1970-01-01, by eras of 400 years that begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}
