//! `POST/GET/DELETE /v1/temporal/phrases` (R339-R341). A phrase holds in the whole tenant, so
//! administrators set it.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::query::Params;
use lamina_api::v1::phrases::{PhraseBody, PhraseList, PhraseRequest};
use lamina_types::capability::{
    Capability as _, PolicyAdministerTenant, TemporalPhrasesRead, TemporalPhrasesWrite,
};

use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::list_page::{ListPage, WholeList};
use crate::http::reply;

/// The phrases of the tenant.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let permit = call.desk.permit::<TemporalPhrasesRead>(&caller, None).await?;
    let phrases = call.app.engine.phrases(&permit);
    let items = phrases.all().iter().map(PhraseBody::new).collect();
    let pairs = call.pairs()?;
    let whole = WholeList { app: &call.app, tenant: caller.tenant, name: "phrases", items };
    let page = whole.page(&Params::new(&pairs), |it: &PhraseBody| it.name.clone())?;
    let ListPage { items, next_cursor } = page;
    let has_more = next_cursor.is_some();
    reply::json(StatusCode::OK, &PhraseList { items, next_cursor, has_more })
}

/// Registers a phrase.
pub(super) async fn register(mut call: Call) -> Result<Response, Failure> {
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let phrase = PhraseRequest::read(&body)?;
    let caller = call.caller()?;
    let (desk, noted) = (call.desk.clone(), call.noted(""));
    desk.ask(&caller, &[PolicyAdministerTenant::NAME], None).await?;
    let permit = desk.permit::<TemporalPhrasesWrite>(&caller, None).await?;
    let shape = PhraseBody::new(&phrase);
    desk.app.engine.phrase_set(&permit, phrase, &noted).await?;
    reply::json(StatusCode::CREATED, &shape)
}

/// Removes a phrase.
pub(super) async fn remove(mut call: Call) -> Result<Response, Failure> {
    let name = call.path_text("name").await?;
    let caller = call.caller()?;
    let (desk, noted) = (call.desk.clone(), call.noted(""));
    desk.ask(&caller, &[PolicyAdministerTenant::NAME], None).await?;
    let permit = desk.permit::<TemporalPhrasesWrite>(&caller, None).await?;
    desk.app.engine.phrase_remove(&permit, &name, &noted).await?;
    Ok(reply::empty())
}
