//! How tiers combine, and what a denial says. A test is what is in force, what is asked, and the
//! answer.

use expect_test::{Expect, expect};
use lamina_types::capability::{ForgetGdpr, ScopeReadLocal, ScopeWrite};

use crate::policy::Tier;
use crate::policy::fixture::{fixture, scope, show};

mod laws;
mod settings;

/// Asks are `capability` or `capability SCOPE`, one to a line.
fn check(setup: &str, asks: &str, expected: Expect) {
    let fixture = fixture(setup);
    let mut shown = String::new();
    for ask in asks.lines().map(str::trim).filter(|ask| !ask.is_empty()) {
        let (capability, place) = ask.split_once(' ').unwrap_or((ask, ""));
        let place = (!place.is_empty()).then(|| scope(place));
        let answer = fixture.stack.allows(&fixture.caller, capability, place.as_ref());
        shown += &format!("{ask} => {}\n", show(&answer));
    }
    expected.assert_eq(&shown);
}

/// R151-R153: silence denies at the deployment and inherits below it.
#[test]
fn silence_denies_at_the_deployment_and_inherits_below() {
    let asks = "scope.write org:acme
        blob.read";
    check(
        "deployment +scope.*",
        asks,
        expect![[r#"
        scope.write org:acme => allowed by deployment
        blob.read => POLICY_DENIED deployment blob.read: this deployment (preset on_prem_enterprise) does not give it; ask the operator to allow blob.read in the deployment policy
    "#]],
    );
    check(
        "deployment +*
         tenant +scope.read.*
         scope org:acme -blob.upload
         actor -admin.health",
        asks,
        expect![[r#"
            scope.write org:acme => allowed by deployment
            blob.read => allowed by deployment
        "#]],
    );
}

/// R153, R154: the outermost tier that denies is cited, whatever those below it say.
#[test]
fn the_outermost_denial_is_cited() {
    let ask = "scope.write org:acme/user:alice";
    check(
        "deployment +blob.*\n tenant -scope.write\n actor +scope.write",
        ask,
        expect![[r#"
        scope.write org:acme/user:alice => POLICY_DENIED deployment scope.write: this deployment (preset on_prem_enterprise) does not give it; ask the operator to allow scope.write in the deployment policy
    "#]],
    );
    check(
        "tenant -scope.write\n scope org:acme -scope.write\n actor -scope.write",
        ask,
        expect![[r#"
            scope.write org:acme/user:alice => POLICY_DENIED tenant scope.write: ask an administrator of the tenant (policy.administer.tenant) to stop denying scope.write in the tenant policy
        "#]],
    );
    check(
        "tenant +scope.write\n scope org:acme -scope.write\n actor -scope.write",
        ask,
        expect![[r#"
            scope.write org:acme/user:alice => POLICY_DENIED scope scope.write: ask an owner of org:acme (policy.administer.scope) to stop denying scope.write in its policy
        "#]],
    );
    check(
        "scope org:acme +scope.write
         scope org:acme/user:alice -scope.*
         actor +scope.write",
        ask,
        expect![[r#"
            scope.write org:acme/user:alice => POLICY_DENIED scope scope.write: ask an owner of org:acme/user:alice (policy.administer.scope) to stop denying scope.write in its policy
        "#]],
    );
    check(
        "actor -scope.write\n caps blob.read",
        ask,
        expect![[r#"
        scope.write org:acme/user:alice => POLICY_DENIED actor scope.write: the policy of this actor denies it; ask an administrator of the tenant or of the actor (policy.administer.actor) to stop denying scope.write there
    "#]],
    );
}

/// C53: what an allowed call reports is the innermost tier that had a say.
#[test]
fn the_innermost_tier_with_a_say_decides() {
    let ask = "scope.write org:acme";
    check(
        "deployment +*",
        ask,
        expect![[r#"
        scope.write org:acme => allowed by deployment
    "#]],
    );
    check(
        "tenant +scope.*",
        ask,
        expect![[r#"
        scope.write org:acme => allowed by tenant
    "#]],
    );
    check(
        "tenant +scope.*\n scope org:acme +scope.write",
        ask,
        expect![[r#"
        scope.write org:acme => allowed by scope
    "#]],
    );
    check(
        "member closed owner",
        ask,
        expect![[r#"
        scope.write org:acme => allowed by scope
    "#]],
    );
    check(
        "actor +*",
        ask,
        expect![[r#"
        scope.write org:acme => allowed by actor
    "#]],
    );
    check(
        "caps scope.write",
        ask,
        expect![[r#"
        scope.write org:acme => allowed by actor
    "#]],
    );
    check(
        "limit scope.write:org:acme",
        ask,
        expect![[r#"
        scope.write org:acme => allowed by actor
    "#]],
    );
}

#[test]
fn the_most_specific_rule_of_a_document_wins() {
    let asks = "scope.read.local
        scope.read.descend
        scope.write
        scope.write.elevated";
    check(
        "deployment +scope.read.local -scope.*",
        asks,
        expect![[r#"
        scope.read.local => allowed by deployment
        scope.read.descend => POLICY_DENIED deployment scope.read.descend: this deployment (preset on_prem_enterprise) does not give it; ask the operator to allow scope.read.descend in the deployment policy
        scope.write => POLICY_DENIED deployment scope.write: this deployment (preset on_prem_enterprise) does not give it; ask the operator to allow scope.write in the deployment policy
        scope.write.elevated => POLICY_DENIED deployment scope.write.elevated: this deployment (preset on_prem_enterprise) does not give it; ask the operator to allow scope.write.elevated in the deployment policy
    "#]],
    );
    check(
        "deployment +scope.* -scope.read.*",
        asks,
        expect![[r#"
        scope.read.local => POLICY_DENIED deployment scope.read.local: this deployment (preset on_prem_enterprise) does not give it; ask the operator to allow scope.read.local in the deployment policy
        scope.read.descend => POLICY_DENIED deployment scope.read.descend: this deployment (preset on_prem_enterprise) does not give it; ask the operator to allow scope.read.descend in the deployment policy
        scope.write => allowed by deployment
        scope.write.elevated => allowed by deployment
    "#]],
    );
    check(
        "deployment +scope.write.* +scope.read.local -scope.read.local",
        asks,
        expect![[r#"
        scope.read.local => POLICY_DENIED deployment scope.read.local: this deployment (preset on_prem_enterprise) does not give it; ask the operator to allow scope.read.local in the deployment policy
        scope.read.descend => POLICY_DENIED deployment scope.read.descend: this deployment (preset on_prem_enterprise) does not give it; ask the operator to allow scope.read.descend in the deployment policy
        scope.write => POLICY_DENIED deployment scope.write: this deployment (preset on_prem_enterprise) does not give it; ask the operator to allow scope.write in the deployment policy
        scope.write.elevated => allowed by deployment
    "#]],
    );
}

/// R143, R144, R155, C47, C49: a token narrows, and its limits end at whole segments.
#[test]
fn a_token_narrows() {
    check(
        "caps scope.write scope.read.local
         limit scope.write:org:acme/*
         limit scope.write:ws:launch",
        "scope.write org:acme
         scope.write org:acme/user:alice
         scope.write org:acme2
         scope.write ws:launch/user:bob
         scope.write
         scope.read.local org:other
         blob.read",
        expect![[r#"
            scope.write org:acme => allowed by actor
            scope.write org:acme/user:alice => allowed by actor
            scope.write org:acme2 => POLICY_DENIED actor scope.write: the token limits scope.write to org:acme/*, ws:launch/*; act there, or ask its issuer for a token that reaches further
            scope.write ws:launch/user:bob => allowed by actor
            scope.write => POLICY_DENIED actor scope.write: the token limits scope.write to org:acme/*, ws:launch/*; act there, or ask its issuer for a token that reaches further
            scope.read.local org:other => allowed by actor
            blob.read => POLICY_DENIED actor blob.read: the token lists its capabilities without this one; ask its issuer for a token with blob.read in caps
        "#]],
    );
    // What the token does not limit, the tiers still do.
    check(
        "tenant -scope.write\n caps scope.write",
        "scope.write org:acme",
        expect![[r#"
        scope.write org:acme => POLICY_DENIED tenant scope.write: ask an administrator of the tenant (policy.administer.tenant) to stop denying scope.write in the tenant policy
    "#]],
    );
}

#[test]
fn a_denial_shows_a_few_prefixes() {
    let limits: Vec<_> = (0..6).map(|n| format!("limit scope.write:org:o{n}")).collect();
    check(
        &limits.join("\n"),
        "scope.write org:acme",
        expect![[r#"
        scope.write org:acme => POLICY_DENIED actor scope.write: the token limits scope.write to org:o0/*, org:o1/*, org:o2/* and 3 more; act there, or ask its issuer for a token that reaches further
    "#]],
    );
}

/// R147 and the operator marks of R455-R457.
#[test]
fn services_do_not_erase_and_operators_operate() {
    let asks = "forget.gdpr org:acme
        forget.gdpr.cross_workspace org:acme
        forget.cascade.redact_events org:acme
        policy.administer.deployment
        admin.flush
        auth.mint
        admin.health";
    check(
        "caller service:sync operator",
        asks,
        expect![[r#"
        forget.gdpr org:acme => POLICY_DENIED deployment forget.gdpr: a service account cannot erase; call with a token of a user
        forget.gdpr.cross_workspace org:acme => POLICY_DENIED deployment forget.gdpr.cross_workspace: a service account cannot erase; call with a token of a user
        forget.cascade.redact_events org:acme => allowed by deployment
        policy.administer.deployment => allowed by deployment
        admin.flush => allowed by deployment
        auth.mint => allowed by deployment
        admin.health => allowed by deployment
    "#]],
    );
    check(
        "caller user:alice",
        asks,
        expect![[r#"
        forget.gdpr org:acme => allowed by deployment
        forget.gdpr.cross_workspace org:acme => allowed by deployment
        forget.cascade.redact_events org:acme => allowed by deployment
        policy.administer.deployment => POLICY_DENIED deployment policy.administer.deployment: it is for operators; ask the operator to do it, or to add this actor to auth.operators (preset on_prem_enterprise)
        admin.flush => POLICY_DENIED deployment admin.flush: it is for operators; ask the operator to do it, or to add this actor to auth.operators (preset on_prem_enterprise)
        auth.mint => POLICY_DENIED deployment auth.mint: it is for operators; ask the operator to do it, or to add this actor to auth.operators (preset on_prem_enterprise)
        admin.health => allowed by deployment
    "#]],
    );
    check(
        "preset dev_local\n caller user:alice",
        asks,
        expect![[r#"
        forget.gdpr org:acme => allowed by deployment
        forget.gdpr.cross_workspace org:acme => allowed by deployment
        forget.cascade.redact_events org:acme => allowed by deployment
        policy.administer.deployment => allowed by deployment
        admin.flush => allowed by deployment
        auth.mint => allowed by deployment
        admin.health => allowed by deployment
    "#]],
    );
}

/// R070: `system:` belongs to the database.
#[test]
fn system_scopes_are_not_written() {
    check(
        "preset dev_local
         caller user:root operator",
        "scope.write system:log
         scope.write org:acme/system:log
         scope.create.system
         scope.create.user system:log/user:x
         import.from.jsonl system:log
         policy.administer.scope system:log
         scope.read.local system:log
         scope.write org:acme",
        expect![[r#"
            scope.write system:log => POLICY_DENIED deployment scope.write: `system:` scopes belong to the database; use a scope of another type
            scope.write org:acme/system:log => POLICY_DENIED deployment scope.write: `system:` scopes belong to the database; use a scope of another type
            scope.create.system => POLICY_DENIED deployment scope.create.system: `system:` scopes belong to the database; use a scope of another type
            scope.create.user system:log/user:x => POLICY_DENIED deployment scope.create.user: `system:` scopes belong to the database; use a scope of another type
            import.from.jsonl system:log => POLICY_DENIED deployment import.from.jsonl: `system:` scopes belong to the database; use a scope of another type
            policy.administer.scope system:log => POLICY_DENIED deployment policy.administer.scope: `system:` scopes belong to the database; use a scope of another type
            scope.read.local system:log => allowed by deployment
            scope.write org:acme => allowed by deployment
        "#]],
    );
}

/// R070, R156, R165: a `global:` scope asks for more, of every tier and of the token.
#[test]
fn global_scopes_are_gated() {
    let asks = "scope.write global:pool
        scope.create.ws global:pool/ws:x
        scope.read.local global:pool
        understanding.read global:pool
        admin.health global:pool";
    check(
        "preset on_prem_enterprise",
        asks,
        expect![[r#"
        scope.write global:pool => allowed by deployment
        scope.create.ws global:pool/ws:x => allowed by deployment
        scope.read.local global:pool => allowed by deployment
        understanding.read global:pool => allowed by deployment
        admin.health global:pool => allowed by deployment
    "#]],
    );
    check(
        "preset cloud_shared_saas",
        asks,
        expect![[r#"
            scope.write global:pool => POLICY_DENIED deployment scope.create.global: a `global:` scope needs it too; this deployment (preset cloud_shared_saas) does not give it; ask the operator to allow scope.create.global in the deployment policy
            scope.create.ws global:pool/ws:x => POLICY_DENIED deployment scope.create.global: a `global:` scope needs it too; this deployment (preset cloud_shared_saas) does not give it; ask the operator to allow scope.create.global in the deployment policy
            scope.read.local global:pool => POLICY_DENIED deployment scope.read.cross_tenant: a `global:` scope needs it too; this deployment (preset cloud_shared_saas) does not give it; ask the operator to allow scope.read.cross_tenant in the deployment policy
            understanding.read global:pool => POLICY_DENIED deployment scope.read.cross_tenant: a `global:` scope needs it too; this deployment (preset cloud_shared_saas) does not give it; ask the operator to allow scope.read.cross_tenant in the deployment policy
            admin.health global:pool => allowed by deployment
        "#]],
    );
    check(
        "preset cloud_private",
        asks,
        expect![[r#"
            scope.write global:pool => allowed by deployment
            scope.create.ws global:pool/ws:x => allowed by deployment
            scope.read.local global:pool => allowed by deployment
            understanding.read global:pool => allowed by deployment
            admin.health global:pool => allowed by deployment
        "#]],
    );
    check(
        "caps scope.write scope.read.local",
        asks,
        expect![[r#"
            scope.write global:pool => POLICY_DENIED actor scope.create.global: a `global:` scope needs it too; the token lists its capabilities without this one; ask its issuer for a token with scope.create.global in caps
            scope.create.ws global:pool/ws:x => POLICY_DENIED actor scope.create.ws: the token lists its capabilities without this one; ask its issuer for a token with scope.create.ws in caps
            scope.read.local global:pool => POLICY_DENIED actor scope.read.cross_tenant: a `global:` scope needs it too; the token lists its capabilities without this one; ask its issuer for a token with scope.read.cross_tenant in caps
            understanding.read global:pool => POLICY_DENIED actor understanding.read: the token lists its capabilities without this one; ask its issuer for a token with understanding.read in caps
            admin.health global:pool => POLICY_DENIED actor admin.health: the token lists its capabilities without this one; ask its issuer for a token with admin.health in caps
        "#]],
    );
    // Both are denied: the outer of the two tiers is cited.
    check(
        "tenant -scope.create.global
         actor -scope.write",
        "scope.write global:pool",
        expect![[r#"
            scope.write global:pool => POLICY_DENIED tenant scope.create.global: a `global:` scope needs it too; ask an administrator of the tenant (policy.administer.tenant) to stop denying scope.create.global in the tenant policy
        "#]],
    );
}

/// R075 and the roles of members.
#[test]
fn closed_scopes_ask_for_a_role() {
    let asks = "scope.read.local org:acme
        scope.read.holistic org:acme
        lifecycle.subscribe org:acme
        scope.write org:acme
        forget.cascade.derived_only org:acme
        policy.administer.scope org:acme
        policy.administer.actor org:acme
        audit.read org:acme
        scope.write";
    check(
        "member open",
        asks,
        expect![[r#"
            scope.read.local org:acme => allowed by deployment
            scope.read.holistic org:acme => allowed by deployment
            lifecycle.subscribe org:acme => allowed by deployment
            scope.write org:acme => allowed by deployment
            forget.cascade.derived_only org:acme => allowed by deployment
            policy.administer.scope org:acme => NOT_A_MEMBER scope policy.administer.scope: administrators of the tenant register an organization, a department or a team and name its owners; ask one for policy.administer.scope here
            policy.administer.actor org:acme => allowed by deployment
            audit.read org:acme => allowed by deployment
            scope.write => allowed by deployment
        "#]],
    );
    check(
        "member closed",
        asks,
        expect![[r#"
            scope.read.local org:acme => NOT_A_MEMBER scope scope.read.local: the scope lists its members; ask an owner of it to make this actor a reader, writer or owner
            scope.read.holistic org:acme => NOT_A_MEMBER scope scope.read.holistic: the scope lists its members; ask an owner of it to make this actor a reader, writer or owner
            lifecycle.subscribe org:acme => NOT_A_MEMBER scope lifecycle.subscribe: the scope lists its members; ask an owner of it to make this actor a reader, writer or owner
            scope.write org:acme => NOT_A_MEMBER scope scope.write: the scope lists its members; ask an owner of it to make this actor a writer or owner
            forget.cascade.derived_only org:acme => NOT_A_MEMBER scope forget.cascade.derived_only: the scope lists its members; ask an owner of it to make this actor a writer or owner
            policy.administer.scope org:acme => NOT_A_MEMBER scope policy.administer.scope: administrators of the tenant register an organization, a department or a team and name its owners; ask one for policy.administer.scope here
            policy.administer.actor org:acme => NOT_A_MEMBER scope policy.administer.actor: the scope lists its members; ask an owner of it to make this actor an owner
            audit.read org:acme => allowed by deployment
            scope.write => allowed by deployment
        "#]],
    );
    check(
        "member closed reader",
        asks,
        expect![[r#"
            scope.read.local org:acme => allowed by scope
            scope.read.holistic org:acme => allowed by scope
            lifecycle.subscribe org:acme => allowed by scope
            scope.write org:acme => NOT_A_MEMBER scope scope.write: the scope lists its members; ask an owner of it to make this actor a writer or owner
            forget.cascade.derived_only org:acme => NOT_A_MEMBER scope forget.cascade.derived_only: the scope lists its members; ask an owner of it to make this actor a writer or owner
            policy.administer.scope org:acme => NOT_A_MEMBER scope policy.administer.scope: administrators of the tenant register an organization, a department or a team and name its owners; ask one for policy.administer.scope here
            policy.administer.actor org:acme => NOT_A_MEMBER scope policy.administer.actor: the scope lists its members; ask an owner of it to make this actor an owner
            audit.read org:acme => allowed by deployment
            scope.write => allowed by deployment
        "#]],
    );
    check(
        "member closed writer",
        asks,
        expect![[r#"
            scope.read.local org:acme => allowed by scope
            scope.read.holistic org:acme => allowed by scope
            lifecycle.subscribe org:acme => allowed by scope
            scope.write org:acme => allowed by scope
            forget.cascade.derived_only org:acme => allowed by scope
            policy.administer.scope org:acme => NOT_A_MEMBER scope policy.administer.scope: administrators of the tenant register an organization, a department or a team and name its owners; ask one for policy.administer.scope here
            policy.administer.actor org:acme => NOT_A_MEMBER scope policy.administer.actor: the scope lists its members; ask an owner of it to make this actor an owner
            audit.read org:acme => allowed by deployment
            scope.write => allowed by deployment
        "#]],
    );
    check(
        "member closed owner",
        asks,
        expect![[r#"
        scope.read.local org:acme => allowed by scope
        scope.read.holistic org:acme => allowed by scope
        lifecycle.subscribe org:acme => allowed by scope
        scope.write org:acme => allowed by scope
        forget.cascade.derived_only org:acme => allowed by scope
        policy.administer.scope org:acme => allowed by scope
        policy.administer.actor org:acme => allowed by scope
        audit.read org:acme => allowed by deployment
        scope.write => allowed by deployment
    "#]],
    );
    check(
        "member closed\n caller user:root operator",
        asks,
        expect![[r#"
            scope.read.local org:acme => NOT_A_MEMBER scope scope.read.local: the scope lists its members; ask an owner of it to make this actor a reader, writer or owner
            scope.read.holistic org:acme => NOT_A_MEMBER scope scope.read.holistic: the scope lists its members; ask an owner of it to make this actor a reader, writer or owner
            lifecycle.subscribe org:acme => NOT_A_MEMBER scope lifecycle.subscribe: the scope lists its members; ask an owner of it to make this actor a reader, writer or owner
            scope.write org:acme => NOT_A_MEMBER scope scope.write: the scope lists its members; ask an owner of it to make this actor a writer or owner
            forget.cascade.derived_only org:acme => NOT_A_MEMBER scope forget.cascade.derived_only: the scope lists its members; ask an owner of it to make this actor a writer or owner
            policy.administer.scope org:acme => allowed by deployment
            policy.administer.actor org:acme => allowed by deployment
            audit.read org:acme => allowed by deployment
            scope.write => allowed by deployment
        "#]],
    );
    // The role is the scope's word; the tiers around it keep theirs.
    check(
        "member closed owner\n tenant -scope.write",
        "scope.write org:acme",
        expect![[r#"
        scope.write org:acme => POLICY_DENIED tenant scope.write: ask an administrator of the tenant (policy.administer.tenant) to stop denying scope.write in the tenant policy
    "#]],
    );
    check(
        "member closed reader\n actor -scope.write",
        "scope.write org:acme",
        expect![[r#"
            scope.write org:acme => NOT_A_MEMBER scope scope.write: the scope lists its members; ask an owner of it to make this actor a writer or owner
        "#]],
    );
}

/// C09: what a custom type is refused with has its own code.
#[test]
fn a_custom_type_has_its_own_code() {
    let asks = "scope.create.custom ns:x
        scope.create.global global:x";
    check(
        "preset cloud_shared_saas",
        asks,
        expect![[r#"
        scope.create.custom ns:x => UNREGISTERED_SCOPE_TYPE deployment scope.create.custom: use a built-in scope type, or ask the operator to add the type to allowed_scope_types or to allow scope.create.custom (preset cloud_shared_saas)
        scope.create.global global:x => POLICY_DENIED deployment scope.create.global: this deployment (preset cloud_shared_saas) does not give it; ask the operator to allow scope.create.global in the deployment policy
    "#]],
    );
    check(
        "tenant -scope.create.*",
        asks,
        expect![[r#"
        scope.create.custom ns:x => UNREGISTERED_SCOPE_TYPE tenant scope.create.custom: ask an administrator of the tenant (policy.administer.tenant) to stop denying scope.create.custom in the tenant policy
        scope.create.global global:x => POLICY_DENIED tenant scope.create.global: ask an administrator of the tenant (policy.administer.tenant) to stop denying scope.create.global in the tenant policy
    "#]],
    );
}

#[test]
fn what_is_not_in_the_catalog_is_nobodys() {
    check(
        "preset dev_local",
        "scope.fly org:acme\n system.derive org:acme",
        expect![[r#"
        scope.fly org:acme => POLICY_DENIED deployment (unknown): there is no capability of this name; look for it in GET /v1/policy/effective
        system.derive org:acme => POLICY_DENIED deployment (unknown): there is no capability of this name; look for it in GET /v1/policy/effective
    "#]],
    );
}

#[test]
fn a_permit_holds_in_its_scope_and_not_below() {
    let fixture = fixture("preset dev_local");
    let permit =
        fixture.stack.permit::<ScopeWrite>(&fixture.caller, Some(&scope("org:acme"))).unwrap();
    assert_eq!(permit.scope(), Some(&scope("org:acme")));
    assert_eq!(permit.caller(), &fixture.caller);
    assert_eq!((permit.capability(), permit.decided_by()), ("scope.write", Tier::Deployment));
    for (path, covered) in
        [("org:acme", true), ("org:acme/user:x", false), ("org:acme2", false), ("org:other", false)]
    {
        assert_eq!(permit.covers(&scope(path)), covered, "{path}");
    }
    let forget = fixture.stack.permit::<ForgetGdpr>(&fixture.caller, Some(&scope("org:acme")));
    assert!(forget.unwrap().covers(&scope("org:acme/user:x")), "a tree is forgotten whole");
    let everywhere = fixture.stack.permit::<ScopeReadLocal>(&fixture.caller, None).unwrap();
    assert!(everywhere.scope().is_none() && everywhere.covers(&scope("org:other")));
}
