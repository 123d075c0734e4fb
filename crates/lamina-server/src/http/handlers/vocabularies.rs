//! `GET/POST /v1/vocabularies` and `GET/PUT/PATCH /v1/vocabularies/{name}` (R333, C24).

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::v1::vocabularies::{
    TermBody, VocabularyBody, VocabularyList, VocabularyRequest, kind, name,
};
use lamina_api::{ApiError, time};
use lamina_engine::{Error as EngineError, VocabularyChanged, VocabularyRecord};
use lamina_types::capability::{Capability, ScopeReadLocal, ScopeWrite, VocabularyRead};
use lamina_types::vocabulary::Vocabulary;
use lamina_types::{ErrorCode, ScopePath};

use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;

/// What a vocabulary of one scope takes to be shown.
const READ: &str = ScopeReadLocal::NAME;

/// All vocabularies of the tenant that the caller may see.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let permit = call.desk.permit::<VocabularyRead>(&caller, None).await?;
    let mut items = Vec::new();
    for record in call.app.engine.vocabulary_list(&permit) {
        let scope = record.vocabulary.scope.as_ref();
        // Its terms are words of that scope.
        if scope.is_none()
            || call.app.stack(&caller, scope).await?.allows(&caller, READ, scope).is_ok()
        {
            items.push(shown(&record));
        }
    }
    reply::json(StatusCode::OK, &VocabularyList { items })
}

/// One vocabulary.
pub(super) async fn one(mut call: Call) -> Result<Response, Failure> {
    let named = call.path_text("name").await?;
    let caller = call.caller()?;
    let permit = call.desk.permit::<VocabularyRead>(&caller, None).await?;
    let record = call.app.engine.vocabulary(&permit, &named)?;
    if let Some(scope) = &record.vocabulary.scope {
        call.desk.permit::<ScopeReadLocal>(&caller, Some(scope)).await?;
    }
    reply::json(StatusCode::OK, &shown(&record))
}

/// Registers a vocabulary; its name must be free.
pub(super) async fn register(mut call: Call) -> Result<Response, Failure> {
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let vocabulary = VocabularyRequest::read(&body)?;
    let named = vocabulary.name.clone();
    let taken = || Failure::from(ApiError::of(ErrorCode::VocabularyExists));
    let wished = vocabulary.scope.clone();
    let changed = change(call, &named, wished.as_ref(), |before| match before {
        None => Ok(vocabulary),
        Some(_) => Err(taken()),
    });
    let changed = changed.await?;
    reply::json(StatusCode::CREATED, &shown(&changed.record))
}

/// Replaces a vocabulary, or registers one.
pub(super) async fn replace(mut call: Call) -> Result<Response, Failure> {
    let named = call.path_text("name").await?;
    let named = name("name", &named)?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let vocabulary = VocabularyRequest::read_for(&named, &body)?;
    let wished = vocabulary.scope.clone();
    let changed = change(call, &named, wished.as_ref(), |_| Ok(vocabulary)).await?;
    let status = if changed.created { StatusCode::CREATED } else { StatusCode::OK };
    reply::json(status, &shown(&changed.record))
}

/// Merges into a vocabulary.
pub(super) async fn merge(mut call: Call) -> Result<Response, Failure> {
    let named = call.path_text("name").await?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let request = VocabularyRequest::read_part(&named, &body)?;
    let wished = request.place()?;
    let changed = change(call, &named, wished.as_ref(), |before| {
        let before = before.ok_or(EngineError::NotFound)?;
        Ok(request.onto(before.vocabulary.clone())?)
    });
    let changed = changed.await?;
    reply::json(StatusCode::OK, &shown(&changed.record))
}

async fn change(
    call: Call,
    named: &str,
    wished: Option<&ScopePath>,
    change: impl FnOnce(Option<&VocabularyRecord>) -> Result<Vocabulary, Failure> + Send,
) -> Result<VocabularyChanged, Failure> {
    let caller = call.caller()?;
    let (desk, engine) = (call.desk.clone(), call.app.engine.clone());
    let permit = desk.permit_vocabularies(&caller).await?;
    if wished.is_some_and(ScopePath::is_shared) && desk.app.preset().is_shared() {
        let reason =
            "all tenants share the scope, and a vocabulary is one tenant's: none holds there";
        return Err(ApiError::invalid_shape("scope", reason).into());
    }
    // Whoever names the predicates of a scope has to be let into it.
    let before = engine.vocabulary_scope(&permit, named);
    for scope in before.iter().chain(wished) {
        desk.ask(&caller, &[ScopeWrite::NAME], Some(scope)).await?;
    }
    let noted = call.noted("");
    engine.vocabulary_change(&permit, named, change, &noted).await
}

fn shown(record: &VocabularyRecord) -> VocabularyBody {
    let VocabularyRecord { vocabulary, version, created, updated, offset: _ } = record;
    let Vocabulary { name, kind: of, description, scope, predicates, relations, terms } =
        vocabulary;
    VocabularyBody {
        name: name.clone(),
        kind: kind(*of),
        description: description.clone(),
        scope: scope.as_ref().map(ToString::to_string),
        predicates: predicates.iter().map(TermBody::new).collect(),
        relations: relations.iter().map(TermBody::new).collect(),
        terms: terms.iter().map(TermBody::new).collect(),
        version: *version,
        created_at: time::print(created.0),
        updated_at: time::print(updated.0),
    }
}
