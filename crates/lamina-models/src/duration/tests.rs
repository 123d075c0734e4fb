//! Days are days, months are those of the calendar, and nothing overflows.

use lamina_types::Micros;

use super::duration_us;

const DAY: i64 = 86_400_000_000;
/// 2026-01-31T00:00:00Z.
const JANUARY_31: Micros = Micros(1_769_817_600_000_000);

#[test]
fn durations_by_the_calendar() {
    for (text, expected) in [
        ("P1D", Some(DAY)),
        ("PT1S", Some(1_000_000)),
        ("PT0.000001S", Some(1)),
        ("P1M", Some(28 * DAY)),
        ("P1Y", Some(365 * DAY)),
        ("P0D", None),
        ("-P1D", None),
        ("soon", None),
        ("P9000Y", Some(Micros::MAX.0 - JANUARY_31.0)),
    ] {
        assert_eq!(duration_us(text, JANUARY_31), expected, "{text}");
    }
}
