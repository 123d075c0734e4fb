//! `/v1/import`: begin, look at and stop imports (R321-R328).

use std::sync::Arc;
use std::time::Duration;

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use lamina_api::ApiError;
use lamina_api::query::Params;
use lamina_api::v1::experience::Strictness;
use lamina_api::v1::import::{
    CheckedImport, ImportAccepted, ImportCancelled, ImportInput, ImportRequest, ImportTarget,
    read_upload,
};
use lamina_api::v1::keyed;
use lamina_core::policy::Caller;
use lamina_engine::Error as EngineError;
use lamina_engine::import::{ImportRequest as EngineRequest, StagedFile};
use lamina_portable::foreign::Format;
use lamina_types::capability;
use lamina_types::{ErrorCode, ImportId, MemberRole, ScopePath};

use super::blocking;
use crate::http::App;
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::reply;
use crate::transfer::import::permission::check_person;
use crate::transfer::import::source::{SourceFault, open_source, read_options, recognize};
use crate::transfer::import::{Imports, JobHead, JobNumbers, JobSpec, NewImport, TooManyImports};

mod stage;

/// A source of at most this size is waited for, so that the answer of a small import has its numbers.
const AWAITED_BYTES_MAX: u64 = 4 << 20;
const AWAITED_TIME: Duration = Duration::from_secs(5);
/// The format of a request that names none in its path, query or body.
const DEFAULT_FORMAT: Format = Format::Jsonl;
/// The format that is left to recognition.
const AUTO: &str = "auto";

/// `POST /v1/import`: the format is named in the query or in the body, or recognized.
pub(super) async fn any(call: Call) -> Result<Response, Failure> {
    begin(call, None).await
}

/// `POST /v1/import/mem0`.
pub(super) async fn mem0(call: Call) -> Result<Response, Failure> {
    begin(call, Some(Format::Mem0)).await
}

/// `POST /v1/import/zep`.
pub(super) async fn zep(call: Call) -> Result<Response, Failure> {
    begin(call, Some(Format::Zep)).await
}

/// `POST /v1/import/letta`.
pub(super) async fn letta(call: Call) -> Result<Response, Failure> {
    begin(call, Some(Format::Letta)).await
}

/// `POST /v1/import/openai`.
pub(super) async fn openai(call: Call) -> Result<Response, Failure> {
    begin(call, Some(Format::ChatGpt)).await
}

/// `POST /v1/import/jsonl`.
pub(super) async fn jsonl(call: Call) -> Result<Response, Failure> {
    begin(call, Some(Format::Jsonl)).await
}

/// The format that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AskedFormat {
    Named(Format),
    /// To be recognized.
    Auto,
}

/// A request whose source is staged.
struct StagedImport {
    checked: CheckedImport,
    staged: StagedFile,
    format: AskedFormat,
    /// Identifies the request under its idempotency key.
    identity: Vec<u8>,
}

async fn begin(mut call: Call, of_path: Option<Format>) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let pairs = call.pairs()?;
    let params = Params::new(&pairs);
    let named = params.one("format")?.map(str::to_owned);
    let asked = asked_format(of_path, named.as_deref())?;
    // Before anything of the body is read.
    may_begin(&call.desk, &caller, asked).await?;
    let import = match is_json(&call)? {
        true => stage_json(&mut call, &caller, asked).await?,
        false => {
            let checked = read_upload(&params, call.idempotency_key()?)?;
            let asked = asked.unwrap_or(AskedFormat::Auto);
            require_target(&checked.target, asked)?;
            let staged = stage::upload(&mut call, &caller).await?;
            let query = call.head.uri.query().unwrap_or_default().as_bytes().to_vec();
            let identity = [query, staged.sha256.to_vec()].concat();
            StagedImport { checked, staged, format: asked, identity }
        }
    };
    let staged = import.staged.clone();
    let engine = call.app.engine.clone();
    let answered = accept(&mut call, &caller, import).await;
    if answered.is_err() {
        // A request that is refused leaves nothing.
        blocking(move || engine.import_discard(&staged)).await?;
    }
    answered
}

/// The format that the path or the query names; `None` leaves it to the body.
fn asked_format(
    of_path: Option<Format>,
    named: Option<&str>,
) -> Result<Option<AskedFormat>, ApiError> {
    let parse = |name: &str| {
        name.parse::<Format>()
            .map_err(|error| ApiError::invalid_parameter("format", error.to_string()))
    };
    match (of_path, named) {
        (None, None) => Ok(None),
        (None, Some(AUTO)) => Ok(Some(AskedFormat::Auto)),
        (None, Some(name)) => parse(name).map(AskedFormat::Named).map(Some),
        (Some(format), None | Some(AUTO)) => Ok(Some(AskedFormat::Named(format))),
        (Some(format), Some(name)) if parse(name)? == format => {
            Ok(Some(AskedFormat::Named(format)))
        }
        (Some(format), Some(_)) => {
            let reason = format!("this route imports {format}; use /v1/import for other formats");
            Err(ApiError::invalid_parameter("format", reason))
        }
    }
}

/// Refuses callers who may not import before anything else is looked at: the format, or any where it is not
/// known yet. A token that is for some scopes only is asked again when the scope is known.
async fn may_begin(
    desk: &Desk,
    caller: &Caller,
    asked: Option<AskedFormat>,
) -> Result<(), Failure> {
    match asked {
        Some(AskedFormat::Named(format)) => may_import(desk, caller, format).await,
        _ => may_import_any(desk, caller).await,
    }
}

async fn may_import(desk: &Desk, caller: &Caller, format: Format) -> Result<(), Failure> {
    let Some(name) = capability::import_from(format.name()) else { return Ok(()) };
    if is_scoped(caller, name) {
        return Ok(());
    }
    desk.ask(caller, &[name], None).await
}

/// Refuses callers who may import nothing.
async fn may_import_any(desk: &Desk, caller: &Caller) -> Result<(), Failure> {
    let stack = desk.app.stack(caller, None).await?;
    let mut names = Format::all().filter_map(|format| capability::import_from(format.name()));
    let may =
        |name: &'static str| is_scoped(caller, name) || stack.allows(caller, name, None).is_ok();
    if names.any(may) {
        return Ok(());
    }
    may_import(desk, caller, DEFAULT_FORMAT).await
}

/// Whether the caller's token limits a capability to scopes.
fn is_scoped(caller: &Caller, capability: &str) -> bool {
    let grant = caller.grant.as_ref();
    grant.is_some_and(|grant| grant.limits(capability))
}

/// Whether the body is JSON that describes the import, and not the file itself. A lenient server takes a body
/// without a query for JSON too, as `curl -d` sends it.
fn is_json(call: &Call) -> Result<bool, ApiError> {
    let given = call.header_text(CONTENT_TYPE.as_str())?.unwrap_or_default();
    let media = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_plain = matches!(media.as_str(), "" | "application/x-www-form-urlencoded");
    let is_lenient = call.app.strictness == Strictness::Lenient;
    Ok(media == "application/json" || (is_lenient && is_plain && call.pairs()?.is_empty()))
}

async fn stage_json(
    call: &mut Call,
    caller: &Caller,
    asked: Option<AskedFormat>,
) -> Result<StagedImport, Failure> {
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let asked = match asked {
        Some(asked) => asked,
        None => {
            let named = ImportRequest::peek_format(&body);
            match named.as_deref() {
                None => AskedFormat::Named(DEFAULT_FORMAT),
                Some(AUTO) => AskedFormat::Auto,
                Some(name) => {
                    let format = name
                        .parse::<Format>()
                        .map_err(|error| ApiError::invalid_shape("format", error.to_string()))?;
                    may_import(&call.desk, caller, format).await?;
                    AskedFormat::Named(format)
                }
            }
        }
    };
    let key = call.idempotency_key()?.map(str::to_owned);
    let mut checked = ImportRequest::read(&body, key.as_deref())?;
    // The path names the importer; the body may name the version of its format.
    if let (AskedFormat::Named(format), Some(name)) = (asked, checked.format.as_deref())
        && name.parse::<Format>().ok() != Some(format)
    {
        let reason = format!("this request imports {format}");
        return Err(ApiError::invalid_shape("source.format", reason).into());
    }
    require_target(&checked.target, asked)?;
    let path = call.head.uri.path();
    let rest = keyed::split(&body, None)?.rest;
    let identity = keyed::fingerprint(path, rest.as_deref().unwrap_or(&body)).to_vec();
    drop(body);
    let staged = match std::mem::replace(&mut checked.input, ImportInput::Upload) {
        ImportInput::Inline(text) => stage::text(&call.app.engine, text).await?,
        ImportInput::Url { url, credentials_ref } => {
            stage::fetch(&call.app, &url, credentials_ref.as_deref()).await?
        }
        ImportInput::Upload => return Err(ApiError::missing("source").into()),
    };
    Ok(StagedImport { checked, staged, format: asked, identity })
}

/// Only lines name their own scope.
fn require_target(target: &ImportTarget, asked: AskedFormat) -> Result<(), ApiError> {
    let names_scopes = matches!(asked, AskedFormat::Auto | AskedFormat::Named(Format::Jsonl));
    if *target != ImportTarget::Lines || names_scopes {
        return Ok(());
    }
    let reason = "say where to: `scope`, or `scope_template` with placeholders";
    Err(ApiError::at(ErrorCode::MissingRequiredField, "scope", reason))
}

/// The source as far as it is looked at before the job begins.
struct SeenSource {
    format: Format,
    detected: Option<String>,
}

/// Opens the source and finds its format. A source that cannot be read is refused at once.
async fn look_at(app: &App, import: &StagedImport, name: &str) -> Result<SeenSource, Failure> {
    let (engine, staged) = (app.engine.clone(), import.staged.clone());
    let (name, asked) = (name.to_owned(), import.format);
    let seen = blocking(move || {
        let source = open_source(&engine, &staged, &name)?;
        Ok(match asked {
            AskedFormat::Named(format) => Ok(SeenSource { format, detected: None }),
            AskedFormat::Auto => {
                let found = recognize(&source)?;
                match found.format {
                    Some(format) => Ok(SeenSource { format, detected: Some(found.sentence) }),
                    None => Err(ApiError::invalid_parameter("format", found.sentence)),
                }
            }
        })
    });
    let seen: Result<Result<SeenSource, ApiError>, SourceFault> = seen.await?;
    Ok(seen.map_err(|SourceFault { code, detail }| match code {
        ErrorCode::Internal => Failure::from(ApiError::of(code)),
        code => ApiError::at(code, "source", detail).into(),
    })??)
}

async fn accept(
    call: &mut Call,
    caller: &Caller,
    import: StagedImport,
) -> Result<Response, Failure> {
    let desk = call.desk.clone();
    let name = import.checked.name.clone().unwrap_or_else(|| "source".to_owned());
    if import.staged.bytes == 0 {
        let reason = "is empty: there is nothing to import";
        return Err(ApiError::at(ErrorCode::InvalidBody, "source", reason).into());
    }
    let SeenSource { format, detected } = look_at(&desk.app, &import, &name).await?;
    let StagedImport { checked, staged, identity, .. } = import;
    let CheckedImport { target, options, dry_run: is_dry, idempotency_key: key, .. } = checked;
    require_target(&target, AskedFormat::Named(format))?;
    let permit = desk.permit_import(caller, target.scope(), format.name()).await?;
    may_write(&desk, caller, &target, format).await?;
    let spec = JobSpec { name, detected, now_us: call.app.engine.now().0, options };
    read_options(&spec).map_err(|fault| ApiError::invalid_shape("options", fault.detail))?;
    let tenant = permit.caller().tenant;
    let place = Imports::reserve(&call.app, tenant).map_err(|TooManyImports| {
        let text = format!(
            "This tenant has {} imports that wait or run; wait for one of them.",
            TooManyImports::JOBS_MAX
        );
        ApiError::new(ErrorCode::Overloaded, text).retry_after(5)
    })?;
    let mut is_replayed = false;
    let (id, job) = if is_dry {
        (staged.id, None)
    } else {
        let request = EngineRequest {
            staged: staged.clone(),
            format: format.name().to_owned(),
            target: target.as_str().to_owned(),
            scope: target.scope().cloned(),
            options: spec.to_text(),
            key,
            body: identity,
            policy_version: 0,
        };
        begin_target(&desk, caller, target.scope()).await?;
        desk.record.allowed(permit.capability(), permit.decided_by(), permit.scope());
        let noted = call.noted("");
        let accepted = desk.app.engine.import_begin(&permit, request, &noted).await?;
        is_replayed = accepted.replayed;
        (accepted.job.id, Some(accepted.job))
    };
    let actor = permit.caller().actor.clone();
    let head = JobHead { id, tenant, actor, format, target, is_dry };
    if is_replayed {
        let mut response = answer(&desk.app, &head).await?;
        response.headers_mut().insert(reply::REPLAY, HeaderValue::from_static("true"));
        return Ok(response);
    }
    let is_small = staged.bytes <= AWAITED_BYTES_MAX;
    let new = NewImport { head: head.clone(), caller: permit.caller().clone(), staged, spec, job };
    let live = Imports::start(place, new);
    if is_small {
        // Longer ones are looked at by their id.
        let _ = tokio::time::timeout(AWAITED_TIME, live.wait()).await;
    }
    let shape = accepted_body(&head, &live.numbers());
    reply::json(StatusCode::ACCEPTED, &shape)
}

/// Makes the target first, so that the words of the job go when the target is erased. Lines may go below a
/// target that the caller does not write to.
async fn begin_target(
    desk: &Desk,
    caller: &Caller,
    scope: Option<&ScopePath>,
) -> Result<(), Failure> {
    let Some(scope) = scope else { return Ok(()) };
    let quiet = Desk { app: Arc::clone(&desk.app), record: Arc::default() };
    let Ok(write) = quiet.permit_write_to(caller, scope).await else { return Ok(()) };
    Ok(desk.app.engine.scope_begin(&write, scope).await?)
}

/// Refuses an import that could write no row. Lines may go below the target, and are asked for one by one.
async fn may_write(
    desk: &Desk,
    caller: &Caller,
    target: &ImportTarget,
    format: Format,
) -> Result<(), Failure> {
    let Some(scope) = target.scope() else { return Ok(()) };
    check_person(caller, scope)?;
    if format == Format::Jsonl {
        return Ok(());
    }
    desk.permit_write_to(caller, scope).await.map(|_| ())
}

/// `GET /v1/import/{import_id}`.
pub(super) async fn status(mut call: Call) -> Result<Response, Failure> {
    let (head, numbers) = found(&mut call).await?;
    let now = call.app.env.clock.monotonic();
    reply::json(StatusCode::OK, &numbers.body(&head, now))
}

/// `POST /v1/import/{import_id}/cancel`.
pub(super) async fn cancel(mut call: Call) -> Result<Response, Failure> {
    call.no_body().await?;
    let (head, numbers) = found(&mut call).await?;
    let live = call.app.imports.find(head.tenant, head.id);
    let is_accepted = live.as_ref().is_some_and(|live| live.cancel());
    if let Some(live) = live.filter(|_| is_accepted) {
        let _ = tokio::time::timeout(AWAITED_TIME, live.wait()).await;
    }
    let numbers = known(&call.desk.clone().app, &head).await.unwrap_or(numbers);
    let shape = ImportCancelled {
        import_id: head.id.to_string(),
        cancellation_accepted: is_accepted,
        status: numbers.status.as_str().to_owned(),
    };
    reply::json(StatusCode::OK, &shape)
}

/// The import that a path names, if it is the caller's, its target is, or the caller administers the tenant.
/// To others it is as unknown as one that is not there.
async fn found(call: &mut Call) -> Result<(JobHead, JobNumbers), Failure> {
    let id: ImportId = call.path_id("import_id").await?;
    let caller = call.caller()?;
    let desk = call.desk.clone();
    may_import_any(&desk, &caller).await?;
    let (head, numbers) = match found_in(&desk.app, caller.tenant, id).await {
        Err(EngineError::NotFound) => {
            let shared = desk.app.engine.shared_tenant(&desk.app.boot());
            found_in(&desk.app, shared.ok_or(EngineError::NotFound)?, id).await?
        }
        found => found?,
    };
    if !sees(&desk, &caller, &head).await? {
        return Err(EngineError::NotFound.into());
    }
    desk.permit_import(&caller, head.scope(), head.format.name()).await?;
    Ok((head, numbers))
}

/// An import of one tenant: of this process, or of the log.
async fn found_in(
    app: &App,
    tenant: u32,
    id: ImportId,
) -> Result<(JobHead, JobNumbers), EngineError> {
    if let Some(live) = app.imports.find(tenant, id) {
        return Ok((live.head.clone(), live.numbers()));
    }
    let status = app.engine.import_status(tenant, id).await?;
    let head = JobHead::of(&status).ok_or(EngineError::NotFound)?;
    Ok((head, JobNumbers::of(&status)))
}

/// The numbers of an import as they are now.
async fn known(app: &App, head: &JobHead) -> Option<JobNumbers> {
    if let Some(live) = app.imports.find(head.tenant, head.id) {
        return Some(live.numbers());
    }
    let status = app.engine.import_status(head.tenant, head.id).await.ok()?;
    Some(JobNumbers::of(&status))
}

async fn sees(desk: &Desk, caller: &Caller, head: &JobHead) -> Result<bool, Failure> {
    let is_shared = head.tenant != caller.tenant;
    if !is_shared && (head.actor == caller.actor || caller.administers()) {
        return Ok(true);
    }
    let Some(scope) = head.scope() else { return Ok(false) };
    if is_shared {
        // Where all tenants meet callers are guests, who have another name and no office but that of an operator.
        let stack = desk.app.stack(caller, Some(scope)).await?;
        let permit = stack.permit_import(caller, Some(scope), head.format.name());
        let guest = permit.ok().map(|permit| permit.caller().clone());
        return Ok(guest.is_some_and(|guest| guest.actor == head.actor || guest.administers()));
    }
    if is_person_of(caller, scope) {
        return Ok(true);
    }
    let stack = desk.app.stack(caller, Some(scope)).await?;
    Ok(stack.membership.role == Some(MemberRole::Owner))
}

fn is_person_of(caller: &Caller, scope: &ScopePath) -> bool {
    let mut persons = scope.self_and_ancestors().into_iter().filter_map(|scope| scope.person());
    persons.any(|person| person == caller.actor)
}

/// The answer to a request whose key was used before.
async fn answer(app: &App, head: &JobHead) -> Result<Response, Failure> {
    let numbers = known(app, head).await.ok_or(EngineError::NotFound)?;
    reply::json(StatusCode::ACCEPTED, &accepted_body(head, &numbers))
}

fn accepted_body(head: &JobHead, numbers: &JobNumbers) -> ImportAccepted {
    let id = head.id;
    let counts = numbers.counts;
    ImportAccepted {
        import_id: id.to_string(),
        status: numbers.status.as_str().to_owned(),
        estimated_items: numbers.total,
        accepted: counts.written + counts.known + counts.replaced,
        failed: counts.failed,
        first_error: numbers.error_bodies().into_iter().next(),
        dry_run: head.is_dry,
        status_url: format!("/v1/import/{id}"),
        lifecycle_stream: format!("/v1/lifecycle/stream?import_id={id}"),
        report: numbers.report_value(),
    }
}
