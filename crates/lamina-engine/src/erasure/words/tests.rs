//! How long an erasure rests.

use std::time::Duration;

use super::half;

/// With the rest the work has two fifths of a core, unless others used the processor too.
#[test]
fn a_rest_leaves_more_than_half_a_core() {
    let ms = Duration::from_millis;
    for (took, used, rest) in [
        (100, 100, 150),
        (100, 80, 100),
        (100, 50, 25),
        (100, 40, 0),
        (100, 10, 0),
        // Two were at work.
        (100, 190, 375),
        (100, 400, 400),
        (0, 0, 0),
    ] {
        assert_eq!(half(ms(took), ms(used)), ms(rest), "{used} of {took} ms");
        if rest < took * 4 {
            assert!(used * 5 <= (took + rest) * 2);
        }
    }
}
