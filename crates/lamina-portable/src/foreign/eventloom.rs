//! Eventloom logs: one file for each session, in file order. The chain of a file is verified before its
//! first row is given; the record of every event travels along as it was written.

use std::collections::BTreeMap;

use lamina_types::{ActorId, ErrorCode, Role, SessionHome, SessionScope};

use super::BrokenChains;
use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::row::{ErrorCost, ForeignRow, Place, RowContent, RowError, TimeBasis};
use super::sink::{RowSink, actor_id};
use crate::json::{JsonText, Member, NumberToken, Value, to_compact};
use crate::source::SourceEntry;
use crate::time::{NaiveTimes, parse as parse_time};
use crate::zaxy::{EventLog, LogEvent, UNVERIFIED_LABEL};

const LOG_END: &str = ".jsonl";
/// Files beside the logs of sessions.
const OTHER_FILES: [&str; 2] = ["__refs__.jsonl", "remote_audit.jsonl"];

pub(super) struct EventloomMapper {
    broken_chains: BrokenChains,
}

impl EventloomMapper {
    pub(super) fn new(broken_chains: BrokenChains) -> EventloomMapper {
        EventloomMapper { broken_chains }
    }
}

impl Mapper for EventloomMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        steps_for(entries, FileLayout::Text, |entry| {
            let name = entry.file_name();
            is_single || (name.ends_with(LOG_END) && !OTHER_FILES.contains(&name))
        })
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { body: InputBody::Text(text), place, .. } = input else { return };
        let log = match EventLog::read(text.as_bytes()) {
            Ok(log) => log,
            Err(error) => return fail_file(&place, error.to_string(), sink),
        };
        let broken = log.first_broken();
        if let (Some((_, broken)), BrokenChains::Refuse) = (broken, self.broken_chains) {
            let detail = format!(
                "the chain of the log is broken at event {}: {broken}; options.accept_broken takes it and labels \
                 the events",
                broken.seq
            );
            return fail_file(&place, detail, sink);
        }
        let broken_at = broken.map(|(index, _)| index);
        sink.account.keep("(record)", "origin, as it was written");
        let session = session_of(&place);
        let lines = text.split(['\n', '\r']).map(crate::zaxy::trim_line);
        let lines = lines.filter(|line| !line.is_empty());
        for (index, (event, line)) in log.events.iter().zip(lines).enumerate() {
            let is_proven = broken_at.is_none_or(|at| index < at);
            let position = index as u64 + 1;
            push_event(
                &SourceEvent { event, line, position, session: &session, is_proven },
                &place,
                sink,
            );
        }
    }
}

fn fail_file(place: &Place, detail: String, sink: &mut RowSink) {
    let place = place.clone();
    let cost = ErrorCost::File;
    sink.fail_with(RowError { place, code: ErrorCode::InvalidBody, detail, cost });
}

/// The name of the session that a file is the log of.
fn session_of(place: &Place) -> String {
    let file = place.file.rsplit(['/', '\\']).next().unwrap_or(&place.file);
    file.strip_suffix(LOG_END).unwrap_or(file).to_owned()
}

/// One event and the line that it stood on.
struct SourceEvent<'a> {
    event: &'a LogEvent,
    line: &'a str,
    position: u64,
    session: &'a str,
    is_proven: bool,
}

fn push_event(source: &SourceEvent<'_>, place: &Place, sink: &mut RowSink) {
    let SourceEvent { event, line, position, session, is_proven } = *source;
    let place = place.part(position);
    let Ok(time) = parse_time(&event.timestamp, NaiveTimes::UTC) else {
        return sink.fail(&place, ErrorCode::InvalidTimestamp, "the timestamp is out of range");
    };
    if let Some(assumption) = time.assumption {
        sink.account.change("timestamp", assumption.why());
    }
    let mut row = event_row(event, &place, sink).at(Some(time.at), TimeBasis::Stated);
    row.session = Some(session.to_owned());
    row.variables = BTreeMap::from([("session", scope_name(session))]);
    row.actor = actor_of(event);
    if event.sensitivity() != crate::zaxy::SecurityRecord::PUBLIC {
        row.label(format!("sensitivity:{}", event.sensitivity()));
    }
    if !is_proven {
        row.label(UNVERIFIED_LABEL);
    }
    row.origin = sink.origin([
        ("session", session.into()),
        ("seq", Value::count(position)),
        ("citation", event.citation().into()),
        ("line", line.into()),
    ]);
    // Two events of a broken log can have one citation.
    let id = match is_proven {
        true => event.citation(),
        false => format!("{}@{position}", event.citation()),
    };
    sink.push(row.with_id(id));
}

/// The content of an event: words where it has words, its type and payload otherwise.
pub(super) fn event_row(event: &LogEvent, place: &Place, sink: &mut RowSink) -> ForeignRow {
    let content = event.payload.get("content").and_then(Value::as_str);
    let content = content.filter(|text| !text.trim().is_empty());
    match (event.kind.as_str(), content) {
        ("transcript.turn", Some(text)) => {
            sink.account.keep("transcript.turn", "messages");
            ForeignRow::message(place, role_of(event), text)
        }
        ("document.indexed", Some(text)) => {
            sink.account.keep("document.indexed", "texts of modality document");
            ForeignRow { modality: "document", ..ForeignRow::text(place, text) }
        }
        _ => {
            sink.account.keep("(other types)", "JSON of type and payload");
            let (payload, is_changed) = plain(&event.payload);
            if is_changed {
                sink.account
                    .lose("payload", "NaN and halves of surrogate pairs have no place in JSON");
            }
            let data = Value::object([("type", event.kind.as_str().into()), ("payload", payload)]);
            ForeignRow::new(place, RowContent::Json { data: to_compact(&data) })
        }
    }
}

fn role_of(event: &LogEvent) -> Role {
    let stated = event.payload.get("role").and_then(Value::as_str).unwrap_or(&event.actor);
    let found = Role::ALL.iter().copied().find(|role| role.as_str() == stated);
    found.unwrap_or(Role::User)
}

/// The actor of an event.
pub(super) fn actor_of(event: &LogEvent) -> Option<ActorId> {
    if let Ok(actor) = event.actor.parse::<ActorId>() {
        return Some(actor);
    }
    let kind = if role_of(event) == Role::User && event.kind == "transcript.turn" {
        "user"
    } else {
        "agent"
    };
    actor_id(kind, &event.actor)
}

/// A session as the id of a scope's segment, by the rule that sessions have everywhere.
pub(super) fn scope_name(session: &str) -> String {
    let home = SessionHome::Project("x".to_owned());
    let scope = SessionScope { home, session_id: session.to_owned() }.path();
    let id =
        scope.ok().and_then(|scope| scope.as_str().rsplit_once(':').map(|(_, id)| id.to_owned()));
    id.unwrap_or_default()
}

/// The value in plain JSON, and whether that is another value.
fn plain(value: &Value) -> (Value, bool) {
    match value {
        Value::Number(token) if !token.to_f64().is_finite() && !token.is_integer() => {
            (Value::Null, true)
        }
        Value::Number(token) => (Value::Number(NumberToken::clone(token)), false),
        Value::String(text) => (Value::from(text.to_lossy().as_ref()), text.as_str().is_none()),
        Value::Array(elements) => {
            let parts: Vec<(Value, bool)> = elements.iter().map(plain).collect();
            let is_changed = parts.iter().any(|(_, is_changed)| *is_changed);
            (Value::Array(parts.into_iter().map(|(value, _)| value).collect()), is_changed)
        }
        Value::Object(members) => {
            let mut is_changed = false;
            let plain_members = members.iter().map(|Member { key, value }| {
                let (value, own) = plain(value);
                is_changed |= own || key.as_str().is_none();
                Member { key: JsonText::from(key.to_lossy().as_ref()), value }
            });
            let plain_members = plain_members.collect();
            (Value::Object(plain_members), is_changed)
        }
        Value::Null | Value::Bool(_) => (value.clone(), false),
    }
}
