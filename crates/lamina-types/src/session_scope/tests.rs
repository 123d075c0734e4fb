//! Sessions and scopes are one to one.

use proptest::prelude::*;

use super::{SessionHome, SessionScope};
use crate::limits::SCOPE_CHARS_MAX;
use crate::scope::{ScopeError, ScopePath};

fn session(home: SessionHome, id: &str) -> SessionScope {
    SessionScope { home, session_id: id.to_owned() }
}

fn project(slug: &str, id: &str) -> SessionScope {
    session(SessionHome::Project(slug.to_owned()), id)
}

#[test]
fn session_scope_follows_the_escape_rule() {
    for (slug, id, scope) in [
        ("zaxy", "default", "project:zaxy/session:default"),
        ("a.b", "x", "project:a_2Eb/session:x"),
        ("a_b", "run-7", "project:a_b/session:run-7"),
        ("a_2Eb", "_", "project:a_5F2Eb/session:_"),
        ("a_2eb", "__2E", "project:a_2eb/session:__5F2E"),
        ("_.", "_A.", "project:__2E/session:_A_2E"),
        ("p", "é/:%", "project:p/session:_C3_A9_2F_3A_25"),
    ] {
        let from = project(slug, id);
        let path = from.path().unwrap();
        assert_eq!(path.as_str(), scope);
        assert_eq!(SessionScope::from_path(&path), Some(from));
    }
    let outside = session(SessionHome::User("nora@home".to_owned()), "s 1");
    let path = outside.path().unwrap();
    assert_eq!(path.as_str(), "user:nora_40home/session:s_201");
    assert_eq!(SessionScope::from_path(&path), Some(outside));
}

#[test]
fn session_without_name_or_with_a_long_one_has_no_scope() {
    assert_eq!(project("", "s").path(), Err(ScopeError::NotTypeId { index: 0 }));
    assert_eq!(project("p", "").path(), Err(ScopeError::NotTypeId { index: 1 }));
    let room = SCOPE_CHARS_MAX - "project:p/session:".len();
    assert!(project("p", &"s".repeat(room)).path().is_ok());
    assert_eq!(project("p", &"s".repeat(room + 1)).path(), Err(ScopeError::TooLong));
}

#[test]
fn other_scopes_are_no_sessions() {
    for scope in [
        "project:p",
        "session:s",
        "project:p/session:s/ws:w",
        "org:acme/project:p/session:s",
        "team:p/session:s",
        "project:p/ws:s",
        // Escapes of a letter, of half a character, and of a `_` that needs none.
        "project:p/session:_41",
        "project:p/session:_C3",
        "project:_5F/session:s",
    ] {
        let scope: ScopePath = scope.parse().unwrap();
        assert_eq!(SessionScope::from_path(&scope), None, "{scope}");
    }
}

fn homes() -> impl Strategy<Value = SessionHome> {
    prop_oneof![name().prop_map(SessionHome::Project), name().prop_map(SessionHome::User),]
}

/// Names that are full of underscores and hexadecimal digits, and any others.
fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[_2EFa.é-]{1,8}", "\\PC{1,12}"]
}

proptest! {
    #[test]
    fn session_scope_has_an_inverse(home in homes(), session_id in name()) {
        let session = SessionScope { home, session_id };
        let path = session.path().unwrap();
        prop_assert_eq!(SessionScope::from_path(&path), Some(session));
    }

    #[test]
    fn two_sessions_never_share_a_scope(a in ("[_25Fa.]{1,5}", "[_25F.]{1,5}"), b in ("[_25Fa.]{1,5}", "[_25F.]{1,5}")) {
        let (first, second) = (project(&a.0, &a.1), project(&b.0, &b.1));
        prop_assert_eq!(first == second, first.path().unwrap() == second.path().unwrap());
    }

    /// A scope is the scope of one session at most: reading it and making it again gives the same text.
    #[test]
    fn scope_of_a_session_is_made_again_from_it(id in "[_0-9A-Fa-f-]{1,8}") {
        let scope: ScopePath = format!("project:p/session:{id}").parse().unwrap();
        if let Some(session) = SessionScope::from_path(&scope) {
            prop_assert_eq!(session.path(), Ok(scope));
        }
    }
}
