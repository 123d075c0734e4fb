//! How long a server is left alone.

use super::*;

#[test]
fn pauses_grow_stay_apart_and_have_an_end() {
    let first = Duration::from_secs(1);
    let at = |failures, asked, jitter| pause_length(first, failures, asked, jitter);
    assert_eq!(at(1, None, 0), Duration::from_millis(500));
    assert_eq!(at(1, None, u16::MAX), Duration::from_millis(1_500));
    assert_eq!(at(4, None, 0), Duration::from_secs(4));
    assert_eq!(at(u32::MAX, None, u16::MAX), PAUSE_MAX.mul_f64(1.5));
    assert!(at(3, None, 10_000) < at(3, None, 50_000));
    // As long as the server asks for, within reason.
    assert_eq!(at(1, Some(Duration::from_secs(20)), 0), Duration::from_secs(20));
    assert_eq!(at(1, Some(Duration::from_secs(u64::MAX)), 0), RETRY_AFTER_MAX);
    assert_eq!(at(9, Some(Duration::ZERO), 0), PAUSE_MAX.mul_f64(0.5));
}
