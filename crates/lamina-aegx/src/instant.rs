//! Times of the format: seconds in UTC.
//!
//! A time in a file has one shape. For the id of a record a time of another RFC 3339 form is moved to
//! that shape first; a text that is no time is hashed as it is.

/// Whether a text has the shape `YYYY-MM-DDTHH:MM:SSZ`, whatever its digits say.
pub fn has_shape(text: &str) -> bool {
    const SHAPE: &[u8; 20] = b"0000-00-00T00:00:00Z";
    text.len() == SHAPE.len()
        && text.bytes().zip(SHAPE).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            fixed => byte == *fixed,
        })
}

/// Whether a text of that shape is a moment of the calendar. Second 60 exists at the end of a UTC day.
pub fn is_calendar(text: &str) -> bool {
    let Some(parts) = Parts::read(text) else { return false };
    let is_leap_second = parts.second == 60;
    !is_leap_second || (parts.hour == 23 && parts.minute == 59)
}

/// The time in UTC and whole seconds; `None` if the text is no RFC 3339 time.
pub fn normalize(text: &str) -> Option<String> {
    let parts = Parts::read(text)?;
    let minutes = parts.hour * 60 + parts.minute - parts.offset_minutes;
    let days = days_from_civil(parts.year, parts.month, parts.day) + minutes.div_euclid(1_440);
    let (year, month, day) = civil_from_days(days);
    let minutes = minutes.rem_euclid(1_440);
    let year = match year {
        0..=9_999 => format!("{year:04}"),
        10_000.. => format!("+{year}"),
        _ => format!("-{:04}", -year),
    };
    let (hour, minute, second) = (minutes / 60, minutes % 60, parts.second);
    Some(format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

struct Parts {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    offset_minutes: i64,
}

impl Parts {
    fn read(text: &str) -> Option<Parts> {
        let mut rest = text;
        let year = number(&mut rest, 4)?;
        rest = rest.strip_prefix('-')?;
        let month = number(&mut rest, 2)?;
        rest = rest.strip_prefix('-')?;
        let day = number(&mut rest, 2)?;
        rest = rest.strip_prefix(['T', 't', ' '])?;
        let hour = number(&mut rest, 2)?;
        rest = rest.strip_prefix(':')?;
        let minute = number(&mut rest, 2)?;
        rest = rest.strip_prefix(':')?;
        let second = number(&mut rest, 2)?;
        if let Some(fraction) = rest.strip_prefix('.') {
            rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if rest.len() == fraction.len() {
                return None;
            }
        }
        let offset_minutes = offset(rest)?;
        let is_valid = (1..=12).contains(&month)
            && (1..=days_of_month(year, month)).contains(&day)
            && hour <= 23
            && minute <= 59
            && second <= 60;
        is_valid.then_some(Parts { year, month, day, hour, minute, second, offset_minutes })
    }
}

/// Minutes east of UTC.
fn offset(text: &str) -> Option<i64> {
    if text == "Z" || text == "z" {
        return Some(0);
    }
    let sign = match text.chars().next()? {
        '+' => 1,
        // The minus of mathematics is taken for a hyphen.
        '-' | '\u{2212}' => -1,
        _ => return None,
    };
    let mut rest = text.trim_start_matches(['+', '-', '\u{2212}']);
    let sign_bytes = text.len() - rest.len();
    if sign_bytes != text.chars().next()?.len_utf8() {
        return None;
    }
    let hour = number(&mut rest, 2)?;
    rest = rest.strip_prefix(':')?;
    let minute = number(&mut rest, 2)?;
    (rest.is_empty() && hour <= 23 && minute <= 59).then_some(sign * (hour * 60 + minute))
}

fn number(rest: &mut &str, digits: usize) -> Option<i64> {
    let (head, tail) = rest.split_at_checked(digits)?;
    if !head.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    *rest = tail;
    head.parse().ok()
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970 of a day of the Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}
