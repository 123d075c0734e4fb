//! Waiting for the views to go on.

use std::time::Duration;

use super::{Wake, Woken};

#[test]
fn who_waits_hears_of_what_came_and_of_the_end() {
    let wake = Wake::default();
    assert_eq!(wake.beyond(0, Duration::from_millis(1)), Woken::Nothing);
    wake.advance(5);
    wake.advance(3);
    assert_eq!(wake.beyond(4, Duration::from_secs(60)), Woken::To(5), "it never goes back");
    assert_eq!(wake.beyond(5, Duration::from_millis(1)), Woken::Nothing);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| wake.beyond(5, Duration::from_secs(60)));
        wake.close();
        assert_eq!(waiting.join().unwrap(), Woken::Closed);
    });
    assert!(wake.is_closed());
}
