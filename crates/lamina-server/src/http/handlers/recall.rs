//! `POST /v1/recall`: what is known about a question, in layers.

pub(super) mod block;
mod diagnostics;
mod graph;
pub(super) mod stream;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::response::Response;
use lamina_api::time;
use lamina_api::v1::admin::ByteRange;
use lamina_api::v1::damaged::DamagedItem;
use lamina_api::v1::events::EventBody;
use lamina_api::v1::recall::{
    ChainBody, FragmentBody, HopBody, LayersBody, PackBody, PackEventBody, ProvenanceBody, Ranked,
    RecallRequest, StandingBody, TrailBody, WhyNotBody,
};
use lamina_core::policy::{Caller, Preset};
use lamina_core::read::pack::LAMBDA;
use lamina_core::read::score::Signal;
use lamina_core::read::tuning::Tuning;
use lamina_engine::ReadPermit;
use lamina_engine::read::recall::{
    Applies, Cited, Excerpt, FactChain, Fragment, HopRecord, MayRecall, Ranked as Found, Recalled,
    StandingOffices,
};

use lamina_types::capability::{
    Capability, DiagnosticsRead, LlmInvoke, ScopeReadLocal, UnderstandingRead,
    UnderstandingReadCrossScope,
};
use lamina_types::limits::BODY_BYTES_MAX;
use lamina_types::recall::{Detail, PackView, Recall};
use lamina_types::{EventId, EventRecord, LifecycleId, PackId, ScopeView};
use serde_json::{Map, Value, json};

use super::{beliefs, episodes, events, facts, understanding};
use crate::http::app::App;
use crate::http::call::{Call, Desk};
use crate::http::failure::{Failure, internal};
use crate::http::packs::Kept;
use crate::http::record::AccessTimes;
use crate::http::reply;

/// Said where records of a time were written after the knowledge that is asked with.
pub(super) const ASK_OF_VALID_TIME: &str = "Nothing was recorded by that time. Records that happened before it \
    were written later: ask with temporal.as_of_valid for how things were then.";

/// What is known about a question.
pub(super) async fn recall(mut call: Call) -> Result<Response, Failure> {
    let body = call.json_body(BODY_BYTES_MAX as u64).await?;
    let question = RecallRequest::read(&body)?;
    if question.view == PackView::Narrative {
        call.experimental()?;
    }
    let caller = call.caller()?;
    let seen = if question.stream { stream::seen(&call)? } else { None };
    let asked = call.app.env.clock.monotonic();
    let may = may(&call.desk, &caller, &question).await?;
    call.record.asked_policy(call.app.env.clock.monotonic().0 - asked.0);
    let kept = again(&call, &caller, &question)?.filter(|kept| kept.is_within(&may));
    if question.stream {
        let request = call.id.as_str().to_owned();
        return streamed(&call.desk, request, &caller, (may, question), (kept, seen)).await;
    }
    if let Some(kept) = kept {
        let mut response = reply::json_bytes(kept.body.clone());
        if let Ok(yes) = axum::http::HeaderValue::try_from("true") {
            response.headers_mut().insert(reply::REPLAY, yes);
        }
        return Ok(response);
    }
    let ignored = question.view == PackView::Raw && question.temporal.valid_during.is_some();
    let request = call.id.as_str().to_owned();
    let made = make(&call.desk, request, &caller, may, question).await?;
    let mut response = reply::json_bytes(made.body.clone());
    if ignored {
        reply::warn(&mut response, "valid_during_ignored_for_view_raw");
    }
    Ok(response)
}

/// The same as events; what was seen of it before is not sent again.
async fn streamed(
    desk: &Desk,
    request: String,
    caller: &Caller,
    (may, question): (MayRecall, Recall),
    (kept, seen): (Option<Arc<Kept>>, Option<LifecycleId>),
) -> Result<Response, Failure> {
    let app = &desk.app;
    let now = app.env.clock.monotonic();
    if let Some(rest) = seen.and_then(|seen| app.replays.after(caller, seen, now)) {
        // The stream may be of another question than this one.
        let may = may_again(desk, caller, &rest.pack).await?;
        if rest.pack.is_within(&may) {
            return Ok(rest.response(app.closing.clone()));
        }
    }
    let kept = match kept {
        Some(kept) => kept,
        None => make(desk, request, caller, may, question).await?,
    };
    let events = stream::events(&kept)?;
    let at = (stream::first(app), now);
    let sent = app.replays.keep(caller, &kept, at, &events);
    Ok(sent.response(app.closing.clone()))
}

/// Leave to read as far as the view reaches, and to see what was asked for (R254).
pub(crate) async fn may(
    desk: &Desk,
    caller: &Caller,
    question: &Recall,
) -> Result<MayRecall, Failure> {
    let scope = &question.scope;
    let mut conditions = vec![ScopeReadLocal::NAME];
    if question.detail != Detail::None {
        conditions.push(DiagnosticsRead::NAME);
    }
    if question.view == PackView::Narrative {
        conditions.push(LlmInvoke::NAME);
    }
    desk.ask(caller, &conditions, Some(scope)).await?;
    let reach = desk.permit_read(caller, scope, question.view.reach()).await?;
    // Whoever may not read concepts gets a pack without them.
    let stack = desk.app.stack(caller, Some(scope)).await?;
    let beyond = question.view.reach() == ScopeView::Descend;
    let wide =
        || stack.allows_all(caller, &[UnderstandingReadCrossScope::NAME], Some(scope)).is_ok();
    let concepts = stack.permit::<UnderstandingRead>(caller, Some(scope)).ok();
    let concepts = concepts.filter(|_| !beyond || wide());
    Ok(MayRecall { reach: Arc::new(reach), concepts, standing: offices(&desk.app, caller) })
}

/// Who may write instructions for others in the tenant of a caller.
fn offices(app: &Arc<App>, caller: &Caller) -> StandingOffices {
    if app.preset() == Preset::DevLocal {
        return StandingOffices::everybody();
    }
    let (app, ordinal) = (Arc::clone(app), caller.tenant);
    let tenant = app.engine.tenant_name(ordinal);
    StandingOffices::of_delegates(Arc::new(move |actor| {
        app.gate.named_caller(&tenant, actor.clone(), ordinal).is_delegate()
    }))
}

/// Leave to be shown a pack that was made before, by the policy and the token of now.
pub(super) async fn may_again(
    desk: &Desk,
    caller: &Caller,
    pack: &Kept,
) -> Result<MayRecall, Failure> {
    may(desk, caller, &pack.question).await
}

/// The pack of the same key, if it still lives (R263).
pub(super) fn again(
    call: &Call,
    caller: &Caller,
    question: &Recall,
) -> Result<Option<Arc<Kept>>, Failure> {
    let Some(key) = &question.idempotency_key else { return Ok(None) };
    let now = call.app.env.clock.monotonic();
    Ok(call.app.packs.by_key(caller, key, question, now)?)
}

pub(super) async fn make(
    desk: &Desk,
    request: String,
    caller: &Caller,
    may: MayRecall,
    mut question: Recall,
) -> Result<Arc<Kept>, Failure> {
    let app = &desk.app;
    let started = app.env.clock.monotonic();
    let reach = Arc::clone(&may.reach);
    if question.view == PackView::Raw {
        question.temporal.valid_during = None;
    }
    let (asked, concepts) = (question.clone(), may.concepts.is_some());
    let recalled = app.engine.recall(may, question).await?;
    let read = app.env.clock.monotonic();
    let random = lamina_env::rng::draw::<8>(&*app.env.rng);
    let id = PackId::mint(app.env.clock.wall(), random);
    let mut body = pack(app, request, &reach, &asked, (&recalled, id)).await?;
    if asked.detail != Detail::None {
        let rendered = app.env.clock.monotonic();
        let spent = desk.record.spent();
        let (recall_us, render_us) = (read.0 - started.0, rendered.0 - read.0);
        let times = times(&recalled, TimesSpent { access: spent, recall_us, render_us });
        body.diagnostics = Some(diagnostics::of(&reach, &asked, &recalled, times));
    }
    // What is sent and what is kept are the same bytes.
    let written = match (asked.exclude_content, recalled.excerpts.is_empty()) {
        (false, true) => serde_json::to_vec(&body),
        (false, false) => serde_json::to_value(&body).and_then(|mut body| {
            with_excerpts(&mut body, &recalled.excerpts);
            serde_json::to_vec(&body)
        }),
        (true, _) => body.without_content().and_then(|body| serde_json::to_vec(&body)),
    };
    let written = written.map_err(|error| internal(error.to_string()))?;
    let recalled = Arc::new(recalled);
    let body = written.into();
    let kept = Kept { id, body, question: asked, recalled, reach, concepts };
    Ok(app.packs.keep(caller, kept, app.env.clock.monotonic()))
}

async fn pack(
    app: &App,
    request_id: String,
    reach: &ReadPermit,
    question: &Recall,
    (recalled, id): (&Recalled, PackId),
) -> Result<PackBody, Failure> {
    let shows = !matches!(question.view, PackView::Narrative | PackView::Structured);
    let layers = match shows {
        true => layers(app, reach, recalled, &question.query).await?,
        false => LayersBody::default(),
    };
    let context_block = match question.view {
        PackView::Holistic | PackView::Descend => block::of(recalled, question.citation_mode),
        PackView::Narrative => block::story(recalled),
        PackView::Raw | PackView::Granular | PackView::Structured => String::new(),
    };
    let failed = recalled.failed.iter().map(|layer| layer.as_str());
    let failed = failed.chain(recalled.unindexed.then_some("search_index"));
    let failed: Vec<&str> = failed.chain(recalled.unembedded.then_some("embedder")).collect();
    Ok(PackBody {
        pack_id: id.to_string(),
        request_id,
        scope: question.scope.to_string(),
        view: question.view.as_str(),
        context_block,
        certainty: recalled.certainty.as_str(),
        layers,
        standing: recalled.standing.iter().map(standing).collect(),
        profile: recalled.profile.iter().map(facts::shown).collect(),
        chain: recalled.chain.as_ref().map(chain),
        knowledge_subgraph: (question.view == PackView::Structured).then(|| graph::of(recalled)),
        provenance: ProvenanceBody { trail: trail(recalled), citations: citations(recalled) },
        diagnostics: None,
        as_of: time::print(recalled.recorded.0),
        why_not: recalled.why_not.map(|why| WhyNotBody {
            candidates: why.candidates,
            best_score: rounded(why.best_score),
            floor: why.floor,
            hint: why.is_before_records.then_some(ASK_OF_VALID_TIME),
        }),
        damaged: recalled.damaged.iter().map(DamagedItem::new).collect(),
        partial: !failed.is_empty() || !recalled.damaged.is_empty(),
        partial_reason: partial_reason(&failed, recalled.damaged.len()),
    })
}

fn chain(chain: &FactChain) -> ChainBody {
    let hop = |hop: &HopRecord| HopBody {
        fact: hop.fact.as_ref().map(|fact| fact.id.to_string()),
        text: hop.words.clone(),
        value: hop.value.clone(),
        event: hop.event.map(|event| event.to_string()),
    };
    ChainBody {
        hops: chain.hops.iter().map(hop).collect(),
        branches: chain.branches.iter().map(|hops| hops.iter().map(hop).collect()).collect(),
        missing: chain.missing.clone(),
    }
}

/// Why a pack is not everything.
fn partial_reason(failed: &[&str], damaged: usize) -> Option<String> {
    let failed =
        (!failed.is_empty()).then(|| format!("DERIVED_LAYER_UNAVAILABLE: {}", failed.join(", ")));
    let damaged = (damaged > 0).then(|| format!("RECORD_DAMAGED: {damaged} records"));
    let reasons: Vec<String> = failed.into_iter().chain(damaged).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

fn fragments(event: &EventRecord, fragment: &Fragment) -> FragmentBody {
    let via = [("bm25", fragment.lexical), ("vector", fragment.vector)];
    FragmentBody {
        chunk_id: format!("{}#{}", event.id, fragment.number),
        text_source: "content",
        byte_range: ByteRange { start: fragment.bytes.0, end: fragment.bytes.1 },
        language: event.experience.hints.language.clone(),
        matched_via: via.into_iter().filter_map(|(name, is)| is.then_some(name)).collect(),
    }
}

/// Says in the content of events that only a part of it is there.
fn with_excerpts(pack: &mut Value, excerpts: &BTreeMap<EventId, Excerpt>) {
    let events = pack.pointer_mut("/layers/events").and_then(Value::as_array_mut);
    for event in events.into_iter().flatten() {
        let id = event.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
        let excerpt = id.and_then(|id: EventId| excerpts.get(&id));
        let content = event.get_mut("content").and_then(Value::as_object_mut);
        if let Some((Excerpt { original_bytes, bytes: (start, end) }, content)) =
            excerpt.zip(content)
        {
            content.insert("_partial".to_owned(), json!(true));
            content.insert("_partial_reason".to_owned(), json!("budget_excerpt"));
            content.insert("_original_bytes".to_owned(), json!(original_bytes));
            content.insert("_excerpt_ranges".to_owned(), json!([{"start": start, "end": end}]));
        }
    }
}

fn standing(applies: &Applies) -> StandingBody {
    StandingBody {
        id: applies.id.to_string(),
        scope: applies.scope.to_string(),
        actor: applies.author.actor.to_string(),
        caller: applies.author.caller.to_string(),
        observed_at: time::print(applies.observed_at.0),
        text: Some(applies.text.clone()),
    }
}

async fn layers(
    app: &App,
    reach: &ReadPermit,
    recalled: &Recalled,
    query: &str,
) -> Result<LayersBody, Failure> {
    let mut sight = app.engine.sight_of(app.boot(), reach).await;
    let ids = recalled.events.iter().map(|found| found.record.id);
    let derives = app.engine.derived_of_pack(&mut sight, ids).await?;
    let event = |(at, (found, derives)): (usize, (&Found<EventRecord>, Vec<String>))| {
        let fragment = recalled.fragment(at, query);
        let fragment = fragment.map(|fragment| fragments(&found.record, &fragment));
        let record = PackEventBody {
            event: EventBody::new(&found.record, derives),
            matched_fragments: fragment.into_iter().collect(),
            below_floor: recalled.is_below_floor(),
        };
        placed(at, record, found.score)
    };
    let events = recalled.events.iter().zip(derives).enumerate().map(event).collect();
    Ok(LayersBody {
        beliefs: ranked(&recalled.beliefs, beliefs::shown),
        facts: ranked(&recalled.facts, facts::shown),
        episodes: ranked(&recalled.episodes, |episode| episodes::shown(episode.clone())),
        events,
        understanding: ranked(&recalled.concepts, |concept| understanding::shown(concept.clone())),
    })
}

fn ranked<T, B>(found: &[Found<T>], shown: impl Fn(&T) -> B) -> Vec<Ranked<B>> {
    let found = found.iter().enumerate();
    found.map(|(at, found)| placed(at, shown(&found.record), found.score)).collect()
}

/// A record at its place in its layer.
fn placed<B>(at: usize, record: B, score: f64) -> Ranked<B> {
    Ranked { record, ranked_position: at + 1, score: rounded(score) }
}

/// From every derived record to what it stands on, as ids.
pub(super) fn citations(recalled: &Recalled) -> BTreeMap<String, Vec<String>> {
    let printed = |cited: &Vec<Cited>| cited.iter().map(ToString::to_string).collect();
    recalled.citations.iter().map(|(id, cited)| (id.clone(), printed(cited))).collect()
}

/// What was done, by the names that clients know (R344).
pub(super) fn trail(recalled: &Recalled) -> Vec<TrailBody> {
    let done = &recalled.trail;
    let phase = |phase: &'static str, said: Value, us: i64| TrailBody {
        phase,
        said: match said {
            Value::Object(said) => said,
            _ => Map::new(),
        },
        elapsed_ms: milliseconds(us),
    };
    let weights = Tuning::USUAL.weights;
    let weights: Map<String, Value> = Signal::ALL
        .iter()
        .map(|signal| (signal.as_str().to_owned(), json!(weights.of(*signal))))
        .collect();
    vec![
        phase(
            "ARIL_classify",
            json!({"plan": recalled.plan.as_str(), "question_type": recalled.plan.question_type()}),
            done.plan_us,
        ),
        phase(
            "hybrid_retrieve",
            json!({"bm25_hits": done.lexical_hits, "hnsw_hits": done.vector_hits}),
            done.search_us,
        ),
        phase("rerank", json!({"model": null}), 0),
        phase(
            "graph_expand",
            json!({"added_nodes": done.neighbours + done.derived}),
            done.expand_us + done.derive_us,
        ),
        phase("score", json!({"weights": weights}), done.rank_us),
        // Where everything fits nothing has to make room, and the order stays as it is.
        phase(
            "mmr",
            json!({"lambda": if recalled.evicted > 0 { LAMBDA } else { 1.0 }}),
            done.pack_us,
        ),
    ]
}

/// The parts of the time of one recall.
#[derive(Debug, Clone, Copy)]
struct TimesSpent {
    access: AccessTimes,
    recall_us: i64,
    render_us: i64,
}

fn times(recalled: &Recalled, spent: TimesSpent) -> BTreeMap<&'static str, f64> {
    let TimesSpent { access: AccessTimes { auth_us, policy_us }, recall_us, render_us } = spent;
    BTreeMap::from([
        ("auth", milliseconds(auth_us)),
        ("policy_check", milliseconds(policy_us)),
        ("recall", milliseconds(recall_us)),
        ("search", milliseconds(recalled.trail.search_us)),
        ("expand", milliseconds(recalled.trail.expand_us)),
        ("rerank", 0.0),
        ("rank", milliseconds(recalled.trail.rank_us)),
        ("derive", milliseconds(recalled.trail.derive_us)),
        ("pack", milliseconds(recalled.trail.pack_us)),
        ("render_context_block", milliseconds(render_us)),
        ("total", milliseconds(auth_us + policy_us + recall_us + render_us)),
    ])
}

/// Four digits are more than a score means.
pub(super) fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}

pub(super) fn milliseconds(us: i64) -> f64 {
    us as f64 / 1_000.0
}
