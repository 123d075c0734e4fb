//! `/v1/understanding` and `/v1/concepts`.

use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use lamina_api::ApiError;
use lamina_api::query::Params;
use lamina_api::time;
use lamina_api::v1::scopes::ScopePolicies;
use lamina_api::v1::understanding::{
    ConceptBody, ConceptHistory, ConceptQuery, ConceptsPage, ConceptsQuery, CoverageBody, EdgeBody,
    RelatedBody, RelatedPage, RelatedQuery, SupportedBy, SynthesisInputs, SynthesizeRequest,
    Synthesized, TopicBody, duration,
};
use lamina_core::derive::concepts::{Edge, Relation, Standing};
use lamina_core::policy::Caller;
use lamina_engine::Error as EngineError;
use lamina_engine::read::understanding::{
    ConceptPins, ConceptRecord, ConceptsQuery as Question, MayUnderstand, NamedRelation,
    RelatedConcept,
};
use lamina_engine::write::understanding::Synthesis;
use lamina_types::capability::{
    Capability as _, ScopeReadLocal, UnderstandingRead, UnderstandingReadCrossScope,
    UnderstandingSynthesize,
};
use lamina_types::layer::Confidence;
use lamina_types::{ConceptId, RecordedAt, ScopePath, ScopeView};

use super::facts::{pinned, position};
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::list_page::{ListPage, WholeList};
use crate::http::reply;

/// Related concepts that are listed, over all pages.
const RELATED_MAX: usize = 1_000;
/// What the built-in synthesizer is called.
const SYNTHESIZER: &str = "lamina-builtin";
const SYNTHESIZER_VERSION: &str = "1";
/// Values of a scope's `policies.consolidation` that ask for no synthesis.
const NO_SYNTHESIS: [&str; 3] = ["none", "off", "disabled"];

/// One page of concepts.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let query = ConceptsQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let may = may(&call.desk, &caller, &query.scope, query.view).await?;
    let engine = call.app.engine.clone();
    let mac = |bytes: &[u8]| engine.cursor_mac(caller.tenant, bytes);
    let (recorded, after) =
        pinned(query.start(&mac)?, query.at.times.as_of_recorded, engine.log_time())?;
    if disabled(&call.desk, &caller, &query.scope).await? {
        return reply::json(StatusCode::OK, &nothing());
    }
    let waits = waits(&call.desk, &caller, &query.scope).await?;
    let question = Question {
        scope: query.scope.clone(),
        topic: query.topic.clone(),
        depth: query.depth,
        pins: ConceptPins {
            valid_during: query.at.times.valid_during,
            recorded_during: query.at.times.recorded_during,
            ..pins(query.at, recorded)
        },
        min_confidence: Confidence::new(query.min_confidence),
        after,
        limit: query.limit,
    };
    let page = engine.concepts(may, question).await?;
    let next = page.next.map(|key| query.next_cursor(&position(recorded, key), &mac));
    let page = ConceptsPage {
        items: page.items.into_iter().map(shown).collect(),
        has_more: next.is_some(),
        next_cursor: next,
        partial: waits,
        partial_reason: waits.then_some("consolidation_in_progress"),
    };
    reply::json(StatusCode::OK, &page)
}

/// One concept.
pub(super) async fn one(mut call: Call) -> Result<Response, Failure> {
    let id: ConceptId = call.path_id("concept_id").await?;
    let query = ConceptQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let (may, _) = home(&call.desk, &caller, id).await?;
    let engine = &call.app.engine;
    let recorded = query.times.as_of_recorded.unwrap_or(RecordedAt(engine.now()));
    let concept = engine.concept(may, id, pins(query, recorded)).await?;
    reply::json(StatusCode::OK, &shown(concept))
}

/// The versions of a concept.
pub(super) async fn history(mut call: Call) -> Result<Response, Failure> {
    let id: ConceptId = call.path_id("concept_id").await?;
    let caller = call.caller()?;
    let (may, _) = home(&call.desk, &caller, id).await?;
    let versions = call.app.engine.concept_history(may, id).await?;
    let versions: Vec<ConceptBody> = versions.into_iter().map(shown).collect();
    let current = versions.first().cloned().ok_or(EngineError::NotFound)?;
    reply::json(StatusCode::OK, &ConceptHistory { current, versions })
}

/// What is related to a concept.
pub(super) async fn related(mut call: Call) -> Result<Response, Failure> {
    let id: ConceptId = call.path_id("concept_id").await?;
    let pairs = call.pairs()?;
    let query = RelatedQuery::parse(&pairs)?;
    let caller = call.caller()?;
    let (may, _) = home(&call.desk, &caller, id).await?;
    let engine = &call.app.engine;
    let RelatedQuery { relation, depth } = query;
    let list = format!("related {id} {relation:?} {depth}");
    let found = engine.concepts_related(may, id, relation, depth, RELATED_MAX).await?;
    let found = found.ok_or_else(|| {
        let reason = "is neither a relation that every tenant has nor one of a vocabulary in force";
        ApiError::invalid_parameter("relation", reason)
    })?;
    let items = found
        .into_iter()
        .map(|RelatedConcept { concept, depth, by, relation, weight }| RelatedBody {
            concept: shown(concept),
            depth,
            relation: relation.map_or_else(|| relation_name(by.relation), |one| one.name),
            weight: share(weight),
        })
        .collect();
    let whole = WholeList { app: &call.app, tenant: caller.tenant, name: &list, items };
    let page = whole.page(&Params::new(&pairs), |it: &RelatedBody| it.concept.id.clone())?;
    let ListPage { items, next_cursor } = page;
    let has_more = next_cursor.is_some();
    let shape = RelatedPage { concept_id: id.to_string(), items, next_cursor, has_more };
    reply::json(StatusCode::OK, &shape)
}

/// How much of a scope is understood.
pub(super) async fn coverage(call: Call) -> Result<Response, Failure> {
    let pairs = call.pairs()?;
    let params = Params::new(&pairs);
    let (scope, view) = (params.scope()?, params.view()?);
    let caller = call.caller()?;
    let may = may(&call.desk, &caller, &scope, view).await?;
    if disabled(&call.desk, &caller, &scope).await? {
        return reply::json(StatusCode::OK, &not_covered(&scope));
    }
    let covered = call.app.engine.understanding_coverage(may, scope.clone()).await?;
    let reason = if covered.cut || waits(&call.desk, &caller, &scope).await? {
        Some("consolidation_in_progress")
    } else {
        None
    };
    let topic = |(topic, concepts, sure): (String, u32, Confidence)| TopicBody {
        topic,
        concepts,
        avg_confidence: sure.as_f64(),
    };
    let body = CoverageBody {
        scope: scope.to_string(),
        concept_count: covered.concepts_count,
        by_topic: covered.topics.into_iter().map(topic).collect(),
        coverage_score: covered.consulted.as_f64(),
        synthesis_lag: duration(covered.lag_us),
        partial: reason.is_some(),
        partial_reason: reason,
    };
    reply::json(StatusCode::OK, &body)
}

/// Makes what is understood of a scope again.
pub(super) async fn synthesize(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let wanted = SynthesizeRequest::read(&body, call.idempotency_key()?)?;
    let scope = wanted.scope.clone();
    let permit = call.desk.permit::<UnderstandingSynthesize>(&caller, Some(&scope)).await?;
    let asked = Synthesis {
        scope: wanted.scope,
        topics: wanted.topics,
        force: wanted.force,
        idempotency_key: wanted.idempotency_key,
    };
    let noted = call.noted("");
    let done = call.app.engine.synthesize(&permit, asked, &noted).await?;
    let body = Synthesized {
        job_id: done.job.to_string(),
        status: "completed",
        lifecycle_stream: format!("/v1/lifecycle/stream?scope={scope}"),
        scope: scope.to_string(),
    };
    let mut response = reply::json(StatusCode::ACCEPTED, &body)?;
    if done.replayed {
        response.headers_mut().insert(reply::REPLAY, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// Leave to read the concepts of a scope. Walking down shows scopes beside each other.
pub(crate) async fn may(
    desk: &Desk,
    caller: &Caller,
    scope: &ScopePath,
    view: ScopeView,
) -> Result<MayUnderstand, Failure> {
    let reach = desk.permit_read(caller, scope, view).await?;
    if view == ScopeView::Descend {
        desk.ask(caller, &[UnderstandingReadCrossScope::NAME], Some(scope)).await?;
    }
    let concepts = desk.permit::<UnderstandingRead>(caller, Some(scope)).await?;
    Ok(MayUnderstand { concepts, reach })
}

/// Leave to read one concept, and its scope. An id that is not there is not found only for those who
/// could have read it anywhere (C35).
async fn home(
    desk: &Desk,
    caller: &Caller,
    id: ConceptId,
) -> Result<(MayUnderstand, ScopePath), Failure> {
    let engine = &desk.app.engine;
    let own = engine.concept_home(caller.tenant, id).await;
    let shared = |tenant| engine.concept_home(tenant, id);
    match desk.found::<UnderstandingRead, _, _>(caller, own, shared, |scope| scope).await {
        Err(EngineError::NotFound) => {
            desk.permit::<UnderstandingRead>(caller, None).await?;
            desk.record.forget();
            Err(EngineError::NotFound.into())
        }
        found => {
            let scope = found?;
            desk.alike::<UnderstandingRead>(caller, &scope).await?;
            Ok((may(desk, caller, &scope, ScopeView::Local).await?, scope))
        }
    }
}

/// Whether the scope asks that nothing is synthesized in it.
async fn disabled(desk: &Desk, caller: &Caller, scope: &ScopePath) -> Result<bool, Failure> {
    let stack = desk.app.stack(caller, Some(scope)).await?;
    let Ok(permit) = stack.permit::<ScopeReadLocal>(caller, Some(scope)) else { return Ok(false) };
    let policies = match desk.app.engine.scope_get(&permit, scope).await {
        Ok(record) => ScopePolicies::stored(&record.policies),
        Err(EngineError::NotFound) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    Ok(policies.consolidation.is_some_and(|word| NO_SYNTHESIS.contains(&word.as_str())))
}

/// Whether something that was written waits to be derived from.
async fn waits(desk: &Desk, caller: &Caller, scope: &ScopePath) -> Result<bool, Failure> {
    let engine = &desk.app.engine;
    let permit = engine.read_permit(&desk.app.boot(), caller, scope, ScopeView::Local).await?;
    let Ok(permit) = permit else { return Ok(false) };
    Ok(engine.derivation_status(permit, scope.clone()).await?.waiting > 0)
}

fn nothing() -> ConceptsPage {
    ConceptsPage {
        items: Vec::new(),
        next_cursor: None,
        has_more: false,
        partial: true,
        partial_reason: Some("synthesis_disabled_by_policy"),
    }
}

fn not_covered(scope: &ScopePath) -> CoverageBody {
    CoverageBody {
        scope: scope.to_string(),
        concept_count: 0,
        by_topic: Vec::new(),
        coverage_score: 0.0,
        synthesis_lag: duration(0),
        partial: true,
        partial_reason: Some("synthesis_disabled_by_policy"),
    }
}

fn pins(at: ConceptQuery, recorded: RecordedAt) -> ConceptPins {
    ConceptPins {
        recorded,
        valid: at.times.as_of_valid,
        valid_during: None,
        recorded_during: None,
        deprecated: at.include_deprecated,
    }
}

pub(super) fn shown(concept: ConceptRecord) -> ConceptBody {
    let ids = |ids: &[ConceptId]| ids.iter().map(ToString::to_string).collect::<Vec<String>>();
    let deprecated = concept.standing != Standing::Held;
    let stance = match concept.confidence.get() {
        _ if deprecated => "deprecated",
        sure if sure < 5_000 => "uncertain",
        _ => "supported",
    };
    let given_up = concept.standing == Standing::Deprecated;
    let synthesized = time::print(concept.recorded_from.0);
    ConceptBody {
        id: concept.id.to_string(),
        scope: concept.scope.to_string(),
        name: concept.name.unwrap_or_else(|| concept.id.to_string()),
        things: concept.things,
        canonical_id: concept.canonical.map(|id| id.to_string()),
        version: concept.version,
        version_id: concept.version_id.to_string(),
        previous_version: concept.previous.map(|id| id.to_string()),
        derived_from: ids(&concept.derived_from),
        summary: concept.summary.unwrap_or_default(),
        summary_embedding: None,
        synthesis_inputs: SynthesisInputs {
            layers: vec!["episodes", "facts"],
            filters: serde_json::Map::new(),
            as_of: synthesized.clone(),
            synthesizer: SYNTHESIZER,
            synthesizer_version: SYNTHESIZER_VERSION,
        },
        supported_by: SupportedBy {
            facts: concept.facts.iter().map(ToString::to_string).collect(),
            episodes: concept.episodes.iter().map(ToString::to_string).collect(),
            beliefs: concept.beliefs.iter().map(ToString::to_string).collect(),
            external: Vec::new(),
        },
        edges: concept.edges.iter().map(|one| edge(one, &concept.relations)).collect(),
        valid_from: time::print(concept.valid_from.0),
        valid_to: concept.valid_to.map(|at| time::print(at.0)),
        recorded_to: concept.recorded_to.map(|at| time::print(at.0)),
        last_synthesized_at: synthesized.clone(),
        recorded_from: synthesized,
        stance,
        confidence: concept.confidence.as_f64(),
        staleness_score: concept.staleness.as_f64(),
        staleness_reason: (concept.staleness.get() > 0).then_some("new_supports"),
        support_loss_fraction: concept.support_loss.as_f64(),
        coverage_score: concept.coverage.as_f64(),
        partial: given_up,
        partial_reason: given_up.then_some("insufficient_supporting_facts"),
        progress: given_up.then(|| 1.0 - concept.support_loss.as_f64()),
    }
}

fn edge(edge: &Edge, known: &[NamedRelation]) -> EdgeBody {
    let added = known.iter().find(|one| one.relation == edge.relation);
    EdgeBody {
        to: edge.to.to_string(),
        relation: added.map_or_else(|| relation_name(edge.relation), |one| one.name.clone()),
        weight: share(edge.weight),
        vocabulary: added.map_or("default", |one| &one.vocabulary).to_owned(),
    }
}

/// One that every tenant has; what a vocabulary added and no longer has is no more than related.
fn relation_name(relation: Relation) -> String {
    relation.as_str().unwrap_or("related_to").to_owned()
}

fn share(ten_thousandths: u32) -> f64 {
    f64::from(ten_thousandths.min(10_000)) / 10_000.0
}
