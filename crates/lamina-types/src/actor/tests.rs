//! C08: actor ids are wider than scope segments, but bounded.

use super::*;

#[test]
fn c08_actor_ids() {
    for good in ["user:alice", "user:priya@acme", "agent:planner_v3", "service:a.b+c-d", "user:A"] {
        assert!(good.parse::<ActorId>().is_ok(), "{good}");
    }
    for bad in [
        "",
        "alice",
        ":alice",
        "user:",
        "User:alice",
        "user:al ice",
        "user:a/b",
        "user:a:b",
        "user:\u{e9}",
    ] {
        assert!(bad.parse::<ActorId>().is_err(), "{bad}");
    }
    let long = |chars: usize| format!("user:{}", "x".repeat(chars - 5));
    assert!(long(ACTOR_CHARS_MAX).parse::<ActorId>().is_ok());
    assert!(long(ACTOR_CHARS_MAX + 1).parse::<ActorId>().is_err());
}
