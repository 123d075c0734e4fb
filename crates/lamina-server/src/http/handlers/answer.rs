//! `POST /v1/answer` and `POST /v1/compose`: what is recalled, told in sentences (R265-R269).
//!
//! Without a language model the sentences are quoted; with one it is shown the pack and nothing else,
//! and every marker that it writes is held against the pack.

mod chain;
mod document;
mod model;
mod told;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::v1::answer::{
    AnswerBody, AnswerDiagnostics, AnswerRequest, AnswerTokens, Answering, ComposeBody,
    ComposeRequest, Composition, SentenceBody,
};
use lamina_api::v1::recall::ProvenanceBody;
use lamina_api::{ApiError, time};
use lamina_core::policy::Caller;
use lamina_core::read::tokens::estimate;
use lamina_engine::read::answer::{Quote, Quotes};
use lamina_engine::read::recall::Recalled;
use lamina_models::llm::Llm;
use lamina_types::capability::{Capability as _, LlmInvoke};
use lamina_types::limits::BODY_BYTES_MAX;
use lamina_types::recall::{Detail, Layer, Recall};
use lamina_types::{ErrorCode, ModelFault};

use super::recall::{self, block, milliseconds, rounded, stream};
use crate::http::app::App;
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::packs::Kept;
use crate::http::reply;
use told::Told;

/// The name of what quotes.
const EXTRACTIVE: &str = "extractive";
/// Sentences of an answer to a question that has one, and of one that asks for several things.
const QUOTES: usize = 3;
const QUOTES_OF_SEVERAL: usize = 6;

/// Answers a question from what is recalled.
pub(super) async fn answer(mut call: Call) -> Result<Response, Failure> {
    let body = call.json_body(BODY_BYTES_MAX as u64).await?;
    let asked = AnswerRequest::read(&body)?;
    if asked.recall.stream {
        call.experimental()?;
    }
    let caller = call.caller()?;
    let (desk, request) = (call.desk.clone(), call.id.as_str().to_owned());
    let app = &desk.app;
    let seen = if asked.recall.stream { stream::seen(&call)? } else { None };
    let started = app.env.clock.monotonic();
    if let Some(rest) = seen.and_then(|seen| app.replays.after(&caller, seen, started)) {
        let scope = &rest.pack.question.scope;
        desk.ask(&caller, &[LlmInvoke::NAME], Some(scope)).await?;
        let may = recall::may_again(&desk, &caller, &rest.pack).await?;
        if rest.pack.is_within(&may) {
            return Ok(rest.response(app.closing.clone()));
        }
    }
    let packed = packed(&desk, &caller, &asked, &request).await?;
    let started = app.env.clock.monotonic();
    let recalled = &packed.kept.recalled;
    let said = say(app, &asked, recalled).await?;
    let answered_us = app.env.clock.monotonic().0 - started.0;
    let shape = shaped(&asked, &packed, (said, answered_us), request);
    if asked.recall.stream {
        let events = told::events(&shape)?;
        let at = (stream::first(app), app.env.clock.monotonic());
        let sent = app.replays.keep(&caller, &packed.kept, at, &events);
        return Ok(sent.response(app.closing.clone()));
    }
    reply::json(StatusCode::OK, &shape)
}

/// What is said, by whom, and what it took.
#[derive(Debug, Default)]
struct Said {
    told: Told,
    by: String,
    quotes: Quotes,
    removed: Vec<String>,
    fault: Option<&'static str>,
    usage: Option<(u64, u64)>,
}

/// Has the model answer, if there is one and nobody asked for quotes; else quotes.
async fn say(app: &App, asked: &Answering, recalled: &Arc<Recalled>) -> Result<Said, Failure> {
    if asked.context_only {
        return Ok(Said { by: EXTRACTIVE.to_owned(), ..Said::default() });
    }
    let mut fault = None;
    if let Some(llm) = writer(app, asked).filter(|_| recalled.why_not.is_none()) {
        let task = model::Asked {
            task: &asked.question,
            wishes: asked.instructions.clone(),
            tokens_max: asked.tokens_max,
            prefix: "",
        };
        match model::ask(llm, &task, recalled).await {
            Ok(model::Heard { told, removed, usage }) => {
                let by = llm.model().to_owned();
                return Ok(Said { told, by, removed, usage, ..Said::default() });
            }
            Err(met) => fault = Some(unheard(asked, met)?),
        }
    }
    let most = if recalled.plan.wants_variety() { QUOTES_OF_SEVERAL } else { QUOTES };
    let quotes = app.engine.quote(asked.question.clone(), Arc::clone(recalled), most).await?;
    let told = told::tell(recalled.plan, &quotes, asked.recall.citation_mode, asked.tokens_max);
    Ok(Said { told, by: EXTRACTIVE.to_owned(), quotes, fault, ..Said::default() })
}

/// A model that was named has to answer; without a name quotes do as well.
fn unheard(asked: &Answering, fault: ModelFault) -> Result<&'static str, ApiError> {
    match &asked.model {
        Some(model) => {
            let text = format!("The model `{model}` did not answer.");
            let error = ApiError::new(ErrorCode::AnswerUnavailable, text);
            Err(error.with("model", model.as_str()).with("fault", fault.as_str()))
        }
        None => Ok(fault.as_str()),
    }
}

fn shaped(
    asked: &Answering,
    packed: &Packed,
    (said, answered_us): (Said, i64),
    request_id: String,
) -> AnswerBody {
    let recalled = &packed.kept.recalled;
    let Said { told, by, quotes, removed, fault, usage } = said;
    let (prompt, completion) = usage.unwrap_or((recalled.tokens, estimate(&told.text)));
    AnswerBody {
        pack_id: packed.kept.id.to_string(),
        request_id,
        answered: !told.citations.is_empty() && !told.is_unanswered,
        answer_model: by.clone(),
        diagnostics: (asked.recall.detail != Detail::None).then(|| AnswerDiagnostics {
            recall_ms: milliseconds(packed.recall_us),
            llm_ms: milliseconds(answered_us),
            total_ms: milliseconds(packed.recall_us + answered_us),
            pack_used: used(recalled),
            answer_model: by,
            answer_tokens: AnswerTokens { prompt, completion },
            removed_markers: removed,
            model_fault: fault.map(str::to_owned),
            sentences: (asked.recall.detail == Detail::Full)
                .then(|| quotes.considered.iter().map(sentence).collect()),
        }),
        answer: told.text,
        citations: told.citations,
        provenance: provenance(recalled),
        context_block: asked.with_context.then(|| block::of(recalled, asked.recall.citation_mode)),
        as_of: time::print(recalled.recorded.0),
    }
}

/// Writes a document from what is recalled.
pub(super) async fn compose(mut call: Call) -> Result<Response, Failure> {
    let body = call.json_body(BODY_BYTES_MAX as u64).await?;
    let wanted = ComposeRequest::read(&body)?;
    let caller = call.caller()?;
    let (desk, request) = (call.desk.clone(), call.id.as_str().to_owned());
    let packed = packed(&desk, &caller, &wanted.answering, &request).await?;
    let recalled = &packed.kept.recalled;
    let (written, by, removed_markers) = write(&desk.app, &wanted, recalled).await?;
    let context = || block::of(recalled, wanted.answering.recall.citation_mode);
    let shape = ComposeBody {
        pack_id: packed.kept.id.to_string(),
        request_id: request,
        document: written.text,
        model: by,
        citations: written.citations,
        removed_markers,
        provenance: provenance(recalled),
        context_block: wanted.answering.with_context.then(context),
        as_of: time::print(recalled.recorded.0),
    };
    reply::json(StatusCode::OK, &shape)
}

/// Writes the document: the text, by whom, and which markers were taken out.
async fn write(
    app: &App,
    wanted: &Composition,
    recalled: &Arc<Recalled>,
) -> Result<(Told, String, Vec<String>), Failure> {
    let asked = &wanted.answering;
    if let Some(llm) = writer(app, asked).filter(|_| recalled.why_not.is_none()) {
        let task = model::Asked {
            task: &wanted.task(),
            wishes: asked.instructions.clone(),
            tokens_max: Some(wanted.tokens_max),
            prefix: "S",
        };
        match model::ask(llm, &task, recalled).await {
            Ok(heard) => return Ok((heard.told, llm.model().to_owned(), heard.removed)),
            Err(met) => drop(unheard(asked, met)?),
        }
    }
    let told = document::write(&app.engine, wanted, recalled).await?;
    Ok((told, EXTRACTIVE.to_owned(), Vec::new()))
}

/// A pack to answer from.
struct Packed {
    kept: Arc<Kept>,
    /// How long recalling took; nothing if it was recalled before.
    recall_us: i64,
}

/// The pack that is named, or a new one. Permission first: only then is it said what is configured.
async fn packed(
    desk: &Desk,
    caller: &Caller,
    asked: &Answering,
    request: &str,
) -> Result<Packed, Failure> {
    let app = &desk.app;
    let now = app.env.clock.monotonic();
    let named = match asked.pack {
        Some(id) => Some(app.packs.by_id(caller, id, now).ok_or_else(unknown_pack)?),
        None => None,
    };
    let about = named.as_ref().map_or(&asked.recall, |kept| &kept.question);
    let about = Recall { detail: asked.recall.detail, ..about.clone() };
    desk.ask(caller, &[LlmInvoke::NAME], Some(&about.scope)).await?;
    let policy_asked = app.env.clock.monotonic();
    let may = recall::may(desk, caller, &about).await?;
    desk.record.asked_policy(app.env.clock.monotonic().0 - policy_asked.0);
    configured(app, asked)?;
    if let Some(kept) = named {
        if !kept.is_within(&may) {
            return Err(unknown_pack().into());
        }
        return Ok(Packed { kept, recall_us: 0 });
    }
    // Keys of answers are apart from those of recalls.
    let key = about.idempotency_key.as_ref().map(|key| format!("answer {key}"));
    let question = Recall { idempotency_key: key, stream: false, ..about };
    if let Some(key) = &question.idempotency_key
        && let Some(kept) = app.packs.by_key(caller, key, &question, now)?
        && kept.is_within(&may)
    {
        return Ok(Packed { kept, recall_us: 0 });
    }
    let kept = recall::make(desk, request.to_owned(), caller, may, question).await?;
    Ok(Packed { kept, recall_us: app.env.clock.monotonic().0 - now.0 })
}

/// Whether the model that is named can be asked (ruling 6).
fn configured(app: &App, asked: &Answering) -> Result<(), ApiError> {
    match &asked.model {
        Some(model) if model != EXTRACTIVE && writer(app, asked).is_none() => {
            let text = format!("The model `{model}` is not configured here.");
            Err(ApiError::new(ErrorCode::AnswerUnavailable, text).with("model", model.as_str()))
        }
        _ => Ok(()),
    }
}

/// The model that writes, if there is one and it is the one that is asked for.
fn writer<'a>(app: &'a App, asked: &Answering) -> Option<&'a Llm> {
    let llm = app.answerer.as_deref()?;
    let named = asked.model.as_deref();
    named.is_none_or(|named| named == llm.model()).then_some(llm)
}

fn unknown_pack() -> ApiError {
    let reason = "names no pack that the caller was given within the last minute";
    ApiError::at(ErrorCode::NotFound, "use_pack_id", reason)
}

fn provenance(recalled: &Recalled) -> ProvenanceBody {
    ProvenanceBody { trail: recall::trail(recalled), citations: recall::citations(recalled) }
}

fn used(recalled: &Recalled) -> BTreeMap<&'static str, usize> {
    BTreeMap::from([
        (Layer::Events.as_str(), recalled.events.len()),
        (Layer::Episodes.as_str(), recalled.episodes.len()),
        (Layer::Facts.as_str(), recalled.facts.len()),
        (Layer::Beliefs.as_str(), recalled.beliefs.len()),
        (Layer::Understanding.as_str(), recalled.concepts.len()),
    ])
}

fn sentence(quote: &Quote) -> SentenceBody {
    let grounds = quote.judged.grounds;
    SentenceBody {
        id: quote.id.clone(),
        text: quote.text.clone(),
        strength: rounded(quote.judged.strength),
        grounds: BTreeMap::from([
            ("coverage", rounded(grounds.coverage)),
            ("names", rounded(grounds.names)),
            ("nearness", rounded(grounds.nearness)),
            ("kind", rounded(grounds.kind)),
            ("score", rounded(grounds.score)),
        ]),
    }
}
