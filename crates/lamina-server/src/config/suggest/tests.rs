//! What counts as a slip of the pen, and what is another word altogether.

use super::{distance, nearest};

#[test]
fn distance_counts_single_edits() {
    for (left, right, expected) in [
        ("", "", 0),
        ("data", "data", 0),
        ("dta", "data", 1),
        ("listne", "listen", 2),
        ("preset", "", 6),
        ("kitten", "sitting", 3),
    ] {
        assert_eq!(distance(left, right), expected, "{left} {right}");
        assert_eq!(distance(right, left), expected, "{right} {left}");
    }
}

#[test]
fn the_nearest_is_offered_and_a_stranger_is_not() {
    let keys = ["data", "listen", "limits.body_bytes", "limits.blob_bytes"];
    assert_eq!(nearest("limits.body_byte", keys), Some("limits.body_bytes"));
    assert_eq!(nearest("listne", keys), Some("listen"));
    assert_eq!(nearest("embedder.model", keys), None);
}
