//! `POST /v1/experience`: the hot path.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use lamina_api::ApiError;
use lamina_api::query::Params;
use lamina_api::v1::experience::response::{event_stream, stage_names};
use lamina_api::v1::experience::{
    AdmitContext, Admitted, ElapsedMs, ExperienceAccepted, ExperienceCompleted, Wait, identity,
    read,
};
use lamina_core::policy::{self, Caller, Denial, Permit};
use lamina_engine::{Captured, Error as EngineError, Progress, Until, Write};
use lamina_env::rng::draw;
use lamina_types::capability::{ScopeReadLocal, ScopeWrite};
use lamina_types::limits::WAIT_MS_MAX;
use lamina_types::stdx::hex;
use lamina_types::{Content, ErrorCode, EventId, Experience, Micros, ScopePath, Stage};

use super::status::first_use;
use crate::http::answer::Answer;
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::reply;
use crate::meters;

/// Writes one experience and waits for as long as the caller asked.
pub(super) async fn write(mut call: Call) -> Result<Response, Failure> {
    let wait = wait_of(&call)?;
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let Admitted { experience, warnings, key_drawn } = admit(&call, &caller, &body)?;
    drop(body);
    let permit = permit(&call.desk, &caller, &experience, "").await?;
    refers(&call.desk, &permit, &experience, "").await?;
    begin_consolidation(&call.desk, &caller, &experience).await?;
    let referred = Referred::by(&experience);
    let key = experience.idempotency_key.clone();
    let write = Write {
        identity: identity(&experience),
        experience,
        key_drawn,
        request_id: call.id.as_str().to_owned(),
    };
    let started = call.app.env.clock.monotonic();
    let captured = match call.app.engine.experience(&permit, write).await {
        Ok(captured) => captured,
        Err(error) => {
            let refused = RefusedWrite { key: &key, referred, error };
            return Err(refused.explain(&call.desk, &caller).await);
        }
    };
    call.record.event(captured.event_id);
    call.record.audit_id(captured.audit_id);
    let took_us = call.app.env.clock.monotonic().0 - started.0;
    if !captured.replayed {
        metrics::counter!(meters::EXPERIENCES).increment(1);
    }
    let warnings = with_replay_warning(warnings, &captured);
    let mut response = match wait {
        Wait::Accepted => accepted(&captured, &warnings, None)?,
        Wait::Captured => {
            let waited = Waited { progress: &just_captured(), wait };
            completed(&captured, &warnings, waited, took_us, Vec::new())?
        }
        Wait::Indexed | Wait::Consolidated | Wait::Settled => {
            let until = until(wait);
            let longest = Duration::from_millis(WAIT_MS_MAX);
            let engine = &call.app.engine;
            let tenant = permit.caller().tenant;
            match engine.wait_for(tenant, captured.event_id, until, longest).await {
                Ok(progress) if is_reached(until, &progress) => {
                    let derives = engine.derived_from(tenant, captured.event_id).await?;
                    let waited = Waited { progress: &progress, wait };
                    completed(&captured, &warnings, waited, took_us, derives)?
                }
                Ok(progress) => accepted(&captured, &warnings, Some(&progress))?,
                // The write is durable, whatever became of waiting for the rest.
                Err(_) => accepted(&captured, &warnings, None)?,
            }
        }
    };
    for warning in &warnings {
        reply::warn(&mut response, warning);
    }
    if captured.replayed {
        response.headers_mut().insert(reply::REPLAY, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// A write that the engine refused.
struct RefusedWrite<'a> {
    key: &'a str,
    referred: Referred,
    error: EngineError,
}

impl RefusedWrite<'_> {
    /// The refusal, in terms of the body.
    async fn explain(self, desk: &Desk, caller: &Caller) -> Failure {
        match self.error {
            EngineError::IdempotencyConflict { .. } => {
                used_key(desk, caller, self.key, "").await.into()
            }
            error => self.referred.explain(error, ""),
        }
    }
}

/// Reads and checks a body and answers as if it had been written.
pub(in crate::http) fn admit_only(mut call: Call) -> Answer {
    Box::pin(async move {
        let caller = call.caller()?;
        let body = call.json_body(call.app.limits.body_bytes).await?;
        let Admitted { experience, warnings, .. } = admit(&call, &caller, &body)?;
        let permit = permit(&call.desk, &caller, &experience, "").await?;
        refers(&call.desk, &permit, &experience, "").await?;
        let nowhere = EventId::mint(Micros(0), [0; 8]);
        reply::json(StatusCode::ACCEPTED, &ExperienceAccepted::new(nowhere, 0, warnings))
    })
}

pub(super) fn wait_of(call: &Call) -> Result<Wait, ApiError> {
    if call.head.uri.query().is_none() {
        return Ok(Wait::Accepted);
    }
    let pairs = call.pairs()?;
    Wait::parse(Params::new(&pairs).one("wait")?)
}

fn admit(call: &Call, caller: &Caller, body: &Bytes) -> Result<Admitted, ApiError> {
    with_context(call, caller, |context| read(body, context))
}

/// What admission needs to know of this request.
pub(super) fn with_context<T>(
    call: &Call,
    caller: &Caller,
    admit: impl FnOnce(&AdmitContext<'_>) -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    let app = &*call.app;
    // Which types may be created is for the policy to say, when it is asked for the write.
    let any_type = |_: &str| true;
    let generated = || hex::encode(&draw::<16>(&*app.env.rng));
    admit(&AdmitContext {
        caller: &caller.actor,
        now: app.engine.now(),
        strictness: app.strictness,
        header_idempotency_key: call.idempotency_key()?,
        generated_key: &generated,
        scope_type_allowed: &any_type,
    })
}

/// The right to write where the experience wants to be written, on both ends (R097, R432).
pub(crate) async fn permit(
    desk: &Desk,
    caller: &Caller,
    experience: &Experience,
    at: &str,
) -> Result<Permit<ScopeWrite>, Failure> {
    if let Some(second) = &experience.directives.consolidate_into {
        let shares = desk.app.preset().is_shared();
        if shares && second.is_shared() != experience.scope.is_shared() {
            let field = format!("{at}directives.consolidate_into");
            let reason = "is shared by all tenants and the scope is not, or the other way round; \
                          nothing is derived from one to the other";
            return Err(ApiError::invalid_envelope(field, reason).into());
        }
        if let Err(denial) = consolidation(desk, caller, experience, second).await? {
            let field = format!("{at}directives.consolidate_into");
            return Err(ApiError::invalid_envelope(field, denial.to_string()).into());
        }
    }
    desk.permit_write(caller, experience, at).await
}

/// The right to write where an experience is consolidated to: that of a write in the same names.
async fn consolidation(
    desk: &Desk,
    caller: &Caller,
    experience: &Experience,
    scope: &ScopePath,
) -> Result<Result<Permit<ScopeWrite>, Denial>, Failure> {
    let stack = desk.app.stack(caller, Some(scope)).await?;
    let write = policy::Write {
        scope,
        observed_actor: &experience.observed_actor.id,
        subject: &experience.subject,
        creates: !stack.membership.registered,
    };
    Ok(stack.permit_write(caller, &write))
}

/// Makes the scope that an experience is consolidated into, if it is not there: this is a first write
/// to it.
pub(crate) async fn begin_consolidation(
    desk: &Desk,
    caller: &Caller,
    experience: &Experience,
) -> Result<(), Failure> {
    let Some(scope) = &experience.directives.consolidate_into else { return Ok(()) };
    let stack = desk.app.stack(caller, Some(scope)).await?;
    if *scope == experience.scope || stack.membership.registered {
        return Ok(());
    }
    let permit = consolidation(desk, caller, experience, scope).await?.map_err(Failure::from)?;
    let permit = desk.registers_below(permit, scope).await?;
    Ok(desk.app.engine.scope_begin(&permit, scope).await?)
}

/// Refuses blobs that the caller may not read: one that refers to a blob lets others of its scope read it.
pub(crate) async fn refers(
    desk: &Desk,
    permit: &Permit<ScopeWrite>,
    experience: &Experience,
    at: &str,
) -> Result<(), Failure> {
    let engine = &desk.app.engine;
    let referred = Referred::by(experience);
    for (blob, id) in experience.content.blobs().into_iter().enumerate() {
        let sight = engine.sight::<ScopeReadLocal, _>(desk.app.boot(), permit).await;
        if !engine.blob_is_seen(sight, id).await? {
            return Err(referred.explain(EngineError::UnknownBlob { index: 0, blob }, at));
        }
    }
    Ok(())
}

/// Where an experience names its blobs, to say which of them is unknown after it was given away.
#[derive(Debug, Clone, Copy)]
pub(super) struct Referred {
    own_blob: bool,
}

impl Referred {
    pub(super) fn by(experience: &Experience) -> Referred {
        Referred { own_blob: matches!(experience.content, Content::BlobRef { .. }) }
    }

    /// The engine's refusal, in terms of the body. `at` is the place of the item in a bulk write.
    pub(super) fn explain(self, error: EngineError, at: &str) -> Failure {
        match &error {
            EngineError::UnknownBlob { blob, .. } => {
                let field = match (self.own_blob, blob) {
                    (true, 0) => format!("{at}content.blob_id"),
                    (true, index) => format!("{at}content.media[{}].blob_id", index - 1),
                    (false, index) => format!("{at}content.media[{index}].blob_id"),
                };
                ApiError::invalid_envelope(field, "there is no such blob").into()
            }
            _ => error.into(),
        }
    }
}

/// The refusal of a key that was used with another body. It names the scope of the first use, if the
/// caller may read it: keys are unique per caller, whatever scope they are used in (R429).
pub(super) async fn used_key(desk: &Desk, caller: &Caller, key: &str, at: &str) -> ApiError {
    let first = first_use(desk, caller, key).await;
    let place = first.as_ref().map(|scope| format!(" in `{scope}`")).unwrap_or_default();
    let reason = format!(
        "was used before with another body{place}; a key is one per caller, not per scope: put the id of \
         the conversation into it"
    );
    let field = format!("{at}idempotency_key");
    let error = ApiError::at(ErrorCode::IdempotencyConflict, field, reason);
    let error = error.with("idempotency_key", key);
    match first {
        Some(scope) => error.with("first_used_in", scope.as_str()),
        None => error,
    }
}

pub(super) fn with_replay_warning(mut warnings: Vec<String>, captured: &Captured) -> Vec<String> {
    if captured.hints_conflict {
        warnings.push("conflicting_hint_on_replay".to_owned());
    }
    warnings
}

pub(super) fn until(wait: Wait) -> Until {
    match wait {
        Wait::Settled => Until::Settled,
        other => Until::Stage(other.stage().unwrap_or(Stage::Captured)),
    }
}

fn is_reached(until: Until, progress: &Progress) -> bool {
    match until {
        Until::Stage(stage) => progress.completed.contains(&stage),
        Until::Settled => progress.settled,
    }
}

/// The name of the last completed stage. Whatever was acknowledged is captured.
pub(super) fn status(progress: &Progress) -> String {
    progress.completed.last().unwrap_or(&Stage::Captured).as_str().to_owned()
}

fn just_captured() -> Progress {
    Progress { completed: vec![Stage::Captured], ..Progress::default() }
}

fn accepted(
    captured: &Captured,
    warnings: &[String],
    progress: Option<&Progress>,
) -> Result<Response, Failure> {
    let mut shape =
        ExperienceAccepted::new(captured.event_id, captured.wal_offset, warnings.to_vec());
    shape.replayed_from_idempotency = captured.replayed;
    if let Some(progress) = progress {
        shape.status = status(progress);
        shape.stages_completed = Some(stage_names(&progress.completed));
    }
    reply::json(StatusCode::ACCEPTED, &shape)
}

/// A wait that ended, and how far the event has come by then.
#[derive(Debug, Clone, Copy)]
struct Waited<'a> {
    progress: &'a Progress,
    wait: Wait,
}

fn completed(
    captured: &Captured,
    warnings: &[String],
    waited: Waited<'_>,
    capture_us: i64,
    derives: Vec<String>,
) -> Result<Response, Failure> {
    let Waited { progress, wait } = waited;
    // The stage that was waited for; others may have followed while the answer was made (R247).
    let stage = wait.stage().filter(|stage| progress.completed.contains(stage));
    let shape = ExperienceCompleted {
        event_id: captured.event_id.to_string(),
        status: stage.map_or_else(|| status(progress), |stage| stage.as_str().to_owned()),
        wal_offset: captured.wal_offset,
        lifecycle_stream: Some(event_stream(captured.event_id)),
        stages_completed: stage_names(&progress.completed),
        derives,
        elapsed_ms: elapsed(capture_us, progress),
        warnings: warnings.to_vec(),
        replayed_from_idempotency: captured.replayed,
    };
    reply::json(StatusCode::OK, &shape)
}

/// What this request spent on the capture, and what the pipeline reports of the other stages that are
/// complete. One whose history has expired since cost this request nothing.
fn elapsed(capture_us: i64, progress: &Progress) -> ElapsedMs {
    let milliseconds = |micros: i64| Some(micros as f64 / 1_000.0);
    let mut elapsed = ElapsedMs { capture: milliseconds(capture_us), ..ElapsedMs::default() };
    for stage in &progress.completed {
        let field = match stage {
            Stage::Captured => continue,
            Stage::Extracted => &mut elapsed.extract,
            Stage::Indexed => &mut elapsed.index,
            Stage::Consolidated => &mut elapsed.consolidate,
            Stage::Compressed => &mut elapsed.compress,
        };
        let took = progress.elapsed_us.iter().find(|(known, _)| known == stage);
        *field = milliseconds(took.map_or(0, |(_, micros)| *micros));
    }
    elapsed
}

#[cfg(test)]
mod tests;
