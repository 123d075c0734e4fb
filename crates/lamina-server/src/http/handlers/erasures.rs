//! `/v1/erasures` and `/v1/admin/legal-holds`.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::query::Params;
use lamina_api::v1::erasures::{
    AffectedWorkspace, Asked, CrossScopeReference, ErasureCancelled, ErasureJobBody,
    ErasureManifestBody, ErasurePreviewBody, ErasureProgress, ErasureRequest, ErasureStarted,
    HiddenReachBody, LeftAlone, LegalHoldBody, LegalHoldList, LegalHoldRequest, Preview,
    Propagation, RefcountBreakdown,
};
use lamina_api::{ApiError, time};
use lamina_core::policy::{Caller, Denial, DenialCode, Permit, Tier, is_of};
use lamina_engine::Error as EngineError;
use lamina_engine::erasure::{
    Affected, Certified, ErasureAsked, ErasureRights, ErasureStatus, HiddenReach, Hold, Manifest,
    Outcome, PHASES, PreviewOf,
};
use lamina_types::capability::{
    Capability as _, ForgetGdpr, ForgetGdprCrossWorkspace, PolicyAdministerTenant,
};
use lamina_types::stdx::hex;
use lamina_types::{ErasureId, ErasurePreviewId, ScopePath};

use super::forget::counts;
use super::scopes::reaches;
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::list_page::{ListPage, WholeList};
use crate::http::reply;

/// What an erasure would do.
pub(super) async fn preview(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let asked = asked(&mut call, ErasureRequest::preview).await?;
    let permit = permit(&call.desk, &caller, &asked.scope).await?;
    let scope = asked.scope.to_string();
    let rights = rights(&call.desk, &caller);
    let shown = call.app.engine.erasure_preview(&permit, &rights, &wanted(asked)).await?;
    let body = ErasurePreviewBody {
        preview_id: shown.id.to_string(),
        scope,
        estimated_affected: counts(shown.affected),
        refcount_breakdown: RefcountBreakdown {
            events_to_delete: shown.events.delete,
            events_to_redact: shown.events.redact,
            events_under_legal_hold: shown.events.held,
        },
        cross_scope_propagation: Propagation {
            affected_workspaces: shown.reaches.iter().map(workspace).collect(),
            requires_capability: shown.crosses.then(|| ForgetGdprCrossWorkspace::NAME.to_owned()),
            hidden: hidden(shown.hidden),
            left_alone: LeftAlone { scopes: shown.left_alone },
        },
        legal_holds: shown.holds.iter().map(hold).collect(),
        estimated_duration_ms: shown.duration_ms,
        mentions: shown.events.mentions,
        manifest_url: format!("/v1/erasures/preview/{}/manifest", shown.id),
    };
    let mut response = reply::json(StatusCode::OK, &body)?;
    if shown.replayed {
        reply::mark_replayed(&mut response);
    }
    Ok(response)
}

/// The full plan that a preview showed.
pub(super) async fn preview_manifest(mut call: Call) -> Result<Response, Failure> {
    let id: ErasurePreviewId = call.path_id("preview_id").await?;
    let caller = call.caller()?;
    let scope = call.app.engine.erasure_preview_scope(caller.tenant, id);
    let permit = sees(&call.desk, &caller, scope.ok().as_ref()).await?;
    let boot = call.app.boot();
    let manifest = call.app.engine.erasure_preview_manifest(&permit, boot, id).await?;
    reply::json(StatusCode::OK, &plan(&manifest))
}

/// Begins an erasure.
pub(super) async fn erase(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let asked = asked(&mut call, ErasureRequest::read).await?;
    let scope = asked.scope.clone();
    let permit = permit(&call.desk, &caller, &scope).await?;
    let noted = call.noted("");
    let rights = rights(&call.desk, &caller);
    // A pack that is kept may hold what goes.
    call.app.forget_packs_of(caller.tenant);
    let accepted = call.app.engine.erase(&permit, &rights, &wanted(asked), &noted).await;
    let accepted = accepted.inspect_err(|error| {
        if let EngineError::Denied(denial) = error {
            call.record.denied(denial, Some(&scope));
        }
    })?;
    if let Some(tier) = accepted.crosses {
        call.record.allowed(ForgetGdprCrossWorkspace::NAME, tier, Some(&scope));
    }
    let id = accepted.id;
    let body = ErasureStarted {
        erasure_id: id.to_string(),
        status: "running".to_owned(),
        manifest_url: format!("/v1/erasures/{id}/manifest"),
        lifecycle_stream: format!("/v1/lifecycle/stream?erasure_id={id}"),
    };
    let mut response = reply::json(StatusCode::ACCEPTED, &body)?;
    if accepted.replayed {
        reply::mark_replayed(&mut response);
    }
    Ok(response)
}

/// How far an erasure has come.
pub(super) async fn status(mut call: Call) -> Result<Response, Failure> {
    let (id, permit) = found(&mut call).await?;
    let caller = permit.caller();
    let status = call.app.engine.erasure(caller.tenant, id).await?;
    let certified = match status.outcome {
        Outcome::Completed => {
            call.app.engine.erasure_certificate(caller.tenant, id, &caller.actor).await?
        }
        _ => None,
    };
    if status.outcome != Outcome::Running {
        // What was packed while words were going is not kept either.
        call.app.forget_packs_of(caller.tenant);
    }
    reply::json(StatusCode::OK, &job(&status, certified))
}

/// The plan of an erasure.
pub(super) async fn manifest(mut call: Call) -> Result<Response, Failure> {
    let (id, permit) = found(&mut call).await?;
    let manifest = call.app.engine.erasure_manifest(&permit, call.app.boot(), id).await?;
    reply::json(StatusCode::OK, &plan(&manifest))
}

/// Asks an erasure to stop.
pub(super) async fn cancel(mut call: Call) -> Result<Response, Failure> {
    let (id, permit) = found(&mut call).await?;
    let tenant = permit.caller().tenant;
    let accepted = call.app.engine.erasure_cancel(tenant, id).await?;
    let status = call.app.engine.erasure(tenant, id).await?;
    let body = ErasureCancelled {
        erasure_id: id.to_string(),
        cancellation_accepted: accepted,
        deleted_events_before_cancel: status.counts.deleted_events,
        audit_id: status.audit_id.to_string(),
    };
    reply::json(StatusCode::OK, &body)
}

/// Puts a hold on a scope.
pub(super) async fn hold_put(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let (scope, reason) = LegalHoldRequest::read(&body)?;
    let permit = call.desk.permit::<PolicyAdministerTenant>(&caller, None).await?;
    keeps_hold(&call.desk, &caller, &permit, &scope).await?;
    let noted = call.noted("");
    let put = call.app.engine.legal_hold_put(&permit, &scope, &reason, &noted).await?;
    reply::json(StatusCode::OK, &hold(&put))
}

/// The holds of the tenant.
pub(super) async fn holds(call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let permit = call.desk.permit::<PolicyAdministerTenant>(&caller, None).await?;
    let all = call.app.engine.legal_holds(&permit).await?;
    let pairs = call.pairs()?;
    let items = all.iter().map(hold).collect();
    let whole = WholeList { app: &call.app, tenant: caller.tenant, name: "legal holds", items };
    let page = whole.page(&Params::new(&pairs), |it: &LegalHoldBody| it.scope.clone())?;
    let ListPage { items, next_cursor } = page;
    let has_more = next_cursor.is_some();
    reply::json(StatusCode::OK, &LegalHoldList { items, next_cursor, has_more })
}

/// Lifts the hold of a scope.
pub(super) async fn hold_lift(call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let pairs = call.pairs()?;
    let scope = Params::new(&pairs).scope()?;
    let permit = call.desk.permit::<PolicyAdministerTenant>(&caller, None).await?;
    keeps_hold(&call.desk, &caller, &permit, &scope).await?;
    let noted = call.noted("");
    call.app.engine.legal_hold_lift(&permit, &scope, &noted).await?;
    Ok(reply::empty())
}

/// Refuses to change a hold that somebody else placed: operators may, and the person whose scope is
/// held never.
async fn keeps_hold(
    desk: &Desk,
    caller: &Caller,
    permit: &Permit<PolicyAdministerTenant>,
    scope: &ScopePath,
) -> Result<(), Failure> {
    if !desk.app.gate.is_signed() {
        return Ok(());
    }
    let holds = desk.app.engine.legal_holds(permit).await?;
    let Some(placed) = holds.iter().find(|hold| hold.scope == *scope) else { return Ok(()) };
    let is_placer = placed.by.as_ref() == Some(&caller.actor);
    let is_held = scope.self_and_ancestors().iter().any(|above| is_of(above, &caller.actor));
    if (is_placer || caller.operator) && !is_held {
        return Ok(());
    }
    let denial = Denial {
        capability: PolicyAdministerTenant::NAME,
        tier: Tier::Tenant,
        preset: desk.app.preset(),
        remediation:
            "a legal hold is changed by the administrator who placed it or by an operator, \
                      and never by the person it is on; ask one of them"
                .to_owned(),
        code: DenialCode::PolicyDenied,
    };
    desk.record.denied(&denial, Some(scope));
    Err(denial.into())
}

/// The right to erase a scope. One that nobody has is not erased from above those that others have below it.
async fn permit(
    desk: &Desk,
    caller: &Caller,
    scope: &ScopePath,
) -> Result<Permit<ForgetGdpr>, Failure> {
    let permit = desk.permit::<ForgetGdpr>(caller, Some(scope)).await?;
    let membership = desk.app.stack(caller, Some(scope)).await?.membership;
    if !membership.registered && !membership.personal && !caller.administers() {
        reaches(desk, caller, &permit, scope).await?;
    }
    Ok(permit)
}

/// What decides how far an erasure of this caller reaches. Scopes below that others have are left alone,
/// and every scope outside is asked by its own policy.
fn rights(desk: &Desk, caller: &Caller) -> ErasureRights {
    let tenant = desk.app.engine.tenant_name(caller.tenant);
    ErasureRights { boot: desk.app.boot(), delegates: desk.app.gate.delegates(&tenant) }
}

type Read = fn(&[u8], Option<&str>) -> Result<Asked, ApiError>;

async fn asked(call: &mut Call, read: Read) -> Result<Asked, Failure> {
    let key = call.idempotency_key()?.map(str::to_owned);
    let body = call.json_body(call.app.limits.body_bytes).await?;
    Ok(read(&body, key.as_deref())?)
}

fn wanted(asked: Asked) -> ErasureAsked {
    let Asked { scope, events, preview, idempotency_key } = asked;
    let preview = preview.map(|preview| match preview {
        Preview::Erasure(id) => PreviewOf::Erasure(id),
        Preview::Forget(id) => PreviewOf::Forget(id),
    });
    ErasureAsked { scope, events, preview, idempotency_key }
}

/// The erasure that a path names, for whoever may erase its scope.
async fn found(call: &mut Call) -> Result<(ErasureId, Permit<ForgetGdpr>), Failure> {
    let id: ErasureId = call.path_id("erasure_id").await?;
    let caller = call.caller()?;
    let engine = call.app.engine.clone();
    let own = engine.erasure_home(caller.tenant, id).await;
    let shared = |tenant| engine.erasure_home(tenant, id);
    let scope = call.desk.found::<ForgetGdpr, _, _>(&caller, own, shared, |scope| scope).await;
    let permit = sees(&call.desk, &caller, scope.as_ref().ok()).await?;
    scope?;
    Ok((id, permit))
}

/// Whoever may not erase there does not learn whether it exists.
async fn sees(
    desk: &Desk,
    caller: &Caller,
    scope: Option<&ScopePath>,
) -> Result<Permit<ForgetGdpr>, Failure> {
    let permit = desk.permit::<ForgetGdpr>(caller, scope).await?;
    match scope {
        Some(_) => Ok(permit),
        None => {
            desk.record.forget();
            Err(EngineError::NotFound.into())
        }
    }
}

fn hidden(hidden: HiddenReach) -> HiddenReachBody {
    HiddenReachBody { scopes: hidden.scopes, events: hidden.events }
}

fn workspace(reached: &Affected) -> AffectedWorkspace {
    AffectedWorkspace {
        scope: reached.scope.to_string(),
        events_referenced: reached.events,
        co_owners: reached.co_owners.iter().map(ToString::to_string).collect(),
    }
}

fn hold(hold: &Hold) -> LegalHoldBody {
    LegalHoldBody {
        scope: hold.scope.to_string(),
        reason: hold.reason.clone(),
        placed_by: hold.by.as_ref().map(ToString::to_string),
        placed_at: time::print(hold.since),
    }
}

fn plan(manifest: &Manifest) -> ErasureManifestBody {
    fn texts<T: ToString>(ids: &[T]) -> Vec<String> {
        ids.iter().map(ToString::to_string).collect()
    }
    ErasureManifestBody {
        scope: manifest.scope.to_string(),
        events_to_delete: texts(&manifest.delete),
        events_to_redact: texts(&manifest.redact),
        events_under_legal_hold: texts(&manifest.held),
        cross_scope_references: manifest
            .references
            .iter()
            .map(|(event, scope)| CrossScopeReference {
                event_id: event.to_string(),
                scope: scope.to_string(),
            })
            .collect(),
        beliefs_to_demote: texts(&manifest.demoted),
        mentions: texts(&manifest.mentions),
        hidden: hidden(manifest.hidden),
        expires_at: time::print(manifest.expires),
    }
}

fn job(status: &ErasureStatus, certified: Option<Certified>) -> ErasureJobBody {
    let name = match status.outcome {
        Outcome::Running => "running",
        Outcome::Completed => "completed",
        Outcome::Cancelled => "cancelled",
    };
    let counts = status.counts;
    ErasureJobBody {
        erasure_id: status.id.to_string(),
        status: name.to_owned(),
        phase: PHASES.get(status.phase).copied().unwrap_or_default().to_owned(),
        fraction_complete: f64::from(status.done) / 10_000.0,
        progress: ErasureProgress {
            deleted_events: counts.deleted_events,
            redacted_events: counts.redacted_events,
            held_events: counts.held_events,
            deleted_facts: counts.deleted_facts,
            deleted_beliefs: counts.deleted_beliefs,
            demoted_beliefs: counts.demoted_beliefs,
            bytes_held: status.bytes.0,
            bytes_rewritten: status.bytes.1,
            elapsed_ms: status.elapsed_ms,
        },
        audit_id: (status.outcome == Outcome::Completed).then(|| status.audit_id.to_string()),
        scope_salt: certified.as_ref().and_then(|it| it.salt).map(|salt| hex::encode(&salt)),
        certificate: certified.and_then(|it| serde_json::from_str(&it.certificate).ok()),
    }
}
