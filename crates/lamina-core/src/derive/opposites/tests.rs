//! Opposites are mutual, and few.

use super::*;

#[test]
fn each_denies_the_other_and_nothing_else_does() {
    assert_eq!(opposite("likes"), Some("dislikes"));
    assert_eq!(opposite("dislikes"), Some("likes"));
    for (one, other) in OPPOSITES {
        assert_eq!(opposite(one).and_then(opposite), Some(*one), "{one} and {other}");
    }
    assert_eq!(opposite("lives_in"), None);
    assert_eq!(opposite(""), None);
}
