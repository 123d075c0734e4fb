//! A position survives the cursor, and nothing that is not one is taken for one.

use super::*;

#[test]
fn a_position_and_what_is_left_out_after_it_survive_the_cursor() {
    for skip in [0, 1, 20_000, usize::MAX] {
        let key = ScanKey { at: -7, seq: u64::MAX };
        assert_eq!(key_of(&position(key, skip)).unwrap(), (key, skip));
    }
    for bytes in [0, 1, 8, 15, 17, 23, 25, 32] {
        assert!(key_of(&vec![1; bytes]).is_err(), "{bytes} bytes");
    }
}
