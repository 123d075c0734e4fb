//! The laws of the stack, as properties: nothing is ever wider than any of its parts, and the whole
//! equals an oracle that is slow and says every rule in full.

use std::sync::Arc;

use lamina_types::capability::{NAMES, ScopeWrite};
use lamina_types::{MemberRole, Micros, ScopePath};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::policy::{
    Caller, Document, Effect, Grant, Guest, Membership, Pattern, Preset, Stack, Tier,
};

/// Names, branches and everything, so that rules often meet.
fn patterns() -> impl Strategy<Value = Pattern> {
    let name = select(NAMES);
    (name, 0..4usize).prop_map(|(name, words)| {
        let words: Vec<_> = name.split('.').take(words).collect();
        let text = match words.join(".") {
            short if short.is_empty() => "*".to_owned(),
            whole if whole == name => whole,
            branch => format!("{branch}.*"),
        };
        text.parse().unwrap()
    })
}

fn documents() -> impl Strategy<Value = Arc<Document>> {
    let lists = (vec(patterns(), 0..5), vec(patterns(), 0..3));
    lists.prop_map(|(allow, deny)| Arc::new(Document { allow, deny, ..Document::default() }))
}

/// Deployments that allow enough for the tiers below to matter.
fn deployments() -> impl Strategy<Value = Arc<Document>> {
    let presets = select(Preset::ALL).prop_map(|preset| Arc::new(preset.document()));
    prop_oneof![3 => presets, 1 => documents()]
}

fn paths() -> impl Strategy<Value = ScopePath> {
    const SEGMENTS: &[&str] =
        &["org:a", "org:ab", "user:a", "ws:w", "ns:n", "global:g", "system:s"];
    let weighted = prop_oneof![5 => select(&SEGMENTS[..4]), 1 => select(&SEGMENTS[4..])];
    vec(weighted, 1..4).prop_map(|segments| segments.join("/").parse().unwrap())
}

fn memberships() -> impl Strategy<Value = Membership> {
    let role = option::of(select(MemberRole::ALL));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (flags, role).prop_map(|((closed, registered, personal), role)| Membership {
        closed,
        role,
        registered,
        personal,
    })
}

fn stacks() -> impl Strategy<Value = Stack> {
    let scopes = vec((paths(), documents()), 0..3);
    let outer = (select(Preset::ALL), deployments(), option::of(documents()));
    let guest = option::of(Just(Guest { actor: "user:alice@acme".parse().unwrap(), tenant: 9 }));
    (outer, scopes, option::of(documents()), memberships(), guest).prop_map(
        |((preset, deployment, tenant), scopes, actor, membership, guest)| Stack {
            preset,
            deployment,
            tenant,
            scopes,
            actor,
            membership,
            guest,
        },
    )
}

fn callers() -> impl Strategy<Value = Caller> {
    let caps = option::of(btree_set(select(NAMES).prop_map(str::to_owned), 20..55));
    let limits = vec((select(NAMES).prop_map(str::to_owned), paths().prop_map(Into::into)), 0..6);
    let grant = (caps, limits).prop_map(|(caps, scopes)| {
        let (jti, iss) = ("tok".to_owned(), "https://issuer.test".to_owned());
        Arc::new(Grant { jti, iss, exp: Micros(0), caps, scopes })
    });
    let actor = select(vec!["user:alice", "user:a", "agent:planner", "service:sync"]);
    let offices = (any::<bool>(), any::<bool>(), any::<bool>());
    (actor, offices, option::of(grant)).prop_map(
        |(actor, (operator, administrator, delegate), grant)| Caller {
            operator,
            administrator,
            delegate,
            grant,
            ..Caller::plain(actor.parse().unwrap(), 1)
        },
    )
}

fn allowed(stack: &Stack, caller: &Caller, scope: Option<&ScopePath>) -> Vec<&'static str> {
    let effective = stack.effective(caller, scope).into_iter();
    effective.filter(|(_, result)| result.is_ok()).map(|(name, _)| name).collect()
}

fn within(narrow: &[&str], wide: &[&str]) -> Result<(), TestCaseError> {
    for name in narrow {
        prop_assert!(wide.contains(name), "{name} is new");
    }
    Ok(())
}

/// A document that stands somewhere in the stack.
fn document_mut(stack: &mut Stack, index: usize) -> Option<&mut Document> {
    let Stack { deployment, tenant, scopes, actor, .. } = stack;
    let mut all = vec![deployment];
    all.extend(tenant);
    all.extend(scopes.iter_mut().map(|(_, document)| document));
    all.extend(actor);
    let count = all.len();
    all.into_iter().nth(index % count).map(Arc::make_mut)
}

mod oracle {
    //! Every rule in full, without sharing a line with what it checks.

    use super::*;

    const READS: &str = "scope.read.local scope.read.holistic scope.read.descend \
        scope.read.cross_tenant understanding.read understanding.read.cross_scope \
        export.format.mem0 export.format.zep export.format.letta export.format.jsonl \
        export.format.pam export.format.zaxy export.format.eventloom export.format.aegx \
        lifecycle.subscribe blob.read";
    const WRITES: &str = "scope.write scope.write.elevated scope.write.on_behalf_of \
        scope.write.about_other scope.write.as_system scope.create.global scope.create.cross_tenant scope.create.custom \
        scope.create.org scope.create.dept scope.create.team scope.create.app scope.create.user \
        scope.create.agent scope.create.service scope.create.ws scope.create.project \
        scope.create.session \
        scope.create.system understanding.synthesize forget.cascade.derived_only \
        forget.cascade.redact_events forget.gdpr forget.gdpr.cross_workspace import.from.mem0 \
        import.from.zep import.from.letta import.from.openai import.from.jsonl import.from.claude \
        import.from.gemini import.from.grok import.from.copilot import.from.mcp_memory \
        import.from.basic_memory import.from.langgraph import.from.hindsight import.from.csv import.from.eventloom \
        import.from.zaxy import.from.pam import.from.aegx";
    const ADMINISTERS: &str = "policy.administer.scope policy.administer.actor";
    const OWNS: &str = "policy.administer.scope forget.gdpr forget.gdpr.cross_workspace";
    const OPERATES: &str = "policy.administer.deployment admin.flush admin.compact auth.mint \
        scope.write.as_system";
    const OFFICE: &str = "policy.administer.tenant audit.read.cross_actor";
    const KEPT: &str = "policy.administer.deployment policy.administer.tenant \
        policy.administer.scope policy.administer.actor auth.revoke admin.health";

    pub(super) fn is_kept(name: &str) -> bool {
        is_in(KEPT, name)
    }

    fn is_in(list: &str, name: &str) -> bool {
        list.split_whitespace().any(|listed| listed == name)
    }

    /// Walks from the whole name up to `*`; the first pattern that stands in a list decides, and
    /// deny is looked at first.
    fn says(document: &Document, name: &str) -> Option<bool> {
        let words: Vec<_> = name.split('.').collect();
        let mut candidates = vec![name.to_owned()];
        for count in (1..words.len()).rev() {
            candidates.push(format!("{}.*", words[..count].join(".")));
        }
        candidates.push("*".to_owned());
        for candidate in candidates {
            if document.deny.iter().any(|rule| rule.as_str() == candidate) {
                return Some(false);
            }
            if document.allow.iter().any(|rule| rule.as_str() == candidate) {
                return Some(true);
            }
        }
        None
    }

    fn has_segment(scope: Option<&ScopePath>, kind: &str) -> bool {
        let text = scope.map_or("", ScopePath::as_str);
        text.split('/').any(|segment| segment.starts_with(&format!("{kind}:")))
    }

    fn below(scope: &ScopePath, top: &ScopePath) -> bool {
        let (scope, top): (Vec<_>, Vec<_>) =
            (scope.as_str().split('/').collect(), top.as_str().split('/').collect());
        scope.len() >= top.len() && scope[..top.len()] == top[..]
    }

    /// What every tier says, in order: `Some(false)` denies, `None` is silence.
    fn verdicts(
        stack: &Stack,
        caller: &Caller,
        name: &str,
        scope: Option<&ScopePath>,
        beside: bool,
    ) -> Vec<(Tier, Option<bool>)> {
        let operator = caller.operator || stack.preset.as_str() == "dev_local";
        let mut verdicts = Vec::new();
        if is_in(OPERATES, name) && !operator {
            verdicts.push((Tier::Deployment, Some(false)));
        }
        let office = operator || caller.administrator;
        if is_in(OFFICE, name) && !office {
            verdicts.push((Tier::Deployment, Some(false)));
        }
        if caller.actor.as_str().starts_with("service:")
            && is_in("forget.gdpr forget.gdpr.cross_workspace", name)
        {
            verdicts.push((Tier::Deployment, Some(false)));
        }
        let changes = is_in(WRITES, name) || is_in(ADMINISTERS, name);
        if name == "scope.create.system" || (changes && has_segment(scope, "system")) {
            verdicts.push((Tier::Deployment, Some(false)));
        }
        verdicts.push((Tier::Deployment, Some(says(&stack.deployment, name) == Some(true))));
        let kept = operator && is_in(KEPT, name);
        if let Some(tenant) = stack.tenant.as_ref().filter(|_| !kept) {
            verdicts.push((Tier::Tenant, says(tenant, name)));
        }
        for (_, document) in stack.scopes.iter().filter(|_| !kept) {
            verdicts.push((Tier::Scope, says(document, name)));
        }
        if let Some(place) = scope.filter(|_| !beside) {
            verdicts.extend(by_role(stack, caller, name, place, (operator, office)));
        }
        if let Some(actor) = stack.actor.as_ref().filter(|_| !kept) {
            verdicts.push((Tier::Actor, says(actor, name)));
        }
        if let Some(grant) = &caller.grant {
            verdicts.push((Tier::Actor, grant.caps.as_ref().map(|caps| caps.contains(name))));
            let tops: Vec<_> = grant.scopes.iter().filter(|(limited, _)| limited == name).collect();
            let reached = scope
                .is_some_and(|scope| tops.iter().any(|(_, prefix)| below(scope, prefix.path())));
            verdicts.push((Tier::Actor, (!tops.is_empty()).then_some(reached)));
        }
        verdicts
    }

    fn by_role(
        stack: &Stack,
        caller: &Caller,
        name: &str,
        place: &ScopePath,
        (operator, office): (bool, bool),
    ) -> Vec<(Tier, Option<bool>)> {
        let shared = place.as_str().starts_with("global:");
        let last = place.as_str().split('/').next_back().unwrap();
        let Membership { closed, role, registered, personal } = stack.membership;
        let mut persons = ["user", "agent", "service"].iter();
        let of_person = persons.any(|kind| has_segment(Some(place), kind));
        let erases = name == "forget.gdpr.cross_workspace" || (name == "forget.gdpr" && of_person);
        if erases && office && !shared {
            return Vec::new();
        }
        let stands_in = caller.delegate
            && personal
            && !name.starts_with("forget.")
            && !is_in(ADMINISTERS, name);
        let role = if stands_in { role.max(Some(MemberRole::Writer)) } else { role };
        let owns = role == Some(MemberRole::Owner);
        let group = ["org:", "dept:", "team:"].iter().any(|kind| last.starts_with(kind));
        if name == "policy.administer.scope" && group && !shared && !office {
            return vec![(Tier::Scope, Some(owns))];
        }
        let mut verdicts = Vec::new();
        let takes = match stack.guest {
            Some(_) => is_in(ADMINISTERS, name) || name.starts_with("forget."),
            None => is_in(OWNS, name),
        };
        let may_anyway = if is_in(ADMINISTERS, name) { office } else { operator };
        if (registered || closed || personal) && takes && !may_anyway {
            verdicts.push((Tier::Scope, Some(owns)));
        }
        let private = stack.deployment.defaults.require_signed.unwrap_or(true);
        if closed || (personal && private) {
            if is_in(READS, name) {
                verdicts.push((Tier::Scope, Some(role.is_some())));
            }
            if is_in(WRITES, name) {
                let writes = matches!(role, Some(MemberRole::Writer | MemberRole::Owner));
                verdicts.push((Tier::Scope, Some(writes)));
            }
            if is_in(ADMINISTERS, name) && !office {
                verdicts.push((Tier::Scope, Some(owns)));
            }
        }
        verdicts
    }

    /// `Ok` is the innermost tier that said something, `Err` the outermost that denied.
    pub(super) fn decide(
        stack: &Stack,
        caller: &Caller,
        name: &str,
        scope: Option<&ScopePath>,
    ) -> Result<Tier, Tier> {
        let mut all = verdicts(stack, caller, name, scope, false);
        if has_segment(scope, "global") {
            let private = stack.preset.as_str() == "cloud_private";
            if is_in(READS, name) && !private {
                all.extend(verdicts(stack, caller, "scope.read.cross_tenant", scope, true));
            }
            if is_in(WRITES, name) || is_in(ADMINISTERS, name) {
                all.extend(verdicts(stack, caller, "scope.create.global", scope, true));
            }
        }
        let denied = all.iter().filter(|(_, verdict)| *verdict == Some(false));
        match denied.map(|(tier, _)| *tier).min() {
            Some(tier) => Err(tier),
            None => {
                Ok(all.iter().filter(|said| said.1.is_some()).map(|said| said.0).max().unwrap())
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The effective set is what the oracle says, tier by tier.
    #[test]
    fn effective_equals_the_oracle(
        stack in stacks(),
        caller in callers(),
        scope in option::of(paths()),
    ) {
        for (name, result) in stack.effective(&caller, scope.as_ref()) {
            let result = result.map_err(|denial| denial.tier);
            prop_assert_eq!(result, oracle::decide(&stack, &caller, name, scope.as_ref()), "{}", name);
        }
    }

    /// A permit is never wider than any tier, nor than the token.
    #[test]
    fn a_permit_is_within_every_tier_and_the_token(
        stack in stacks(),
        caller in callers(),
        scope in option::of(paths()),
    ) {
        let operator = caller.operator || stack.preset == Preset::DevLocal;
        for name in allowed(&stack, &caller, scope.as_ref()) {
            prop_assert_eq!(stack.deployment.opinion(name), Some(Effect::Allow));
            let lower = stack.tenant.iter().chain(&stack.actor);
            let kept = operator && oracle::is_kept(name);
            for document in lower.chain(stack.scopes.iter().map(|(_, document)| document)) {
                prop_assert!(kept || document.opinion(name) != Some(Effect::Deny));
            }
            if let Some(grant) = &caller.grant {
                prop_assert!(grant.caps.as_ref().is_none_or(|caps| caps.contains(name)));
                let mut limits = grant.scopes.iter().filter(|(limited, _)| limited == name).peekable();
                if limits.peek().is_some() {
                    let place = scope.as_ref().unwrap();
                    prop_assert!(limits.any(|(_, prefix)| prefix.contains(place)));
                }
            }
        }
        // The typed form is the same decision, and the permit is for this caller and place only.
        let decided = stack.allows(&caller, "scope.write", scope.as_ref());
        match stack.permit::<ScopeWrite>(&caller, scope.as_ref()) {
            Ok(permit) => {
                prop_assert_eq!(decided, Ok(permit.decided_by()));
                prop_assert_eq!(&permit.caller().at_home(), &caller);
                prop_assert_eq!(permit.scope(), scope.as_ref());
            }
            Err(denial) => prop_assert_eq!(decided, Err(denial)),
        }
    }

    /// Adding a deny anywhere, or taking an allow away anywhere, never allows more.
    #[test]
    fn narrowing_a_document_narrows_the_whole(
        stack in stacks(),
        caller in callers(),
        scope in option::of(paths()),
        index in any::<usize>(),
        pattern in patterns(),
    ) {
        let before = allowed(&stack, &caller, scope.as_ref());
        let mut denies = stack.clone();
        document_mut(&mut denies, index).unwrap().deny.push(pattern);
        within(&allowed(&denies, &caller, scope.as_ref()), &before)?;
        let mut takes = stack.clone();
        let document = document_mut(&mut takes, index).unwrap();
        if !document.allow.is_empty() {
            document.allow.remove(index % document.allow.len());
            within(&allowed(&takes, &caller, scope.as_ref()), &before)?;
        }
    }

    /// Whatever a lower tier or a token says, without it there is at least as much.
    #[test]
    fn no_tier_widens_the_ones_above_it(
        stack in stacks(),
        caller in callers(),
        scope in option::of(paths()),
    ) {
        let with = allowed(&stack, &caller, scope.as_ref());
        let without = [
            (Stack { tenant: None, ..stack.clone() }, caller.clone()),
            (Stack { scopes: Vec::new(), ..stack.clone() }, caller.clone()),
            (Stack { actor: None, ..stack.clone() }, caller.clone()),
            (Stack { membership: Membership::OPEN, ..stack.clone() }, caller.clone()),
            (stack.clone(), Caller { grant: None, ..caller.clone() }),
        ];
        // An owner of a group has a right there that an open one gives to nobody.
        let with: Vec<_> = with.into_iter().filter(|name| *name != "policy.administer.scope").collect();
        for (stack, caller) in &without {
            within(&with, &allowed(stack, caller, scope.as_ref()))?;
        }
        // An allow in a lower tier that denies nothing changes nothing at all.
        let everything = Document { allow: vec!["*".parse().unwrap()], ..Document::default() };
        let bare = Stack { tenant: None, ..stack.clone() };
        let said = Stack { tenant: Some(Arc::new(everything)), ..stack };
        prop_assert_eq!(
            allowed(&bare, &caller, scope.as_ref()),
            allowed(&said, &caller, scope.as_ref())
        );
    }

    /// A limit of a token reaches exactly the paths that begin with its segments.
    #[test]
    fn containment_is_by_segment(top in paths(), path in paths()) {
        let below = {
            let (path, top): (Vec<_>, Vec<_>) = (path.segments().collect(), top.segments().collect());
            path.len() >= top.len() && path[..top.len()] == top[..]
        };
        let limit = [format!("blob.upload:{top}/*")];
        let scopes = Grant::read_scopes(limit.iter().map(String::as_str)).unwrap();
        let (jti, iss) = (String::new(), String::new());
        let grant = Arc::new(Grant { jti, iss, exp: Micros(0), caps: None, scopes });
        let stack = Stack::of_preset(Preset::OnPremEnterprise);
        let actor = "user:alice".parse().unwrap();
        let caller = Caller { grant: Some(grant), ..Caller::plain(actor, 1) };
        prop_assert_eq!(stack.allows(&caller, "blob.upload", Some(&path)).is_ok(), below);
        prop_assert!(stack.allows(&caller, "blob.upload", None).is_err());
        prop_assert!(stack.allows(&caller, "blob.read", None).is_ok(), "not limited");
    }
}
