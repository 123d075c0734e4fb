//! A walk reads what could be read one by one, and nothing else.

use expect_test::expect;
use lamina_types::capability::{Capability, ScopeReadDescend, ScopeReadHolistic};

use crate::policy::fixture::{fixture, scope, show};

/// The first line of each block is a scope, the rest its stack; the first block is the start.
fn walk<C: Capability>(blocks: &[(&str, &str)]) -> String {
    let mut stacks = blocks.iter().map(|(path, setup)| (scope(path), fixture(setup)));
    let (start, own) = stacks.next().unwrap();
    let others = stacks.map(|(path, fixture)| (path, fixture.stack));
    match own.stack.permit_walk::<C>(&own.caller, &start, others) {
        Err(denial) => show(&Err(denial)),
        Ok(walk) => {
            assert_eq!(walk.permit.scope(), Some(&start));
            let mut lines = Vec::new();
            for (path, _) in blocks {
                let covered = walk.permit.covers(&scope(path));
                let denied = walk.denied.iter().find(|(denied, _)| *denied == scope(path));
                assert_eq!(covered, denied.is_none(), "{path} is either read or denied");
                let why = denied.map_or("read".to_owned(), |(_, denial)| denial.to_string());
                lines.push(format!("{path}: {why}"));
            }
            assert!(!walk.permit.covers(&scope("org:acme/team:unasked")), "exactly these");
            lines.join("\n")
        }
    }
}

#[test]
fn a_walk_down_leaves_out_what_is_closed() {
    expect![[r#"
        org:acme: read
        org:acme/team:open: read
        org:acme/team:closed: scope.read.local is denied by the scope policy
        org:acme/team:mine: read
        org:acme/team:closed/user:me: read
        org:acme/team:quiet: scope.read.descend is denied by the scope policy"#]]
    .assert_eq(&walk::<ScopeReadDescend>(&[
        ("org:acme", ""),
        ("org:acme/team:open", "member open"),
        ("org:acme/team:closed", "member closed"),
        ("org:acme/team:mine", "member closed reader"),
        ("org:acme/team:closed/user:me", "member closed owner"),
        ("org:acme/team:quiet", "scope org:acme/team:quiet -scope.read.descend"),
    ]));
}

#[test]
fn a_walk_up_needs_the_right_to_walk_only_where_it_starts() {
    let limits = "limit scope.read.holistic:org:acme/user:x/*\nlimit scope.read.local:org:acme/*";
    expect![[r#"
        org:acme/user:x: read
        org:acme: read
        org:other: scope.read.local is denied by the actor policy"#]]
    .assert_eq(&walk::<ScopeReadHolistic>(&[
        ("org:acme/user:x", limits),
        ("org:acme", ""),
        ("org:other", ""),
    ]));
}

/// §8.7: `scope.read.local`, and the right to walk beside it.
#[test]
fn where_it_starts_a_walk_needs_both_rights() {
    expect!["POLICY_DENIED tenant scope.read.local: ask an administrator of the tenant (policy.administer.tenant) to stop denying scope.read.local in the tenant policy"]
        .assert_eq(&walk::<ScopeReadDescend>(&[("org:acme", "tenant -scope.read.local")]));
    expect!["NOT_A_MEMBER scope scope.read.descend: the scope lists its members; ask an owner of it to make this actor a reader, writer or owner"]
        .assert_eq(&walk::<ScopeReadDescend>(&[("org:acme", "member closed")]));
}
