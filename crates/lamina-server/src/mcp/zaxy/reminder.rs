//! Reminders: where a session moves on while its memory was not looked at, an event says so.

use lamina_core::read::checkout::work::asks_for_work;
use lamina_types::EventRecord;
use serde_json::{Map, Value, json};

/// The type of the event.
pub(super) const KIND: &str = "memory.reminder.suggested";
/// The type of the event that every checkout leaves.
pub(super) const CHECKED_OUT: &str = "memory.checkout.completed";
/// Events since the last checkout that make memory stale.
pub(super) const STALE_EVENTS: u64 = 8;
/// Minutes since the last checkout that make memory stale.
pub(super) const STALE_MINUTES: i64 = 30;
/// Events since the last checkout that make a session long.
pub(super) const LONG_SESSION_EVENTS: u64 = 40;
/// Milliseconds of a run of a tool that make it long.
const LONG_RUN_MS: u64 = 120_000;
/// Minutes between two reminders.
pub(super) const PAUSE_MINUTES: i64 = 20;
/// Characters of a question that a reminder repeats.
const QUERY_CHARS_MAX: usize = 160;

/// Why a reminder is suggested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    SessionStart,
    Resume,
    Compaction,
    LongSession,
    LongToolRun,
    StatusQuestion,
}

impl Trigger {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Trigger::SessionStart => "session_start",
            Trigger::Resume => "resume",
            Trigger::Compaction => "compaction",
            Trigger::LongSession => "long_session",
            Trigger::LongToolRun => "long_tool_run",
            Trigger::StatusQuestion => "status_question",
        }
    }
}

/// How long ago memory was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Staleness {
    /// Events since the last checkout, or since the begin of the session.
    pub(super) events: u64,
    /// Minutes since the last checkout; `None` without one.
    pub(super) minutes: Option<i64>,
    /// Minutes since the last reminder; `None` without one.
    pub(super) reminded: Option<i64>,
}

impl Staleness {
    fn is_stale(self) -> bool {
        self.minutes.is_none_or(|minutes| minutes >= STALE_MINUTES) || self.events >= STALE_EVENTS
    }

    fn may_remind(self) -> bool {
        self.reminded.is_none_or(|minutes| minutes >= PAUSE_MINUTES)
    }
}

/// A call that may deserve a reminder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occasion<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Map<String, Value>,
}

/// Why a call deserves a reminder, if it does.
pub(super) fn trigger(occasion: Occasion<'_>, staleness: Staleness) -> Option<Trigger> {
    if !staleness.may_remind() || occasion.tool == "memory_checkout" {
        return None;
    }
    let text = |name: &str| occasion.arguments.get(name).and_then(Value::as_str);
    let appended = text("event_type").filter(|_| occasion.tool == "memory_append");
    // A boundary is one however fresh memory was before it.
    match appended {
        Some("hook.session_started" | "session.started") => return Some(Trigger::SessionStart),
        Some("hook.resumed" | "hook.session_resumed" | "session.resumed") => {
            return Some(Trigger::Resume);
        }
        Some("hook.precompact" | "hook.postcompact" | "compaction.completed") => {
            return Some(Trigger::Compaction);
        }
        Some("command.completed" | "tool.call.completed") if is_long_run(occasion.arguments) => {
            return Some(Trigger::LongToolRun);
        }
        _ => {}
    }
    if !staleness.is_stale() {
        return None;
    }
    let asked = text("query").or_else(|| text("content").filter(|_| text("role") == Some("user")));
    if asked.is_some_and(asks_for_work) {
        return Some(Trigger::StatusQuestion);
    }
    (staleness.events >= LONG_SESSION_EVENTS).then_some(Trigger::LongSession)
}

fn is_long_run(arguments: &Map<String, Value>) -> bool {
    let payload = arguments.get("payload");
    let number = |name: &str| payload.and_then(|payload| payload.get(name)?.as_u64());
    number("duration_ms").is_some_and(|ms| ms >= LONG_RUN_MS)
        || number("duration_s").is_some_and(|s| s * 1_000 >= LONG_RUN_MS)
}

/// The payload of the event.
pub(super) fn payload(
    trigger: Trigger,
    session_id: &str,
    (occasion, staleness): (Occasion<'_>, Staleness),
) -> Map<String, Value> {
    let query = occasion.arguments.get("query").and_then(Value::as_str).unwrap_or_default();
    let query: String = query.chars().take(QUERY_CHARS_MAX).collect();
    let reminder = text(staleness);
    let payload = json!({
        "trigger": trigger.as_str(),
        "recommended_tool": "memory_checkout",
        "session_id": session_id,
        "query": query,
        "events_since_checkout": staleness.events,
        "minutes_since_checkout": staleness.minutes,
        "reminder": reminder,
    });
    payload.as_object().cloned().unwrap_or_default()
}

/// The words of a reminder.
pub(super) fn text(staleness: Staleness) -> String {
    let since = match staleness.minutes {
        None => "Memory has not been checked out in this session".to_owned(),
        Some(minutes) => format!(
            "Memory was last checked out {} events and {minutes} minutes ago",
            staleness.events
        ),
    };
    format!("{since}. Call memory_checkout for the current task before answering.")
}

/// Minutes from an event until now.
pub(super) fn minutes_since(event: &EventRecord, now: lamina_types::Micros) -> i64 {
    (now.0 - event.recorded_at.0.0).max(0) / 60_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRESH: Staleness = Staleness { events: 2, minutes: Some(1), reminded: None };
    const STALE: Staleness = Staleness { events: 9, minutes: Some(1), reminded: None };

    fn found(tool: &str, arguments: Value, staleness: Staleness) -> Option<Trigger> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        trigger(Occasion { tool, arguments: &arguments }, staleness)
    }

    #[test]
    fn boundaries_remind_and_stale_memory_reminds_when_work_is_asked_for() {
        for (kind, wanted) in [
            ("hook.session_started", Trigger::SessionStart),
            ("hook.resumed", Trigger::Resume),
            ("hook.precompact", Trigger::Compaction),
        ] {
            let arguments = json!({"event_type": kind, "payload": {}});
            assert_eq!(found("memory_append", arguments, FRESH), Some(wanted), "{kind}");
        }
        let run = json!({"event_type": "command.completed", "payload": {"duration_ms": 200_000}});
        assert_eq!(found("memory_append", run, FRESH), Some(Trigger::LongToolRun));
        let status = json!({"query": "what is the roadmap status"});
        assert_eq!(found("memory_query", status.clone(), FRESH), None);
        assert_eq!(found("memory_query", status.clone(), STALE), Some(Trigger::StatusQuestion));
        let long = Staleness { events: LONG_SESSION_EVENTS, ..STALE };
        assert_eq!(
            found("memory_query", json!({"query": "merkle"}), long),
            Some(Trigger::LongSession)
        );
        assert_eq!(found("memory_query", json!({"query": "merkle"}), STALE), None);
    }

    #[test]
    fn reminders_pause_for_twenty_minutes() {
        let status = json!({"query": "project status and open tasks"});
        for (minutes, wanted) in [(19, None), (20, Some(Trigger::StatusQuestion))] {
            let staleness = Staleness { reminded: Some(minutes), ..STALE };
            assert_eq!(found("memory_query", status.clone(), staleness), wanted);
        }
        assert_eq!(found("memory_checkout", status, STALE), None);
    }
}
