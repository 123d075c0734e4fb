//! What a question finds in a session: facts, and events as sentences, each with its citation, its time and how it was
//! scored.

use std::collections::{BTreeMap, BTreeSet};

use lamina_core::read::checkout::typed::{TypedEvent, is_telemetry, sentence};
use lamina_core::read::checkout::{ITEM_CHARS_MAX, line};
use lamina_core::read::prompt::RecordAuthor;
use lamina_engine::read::facts::FactRecord;
use lamina_engine::read::recall::{Considered, MayRecall, Recalled};
use lamina_engine::read::render::fact_words;
use lamina_models::structured::typed_fields;
use lamina_types::layer::Term;
use lamina_types::recall::{
    CitationMode, Detail, Filter, Layer, PackView, Recall, StandingChoice, Temporal,
};
use lamina_types::{Content, EventId, EventRecord, Micros, RecordedAt, ValidAt};
use serde_json::{Value, json};

use super::session::Session;
use crate::http::handlers::recall;
use crate::mcp::tools::ToolFailure;

/// Characters of one context.
const CONTEXT_CHARS_MAX: usize = 2_000;

/// A question to a session.
#[derive(Debug, Clone)]
pub(super) struct ContextQuery {
    pub(super) query: String,
    /// The state of the world that is asked about; `None` is the present.
    pub(super) valid_at: Option<Micros>,
    /// The knowledge that it is asked with; `None` is that of now.
    pub(super) recorded: Option<RecordedAt>,
    /// Contexts of each lane.
    pub(super) limit: usize,
}

/// Something that was found.
#[derive(Debug, Clone)]
pub(super) struct Context {
    pub(super) content: String,
    /// `graph`, `keyword`, `vector` or `verbatim`.
    pub(super) source: &'static str,
    pub(super) score: f64,
    pub(super) valid_from: Option<Micros>,
    pub(super) valid_to: Option<Micros>,
    pub(super) citation: Option<String>,
    explanation: Value,
    pub(super) entity: Option<(String, String)>,
    pub(super) event_type: Option<String>,
}

impl Context {
    /// The context as an object of an answer.
    pub(super) fn shown(&self) -> Value {
        json!({
            "content": self.content,
            "source": self.source,
            "score": rounded(self.score),
            "valid_from": self.valid_from.map(lamina_api::time::print),
            "valid_to": self.valid_to.map(lamina_api::time::print),
            "citation": self.citation,
            "score_explanation": self.explanation,
        })
    }

    /// The lane of an assembled bundle.
    pub(super) fn lane(&self) -> &'static str {
        if self.source == "verbatim" { "verbatim" } else { "graph" }
    }

    /// The context as an object of an assembled bundle.
    pub(super) fn assembled(&self) -> Value {
        let mut shown = self.shown();
        let mut metadata = json!({"citation": self.citation, "assembly_lane": self.lane()});
        if let Some(metadata) = metadata.as_object_mut() {
            if let Some((name, kind)) = &self.entity {
                metadata.insert("entity_name".to_owned(), name.clone().into());
                metadata.insert("entity_type".to_owned(), kind.clone().into());
            }
            if let Some(kind) = &self.event_type {
                metadata.insert("event_type".to_owned(), kind.clone().into());
            }
        }
        if let Some(shown) = shown.as_object_mut() {
            shown.insert("metadata".to_owned(), metadata);
        }
        shown
    }
}

/// A number of an answer: four decimals say enough.
pub(super) fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

/// The recall that a question to a session is.
pub(super) fn recall_of(session: &Session<'_>, query: &ContextQuery) -> Recall {
    let mut limits = [Some(0); 5];
    for layer in [Layer::Events, Layer::Facts] {
        if let Some(limit) = limits.get_mut(layer as usize) {
            *limit = Some(query.limit);
        }
    }
    Recall {
        scope: session.place.scope.clone(),
        view: PackView::Granular,
        query: query.query.clone(),
        variants: Vec::new(),
        language: None,
        include: vec![Layer::Events, Layer::Facts],
        exclude_content: false,
        temporal: Temporal {
            as_of_recorded: query.recorded,
            as_of_valid: query.valid_at.map(ValidAt),
            reference: query.valid_at,
            ..Temporal::default()
        },
        filter: Filter::default(),
        standing: StandingChoice::None,
        tokens_max: None,
        layer_limits: limits,
        citation_mode: CitationMode::None,
        detail: Detail::None,
        stream: false,
        idempotency_key: None,
        floor: None,
        selection: None,
    }
}

/// Leave to ask a question in a session.
pub(super) async fn may(
    session: &Session<'_>,
    question: &Recall,
) -> Result<MayRecall, ToolFailure> {
    let may = recall::may(&session.call.desk, &session.call.caller, question).await;
    may.map_err(|failure| session.failed(failure))
}

/// What a question finds, the best first: facts and events that recall holds for relevant, then events that only share
/// words with it.
pub(super) async fn find(
    session: &Session<'_>,
    query: &ContextQuery,
) -> Result<Vec<Context>, ToolFailure> {
    let question = recall_of(session, query);
    let engine = &session.call.app.engine;
    let recalled = engine.recall(may(session, &question).await?, question.clone()).await;
    let recalled = recalled.map_err(|error| session.failed(error))?;
    let happened = |event: &EventRecord| {
        query.valid_at.is_none_or(|at| event.experience.context.observed_at.0 <= at)
    };
    let mut contexts = facts(session, &recalled, query).await?;
    let considered: BTreeMap<EventId, &Considered> =
        recalled.considered.iter().map(|event| (event.id, event)).collect();
    let mut told: BTreeSet<EventId> = BTreeSet::new();
    for ranked in &recalled.events {
        if happened(&ranked.record) && !is_silent(&ranked.record) {
            told.insert(ranked.record.id);
            let considered = considered.get(&ranked.record.id).copied();
            contexts.push(ranked_event(&ranked.record, ranked.score, (query, considered)));
        }
    }
    contexts.sort_by(|one, other| other.score.total_cmp(&one.score));
    let limit = query.limit;
    let verbatim = engine.verbatim(may(session, &question).await?, question, 2 * limit).await;
    for hit in verbatim.map_err(|error| session.failed(error))? {
        if !told.contains(&hit.record.id) && happened(&hit.record) && !is_silent(&hit.record) {
            contexts.push(verbatim_event(&hit.record, hit.score, query));
        }
    }
    let mut seen = BTreeSet::new();
    contexts.retain(|context| seen.insert((context.content.clone(), context.citation.clone())));
    Ok(contexts)
}

async fn facts(
    session: &Session<'_>,
    recalled: &Recalled,
    query: &ContextQuery,
) -> Result<Vec<Context>, ToolFailure> {
    let mut contexts = Vec::new();
    let found = recalled.events.iter().map(|ranked| &ranked.record);
    let typed_events: BTreeSet<EventId> =
        found.filter(|event| typed(event).is_some()).map(|event| event.id).collect();
    let now = query.valid_at.unwrap_or_else(|| session.call.app.engine.now());
    for ranked in &recalled.facts {
        let fact = &ranked.record;
        let is_so = fact.valid_to.is_none_or(|to| to.0 > now)
            && fact.valid_from.is_none_or(|from| from.0 <= now)
            && fact.recorded_to.is_none_or(|to| to > recalled.recorded);
        if !is_so || fact.is_redacted() {
            continue;
        }
        let Some(support) = fact.supports.last() else { continue };
        // A typed event is told as a sentence, which says more than its members one by one.
        if fact.supports.iter().all(|id| typed_events.contains(id)) {
            continue;
        }
        contexts.push(Context {
            content: line(&fact_words(fact), CONTEXT_CHARS_MAX),
            source: "graph",
            score: ranked.score,
            valid_from: Some(fact.valid_from.map_or(fact.recorded_from.0, |from| from.0)),
            valid_to: fact.valid_to.map(|to| to.0),
            citation: session.call.citation_of(&support.to_string()).await,
            explanation: json!({
                "source": "graph",
                "matched_query": query.query,
                "predicate": fact.predicate,
                "confidence": rounded(fact.confidence.as_f64()),
                "supports": fact.supports.len(),
                "ranking_score": rounded(ranked.score),
            }),
            entity: Some((entity_name(fact), "entity".to_owned())),
            event_type: None,
        });
    }
    Ok(contexts)
}

/// The name of the subject of a fact.
pub(super) fn entity_name(fact: &FactRecord) -> String {
    match &fact.subject.term {
        Term::Actor(actor) => actor.to_string(),
        Term::Named { name, .. } => name.clone(),
        term => line(&crate::http::term_name(term), ITEM_CHARS_MAX),
    }
}

fn ranked_event(
    event: &EventRecord,
    score: f64,
    (query, considered): (&ContextQuery, Option<&Considered>),
) -> Context {
    let by_words = considered.map_or(0.0, |event| event.contributions.lexical);
    let by_meaning = considered.map_or(0.0, |event| event.contributions.semantic);
    let source = if by_words >= by_meaning { "keyword" } else { "vector" };
    let explanation = json!({
        "source": source,
        "matched_query": query.query,
        "raw_score": considered.map(|event| rounded(event.score)),
        "lexical": rounded(by_words),
        "semantic": rounded(by_meaning),
        "recency": considered.map(|event| rounded(event.contributions.recency)),
        "ranking_score": rounded(score),
    });
    Context { source, score, explanation, ..event_context(event) }
}

fn verbatim_event(event: &EventRecord, score: f64, query: &ContextQuery) -> Context {
    let explanation = json!({
        "source": "verbatim",
        "matched_query": query.query,
        "raw_score": rounded(score),
        "ranking_score": 0.0,
    });
    // Its words are shared, which is less than being relevant.
    Context { source: "verbatim", score: 0.0, explanation, ..event_context(event) }
}

fn event_context(event: &EventRecord) -> Context {
    let typed = typed(event);
    Context {
        content: told(event),
        source: "keyword",
        score: 0.0,
        valid_from: Some(event.experience.context.observed_at.0),
        valid_to: None,
        citation: Some(event.citation().shortened().to_string()),
        explanation: Value::Null,
        entity: None,
        event_type: typed.map(|typed| typed.kind),
    }
}

/// An event as words: a typed event as a sentence, a document by its values, speech with its author.
pub(super) fn told(event: &EventRecord) -> String {
    let author = RecordAuthor::of(event).to_string();
    match typed(event) {
        Some(typed) => sentence(&typed, &author),
        None => {
            let text = line(event.experience.content.text(), CONTEXT_CHARS_MAX);
            format!("{author} said: \u{201c}{text}\u{201d}")
        }
    }
}

/// The typed event that a document is.
pub(super) fn typed(event: &EventRecord) -> Option<TypedEvent> {
    let Content::Json { data, .. } = &event.experience.content else { return None };
    typed_fields(data).map(|(kind, fields)| TypedEvent { kind, fields })
}

/// Whether an event answers nothing: feedback, telemetry, or a note of the machinery.
pub(super) fn is_silent(event: &EventRecord) -> bool {
    matches!(event.experience.modality.as_str(), "feedback" | "telemetry")
        || typed(event).is_some_and(|typed| is_telemetry(&typed.kind))
}
