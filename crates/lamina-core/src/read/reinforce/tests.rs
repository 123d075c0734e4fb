//! Feedback is bounded, and fair to both sides.

use proptest::prelude::*;

use super::{REINFORCED_MAX, reinforced};

#[test]
fn one_voice_has_half_of_the_most() {
    assert_eq!(reinforced(0), 0.0);
    assert_eq!(reinforced(1), REINFORCED_MAX / 2.0);
    assert_eq!(reinforced(-1), -REINFORCED_MAX / 2.0);
}

proptest! {
    #[test]
    fn it_grows_and_stays_within_its_bounds(net in -100_000i64..100_000) {
        let (less, more) = (reinforced(net), reinforced(net + 1));
        prop_assert!(less < more);
        prop_assert!(less.abs() < REINFORCED_MAX && more.abs() < REINFORCED_MAX);
        prop_assert_eq!(reinforced(-net), -less);
    }
}
