//! How much texts repeat each other.

use super::*;

#[test]
fn likeness_has_a_direction() {
    let mut likeness = Likeness::default();
    likeness.put("Maria works at Acme.");
    likeness.put("Maria works at Acme. Jonas lives in Oslo.");
    likeness.put("");
    assert!((likeness.of(0, 1) - 1.0).abs() < 1e-9, "the longer one has all of it");
    assert!((likeness.of(1, 0) - 0.5).abs() < 1e-9);
    assert!(likeness.of(2, 0).abs() < 1e-9 && likeness.of(0, 9).abs() < 1e-9);
}
