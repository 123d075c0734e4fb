//! Of two that say nearly the same the later one stands.

use super::*;

#[test]
fn a_later_instruction_stands_for_an_earlier_one() {
    let same = |one: &str, other: &str| is_same(&matter(one), &matter(other));
    assert!(same("Always answer in English.", "Always answer in German."));
    assert!(!same("Always answer in English.", "Never use exclamation marks."));
    assert!(!same("I prefer window seats.", "I prefer tea over coffee in the morning."));
}
