//! The form that clients take apart.

use lamina_types::Micros;

use super::line;

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
