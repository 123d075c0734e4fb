//! Dates of activity pages and spreadsheets, which spell the month or put it first:
//! `Feb 17, 2026, 3:08:20 PM EST`, `17. Feb. 2026, 15:08:20 CET`, `17 de fev. de 2026, 15:08:20 BRT`,
//! `2/17/2026 14:36:11 +01:00`.

use super::{
    DAY, NaiveTimes, SECOND, SourceTime, TimeAssumption, TimeError, assume, calendar, instant,
};

/// The first letters of months in the languages of such pages; the first three decide.
const MONTHS: &[(&str, i64)] = &[
    ("jan", 1),
    ("ene", 1),
    ("gen", 1),
    ("feb", 2),
    ("fev", 2),
    ("fév", 2),
    ("mar", 3),
    ("mär", 3),
    ("mrz", 3),
    ("apr", 4),
    ("abr", 4),
    ("avr", 4),
    ("may", 5),
    ("mai", 5),
    ("mag", 5),
    ("jun", 6),
    ("giu", 6),
    ("jui", 6),
    ("jul", 7),
    ("lug", 7),
    ("aug", 8),
    ("ago", 8),
    ("aoû", 8),
    ("sep", 9),
    ("set", 9),
    ("oct", 10),
    ("out", 10),
    ("okt", 10),
    ("ott", 10),
    ("nov", 11),
    ("dec", 12),
    ("dez", 12),
    ("dic", 12),
    ("déc", 12),
];

/// Zone abbreviations with one meaning, in minutes east of UTC. `IST` has three and is not among them.
const ZONES: &[(&str, i64)] = &[
    ("UTC", 0),
    ("GMT", 0),
    ("Z", 0),
    ("WET", 0),
    ("WEST", 60),
    ("BST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("EET", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("BRT", -180),
    ("ART", -180),
    ("EST", -300),
    ("EDT", -240),
    ("CST", -360),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
    ("JST", 540),
    ("KST", 540),
];

/// Reads such a date. A zone that is not known counts as none.
pub fn parse_spelled(text: &str, naive: NaiveTimes) -> Result<SourceTime, TimeError> {
    // Pages put narrow and wide spaces between the parts.
    let cleaned: String = text
        .chars()
        .map(|c| if c.is_whitespace() || c == ',' || c == '\u{202f}' { ' ' } else { c })
        .collect();
    let form = || TimeError::Form(text.to_owned());
    let words: Vec<&str> = cleaned.split(' ').filter(|word| !word.is_empty()).collect();
    let clock_at = words.iter().position(|word| word.contains(':')).ok_or_else(form)?;
    let (date_words, rest) = words.split_at(clock_at);
    let (clock, rest) = rest.split_first().ok_or_else(form)?;
    let day = read_date(date_words).ok_or_else(form)?;
    let (half, zone) = match rest.split_first() {
        Some((half @ (&"AM" | &"PM" | &"am" | &"pm"), zone)) => (Some(*half), zone),
        _ => (None, rest),
    };
    let local = day * DAY + read_clock(clock, half).ok_or_else(form)? * SECOND;
    match zone.first().and_then(|zone| zone_minutes(zone)) {
        Some(minutes) => instant(local - minutes * 60 * SECOND, text),
        None => assume(local, TimeAssumption::Zone, naive, text),
    }
}

fn read_date(words: &[&str]) -> Option<i64> {
    if let [slashed] = words {
        let mut parts = slashed.split('/').map(|part| part.parse::<i64>().ok());
        let (month, day, year) = (parts.next()??, parts.next()??, parts.next()??);
        return calendar::days(year, month, day);
    }
    let (mut day, mut month, mut year) = (None, None, None);
    for word in words {
        let word = word.trim_end_matches('.');
        match word.parse::<i64>() {
            Ok(number) if number > 31 => year = Some(number),
            Ok(number) => day = Some(number),
            Err(_) => month = month.or(month_number(word)),
        }
    }
    calendar::days(year?, month?, day?)
}

fn month_number(word: &str) -> Option<i64> {
    let lower = word.to_lowercase();
    if lower.starts_with("juil") {
        return Some(7);
    }
    MONTHS.iter().find(|(start, _)| lower.starts_with(start)).map(|(_, month)| *month)
}

/// Seconds since midnight.
fn read_clock(clock: &str, half: Option<&str>) -> Option<i64> {
    let mut parts = clock.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    let hour = match half.map(str::to_ascii_uppercase).as_deref() {
        Some("AM") => hour % 12,
        Some("PM") => hour % 12 + 12,
        _ => hour,
    };
    let is_whole =
        (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    is_whole.then_some(hour * 3_600 + minute * 60 + second)
}

fn zone_minutes(zone: &str) -> Option<i64> {
    if let Some((_, minutes)) = ZONES.iter().find(|(name, _)| *name == zone) {
        return Some(*minutes);
    }
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let (hours, minutes) = (hours.parse::<i64>().ok()?, minutes.parse::<i64>().ok()?);
    ((0..24).contains(&hours) && (0..60).contains(&minutes))
        .then_some(sign * (hours * 60 + minutes))
}
