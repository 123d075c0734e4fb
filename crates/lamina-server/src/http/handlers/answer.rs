//! `POST /v1/answer` and `POST /v1/compose`: what is recalled, told in sentences (R265-R269).
//!
//! Without a language model the sentences are quoted; with one it is shown the pack and nothing else,
//! and every marker that it writes is held against the pack.

mod document;
mod told;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::v1::answer::{
    AnswerBody, AnswerDiagnostics, AnswerRequest, AnswerTokens, Answering, ComposeBody,
    ComposeRequest, SentenceBody,
};
use lamina_api::v1::recall::ProvenanceBody;
use lamina_api::{ApiError, time};
use lamina_core::policy::Caller;
use lamina_core::read::tokens::estimate;
use lamina_engine::read::answer::{Quote, Quotes};
use lamina_engine::read::recall::Recalled;
use lamina_types::ErrorCode;
use lamina_types::capability::{Capability as _, LlmInvoke};
use lamina_types::limits::BODY_BYTES_MAX;
use lamina_types::recall::{Detail, Layer, Recall};

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
    let caller = call.caller()?;
    let (desk, request) = (call.desk.clone(), call.id.as_str().to_owned());
    let app = &desk.app;
    let seen = if asked.recall.stream { stream::seen(&call)? } else { None };
    let started = app.env.clock.monotonic();
    if let Some(rest) = seen.and_then(|seen| app.replays.after(&caller, seen, started)) {
        desk.ask(&caller, &[LlmInvoke::NAME], Some(&asked.recall.scope)).await?;
        return Ok(rest.response(app.closing.clone()));
    }
    let packed = packed(&desk, &caller, &asked, &request).await?;
    let started = app.env.clock.monotonic();
    let recalled = &packed.kept.recalled;
    let most = if recalled.plan.wants_variety() { QUOTES_OF_SEVERAL } else { QUOTES };
    let quotes = match asked.context_only {
        true => Quotes::default(),
        false => app.engine.quote(asked.question.clone(), Arc::clone(recalled), most).await?,
    };
    let told = match asked.context_only {
        true => Told::default(),
        false => told::tell(recalled.plan, &quotes, asked.recall.citation_mode, asked.tokens_max),
    };
    let answered_us = app.env.clock.monotonic().0 - started.0;
    let context = || block::of(recalled, asked.recall.citation_mode);
    let shape = AnswerBody {
        pack_id: packed.kept.id.to_string(),
        request_id: request,
        answered: !told.citations.is_empty(),
        answer_model: EXTRACTIVE.to_owned(),
        diagnostics: (asked.recall.detail != Detail::None).then(|| AnswerDiagnostics {
            recall_ms: milliseconds(packed.recall_us),
            llm_ms: milliseconds(answered_us),
            total_ms: milliseconds(packed.recall_us + answered_us),
            pack_used: used(recalled),
            answer_model: EXTRACTIVE.to_owned(),
            answer_tokens: AnswerTokens {
                prompt: recalled.tokens,
                completion: estimate(&told.text),
            },
            removed_markers: Vec::new(),
            model_fault: None,
            sentences: (asked.recall.detail == Detail::Full)
                .then(|| quotes.considered.iter().map(sentence).collect()),
        }),
        answer: told.text,
        citations: told.citations,
        provenance: provenance(recalled),
        context_block: asked.with_context.then(context),
        as_of: time::print(recalled.recorded.0),
    };
    if asked.recall.stream {
        let events = told::events(&shape)?;
        let now = app.env.clock.monotonic();
        let sent = app.replays.keep(&caller, stream::first(app), &events, now);
        return Ok(sent.response(app.closing.clone()));
    }
    reply::json(StatusCode::OK, &shape)
}

/// Writes a document from what is recalled.
pub(super) async fn compose(mut call: Call) -> Result<Response, Failure> {
    let body = call.json_body(BODY_BYTES_MAX as u64).await?;
    let wanted = ComposeRequest::read(&body)?;
    let caller = call.caller()?;
    let (desk, request) = (call.desk.clone(), call.id.as_str().to_owned());
    let packed = packed(&desk, &caller, &wanted.answering, &request).await?;
    let recalled = &packed.kept.recalled;
    let written = document::write(&desk.app.engine, &wanted, recalled).await?;
    let context = || block::of(recalled, wanted.answering.recall.citation_mode);
    let shape = ComposeBody {
        pack_id: packed.kept.id.to_string(),
        request_id: request,
        document: written.text,
        model: EXTRACTIVE.to_owned(),
        citations: written.citations,
        removed_markers: Vec::new(),
        provenance: provenance(recalled),
        context_block: wanted.answering.with_context.then(context),
        as_of: time::print(recalled.recorded.0),
    };
    reply::json(StatusCode::OK, &shape)
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
    let may = recall::may(desk, caller, &about).await?;
    configured(app, asked)?;
    if let Some(kept) = named {
        return Ok(Packed { kept, recall_us: 0 });
    }
    // Keys of answers are apart from those of recalls.
    let key = about.idempotency_key.as_ref().map(|key| format!("answer {key}"));
    let question = Recall { idempotency_key: key, stream: false, ..about };
    if let Some(key) = &question.idempotency_key
        && let Some(kept) = app.packs.by_key(caller, key, &question, now)?
    {
        return Ok(Packed { kept, recall_us: 0 });
    }
    let kept = recall::make(app, request.to_owned(), caller, may, question).await?;
    Ok(Packed { kept, recall_us: app.env.clock.monotonic().0 - now.0 })
}

/// Whether the model that is named can be asked (ruling 6).
fn configured(_: &App, asked: &Answering) -> Result<(), ApiError> {
    match &asked.model {
        Some(model) if model != EXTRACTIVE => {
            let text = format!("The model `{model}` is not configured here.");
            Err(ApiError::new(ErrorCode::AnswerUnavailable, text).with("model", model.as_str()))
        }
        _ => Ok(()),
    }
}

fn unknown_pack() -> ApiError {
    let reason = "names no pack that the caller was given within the last minute";
    ApiError::at(ErrorCode::NotFound, "use_pack_id", reason)
}

fn provenance(recalled: &Recalled) -> ProvenanceBody {
    ProvenanceBody { trail: recall::trail(recalled), citations: recalled.citations.clone() }
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
