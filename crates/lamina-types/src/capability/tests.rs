//! The catalog holds whole names, once, and one for each built-in scope type.

use std::collections::BTreeSet;

use super::{NAMES, find, scope_create};
use crate::scope::BUILT_IN_TYPES;

#[test]
fn names_are_dotted_words_and_unique() {
    let unique: BTreeSet<_> = NAMES.iter().collect();
    assert_eq!(unique.len(), NAMES.len());
    for name in NAMES {
        assert!(name.contains('.'), "{name}");
        for word in name.split('.') {
            assert!(!word.is_empty(), "{name}");
            assert!(
                word.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
            );
        }
    }
}

#[test]
fn a_name_is_found_whole_or_not_at_all() {
    assert_eq!(find("scope.write"), Some("scope.write"));
    for text in ["scope", "scope.write.", "scope.*", "*", "", "SCOPE.WRITE"] {
        assert_eq!(find(text), None, "{text}");
    }
}

/// C26: every built-in type has a capability of its own, and it is in the catalog.
#[test]
fn every_built_in_type_has_its_own_capability() {
    for kind in BUILT_IN_TYPES {
        let name = scope_create(kind);
        assert_eq!(name, format!("scope.create.{kind}"));
        assert!(find(name).is_some(), "{name}");
    }
    for kind in ["ns", "verify", "cross_tenant", "custom", ""] {
        assert_eq!(scope_create(kind), "scope.create.custom");
    }
}
