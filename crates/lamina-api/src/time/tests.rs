//! Timestamps against a general parser, and at their edges.

use lamina_types::Micros;
use proptest::prelude::*;

use super::{TimestampError, check_local, parse, parse_query, print};

#[test]
fn edges() {
    for (text, micros) in [
        ("1970-01-01T00:00:00Z", 0),
        ("0001-01-01T00:00:00Z", Micros::MIN.0),
        ("9999-12-31T23:59:59.999999Z", Micros::MAX.0),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("2000-02-29T00:00:00Z", 951_782_400_000_000),
        ("1970-01-01T00:00:00.0000019Z", 1),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T00:00:00-00:00", 0),
    ] {
        assert_eq!(parse(text), Ok(Micros(micros)), "{text}");
    }
    for (text, error) in [
        ("1900-02-29T00:00:00Z", TimestampError::Range("day")),
        ("2026-00-01T00:00:00Z", TimestampError::Range("month")),
        ("2026-01-01T00:00:61Z", TimestampError::Range("second")),
        ("2026-01-01T00:00:60Z", TimestampError::LeapSecond),
        ("2026-01-01T00:00:00+01:60", TimestampError::Range("UTC offset")),
        ("2026-01-01T00:00:00", TimestampError::NoOffset),
        ("2026-01-01T00:00:00.5", TimestampError::NoOffset),
        ("2026-01-01T00:00:00ZZ", TimestampError::Form),
        ("-001-01-01T00:00:00Z", TimestampError::Form),
        ("２026-01-01T00:00:00Z", TimestampError::Form),
    ] {
        assert_eq!(parse(text), Err(error), "{text}");
    }
}

#[test]
fn queries_also_take_dates_and_decoded_plus_signs() {
    assert_eq!(parse_query("1970-01-02"), Ok(Micros(86_400_000_000)));
    assert_eq!(parse_query("1970-01-01T02:00:00 02:00"), Ok(Micros(0)));
    assert_eq!(parse_query("1970-1-2"), Err(TimestampError::Form));
    assert_eq!(parse_query("1970-02-30"), Err(TimestampError::Range("day")));
}

#[test]
fn local_times_have_no_offset() {
    for good in ["2026-05-13", "2026-05-13T10:00", "2026-05-13T10:00:59"] {
        assert_eq!(check_local(good), Ok(()), "{good}");
    }
    for bad in
        ["", "2026", "2026-05-13T", "2026-05-13T10", "2026-05-13T10:00Z", "2026-05-13T10:00:00.5"]
    {
        assert!(check_local(bad).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(micros in Micros::MIN.0..=Micros::MAX.0) {
        let text = print(Micros(micros));
        prop_assert_eq!(parse(&text), Ok(Micros(micros)));
        let oracle = jiff::Timestamp::from_microsecond(micros);
        // The oracle ends a little earlier than we do.
        if let Ok(oracle) = oracle {
            prop_assert_eq!(text.parse::<jiff::Timestamp>().unwrap(), oracle);
        }
    }

    #[test]
    fn offsets_agree_with_the_oracle(
        second in 0..4_000_000_000_i64,
        hours in -23..=23_i64,
        minutes in 0..60_i64,
    ) {
        let text = print(Micros(second * 1_000_000));
        let sign = if hours < 0 { '-' } else { '+' };
        let text = format!("{}{sign}{:02}:{minutes:02}", text.trim_end_matches('Z'), hours.abs());
        let ours = parse(&text).unwrap();
        let oracle: jiff::Timestamp = text.parse().unwrap();
        prop_assert_eq!(ours.0, oracle.as_microsecond());
    }

    #[test]
    fn reading_never_panics(text in ".{0,40}") {
        let _ = (parse(&text), parse_query(&text), check_local(&text));
    }
}
