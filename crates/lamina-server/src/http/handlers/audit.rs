//! The audit log: rows, verification of bodies, the chain (R318-R320).

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::query::Params;
use lamina_api::v1::audit::{
    AuditChain, AuditQuery, AuditRequest, AuditRowBody, AuditSummary, AuditVerified,
    AuditVerifyRequest, ChainVerified,
};
use lamina_api::{Page, time};
use lamina_core::policy::Caller;
use lamina_engine::audit::{self, AuditFilter, AuditPermit, CHAIN, HASH, words_of};
use lamina_engine::erasure::ErasureCounts;
use lamina_types::capability::{AuditRead, AuditReadCrossActor};
use lamina_types::stdx::hex;
use lamina_types::{AuditId, AuditRow, Decision, ErasureId};

use crate::http::app::App;
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::reply;

/// What erasures came to, by the rows they began with.
type Erasures = BTreeMap<AuditId, (ErasureId, ErasureCounts)>;

/// `GET /v1/audit`.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let query = AuditQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let other = query.actor.as_ref().is_some_and(|actor| *actor != caller.actor);
    let permit = permit(&call.desk, &caller, other).await?;
    let decision = |allowed| if allowed { Decision::Allow } else { Decision::Deny };
    let engine = call.app.engine.clone();
    let mac = |bytes: &[u8]| engine.cursor_mac(caller.tenant, bytes);
    let question = audit::AuditQuery {
        filter: AuditFilter {
            actor: query.actor.clone(),
            capability: query.capability.clone(),
            decision: query.allowed.map(decision),
            scope: query.scope.clone(),
            since: query.since,
            until: query.until,
            words: query.words.as_deref().map(words_of).into_iter().flatten().collect(),
        },
        before: query.before(&caller.actor, &mac)?,
        limit: query.limit,
    };
    let page = engine.audit_rows(&permit, question).await?;
    let mut items: Vec<AuditRowBody> = Vec::with_capacity(page.items.len());
    let erased = erasures(&call.app, caller.tenant, &page.items).await?;
    items.extend(page.items.into_iter().map(|row| shown(&call.app, row, &erased)));
    let next = page.next.map(|number| query.next_cursor(number, &caller.actor, &mac));
    reply::json(StatusCode::OK, &Page::new(items, next))
}

/// `GET /v1/audit/{audit_id}`.
pub(super) async fn one(mut call: Call) -> Result<Response, Failure> {
    let id: AuditId = call.path_id("audit_id").await?;
    let caller = call.caller()?;
    let permit = permit(&call.desk, &caller, false).await?;
    let row = call.app.engine.audit_row(&permit, id).await?;
    let erased = erasures(&call.app, caller.tenant, std::slice::from_ref(&row)).await?;
    reply::json(StatusCode::OK, &shown(&call.app, row, &erased))
}

/// `POST /v1/audit/verify`.
pub(super) async fn verify(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let (id, text) = AuditVerifyRequest::read(&body)?;
    // Of a caller's own rows alone: whether a guessed body is that of somebody else is nobody's to ask.
    let own = call.desk.permit::<AuditRead>(&caller, None).await?;
    let permit = AuditPermit { own, others: None };
    let verdict = call.app.engine.audit_verify(&permit, id, text.as_bytes()).await?;
    let shape = AuditVerified {
        matches: verdict.matches,
        hashed_at: time::print(verdict.hashed_at),
        algorithm: HASH.to_owned(),
        tenant_pepper_version: verdict.pepper_version,
    };
    reply::json(StatusCode::OK, &shape)
}

/// `GET /v1/audit/chain`.
pub(super) async fn chain(call: Call) -> Result<Response, Failure> {
    let pairs = call.pairs()?;
    let actor = Params::new(&pairs).observed_actor()?;
    let caller = call.caller()?;
    let other = actor.as_ref().is_some_and(|actor| *actor != caller.actor);
    let permit = permit(&call.desk, &caller, other).await?;
    let chain = call.app.engine.audit_chain(&permit, actor).await?;
    let shape = AuditChain {
        head_hash: (chain.length > 0).then(|| hex::encode(&chain.head)),
        length: chain.length,
        legacy_rows: 0,
        algorithm: CHAIN.to_owned(),
    };
    reply::json(StatusCode::OK, &shape)
}

/// `POST /v1/audit/chain/verify`.
pub(super) async fn chain_verify(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    call.no_body().await?;
    let permit = permit(&call.desk, &caller, false).await?;
    let verified = call.app.engine.audit_chain_verify(&permit).await?;
    let shape = ChainVerified {
        valid: verified.holds,
        length: verified.chain.length,
        legacy_rows: 0,
        head_hash: (verified.chain.length > 0).then(|| hex::encode(&verified.chain.head)),
        algorithm: CHAIN.to_owned(),
        first_broken_index: verified.first_broken_index,
    };
    reply::json(StatusCode::OK, &shape)
}

/// One's own rows; others' if that is allowed too. Asking for another actor's without it is refused.
async fn permit(desk: &Desk, caller: &Caller, other: bool) -> Result<AuditPermit, Failure> {
    let own = desk.permit::<AuditRead>(caller, None).await?;
    if other {
        let others = Some(desk.permit::<AuditReadCrossActor>(caller, None).await?);
        return Ok(AuditPermit { own, others });
    }
    let stack = desk.app.stack(caller, None).await?;
    Ok(AuditPermit { own, others: stack.permit::<AuditReadCrossActor>(caller, None).ok() })
}

/// What the erasures came to that rows are about.
async fn erasures(app: &App, tenant: u32, rows: &[AuditRow]) -> Result<Erasures, Failure> {
    let about = rows.iter().filter(|row| row.gdpr).map(|row| row.id).collect();
    Ok(app.engine.erasures_audited(tenant, about).await?)
}

fn shown(app: &App, row: AuditRow, erased: &Erasures) -> AuditRowBody {
    let erasure = erased.get(&row.id);
    let who = row.who.unwrap_or_default();
    let hash = |hash: Option<[u8; 32]>| hash.map(|hash| format!("{HASH}:{}", hex::encode(&hash)));
    AuditRowBody {
        id: row.id.to_string(),
        ts: time::print(row.at),
        actor: who.actor.map(|actor| actor.to_string()),
        token_jti: who.token_jti,
        tenant_id: app.engine.tenant_name(row.tenant),
        scope: who.scope.map(|scope| scope.to_string()),
        endpoint: row.endpoint,
        capability: row.capability,
        decision: row.decision.as_str().to_owned(),
        decided_by_tier: row.decided_by_tier,
        request: AuditRequest {
            method: row.method,
            path: Some(who.path).filter(|path| !path.is_empty()),
            body_hash: hash(row.body_hash),
            headers_hash: hash(row.headers_hash),
            body_bytes: row.body_bytes,
        },
        response_status: row.response_status,
        event_id: row.event_id.map(|id| id.to_string()),
        client_ip: who.client_ip,
        user_agent: who.user_agent,
        request_id: Some(who.request_id).filter(|id| !id.is_empty()),
        elapsed_ms: row.elapsed_ms,
        gdpr: row.gdpr,
        erasure_id: erasure.map(|(id, _)| id.to_string()),
        summary: erasure.map(|(_, counts)| AuditSummary {
            deleted_events: counts.deleted_events,
            redacted_events: counts.redacted_events,
            deleted_facts: counts.deleted_facts,
            demoted_beliefs: counts.demoted_beliefs,
        }),
    }
}
