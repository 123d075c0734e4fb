//! The difference of two snapshots: memories that are new or changed, everything that they refer to, and
//! a tombstone for each memory that is gone.

use std::collections::BTreeSet;

use lamina_portable::pam::{Conversation, ERASED, Memory, MemoryKind};
use lamina_types::RecordedAt;

use super::snapshot::{Snapshot, blank_memory};

/// The relations that a later snapshot has and an earlier one has not, or has otherwise.
fn new_relations(before: &Snapshot, after: &Snapshot) -> BTreeSet<String> {
    let relations = after.relations.values();
    relations
        .filter(|relation| before.relations.get(&relation.id) != Some(relation))
        .map(|relation| relation.id.clone())
        .collect()
}

/// Keeps of the later snapshot everything that a copy of the earlier one does not know.
pub(super) fn between(
    before: &Snapshot,
    mut after: Snapshot,
    since: RecordedAt,
    until: RecordedAt,
) -> Snapshot {
    let gone: Vec<Memory> = before
        .memories
        .values()
        .filter(|memory| !after.memories.contains_key(&memory.id))
        .map(|memory| match after.retired.get(&memory.id) {
            Some(retired) => retired.clone(),
            None => tombstone(&memory.id, &memory.kind, memory.temporal.created_at.0, until),
        })
        .collect();
    // An erasure takes the words from the earlier snapshot too: its ids are all that is left.
    let erased: Vec<Memory> = after
        .erased
        .iter()
        .filter(|(id, _)| !after.memories.contains_key(*id) && !before.memories.contains_key(*id))
        .map(|(id, kind)| tombstone(id, kind, since.0.0, until))
        .collect();
    let mut wanted: BTreeSet<String> = after
        .memories
        .values()
        .filter(|memory| before.memories.get(&memory.id) != Some(memory))
        .map(|memory| memory.id.clone())
        .collect();
    let new_relations = new_relations(before, &after);
    for id in &new_relations {
        if let Some(relation) = after.relations.get(id) {
            wanted.extend([relation.from.clone(), relation.to.clone()]);
        }
    }
    for memory in gone.iter().chain(&erased) {
        wanted.extend(memory.temporal.superseded_by.clone());
        after.memories.insert(memory.id.clone(), memory.clone());
        wanted.insert(memory.id.clone());
    }
    close(&mut wanted, &after);
    // A message that was erased is in neither snapshot, and its conversation is not known any more.
    let has_erased = !after.erased.is_empty();
    let talks: BTreeSet<String> = after
        .conversations
        .values()
        .filter(|talk| has_erased || before.conversations.get(&talk.id) != Some(talk))
        .map(|talk| talk.id.clone())
        .chain(
            wanted
                .iter()
                .filter_map(|id| after.memories.get(id)?.provenance.conversation_ref.clone()),
        )
        .collect();
    let emptied = emptied_talks(before, &after);
    after.memories.retain(|id, _| wanted.contains(id));
    after.relations.retain(|id, _| new_relations.contains(id));
    after.conversations.retain(|id, _| talks.contains(id));
    after.conversations.extend(emptied);
    let indexed = &before.index_entries;
    after.index_entries.retain(|id, entry| talks.contains(id) || indexed.get(id) != Some(entry));
    after
}

/// Conversations of which no message is left, without their words.
fn emptied_talks(before: &Snapshot, after: &Snapshot) -> Vec<(String, Conversation)> {
    let is_gone = |talk: &&Conversation| !after.conversations.contains_key(&talk.id);
    let emptied = before.conversations.values().filter(is_gone).map(|talk| {
        let mut emptied = talk.clone();
        emptied.messages.clear();
        emptied.title = None;
        (talk.id.clone(), emptied)
    });
    emptied.collect()
}

/// Adds the memories that wanted ones refer to.
fn close(wanted: &mut BTreeSet<String>, after: &Snapshot) {
    let mut waiting: Vec<String> = wanted.iter().cloned().collect();
    while let Some(id) = waiting.pop() {
        let next = after.memories.get(&id).and_then(|m| m.temporal.superseded_by.clone());
        if let Some(next) = next
            && wanted.insert(next.clone())
        {
            waiting.push(next);
        }
    }
}

fn tombstone(id: &str, kind: &MemoryKind, created_at: i64, until: RecordedAt) -> Memory {
    let created_at = lamina_types::Micros(created_at.min(until.0.0));
    let mut memory = blank_memory(id.to_owned(), kind.clone(), ERASED.to_owned(), created_at);
    "retracted".clone_into(&mut memory.status);
    memory.temporal.updated_at = Some(until.0);
    memory
}
