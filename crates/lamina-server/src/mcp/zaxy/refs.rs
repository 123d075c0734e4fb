//! Refs: names for points in the log of a session. `HEAD` is its last event; `refs/heads/NAME` is set by an event
//! `memory.ref.updated`, the last of which counts.

use std::collections::BTreeMap;

use lamina_types::{Content, EventCitation, EventRecord, RecordedAt};
use serde_json::{Map, Value, json};

use super::session::Session;
use crate::mcp::tools::ToolFailure;

/// The type of the events that set refs.
pub(super) const KIND: &str = "memory.ref.updated";
/// The ref of the last event.
pub(super) const HEAD: &str = "HEAD";
/// Characters behind `refs/`.
const NAME_CHARS_MAX: usize = 240;
/// Updates of refs that are looked at.
const UPDATES_MAX: usize = 1_024;
/// Known refs that a mistake names.
const NAMED_MAX: usize = 20;

/// A ref with the event it points at.
#[derive(Debug, Clone)]
pub(super) struct ResolvedRef {
    pub(super) name: String,
    pub(super) target: EventCitation,
    /// When the target was recorded.
    pub(super) recorded_at: RecordedAt,
    /// When the ref was set.
    pub(super) updated_at: RecordedAt,
}

impl ResolvedRef {
    /// The member `ref` of a checkout.
    pub(super) fn shown(&self, session_id: &str) -> Value {
        json!({
            "name": self.name,
            "session_id": session_id,
            "target_seq": self.target.number,
            "target_hash": super::session::seal_of(&self.target),
            "ref_type": if self.name == HEAD { "head" } else { "branch" },
            "updated_at": lamina_api::time::print(self.updated_at.0),
        })
    }
}

/// Whether a name can be that of a ref.
pub(super) fn is_name(name: &str) -> bool {
    if name == HEAD {
        return true;
    }
    let Some(rest) = name.strip_prefix("refs/") else { return false };
    let is_plain = rest.bytes().all(|c| c.is_ascii_alphanumeric() || b"._/-".contains(&c));
    let length = rest.chars().count();
    is_plain
        && (1..=NAME_CHARS_MAX).contains(&length)
        && rest.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// The point in the log that a ref names.
pub(super) async fn resolve(session: &Session<'_>, name: &str) -> Result<ResolvedRef, ToolFailure> {
    let refused = |text: String| Err(ToolFailure::mistake("INVALID_ARGUMENT", text));
    if !is_name(name) {
        return refused(format!(
            "`ref` must be {HEAD}, or refs/ and up to {NAME_CHARS_MAX} letters, digits, `.`, `_`, `-` and `/`, as \
             refs/heads/main."
        ));
    }
    let events = session.typed_events(&[KIND], None, UPDATES_MAX).await?;
    let known = fold(&events);
    let (number, seal, updated_at) = match known.get(name) {
        Some(update) => (update.number, Some(update.seal.clone()), Some(update.at)),
        None if name == HEAD => (session.length().await?, None, None),
        None => {
            let mut names: Vec<&str> = vec![HEAD];
            names.extend(known.keys().map(String::as_str).take(NAMED_MAX));
            let id = session.id();
            return refused(format!(
                "`ref`: the session {id} has no `{name}`; it has {}.",
                names.join(", ")
            ));
        }
    };
    if number == 0 {
        return refused(format!("`ref`: the session {} has no event yet.", session.id()));
    }
    let Some(event) = target(session, number).await? else {
        return refused(format!(
            "`ref`: `{name}` points at event {number} of the session {}, which is not there.",
            session.id()
        ));
    };
    let citation = event.citation();
    if let Some(seal) = seal.filter(|seal| !super::session::seal_of(&citation).starts_with(seal)) {
        return refused(format!(
            "`ref`: `{name}` points at event {number} with the seal {seal}, and the event has another."
        ));
    }
    let updated_at = updated_at.unwrap_or(event.recorded_at);
    let recorded_at = event.recorded_at;
    Ok(ResolvedRef { name: name.to_owned(), target: citation, recorded_at, updated_at })
}

/// Completes the payload of an event that sets a ref, and refuses one that points nowhere.
pub(super) async fn complete(
    session: &Session<'_>,
    payload: &mut Map<String, Value>,
) -> Result<(), ToolFailure> {
    let name = payload.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let refused = |text: String| Err(ToolFailure::mistake("INVALID_ARGUMENT", text));
    if !is_name(&name) {
        return refused(format!(
            "`payload.name` must be {HEAD}, or refs/ and up to {NAME_CHARS_MAX} letters, digits, `.`, `_`, `-` and `/`."
        ));
    }
    let number = match payload.get("target_seq") {
        None | Some(Value::Null) => session.length().await?,
        Some(number) => number.as_u64().unwrap_or_default(),
    };
    let Some(event) = target(session, number).await? else {
        return refused(format!(
            "`payload.target_seq`: the session {} has no event {number} that can be read.",
            session.id()
        ));
    };
    let seal = super::session::seal_of(&event.citation());
    let stated = payload.get("target_hash").and_then(Value::as_str).unwrap_or(&seal);
    if stated.len() < 12 || !seal.starts_with(stated) {
        return refused(format!(
            "`payload.target_hash`: event {number} of the session {} has another seal.",
            session.id()
        ));
    }
    payload.insert("session_id".to_owned(), session.id().into());
    payload.insert("target_seq".to_owned(), number.into());
    payload.insert("target_hash".to_owned(), seal.into());
    let kind = if name == HEAD { "head" } else { "branch" };
    payload.entry("ref_type").or_insert_with(|| kind.into());
    Ok(())
}

async fn target(session: &Session<'_>, number: u64) -> Result<Option<EventRecord>, ToolFailure> {
    let permit = session.permit().await?;
    let engine = &session.call.app.engine;
    let event = engine.numbered_event(&permit, &session.place.scope, number).await;
    event.map_err(|error| session.failed(error))
}

/// What the last update of a ref says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RefUpdate {
    number: u64,
    seal: String,
    at: RecordedAt,
}

/// The refs of a session, by name.
fn fold(events: &[EventRecord]) -> BTreeMap<String, RefUpdate> {
    let mut refs = BTreeMap::new();
    for event in events {
        let Content::Json { data, .. } = &event.experience.content else { continue };
        let Ok(data) = serde_json::from_str::<Value>(data) else { continue };
        let payload = data.get("payload");
        let text = |name: &str| payload?.get(name)?.as_str();
        let number = payload.and_then(|payload| payload.get("target_seq")?.as_u64());
        if let (Some(name), Some(number), Some(seal)) = (text("name"), number, text("target_hash"))
            && is_name(name)
        {
            let update = RefUpdate { number, seal: seal.to_owned(), at: event.recorded_at };
            refs.insert(name.to_owned(), update);
        }
    }
    refs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ref_names_follow_the_rules_of_the_contract() {
        for name in ["HEAD", "refs/heads/main", "refs/tags/v1.0-rc_2", "refs/x"] {
            assert!(is_name(name), "{name}");
        }
        let long = format!("refs/{}", "a".repeat(240));
        assert!(is_name(&long));
        let longer = format!("{long}a");
        for name in ["", "head", "refs/", "refs//x", "refs/../x", "refs/./x", "refs/a b", &longer] {
            assert!(!is_name(name), "{name}");
        }
    }
}
