//! `GET /v1/facts`, `GET /v1/facts/timeline` and `GET /v1/derivation/status`.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::query::Params;
use lamina_api::v1::damaged::ListItem;
use lamina_api::v1::facts::{
    BuiltBody, DerivationStatus, EmbeddingBody, EntityBody, FactBody, FactsPage, FactsQuery,
    MappingBody, SideBody, TimelineBody, TimelineEntry, ValueBody,
};
use lamina_api::{ApiError, PageStart, time};
use lamina_core::derive::facts::{Basis, Pins, Superseded};
use lamina_engine::Engine;
use lamina_engine::embed::EmbedStatus;
use lamina_engine::read::facts::{FactKey, FactObject, FactRecord, FactsQuery as Question, Order};
use lamina_types::layer::{Confidence, Object, Term};
use lamina_types::{ConceptId, EntityId, ErrorCode, Micros, RecordedAt, ScopeView, ValidAt};

use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::list_page::{ListPage, WholeList};
use crate::http::reply;

/// One page of facts.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let query = FactsQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let permit = call.desk.permit_read(&caller, &query.scope, query.view).await?;
    let engine = call.app.engine.clone();
    let mac = |bytes: &[u8]| engine.cursor_mac(caller.tenant, bytes);
    let turn = Turn::of(&query, FACTS, &engine, &mac)?;
    let page = engine.facts(permit, question(&query, &turn)).await?;
    let next = page.next.map(|key| turn.next(key).cursor(&query, FACTS, &mac));
    let items = ListItem::page(page.items.iter().map(shown), &page.damaged);
    reply::json(StatusCode::OK, &FactsPage { items, has_more: next.is_some(), next_cursor: next })
}

/// How the world changed under one subject.
pub(super) async fn timeline(call: Call) -> Result<Response, Failure> {
    let pairs = call.pairs()?;
    // The cursor of a timeline is one of its own.
    let asked: Vec<(String, String)> =
        pairs.iter().filter(|(name, _)| name != "cursor").cloned().collect();
    let query = FactsQuery::parse(&asked)?;
    if query.subject.is_none() {
        let reason = "this parameter is required";
        return Err(ApiError::at(ErrorCode::MissingRequiredField, "subject", reason).into());
    }
    let caller = call.caller()?;
    let permit = call.desk.permit_read(&caller, &query.scope, query.view).await?;
    let engine = call.app.engine.clone();
    let turn = Turn::first(&query, &engine);
    let mut question = question(&query, &turn);
    // All of it: a timeline is not asked at one instant, it ends there.
    question.pins.valid = None;
    question.lapsed_by = None;
    question.limit = usize::MAX;
    let (items, _) = engine.fact_timeline(permit, question, query.times.as_of_valid).await?;
    let items: Vec<FactBody> = items.iter().map(shown).collect();
    let unpaged = asked.iter().filter(|(name, _)| name != "limit");
    let list = format!("timeline {:?}", unpaged.collect::<Vec<_>>());
    let whole = WholeList { app: &call.app, tenant: caller.tenant, name: &list, items };
    let page = whole.page(&Params::new(&pairs), |it: &FactBody| it.id.clone())?;
    let ListPage { items, next_cursor } = page;
    let timeline = items.iter().map(|item| TimelineEntry {
        fact_id: item.id.clone(),
        predicate: item.predicate.clone(),
        value: item.object.value.clone(),
        valid_from: item.valid_from.clone(),
        valid_to: item.valid_to.clone(),
    });
    let body = TimelineBody {
        subject: items.first().map(|item| item.subject.clone()),
        predicate: query.predicate.clone(),
        timeline: timeline.collect(),
        has_more: next_cursor.is_some(),
        next_cursor,
        items,
    };
    reply::json(StatusCode::OK, &body)
}

/// Whether derivation has caught up with a scope.
pub(super) async fn status(call: Call) -> Result<Response, Failure> {
    let pairs = call.pairs()?;
    let scope = Params::new(&pairs).scope()?;
    let caller = call.caller()?;
    let permit = call.desk.permit_read(&caller, &scope, ScopeView::Local).await?;
    let status = call.app.engine.derivation_status(permit, scope).await?;
    let now = call.app.engine.log_time();
    let idle = status.last_write.map(|at| (now.0 - at.0.0).max(0).unsigned_abs() / 1_000_000);
    let body = DerivationStatus {
        caught_up: status.waiting == 0,
        dirty: status.waiting,
        idle_seconds: idle,
        built: BuiltBody { episodes: status.episodes },
        last_write_at: status.last_write.map(|at| time::print(at.0)),
        last_built_at: status.last_derived.map(|at| time::print(at.0)),
        embedding: call.app.engine.embed_status().map(embedding),
    };
    reply::json(StatusCode::OK, &body)
}

/// How far an embedding model is.
fn embedding(status: EmbedStatus) -> EmbeddingBody {
    EmbeddingBody {
        state: match (status.fault.is_some(), status.whole) {
            (true, _) => "failing",
            (false, true) => "serving",
            (false, false) => "building",
        },
        model: status.model,
        dimensions: status.dims,
        serving: status.serving,
        progress: (status.progress * 1_000.0).floor() / 1_000.0,
        left_out: status.left_out,
        last_fault: status.fault.map(|fault| fault.as_str()),
    }
}

/// Where a page stands: a later one is asked with the knowledge and the present of the first, whatever
/// was learned in between.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// The knowledge it is asked with.
    pub(super) recorded: RecordedAt,
    /// The present of the first page.
    pub(super) now: ValidAt,
    /// After this fact.
    pub(super) after: Option<FactKey>,
    /// Of the fact that comes next, so many values were shown before.
    pub(super) shown: Option<([u8; 16], u16)>,
}

impl Turn {
    /// The first page.
    pub(super) fn first(query: &FactsQuery, engine: &Engine) -> Turn {
        let recorded = query.times.as_of_recorded.unwrap_or(RecordedAt(engine.log_time()));
        Turn { recorded, now: ValidAt(engine.now()), after: None, shown: None }
    }

    /// The page that a query asks for.
    pub(super) fn of(
        query: &FactsQuery,
        list: &str,
        engine: &Engine,
        mac: &dyn Fn(&[u8]) -> [u8; 32],
    ) -> Result<Turn, ApiError> {
        match query.start(list, mac)? {
            PageStart::Begin => Ok(Turn::first(query, engine)),
            PageStart::After(position) => {
                Turn::read(&position).ok_or_else(|| ApiError::of(ErrorCode::InvalidCursor))
            }
            PageStart::Offset(_) => Err(ApiError::of(ErrorCode::InvalidCursor)),
        }
    }

    /// The page after a fact.
    pub(super) fn next(&self, after: FactKey) -> Turn {
        Turn { after: Some(after), shown: None, ..*self }
    }

    /// The cursor of this page.
    pub(super) fn cursor(
        &self,
        query: &FactsQuery,
        list: &str,
        mac: &dyn Fn(&[u8]) -> [u8; 32],
    ) -> String {
        let mut position = Vec::with_capacity(64);
        position.extend_from_slice(&self.recorded.0.0.to_le_bytes());
        position.extend_from_slice(&self.now.0.0.to_le_bytes());
        position.push(u8::from(self.after.is_some()) | u8::from(self.shown.is_some()) << 1);
        if let Some(after) = self.after {
            position.extend_from_slice(&after.at.to_le_bytes());
            position.extend_from_slice(&after.id);
        }
        if let Some((fact, values)) = self.shown {
            position.extend_from_slice(&fact);
            position.extend_from_slice(&values.to_le_bytes());
        }
        query.next_cursor(list, &position, mac)
    }

    fn read(bytes: &[u8]) -> Option<Turn> {
        let (recorded, rest) = bytes.split_first_chunk::<8>()?;
        let (now, rest) = rest.split_first_chunk::<8>()?;
        let (flags, mut rest) = rest.split_first()?;
        let mut turn = Turn {
            recorded: RecordedAt(Micros(i64::from_le_bytes(*recorded))),
            now: ValidAt(Micros(i64::from_le_bytes(*now))),
            after: None,
            shown: None,
        };
        if flags & 1 != 0 {
            let (at, more) = rest.split_first_chunk::<8>()?;
            let (id, more) = more.split_first_chunk::<16>()?;
            turn.after = Some(FactKey { at: i64::from_le_bytes(*at), id: *id });
            rest = more;
        }
        if flags & 2 != 0 {
            let (fact, more) = rest.split_first_chunk::<16>()?;
            let (values, more) = more.split_first_chunk::<2>()?;
            turn.shown = Some((*fact, u16::from_le_bytes(*values)));
            rest = more;
        }
        rest.is_empty().then_some(turn)
    }
}

/// What a cursor of facts is bound to.
const FACTS: &str = "facts";

/// A query as a question to the engine.
pub(super) fn question(query: &FactsQuery, turn: &Turn) -> Question {
    let pinned = query.times.as_of_valid.is_some() || query.times.valid_during.is_some();
    let superseded = if query.include_superseded { Superseded::Shown } else { Superseded::Hidden };
    Question {
        scope: query.scope.clone(),
        subject: query.subject.clone(),
        predicate: query.predicate.clone(),
        pins: Pins {
            recorded: turn.recorded,
            superseded,
            valid: query.times.as_of_valid,
            valid_during: query.times.valid_during,
            recorded_during: query.times.recorded_during,
        },
        // Without an instant: what has not been ended or replaced by now.
        lapsed_by: (!pinned && !query.include_superseded).then_some(turn.now),
        min_confidence: Confidence::new((query.min_confidence * 10_000.0).round() as u16),
        order: Order::NewestFirst,
        after: turn.after,
        limit: query.limit,
    }
}

/// A position as a cursor carries it: the knowledge it is asked with, and the last fact.
pub(super) fn position(recorded: RecordedAt, key: FactKey) -> Vec<u8> {
    [&recorded.0.0.to_le_bytes()[..], &key.at.to_le_bytes(), &key.id].concat()
}

pub(super) fn position_of(bytes: &[u8]) -> Result<(RecordedAt, FactKey), ApiError> {
    let read = || {
        let (recorded, rest) = bytes.split_first_chunk::<8>()?;
        let (at, id) = rest.split_first_chunk::<8>()?;
        let key = FactKey { at: i64::from_le_bytes(*at), id: id.try_into().ok()? };
        Some((RecordedAt(Micros(i64::from_le_bytes(*recorded))), key))
    };
    read().ok_or_else(|| ApiError::of(ErrorCode::InvalidCursor))
}

/// With which knowledge a page is asked, and after what it goes on. A later page is asked with the
/// knowledge of the first, whatever was learned in between.
pub(super) fn pinned(
    start: PageStart,
    asked: Option<RecordedAt>,
    now: Micros,
) -> Result<(RecordedAt, Option<FactKey>), ApiError> {
    match start {
        PageStart::Begin => Ok((asked.unwrap_or(RecordedAt(now)), None)),
        PageStart::After(position) => {
            let (recorded, after) = position_of(&position)?;
            Ok((recorded, Some(after)))
        }
        PageStart::Offset(_) => Err(ApiError::of(ErrorCode::InvalidCursor)),
    }
}

pub(crate) fn shown(fact: &FactRecord) -> FactBody {
    let first = fact.objects.first();
    let conflicting = if fact.is_conflict() {
        let side = |side: &FactObject| SideBody {
            object: value(side),
            negated: side.negated,
            supports: side.supports.iter().map(ToString::to_string).collect(),
        };
        fact.objects.iter().map(side).collect()
    } else {
        Vec::new()
    };
    FactBody {
        id: fact.id.to_string(),
        scope: fact.scope.to_string(),
        subject: match concept(&fact.subject.term) {
            Some(id) => EntityBody {
                r#type: "concept",
                id: id.to_string(),
                name: id.to_string(),
                confidence: None,
            },
            None => EntityBody {
                r#type: "entity",
                id: fact.subject.id.to_string(),
                name: name(&fact.subject.term),
                confidence: unsure(fact.subject.sure),
            },
        },
        predicate: fact.predicate.clone(),
        mapping: fact.mapping.as_ref().map(|mapping| MappingBody {
            vocabulary: mapping.vocabulary.clone(),
            predicate: mapping.predicate.clone(),
            confidence: mapping.confidence.as_f64(),
        }),
        object: first.map_or_else(|| literal("string", String::new().into()), value),
        negated: first.is_some_and(|object| object.negated),
        conflicting,
        conflict_id: fact.conflict.map(|(id, _)| id.to_string()),
        supports: fact.supports.iter().map(ToString::to_string).collect(),
        valid_from: fact.valid_from.map(|at| time::print(at.0)),
        valid_from_basis: fact.valid_from_basis.map(basis),
        valid_to: fact.valid_to.map(|at| time::print(at.0)),
        valid_to_basis: fact.valid_to_basis.map(basis),
        recorded_from: time::print(fact.recorded_from.0),
        recorded_to: fact.recorded_to.map(|at| time::print(at.0)),
        confidence: fact.confidence.as_f64(),
        extractor: fact.extractor.clone(),
        superseded_by: fact.superseded_by.map(|id| id.to_string()),
        supersedes: fact.supersedes.map(|id| id.to_string()),
        supporting_evidence_redacted: fact.evidence_redacted,
        partial: fact.is_redacted(),
        partial_reason: fact.is_redacted().then_some("supporting_evidence_redacted"),
    }
}

/// How a bound is known.
pub(super) fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Observed => "observed",
        Basis::Stated => "stated",
    }
}

/// The concept that a triple names: by its id, because names of concepts change.
fn concept(term: &Term) -> Option<ConceptId> {
    match term {
        Term::Named { name, .. } => name.parse().ok(),
        Term::Actor(_) | Term::Of { .. } => None,
    }
}

/// How somebody or something is called.
pub(crate) fn name(term: &Term) -> String {
    match term {
        Term::Actor(actor) => actor.to_string(),
        Term::Named { name, .. } => name.clone(),
        Term::Of { owner, relation } => format!("{}/{relation}", name(owner)),
    }
}

pub(super) fn value(object: &FactObject) -> ValueBody {
    if object.redacted {
        return literal("string", serde_json::Value::Null);
    }
    let value = value_of(&object.object, object.entity);
    match object.object {
        Object::Entity(_) if value.r#type == "entity" => {
            ValueBody { confidence: unsure(object.sure), ..value }
        }
        _ => value,
    }
}

/// How sure it is who is meant, unless it is certain.
fn unsure(sure: Confidence) -> Option<f64> {
    (sure < Confidence::FULL).then(|| sure.as_f64())
}

/// What is said, and the entity that it is.
pub(super) fn value_of(object: &Object, entity: Option<EntityId>) -> ValueBody {
    if let Object::Entity(term) = object
        && let Some(concept) = concept(term)
    {
        let id = concept.to_string();
        let value = literal("string", id.clone().into());
        return ValueBody { r#type: "concept", id: Some(id), datatype: None, ..value };
    }
    match object {
        Object::Entity(term) => ValueBody {
            r#type: "entity",
            id: entity.map(|id| id.to_string()),
            name: Some(name(term)),
            confidence: None,
            datatype: None,
            value: name(term).into(),
            unit: None,
        },
        Object::Text(text) => literal("string", text.clone().into()),
        Object::Date(date) => literal("date", date.clone().into()),
        Object::Bool(yes) => literal("boolean", (*yes).into()),
        Object::Number { value, unit } => ValueBody { unit: unit.clone(), ..number(value) },
        Object::Money { amount, currency } => {
            ValueBody { datatype: Some("money"), unit: Some(currency.clone()), ..number(amount) }
        }
    }
}

fn literal(datatype: &'static str, value: serde_json::Value) -> ValueBody {
    ValueBody {
        r#type: "literal",
        id: None,
        name: None,
        confidence: None,
        datatype: Some(datatype),
        value,
        unit: None,
    }
}

/// As a number, or as it is written if JSON cannot hold it.
fn number(text: &str) -> ValueBody {
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(whole), _) => literal("integer", whole.into()),
        (_, Ok(number)) if number.is_finite() => literal("number", number.into()),
        _ => literal("number", text.into()),
    }
}
