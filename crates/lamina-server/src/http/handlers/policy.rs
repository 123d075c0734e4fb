//! Policies of the four tiers: reading and replacing (R187-R193).

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::query::Params;
use lamina_api::v1::policy::{PolicyBody, PolicyRecord as PolicyShape};
use lamina_api::v1::scopes::path_of;
use lamina_api::{ApiError, time};
use lamina_core::policy::{Caller, Document, DocumentError, Effect, Tier, actor_policy_needs};
use lamina_engine::{PolicyPermit, PolicyRecord, PolicyTarget};
use lamina_types::capability::{
    Capability as _, PolicyAdministerActor, PolicyAdministerDeployment, PolicyAdministerScope,
    PolicyAdministerTenant, ScopeCreateGlobal,
};
use lamina_types::{ActorId, ErrorCode, ScopePath};
use serde_json::Value;

use super::identity::body;
use super::scopes;
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::reply;

/// `PUT /v1/policy/deployment`.
pub(super) async fn put_deployment(call: Call) -> Result<Response, Failure> {
    put(call, PolicyTarget::Deployment).await
}

/// `GET /v1/policy/tenant/{tenant_id}`: the caller's own; an operator's token has one tenant too.
pub(super) async fn get_tenant(mut call: Call) -> Result<Response, Failure> {
    own_tenant(&mut call).await?;
    get(call, PolicyTarget::Tenant).await
}

/// `PUT /v1/policy/tenant/{tenant_id}`.
pub(super) async fn put_tenant(mut call: Call) -> Result<Response, Failure> {
    own_tenant(&mut call).await?;
    put(call, PolicyTarget::Tenant).await
}

/// Another tenant is refused alike whether it exists or not.
async fn own_tenant(call: &mut Call) -> Result<(), Failure> {
    let named = call.path_text("tenant_id").await?;
    let caller = call.caller()?;
    if named == call.app.engine.tenant_name(caller.tenant) {
        return Ok(());
    }
    let reason = "is not the tenant of the token; call with a token of that tenant";
    Err(ApiError::at(ErrorCode::WrongTenant, "tenant_id", reason).into())
}

/// `GET /v1/policy/scope?path=`.
pub(super) async fn get_scope(call: Call) -> Result<Response, Failure> {
    let path = query_path(&call)?;
    get(call, PolicyTarget::Scope(path)).await
}

/// `PUT /v1/policy/scope?path=`.
pub(super) async fn put_scope(call: Call) -> Result<Response, Failure> {
    let path = query_path(&call)?;
    put(call, PolicyTarget::Scope(path)).await
}

/// `GET /v1/policy/scope/{scope_path}`, percent-encoded (C19).
pub(super) async fn get_scope_path(mut call: Call) -> Result<Response, Failure> {
    let path = path_of(Some(&call.path_text("scope_path").await?))?;
    get(call, PolicyTarget::Scope(path)).await
}

/// `PUT /v1/policy/scope/{scope_path}`.
pub(super) async fn put_scope_path(mut call: Call) -> Result<Response, Failure> {
    let path = path_of(Some(&call.path_text("scope_path").await?))?;
    put(call, PolicyTarget::Scope(path)).await
}

/// `GET /v1/policy/actor/{actor_id}`.
pub(super) async fn get_actor(mut call: Call) -> Result<Response, Failure> {
    let actor = path_actor(&mut call).await?;
    get(call, PolicyTarget::Actor(actor)).await
}

/// `PUT /v1/policy/actor/{actor_id}`.
pub(super) async fn put_actor(mut call: Call) -> Result<Response, Failure> {
    let actor = path_actor(&mut call).await?;
    put(call, PolicyTarget::Actor(actor)).await
}

fn query_path(call: &Call) -> Result<ScopePath, ApiError> {
    let pairs = call.pairs()?;
    path_of(Params::new(&pairs).raw("path")?)
}

async fn path_actor(call: &mut Call) -> Result<ActorId, ApiError> {
    let text = call.path_text("actor_id").await?;
    text.parse().map_err(|error: lamina_types::actor::ActorError| {
        ApiError::at(ErrorCode::InvalidId, "actor_id", error.to_string())
    })
}

async fn get(call: Call, target: PolicyTarget) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let permit = permit(&call.desk, &caller, &target).await?;
    let found = call.app.engine.policy_get(&permit, &target)?;
    reply::json(StatusCode::OK, &shape(&call, &target, found.as_deref()))
}

async fn put(mut call: Call, target: PolicyTarget) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let bytes = call.json_body(call.app.limits.body_bytes).await?;
    let body = PolicyBody::read(&bytes)?;
    let permit = permit(&call.desk, &caller, &target).await?;
    if let (PolicyPermit::Scope(permit), PolicyTarget::Scope(path)) = (&permit, &target) {
        scopes::reaches(&call.desk, &caller, permit, path).await?;
    }
    let document = document(&body)?;
    stays_open(&call, &caller, &target, &document)?;
    let stack = call.app.stack(&caller, None).await?;
    document
        .defaults
        .check_at(tier(&target), &stack.deployment.defaults, &caller)
        .map_err(|error| ApiError::invalid_shape("defaults", error.to_string()))?;
    let noted = call.noted("");
    // An empty document says nothing, which is the same as none.
    let kept = (document != Document::default() || target == PolicyTarget::Deployment)
        .then_some(&document);
    let set = call.app.engine.policy_set(&permit, target.clone(), kept, &noted).await?;
    reply::json(StatusCode::OK, &shape(&call, &target, set.as_deref()))
}

/// A policy that took away the right to change it would stay for good: no tier below can give back what
/// one denies, and operators are asked too.
fn stays_open(
    call: &Call,
    caller: &Caller,
    target: &PolicyTarget,
    document: &Document,
) -> Result<(), ApiError> {
    let denies = |needed: &&str| document.opinion(needed) == Some(Effect::Deny);
    let needed: &[&str] = match target {
        // Below the deployment silence inherits; there it denies.
        PolicyTarget::Deployment => {
            if document.opinion(PolicyAdministerDeployment::NAME) == Some(Effect::Allow) {
                return Ok(());
            }
            let reason = "must allow policy.administer.deployment, or nobody could change it again";
            return Err(ApiError::invalid_shape("allow", reason));
        }
        PolicyTarget::Tenant => &[PolicyAdministerTenant::NAME],
        // Who changes a `global:` scope needs that too.
        PolicyTarget::Scope(path) if path.has_type("global") => {
            &[PolicyAdministerScope::NAME, ScopeCreateGlobal::NAME]
        }
        PolicyTarget::Scope(_) => &[PolicyAdministerScope::NAME],
        PolicyTarget::Actor(actor) => {
            let tenant = call.app.engine.tenant_name(caller.tenant);
            let Some(denied) = ADMINISTERING.iter().find(|needed| denies(needed)) else {
                return Ok(());
            };
            if !call.app.gate.is_operator(&tenant, actor) {
                return Ok(());
            }
            let reason = format!(
                "must not deny {denied} of an operator, or nobody could repair a policy; allow \
                 policy.administer.*, or take the actor from auth.operators first"
            );
            return Err(ApiError::invalid_shape("deny", reason));
        }
    };
    let Some(denied) = needed.iter().find(|needed| denies(needed)) else { return Ok(()) };
    let reason = format!(
        "must not deny {denied}, or nobody could change it again; allow {denied} beside it, or name \
         what is to be denied"
    );
    Err(ApiError::invalid_shape("deny", reason))
}

/// What an operator repairs policies with.
const ADMINISTERING: &[&str] = &[
    PolicyAdministerDeployment::NAME,
    PolicyAdministerTenant::NAME,
    PolicyAdministerScope::NAME,
    PolicyAdministerActor::NAME,
];

/// The right to see and set a policy; that of somebody else's scope or of another actor takes more.
async fn permit(
    desk: &Desk,
    caller: &Caller,
    target: &PolicyTarget,
) -> Result<PolicyPermit, Failure> {
    match target {
        PolicyTarget::Deployment => Ok(PolicyPermit::Deployment(desk.permit(caller, None).await?)),
        PolicyTarget::Tenant => Ok(PolicyPermit::Tenant(desk.permit(caller, None).await?)),
        PolicyTarget::Scope(path) => {
            scopes::administers(desk, caller, path).await?;
            Ok(PolicyPermit::Scope(desk.permit(caller, Some(path)).await?))
        }
        PolicyTarget::Actor(actor) => {
            desk.ask(caller, &actor_policy_needs(&caller.actor, actor), None).await?;
            Ok(PolicyPermit::Actor(desk.permit(caller, None).await?))
        }
    }
}

/// The document of a body; errors name the rule or the setting.
fn document(body: &PolicyBody) -> Result<Document, ApiError> {
    let allow: Vec<&str> = body.allow.iter().map(String::as_str).collect();
    let deny: Vec<&str> = body.deny.iter().map(String::as_str).collect();
    let mut document = Document::from_lists(&allow, &deny).map_err(|error| misruled(&error))?;
    for (key, value) in &body.defaults {
        let field = format!("defaults.{key}");
        let Some(text) = setting(value) else {
            let reason = "must be a text, a number, true or false, or a list of texts";
            return Err(ApiError::invalid_shape(field, reason));
        };
        let set = document.defaults.set(key, &text);
        set.map_err(|error| ApiError::invalid_shape(field, innermost(&error)))?;
    }
    Ok(document)
}

/// A setting as the document takes it.
fn setting(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(items) => {
            let items: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            items.map(|items| items.join(","))
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// The refusal of a list of rules, by the place of the rule.
fn misruled(error: &DocumentError) -> ApiError {
    let field = match error {
        DocumentError::Rule { key, index, .. } => format!("{key}[{index}]"),
        DocumentError::TooManyRules { key } => (*key).to_owned(),
        _ => "body".to_owned(),
    };
    ApiError::invalid_shape(field, innermost(error))
}

/// What went wrong at the bottom of it: the outer sentences say where, which the field says too.
fn innermost(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}

pub(super) fn tier(target: &PolicyTarget) -> Tier {
    match target {
        PolicyTarget::Deployment => Tier::Deployment,
        PolicyTarget::Tenant => Tier::Tenant,
        PolicyTarget::Scope(_) => Tier::Scope,
        PolicyTarget::Actor(_) => Tier::Actor,
    }
}

fn shape(call: &Call, target: &PolicyTarget, record: Option<&PolicyRecord>) -> PolicyShape {
    let tenant =
        |call: &Call| call.caller().ok().map(|caller| call.app.engine.tenant_name(caller.tenant));
    PolicyShape {
        tier: tier(target).as_str().to_owned(),
        target: match target {
            PolicyTarget::Deployment => None,
            PolicyTarget::Tenant => tenant(call),
            PolicyTarget::Scope(path) => Some(path.to_string()),
            PolicyTarget::Actor(actor) => Some(actor.to_string()),
        },
        preset: call.app.preset().as_str().to_owned(),
        version: record.map_or(0, |record| record.version),
        updated_at: record.map(|record| time::print(record.recorded_at.0)),
        policy: record.map_or_else(PolicyBody::default, |record| body(&record.document)),
    }
}
