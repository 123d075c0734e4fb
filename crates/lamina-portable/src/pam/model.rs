//! Memories, relations and conversations as values: read from a validated bundle, given to the writer.

use lamina_types::Micros;

use super::forms::Instant;
use super::store::{items, text};
use crate::json::{Member, Value};
use crate::time;

/// A memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: MemoryKind,
    /// Its status: `active`, `superseded`, `deprecated`, `retracted` or `archived`.
    pub status: String,
    /// The sentence.
    pub content: String,
    /// A short form.
    pub summary: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// When it was made and when it is valid.
    pub temporal: Temporal,
    /// Where it came from.
    pub provenance: Provenance,
    /// How sure the source is.
    pub confidence: Option<Confidence>,
    /// The access block, as it is.
    pub access: Option<Value>,
    /// Its entry among the embeddings.
    pub embedding_ref: Option<String>,
    /// Further members, as they are.
    pub metadata: Option<Value>,
}

/// The kind of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryKind {
    /// One of the names of the format.
    Standard(String),
    /// A name of one's own.
    Custom(String),
}

/// The times of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Temporal {
    /// When it was recorded.
    pub created_at: Micros,
    /// When it was last changed.
    pub updated_at: Option<Micros>,
    /// From when on it is true.
    pub valid_from: Option<Micros>,
    /// Until when it is true, exclusive.
    pub valid_until: Option<Micros>,
    /// The memory that replaced it.
    pub superseded_by: Option<String>,
}

/// The origin of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// The product.
    pub platform: String,
    /// The person's id there.
    pub platform_user_id: Option<String>,
    /// The conversation.
    pub conversation_ref: Option<String>,
    /// The message.
    pub message_ref: Option<String>,
    /// How it was extracted.
    pub extraction_method: Option<String>,
    /// When it was extracted.
    pub extracted_at: Option<Micros>,
    /// The program that extracted it, as `name/1.2.3`.
    pub extractor: Option<String>,
}

/// The confidence of a memory. Numbers are tokens of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confidence {
    /// At the extraction.
    pub initial: Option<Value>,
    /// Now.
    pub current: Option<Value>,
    /// The name of the decay.
    pub decay_model: Option<String>,
    /// When it was last reinforced.
    pub last_reinforced: Option<Micros>,
}

/// A relation between two memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Its id.
    pub id: String,
    /// The source.
    pub from: String,
    /// The target.
    pub to: String,
    /// `supports`, `contradicts`, `extends`, `supersedes`, `related_to` or `derived_from`.
    pub relation_type: String,
    /// How sure it is, as a token of JSON.
    pub confidence: Option<Value>,
    /// When it was made.
    pub created_at: Micros,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// Its id.
    pub id: String,
    /// The product.
    pub platform: String,
    /// Its title.
    pub title: Option<String>,
    /// When it began.
    pub created_at: Micros,
    /// When it last changed.
    pub updated_at: Option<Micros>,
    /// Tags.
    pub tags: Vec<String>,
    /// Its messages, in order.
    pub messages: Vec<Message>,
    /// Further members of the document, as they are.
    pub others: Vec<Member>,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its id.
    pub id: String,
    /// `user`, `assistant`, `system` or `tool`.
    pub role: String,
    /// When it was written.
    pub created_at: Micros,
    /// Its words.
    pub text: Option<String>,
    /// The message that it answers.
    pub parent_id: Option<String>,
    /// Further members, as they are; a `content` of several parts among them.
    pub others: Vec<Member>,
}

/// A time in the one form on which all validators agree: UTC, no fraction or six digits.
pub(super) fn print_time(at: Micros) -> String {
    let text = time::print(at);
    Instant::parse(&text).map_or(text, |instant| instant.rewritten)
}

fn read_time(value: &Value, path: &[&str]) -> Option<Micros> {
    text(value, path).and_then(Instant::parse).map(|instant| instant.at)
}

fn read_text(value: &Value, path: &[&str]) -> Option<String> {
    text(value, path).map(str::to_owned)
}

fn read_texts(value: &Value, name: &str) -> Vec<String> {
    items(value, name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn present(value: Option<&Value>) -> Option<Value> {
    value.filter(|value| !value.is_null()).cloned()
}

impl Memory {
    /// Reads a memory of a valid store; `None` if a required member is missing.
    pub fn read(value: &Value) -> Option<Memory> {
        let kind = read_text(value, &["type"])?;
        Some(Memory {
            id: read_text(value, &["id"])?,
            kind: match read_text(value, &["custom_type"]) {
                Some(name) if kind == "custom" => MemoryKind::Custom(name),
                _ => MemoryKind::Standard(kind),
            },
            status: read_text(value, &["status"]).unwrap_or_else(|| "active".to_owned()),
            content: read_text(value, &["content"])?,
            summary: read_text(value, &["summary"]),
            tags: read_texts(value, "tags"),
            temporal: Temporal {
                created_at: read_time(value, &["temporal", "created_at"])?,
                updated_at: read_time(value, &["temporal", "updated_at"]),
                valid_from: read_time(value, &["temporal", "valid_from"]),
                valid_until: read_time(value, &["temporal", "valid_until"]),
                superseded_by: read_text(value, &["temporal", "superseded_by"]),
            },
            provenance: Provenance::read(value.get("provenance")?)?,
            confidence: present(value.get("confidence")).map(|block| Confidence {
                initial: present(block.get("initial")),
                current: present(block.get("current")),
                decay_model: read_text(&block, &["decay_model"]),
                last_reinforced: read_time(&block, &["last_reinforced"]),
            }),
            access: present(value.get("access")),
            embedding_ref: read_text(value, &["embedding_ref"]),
            metadata: present(value.get("metadata")),
        })
    }

    /// Whether the person allows it in an export.
    pub fn is_exportable(&self) -> bool {
        let flag = self.access.as_ref().and_then(|access| access.get("exportable"));
        flag.and_then(Value::as_bool) != Some(false)
    }
}

impl Provenance {
    fn read(value: &Value) -> Option<Provenance> {
        Some(Provenance {
            platform: read_text(value, &["platform"])?,
            platform_user_id: read_text(value, &["platform_user_id"]),
            conversation_ref: read_text(value, &["conversation_ref"]),
            message_ref: read_text(value, &["message_ref"]),
            extraction_method: read_text(value, &["extraction_method"]),
            extracted_at: read_time(value, &["extracted_at"]),
            extractor: read_text(value, &["extractor"]),
        })
    }
}

impl Relation {
    /// Reads a relation of a valid store.
    pub fn read(value: &Value) -> Option<Relation> {
        Some(Relation {
            id: read_text(value, &["id"])?,
            from: read_text(value, &["from"])?,
            to: read_text(value, &["to"])?,
            relation_type: read_text(value, &["type"])?,
            confidence: present(value.get("confidence")),
            created_at: read_time(value, &["created_at"])?,
        })
    }
}

impl Conversation {
    /// Reads a valid conversation document.
    pub fn read(value: &Value) -> Option<Conversation> {
        const OWN: [&str; 7] =
            ["schema", "schema_version", "id", "title", "temporal", "tags", "messages"];
        Some(Conversation {
            id: read_text(value, &["id"])?,
            platform: read_text(value, &["provider", "name"])?,
            title: read_text(value, &["title"]),
            created_at: read_time(value, &["temporal", "created_at"])?,
            updated_at: read_time(value, &["temporal", "updated_at"]),
            tags: read_texts(value, "tags"),
            messages: items(value, "messages").iter().filter_map(Message::read).collect(),
            others: other_members(value, &OWN),
        })
    }
}

impl Message {
    fn read(value: &Value) -> Option<Message> {
        let is_text = text(value, &["content", "type"]) == Some("text");
        let own: &[&str] = match is_text {
            true => &["id", "role", "created_at", "parent_id", "content"],
            false => &["id", "role", "created_at", "parent_id"],
        };
        let parts = value.at(&["content", "parts"]).and_then(Value::as_array).unwrap_or_default();
        let parts: Vec<&str> = parts.iter().filter_map(|part| text(part, &["text"])).collect();
        let joined = (!parts.is_empty()).then(|| parts.join("\n"));
        Some(Message {
            id: read_text(value, &["id"])?,
            role: read_text(value, &["role"])?,
            created_at: read_time(value, &["created_at"])?,
            text: read_text(value, &["content", "text"]).or(joined),
            parent_id: read_text(value, &["parent_id"]),
            others: other_members(value, own),
        })
    }
}

fn other_members(value: &Value, own: &[&str]) -> Vec<Member> {
    let members = value.as_object().unwrap_or_default().iter();
    let is_other = |member: &&Member| {
        !member.value.is_null() && !member.key.as_str().is_some_and(|key| own.contains(&key))
    };
    members.filter(is_other).cloned().collect()
}
