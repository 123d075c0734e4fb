//! Periods are read, bounded and written back.

use expect_test::{Expect, expect};
use lamina_types::limits::POLICY_PERIOD_DAYS_MAX;

use super::{DAY_US, PeriodError, format, parse};

fn check(text: &str, expected: Expect) {
    let shown = match parse(text) {
        Ok(period) => {
            assert_eq!(parse(&format(period)), Ok(period), "read back");
            format(period)
        }
        Err(error) => format!("{error:?}"),
    };
    expected.assert_eq(&shown);
}

#[test]
fn periods_are_read() {
    check("P1Y", expect!["P1Y"]);
    check("P3M", expect![[r#"P90D"#]]);
    check("P2W", expect![[r#"P14D"#]]);
    check("P7D", expect![[r#"P7D"#]]);
    check("PT24H", expect![[r#"P1D"#]]);
    check("PT1M", expect![[r#"PT60S"#]]);
    check("P1Y2M3W4DT5H6M7S", expect!["PT38898367S"]);
}

#[test]
fn what_is_not_a_period_is_refused() {
    for text in [
        "", "P", "PT", "P1DT", "1Y", "P1", "PY", "P1H", "PT1D", "P1D1Y", "P1D2D", "P-1D", "P1.5D",
        "p1d", "P 1D",
    ] {
        assert_eq!(parse(text), Err(PeriodError::Form), "{text}");
    }
    assert_eq!(parse("P0D"), Err(PeriodError::Zero));
    assert_eq!(parse("PT0S"), Err(PeriodError::Zero));
    assert_eq!(parse(&format!("P{POLICY_PERIOD_DAYS_MAX}D")), Ok(POLICY_PERIOD_DAYS_MAX * DAY_US));
    for text in ["P36501D", "P36500DT1S", "P99999999999999999999Y", "P9223372036854775807Y"] {
        assert_eq!(parse(text), Err(PeriodError::TooLong), "{text}");
    }
}
