//! Who the caller is and what it may do, before it tries (R194-R196, R338).

use std::collections::{BTreeMap, BTreeSet};

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::query::Params;
use lamina_api::v1::auth::{TokenFacts, Whoami};
use lamina_api::v1::policy::{
    CapabilityDecision, DeniedCapability, Effective, PolicyBody, PolicyRecord, RateLimits,
};
use lamina_core::policy::{Document, Rate, Stack, Tier, actor_policy_needs};
use lamina_types::capability::PolicyAdministerActor;
use serde_json::Value;

use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;

/// `GET /v1/auth/whoami`: open to whoever is somebody.
pub(super) async fn whoami(call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let app = &call.app;
    let stack = app.stack(&caller, None).await?;
    let everywhere = stack.effective(&caller, None).into_iter();
    let mut allowed: BTreeSet<&str> =
        everywhere.filter(|(_, decided)| decided.is_ok()).map(|(name, _)| name).collect();
    // What a token ties to a part of the tree is allowed there, if not everywhere.
    let grant = caller.grant.clone();
    for (capability, prefix) in grant.iter().flat_map(|grant| &grant.scopes) {
        let stack = app.stack(&caller, Some(prefix.path())).await?;
        if stack.allows(&caller, capability, Some(prefix.path())).is_ok() {
            allowed.insert(capability);
        }
    }
    let shape = Whoami {
        caller: caller.actor.to_string(),
        tenant_id: app.engine.tenant_name(caller.tenant),
        deployment_preset: app.preset().as_str().to_owned(),
        token: grant.as_ref().map(|grant| TokenFacts {
            jti: grant.jti.clone(),
            iss: grant.iss.clone(),
            exp: grant.exp.0 / 1_000_000,
        }),
        effective_capabilities: allowed.into_iter().map(str::to_owned).collect(),
        operator: caller.operator,
        administrator: caller.administers(),
        delegate: caller.is_delegate(),
    };
    reply::json(StatusCode::OK, &shape)
}

/// `GET /v1/policy/effective`: oneself, or anybody for whom one may set policies.
pub(super) async fn effective(call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let pairs = call.pairs()?;
    let params = Params::new(&pairs);
    let scope = params.scope_opt()?;
    let other = params.observed_actor()?.filter(|actor| *actor != caller.actor);
    let is_own = other.is_none();
    let of = match other {
        None => caller,
        Some(actor) => {
            call.desk.ask(&caller, &actor_policy_needs(&caller.actor, &actor), None).await?;
            call.desk.permit::<PolicyAdministerActor>(&caller, scope.as_ref()).await?;
            let tenant = call.app.engine.tenant_name(caller.tenant);
            call.app.gate.named_caller(&tenant, actor, caller.tenant)
        }
    };
    let stack = call.app.stack(&of, scope.as_ref()).await?;
    let there = call.app.engine.seat(&call.app.boot(), &of, scope.as_ref()).await?;
    // It is the path of a scope, which may be one that the caller may not know of.
    let natural = match is_own {
        true => call.app.engine.natural_level(there.tenant, &there.actor).await?,
        false => None,
    };
    let mut shape = Effective {
        actor: of.actor.to_string(),
        scope: scope.as_ref().map(ToString::to_string),
        deployment_preset: call.app.preset().as_str().to_owned(),
        allowed: Vec::new(),
        denied: Vec::new(),
        capabilities: BTreeMap::new(),
        rate_limits: rates(&stack),
        natural_level: natural.map(|scope| scope.to_string()),
    };
    for (name, decided) in stack.effective(&of, scope.as_ref()) {
        let (decision, tier) = match decided {
            Ok(tier) => {
                shape.allowed.push(name.to_owned());
                ("allow", tier)
            }
            Err(denial) => {
                let denied_by_tier = denial.tier.as_str().to_owned();
                let capability = name.to_owned();
                shape.denied.push(DeniedCapability { capability, denied_by_tier });
                ("deny", denial.tier)
            }
        };
        let decided_by_tier = tier.as_str().to_owned();
        let decision = CapabilityDecision { decision: decision.to_owned(), decided_by_tier };
        shape.capabilities.insert(name.to_owned(), decision);
    }
    reply::json(StatusCode::OK, &shape)
}

fn rates(stack: &Stack) -> RateLimits {
    let rate = |of: fn(&Document) -> Option<Rate>| {
        let tenant = stack.tenant.as_deref().and_then(of);
        tenant.or_else(|| of(&stack.deployment)).map(|rate| rate.to_string())
    };
    RateLimits {
        write: rate(|document| document.defaults.rate_write),
        read: rate(|document| document.defaults.rate_read),
    }
}

/// `GET /v1/policy/deployment`: open to whoever is somebody.
pub(super) async fn deployment(call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let stack = call.app.stack(&caller, None).await?;
    let shape = PolicyRecord {
        tier: Tier::Deployment.as_str().to_owned(),
        target: None,
        preset: call.app.preset().as_str().to_owned(),
        version: 0,
        updated_at: None,
        policy: body(&stack.deployment),
    };
    reply::json(StatusCode::OK, &shape)
}

/// A document as it is shown.
pub(super) fn body(document: &Document) -> PolicyBody {
    let rules = |rules: &[lamina_core::policy::Pattern]| {
        rules.iter().map(|rule| rule.as_str().to_owned()).collect()
    };
    let defaults = document.defaults.to_pairs();
    let defaults = defaults.into_iter().map(|(key, value)| (key.to_owned(), setting(&value)));
    PolicyBody {
        allow: rules(&document.allow),
        deny: rules(&document.deny),
        defaults: defaults.collect(),
    }
}

/// Yes and no are shown as JSON shows them, everything else as text.
fn setting(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => Value::String(text.to_owned()),
    }
}
