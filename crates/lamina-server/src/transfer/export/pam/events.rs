//! Events: messages of conversations, memories that came from another store, and events of other kinds.

use std::collections::{BTreeMap, BTreeSet};

use lamina_portable::export::line_of;
use lamina_portable::json::{Member, ReadPolicy, Value, parse};
use lamina_portable::pam::{
    Conversation, Memory, MemoryKind, Message, NativeRecord, Provenance, Relation, derived_id,
    is_language, is_tag,
};
use lamina_types::{Content, EventRecord, Micros};

use super::super::records;
use super::gather::Records;
use super::snapshot::{EventFrame, EventPlace, PLATFORM, Snapshot, SnapshotFrame, blank_memory};

/// The label of events that stay out of stores.
const PRIVATE_LABEL: &str = "pam:private";
const TAG_LABEL: &str = "tag:";
pub(super) const CUSTOM_TYPE: &str = "event";

/// Maps all events.
pub(super) fn map(records: &Records, frame: &SnapshotFrame<'_>, snapshot: &mut Snapshot) {
    let latest = latest_imported(records);
    let mut talks: BTreeMap<TalkKey, Talk> = BTreeMap::new();
    for event in &records.events {
        if event.experience.context.labels.iter().any(|label| label == PRIVATE_LABEL) {
            snapshot.private.insert(event.id);
            snapshot.account.skip("the label pam:private keeps it out of exports", 1);
            continue;
        }
        let is_cancelled = records.cancelled.contains(&event.id);
        let origin = Origin::of(event);
        let place = match &origin.memory {
            _ if !frame.has_events() => EventPlace::Absent,
            Some(memory) if latest.contains(&event.id.to_string()) => {
                push_imported(memory.clone(), &origin, is_cancelled, snapshot)
            }
            _ if is_cancelled => {
                snapshot.account.skip("the event was cancelled", 1);
                EventPlace::Absent
            }
            _ if matches!(event.experience.content, Content::Message { .. }) => {
                let talk = talks.entry(TalkKey::of(event)).or_default();
                let message = talk.push(event, &origin);
                EventPlace::Message { conversation: String::new(), message }
            }
            _ => push_event(event, &origin, snapshot),
        };
        let is_imported = event.experience.origin.is_some();
        let recorded = event.recorded_at.0;
        snapshot.frames.insert(event.id, EventFrame { place, recorded, is_imported });
    }
    let mut names = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for (key, talk) in talks {
        let conversation = talk.finish(&key, &mut taken);
        names.insert(key, conversation.id.clone());
        snapshot.account.count_row("conversation");
        snapshot.index_entries.remove(&conversation.id);
        snapshot.conversations.insert(conversation.id.clone(), conversation);
    }
    for event in &records.events {
        let Some(held) = snapshot.frames.get_mut(&event.id) else { continue };
        if let EventPlace::Message { conversation, .. } = &mut held.place
            && let Some(name) = names.get(&TalkKey::of(event))
        {
            conversation.clone_from(name);
        }
    }
}

/// The last event of each memory that was imported: an earlier version gives its id to the later one.
fn latest_imported(records: &Records) -> BTreeSet<String> {
    let mut latest = BTreeMap::new();
    for event in &records.events {
        if let Some(memory) = Origin::of(event).memory {
            latest.insert(memory.id, event.id.to_string());
        }
    }
    latest.into_values().collect()
}

/// The parts of a portable store that an imported event carries.
#[derive(Debug, Default)]
struct Origin {
    /// The product of another format.
    platform: Option<String>,
    memory: Option<Memory>,
    relations: Vec<Relation>,
    index_entry: Option<Value>,
    /// The conversation of a message.
    conversation: Option<Value>,
    message: Option<Value>,
}

impl Origin {
    fn of(event: &EventRecord) -> Origin {
        let text = event.experience.origin.as_deref().unwrap_or_default();
        let Ok(mut origin) = parse(text.as_bytes(), &ReadPolicy::STRICT) else {
            return Origin::default();
        };
        let format = origin.get("format").and_then(Value::as_str).unwrap_or_default();
        if format != "pam" {
            let platform = if format == "openai" { "chatgpt" } else { format };
            return Origin { platform: platform_name(platform), ..Origin::default() };
        }
        let memory = origin.take("memory").and_then(|mut memory| {
            if memory.get("content").is_none() {
                memory.push("content", words_of(&event.experience.content));
            }
            Memory::read(&memory)
        });
        let relations = origin.take("relations");
        let relations = relations.as_ref().and_then(Value::as_array).unwrap_or_default();
        Origin {
            platform: None,
            memory,
            relations: relations.iter().filter_map(Relation::read).collect(),
            index_entry: origin.take("index_entry"),
            conversation: origin.take("conversation"),
            message: origin.take("message"),
        }
    }
}

fn platform_name(name: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    ((2..=32).contains(&name.len()) && name.chars().all(fits)).then(|| name.to_owned())
}

/// A memory of another store comes out as it came, with its relations.
fn push_imported(
    mut memory: Memory,
    origin: &Origin,
    is_cancelled: bool,
    snapshot: &mut Snapshot,
) -> EventPlace {
    if is_cancelled {
        "retracted".clone_into(&mut memory.status);
    }
    for relation in &origin.relations {
        snapshot.relations.insert(relation.id.clone(), relation.clone());
    }
    if let Some(entry) = &origin.index_entry
        && let Some(id) = entry.get("id").and_then(Value::as_str)
    {
        snapshot.index_entries.insert(id.to_owned(), entry.clone());
    }
    let id = memory.id.clone();
    snapshot.push_memory(memory, None);
    EventPlace::Memory(id)
}

/// An event that is no message.
fn push_event(event: &EventRecord, origin: &Origin, snapshot: &mut Snapshot) -> EventPlace {
    let experience = &event.experience;
    let id = event.id.to_string();
    let kind = MemoryKind::Custom(CUSTOM_TYPE.to_owned());
    let content = words_of(&experience.content);
    let mut memory = blank_memory(id.clone(), kind, content, event.recorded_at.0);
    memory.temporal.valid_from = Some(experience.context.observed_at.0);
    memory.tags = tags_of(&experience.context.labels);
    memory.provenance = Provenance {
        platform: origin.platform.clone().unwrap_or_else(|| PLATFORM.to_owned()),
        extraction_method: Some(method_of(event).to_owned()),
        ..Provenance::default()
    };
    if let Some(language) = experience.hints.language.as_deref().filter(|tag| is_language(tag)) {
        memory.metadata = Some(Value::object([("language", language.into())]));
    }
    lose_blobs(&experience.content, snapshot);
    snapshot.push_memory(memory, Some(&native_event(event)));
    EventPlace::Memory(id)
}

fn lose_blobs(content: &Content, snapshot: &mut Snapshot) {
    if matches!(content, Content::BlobRef { .. }) || !content.media().is_empty() {
        snapshot.account.lose("content.media", "the bytes of blobs are not in an export");
    }
}

/// How an event came: said here, or taken from elsewhere.
fn method_of(event: &EventRecord) -> &'static str {
    match event.experience.origin.is_some() || event.experience.modality.as_str() == "imported" {
        true => "api_export",
        false => "explicit_user_input",
    }
}

fn native_event(event: &EventRecord) -> NativeRecord {
    NativeRecord {
        layer: "event".to_owned(),
        scope: event.experience.scope.to_string(),
        record: line_of(&records::event(event.clone())).trim_end().to_owned(),
        citation: Some(event.citation().to_string()),
    }
}

/// The words of a content, never none.
pub(super) fn words_of(content: &Content) -> String {
    let (words, name) = match content {
        Content::Message { text, .. } | Content::Text { text, .. } => (text.as_str(), "(empty)"),
        Content::Json { data, .. } => (data.as_str(), "(empty)"),
        Content::Triple { triple, .. } => (triple.as_str(), "(empty)"),
        Content::BlobRef { transcript, .. } => {
            (transcript.as_deref().unwrap_or_default(), "(a file without a transcript)")
        }
    };
    if words.is_empty() { name.to_owned() } else { words.to_owned() }
}

/// Labels that the format takes as tags.
pub(super) fn tags_of(labels: &[String]) -> Vec<String> {
    let plain = |label: &String| label.strip_prefix(TAG_LABEL).unwrap_or(label).to_owned();
    let tags: BTreeSet<String> = labels.iter().map(plain).filter(|tag| is_tag(tag)).collect();
    tags.into_iter().collect()
}

/// A conversation: the scope and the session of its messages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct TalkKey {
    scope: String,
    session: Option<String>,
}

impl TalkKey {
    fn of(event: &EventRecord) -> TalkKey {
        TalkKey {
            scope: event.experience.scope.to_string(),
            session: event.experience.observed_actor.session.clone(),
        }
    }
}

#[derive(Debug, Default)]
struct Talk {
    /// The conversation that its messages came from.
    head: Option<Value>,
    platform: Option<String>,
    messages: Vec<(Micros, Message)>,
    recorded: Option<(Micros, Micros)>,
}

impl Talk {
    fn push(&mut self, event: &EventRecord, origin: &Origin) -> String {
        if self.head.is_none() {
            self.head.clone_from(&origin.conversation);
        }
        if self.platform.is_none() {
            self.platform.clone_from(&origin.platform);
        }
        let at = event.experience.context.observed_at.0;
        let message = message_of(event, origin);
        let id = message.id.clone();
        self.messages.push((at, message));
        let (first, last) = self.recorded.unwrap_or((at, at));
        self.recorded = Some((first.min(at), last.max(at)));
        id
    }

    fn finish(mut self, key: &TalkKey, taken: &mut BTreeSet<String>) -> Conversation {
        // Equal times keep the order of the log.
        self.messages.sort_by_key(|(at, _)| *at);
        let (created_at, last) = self.recorded.unwrap_or((Micros(0), Micros(0)));
        let session = key.session.as_deref();
        let own = derived_id("conv", &[&key.scope, session.unwrap_or_default()]);
        let head = self.head.as_ref().and_then(Conversation::read);
        let mut seen = BTreeSet::new();
        let messages = self.messages.into_iter().map(|(_, mut message)| {
            if !seen.insert(message.id.clone()) {
                message.id = derived_id("msg", &[&message.id, &seen.len().to_string()]);
            }
            message
        });
        let messages = messages.collect();
        match head {
            Some(head) => Conversation {
                id: if taken.insert(head.id.clone()) { head.id } else { own },
                messages,
                ..head
            },
            None => Conversation {
                id: own,
                platform: self.platform.unwrap_or_else(|| PLATFORM.to_owned()),
                title: key.session.clone(),
                created_at,
                updated_at: Some(last),
                tags: Vec::new(),
                messages,
                others: Vec::new(),
            },
        }
    }
}

fn message_of(event: &EventRecord, origin: &Origin) -> Message {
    let experience = &event.experience;
    let Content::Message { role, text, .. } = &experience.content else {
        return empty_message(event);
    };
    let mut message = Message {
        role: role.as_str().to_owned(),
        text: Some(text.clone()),
        ..empty_message(event)
    };
    match &origin.message {
        Some(kept) => restore_message(kept, &mut message),
        None => native_event(event).attach_to_message(&mut message),
    }
    message
}

/// The members of a message that came from another store.
fn restore_message(kept: &Value, message: &mut Message) {
    for Member { key, value } in kept.as_object().unwrap_or_default() {
        match (key.as_str(), value.as_str()) {
            (Some("id"), Some(id)) => id.clone_into(&mut message.id),
            (Some("parent_id"), Some(id)) => message.parent_id = Some(id.to_owned()),
            (Some("id" | "parent_id"), None) | (None, _) => {}
            (Some(_), _) => message.others.push(Member { key: key.clone(), value: value.clone() }),
        }
    }
}

fn empty_message(event: &EventRecord) -> Message {
    Message {
        id: event.id.to_string(),
        role: "user".to_owned(),
        created_at: event.experience.context.observed_at.0,
        text: None,
        parent_id: None,
        others: Vec::new(),
    }
}
