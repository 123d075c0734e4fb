//! The catalog holds whole names, once, and one for each built-in scope type.

use std::collections::BTreeSet;

use super::{
    Capability, ExportFormat, ImportFrom, ImportFromJsonl, NAMES, export_format, find, import_from,
    scope_create,
};
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

/// A family is for its members and for nothing else, not even for its own name.
#[test]
fn families_include_their_members_alone() {
    assert_eq!(import_from("mcp_memory"), Some("import.from.mcp_memory"));
    assert_eq!(export_format("letta"), Some("export.format.letta"));
    for format in ["", "*", "from.mem0", "MEM0", "mem0 ", "claude.x"] {
        assert_eq!(import_from(format), None, "{format}");
        assert_eq!(export_format(format), None, "{format}");
    }
    assert_eq!(export_format("claude"), None);
    for name in NAMES {
        assert_eq!(ImportFrom::includes(name), name.starts_with("import.from."), "{name}");
        assert_eq!(ExportFormat::includes(name), name.starts_with("export.format."), "{name}");
        assert_eq!(ImportFromJsonl::includes(name), *name == "import.from.jsonl", "{name}");
    }
    for name in [ImportFrom::NAME, ExportFormat::NAME] {
        assert!(find(name).is_none(), "{name}");
        assert!(!ImportFrom::includes(name) && !ExportFormat::includes(name), "{name}");
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
