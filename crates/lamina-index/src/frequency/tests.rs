//! The shipped frequencies of words.

use super::{share, weight};

#[test]
fn common_words_tell_less() {
    let order = ["the", "people", "music", "violin", "zanzibarquux"];
    let weights: Vec<f32> = order.iter().map(|word| weight(word)).collect();
    assert!(weights.is_sorted(), "{weights:?}");
    assert!(weights[0] < 0.15, "{weights:?}");
    assert!((weights[4] - 1.0).abs() < 1e-6, "{weights:?}");
    assert_eq!(weight("Music"), weight("music"));
}

#[test]
fn the_commonest_spelling_counts() {
    assert_eq!(share(&["musics", "music"]), share(&["music"]));
    assert!(share(&[]) > 0.0 && share(&["the"]) < 1.0);
}
