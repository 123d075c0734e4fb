//! Typed events as sentences: `decision.made` with its payload is told, never shown as JSON.

use super::line;
use super::work::{Change, change};

/// Characters of one value in a sentence.
const VALUE_CHARS_MAX: usize = 140;
/// Values that a kind without a sentence of its own is told with.
const VALUES_MAX: usize = 4;

/// A typed event: its kind, and the scalars of its payload by their paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedEvent {
    /// The kind: `decision.made`.
    pub kind: String,
    /// Paths within the payload, and values.
    pub fields: Vec<(String, String)>,
}

impl TypedEvent {
    /// The first of these fields that has a value.
    pub fn first_of(&self, keys: &[&str]) -> Option<&str> {
        let value = |key: &&str| {
            let found = self.fields.iter().find(|(path, _)| path == key);
            found.map(|(_, value)| value.as_str()).filter(|value| !value.trim().is_empty())
        };
        keys.iter().find_map(value)
    }
}

/// Kinds that tell of the machinery around a memory: reading it, calling tools, starting and ending sessions. They are
/// neither facts nor evidence.
const TELEMETRY: &[&str] = &[
    "memory.",
    "tool.call.",
    "session.",
    "hook.",
    "subagent.",
    "inference.",
    "workspace.",
    "command.",
    "file.edit.",
    "skill.applied",
    "reminder.",
    "capture.",
];

/// The kind of the events that close what is known of an entity.
pub const INVALIDATED: &str = "memory.invalidated";

/// Whether a kind is telemetry, whatever modality it was written with.
pub fn is_telemetry(kind: &str) -> bool {
    TELEMETRY.iter().any(|prefix| kind.starts_with(prefix))
}

/// A sentence form: verb, keys of the thing, and what follows with its keys.
struct Form {
    kind: &'static str,
    verb: &'static str,
    thing: &'static [&'static str],
    tail: &'static str,
    detail: &'static [&'static str],
}

const TASK: &[&str] = &["title", "task", "summary", "taskId", "task_id", "id"];
const DETAIL: &[&str] = &["description", "summary", "reason", "note"];

const FORMS: &[Form] = &[
    Form {
        kind: "decision.made",
        verb: "decided",
        thing: &["decision", "title", "summary"],
        tail: "because",
        detail: &["rationale", "reason", "why", "description"],
    },
    Form {
        kind: "decision.superseded",
        verb: "superseded the decision",
        thing: &["decision", "title", "summary"],
        tail: "because",
        detail: &["rationale", "reason"],
    },
    Form {
        kind: "goal.created",
        verb: "set the goal",
        thing: &["title", "goal"],
        tail: "namely",
        detail: DETAIL,
    },
    Form {
        kind: "goal.updated",
        verb: "changed the goal",
        thing: &["title", "goal"],
        tail: "to",
        detail: DETAIL,
    },
    Form {
        kind: "goal.completed",
        verb: "reached the goal",
        thing: &["title", "goal"],
        tail: "with",
        detail: DETAIL,
    },
    Form {
        kind: "task.proposed",
        verb: "proposed the task",
        thing: TASK,
        tail: "namely",
        detail: DETAIL,
    },
    Form {
        kind: "task.created",
        verb: "created the task",
        thing: TASK,
        tail: "namely",
        detail: DETAIL,
    },
    Form { kind: "task.claimed", verb: "took the task", thing: TASK, tail: "with", detail: DETAIL },
    Form {
        kind: "task.started",
        verb: "started the task",
        thing: TASK,
        tail: "with",
        detail: DETAIL,
    },
    Form {
        kind: "task.blocked",
        verb: "was blocked on the task",
        thing: TASK,
        tail: "by",
        detail: &["reason", "blocker", "blocked_by", "description", "summary"],
    },
    Form {
        kind: "task.completed",
        verb: "completed the task",
        thing: TASK,
        tail: "with",
        detail: &["summary", "result", "outcome", "description"],
    },
    Form {
        kind: "task.cancelled",
        verb: "cancelled the task",
        thing: TASK,
        tail: "because",
        detail: &["reason", "summary"],
    },
    Form {
        kind: "issue.diagnosed",
        verb: "diagnosed the issue",
        thing: &["issue", "title", "summary"],
        tail: "with the cause",
        detail: &["cause", "diagnosis", "root_cause", "description"],
    },
    Form {
        kind: "issue.resolved",
        verb: "resolved the issue",
        thing: &["issue", "title", "summary"],
        tail: "with",
        detail: &["resolution", "fix", "description"],
    },
    Form {
        kind: "handoff.created",
        verb: "handed over",
        thing: &["summary", "title"],
        tail: "with next",
        detail: &["next", "next_steps", "next_action"],
    },
    Form {
        kind: "project.status",
        verb: "reported on the project",
        thing: &["project", "title"],
        tail: "the status",
        detail: &["status", "summary", "state"],
    },
    Form {
        kind: "observation.recorded",
        verb: "observed",
        thing: &["observation", "summary", "text", "content", "note"],
        tail: "about",
        detail: &["subject", "about"],
    },
    Form {
        kind: "transcript.turn",
        verb: "said",
        thing: &["content", "text"],
        tail: "to",
        detail: &[],
    },
];

/// A typed event as a sentence without a date: `agent:codex decided “Use ed25519” because “ML-DSA is new”`.
pub fn sentence(event: &TypedEvent, actor: &str) -> String {
    let form = FORMS.iter().find(|form| form.kind == event.kind);
    let told = form.and_then(|form| {
        let thing = event.first_of(form.thing)?;
        let detail = event.first_of(form.detail).filter(|detail| *detail != thing);
        let detail = detail.map(|detail| format!(" {} {}", form.tail, quoted(detail)));
        Some(format!("{actor} {} {}{}", form.verb, quoted(thing), detail.unwrap_or_default()))
    });
    told.unwrap_or_else(|| general(event, actor))
}

/// A kind that has no form: what was recorded, and its first values by name.
fn general(event: &TypedEvent, actor: &str) -> String {
    let kind = line(&words(&event.kind), VALUE_CHARS_MAX);
    let values = event.fields.iter().filter(|(path, value)| !is_reference(path, value));
    let values: Vec<String> = values
        .take(VALUES_MAX)
        .map(|(path, value)| format!("{} {}", line(&words(path), VALUE_CHARS_MAX), quoted(value)))
        .collect();
    match values.is_empty() {
        true => format!("{actor} recorded {kind}"),
        false => format!("{actor} recorded {kind}: {}", values.join(", ")),
    }
}

/// The scalars of a document that is no typed event, by their names.
pub fn values(fields: &[(String, String)]) -> String {
    let fields =
        fields.iter().filter(|(path, value)| !is_reference(path, value)).take(2 * VALUES_MAX);
    let values: Vec<String> = fields
        .map(|(path, value)| {
            format!("{} is {}", line(&words(path), VALUE_CHARS_MAX), line(value, VALUE_CHARS_MAX))
        })
        .collect();
    values.join(", ")
}

/// Whether a value only points elsewhere: a hash, a sequence number, an id beside its title.
fn is_reference(path: &str, value: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or(path);
    let hex = value.len() >= 12 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex || ["hash", "seq", "seal"].iter().any(|word| last.ends_with(word))
}

fn words(name: &str) -> String {
    name.replace(['_', '.'], " ")
}

fn quoted(value: &str) -> String {
    // A value that holds a document itself is told without its syntax.
    let plain: String = match value.trim_start().starts_with(['{', '[']) {
        true => value.chars().filter(|c| !matches!(c, '{' | '}' | '[' | ']' | '"')).collect(),
        false => value.to_owned(),
    };
    format!("\u{201c}{}\u{201d}", line(&plain, VALUE_CHARS_MAX))
}

/// The names of the thing that a typed event is about, in lower case: an id, a title.
pub(super) fn identities(event: &TypedEvent) -> Vec<String> {
    let Some(Change { thing, .. }) = change(&event.kind) else { return Vec::new() };
    let named = thing.keys().iter().filter_map(|key| event.first_of(&[key]));
    named.map(|name| line(name, VALUE_CHARS_MAX).to_lowercase()).collect()
}
