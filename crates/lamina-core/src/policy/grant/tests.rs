//! The claims of a token become a grant, or an error that names the entry.

use expect_test::{Expect, expect};
use lamina_types::ActorId;
use lamina_types::limits::TOKEN_SCOPES_MAX;

use super::{Caller, Grant, Guest};

fn check(entry: &str, expected: Expect) {
    let shown = match Grant::read_scopes([entry]) {
        Ok(scopes) => {
            let shown: Vec<_> =
                scopes.iter().map(|(name, prefix)| format!("{name} in {prefix}")).collect();
            shown.join(", ")
        }
        Err(error) => format!("error: {error}"),
    };
    expected.assert_eq(&shown);
}

/// C47: the wildcard is a suffix of the path, and optional.
#[test]
fn a_limit_is_a_capability_and_a_prefix() {
    check("scope.write:org:acme/*", expect!["scope.write in org:acme/*"]);
    check("scope.write:org:acme", expect!["scope.write in org:acme/*"]);
    check(
        "scope.read.local:org:acme/user:alice",
        expect!["scope.read.local in org:acme/user:alice/*"],
    );
    check(
        "scope.read.*:org:acme",
        expect!["error: `scope.read.*`: a token cannot use wildcards in capabilities"],
    );
    check("scope.fly:org:acme", expect!["error: `scope.fly` is not a capability"]);
    check(
        "scope.write",
        expect!["error: `scope.write` is not CAPABILITY:SCOPE, as in scope.write:org:acme/*"],
    );
    check("scope.write:", expect!["error: `scope.write:` does not name a scope"]);
    check("scope.write:*", expect!["error: `scope.write:*` does not name a scope"]);
    check("scope.write:org:*", expect!["error: `scope.write:org:*` does not name a scope"]);
    check("scope.write:org:acme*", expect!["error: `scope.write:org:acme*` does not name a scope"]);
    check(
        "scope.write:org:acme/*/*",
        expect!["error: `scope.write:org:acme/*/*` does not name a scope"],
    );
}

#[test]
fn the_number_of_limits_is_bounded() {
    let entry = "scope.write:org:acme";
    assert!(Grant::read_scopes(vec![entry; TOKEN_SCOPES_MAX]).is_ok());
    let error = Grant::read_scopes(vec![entry; TOKEN_SCOPES_MAX + 1]).unwrap_err();
    expect!["a token has at most 128 entries in `scopes`"].assert_eq(&error.to_string());
}

/// R155: tokens list capabilities one by one.
#[test]
fn caps_are_whole_names() {
    assert_eq!(Grant::read_caps(["scope.write", "scope.write", "blob.read"]).unwrap().len(), 2);
    assert!(Grant::read_caps([]).unwrap().is_empty(), "a token for nothing");
    for name in ["*", "scope.*", "scope.fly", ""] {
        assert!(Grant::read_caps(["scope.write", name]).is_err(), "{name}");
    }
}

#[test]
fn a_service_is_known_by_its_name() {
    let caller = |name: &str| Caller::local(name.parse().unwrap(), 1);
    assert!(caller("service:sync").is_service());
    assert!(!caller("user:service").is_service());
}

/// A guest cannot speak for another tenant's actors, and can name them.
#[test]
fn a_guest_speaks_for_its_own() {
    let caller = Caller::local("user:alice".parse().unwrap(), 1);
    let guest = Guest { actor: "user:alice@acme".parse().unwrap(), tenant: 9 };
    let there = caller.as_guest(&guest);
    let name = |actor: &str| actor.parse::<ActorId>().unwrap();
    assert_eq!(there.own(&name("user:bob")), Ok(name("user:bob@acme")));
    assert_eq!(there.own(&name("user:bob@other")), Ok(name("user:bob@other@acme")));
    assert_eq!(there.means(&name("user:bob")), Ok(name("user:bob@acme")));
    assert_eq!(there.means(&name("user:bob@other")), Ok(name("user:bob@other")));
    assert_eq!(there.means(&name("user:bob@acme.com")), Ok(name("user:bob@acme.com@acme")));
    assert_eq!(caller.own(&name("user:bob@other")), Ok(name("user:bob@other")), "at home");
    assert_eq!(there.origin(), (1, &name("user:alice")));
    assert_eq!(there.as_guest(&guest), there);
}
