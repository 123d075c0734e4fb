//! The grammar and its limit at the edge.

use super::*;

#[test]
fn names_are_short_words_that_fit_everywhere() {
    for text in ["a", "acme", "Acme-2_x", "9lives", &"a".repeat(TENANT_CHARS_MAX)] {
        assert_eq!(text.parse::<TenantName>().unwrap().as_str(), text);
    }
    let long = "a".repeat(TENANT_CHARS_MAX + 1);
    for text in ["", "-a", "_a", "a.b", "a/b", "a:b", "a b", "..", "é", "a\n", "*", &long] {
        assert_eq!(text.parse::<TenantName>(), Err(TenantError), "{text:?}");
    }
}
