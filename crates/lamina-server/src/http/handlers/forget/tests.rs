//! What is told beside what was forgotten.

use lamina_types::{AuditId, Micros};

use super::*;

#[test]
fn files_that_still_have_the_words_are_warned_of() {
    let check = |purged: bool, warning: Option<&str>| {
        let done = Forgotten {
            deleted: Counts::default(),
            requested: 0,
            matched: 1,
            audit_id: AuditId::mint(Micros(1), [0; 8]),
            replayed: false,
            purged,
        };
        let response = answered(&done).unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let told = response.headers().get("x-cortex-warning").map(|value| value.to_str().unwrap());
        assert_eq!(told, warning);
    };
    check(true, None);
    check(false, Some("search_index_not_purged_yet"));
}
