//! `GET/POST /v1/vocabularies` and `GET/PUT/PATCH /v1/vocabularies/{name}` (R333, C24).

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::query::Params;
use lamina_api::v1::vocabularies::{
    TermBody, VocabularyBody, VocabularyList, VocabularyRequest, kind, name,
};
use lamina_api::{ApiError, time};
use lamina_core::policy::Caller;
use lamina_engine::{Error as EngineError, Noted, VocabularyChanged, VocabularyRecord};
use lamina_types::capability::{
    Capability, PolicyAdministerScope, PolicyAdministerTenant, ScopeReadLocal, ScopeWrite,
    VocabularyRead,
};
use lamina_types::vocabulary::Vocabulary;
use lamina_types::{ErrorCode, ScopePath};

use super::scopes;
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::list_page::{ListPage, WholeList};
use crate::http::reply;

/// Which of several vocabularies of one name is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// The one of the place that is named.
    There,
    /// That one or, without it, the first that the caller may know of.
    Known,
}

/// The vocabularies of the tenant that the caller may see.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let pairs = call.pairs()?;
    let caller = call.caller()?;
    let permit = call.desk.permit::<VocabularyRead>(&caller, None).await?;
    let mut items = Vec::new();
    for record in call.app.engine.vocabulary_list(&permit) {
        // Its terms are words of that scope.
        let needs = &[ScopeReadLocal::NAME];
        if is_open(&call.desk, &caller, record.vocabulary.scope.as_ref(), needs).await? {
            items.push(shown(&record));
        }
    }
    let whole = WholeList { app: &call.app, tenant: caller.tenant, name: "vocabularies", items };
    let page = whole.page(&Params::new(&pairs), |it: &VocabularyBody| {
        format!("{} {}", it.name, it.scope.as_deref().unwrap_or_default())
    })?;
    let ListPage { items, next_cursor } = page;
    let has_more = next_cursor.is_some();
    reply::json(StatusCode::OK, &VocabularyList { items, next_cursor, has_more })
}

/// One vocabulary.
pub(super) async fn one(mut call: Call) -> Result<Response, Failure> {
    let named = call.path_text("name").await?;
    let place = Params::new(&call.pairs()?).scope_opt()?;
    let caller = call.caller()?;
    let permit = call.desk.permit::<VocabularyRead>(&caller, None).await?;
    for record in call.app.engine.vocabularies_named(&permit, &named) {
        let scope = record.vocabulary.scope.as_ref();
        if place.is_some() && place.as_ref() != scope {
            continue;
        }
        // What one may not read is as unknown as what is not there.
        if is_open(&call.desk, &caller, scope, &[ScopeReadLocal::NAME]).await? {
            return reply::json(StatusCode::OK, &shown(&record));
        }
    }
    Err(EngineError::NotFound.into())
}

/// Whether one of these is given where a vocabulary is for.
async fn is_open(
    desk: &Desk,
    caller: &Caller,
    place: Option<&ScopePath>,
    needs: &[&'static str],
) -> Result<bool, Failure> {
    let Some(scope) = place else { return Ok(true) };
    let stack = desk.app.stack(caller, Some(scope)).await?;
    Ok(needs.iter().any(|name| stack.allows(caller, name, Some(scope)).is_ok()))
}

/// Registers a vocabulary; its name must be free where it is for.
pub(super) async fn register(mut call: Call) -> Result<Response, Failure> {
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let vocabulary = VocabularyRequest::read(&body)?;
    let named = vocabulary.name.clone();
    let taken = || Failure::from(ApiError::of(ErrorCode::VocabularyExists));
    let wished = vocabulary.scope.clone();
    let to = (Which::There, wished.as_ref());
    let changed = change(call, &named, to, |before| match before {
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
    let to = (Which::Known, wished.as_ref());
    let changed = change(call, &named, to, |_| Ok(vocabulary)).await?;
    let status = if changed.created { StatusCode::CREATED } else { StatusCode::OK };
    reply::json(status, &shown(&changed.record))
}

/// Merges into a vocabulary.
pub(super) async fn merge(mut call: Call) -> Result<Response, Failure> {
    let named = call.path_text("name").await?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let request = VocabularyRequest::read_part(&named, &body)?;
    let wished = request.place()?;
    let changed = change(call, &named, (Which::Known, wished.as_ref()), |before| {
        let before = before.ok_or(EngineError::NotFound)?;
        Ok(request.onto(before.vocabulary.clone())?)
    });
    let changed = changed.await?;
    reply::json(StatusCode::OK, &shown(&changed.record))
}

async fn change(
    call: Call,
    named: &str,
    (which, wished): (Which, Option<&ScopePath>),
    change: impl FnOnce(Option<&VocabularyRecord>) -> Result<Vocabulary, Failure> + Send,
) -> Result<VocabularyChanged, Failure> {
    let caller = call.caller()?;
    let noted = call.noted("");
    let asker = VocabularyAsker { desk: call.desk.clone(), caller, noted };
    change_by(asker, named, (which, wished), change).await
}

/// Who changes a vocabulary.
struct VocabularyAsker {
    desk: Desk,
    caller: Caller,
    noted: Noted,
}

/// Registers or replaces the vocabulary of a scope, as its routes do. One that is the same stays as it is.
pub(crate) async fn changed(
    desk: Desk,
    caller: Caller,
    noted: Noted,
    vocabulary: Vocabulary,
) -> Result<bool, Failure> {
    let (named, wished) = (vocabulary.name.clone(), vocabulary.scope.clone());
    let reader = desk.app.stack(&caller, None).await?.permit::<VocabularyRead>(&caller, None);
    if let Ok(reader) = reader {
        let known = desk.app.engine.vocabularies_named(&reader, &named);
        if known.iter().any(|record| record.vocabulary == vocabulary) {
            return Ok(false);
        }
    }
    let asker = VocabularyAsker { desk, caller, noted };
    let place = (Which::There, wished.as_ref());
    change_by(asker, &named, place, |_| Ok(vocabulary)).await.map(|_| true)
}

/// A vocabulary in the form in which it is registered.
pub(crate) fn text(record: &VocabularyRecord) -> Option<String> {
    let mut body = serde_json::to_value(shown(record)).ok()?;
    let members = body.as_object_mut()?;
    for name in ["version", "created_at", "updated_at"] {
        members.remove(name);
    }
    Some(body.to_string())
}

async fn change_by(
    asker: VocabularyAsker,
    named: &str,
    (which, wished): (Which, Option<&ScopePath>),
    change: impl FnOnce(Option<&VocabularyRecord>) -> Result<Vocabulary, Failure> + Send,
) -> Result<VocabularyChanged, Failure> {
    let VocabularyAsker { desk, caller, noted } = asker;
    let engine = desk.app.engine.clone();
    let permit = desk.permit_vocabularies(&caller).await?;
    if wished.is_some_and(ScopePath::is_shared) && desk.app.preset().is_shared() {
        let reason =
            "all tenants share the scope, and a vocabulary is one tenant's: none holds there";
        return Err(ApiError::invalid_shape("scope", reason).into());
    }
    // Whoever names the predicates of a scope has to be let into it.
    let mut known = Vec::new();
    for place in engine.vocabulary_places(&permit, named) {
        let needs = &[ScopeReadLocal::NAME, ScopeWrite::NAME];
        if is_open(&desk, &caller, place.as_ref(), needs).await? {
            known.push(place);
        }
    }
    let there = known.iter().find(|place| place.as_ref() == wished);
    let before = match which {
        Which::There => wished,
        Which::Known => there.or(known.first()).map_or(wished, Option::as_ref),
    };
    // A vocabulary says what predicates mean to everybody where it holds.
    for place in [before, wished] {
        match place {
            None => desk.ask(&caller, &[PolicyAdministerTenant::NAME], None).await?,
            Some(scope) => {
                desk.ask(&caller, &[ScopeWrite::NAME], Some(scope)).await?;
                scopes::administers(&desk, &caller, scope).await?;
                let owns = desk.permit::<PolicyAdministerScope>(&caller, Some(scope)).await?;
                scopes::reaches(&desk, &caller, &owns, scope).await?;
            }
        }
    }
    engine.vocabulary_change(&permit, (named, before), change, &noted).await
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
