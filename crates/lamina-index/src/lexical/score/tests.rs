//! What a word is worth.

use super::{Counted, Scale, Statistics};

fn scale(documents: u64) -> Scale {
    Scale::new(Statistics::Visible, Counted { documents, len: documents * 16 })
}

#[test]
fn a_word_that_everyone_has_tells_little_however_rare_it_is_elsewhere() {
    let rare = scale(1_000).rarity("zanzibarquux", &[], 1);
    let everywhere = scale(1_000).rarity("zanzibarquux", &[], 1_000);
    assert!(rare > 6.0 && everywhere < 0.1, "{rare} {everywhere}");
}

#[test]
fn in_a_small_scope_the_shipped_table_decides() {
    let (common, rare) = (scale(3).rarity("people", &[], 1), scale(3).rarity("violin", &[], 1));
    assert!(common < rare, "{common} {rare}");
}

#[test]
fn shipped_statistics_count_nothing() {
    let few = Scale::new(Statistics::Shipped, Counted { documents: 3, len: 99 });
    let many = Scale::new(Statistics::Shipped, Counted { documents: 3_000_000, len: 99 });
    assert_eq!(few, many);
    assert_eq!(few.rarity("violin", &[], 1), few.rarity("violin", &[], 900));
}

#[test]
fn more_of_a_word_and_a_shorter_text_score_higher_within_bounds() {
    let scale = scale(10);
    assert!(scale.gain(1.0, 2, 10) > scale.gain(1.0, 1, 10));
    assert!(scale.gain(1.0, 1, 5) > scale.gain(1.0, 1, 50));
    assert!(scale.gain(1.0, u32::MAX, 1) <= Scale::gain_max(1.0));
}
