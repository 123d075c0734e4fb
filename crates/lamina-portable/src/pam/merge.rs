//! A full export and its deltas as one store.

use std::collections::{BTreeMap, BTreeSet};

use super::forms::Instant;
use super::integrity::checksum;
use super::manifest::{is_manifest, live_ids};
use super::model::{Memory, Provenance};
use super::store::{items, text};
use super::write::write_memory;
use crate::canon::CanonError;
use crate::json::{Member, Value};

/// The words of a memory whose words are gone.
pub const ERASED: &str = "[erased]";

/// Why a delta does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// The delta belongs to another export.
    #[error("the delta belongs to another export than the base")]
    Base,
    /// One of the two is not a store.
    #[error("a store without memories cannot be merged")]
    Shape,
    /// A value without a canonical form.
    #[error("a memory has no canonical form")]
    Canon(#[from] CanonError),
}

/// Applies a delta to its base: memories, relations and index entries are replaced by id or added, and
/// the checksum is computed anew. A retracted memory stays, as retracted. The signature and the manifest
/// of the base end, because they cover another store.
pub fn merge(base: &Value, delta: &Value) -> Result<Value, MergeError> {
    let named = text(delta, &["base_export_id"]);
    if named.is_some() && named != text(base, &["export_id"]) {
        return Err(MergeError::Base);
    }
    let Value::Object(members) = base else { return Err(MergeError::Shape) };
    let mut merged: Vec<Member> = members.clone();
    merged.retain(|member| member.key.as_str() != Some("signature"));
    let mut store = Value::Object(merged);
    for name in ["memories", "relations", "conversations_index"] {
        let list = upsert(base.get(name), delta.get(name));
        if let Some(place) = member_mut(&mut store, name) {
            *place = Value::Array(list);
        } else if !list.is_empty() {
            store.push(name, list);
        }
    }
    retract_gone(&mut store, delta);
    rebuild_derived(&mut store);
    let memories = store.get("memories").and_then(Value::as_array).ok_or(MergeError::Shape)?;
    let computed = checksum(memories)?;
    let total = memories.len() as u64;
    if let Some(integrity) = member_mut(&mut store, "integrity") {
        for (name, value) in
            [("checksum", Value::from(computed)), ("total_memories", Value::count(total))]
        {
            if let Some(place) = member_mut(integrity, name) {
                *place = value;
            }
        }
    }
    Ok(store)
}

/// Retracts the memories that a delta neither has nor lists, and drops such conversations: an erasure took
/// them, and with them the words that a tombstone would be found by.
fn retract_gone(store: &mut Value, delta: &Value) {
    let Some(live) = live_ids(delta) else { return };
    let date = text(delta, &["export_date"]).unwrap_or_default();
    let named: BTreeSet<&str> =
        items(delta, "memories").iter().filter_map(|memory| text(memory, &["id"])).collect();
    if let Some(Value::Array(entries)) = member_mut(store, "conversations_index") {
        let talks = items(delta, "conversations_index");
        let has = |id: &str| talks.iter().any(|talk| text(talk, &["id"]) == Some(id));
        entries.retain(|entry| text(entry, &["id"]).is_some_and(|id| live.contains(id) || has(id)));
    }
    let Some(Value::Array(memories)) = member_mut(store, "memories") else { return };
    for memory in memories {
        let id = text(memory, &["id"]).unwrap_or_default();
        if live.contains(id) || named.contains(id) {
            continue;
        }
        if let Some(mut gone) = Memory::read(memory) {
            "retracted".clone_into(&mut gone.status);
            ERASED.clone_into(&mut gone.content);
            gone.temporal.updated_at =
                Instant::parse(date).map(|date| date.at.max(gone.temporal.created_at));
            let Memory { id, kind, status, content, temporal, provenance, .. } = gone;
            *memory = write_memory(&Memory {
                id,
                kind,
                status,
                content,
                summary: None,
                tags: Vec::new(),
                temporal,
                provenance: Provenance { platform: provenance.platform, ..Provenance::default() },
                confidence: None,
                access: None,
                embedding_ref: None,
                metadata: None,
            });
        }
    }
}

/// Lists the memories of each conversation anew: a delta names only those that are in it.
fn rebuild_derived(store: &mut Value) {
    let mut derived: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for memory in items(store, "memories") {
        if let Some(talk) = text(memory, &["provenance", "conversation_ref"]) {
            let id = text(memory, &["id"]).unwrap_or_default().to_owned();
            derived.entry(talk.to_owned()).or_default().push(id);
        }
    }
    let Some(Value::Array(entries)) = member_mut(store, "conversations_index") else { return };
    for entry in entries {
        let memories = text(entry, &["id"]).and_then(|id| derived.get(id));
        let memories = Value::strings(memories.map(Vec::as_slice).unwrap_or_default());
        match member_mut(entry, "derived_memories") {
            Some(place) => *place = memories,
            None => entry.push("derived_memories", memories),
        }
    }
}

fn member_mut<'a>(value: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let Value::Object(members) = value else { return None };
    members.iter_mut().find(|m| m.key.as_str() == Some(name)).map(|m| &mut m.value)
}

fn upsert(base: Option<&Value>, delta: Option<&Value>) -> Vec<Value> {
    let list = |value: Option<&Value>| -> Vec<Value> {
        let items = value.and_then(Value::as_array).unwrap_or_default();
        items.iter().filter(|item| !is_manifest(item)).cloned().collect()
    };
    let mut items = list(base);
    let mut places: BTreeMap<String, usize> = items
        .iter()
        .enumerate()
        .filter_map(|(at, item)| Some((text(item, &["id"])?.to_owned(), at)))
        .collect();
    for item in list(delta) {
        let id = text(&item, &["id"]).unwrap_or_default().to_owned();
        match places.get(&id).and_then(|at| items.get_mut(*at)) {
            Some(place) => *place = item,
            None => {
                places.insert(id, items.len());
                items.push(item);
            }
        }
    }
    items
}
