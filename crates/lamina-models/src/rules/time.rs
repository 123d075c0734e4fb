//! Times that are said: found as phrases first, resolved second.
//!
//! The phrase says *which* Friday only together with the tense of its clause, so finding and resolving
//! are two steps. Dates are local: they are resolved where the event was observed, and become instants
//! at the start of their day in that zone.

mod find;
mod length;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};
use lamina_types::{Micros, ValidAt};

pub(crate) use find::{anchor_after_preposition, find};

/// Where and when an event was observed: what relative times are relative to.
#[derive(Debug, Clone)]
pub(crate) struct Observed {
    pub(crate) at: Micros,
    pub(crate) today: Date,
    zone: TimeZone,
}

impl Observed {
    /// An unknown zone is read as UTC: a date that is off by hours is better than none.
    pub(crate) fn new(at: Micros, zone: Option<&str>) -> Observed {
        let zone = zone.and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC);
        let instant = Timestamp::from_microsecond(at.0).unwrap_or(Timestamp::UNIX_EPOCH);
        Observed { at, today: zone.to_datetime(instant).date(), zone }
    }

    /// Where it was observed.
    pub(crate) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// The first instant of a local day.
    pub(crate) fn start_of(&self, date: Date) -> Option<ValidAt> {
        let zoned = date.to_zoned(self.zone.clone()).ok()?;
        Some(ValidAt(Micros(zoned.timestamp().as_microsecond())))
    }
}

/// In which direction an incomplete date is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tense {
    Past,
    Present,
    Future,
}

/// Which of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    Bare,
    Last,
    This,
    Next,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// A stretch of days, not yet placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// So many days from today.
    Offset(i32),
    Weekday(Weekday, Which),
    /// Month, perhaps of a year.
    Month(i8, Option<i16>, Which),
    /// Day, month, perhaps year.
    Day(i8, i8, Option<i16>),
    /// "the 6th".
    DayOfMonth(i8),
    Year(i16),
    /// So many units away from today.
    Away(Unit, i32),
    /// "last week", "this year".
    Period(Unit, Which),
    /// "the weekend", "last weekend".
    Weekend(Which),
    /// "last summer": first month.
    Season(i8, Which),
    /// "end of March", "the end of the month".
    EndOf(i8, Option<i16>),
    EndOfPeriod(Unit, Which),
    /// "Q3 2025".
    Quarter(i8, Option<i16>),
}

/// How a phrase bounds what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// "in March", "on Friday", "yesterday".
    During,
    Since,
    /// "from Monday", "starting in May": which Monday, the tense says.
    From,
    Until,
    By,
    /// "from 3 to 7 June": the second anchor closes it, that day included.
    To(Anchor),
}

/// A phrase of time in the tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) bound: Bound,
    pub(crate) anchor: Anchor,
    /// `15:00`, if an hour is said.
    pub(crate) clock: Option<(i8, i8)>,
    /// A preposition or a determiner makes it a time; a bare "March" may be a name.
    pub(crate) sure: bool,
}

/// Days, half open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Days {
    pub(crate) first: Date,
    pub(crate) after: Date,
}

impl Days {
    pub(crate) fn is_one(&self) -> bool {
        self.first.tomorrow().is_ok_and(|next| next == self.after)
    }
}

/// Which days an anchor means.
pub(crate) fn days(anchor: Anchor, tense: Tense, today: Date) -> Option<Days> {
    match anchor {
        Anchor::Offset(days) => one(add(today, Unit::Day, days)?),
        Anchor::Weekday(day, which) => one(weekday(day, which, tense, today)?),
        Anchor::Day(day, month, year) => one(day_month(day, month, year, tense, today)?),
        Anchor::DayOfMonth(day) => one(day_of_month(day, tense, today)?),
        Anchor::Year(year) => span(Date::new(year, 1, 1).ok()?, Unit::Year),
        Anchor::Month(month, year, which) => {
            span(month_start(month, year, which, tense, today)?, Unit::Month)
        }
        Anchor::Away(unit, count) => one(add(today, unit, count)?),
        Anchor::Period(unit, which) => {
            let steps = match which {
                Which::Last => -1,
                Which::Next => 1,
                Which::Bare | Which::This => 0,
            };
            span(add(start_of(today, unit)?, unit, steps)?, unit)
        }
        Anchor::Weekend(which) => {
            let saturday = weekday(Weekday::Saturday, which, tense, today)?;
            Some(Days { first: saturday, after: saturday.checked_add(2.days()).ok()? })
        }
        Anchor::Season(month, which) => {
            let first = month_start(month, None, which, tense, today)?;
            Some(Days { first, after: first.checked_add(3.months()).ok()? })
        }
        Anchor::EndOf(month, year) => {
            one(month_start(month, year, Which::Bare, tense, today)?.last_of_month())
        }
        Anchor::EndOfPeriod(unit, which) => {
            let days = days(Anchor::Period(unit, which), tense, today)?;
            one(days.after.yesterday().ok()?)
        }
        Anchor::Quarter(quarter, year) => {
            let month = (quarter - 1).checked_mul(3)?.checked_add(1)?;
            span(
                month_start(month, year.or(Some(today.year())), Which::Bare, tense, today)?,
                Unit::Quarter,
            )
        }
    }
}

fn one(date: Date) -> Option<Days> {
    Some(Days { first: date, after: date.tomorrow().ok()? })
}

fn span(first: Date, unit: Unit) -> Option<Days> {
    Some(Days { first, after: add(first, unit, 1)? })
}

/// Spans are bounded; a count beyond that is no date.
fn add(date: Date, unit: Unit, count: i32) -> Option<Date> {
    let (none, count) = (Span::new(), i64::from(count));
    let step = match unit {
        Unit::Day => none.try_days(count),
        Unit::Week => none.try_weeks(count),
        Unit::Month => none.try_months(count),
        Unit::Quarter => none.try_months(count.checked_mul(3)?),
        Unit::Year => none.try_years(count),
    };
    date.checked_add(step.ok()?).ok()
}

fn start_of(date: Date, unit: Unit) -> Option<Date> {
    match unit {
        Unit::Day => Some(date),
        Unit::Week => {
            let back = i64::from(date.weekday().to_monday_zero_offset());
            date.checked_sub(back.days()).ok()
        }
        Unit::Month => Some(date.first_of_month()),
        Unit::Quarter => Date::new(date.year(), (date.month() - 1) / 3 * 3 + 1, 1).ok(),
        Unit::Year => Date::new(date.year(), 1, 1).ok(),
    }
}

/// "Next Friday" is the Friday of next week; a bare one is the nearest in the direction of the tense.
fn weekday(day: Weekday, which: Which, tense: Tense, today: Date) -> Option<Date> {
    let monday = start_of(today, Unit::Week)?;
    let offset = i64::from(day.to_monday_zero_offset());
    let this_week = monday.checked_add(offset.days()).ok()?;
    match (which, tense) {
        (Which::This, _) => Some(this_week),
        (Which::Next, _) => this_week.checked_add(7.days()).ok(),
        (Which::Last, _) | (Which::Bare, Tense::Past) => {
            if this_week < today {
                Some(this_week)
            } else {
                this_week.checked_sub(7.days()).ok()
            }
        }
        // Said on that very day it is today.
        (Which::Bare, _) => {
            if this_week >= today {
                Some(this_week)
            } else {
                this_week.checked_add(7.days()).ok()
            }
        }
    }
}

fn day_month(day: i8, month: i8, year: Option<i16>, tense: Tense, today: Date) -> Option<Date> {
    if let Some(year) = year {
        return Date::new(year, month, day).ok();
    }
    // 29 February does not exist every year: look at the years around.
    let years = [-4, -3, -2, -1, 0, 1, 2, 3, 4];
    let mut dates = years.iter().filter_map(|step| Date::new(today.year() + step, month, day).ok());
    match tense {
        Tense::Past => dates.rfind(|date| *date <= today),
        Tense::Present | Tense::Future => dates.find(|date| *date >= today),
    }
}

fn day_of_month(day: i8, tense: Tense, today: Date) -> Option<Date> {
    let first = today.first_of_month();
    let months: [i64; 5] = [-2, -1, 0, 1, 2];
    let mut dates = months.iter().filter_map(|step| {
        let month = first.checked_add(step.months()).ok()?;
        Date::new(month.year(), month.month(), day).ok()
    });
    match tense {
        Tense::Past => dates.rfind(|date| *date <= today),
        Tense::Present | Tense::Future => dates.find(|date| *date >= today),
    }
}

fn month_start(
    month: i8,
    year: Option<i16>,
    which: Which,
    tense: Tense,
    today: Date,
) -> Option<Date> {
    if let Some(year) = year {
        return Date::new(year, month, 1).ok();
    }
    let this = Date::new(today.year(), month, 1).ok()?;
    let current = today.first_of_month();
    let steps = match (which, tense) {
        (Which::This, _) => 0,
        (Which::Last, _) => {
            if this < current {
                0
            } else {
                -1
            }
        }
        (Which::Next, _) => {
            if this > current {
                0
            } else {
                1
            }
        }
        (Which::Bare, Tense::Past) => {
            if this <= current {
                0
            } else {
                -1
            }
        }
        (Which::Bare, _) => {
            if this >= current {
                0
            } else {
                1
            }
        }
    };
    add(this, Unit::Year, steps)
}

#[cfg(test)]
mod tests;
