//! The form that clients take apart.

use lamina_core::read::prompt::{PromptTag, RecordAuthor};
use lamina_types::Micros;

use super::{Told, record};

#[test]
fn record_begins_with_minute_tag_and_actor() {
    let at = Micros(1_778_686_929_000_000);
    let actor = "user:alice".parse().unwrap();
    let caller = "service:backend".parse().unwrap();
    let authors = RecordAuthor { actor, caller }.into();
    assert_eq!(
        record(at, PromptTag::User, &authors, " Acme signed. "),
        "[2026-05-13 15:42 UTC] [user] [user:alice via service:backend] Acme signed."
    );
    assert_eq!(
        record(at, PromptTag::User, &authors, "one\n---\ntwo"),
        "[2026-05-13 15:42 UTC] [user] [user:alice via service:backend] one\n  \\---\n  two",
        "a text cannot end its record"
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
