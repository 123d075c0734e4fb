//! The proleptic Gregorian calendar, and instants as RFC 3339.

use lamina_types::Micros;

use super::{DAY, SECOND};

/// Days since 1970 of a date; `None` if there is no such day in the years 1 to 9999.
pub(super) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let month_days = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=9_999).contains(&year) || !(1..=month_days).contains(&day) {
        return None;
    }
    // Counted in cycles of 400 years that begin in March: the leap day is the last of its year.
    let year = year - i64::from(month <= 2);
    let year_of_cycle = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    Some(year.div_euclid(400) * 146_097 + day_of_cycle - 719_468)
}

/// A date.
pub(crate) struct CivilDate {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
}

/// The date of a day since 1970.
pub(crate) fn civil_date(days: i64) -> CivilDate {
    let shifted = days + 719_468;
    let day_of_cycle = shifted.rem_euclid(146_097);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524
        - day_of_cycle / 146_096)
        / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = (shifted_month + 2) % 12 + 1;
    CivilDate {
        year: shifted.div_euclid(146_097) * 400 + year_of_cycle + i64::from(month <= 2),
        month,
        day: day_of_year - (153 * shifted_month + 2) / 5 + 1,
    }
}

/// An instant as RFC 3339 in UTC, with 0, 3 or 6 digits of the second's fraction.
pub fn print(at: Micros) -> String {
    let Micros(micros) = at;
    let CivilDate { year, month, day } = civil_date(micros.div_euclid(DAY));
    let seconds = micros.rem_euclid(DAY) / SECOND;
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let fraction = match micros.rem_euclid(SECOND) {
        0 => String::new(),
        fraction if fraction % 1_000 == 0 => format!(".{:03}", fraction / 1_000),
        fraction => format!(".{fraction:06}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// The instant of the date and time fields of old archives, read as UTC. `None` if there is no such day.
pub(crate) fn from_dos(date: u16, time: u16) -> Option<Micros> {
    let (year, month, day) = (1_980 + (date >> 9), date >> 5 & 15, date & 31);
    let (hour, minute, second) = (time >> 11, time >> 5 & 63, (time & 31) * 2);
    let days = days(i64::from(year), i64::from(month), i64::from(day))?;
    let seconds = i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second);
    // The format's zero, written where the time is not known.
    let is_known = date != DOS_EPOCH || time != 0;
    (seconds < 86_400 && is_known).then_some(Micros(days * DAY + seconds * SECOND))
}

/// 1980-01-01.
const DOS_EPOCH: u16 = 1 << 5 | 1;

/// The time (low half) and the date (high half) of an instant; instants before 1980 become its first.
pub(crate) fn to_dos(at: Micros) -> u32 {
    let CivilDate { year, month, day } = civil_date(at.0.div_euclid(DAY));
    let seconds = at.0.rem_euclid(DAY) / SECOND;
    let Ok(years @ 0..128) = u32::try_from(year - 1_980) else {
        return u32::from(DOS_EPOCH) << 16;
    };
    let part = |number: i64| u32::try_from(number).unwrap_or_default();
    let date = years << 9 | part(month) << 5 | part(day);
    let time = part(seconds / 3_600) << 11 | part(seconds / 60 % 60) << 5 | part(seconds % 60 / 2);
    date << 16 | time
}
