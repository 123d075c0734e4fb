//! Ids as names, and the one id that is none.

use super::spoken_name;

#[track_caller]
fn check(actor: &str, scope: Option<&str>, expected: &str) {
    let scope = scope.map(|scope| scope.parse().unwrap());
    assert_eq!(spoken_name(&actor.parse().unwrap(), scope.as_ref()), expected);
}

#[test]
fn actor_with_a_name_is_called_by_it() {
    check("user:ann", Some("user:bob"), "ann");
    check("agent:crm", None, "crm");
}

#[test]
fn unnamed_caller_is_called_by_the_person_of_the_scope() {
    check("user:local", Some("user:henrik"), "henrik");
    check("user:local", Some("org:acme/user:henrik"), "henrik");
}

#[test]
fn unnamed_caller_of_a_shared_scope_is_the_user() {
    check("user:local", Some("team:sales"), "the user");
    check("user:local", Some("user:local"), "the user");
    check("user:local", None, "the user");
}
