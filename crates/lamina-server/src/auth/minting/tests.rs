//! What newcomers are given exists, and is what the list says.

use lamina_types::capability;

use super::*;

#[test]
fn newcomers_get_what_exists_and_nothing_that_reaches_others() {
    for name in IN_OWN_SCOPE.iter().chain(ANYWHERE) {
        assert!(capability::find(name).is_some(), "{name}");
    }
    for branch in ["scope.", "understanding.", "forget.", "lifecycle.", "import.", "export."] {
        let loose = ANYWHERE.iter().find(|name| name.starts_with(branch));
        assert_eq!(loose, None, "it touches scopes, so it has to be tied to one");
    }
    for name in ["auth.mint", "forget.gdpr", "diagnostics.read", "policy.administer.tenant"] {
        assert!(!IN_OWN_SCOPE.contains(&name) && !ANYWHERE.contains(&name), "{name}");
    }
}

#[test]
fn whole_seconds() {
    assert_eq!(whole(Micros(1_999_999)), Micros(1_000_000));
    assert_eq!(seconds(u64::MAX), i64::MAX / SECOND_US * SECOND_US);
}
