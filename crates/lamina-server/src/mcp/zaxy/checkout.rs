//! `memory_checkout` of the profile: the checkout of the session with every member of the contract.

use std::sync::Arc;

use lamina_core::read::checkout::date::day;
use lamina_core::read::checkout::{Action, Checkout, CurrentFact, Gathered, TAG, assemble, render};
use lamina_core::read::tokens::estimate;
use lamina_engine::read::checkout::{CheckoutQuery, MayCheckout, RECENT_MAX, StandingReach};
use lamina_types::recall::{PackView, StandingChoice};
use lamina_types::{Content, EventCitation, RecordedAt, ScopePath, ScopeView};
use serde_json::{Map, Value, json};

use super::contexts::rounded;
use super::layout::{Layout, answer};
use super::session::{Session, seal_of};
use super::skill_register::{self, SkillEvent, SkillRegister};
use super::{bounds, refs, schemas};
use crate::auth::bound::bound_session;
use crate::http::handlers::recall;
use crate::mcp::tools::{Effect, Tool, ToolAnswer, ToolCall, ToolFailure};

pub(super) const NAME: &str = "memory_checkout";
/// Events of one kind of the life of skills, the latest.
const SKILL_EVENTS_MAX: usize = 1_024;
/// Tokens of a checkout, if nothing else is asked: every item stands in the prompt and in the lists.
pub(super) const TOKENS_USUAL: u64 = 3_000;
/// Rating templates of one checkout.
const TEMPLATES_MAX: usize = 5;
/// The tool that rates.
const FEEDBACK_TOOL: &str = "memory_feedback";

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Check out memory",
    description: "Current, cited memory for a task. Call it first.",
    input: || schemas::input(NAME),
    output: || schemas::output(NAME),
    effect: Effect::Reads,
    always_load: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let session = Session::of(&call)?;
    let question = CheckoutQuestion::read(&call)?;
    let made = check_out(&session, &question).await?;
    Ok(answer(Layout::Indented, made.shown(&session)))
}

/// The arguments of a checkout.
pub(super) struct CheckoutQuestion {
    pub(super) query: String,
    pub(super) limit: usize,
    pub(super) recent: usize,
    pub(super) replay_from: u64,
    pub(super) tokens: u64,
    pub(super) reference: Option<String>,
    pub(super) purpose: Value,
}

impl CheckoutQuestion {
    pub(super) fn read(call: &ToolCall) -> Result<CheckoutQuestion, ToolFailure> {
        Ok(CheckoutQuestion {
            query: bounds::query(call)?,
            limit: bounds::limit(call)?,
            recent: bounds::recent(call)?,
            replay_from: bounds::from_seq(call, "replay_from_seq")?,
            tokens: call
                .arguments
                .get("max_tokens")
                .and_then(Value::as_u64)
                .unwrap_or(TOKENS_USUAL),
            reference: call.text("ref").map(str::to_owned),
            purpose: purpose(call.arguments.get("purpose")),
        })
    }
}

/// The purpose that a checkout is for, completed.
fn purpose(given: Option<&Value>) -> Value {
    let mut purpose = json!({
        "profile": "general",
        "role": "agent",
        "task": "answer",
        "risk": "normal",
        "expected_action": "answer_or_continue",
        "evidence_policy": "cite_relevant_evidence",
        "retention_policy": "preserve_relevant_current_state",
    });
    let Some(known) = purpose.as_object_mut() else { return purpose };
    match given {
        Some(Value::String(profile)) => {
            known.insert("profile".to_owned(), profile.clone().into());
        }
        Some(Value::Object(given)) => {
            for (name, value) in given.iter().filter(|(_, value)| value.is_string()) {
                known.insert(name.clone(), value.clone());
            }
        }
        _ => {}
    }
    purpose
}

/// A checkout with what the profile adds to it.
pub(super) struct ZaxyCheckout {
    pub(super) checkout: Checkout,
    reference: Option<Value>,
    purpose: Value,
    skills: Option<Value>,
    analytics: Option<Value>,
    /// Sections of the prompt about skills.
    sections: String,
    recent_found: usize,
}

/// Checks out a session.
pub(super) async fn check_out(
    session: &Session<'_>,
    question: &CheckoutQuestion,
) -> Result<ZaxyCheckout, ToolFailure> {
    let reference = match &question.reference {
        Some(name) => Some(refs::resolve(session, name).await?),
        None => None,
    };
    let as_of: Option<RecordedAt> = reference.as_ref().map(|found| found.recorded_at);
    let query = CheckoutQuery {
        scope: session.place.scope.clone(),
        // A token of one session reads nothing above it.
        view: match bound_session(&session.call.caller) {
            Some(_) => PackView::Granular,
            None => PackView::Holistic,
        },
        query: question.query.clone(),
        as_of,
        standing: StandingChoice::Owners,
        facts_max: question.limit,
        recent_max: question.recent.min(RECENT_MAX),
    };
    let call = session.call;
    let recall = recall::may(&call.desk, &call.caller, &query.recall()).await;
    let recall = recall.map_err(|failure| session.failed(failure))?;
    let may = MayCheckout { recall, beside: beside(session).await };
    let gathered = call.app.engine.checkout(may, query).await;
    let mut gathered = gathered.map_err(|error| session.failed(error))?;
    gathered.recent.retain(|event| number_of(&event.citation) >= question.replay_from);
    let recent_found = gathered.recent.len();
    let register = register(session, as_of).await?;
    let shown = register.applicable(&question.query);
    let skills = (!shown.is_empty()).then(|| SkillRegister::skills_block(&shown));
    let analytics = register.analytics_block(&question.query);
    let sections = sections(skills.as_ref(), analytics.as_ref());
    let spent = estimate(&sections)
        + [&skills, &analytics]
            .into_iter()
            .flatten()
            .map(|block| estimate(&block.to_string()))
            .sum::<u64>();
    let mut made = ZaxyCheckout {
        checkout: assemble(&gathered, question.tokens, &weight),
        reference: reference.map(|found| found.shown(session.id())),
        purpose: question.purpose.clone(),
        skills,
        analytics,
        sections,
        recent_found,
    };
    if spent > 0 {
        let left = question.tokens.saturating_sub(spent.min(question.tokens / 2));
        made.checkout = assemble(&gathered, left, &weight);
    }
    Ok(made)
}

/// The register of the skills of a session.
pub(super) async fn register(
    session: &Session<'_>,
    as_of: Option<RecordedAt>,
) -> Result<SkillRegister, ToolFailure> {
    let events = session.typed_events(&skill_register::KINDS, as_of, SKILL_EVENTS_MAX).await?;
    let events: Vec<SkillEvent> = events
        .iter()
        .filter_map(|event| {
            let Content::Json { data, .. } = &event.experience.content else { return None };
            let data: Value = serde_json::from_str(data).ok()?;
            Some(SkillEvent {
                kind: data.get("type")?.as_str()?.to_owned(),
                payload: data.get("payload")?.as_object()?.clone(),
                citation: event.citation().shortened().to_string(),
            })
        })
        .collect();
    Ok(SkillRegister::fold(&events))
}

/// Where else instructions stand: in the project of the session and with the person, as far as they may be read.
async fn beside(session: &Session<'_>) -> Vec<StandingReach> {
    let call = session.call;
    let person: Option<ScopePath> = call.caller.actor.as_str().parse().ok();
    let mut beside = Vec::new();
    for scope in [Some(session.place.home.clone()), person].into_iter().flatten() {
        let reach = call.desk.permit_read(&call.caller, &scope, ScopeView::Local).await;
        if let Ok(reach) = reach {
            beside.push(StandingReach { scope, reach: Arc::new(reach) });
        }
    }
    beside
}

/// The number of the event that a citation names.
fn number_of(citation: &str) -> u64 {
    citation.parse::<EventCitation>().map_or(0, |citation| citation.number)
}

/// What a checkout takes as it is sent, without the members that are the same in every checkout.
fn weight(checkout: &Checkout) -> u64 {
    let lists = json!([
        facts(checkout),
        evidence(checkout),
        provenance(checkout),
        working_set(checkout),
        checkout.warnings,
        templates(checkout),
    ]);
    estimate(&render(checkout)) + estimate(&lists.to_string())
}

impl ZaxyCheckout {
    /// The prompt: the checkout as text, with the sections about skills inside of its tag.
    pub(super) fn prompt(&self) -> String {
        let prompt = render(&self.checkout);
        let end = format!("</{TAG}>");
        match prompt.strip_suffix(&end) {
            Some(body) if !self.sections.is_empty() => format!("{body}{}{end}", self.sections),
            _ => prompt,
        }
    }

    /// The answer with every member of the contract.
    fn shown(&self, session: &Session<'_>) -> Value {
        let checkout = &self.checkout;
        let gathered = &checkout.shown;
        let prompt = self.prompt();
        let tokens = estimate(&prompt);
        let facts_found = gathered.facts.len();
        let per_thousand = facts_found as f64 * 1_000.0 / (tokens.max(1) as f64);
        let mut body = json!({
            "session_id": session.id(),
            "query": gathered.query,
            "prompt": prompt,
            "working_set": working_set(checkout),
            "ref": self.reference,
            "current_facts": facts(checkout),
            "evidence": evidence(checkout),
            "provenance": provenance(checkout),
            "retention": {
                "policy": "current_only",
                "superseded_contexts_excluded": gathered.superseded,
            },
            "warnings": checkout.warnings,
            "guidance": self.guidance(session),
            "quality": quality(checkout),
            "diagnostics": self.diagnostics(),
            "context_counts": {
                "graph": lanes(gathered).0,
                "verbatim": lanes(gathered).1,
                "packet_memory": 0,
                "replay": gathered.recent.len(),
            },
            "replay_event_count": gathered.recent.len(),
            "token_efficiency": {
                "prompt_tokens": tokens,
                "current_fact_count": facts_found,
                "evidence_count": evidence(checkout).len(),
                "facts_per_1k_prompt_tokens": rounded(per_thousand),
            },
            "compacted": gathered.recent.len() < self.recent_found,
            "assembly_policy": policy(),
            "purpose": self.purpose,
        });
        let standing: Vec<Value> = gathered
            .standing
            .iter()
            .map(|one| {
                json!({"text": one.text, "at": day(one.at), "actor": one.author, "citation": one.citation})
            })
            .collect();
        let left_out: Map<String, Value> = checkout
            .left_out
            .named()
            .map(|(list, count)| (list.to_owned(), count.into()))
            .collect();
        if let Some(body) = body.as_object_mut() {
            if !standing.is_empty() {
                body.insert("standing".to_owned(), standing.into());
            }
            if !left_out.is_empty() {
                body.insert("left_out".to_owned(), left_out.into());
            }
        }
        body
    }

    fn guidance(&self, session: &Session<'_>) -> Value {
        let query = lamina_core::read::checkout::line(&self.checkout.shown.query, 160);
        json!({
            "trust": ["Rely on current_facts and their citations."],
            "ignore": ["Superseded or uncited context is not a current fact."],
            "purpose": self.purpose.get("profile"),
            "synthesis": null,
            "recommended_next_call": {
                "tool": NAME,
                "query": format!("current decisions, blockers, and next actions for: {query}"),
                "session_id": session.id(),
                "reason": "Refresh before major work, after a compaction, or when the task changes.",
            },
            "feedback": {
                "tool": FEEDBACK_TOOL,
                "when": "After cited context materially informs a response.",
                "payloads": templates(&self.checkout),
            },
        })
    }

    fn diagnostics(&self) -> Value {
        let checkout = &self.checkout;
        let gathered = &checkout.shown;
        let (graph, verbatim) = lanes(gathered);
        let mut source_lanes = Map::new();
        for (lane, count) in [("graph", graph), ("verbatim", verbatim)] {
            if count > 0 {
                source_lanes.insert(lane.to_owned(), count.into());
            }
        }
        let is_cited = checkout.cited_facts() > 0;
        let mut body = json!({
            "source_lanes": source_lanes,
            "citation_count": checkout.citations().len(),
            "current_citation_count": checkout.cited_facts(),
            "current_fact_count": gathered.facts.len(),
            "superseded_contexts_excluded": gathered.superseded,
            "warning_count": checkout.warnings.len(),
            "feedback_recommended": is_cited,
            "feedback_tool": FEEDBACK_TOOL,
        });
        if let Some(body) = body.as_object_mut() {
            for (name, block) in [("skills", &self.skills), ("skill_analytics", &self.analytics)] {
                if let Some(block) = block {
                    body.insert(name.to_owned(), block.clone());
                }
            }
        }
        body
    }
}

/// What an assembly takes from: there are no packets of providers here.
pub(super) fn policy() -> Value {
    json!({
        "verbatim_enabled": true,
        "verbatim_slots": 1,
        "packet_memory_enabled": false,
        "packet_memory_slots": 0,
    })
}

fn quality(checkout: &Checkout) -> Value {
    let quality = &checkout.quality;
    let action = quality.required_action.as_ref().map(|action| match action {
        Action::Refresh { query, reason } => {
            json!({"tool": NAME, "query": query, "reason": reason})
        }
        Action::Ask { reason } => json!({"tool": null, "query": null, "reason": reason}),
    });
    let mut body = json!({
        "answerability": quality.answerability.as_str(),
        "confidence": quality.confidence,
        "reasons": quality.reasons,
        "required_action": action,
    });
    if let (Some(why), Some(body)) = (&quality.why_not, body.as_object_mut()) {
        let why = json!({
            "candidates": why.candidates,
            "best_score": rounded(why.best_score),
            "floor": rounded(why.floor),
        });
        body.insert("why_not".to_owned(), why);
    }
    body
}

/// The lane of a fact: what was derived, or the words of an event.
fn lane(fact: &CurrentFact) -> &'static str {
    use lamina_core::read::checkout::Lane;
    if fact.lane == Lane::Verbatim { "verbatim" } else { "graph" }
}

fn lanes(gathered: &Gathered) -> (usize, usize) {
    let graph = gathered.facts.iter().filter(|fact| lane(fact) == "graph").count();
    (graph, gathered.facts.len() - graph)
}

fn facts(checkout: &Checkout) -> Vec<Value> {
    let shown = checkout.shown.facts.iter().map(|fact| {
        let mut body = json!({
            "content": fact.content,
            "source": lane(fact),
            "score": rounded(fact.score),
            "citation": fact.citation,
            "valid_from": lamina_api::time::print(fact.at),
            "valid_to": null,
            "source_lane": lane(fact),
        });
        if let Some(body) = body.as_object_mut() {
            if let Some(kind) = &fact.event_type {
                body.insert("event_type".to_owned(), kind.clone().into());
            }
            if let Some(entity) = &fact.entity {
                body.insert("entity_name".to_owned(), entity.name.clone().into());
                body.insert("entity_type".to_owned(), entity.kind.clone().into());
            }
        }
        body
    });
    shown.collect()
}

/// The words that stand behind each cited fact.
fn evidence(checkout: &Checkout) -> Vec<Value> {
    let cited = checkout.shown.facts.iter().filter_map(|fact| {
        let citation = fact.citation.as_deref()?;
        let quoted = checkout.shown.evidence.iter().find(|line| line.citation == citation);
        let content = quoted.map_or_else(|| fact.content.clone(), |line| line.quote.clone());
        let cited: EventCitation = citation.parse().ok()?;
        let mut body = json!({
            "citation": citation,
            "content": content,
            "source": lane(fact),
            "source_lane": lane(fact),
            "score": rounded(fact.score),
            "event_seq": cited.number,
            "event_hash": seal_of(&cited),
        });
        if let (Some(kind), Some(body)) = (&fact.event_type, body.as_object_mut()) {
            body.insert("event_type".to_owned(), kind.clone().into());
        }
        Some(body)
    });
    cited.collect()
}

fn provenance(checkout: &Checkout) -> Vec<Value> {
    let mut seen: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for fact in &checkout.shown.facts {
        let Some(citation) = fact.citation.as_deref() else { continue };
        let Ok(cited) = citation.parse::<EventCitation>() else { continue };
        if seen.contains(&citation) {
            continue;
        }
        seen.push(citation);
        rows.push(json!({
            "citation": citation,
            "event_seq": cited.number,
            "event_hash": seal_of(&cited),
            "source": lane(fact),
            "source_lane": lane(fact),
            "valid_from": lamina_api::time::print(fact.at),
            "valid_to": null,
        }));
    }
    rows
}

/// The working set: goals, decisions, tasks, blockers, and the events that facts stand on as anchors.
pub(super) fn working_set(checkout: &Checkout) -> Value {
    let items: Vec<Value> = checkout
        .shown
        .work
        .iter()
        .map(|item| {
            json!({
                "category": item.category.as_str(),
                "summary": item.summary,
                "citation": item.citation,
                "source": "replay",
            })
        })
        .collect();
    json!({"items": items, "truncated": checkout.left_out.work > 0})
}

fn templates(checkout: &Checkout) -> Vec<Value> {
    let cited = checkout.shown.facts.iter().filter(|fact| fact.citation.is_some());
    cited
        .take(TEMPLATES_MAX)
        .map(|fact| {
            let (name, kind) = match &fact.entity {
                Some(entity) => (entity.name.as_str(), entity.kind.as_str()),
                None => (fact.event_type.as_deref().unwrap_or("memory"), "memory"),
            };
            json!({
                "entity_name": name,
                "entity_type": kind,
                "feedback": "used",
                "actor": "assistant",
                "citation": fact.citation,
            })
        })
        .collect()
}

/// The sections of the prompt about skills, with their citations.
fn sections(skills: Option<&Value>, analytics: Option<&Value>) -> String {
    let mut out = String::new();
    let quoted = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        lamina_core::read::checkout::line(&text, 140)
    };
    let list = |block: Option<&Value>, name: &str| -> Vec<Value> {
        block.and_then(|block| block.get(name)?.as_array().cloned()).unwrap_or_default()
    };
    for (place, skill) in list(skills, "items").iter().enumerate() {
        if place == 0 {
            out.push_str("\n## Applicable Skills\n");
        }
        let part = |name: &str| skill.get(name).map(quoted).unwrap_or_default();
        out.push_str(&format!(
            "- {} v{} ({}): \u{201c}{}\u{201d} ({})\n",
            part("skill_id"),
            part("version"),
            part("status"),
            part("name"),
            part("citation")
        ));
        for step in list(Some(skill), "procedure") {
            out.push_str(&format!("  - \u{201c}{}\u{201d}\n", quoted(&step)));
        }
    }
    for (place, row) in list(analytics, "versions").iter().enumerate() {
        if place == 0 {
            out.push_str("\n## Skill Analytics\n");
        }
        let part = |name: &str| row.get(name).map(quoted).unwrap_or_default();
        out.push_str(&format!(
            "- {} v{}: {}, {} outcomes, mean {}, {} contradictions ({})\n",
            part("skill_id"),
            part("version"),
            part("status"),
            part("outcome_count"),
            part("mean_success_score"),
            part("contradiction_count"),
            list(Some(row), "citations").first().map(quoted).unwrap_or_default()
        ));
    }
    out
}
