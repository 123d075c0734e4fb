//! `memory_capabilities` and `memory_bootstrap`: what memory is, how it stands with this session, and what to call next.
//! Both are short, because a model reads them at every start.

use lamina_types::{EventRecord, Micros};
use serde_json::{Map, Value, json};

use lamina_engine::read::session::{ReplayRange, SessionReplay};

use super::layout::{Layout, answer};
use super::schemas;
use super::session::Session;
use crate::mcp::tools::{Effect, Tool, ToolAnswer, ToolCall, ToolFailure};

const CAPABILITIES: &str = "memory_capabilities";
const BOOTSTRAP: &str = "memory_bootstrap";
/// The checkout of a session that names no task.
const USUAL_QUERY: &str = "current task, project direction, and recent decisions";
/// Characters of a task that are repeated.
const TASK_CHARS_MAX: usize = 160;
/// Types of events by which capture shows that it works.
const CAPTURED: [&str; 7] = [
    "transcript.turn",
    "command.completed",
    "file.edit.applied",
    "hook.session_started",
    "hook.stop",
    "hook.precompact",
    "tool.call.completed",
];

pub(super) const CAPABILITIES_TOOL: Tool = Tool {
    name: CAPABILITIES,
    title: "Memory contract",
    description: "What memory offers, and the next call.",
    input: || schemas::input(CAPABILITIES),
    output: || schemas::output(CAPABILITIES),
    effect: Effect::Reads,
    always_load: false,
    run: |call| Box::pin(run_capabilities(call)),
};

pub(super) const BOOTSTRAP_TOOL: Tool = Tool {
    name: BOOTSTRAP,
    title: "Start a session",
    description: "The startup packet.",
    input: || schemas::input(BOOTSTRAP),
    output: || schemas::output(BOOTSTRAP),
    effect: Effect::Reads,
    always_load: false,
    run: |call| Box::pin(run_bootstrap(call)),
};

async fn run_capabilities(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let session = Session::of(&call)?;
    let standing = SessionStanding::read(&session).await?;
    Ok(answer(Layout::Line, capabilities(&session, &standing)))
}

async fn run_bootstrap(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let session = Session::of(&call)?;
    let standing = SessionStanding::read(&session).await?;
    let query = query(&call);
    let checkout = json!({"query": query, "session_id": session.id()});
    let step = |tool: &str, arguments: &Value| json!({"tool": tool, "arguments": arguments});
    let mut capabilities = capabilities(&session, &standing);
    if let Some(capabilities) = capabilities.as_object_mut() {
        capabilities.remove("vector_search");
        capabilities.remove("profile");
    }
    let capture = standing.capture();
    let prompt = format!(
        "# Session Bootstrap\nSession {}. Capture: {}. Call memory_checkout next.",
        session.id(),
        if standing.latest.is_some() { "seen" } else { "not seen yet" },
    );
    let body = json!({
        "mode": "session_start",
        "session_id": session.id(),
        "workspace": call.workspace.project,
        "current_task": call.text("current_task").map(task),
        "capabilities": capabilities,
        "startup_sequence": [step("memory_checkout", &checkout)],
        "capture": capture,
        "trust_policy": {
            "prefer": "cited current facts",
            "ignore": "uncited or superseded context",
            "record": "decisions, completed work, corrections, feedback",
        },
        "prompt": prompt,
    });
    Ok(answer(Layout::Line, body))
}

fn task(text: &str) -> String {
    text.chars().take(TASK_CHARS_MAX).collect()
}

fn query(call: &ToolCall) -> String {
    call.text("current_task").map_or_else(|| USUAL_QUERY.to_owned(), task)
}

/// How it stands with a session.
struct SessionStanding {
    events: u64,
    hash: Option<String>,
    is_whole: bool,
    /// The last event that capture wrote.
    latest: Option<EventRecord>,
    /// Whether a hook wrote one.
    has_hooks: bool,
    now: Micros,
}

impl SessionStanding {
    async fn read(session: &Session<'_>) -> Result<SessionStanding, ToolFailure> {
        let length = session.length().await?;
        let range = ReplayRange { from: length.max(1), limit: 1 };
        let SessionReplay { integrity, events, .. } = session.replay(range).await?;
        let captured = session.typed_events(&CAPTURED, None, 1).await?;
        let has_hooks = captured.iter().any(|event| {
            let labels = &event.experience.context.labels;
            labels.iter().any(|label| label.starts_with("type:hook."))
        });
        Ok(SessionStanding {
            events: integrity.events,
            hash: events.last().map(|event| lamina_types::stdx::hex::encode(&event.seal)),
            is_whole: integrity.broken.is_none(),
            latest: captured.into_iter().last(),
            has_hooks,
            now: session.call.app.engine.now(),
        })
    }

    fn capture(&self) -> Value {
        let latest = self.latest.as_ref().map(|event| {
            let labels = &event.experience.context.labels;
            let kind = labels.iter().find_map(|label| label.strip_prefix("type:"));
            let at = event.experience.context.observed_at.0;
            json!({"seq": event.number, "timestamp": lamina_api::time::print(at), "type": kind})
        });
        let is_fresh = self.latest.as_ref().is_some_and(|event| {
            self.now.0 - event.experience.context.observed_at.0.0 < 86_400_000_000
        });
        json!({"configured": self.has_hooks, "running": is_fresh, "latest_observation": latest})
    }
}

fn capabilities(session: &Session<'_>, standing: &SessionStanding) -> Value {
    let call = session.call;
    let query = query(call);
    let mut loops = Map::new();
    for (when, tool) in [
        ("session_start", "memory_checkout"),
        ("before_major_work", "memory_checkout"),
        ("after_compaction_or_resume", "memory_checkout"),
        ("after_meaningful_work", "context_after_turn"),
        ("when_context_is_used", "memory_feedback"),
    ] {
        loops.insert(when.to_owned(), json!({"tool": tool}));
    }
    let tools: Vec<Value> =
        [("memory_append", "decided or learned"), ("memory_verbatim", "exact words")]
            .into_iter()
            .map(|(name, when)| json!({"name": name, "use_when": when}))
            .collect();
    json!({
        "session_id": session.id(),
        "current_task": call.text("current_task").map(task),
        "purpose": "Lamina is the memory of this session: check out before work, append after it.",
        "recommended_next_call": {
            "tool": "memory_checkout",
            "arguments": {"query": query, "session_id": session.id()},
        },
        "reminder_policy": {"event_type": super::reminder::KIND},
        "ambient_loop": loops,
        "tools": tools,
        "status": {
            "eventloom": {
                "session_exists": standing.events > 0,
                "latest_seq": standing.events,
                "latest_hash": standing.hash.as_ref().and_then(|hash| hash.get(..12)),
                "integrity_ok": standing.is_whole,
            },
            "hooks": {"status": if standing.has_hooks { "ok" } else { "none_seen" }},
        },
        "prompt": "Answer from memory only what memory_checkout cites.",
        "profile": {"active": "zaxy"},
        "vector_search": {},
    })
}
