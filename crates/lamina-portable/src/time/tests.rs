//! Times of every kind of source, and the ones that are refused.

use expect_test::expect;
use proptest::prelude::*;

use super::*;

fn show(time: Result<SourceTime, TimeError>) -> String {
    match time {
        Ok(SourceTime { at, assumption: None }) => print(at),
        Ok(SourceTime { at, assumption: Some(assumption) }) => {
            format!("{} ({assumption:?})", print(at))
        }
        Err(error) => format!("error: {error}"),
    }
}

fn table(texts: &[&str], read: impl Fn(&str) -> Result<SourceTime, TimeError>) -> String {
    texts.iter().map(|text| format!("{text} -> {}\n", show(read(text)))).collect()
}

#[test]
fn times_with_a_zone_are_read_exactly() {
    expect![[r#"
        2026-05-13T15:42:00Z -> 2026-05-13T15:42:00Z
        2026-05-13t15:42:00.5z -> 2026-05-13T15:42:00.500Z
        2024-07-20T01:30:36.275141-07:00 -> 2024-07-20T08:30:36.275141Z
        2026-05-13 15:42:00+0200 -> 2026-05-13T13:42:00Z
        2026-05-13 15:42 UTC -> 2026-05-13T15:42:00Z
        2026-05-13T15:42:00.123456789+05:30 -> 2026-05-13T10:12:00.123456Z
        0001-01-01T00:00:00Z -> 0001-01-01T00:00:00Z
        0001-01-01T00:00:00+01:00 -> error: `0001-01-01T00:00:00+01:00` is out of range
        2026-02-29T00:00:00Z -> error: `2026-02-29T00:00:00Z` is out of range
        2026-05-13T24:00:00Z -> error: `2026-05-13T24:00:00Z` is out of range
        yesterday -> error: `yesterday` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970
         -> error: `` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970
    "#]].assert_eq(&table(
        &[
            "2026-05-13T15:42:00Z",
            "2026-05-13t15:42:00.5z",
            "2024-07-20T01:30:36.275141-07:00",
            "2026-05-13 15:42:00+0200",
            "2026-05-13 15:42 UTC",
            "2026-05-13T15:42:00.123456789+05:30",
            "0001-01-01T00:00:00Z",
            "0001-01-01T00:00:00+01:00",
            "2026-02-29T00:00:00Z",
            "2026-05-13T24:00:00Z",
            "yesterday",
            "",
        ],
        |text| parse(text, NaiveTimes::Refuse),
    ));
}

#[test]
fn times_without_a_zone_are_refused_or_assumed_and_said() {
    let texts = ["2026-05-13", "2026-05-13T15:42:00", "2026-05-13 15:42:00.000001+"];
    expect![[r#"
        2026-05-13 -> error: `2026-05-13` has no zone; end with `Z` or `+hh:mm`, or say which zone to assume
        2026-05-13T15:42:00 -> error: `2026-05-13T15:42:00` has no zone; end with `Z` or `+hh:mm`, or say which zone to assume
        2026-05-13 15:42:00.000001+ -> error: `2026-05-13 15:42:00.000001+` has no zone; end with `Z` or `+hh:mm`, or say which zone to assume
    "#]].assert_eq(&table(&texts, |text| parse(text, NaiveTimes::Refuse)));
    expect![[r#"
        2026-05-13 -> 2026-05-13T00:00:00Z (Midnight)
        2026-05-13T15:42:00 -> 2026-05-13T15:42:00Z (Zone)
        2026-05-13 15:42:00.000001+ -> 2026-05-13T15:42:00.000001Z (Zone)
    "#]]
    .assert_eq(&table(&texts, |text| parse(text, NaiveTimes::UTC)));
    let east = NaiveTimes::Assume { offset_minutes: 120 };
    expect![[r#"
        2026-05-13 -> 2026-05-12T22:00:00Z (Midnight)
        2026-05-13T15:42:00 -> 2026-05-13T13:42:00Z (Zone)
        2026-05-13 15:42:00.000001+ -> 2026-05-13T13:42:00.000001Z (Zone)
    "#]]
    .assert_eq(&table(&texts, |text| parse(text, east)));
}

#[test]
fn numbers_since_1970_are_exact_in_four_units() {
    expect![[r#"
        0 -> 1970-01-01T00:00:00Z
        1767225600 -> 2026-01-01T00:00:00Z
        1767225600.123456 -> 2026-01-01T00:00:00.123456Z
        1784164541.690012 -> 2026-07-16T01:15:41.690012Z
        1767225600123 -> 2026-01-01T00:00:00.123Z
        1767225600123456 -> 2026-01-01T00:00:00.123456Z
        1767225600123456789 -> 2026-01-01T00:00:00.123456Z
        1.7672256e9 -> 2026-01-01T00:00:00Z
        -1.5 -> 1969-12-31T23:59:58.500Z
        1e30 -> error: `1e30` is out of range
        1e999 -> error: `1e999` is out of range
        99999999999999999999999999999999 -> error: `99999999999999999999999999999999` is out of range
    "#]].assert_eq(&table(
        &[
            "0",
            "1767225600",
            "1767225600.123456",
            "1784164541.690012",
            "1767225600123",
            "1767225600123456",
            "1767225600123456789",
            "1.7672256e9",
            "-1.5",
            "1e30",
            "1e999",
            "99999999999999999999999999999999",
        ],
        |text| parse_epoch(&NumberToken::new(text)).map(SourceTime::stated),
    ));
}

#[test]
fn spelled_dates_of_activity_pages_are_read() {
    expect![[r#"
        Feb 17, 2026, 3:08:20 PM EST -> 2026-02-17T20:08:20Z
        17 de fev. de 2026, 15:08:20 BRT -> 2026-02-17T18:08:20Z
        17. Feb. 2026, 15:08:20 CET -> 2026-02-17T14:08:20Z
        17 juil. 2026, 15:08:20 CEST -> 2026-07-17T13:08:20Z
        2/17/2026 14:36:11 +01:00 -> 2026-02-17T13:36:11Z
        2/20/2026 9:05 -> 2026-02-20T09:05:00Z (Zone)
        Feb 17, 2026, 12:00:00 AM IST -> 2026-02-17T00:00:00Z (Zone)
        Feb 31, 2026, 3:08:20 PM EST -> error: `Feb 31, 2026, 3:08:20 PM EST` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970
        no date -> error: `no date` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970
    "#]].assert_eq(&table(
        &[
            "Feb 17, 2026, 3:08:20\u{202f}PM EST",
            "17 de fev. de 2026, 15:08:20 BRT",
            "17. Feb. 2026, 15:08:20 CET",
            "17 juil. 2026, 15:08:20 CEST",
            "2/17/2026 14:36:11 +01:00",
            "2/20/2026 9:05",
            "Feb 17, 2026, 12:00:00 AM IST",
            "Feb 31, 2026, 3:08:20 PM EST",
            "no date",
        ],
        |text| parse_spelled(text, NaiveTimes::UTC),
    ));
}

proptest! {
    #[test]
    fn printed_instants_read_back_equal(micros in Micros::MIN.0..=Micros::MAX.0) {
        let at = Micros(micros);
        prop_assert_eq!(parse(&print(at), NaiveTimes::Refuse), Ok(SourceTime::stated(at)));
    }

    #[test]
    fn readers_survive_any_text(text in ".{0,40}") {
        drop(parse(&text, NaiveTimes::UTC));
        drop(parse_spelled(&text, NaiveTimes::UTC));
        drop(epoch(&text));
    }
}
