//! Revoking tokens (R337, C51), and what an operator does to the storage (R335).

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::v1::admin::{Compaction, Flushed};
use lamina_api::v1::auth::RevokeRequest;
use lamina_types::capability::{AdminCompact, AdminFlush, AuthRevoke};
use lamina_types::limits::SERVICE_TOKEN_LIFE_US_MAX;

use crate::http::call::Call;
use crate::http::failure::{Failure, denied};
use crate::http::reply;

/// `POST /v1/auth/revoke`: one's own token, or as an operator anybody's.
pub(super) async fn revoke(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let request = RevokeRequest::read(&body)?;
    let permit = call.desk.permit::<AuthRevoke>(&caller, None).await?;
    let own = caller.grant.as_ref().filter(|grant| grant.jti == request.jti);
    if own.is_none() && !caller.operator {
        return Err(only_own(&call, &caller));
    }
    // No token lives longer, so neither needs its revocation. When a token ends is known for sure of the
    // caller's own alone: a revocation that ends before its token would let that in again.
    let longest = call.app.engine.now().plus(SERVICE_TOKEN_LIFE_US_MAX);
    let exp = own.map_or(longest, |grant| grant.exp.min(longest));
    let iss = own.filter(|_| !caller.operator).map(|grant| grant.iss.as_str());
    let noted = call.noted("");
    call.app.engine.revoke(&permit, iss, &request.jti, exp, &noted).await?;
    Ok(reply::empty())
}

/// Somebody else's token is for an operator to revoke.
fn only_own(call: &Call, caller: &lamina_core::policy::Caller) -> Failure {
    let denial = lamina_core::policy::Denial {
        capability: "auth.revoke",
        tier: lamina_core::policy::Tier::Deployment,
        preset: call.app.preset(),
        remediation: format!(
            "{} may revoke the token it calls with; ask an operator to revoke another",
            caller.actor
        ),
        code: lamina_core::policy::DenialCode::PolicyDenied,
    };
    call.record.denied(&denial, None);
    denied(&denial).into()
}

/// `POST /v1/admin/flush-views`.
pub(super) async fn flush(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    call.no_body().await?;
    let permit = call.desk.permit::<AdminFlush>(&caller, None).await?;
    let durable_to = call.app.engine.flush(&permit).await?;
    reply::json(StatusCode::OK, &Flushed { durable_to })
}

/// `POST /v1/admin/compact`.
pub(super) async fn compact(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    call.no_body().await?;
    let permit = call.desk.permit::<AdminCompact>(&caller, None).await?;
    let done = call.app.engine.compact(&permit).await?;
    let (bytes_before, bytes_after) = (done.bytes_before, done.bytes_after);
    reply::json(StatusCode::OK, &Compaction { bytes_before, bytes_after })
}
