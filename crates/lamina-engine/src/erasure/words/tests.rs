//! How long an erasure rests.

use std::time::Duration;

use super::half;

/// With the rest the work has half a core, unless others used the processor too.
#[test]
fn a_rest_leaves_half_a_core() {
    let ms = Duration::from_millis;
    for (took, used, rest) in [
        (100, 100, 100),
        (100, 75, 50),
        (100, 50, 0),
        (100, 10, 0),
        // Somebody else was at work.
        (100, 190, 100),
        (0, 0, 0),
    ] {
        assert_eq!(half(ms(took), ms(used)), ms(rest), "{used} of {took} ms");
        if rest < took {
            assert!(used * 2 <= took + rest);
        }
    }
}
