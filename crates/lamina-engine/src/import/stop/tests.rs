//! Which targets an erasure reaches.

use super::may_reach;

#[test]
fn targets_within_above_and_below_an_erased_scope_are_reached() {
    for (target, scope, reached) in [
        ("user:alice", "user:alice", true),
        ("user:alice/agent:bot", "user:alice", true),
        ("org:acme", "org:acme/user:alice", true),
        ("user:alice", "user:alicea", false),
        ("user:bob", "user:alice", false),
        ("user:{user_id}", "user:alice", true),
        ("org:acme/user:{user_id}", "org:acme/user:alice", true),
        ("org:acme/user:{user_id}", "org:other/user:alice", false),
        ("org:acme/user:{user_id}", "org:acme", true),
    ] {
        assert_eq!(may_reach(target, &scope.parse().unwrap()), reached, "{target} {scope}");
    }
}
