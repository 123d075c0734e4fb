//! Rates are read, bounded and written back.

use std::num::NonZeroU32;

use lamina_types::limits::RATE_COUNT_MAX;

use super::Rate;

#[test]
fn a_rate_is_read_back() {
    for text in ["100/s", "1/m", "500/h", &format!("{RATE_COUNT_MAX}/s")] {
        assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
    }
    let over = format!("{}/s", RATE_COUNT_MAX + 1);
    for text in
        ["", "100", "0/s", "-1/s", "+1/s", "1/d", "1/s ", "1.5/s", "/s", "1/", "1//s", &over]
    {
        assert!(text.parse::<Rate>().is_err(), "{text}");
    }
}

#[test]
fn rates_of_different_periods_compare_by_the_hour() {
    let per_hour = |text: &str| text.parse::<Rate>().unwrap().per_hour();
    assert_eq!(per_hour("1/s"), per_hour("60/m"));
    assert_eq!(per_hour("60/m"), per_hour("3600/h"));
    let rate: Rate = "9000000/s".parse().unwrap();
    let ten = NonZeroU32::new(10).unwrap();
    assert_eq!(rate.times(ten).count.get(), RATE_COUNT_MAX, "within the limit");
    assert_eq!("100/s".parse::<Rate>().unwrap().times(ten).to_string(), "1000/s");
}
