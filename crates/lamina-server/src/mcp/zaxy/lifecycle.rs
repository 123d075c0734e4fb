//! Capture of the calls themselves: after each, an event says which tool was called with which arguments by name, and
//! how much it answered. Values and texts never stand in it, and a failure here fails no call.

use std::sync::Arc;

use lamina_types::Micros;
use serde_json::{Map, Value, json};

use super::layout;
use super::reminder::{self, Occasion, Staleness};
use super::session::{EventNature, NewEvent, Session, WrittenEvent};
use crate::http::record::Record;
use crate::mcp::tools::{Effect, ToolAnswer, ToolCall, ToolFailure};

/// Characters of the summary of an answer.
const SUMMARY_CHARS_MAX: usize = 240;
/// Events of one kind that staleness looks at.
const LATEST: usize = 1;

/// What is captured of a call, taken before the tool consumes it.
pub(crate) struct CallTrace {
    tool: &'static str,
    effect: Effect,
    arguments: Map<String, Value>,
    call: ToolCall,
}

impl CallTrace {
    /// The trace of a call, if its workspace is captured. Rows of the audit log are those of the call alone.
    pub(crate) fn begin(tool: &'static str, effect: Effect, call: &ToolCall) -> Option<CallTrace> {
        if !call.workspace.lifecycle || !call.app.mcp.lifecycle {
            return None;
        }
        let record = Arc::new(Record::default());
        let desk = crate::http::call::Desk { app: Arc::clone(&call.app), record };
        let mut routes = call.routes.clone();
        routes.desk = desk.clone();
        let call = ToolCall {
            app: Arc::clone(&call.app),
            desk,
            caller: call.caller.clone(),
            routes,
            workspace: call.workspace.clone(),
            place: call.place.clone(),
            arguments: named_only(&call.arguments),
            key: None,
        };
        let arguments = call.arguments.clone();
        Some(CallTrace { tool, effect, arguments, call })
    }

    /// Marks the begin of a session before its first event.
    pub(crate) async fn open(&self) {
        if self.effect == Effect::Reads {
            return;
        }
        let Ok(session) = self.session() else { return };
        if session.length().await.unwrap_or(1) > 0 {
            return;
        }
        let payload = json!({"session_id": session.id(), "root": self.call.workspace.project});
        self.note(&session, "session.genesis", payload).await;
    }

    /// Writes the events of a call that has ended.
    pub(crate) async fn close(self, ended: &Result<ToolAnswer, ToolFailure>) {
        let Ok(session) = self.session() else { return };
        let length = session.length().await.unwrap_or(0);
        // Reading begins no session.
        if length == 0 {
            return;
        }
        let staleness = self.staleness(&session, length).await;
        let (status, summary) = match ended {
            Ok(answer) => ("succeeded", counts(&answer.structured)),
            Err(failure) => ("failed", failure.code.to_owned()),
        };
        let keys: Vec<&String> = self.arguments.keys().collect();
        let payload = json!({
            "tool_name": self.tool,
            "status": status,
            "session_id": session.id(),
            "call_id": null,
            "arguments_redacted": true,
            "argument_keys": keys,
            "result_summary": summary,
        });
        self.note(&session, "tool.call.completed", payload).await;
        if ended.is_err() {
            return;
        }
        let activity = match self.tool {
            "memory_checkout" => Some(reminder::CHECKED_OUT),
            "memory_bootstrap" => Some("memory.bootstrap.shown"),
            _ => None,
        };
        if let Some(kind) = activity {
            let payload = json!({"activity": kind, "source": "mcp", "session_id": session.id()});
            self.note(&session, kind, payload).await;
        }
        let occasion = Occasion { tool: self.tool, arguments: &self.arguments };
        if let Some(trigger) = reminder::trigger(occasion, staleness) {
            let payload = reminder::payload(trigger, session.id(), (occasion, staleness));
            self.note(&session, reminder::KIND, payload.into()).await;
        }
    }

    /// The session that the call worked on: of a subagent's end, the one of the subagent.
    fn session(&self) -> Result<Session<'_>, ToolFailure> {
        match self.call.text("subagent_session_id") {
            Some(id) => Session::named(&self.call, Some(id)),
            None => Session::of(&self.call),
        }
    }

    async fn staleness(&self, session: &Session<'_>, length: u64) -> Staleness {
        let now = self.call.app.engine.now();
        let checked = latest(session, reminder::CHECKED_OUT, now).await;
        let reminded = latest(session, reminder::KIND, now).await;
        Staleness {
            events: length.saturating_sub(checked.map_or(0, |(number, _)| number)),
            minutes: checked.map(|(_, minutes)| minutes),
            reminded: reminded.map(|(_, minutes)| minutes),
        }
    }

    async fn note(&self, session: &Session<'_>, kind: &str, payload: Value) {
        let Value::Object(payload) = payload else { return };
        let actor = "agent:lamina".parse().unwrap_or_else(|_| self.call.caller.actor.clone());
        let nature = EventNature::Telemetry;
        let event = NewEvent { kind: kind.to_owned(), actor, payload, nature, part: "" };
        let written: Result<WrittenEvent, ToolFailure> = session.write(event).await;
        if let Err(failure) = written {
            tracing::debug!(kind, code = failure.code, "a call was not captured");
        }
    }
}

/// The arguments that capture and reminders look at; of all others the names.
fn named_only(arguments: &Map<String, Value>) -> Map<String, Value> {
    const KEPT: [&str; 8] = [
        "session_id",
        "thread",
        "subagent_session_id",
        "parent_session_id",
        "query",
        "event_type",
        "role",
        "content",
    ];
    let kept = arguments.iter().map(|(name, value)| {
        let value = match (name.as_str(), value) {
            (name, value) if KEPT.contains(&name) => value.clone(),
            ("payload", Value::Object(payload)) => {
                let numbers = payload.iter().filter(|(_, value)| value.is_number());
                numbers.map(|(name, value)| (name.clone(), value.clone())).collect()
            }
            _ => Value::Null,
        };
        (name.clone(), value)
    });
    let mut kept: Vec<(String, Value)> = kept.collect();
    kept.sort_by(|one, other| one.0.cmp(&other.0));
    kept.into_iter().collect()
}

/// The number of the last event of a kind, and the minutes since.
async fn latest(session: &Session<'_>, kind: &str, now: Micros) -> Option<(u64, i64)> {
    let events = session.typed_events(&[kind], None, LATEST).await.ok()?;
    events.last().map(|event| (event.number, reminder::minutes_since(event, now)))
}

/// How much an answer holds: the length of each of its lists, and never a word of it.
fn counts(structured: &Value) -> String {
    let members = structured.as_object().into_iter().flatten();
    let counts: Map<String, Value> = members
        .filter_map(|(name, value)| Some((name.clone(), value.as_array()?.len().into())))
        .collect();
    let text = match counts.is_empty() {
        true => "1 object".to_owned(),
        false => layout::text(layout::Layout::Line, &counts.into()),
    };
    text.chars().take(SUMMARY_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_keeps_names_and_no_values() {
        let arguments = json!({"payload": {"secret": "x", "duration_ms": 5}, "actor": "Ann",
            "event_type": "command.completed"});
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let kept = Value::from(named_only(&arguments));
        let wanted = json!({"actor": null, "event_type": "command.completed",
            "payload": {"duration_ms": 5}});
        assert_eq!(kept, wanted);
    }

    #[test]
    fn summary_counts_lists_and_quotes_nothing() {
        let answer = json!({"prompt": "secret words", "current_facts": [1, 2], "evidence": []});
        assert_eq!(counts(&answer), r#"{"current_facts": 2, "evidence": 0}"#);
        assert_eq!(counts(&json!({"seq": 1})), "1 object");
    }
}
