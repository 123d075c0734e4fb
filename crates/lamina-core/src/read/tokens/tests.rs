//! Estimates of tokens: sane for any text, and near a real encoding for texts that were counted.

use proptest::prelude::*;

use super::estimate;

#[test]
fn nothing_is_nothing() {
    assert_eq!(estimate(""), 0);
    assert_eq!(estimate("word"), 1);
}

proptest! {
    #[test]
    fn more_text_is_never_fewer_tokens(one in "[a-z ]{0,40}", other in "[a-z ]{0,40}") {
        let both = format!("{one}\n{other}");
        prop_assert!(estimate(&both) + 1 >= estimate(&one));
        prop_assert!(estimate(&both) <= estimate(&one) + estimate(&other) + 1);
    }

    #[test]
    fn any_text_has_an_estimate(text in "\\PC{0,80}") {
        prop_assert!(estimate(&text) as usize <= 2 * text.len() + 1);
    }
}
