//! What people ask for, at a known instant: Wednesday, 14 May 2025, 15:30 UTC.

use lamina_types::{Micros, ValidAt};

use super::{When, Window, begins, middle_of_month, spoken, when};

const NOW: &str = "2025-05-14T15:30:00Z";

fn instant(text: &str) -> Micros {
    let at: jiff::Timestamp = text.parse().unwrap();
    Micros(at.as_microsecond())
}

fn shown(window: Window) -> String {
    let side = |at: Option<ValidAt>| {
        at.map_or(String::new(), |ValidAt(at)| {
            jiff::Timestamp::from_microsecond(at.0).unwrap().to_string()
        })
    };
    format!("{} .. {}", side(window.from), side(window.to))
}

fn read(text: &str) -> String {
    match when(text, instant(NOW), None) {
        Some(When::Window(window)) => shown(window),
        Some(When::Before(words)) => format!("before <{words}>"),
        Some(When::After(words)) => format!("after <{words}>"),
        None => "none".to_owned(),
    }
}

#[test]
fn phrases_of_the_past() {
    let cases = [
        ("last 30 days", "2025-04-14T15:30:00Z .. 2025-05-14T15:30:00.000001Z"),
        ("in the past two weeks", "2025-04-30T15:30:00Z .. 2025-05-14T15:30:00.000001Z"),
        ("last 24 hours", "2025-05-13T15:30:00Z .. 2025-05-14T15:30:00.000001Z"),
        ("over the last three months", "2025-02-14T15:30:00Z .. 2025-05-14T15:30:00.000001Z"),
        ("the last hour", "2025-05-14T14:30:00Z .. 2025-05-14T15:30:00.000001Z"),
        ("yesterday", "2025-05-13T00:00:00Z .. 2025-05-14T00:00:00Z"),
        ("today", "2025-05-14T00:00:00Z .. 2025-05-15T00:00:00Z"),
        ("two weeks ago", "2025-04-30T00:00:00Z .. 2025-05-01T00:00:00Z"),
        ("last week", "2025-05-05T00:00:00Z .. 2025-05-12T00:00:00Z"),
        ("last month", "2025-04-01T00:00:00Z .. 2025-05-01T00:00:00Z"),
        ("this year", "2025-01-01T00:00:00Z .. 2026-01-01T00:00:00Z"),
        ("in March", "2025-03-01T00:00:00Z .. 2025-04-01T00:00:00Z"),
        ("March", "2025-03-01T00:00:00Z .. 2025-04-01T00:00:00Z"),
        ("in June", "2024-06-01T00:00:00Z .. 2024-07-01T00:00:00Z"),
        ("March 2023", "2023-03-01T00:00:00Z .. 2023-04-01T00:00:00Z"),
        ("2024", "2024-01-01T00:00:00Z .. 2025-01-01T00:00:00Z"),
        ("Q3 2025", "2025-07-01T00:00:00Z .. 2025-10-01T00:00:00Z"),
        ("Friday", "2025-05-09T00:00:00Z .. 2025-05-10T00:00:00Z"),
        ("on Monday", "2025-05-12T00:00:00Z .. 2025-05-13T00:00:00Z"),
        ("2025-05-01", "2025-05-01T00:00:00Z .. 2025-05-02T00:00:00Z"),
        ("3 May 2024", "2024-05-03T00:00:00Z .. 2024-05-04T00:00:00Z"),
        ("from 3 to 7 April", "2025-04-03T00:00:00Z .. 2025-04-08T00:00:00Z"),
        ("since Monday", "2025-05-12T00:00:00Z .. "),
        ("before March 3", " .. 2025-03-03T00:00:00Z"),
        ("before March", " .. 2025-03-01T00:00:00Z"),
        ("after 2023", "2024-01-01T00:00:00Z .. "),
        ("2025-01-01..2025-02-01", "2025-01-01T00:00:00Z .. 2025-02-01T00:00:00Z"),
        ("recently", "2025-04-30T15:30:00Z .. 2025-05-14T15:30:00.000001Z"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn something_that_happened_is_named_by_its_words() {
    assert_eq!(read("before the launch"), "before <the launch>");
    assert_eq!(read("after my trip to Oslo"), "after <my trip to Oslo>");
}

#[test]
fn what_is_no_time_is_none() {
    for text in ["purple", "the launch", "before", "last banana", "", "..", "soonish maybe"] {
        assert_eq!(read(text), "none", "{text}");
    }
}

#[test]
fn a_zone_moves_the_day() {
    let at = instant("2025-05-14T02:30:00Z");
    let Some(When::Window(window)) = when("today", at, Some("America/New_York")) else {
        panic!("today is a time");
    };
    assert_eq!(shown(window), "2025-05-13T04:00:00Z .. 2025-05-14T04:00:00Z");
}

#[test]
fn a_question_speaks_of_a_time() {
    let question = "What did Ada say about the budget in March 2025?";
    let (window, (from, to)) = spoken(question, instant(NOW), None).unwrap();
    assert_eq!(shown(window), "2025-03-01T00:00:00Z .. 2025-04-01T00:00:00Z");
    assert_eq!(question.get(from..to), Some("in March 2025"));
    assert_eq!(spoken("What did Ada say about the budget?", instant(NOW), None), None);
}

#[test]
fn begins_reads_a_date_without_a_year_as_the_next_one() {
    let begun = |text: &str| {
        let at = begins(text, instant(NOW), None)?;
        Some(jiff::Timestamp::from_microsecond(at.0).unwrap().to_string())
    };
    let is = |text: &str| Some(text.to_owned());
    assert_eq!(begun("The rent is 900 from 1 June."), is("2025-06-01T00:00:00Z"));
    assert_eq!(begun("Mei becomes editor on 1 February."), is("2026-02-01T00:00:00Z"));
    assert_eq!(begun("The rent is 900."), None);
}

#[test]
fn middle_of_month_is_its_second_third() {
    let middle = |text: &str| middle_of_month(text, instant(NOW), None).map(shown);
    let expected = "2025-04-11T00:00:00Z .. 2025-04-21T00:00:00Z".to_owned();
    assert_eq!(middle("What was it in mid April?"), Some(expected.clone()));
    assert_eq!(middle("What was it in the middle of April?"), Some(expected));
    assert_eq!(middle("What was it in April?"), None);
}
