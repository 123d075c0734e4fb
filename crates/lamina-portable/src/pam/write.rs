//! The writer. It stays in the profile on which the specification, the schemas and the published
//! toolkit agree, and validates its own output before it hands it out.

use std::collections::{BTreeMap, BTreeSet};

use lamina_types::Micros;

use super::bundle::{
    BUNDLE_BYTES_MAX, BundleFile, CONVERSATIONS_FOLDER, Container, EMBEDDINGS_FILE, STORE_FILE,
    verify,
};
use super::forms::{content_hash, sha256_text};
use super::integrity::checksum;
use super::manifest;
use super::model::{
    Confidence, Conversation, Memory, MemoryKind, Message, Provenance, Relation, Temporal,
    print_time,
};
use super::report::{Finding, Level};
use super::shapes::{CONVERSATION, EMBEDDINGS, STORE};
use super::signature::{SignedTexts, sign};
use super::store::text;
use crate::canon::{CanonError, jcs};
use crate::json::{Member, ReadPolicy, Value, parse, to_compact};
use crate::sign::SigningKey;

const VERSION: &str = "1.0";
/// Characters of a conversation's id in its file name.
const FILE_NAME_CHARS_MAX: usize = 80;

/// An export that is to be written.
#[derive(Debug)]
pub struct StoreExport {
    /// The owner's id.
    pub owner_id: String,
    /// The owner's DID; with a key and without a DID, the `did:key` of the key.
    pub owner_did: Option<String>,
    /// The id of this export.
    pub export_id: String,
    /// When it is made.
    pub exported_at: Micros,
    /// The program, as `name/1.2.3`.
    pub exported_by: String,
    /// Everything, or a delta.
    pub span: ExportSpan,
    /// The memories.
    pub memories: Vec<Memory>,
    /// The relations.
    pub relations: Vec<Relation>,
    /// The conversations.
    pub conversations: Vec<Conversation>,
    /// Entries of the index whose conversations are kept elsewhere, as they are.
    pub index_entries: Vec<Value>,
    /// The vectors.
    pub embeddings: Vec<Embedding>,
    /// The key that signs.
    pub key: Option<SigningKey>,
}

/// How much an export covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportSpan {
    /// Everything.
    Full,
    /// What changed.
    Incremental {
        /// The full export before it; `None` if only its instant is known.
        base_export_id: Option<String>,
        /// The instant after which something changed.
        since: Micros,
        /// The ids of all memories and conversations that a full export of now has. The manifest lists them,
        /// so that a copy can tell which of its own are gone.
        live: Vec<String>,
    },
}

/// A vector of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Its id.
    pub id: String,
    /// Its memory.
    pub memory_id: String,
    /// The model.
    pub model: String,
    /// When it was computed.
    pub created_at: Micros,
    /// The numbers.
    pub vector: Vec<f64>,
}

/// The files of an export, and the number of things that stayed out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenBundle {
    /// The files, the store first.
    pub files: Vec<BundleFile>,
    /// Memories that their person does not allow in an export.
    pub withheld_memories: u64,
    /// Relations with an end outside of the export.
    pub dropped_relations: u64,
}

/// Why an export cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// A value without a canonical form.
    #[error("a memory has no canonical form")]
    Canon(#[from] CanonError),
    /// The documents are larger than a reader takes.
    #[error("the export has a document of more than {BUNDLE_BYTES_MAX} bytes")]
    TooLarge,
    /// The result would break a rule.
    #[error("the export would break a rule: {0}")]
    Invalid(Box<Finding>),
}

impl StoreExport {
    /// Writes the files. Equal exports give equal bytes.
    pub fn write(mut self) -> Result<WrittenBundle, WriteError> {
        let count = self.memories.len();
        self.memories.retain(Memory::is_exportable);
        let withheld_memories = (count - self.memories.len()) as u64;
        let dropped_relations = self.drop_dangling();
        let mut files = self.conversation_files();
        files.extend(self.embeddings_file());
        let index = self.index();
        let relations = Value::Array(self.relations.iter().map(write_relation).collect());
        let manifest = manifest::Manifest {
            export: &self,
            files: &files,
            relations: &relations,
            index: &index,
        };
        let manifest = manifest.write()?;
        let mut memories: Vec<Value> = self.memories.iter().map(write_memory).collect();
        memories.push(write_memory(&manifest));
        let store = self.store(memories, relations, index)?;
        files.insert(0, file(STORE_FILE.to_owned(), &store));
        if files.iter().any(|file| file.bytes.len() as u64 > BUNDLE_BYTES_MAX) {
            return Err(WriteError::TooLarge);
        }
        let report = verify(Container::Directory, &files);
        let error = report.findings().iter().find(|finding| finding.level == Level::Error);
        match error {
            Some(error) => Err(WriteError::Invalid(Box::new(error.clone()))),
            None => Ok(WrittenBundle { files, withheld_memories, dropped_relations }),
        }
    }

    /// Removes references to memories and conversations that are not in the export.
    fn drop_dangling(&mut self) -> u64 {
        let known: BTreeSet<String> = self.memories.iter().map(|m| m.id.clone()).collect();
        let vectors: BTreeSet<String> = self.embeddings.iter().map(|e| e.id.clone()).collect();
        let mut talks: BTreeSet<String> = self.conversations.iter().map(|c| c.id.clone()).collect();
        self.index_entries.retain(|e| entry_id(e).is_some_and(|id| talks.insert(id.to_owned())));
        for memory in &mut self.memories {
            memory.temporal.superseded_by.take_if(|id| !known.contains(id));
            memory.embedding_ref.take_if(|id| !vectors.contains(id));
            memory.provenance.conversation_ref.take_if(|id| !talks.contains(id));
        }
        let count = self.relations.len();
        self.relations.retain(|r| known.contains(&r.from) && known.contains(&r.to));
        self.embeddings.retain(|embedding| known.contains(&embedding.memory_id));
        (count - self.relations.len()) as u64
    }

    fn store(
        &self,
        memories: Vec<Value>,
        relations: Value,
        index: Value,
    ) -> Result<Value, WriteError> {
        let checksum = checksum(&memories)?;
        let export_date = print_time(self.exported_at);
        let mut owner = Value::object([("id", self.owner_id.as_str().into())]);
        let key_did = self.key.as_ref().map(|key| key.public().to_did_key());
        owner.push_some("did", self.owner_did.clone().or(key_did));
        let mut store = Value::object([
            ("schema", STORE.into()),
            ("schema_version", VERSION.into()),
            ("export_id", self.export_id.as_str().into()),
            ("exported_by", self.exported_by.as_str().into()),
            ("export_date", export_date.as_str().into()),
            ("owner", owner),
        ]);
        match &self.span {
            ExportSpan::Full => store.push("export_type", "full"),
            ExportSpan::Incremental { base_export_id, since, live: _ } => {
                store.push("export_type", "incremental");
                store.push_some("base_export_id", base_export_id.as_deref());
                store.push("since", print_time(*since));
            }
        }
        let integrity = Value::object([
            ("canonicalization", "RFC8785".into()),
            ("checksum", checksum.as_str().into()),
            ("total_memories", Value::count(memories.len() as u64)),
        ]);
        store.push("memories", memories);
        store.push("relations", relations);
        store.push("conversations_index", index);
        store.push("integrity", integrity);
        if let Some(key) = &self.key {
            let texts = SignedTexts {
                checksum: &checksum,
                export_id: &self.export_id,
                export_date: &export_date,
                owner_id: &self.owner_id,
            };
            store.push("signature", sign(key, &texts, &export_date));
        }
        Ok(store)
    }

    fn conversation_files(&self) -> Vec<BundleFile> {
        let documents = self.conversations.iter();
        documents.map(|talk| file(conversation_file(&talk.id), &write_conversation(talk))).collect()
    }

    fn embeddings_file(&self) -> Option<BundleFile> {
        if self.embeddings.is_empty() {
            return None;
        }
        let embeddings = self.embeddings.iter().map(|embedding| {
            let vector = embedding.vector.iter().map(|number| Value::double(*number)).collect();
            Value::object([
                ("id", embedding.id.as_str().into()),
                ("memory_id", embedding.memory_id.as_str().into()),
                ("model", embedding.model.as_str().into()),
                ("dimensions", Value::count(embedding.vector.len() as u64)),
                ("created_at", print_time(embedding.created_at).into()),
                ("vector", Value::Array(vector)),
            ])
        });
        let document = Value::object([
            ("schema", EMBEDDINGS.into()),
            ("schema_version", VERSION.into()),
            ("embeddings", Value::Array(embeddings.collect())),
        ]);
        Some(file(EMBEDDINGS_FILE.to_owned(), &document))
    }

    fn index(&self) -> Value {
        let mut derived: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for memory in &self.memories {
            if let Some(talk) = &memory.provenance.conversation_ref {
                derived.entry(talk).or_default().push(&memory.id);
            }
        }
        let entries = self.conversations.iter().map(|talk| {
            let mut entry = Value::object([
                ("id", talk.id.as_str().into()),
                ("platform", talk.platform.as_str().into()),
            ]);
            entry.push_some("title", talk.title.as_deref());
            entry.push("message_count", Value::count(talk.messages.len() as u64));
            entry.push("temporal", write_span(talk));
            entry.push("tags", Value::strings(&talk.tags));
            let memories = derived.get(talk.id.as_str()).map(Vec::as_slice).unwrap_or_default();
            entry.push("derived_memories", Value::strings(memories));
            let storage = Value::object([
                ("type", "file".into()),
                ("ref", conversation_file(&talk.id).into()),
                ("format", "json".into()),
            ]);
            entry.push("storage", storage);
            entry
        });
        let mut entries: Vec<Value> = entries.collect();
        entries.extend(self.index_entries.iter().map(|kept| {
            let mut entry = kept.clone();
            entry.take("derived_memories");
            let id = entry_id(kept).unwrap_or_default();
            let memories = derived.get(id).map(Vec::as_slice).unwrap_or_default();
            entry.push("derived_memories", Value::strings(memories));
            entry
        }));
        Value::Array(entries)
    }
}

fn entry_id(entry: &Value) -> Option<&str> {
    entry.get("id").and_then(Value::as_str)
}

/// Why a store cannot be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the document is no store that can be signed")]
pub struct SignStoreError;

/// Signs a store that was written without a key. An owner without a DID gets that of the key.
pub fn sign_store(bytes: &[u8], key: &SigningKey) -> Result<Vec<u8>, SignStoreError> {
    let mut store = parse(bytes, &ReadPolicy::STRICT).map_err(|_| SignStoreError)?;
    store.take("signature");
    let text = |path: &[&str]| text(&store, path).map(str::to_owned).ok_or(SignStoreError);
    let checksum = text(&["integrity", "checksum"])?;
    let (export_id, export_date) = (text(&["export_id"])?, text(&["export_date"])?);
    let owner_id = text(&["owner", "id"])?;
    let texts = SignedTexts {
        checksum: &checksum,
        export_id: &export_id,
        export_date: &export_date,
        owner_id: &owner_id,
    };
    let signature = sign(key, &texts, &export_date);
    let Value::Object(members) = &mut store else { return Err(SignStoreError) };
    let owner = members.iter_mut().find(|member| member.key.as_str() == Some("owner"));
    if let Some(owner) = owner.filter(|owner| owner.value.get("did").is_none()) {
        owner.value.push("did", key.public().to_did_key());
    }
    store.push("signature", signature);
    Ok(file(String::new(), &store).bytes)
}

fn file(name: String, document: &Value) -> BundleFile {
    let mut bytes = to_compact(document).into_bytes();
    bytes.push(b'\n');
    BundleFile { name, bytes }
}

/// The file of a conversation: its id, if that is a plain name, else with a hash behind it.
pub(super) fn conversation_file(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let plain: String = id.chars().filter(|c| is_plain(*c)).take(FILE_NAME_CHARS_MAX).collect();
    if plain == id {
        return format!("{CONVERSATIONS_FOLDER}{plain}.json");
    }
    let hash = sha256_text(id.as_bytes());
    let short: String = hash.chars().skip("sha256:".len()).take(16).collect();
    format!("{CONVERSATIONS_FOLDER}{plain}.{short}.json")
}

pub(super) fn write_memory(memory: &Memory) -> Value {
    let mut out = Value::object([("id", memory.id.as_str().into())]);
    match &memory.kind {
        MemoryKind::Standard(name) => out.push("type", name.as_str()),
        MemoryKind::Custom(name) => {
            out.push("type", "custom");
            out.push("custom_type", name.as_str());
        }
    }
    out.push("status", memory.status.as_str());
    out.push("content", memory.content.as_str());
    out.push("content_hash", content_hash(&memory.content));
    out.push_some("summary", memory.summary.as_deref());
    out.push("tags", Value::strings(&memory.tags));
    out.push_some("confidence", memory.confidence.as_ref().map(write_confidence));
    out.push("temporal", write_temporal(&memory.temporal));
    out.push("provenance", write_provenance(&memory.provenance));
    out.push_some("access", memory.access.as_ref().map(write_access));
    out.push_some("embedding_ref", memory.embedding_ref.as_deref());
    out.push_some("metadata", memory.metadata.as_ref().map(write_metadata));
    out
}

fn write_confidence(confidence: &Confidence) -> Value {
    let Confidence { initial, current, decay_model, last_reinforced } = confidence;
    let mut out = Value::Object(Vec::new());
    out.push_some("initial", initial.clone());
    out.push_some("current", current.clone());
    out.push_some("decay_model", decay_model.as_deref());
    out.push_some("last_reinforced", last_reinforced.map(print_time));
    out
}

fn write_temporal(temporal: &Temporal) -> Value {
    let Temporal { created_at, updated_at, valid_from, valid_until, superseded_by } = temporal;
    let mut out = Value::object([("created_at", print_time(*created_at).into())]);
    out.push_some("updated_at", updated_at.map(print_time));
    out.push_some("valid_from", valid_from.map(print_time));
    out.push_some("valid_until", valid_until.map(print_time));
    out.push_some("superseded_by", superseded_by.as_deref());
    out
}

fn write_provenance(provenance: &Provenance) -> Value {
    let mut out = Value::object([("platform", provenance.platform.as_str().into())]);
    out.push_some("platform_user_id", provenance.platform_user_id.as_deref());
    out.push_some("conversation_ref", provenance.conversation_ref.as_deref());
    out.push_some("message_ref", provenance.message_ref.as_deref());
    out.push_some("extraction_method", provenance.extraction_method.as_deref());
    out.push_some("extracted_at", provenance.extracted_at.map(print_time));
    out.push_some("extractor", provenance.extractor.as_deref());
    out
}

/// The access block with all of its members: the toolkit adds missing ones before it hashes.
fn write_access(access: &Value) -> Value {
    let member = |name: &str, default: Value| access.get(name).cloned().unwrap_or(default);
    Value::object([
        ("visibility", member("visibility", "private".into())),
        ("exportable", member("exportable", true.into())),
        ("shared_with", member("shared_with", Value::Array(Vec::new()))),
    ])
}

/// The metadata without nulls at its top, which the toolkit drops before it hashes, and with integers
/// that have no canonical form as texts.
fn write_metadata(metadata: &Value) -> Value {
    let members = metadata.as_object().unwrap_or_default().iter();
    let members = members.filter(|member| !member.value.is_null()).map(write_exact_member);
    Value::Object(members.collect())
}

fn write_exact_member(member: &Member) -> Member {
    Member { key: member.key.clone(), value: write_exact(&member.value) }
}

fn write_exact(value: &Value) -> Value {
    match value {
        Value::Number(token) if jcs(value).is_err() => Value::from(token.as_str()),
        Value::Array(items) => Value::Array(items.iter().map(write_exact).collect()),
        Value::Object(members) => Value::Object(members.iter().map(write_exact_member).collect()),
        other => other.clone(),
    }
}

fn write_relation(relation: &Relation) -> Value {
    let mut out = Value::object([
        ("id", relation.id.as_str().into()),
        ("from", relation.from.as_str().into()),
        ("to", relation.to.as_str().into()),
        ("type", relation.relation_type.as_str().into()),
    ]);
    out.push_some("confidence", relation.confidence.clone());
    out.push("created_at", print_time(relation.created_at));
    out
}

fn write_span(talk: &Conversation) -> Value {
    let mut span = Value::object([("created_at", print_time(talk.created_at).into())]);
    span.push_some("updated_at", talk.updated_at.map(print_time));
    span
}

fn write_conversation(talk: &Conversation) -> Value {
    let mut out = Value::object([
        ("schema", CONVERSATION.into()),
        ("schema_version", VERSION.into()),
        ("id", talk.id.as_str().into()),
    ]);
    if !talk.others.iter().any(|member| member.key.as_str() == Some("provider")) {
        out.push("provider", Value::object([("name", talk.platform.as_str().into())]));
    }
    out.push_some("title", talk.title.as_deref());
    out.push("temporal", write_span(talk));
    out.push("tags", Value::strings(&talk.tags));
    out.push("messages", Value::Array(talk.messages.iter().map(write_message).collect()));
    if let Value::Object(members) = &mut out {
        members.extend(talk.others.iter().cloned());
    }
    out
}

fn write_message(message: &Message) -> Value {
    let mut out = Value::object([
        ("id", message.id.as_str().into()),
        ("role", message.role.as_str().into()),
        ("created_at", print_time(message.created_at).into()),
    ]);
    let has_content = message.others.iter().any(|member| member.key.as_str() == Some("content"));
    if let Some(text) = message.text.as_deref().filter(|_| !has_content) {
        out.push("content", Value::object([("type", "text".into()), ("text", text.into())]));
    }
    out.push_some("parent_id", message.parent_id.as_deref());
    if let Value::Object(members) = &mut out {
        members.extend(message.others.iter().cloned());
    }
    out
}
