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

/// Whatever an actor calls itself, it is not taken for one of another tenant.
#[test]
fn actors_of_two_tenants_never_have_one_name() {
    let name = |actor: &str, tenant: &str| {
        let actor: ActorId = actor.parse().unwrap();
        actor.of_tenant(&tenant.parse().unwrap()).unwrap()
    };
    let alice = name("user:alice", "acme");
    assert_eq!(alice.as_str(), "user:alice@acme");
    assert_ne!(name("user:alice@acme", "other"), alice);
    for (actor, tenant) in [("user:alice", "acme"), ("user:alice@acme", "other")] {
        let (own, home) = name(actor, tenant).at_home().unwrap();
        assert_eq!((own.as_str(), home.as_str()), (actor, tenant));
    }
    assert_eq!("user:alice".parse::<ActorId>().unwrap().at_home(), None);
    assert_eq!("user:alice@acme.com".parse::<ActorId>().unwrap().at_home(), None);
    let long: ActorId = format!("user:{}", "a".repeat(250)).parse().unwrap();
    assert!(long.of_tenant(&"acme".parse().unwrap()).is_err(), "no name is cut");
}
