//! `POST /v1/forget` and `POST /v1/forget/preview`.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::time;
use lamina_api::v1::forget::{Asked, ForgetPreviewBody, ForgetRequest, ForgottenBody, LayerCounts};
use lamina_core::policy::Caller;
use lamina_engine::forget::{Counts, ForgetAsked, ForgetPermit, Forgotten};
use lamina_types::capability::{
    Capability as _, ForgetCascadeDerivedOnly, ForgetCascadeRedactEvents,
};
use lamina_types::forget::{Cascade, Forget};

use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::reply;

/// What went is not yet out of the files of the search index.
const NOT_PURGED: &str = "search_index_not_purged_yet";

/// Forgets what is selected.
pub(super) async fn forget(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let asked = asked(&mut call).await?;
    let permit = permit(&call.desk, &caller, &asked.forget).await?;
    let noted = call.noted("");
    // A pack that is kept may hold what goes.
    call.app.forget_packs_of(caller.tenant);
    let done = call.app.engine.forget(permit, wanted(asked), noted).await;
    call.app.forget_packs_of(caller.tenant);
    answered(&done?)
}

fn answered(done: &Forgotten) -> Result<Response, Failure> {
    let body = ForgottenBody {
        deleted: counts(done.deleted),
        requested: done.requested,
        matched: done.matched,
        audit_id: done.audit_id.to_string(),
    };
    let mut response = reply::json(StatusCode::OK, &body)?;
    if done.replayed {
        reply::mark_replayed(&mut response);
    }
    if !done.purged {
        reply::warn(&mut response, NOT_PURGED);
    }
    Ok(response)
}

/// What would be forgotten.
pub(super) async fn preview(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let asked = asked(&mut call).await?;
    let permit = permit(&call.desk, &caller, &asked.forget).await?;
    let scope = asked.forget.scope.to_string();
    let shown = call.app.engine.forget_preview(&permit, &wanted(asked)).await?;
    let body = ForgetPreviewBody {
        preview_id: shown.id.to_string(),
        scope,
        estimated_deleted: counts(shown.deleted),
        requested: shown.requested,
        matched: shown.matched,
        expires_at: time::print(shown.expires),
    };
    reply::json(StatusCode::OK, &body)
}

async fn asked(call: &mut Call) -> Result<Asked, Failure> {
    let key = call.idempotency_key()?.map(str::to_owned);
    let body = call.json_body(call.app.limits.body_bytes).await?;
    Ok(ForgetRequest::read(&body, key.as_deref())?)
}

/// The right to go as far as it is asked (R270).
async fn permit(desk: &Desk, caller: &Caller, forget: &Forget) -> Result<ForgetPermit, Failure> {
    let scope = Some(&forget.scope);
    Ok(match forget.cascade {
        Cascade::DerivedOnly => {
            let permit = desk.permit::<ForgetCascadeDerivedOnly>(caller, scope).await?;
            // What others said stands in a scope that somebody has; on one's own words one decides oneself.
            let stack = desk.app.stack(caller, scope).await?;
            let name = ForgetCascadeDerivedOnly::NAME;
            match stack.keeps_from(permit.caller(), name, &forget.scope) {
                None => ForgetPermit::DerivedOnly(permit),
                Some(why) => ForgetPermit::DerivedOwn(permit, Box::new(why)),
            }
        }
        Cascade::RedactEvents => {
            let permit = desk.permit::<ForgetCascadeRedactEvents>(caller, scope).await?;
            // What somebody else has keeps the words of others; those of one's own are one's own.
            let stack = desk.app.stack(caller, scope).await?;
            let name = ForgetCascadeRedactEvents::NAME;
            match stack.keeps_from(permit.caller(), name, &forget.scope) {
                None => ForgetPermit::RedactEvents(permit),
                Some(why) => ForgetPermit::RedactOwn(permit, Box::new(why)),
            }
        }
    })
}

fn wanted(asked: Asked) -> ForgetAsked {
    let Asked { forget, requested, preview, idempotency_key } = asked;
    ForgetAsked { forget, requested: requested as u64, preview, idempotency_key }
}

pub(super) fn counts(counts: Counts) -> LayerCounts {
    let Counts { events, episodes, facts, beliefs, understanding } = counts;
    LayerCounts { events, episodes, facts, beliefs, understanding }
}

#[cfg(test)]
mod tests;
