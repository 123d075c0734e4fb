//! What a write asks for, one unusual thing at a time.

use expect_test::{Expect, expect};
use lamina_types::capability::{ScopeReadHolistic, ScopeReadLocal};
use lamina_types::{ActorId, MemberRole};

use super::{
    Write, actor_policy_needs, create_needs, natural_level, others_scope_needs, write_needs,
};
use crate::policy::fixture::{Fixture, fixture, scope, show};
use crate::policy::{Membership, Preset, Stack};

fn actor(text: &str) -> ActorId {
    text.parse().unwrap()
}

/// A write is `SCOPE OBSERVED SUBJECT`, and `new` if it creates the scope.
fn check(setup: &str, write: &str, expected: Expect) {
    let fixture = fixture(setup);
    let words: Vec<_> = write.split(' ').collect();
    let (place, observed, subject) = (scope(words[0]), actor(words[1]), actor(words[2]));
    let creates = words.get(3) == Some(&"new");
    let write = Write { scope: &place, observed_actor: &observed, subject: &subject, creates };
    let needs = write_needs(&fixture.caller, &write, &fixture.stack);
    let answer = fixture.stack.permit_write(&fixture.caller, &write);
    if let Ok(permit) = &answer {
        assert_eq!(permit.also(), &needs[1..], "the permit knows what it was asked for");
        assert!(permit.covers(&place));
    }
    let answer = show(&answer.map(|permit| permit.decided_by()));
    expected.assert_eq(&format!("{}\n{answer}", needs.join(" ")));
}

/// R158-R161, R425, R077-R079.
#[test]
fn what_is_unusual_is_asked_for() {
    let plain = "org:acme user:alice user:alice";
    check(
        "member open writer",
        plain,
        expect![[r#"
        scope.write
        allowed by deployment"#]],
    );
    check(
        "member open owner",
        plain,
        expect![[r#"
        scope.write
        allowed by deployment"#]],
    );
    check(
        "member open reader",
        plain,
        expect![[r#"
        scope.write scope.write.elevated
        allowed by deployment"#]],
    );
    check(
        "preset on_prem_enterprise",
        plain,
        expect![[r#"
        scope.write scope.write.elevated
        allowed by deployment"#]],
    );
    check(
        "member open writer",
        "org:acme user:bob user:bob",
        expect![[r#"
        scope.write scope.write.on_behalf_of
        allowed by deployment"#]],
    );
    check(
        "member open writer",
        "org:acme user:alice user:bob",
        expect![[r#"
        scope.write scope.write.about_other
        allowed by deployment"#]],
    );
    check(
        "member open writer",
        "org:acme user:bob user:alice",
        expect![[r#"
        scope.write scope.write.on_behalf_of scope.write.about_other
        allowed by deployment"#]],
    );
    check(
        "preset on_prem_enterprise",
        "org:acme/ws:x user:bob user:carol new",
        expect![[r#"
        scope.write scope.write.elevated scope.write.on_behalf_of scope.write.about_other scope.create.ws
        allowed by deployment"#]],
    );
}

/// C50: first writes work under the shared preset, until a tenant denies them.
#[test]
fn first_writes_work_until_a_tenant_denies_them() {
    let first = "user:alice user:alice user:alice new";
    check(
        "preset cloud_shared_saas",
        first,
        expect![[r#"
        scope.write scope.write.elevated scope.create.user
        allowed by deployment"#]],
    );
    check(
        "preset cloud_shared_saas\n tenant -scope.write.elevated",
        first,
        expect![[r#"
        scope.write scope.write.elevated scope.create.user
        POLICY_DENIED tenant scope.write.elevated: ask an administrator of the tenant (policy.administer.tenant) to stop denying scope.write.elevated in the tenant policy"#]],
    );
    check(
        "preset cloud_shared_saas\n tenant -scope.write.elevated\n member open owner",
        "org:a user:alice user:alice",
        expect![[r#"
            scope.write
            allowed by deployment"#]],
    );
    check(
        "preset cloud_shared_saas",
        "ns:x user:alice user:alice new",
        expect![[r#"
        scope.write scope.write.elevated scope.create.custom
        UNREGISTERED_SCOPE_TYPE deployment scope.create.custom: use a built-in scope type, or ask the operator to add the type to allowed_scope_types or to allow scope.create.custom (preset cloud_shared_saas)"#]],
    );
    check(
        "member closed reader",
        "org:acme user:alice user:alice",
        expect![[r#"
        scope.write scope.write.elevated
        NOT_A_MEMBER scope scope.write: the scope lists its members; ask an owner of it to make this actor a writer or owner"#]],
    );
    check(
        "caps scope.write",
        "org:acme user:alice user:alice",
        expect![[r#"
        scope.write scope.write.elevated
        POLICY_DENIED actor scope.write.elevated: the token lists its capabilities without this one; ask its issuer for a token with scope.write.elevated in caps"#]],
    );
}

/// C09, C26, R156, R162: the last type decides; a custom type is asked for wherever it stands.
#[test]
fn creating_asks_for_the_type() {
    let needs = |path: &str| create_needs(&scope(path), &["ns".to_owned()]).join(" ");
    expect!["scope.create.org"].assert_eq(&needs("org:acme"));
    expect!["scope.create.user"].assert_eq(&needs("org:acme/user:x"));
    expect![""].assert_eq(&needs("ns:x"));
    expect!["scope.create.user"].assert_eq(&needs("ns:x/user:y"));
    expect!["scope.create.custom"].assert_eq(&needs("verify:x"));
    expect!["scope.create.user scope.create.custom"].assert_eq(&needs("verify:x/user:y"));
    expect!["scope.create.custom"].assert_eq(&needs("verify:x/tmp:y"));
    expect!["scope.create.ws"].assert_eq(&needs("global:pool/ws:x"));
    expect!["scope.create.system"].assert_eq(&needs("system:log"));
}

/// C09: a type the operator has listed needs no capability, under any preset.
#[test]
fn a_listed_type_is_free() {
    let mut stack = Stack::of_preset(Preset::CloudSharedSaas);
    let caller = fixture("caller user:alice").caller;
    let (place, alice) = (scope("ns:x"), actor("user:alice"));
    let write = Write { scope: &place, observed_actor: &alice, subject: &alice, creates: true };
    assert!(stack.permit_write(&caller, &write).is_err());
    let mut document = (*stack.deployment).clone();
    document.defaults.set("allowed_scope_types", "ns").unwrap();
    stack.deployment = document.into();
    assert!(stack.permit_write(&caller, &write).is_ok());
}

/// R425, R196.
#[test]
fn the_natural_level_is_the_deepest_writing_role() {
    let (org, team, user, other) =
        (scope("org:a"), scope("org:a/team:t"), scope("org:a/team:t/user:x"), scope("ws:w"));
    let roles = [
        (&other, MemberRole::Owner),
        (&org, MemberRole::Owner),
        (&user, MemberRole::Reader),
        (&team, MemberRole::Writer),
    ];
    assert_eq!(natural_level(roles, None), Some(&team));
    assert_eq!(natural_level(roles, Some(&user)), Some(&team));
    assert_eq!(natural_level(roles, Some(&team)), Some(&team));
    assert_eq!(natural_level(roles, Some(&scope("org:a/user:x"))), Some(&org));
    assert_eq!(natural_level(roles, Some(&scope("org:b"))), None);
    assert_eq!(natural_level([(&user, MemberRole::Reader)], None), None);
    // As deep as another: by name, whatever the order.
    assert_eq!(
        natural_level([(&other, MemberRole::Owner), (&org, MemberRole::Owner)], None),
        Some(&org)
    );
    assert_eq!(
        natural_level([(&org, MemberRole::Owner), (&other, MemberRole::Owner)], None),
        Some(&org)
    );
}

/// R177, R192, R193.
#[test]
fn administering_what_is_not_ones_own_takes_the_tenant() {
    let mut stack = Stack::of_preset(Preset::OnPremEnterprise);
    let mut scope_needs = |role, registered| {
        stack.membership = Membership { role, registered, ..Membership::OPEN };
        others_scope_needs(&stack)
    };
    assert_eq!(scope_needs(Some(MemberRole::Owner), true), None);
    assert_eq!(scope_needs(None, false), None);
    assert_eq!(scope_needs(Some(MemberRole::Writer), true), Some("policy.administer.tenant"));
    assert_eq!(scope_needs(None, true), Some("policy.administer.tenant"));
    let (alice, bob) = (actor("user:alice"), actor("user:bob"));
    assert_eq!(actor_policy_needs(&alice, &alice), ["policy.administer.actor"]);
    assert_eq!(
        actor_policy_needs(&alice, &bob),
        ["policy.administer.actor", "policy.administer.tenant"]
    );
}

/// C24: either of two is enough.
#[test]
fn either_of_two_capabilities() {
    let either = ["vocabulary.write", "policy.administer.tenant"];
    let ask = |setup: &str| {
        let fixture = fixture(&format!("caller user:alice administrator\n{setup}"));
        show(&fixture.stack.allows_any(&fixture.caller, &either, None))
    };
    expect!["allowed by deployment"].assert_eq(&ask("tenant -vocabulary.write"));
    expect!["allowed by deployment"].assert_eq(&ask("tenant -policy.administer.tenant"));
    expect!["POLICY_DENIED tenant vocabulary.write: ask an administrator of the tenant (policy.administer.tenant) to stop denying vocabulary.write in the tenant policy"].assert_eq(&ask("tenant -vocabulary.write -policy.administer.tenant"));
    let fixture = fixture("preset dev_local");
    assert!(
        fixture.stack.allows_any(&fixture.caller, &[], None).is_err(),
        "nothing grants nothing"
    );
}

/// R070, R156, R157, R165: where all tenants meet.
#[test]
fn making_a_scope_that_all_tenants_share_reaches_across_them() {
    check(
        "guest user:alice@acme",
        "global:pool user:alice user:alice new",
        expect![[r#"
            scope.write scope.write.elevated scope.create.global scope.create.cross_tenant
            allowed by deployment"#]],
    );
    check(
        "guest user:alice@acme
        tenant -scope.create.cross_tenant",
        "global:pool user:alice user:alice new",
        expect![[r#"
            scope.write scope.write.elevated scope.create.global scope.create.cross_tenant
            POLICY_DENIED tenant scope.create.cross_tenant: ask an administrator of the tenant (policy.administer.tenant) to stop denying scope.create.cross_tenant in the tenant policy"#]],
    );
    // One that is there is written to without reaching any further.
    check(
        "guest user:alice@acme
        tenant -scope.create.cross_tenant
        member open",
        "global:pool user:alice user:alice",
        expect![[r#"
            scope.write scope.write.elevated
            allowed by deployment"#]],
    );
    // A token that lists what it is for has to list it, first write or not.
    check(
        "guest user:alice@acme
        caps scope.write scope.create.global",
        "global:pool user:alice user:alice new",
        expect![[r#"
            scope.write scope.write.elevated scope.create.global scope.create.cross_tenant
            POLICY_DENIED actor scope.write.elevated: the token lists its capabilities without this one; ask its issuer for a token with scope.write.elevated in caps"#]],
    );
}

#[test]
fn first_write_with_creation_in_caps_needs_no_elevated_in_caps() {
    let ask = |caps: &str, creates: bool| {
        let fixture = fixture(&format!("caller service:sync\ncaps {caps}"));
        let (scope, actor) = (scope("org:acme/team:x"), actor("service:sync"));
        let write = Write { scope: &scope, observed_actor: &actor, subject: &actor, creates };
        fixture.stack.permit_write(&fixture.caller, &write).is_ok()
    };
    assert!(ask("scope.write scope.create.team", true));
    assert!(!ask("scope.write scope.create.team", false));
    assert!(!ask("scope.write", true));
    assert!(!ask("scope.create.team", true));
}

#[test]
fn what_others_made_for_all_tenants_takes_an_operator() {
    let needs = |setup: &str| {
        let fixture = fixture(setup);
        let (place, need) = (scope("global:pool"), others_scope_needs(&fixture.stack));
        let answer = fixture.stack.allows(&fixture.caller, "policy.administer.scope", Some(&place));
        format!("{}\n{}", need.unwrap_or("nothing"), show(&answer))
    };
    expect![[r#"
        nothing
        allowed by deployment"#]]
    .assert_eq(&needs("guest user:alice@acme"));
    expect![[r#"
        policy.administer.deployment
        NOT_A_MEMBER scope policy.administer.scope: all tenants share the scope, and who made it decides; ask an owner of it, or the operator"#]].assert_eq(&needs("guest user:alice@acme\nmember open"));
    expect![[r#"
        policy.administer.deployment
        NOT_A_MEMBER scope policy.administer.scope: all tenants share the scope, and who made it decides; ask an owner of it, or the operator"#]].assert_eq(&needs("guest user:alice@acme\nmember open writer"));
    expect![[r#"
        nothing
        allowed by scope"#]]
    .assert_eq(&needs("guest user:alice@acme\nmember open owner"));
    expect![[r#"
        policy.administer.deployment
        allowed by deployment"#]]
    .assert_eq(&needs("guest user:alice@acme\nmember open\ncaller user:root operator"));
}

#[test]
fn nobody_forgets_what_others_have_shared() {
    let forgets = |setup: &str| {
        let fixture = fixture(setup);
        let place = scope("global:pool");
        show(&fixture.stack.allows(&fixture.caller, "forget.gdpr", Some(&place)))
    };
    expect!["NOT_A_MEMBER scope forget.gdpr: all tenants share the scope, and who made it decides; ask an owner of it, or the operator"].assert_eq(&forgets("guest user:bob@other\nmember open writer"));
    expect!["allowed by scope"].assert_eq(&forgets("guest user:bob@other\nmember open owner"));
}

/// R076, R192: a first write makes an owner, and what somebody owns is not taken from them.
#[test]
fn what_somebody_owns_is_administered_and_erased_by_its_owners() {
    let ask = |setup: &str, place: &str, capability: &str| {
        let fixture = fixture(setup);
        show(&fixture.stack.allows(&fixture.caller, capability, Some(&scope(place))))
    };
    for capability in ["policy.administer.scope", "forget.gdpr", "forget.gdpr.cross_workspace"] {
        for member in ["open", "open reader", "open writer"] {
            let setup = format!("caller user:bob\nmember {member}");
            let answer = ask(&setup, "ws:plan", capability);
            assert!(answer.starts_with(&format!("NOT_A_MEMBER scope {capability}: ")), "{answer}");
        }
        let nobodys = ask("caller user:bob", "ws:plan", capability);
        assert_eq!(nobodys, "allowed by deployment", "what nobody owns is as it was");
        for (setup, tier) in [
            ("caller user:bob\nmember open owner", "scope"),
            ("caller user:bob\nmember closed owner", "scope"),
            ("caller user:root operator\nmember open", "deployment"),
            ("preset dev_local\ncaller user:bob\nmember open", "deployment"),
        ] {
            assert_eq!(ask(setup, "ws:plan", capability), format!("allowed by {tier}"), "{setup}");
        }
    }
    // A writer of a closed scope writes; erasing is its owner's.
    let answer = ask("caller user:bob\nmember closed writer", "ws:plan", "forget.gdpr");
    assert!(answer.starts_with("NOT_A_MEMBER scope forget.gdpr: "), "{answer}");
    // The scope of a person is administered and erased by that person, or by an administrator.
    for capability in ["policy.administer.scope", "forget.gdpr"] {
        for (setup, allowed) in [
            ("caller user:bob\nmember personal owner", true),
            ("caller user:root administrator\nmember personal", true),
            ("caller user:eve\nmember personal", false),
            ("caller user:eve\nmember personal writer", false),
            ("caller service:backend delegate\nmember personal", false),
        ] {
            let answer = ask(setup, "org:acme/user:bob", capability);
            assert_eq!(answer.starts_with("allowed"), allowed, "{setup} {capability}: {answer}");
        }
    }
    // Forgetting what was derived, and redacting, are as they were.
    let answer = ask("caller user:bob\nmember open", "ws:plan", "forget.cascade.redact_events");
    assert_eq!(answer, "allowed by deployment");
}

/// What a permit says about its caller is who it is there.
#[test]
fn the_permit_of_a_guest_is_for_where_all_tenants_meet() {
    let Fixture { stack, caller } = fixture("guest user:alice@acme\nmember open owner");
    let place = scope("global:pool");
    let permit = stack.permit::<ScopeReadLocal>(&caller, Some(&place)).unwrap();
    let there = permit.caller();
    assert_eq!((there.actor.as_str(), there.tenant), ("user:alice@acme", 9));
    assert_eq!(there.at_home(), caller, "and it is known where it comes from");
    let again = stack.permit::<ScopeReadLocal>(there, Some(&place)).unwrap();
    assert_eq!(again.caller(), there, "whoever asks with a permit of its own is no other");
    let walk = stack.permit_walk::<ScopeReadHolistic>(&caller, &place, []).unwrap();
    assert_eq!(walk.permit.caller(), there);
    let write = Write {
        scope: &place,
        observed_actor: &caller.actor,
        subject: &caller.actor,
        creates: false,
    };
    assert_eq!(stack.permit_write(&caller, &write).unwrap().caller(), there);
}
