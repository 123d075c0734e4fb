//! An Eventloom log of a scope: its events and facts as sealed records that a reader can append to.

use std::collections::{BTreeMap, HashMap};

use lamina_portable::json::Value;
use lamina_portable::loss::LossAccount;
use lamina_portable::zaxy::{
    Edge, LogEvent, LogRecord, LogWriter, ScopeEvent, SemanticParts, thread_of,
};
use lamina_types::{EventId, ScopePath};

/// The actor of records about facts.
const FACT_ACTOR: &str = "lamina";

/// The parts of a log.
pub(super) struct LogSession<'a> {
    pub(super) scope: &'a ScopePath,
    /// All events of the scope.
    pub(super) events: &'a [ScopeEvent],
    /// The numbers of those that are written.
    pub(super) kept: &'a [u64],
    pub(super) ids: &'a HashMap<u64, EventId>,
    /// Facts by the event that said each first.
    pub(super) parts: &'a BTreeMap<u64, SemanticParts>,
}

/// Writes the log. Records of an imported log stay as they were as long as their chain is whole from its
/// beginning; everything behind them is sealed anew, and the account says so.
pub(super) fn log_text(session: &LogSession<'_>, account: &mut LossAccount) -> String {
    let kept: std::collections::HashSet<u64> = session.kept.iter().copied().collect();
    let mut text = String::new();
    let mut writer = LogWriter::new();
    let mut last: Option<LogEvent> = None;
    let mut is_whole = true;
    for item in session.events.iter().filter(|item| kept.contains(&item.event.seq)) {
        if let Some(line) = item.line.as_ref().filter(|_| is_whole)
            && follows(&item.event, last.as_ref())
        {
            text.push_str(line);
            text.push('\n');
            writer = LogWriter::after(&item.event);
            last = Some(item.event.clone());
            continue;
        }
        is_whole = false;
        if item.line.is_some() {
            account
                .change("integrity", "an event before it is not in the log, so it was sealed anew");
        }
        let record = record_of(session, item);
        text.push_str(&LogWriter::line(&writer.seal(record)));
        for edge in session.parts.get(&item.event.seq).into_iter().flat_map(|parts| &parts.edges) {
            let parts = session.parts.get(&item.event.seq);
            let record = edge_record(session, item, edge, parts);
            text.push_str(&LogWriter::line(&writer.seal(record)));
            account.count_row("fact");
        }
    }
    text
}

/// Whether an imported record goes on with the chain before it.
fn follows(event: &LogEvent, last: Option<&LogEvent>) -> bool {
    match last {
        None => event.seq == 1 && event.previous_hash.is_none(),
        Some(last) => event.seq == last.seq + 1 && event.previous_hash.as_ref() == Some(&last.hash),
    }
}

fn record_of(session: &LogSession<'_>, item: &ScopeEvent) -> LogRecord {
    let event = &item.event;
    let mut payload = event.payload.clone();
    payload.take("lamina");
    let mut own = Value::object([
        ("citation", event.citation().into()),
        ("scope", session.scope.as_str().into()),
    ]);
    own.push_some("event_id", session.ids.get(&event.seq).map(ToString::to_string));
    payload.push("lamina", own);
    LogRecord {
        timestamp: event.timestamp.clone(),
        kind: event.kind.clone(),
        actor: event.actor.clone(),
        thread: thread_of(session.scope),
        payload,
        sensitivity: event.sensitivity().to_owned(),
    }
}

/// A fact as a generated edge, which the reader's own rules turn into two entities and an edge; one that
/// ended is taken back with the time of its end.
fn edge_record(
    session: &LogSession<'_>,
    item: &ScopeEvent,
    edge: &Edge,
    parts: Option<&SemanticParts>,
) -> LogRecord {
    let term = |name: &Value| {
        let entities = parts.map(|parts| parts.entities.as_slice()).unwrap_or_default();
        let kind =
            entities.iter().find(|entity| entity.name == *name).map(|entity| entity.kind.as_str());
        Value::object([("name", name.clone()), ("entity_type", kind.unwrap_or("value").into())])
    };
    let mut payload = Value::object([
        ("source", term(&edge.source)),
        ("target", term(&edge.target)),
        ("relation_type", edge.relation.as_str().into()),
        ("confidence", edge.confidence.clone()),
        ("inference_method", edge.inference_method.clone()),
        ("evidence", edge.evidence.clone()),
    ]);
    let kind = match &edge.valid_to {
        None => "inference.edge.generated",
        Some(to) => {
            let from = edge.valid_from.clone().unwrap_or_else(|| item.event.timestamp.clone());
            payload.push("valid_from", from);
            payload.push("valid_to", to.as_str());
            "inference.edge.retracted"
        }
    };
    payload.push("lamina", Value::object([("citation", item.event.citation().into())]));
    LogRecord {
        timestamp: item.event.timestamp.clone(),
        kind: kind.to_owned(),
        actor: FACT_ACTOR.to_owned(),
        thread: thread_of(session.scope),
        payload,
        sensitivity: item.event.sensitivity().to_owned(),
    }
}
