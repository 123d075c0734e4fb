//! `GET /v1/claims` and `GET /v1/claims/history`: facts told one value at a time.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::v1::claims::{ClaimBody, ClaimHistory, ClaimsPage, RecordBody};
use lamina_api::v1::facts::FactsQuery;
use lamina_api::{ApiError, time};
use lamina_core::derive::facts::Superseded;
use lamina_engine::read::claims::ClaimRecord;
use lamina_engine::read::facts::{FactKey, FactsPage, Order};
use lamina_types::ErrorCode;
use lamina_types::limits::PAGE_MAX;
use serde_json::Value;

use super::conflicts;
use super::facts::{Turn, basis, name, question, value};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;

/// What cursors are bound to.
const CLAIMS: &str = "claims";
const HISTORY: &str = "claims/history";

/// One page of claims: what is so now, with what is known now, unless another point is named.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let query = FactsQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let permit = call.desk.permit_read(&caller, &query.scope, query.view).await?;
    let engine = call.app.engine.clone();
    let mac = |bytes: &[u8]| engine.cursor_mac(caller.tenant, bytes);
    let turn = Turn::of(&query, CLAIMS, &engine, &mac)?;
    let mut question = question(&query, &turn);
    question.pins.valid =
        query.times.as_of_valid.or(query.times.valid_during.is_none().then_some(turn.now));
    question.lapsed_by = None;
    let page = engine.facts(permit, question).await?;
    let (records, next) = cut(&page, &turn, query.limit);
    let next = next.map(|next| next.cursor(&query, CLAIMS, &mac));
    let page = ClaimsPage { records, has_more: next.is_some(), next_cursor: next };
    reply::json(StatusCode::OK, &page)
}

/// Everything that was ever claimed of one subject and predicate.
pub(super) async fn history(call: Call) -> Result<Response, Failure> {
    let pairs = call.pairs()?;
    let mut query = FactsQuery::parse(&pairs)?;
    let (Some(subject), Some(predicate)) = (query.subject.clone(), query.predicate.clone()) else {
        let missing = if query.subject.is_none() { "subject" } else { "predicate" };
        let reason = "this parameter is required";
        return Err(ApiError::at(ErrorCode::MissingRequiredField, missing, reason).into());
    };
    // Clients that know no cursor ask for the whole.
    if pairs.iter().all(|(name, _)| name != "limit") {
        query.limit = PAGE_MAX;
    }
    let caller = call.caller()?;
    let permit = call.desk.permit_read(&caller, &query.scope, query.view).await?;
    let engine = call.app.engine.clone();
    let mac = |bytes: &[u8]| engine.cursor_mac(caller.tenant, bytes);
    let turn = Turn::of(&query, HISTORY, &engine, &mac)?;
    let mut question = question(&query, &turn);
    question.pins.superseded = Superseded::Shown;
    question.lapsed_by = None;
    question.order = Order::OldestFirst;
    let (page, among) = engine.claims_history(permit, question).await?;
    let (history, next) = cut(&page, &turn, query.limit);
    let next = next.map(|next| next.cursor(&query, HISTORY, &mac));
    let known = page.items.first().map(|fact| &fact.subject);
    let body = ClaimHistory {
        claim: ClaimBody {
            scope: query.scope.to_string(),
            subject: known.map_or(subject, |known| name(&known.term)),
            subject_id: known.map(|known| known.id.to_string()),
            predicate,
        },
        history,
        conflicts: among.iter().map(conflicts::shown).collect(),
        has_more: next.is_some(),
        next_cursor: next,
    };
    reply::json(StatusCode::OK, &body)
}

/// As many values as a page has room for, and where the next one begins: perhaps between the sides of
/// a conflict.
fn cut(page: &FactsPage, turn: &Turn, limit: usize) -> (Vec<RecordBody>, Option<Turn>) {
    let mut records = Vec::new();
    let mut after = turn.after;
    for fact in &page.items {
        let shown = turn.shown.filter(|(id, _)| id == fact.id.as_bytes());
        let shown = shown.map_or(0, |(_, values)| usize::from(values));
        for (index, claim) in fact.claims().iter().enumerate().skip(shown) {
            if records.len() == limit {
                let values = u16::try_from(index).unwrap_or(u16::MAX);
                let shown = (values > 0).then_some((*fact.id.as_bytes(), values));
                return (records, Some(Turn { after, shown, ..*turn }));
            }
            records.push(record(claim));
        }
        after = Some(FactKey::of(fact));
    }
    (records, page.next.map(|next| turn.next(next)))
}

/// A claim as it is shown.
pub(super) fn record(claim: &ClaimRecord) -> RecordBody {
    // Destructured, so that a field that is added cannot be forgotten here.
    let ClaimRecord {
        id,
        scope: _,
        subject,
        predicate,
        object,
        valid_from,
        valid_from_basis,
        valid_to,
        valid_to_basis,
        recorded_from,
        recorded_to,
        status,
        conflict,
        supersedes,
    } = claim;
    let shown = value(object);
    let text = match (&shown.value, &shown.unit) {
        (Value::String(text), None) => text.clone(),
        (Value::String(text), Some(unit)) => format!("{text} {unit}"),
        (other, None) => other.to_string(),
        (other, Some(unit)) => format!("{other} {unit}"),
    };
    RecordBody {
        id: id.to_string(),
        subject: name(&subject.term),
        subject_id: subject.id.to_string(),
        predicate: predicate.clone(),
        object: (!object.redacted).then_some(text),
        negated: object.negated,
        redacted: object.redacted,
        valid_from: valid_from.map(|at| time::print(at.0)),
        valid_from_basis: valid_from_basis.map(basis),
        valid_to: valid_to.map(|at| time::print(at.0)),
        valid_to_basis: valid_to_basis.map(basis),
        recorded_from: time::print(recorded_from.0),
        recorded_to: recorded_to.map(|at| time::print(at.0)),
        status: status.as_str(),
        conflict_id: conflict.map(|id| id.to_string()),
        supersedes: supersedes.map(|id| id.to_string()),
        source_authority: object.said_by.as_ref().map(ToString::to_string),
        extractor: object.extractor.clone(),
        confidence: object.confidence.as_f64(),
        supports: object.supports.iter().map(ToString::to_string).collect(),
    }
}
