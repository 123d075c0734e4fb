//! Tokens made by the server itself, where the operator has given it a key (C43).

use std::collections::BTreeSet;

use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use lamina_api::v1::auth::{MintRequest, MintedToken, SignedUp, SignupRequest};
use lamina_api::{ApiError, time};
use lamina_auth::MintError;
use lamina_core::policy::{Caller, Grant, GrantError, Tier};
use lamina_types::capability::{AuthMint, Capability as _};
use lamina_types::{ActorId, AuditRow, AuditWho, Decision, ErrorCode, Micros};

use crate::auth::minting::{Minted, Minting, Order};
use crate::auth::narrow::{Held, Refused, Wish, narrow};
use crate::http::App;
use crate::http::call::Call;
use crate::http::failure::{Failure, chain, internal};
use crate::http::listen::Peer;
use crate::http::reply;

/// How long a token lives unless the request says.
const TTL_S: u64 = 3_600;
const SECOND_US: i64 = 1_000_000;
/// Bytes of a request to sign up: three short texts.
const SIGNUP_BYTES_MAX: u64 = 16 << 10;
/// The kind of account that newcomers have.
const FREE: &str = "free";
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// `POST /v1/auth/tokens`: for somebody else or for oneself, never wider than the caller's own.
pub(super) async fn mint(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let app = call.app.clone();
    let minting = app.gate.minting().ok_or_else(not_configured)?;
    let body = call.json_body(app.limits.body_bytes).await?;
    let (request, sub) = MintRequest::read(&body)?;
    call.desk.permit::<AuthMint>(&caller, None).await?;
    let wish = wish(&request)?;
    let held = narrow(&held(&app, &caller).await?, &wish).map_err(|why| refused(&call, &why))?;
    let (iat, exp) = life(minting, &caller, &sub, request.ttl_seconds, app.engine.now())?;
    let tenant = app.engine.tenant_name(caller.tenant).parse();
    let tenant = tenant.map_err(|_| internal("the name of a tenant is not one"))?;
    let minted = minting.mint(Order { sub, tenant, iat, exp, held }).map_err(unmintable)?;
    tracing::info!(jti = minted.jti, "a token was minted");
    let Minted { token, jti, exp } = minted;
    let shape = MintedToken { token, jti, expires_at: time::print(exp) };
    let mut response = reply::json(StatusCode::CREATED, &shape)?;
    response.headers_mut().insert(CACHE_CONTROL, NO_STORE);
    Ok(response)
}

/// `POST /v1/auth/signup`: a new user with a scope of its own, if the operator lets strangers in.
pub(super) async fn signup(mut call: Call) -> Result<Response, Failure> {
    let app = call.app.clone();
    let minting = app.gate.minting().ok_or_else(not_configured)?;
    let body = call.optional_json_body(SIGNUP_BYTES_MAX).await?;
    SignupRequest::read(&body)?;
    let signup = minting.signup().ok_or_else(|| closed(&call))?;
    let peer = call.head.extensions.get::<Peer>().map(|peer| peer.0.ip());
    signup.admit(peer)?;
    let tenant = app.engine.tenant_or_register(&signup.tenant).await?;
    let now = app.engine.now();
    let (order, scope) = minting.newcomer(signup, now);
    let sub = order.sub.clone();
    let minted = minting.mint(order).map_err(unmintable)?;
    let client_ip = peer.map(|address| address.to_string());
    app.engine.audit(row(&call, tenant, now, &sub, &minted, client_ip));
    tracing::info!(jti = minted.jti, "a user has signed up");
    let Minted { token, jti, exp } = minted;
    let shape = SignedUp {
        token,
        user_id: sub.to_string(),
        scope: scope.to_string(),
        jti,
        expires_at: time::print(exp),
        tier: FREE.to_owned(),
    };
    let mut response = reply::json(StatusCode::OK, &shape)?;
    response.headers_mut().insert(CACHE_CONTROL, NO_STORE);
    Ok(response)
}

fn not_configured() -> ApiError {
    let text = "This server makes no tokens: have the operator set `auth.minting.key`, or get one \
                from the issuer.";
    ApiError::new(ErrorCode::NotConfigured, text)
}

fn closed(call: &Call) -> ApiError {
    let remediation = "ask the operator for a token";
    let text = format!("Nobody can sign up here; {remediation}.");
    ApiError::new(ErrorCode::PolicyDenied, text)
        .with("capability", AuthMint::NAME)
        .with("denied_by_tier", Tier::Deployment.as_str())
        .with("decided_by_tier", Tier::Deployment.as_str())
        .with("deployment_preset", call.app.preset().as_str())
        .with("remediation", remediation)
}

/// What the caller can hand on: what it may do in the whole tenant, and what its token ties to a part
/// of the tree.
async fn held(app: &App, caller: &Caller) -> Result<Held, Failure> {
    let stack = app.stack(caller, None).await?;
    let everywhere = stack.effective(caller, None).into_iter();
    let mut caps: BTreeSet<String> = everywhere
        .filter(|(_, decided)| decided.is_ok())
        .map(|(name, _)| name.to_owned())
        .collect();
    let tied = caller.grant.as_ref().map(|grant| grant.scopes.clone()).unwrap_or_default();
    let mut scopes = Vec::new();
    for (name, prefix) in tied {
        let stack = app.stack(caller, Some(prefix.path())).await?;
        if stack.allows(caller, &name, Some(prefix.path())).is_ok() {
            caps.insert(name.clone());
            scopes.push((name, prefix));
        }
    }
    Ok(Held { caps, scopes })
}

/// What is asked for, in names that exist.
fn wish(request: &MintRequest) -> Result<Wish, ApiError> {
    let bad = |field: &str, error: GrantError| ApiError::invalid_shape(field, error.to_string());
    let caps = request.caps.as_ref().map(|caps| Grant::read_caps(caps.iter().map(String::as_str)));
    let caps = caps.transpose().map_err(|error| bad("caps", error))?;
    let scopes = request.scopes.iter().flatten().map(String::as_str);
    let scopes = Grant::read_scopes(scopes).map_err(|error| bad("scopes", error))?;
    let scope = request.scope.as_ref().map(|scope| scope.parse()).transpose();
    let scope = scope.map_err(|error: lamina_types::scope::ScopeError| {
        ApiError::invalid_shape("scope", error.to_string())
    })?;
    Ok(Wish { caps, scopes, scope })
}

/// A wish that is wider than the caller is denied by its own token or policy; one that contradicts
/// itself is a mistake.
fn refused(call: &Call, why: &Refused) -> Failure {
    let (capability, remediation) = match why {
        Refused::NotHeld(name) => (
            name.as_str(),
            format!("ask for capabilities that the caller has itself; it has no {name}"),
        ),
        Refused::Mint => {
            (AuthMint::NAME, "a minted token cannot mint; get one from the issuer".to_owned())
        }
        Refused::Outside(name) => (
            name.as_str(),
            format!("the caller has {name} in other parts of the tree only; ask for one of them"),
        ),
        Refused::Stray(name) => {
            let reason = format!("names {name}, which the token would not have; add it to `caps`");
            return ApiError::invalid_shape("scopes", reason).into();
        }
        Refused::OutsideOwn(name) => {
            let reason =
                format!("has an entry for {name} outside of `scope`; leave one of them out");
            return ApiError::invalid_shape("scopes", reason).into();
        }
        Refused::TooMany => {
            return ApiError::invalid_shape("scopes", "make too many entries: name fewer `caps`")
                .into();
        }
    };
    let tier = Tier::Actor.as_str();
    ApiError::new(
        ErrorCode::PolicyDenied,
        format!("The token would be wider than the caller's: {remediation}."),
    )
    .with("capability", capability)
    .with("denied_by_tier", tier)
    .with("decided_by_tier", tier)
    .with("deployment_preset", call.app.preset().as_str())
    .with("remediation", remediation)
    .into()
}

/// From when to when. Nobody prolongs its own token.
fn life(
    minting: &Minting,
    caller: &Caller,
    sub: &ActorId,
    ttl_s: Option<u64>,
    now: Micros,
) -> Result<(Micros, Micros), ApiError> {
    if sub.kind() == "system" {
        return Err(ApiError::invalid_shape(
            "subject",
            "is the database itself; name a user, an agent or a service",
        ));
    }
    let most = minting.ttl_s_max(sub);
    let ttl_s = ttl_s.unwrap_or(TTL_S.min(most));
    if ttl_s > most {
        return Err(ApiError::invalid_shape("ttl_seconds", format!("must be at most {most}")));
    }
    let exp =
        now.plus(i64::try_from(ttl_s).unwrap_or(i64::MAX / SECOND_US).saturating_mul(SECOND_US));
    let own = caller.grant.as_ref().filter(|_| *sub == caller.actor).map(|grant| grant.exp);
    Ok((now, own.map_or(exp, |own| own.min(exp))))
}

/// The checks above leave only a token that is too long, or one that ends at once.
fn unmintable(error: MintError) -> Failure {
    match error {
        MintError::Refused(why) => {
            ApiError::invalid_shape("caps", format!("make a token that no server takes: {why}"))
                .into()
        }
        other => internal(chain(&other)),
    }
}

/// The row of a signup: it has no caller before, so nothing else writes one.
fn row(
    call: &Call,
    tenant: u32,
    now: Micros,
    sub: &ActorId,
    minted: &Minted,
    client_ip: Option<String>,
) -> AuditRow {
    AuditRow {
        id: call.app.engine.audit_id(),
        at: now,
        tenant,
        endpoint: "POST /v1/auth/signup".to_owned(),
        capability: AuthMint::NAME.to_owned(),
        decision: Decision::Allow,
        decided_by_tier: Tier::Deployment.as_str().to_owned(),
        method: call.head.method.as_str().to_owned(),
        body_hash: None,
        headers_hash: None,
        body_bytes: None,
        pepper_version: 0,
        response_status: Some(StatusCode::OK.as_u16()),
        event_id: None,
        elapsed_ms: None,
        gdpr: false,
        recovered: false,
        who: Some(AuditWho {
            token_jti: Some(minted.jti.clone()),
            actor: Some(sub.clone()),
            scope: None,
            path: call.head.uri.path().to_owned(),
            client_ip,
            user_agent: None,
            request_id: call.id.as_str().to_owned(),
        }),
    }
}
