//! The form that clients take apart.

use lamina_types::Micros;

use super::{Told, line};

#[test]
fn a_memory_begins_with_its_minute_and_its_role() {
    let at = Micros(1_778_686_929_000_000);
    assert_eq!(line(at, "user", " Acme signed. "), "[2026-05-13 15:42 UTC] [user] Acme signed.");
    assert_eq!(
        line(at, "user", "one\n---\ntwo"),
        "[2026-05-13 15:42 UTC] [user] one\n- - -\ntwo",
        "a text cannot end its memory"
    );
}

#[test]
fn what_was_told_is_known_by_its_sentences() {
    let mut told = Told::default();
    assert!(told.adds("Acme has 200 seats. The weather was awful!"));
    assert!(!told.adds("acme has 200 seats"), "whatever its letters");
    assert!(!told.adds("The weather was awful.\nAcme has 200 seats."), "whatever the order");
    assert!(told.adds("Acme has 200 seats. Acme asked for more."));
    assert!(told.adds("Acme has 250 seats"));
    assert!(!told.adds(" ... "), "nothing is nothing new");
}
