//! What rules come to, where several hold.

use super::*;

fn rule(scope: &str, keep: Keep, sources: &[(&str, u32)]) -> Rule {
    let sources = sources.iter().map(|(name, days)| ((*name).to_owned(), *days)).collect();
    Rule { scope: scope.parse().unwrap(), keep, sources }
}

fn lasting(rules: &[Rule], scope: &str, deployment: Keep) -> Lasting {
    Lasting::of(rules.iter(), &scope.parse().unwrap(), deployment)
}

#[test]
fn the_shortest_of_a_scope_and_those_above_holds() {
    let rules = [
        rule("org:acme", Keep::Days(30), &[]),
        rule("org:acme/team:a", Keep::Days(90), &[("slack", 7)]),
        rule("org:acme/team:b", Keep::Forever, &[]),
        rule("org:free", Keep::Forever, &[("mail", 5)]),
    ];
    let keep = |scope| lasting(&rules, scope, Keep::Days(10)).keep;
    assert_eq!(keep("org:acme"), Keep::Days(30));
    assert_eq!(keep("org:acme/team:a/user:x"), Keep::Days(30));
    assert_eq!(keep("org:acme/team:b"), Keep::Days(30), "keeping is no way around a rule above");
    assert_eq!(keep("org:free/ws:x"), Keep::Forever, "it is one around the deployment's");
    assert_eq!(keep("org:other"), Keep::Days(10));
    assert_eq!(lasting(&rules, "org:other", Keep::Forever).shortest_us(), None);
    let of = |scope, name: &str| lasting(&rules, scope, Keep::Forever).sources.get(name).copied();
    assert_eq!(of("org:acme/team:a", "slack"), Some(Keep::Days(7)));
    assert_eq!(of("org:acme", "slack"), None);
    assert_eq!(of("org:free", "mail"), Some(Keep::Days(5)));
    assert_eq!(lasting(&rules, "org:free", Keep::Forever).shortest_us(), Some(5 * DAY_US));
}

#[test]
fn a_source_may_be_kept_longer_than_the_rest_but_not_than_above() {
    let rules = [
        rule("org:acme", Keep::Days(30), &[]),
        rule("org:acme/team:a", Keep::Days(10), &[("mail", 90)]),
    ];
    let here = lasting(&rules, "org:acme/team:a", Keep::Forever);
    assert_eq!((here.keep, here.sources["mail"]), (Keep::Days(10), Keep::Days(30)));
    assert_eq!(Lasting::before(Keep::Days(1), Micros(DAY_US + 5)), Some(Micros(5)));
    assert_eq!(Lasting::before(Keep::Forever, Micros(5)), None);
}
