//! The shapes of the three documents, as tables.

use super::forms::TextForm;
use super::shape::{ArrayShape, Field, Items, ObjectShape, Others, Shape};
use super::shape::{nullable, optional, required};

/// `schema` of a memory store.
pub(super) const STORE: &str = "portable-ai-memory";
/// `schema` of a conversation.
pub(super) const CONVERSATION: &str = "portable-ai-memory-conversation";
/// `schema` of embeddings.
pub(super) const EMBEDDINGS: &str = "portable-ai-memory-embeddings";

pub(super) const MEMORY_TYPES: &[&str] = &[
    "fact",
    "preference",
    "skill",
    "context",
    "relationship",
    "goal",
    "instruction",
    "identity",
    "environment",
    "project",
    "custom",
];
pub(super) const STATUSES: &[&str] =
    &["active", "superseded", "deprecated", "retracted", "archived"];
pub(super) const RELATION_TYPES: &[&str] =
    &["supports", "contradicts", "extends", "supersedes", "related_to", "derived_from"];
pub(super) const EXTRACTION_METHODS: &[&str] =
    &["llm_inference", "explicit_user_input", "api_export", "browser_extraction", "manual"];
pub(super) const ALGORITHMS: &[&str] = &["Ed25519", "ES256", "ES384", "RS256", "RS384", "RS512"];
pub(super) const ROLES: &[&str] = &["user", "assistant", "system", "tool"];
const STORAGE_TYPES: &[&str] = &["file", "database", "object_storage", "vector_db", "uri"];

const TEXT: Shape = Shape::Text(TextForm::Any);
const NON_EMPTY: Shape = Shape::Text(TextForm::NonEmpty);
const TIME: Shape = Shape::Text(TextForm::DateTime);
const PLATFORM: Shape = Shape::Text(TextForm::Platform);
const GENERATOR: Shape = Shape::Text(TextForm::Generator);
const HASH: Shape = Shape::Text(TextForm::Sha256);
const URI: Shape = Shape::Text(TextForm::Uri);

const fn one_of(names: &'static [&'static str]) -> Shape {
    Shape::Text(TextForm::OneOf(names))
}

const fn list(item: Shape) -> ArrayShape {
    ArrayShape { item, items_min: 0, items: Items::Any }
}

const fn closed(fields: &'static [Field]) -> ObjectShape {
    ObjectShape { fields, others: Others::Refused }
}

static OPEN: ObjectShape = ObjectShape { fields: &[], others: Others::Allowed };
static IDS: ArrayShape = list(NON_EMPTY);
static TAGS: ArrayShape = list(Shape::Text(TextForm::Tag));
static TAG_SET: ArrayShape =
    ArrayShape { item: Shape::Text(TextForm::Tag), items_min: 0, items: Items::Unique };

pub(super) static STORE_SHAPE: ObjectShape = closed(&[
    required("schema", one_of(&[STORE])),
    required("schema_version", Shape::Text(TextForm::Version)),
    nullable("spec_uri", URI),
    nullable("export_id", TEXT),
    nullable("exported_by", GENERATOR),
    optional("export_date", TIME),
    required("owner", Shape::Object(&OWNER)),
    required("memories", Shape::Array(&MEMORIES)),
    optional("relations", Shape::Array(&RELATIONS)),
    optional("conversations_index", Shape::Array(&INDEX)),
    optional("integrity", Shape::Object(&INTEGRITY)),
    optional("export_type", one_of(&["full", "incremental"])),
    nullable("base_export_id", TEXT),
    nullable("since", TIME),
    nullable("type_registry", URI),
    nullable("signature", Shape::Object(&SIGNATURE)),
]);

static OWNER: ObjectShape = closed(&[
    required("id", NON_EMPTY),
    nullable("did", Shape::Text(TextForm::Did)),
    optional("created_at", TIME),
]);

static MEMORIES: ArrayShape = list(Shape::Object(&MEMORY));
static MEMORY: ObjectShape = closed(&[
    required("id", NON_EMPTY),
    required("type", one_of(MEMORY_TYPES)),
    nullable("custom_type", NON_EMPTY),
    optional("status", one_of(STATUSES)),
    required("content", NON_EMPTY),
    required("content_hash", HASH),
    nullable("summary", TEXT),
    optional("tags", Shape::Array(&TAG_SET)),
    optional("confidence", Shape::Object(&CONFIDENCE)),
    required("temporal", Shape::Object(&TEMPORAL)),
    required("provenance", Shape::Object(&PROVENANCE)),
    optional("access", Shape::Object(&ACCESS)),
    nullable("embedding_ref", TEXT),
    optional("metadata", Shape::Object(&METADATA)),
]);

static CONFIDENCE: ObjectShape = closed(&[
    optional("initial", Shape::Fraction),
    optional("current", Shape::Fraction),
    nullable("decay_model", one_of(&["time_linear", "time_exponential", "none"])),
    nullable("last_reinforced", TIME),
]);

static TEMPORAL: ObjectShape = closed(&[
    required("created_at", TIME),
    nullable("updated_at", TIME),
    nullable("valid_from", TIME),
    nullable("valid_until", TIME),
    nullable("superseded_by", TEXT),
]);

static PROVENANCE: ObjectShape = closed(&[
    required("platform", PLATFORM),
    nullable("platform_user_id", TEXT),
    nullable("conversation_ref", TEXT),
    nullable("message_ref", TEXT),
    nullable("extraction_method", one_of(EXTRACTION_METHODS)),
    nullable("extracted_at", TIME),
    nullable("extractor", GENERATOR),
]);

static ACCESS: ObjectShape = closed(&[
    optional("visibility", one_of(&["private", "shared", "public"])),
    optional("exportable", Shape::Bool),
    optional("shared_with", Shape::Array(&GRANTS)),
]);
static GRANTS: ArrayShape = list(Shape::Object(&GRANT));
static GRANT: ObjectShape =
    closed(&[required("entity", NON_EMPTY), required("permissions", Shape::Array(&PERMISSIONS))]);
static PERMISSIONS: ArrayShape =
    ArrayShape { item: one_of(&["read", "write", "delete"]), items_min: 1, items: Items::Unique };

static METADATA: ObjectShape = ObjectShape {
    fields: &[nullable("language", Shape::Text(TextForm::Language)), nullable("domain", TEXT)],
    others: Others::Allowed,
};

static RELATIONS: ArrayShape = list(Shape::Object(&RELATION));
static RELATION: ObjectShape = closed(&[
    required("id", NON_EMPTY),
    required("from", NON_EMPTY),
    required("to", NON_EMPTY),
    required("type", one_of(RELATION_TYPES)),
    nullable("confidence", Shape::Fraction),
    required("created_at", TIME),
]);

static INDEX: ArrayShape = list(Shape::Object(&INDEX_ENTRY));
static INDEX_ENTRY: ObjectShape = closed(&[
    required("id", NON_EMPTY),
    required("platform", PLATFORM),
    nullable("title", TEXT),
    nullable("message_count", Shape::Count(0)),
    required("temporal", Shape::Object(&SPAN)),
    optional("tags", Shape::Array(&TAGS)),
    optional("derived_memories", Shape::Array(&IDS)),
    optional("storage", Shape::Object(&STORAGE)),
]);
static SPAN: ObjectShape = closed(&[required("created_at", TIME), nullable("updated_at", TIME)]);
static STORAGE: ObjectShape = closed(&[
    required("type", one_of(STORAGE_TYPES)),
    required("ref", NON_EMPTY),
    nullable("format", TEXT),
]);

static INTEGRITY: ObjectShape = closed(&[
    optional("canonicalization", one_of(&["RFC8785"])),
    required("checksum", HASH),
    required("total_memories", Shape::Count(0)),
]);

static SIGNATURE: ObjectShape = closed(&[
    required("algorithm", one_of(ALGORITHMS)),
    required("public_key", NON_EMPTY),
    required("value", NON_EMPTY),
    required("signed_at", TIME),
    nullable("key_id", TEXT),
]);

pub(super) static CONVERSATION_SHAPE: ObjectShape = closed(&[
    required("schema", one_of(&[CONVERSATION])),
    required("schema_version", Shape::Text(TextForm::Version)),
    required("id", NON_EMPTY),
    required("provider", Shape::Object(&PROVIDER)),
    nullable("title", TEXT),
    required("temporal", Shape::Object(&SPAN)),
    optional("participants", Shape::Array(&PARTICIPANTS)),
    required("messages", Shape::Array(&MESSAGES)),
    nullable("model", TEXT),
    nullable("system_instruction", TEXT),
    optional("is_archived", Shape::Bool),
    optional("tags", Shape::Array(&TAGS)),
    optional("raw_metadata", Shape::Object(&OPEN)),
    optional("import_metadata", Shape::Object(&IMPORT_METADATA)),
]);
static PROVIDER: ObjectShape = closed(&[
    required("name", PLATFORM),
    nullable("conversation_id", TEXT),
    nullable("account_id", TEXT),
    nullable("export_format_version", TEXT),
]);
static PARTICIPANTS: ArrayShape = list(Shape::Object(&PARTICIPANT));
static PARTICIPANT: ObjectShape = closed(&[
    required("role", one_of(ROLES)),
    nullable("name", TEXT),
    nullable("provider_id", TEXT),
]);
static IMPORT_METADATA: ObjectShape = closed(&[
    nullable("importer", GENERATOR),
    nullable("importer_version", TEXT),
    nullable("imported_at", TIME),
    nullable("source_file", TEXT),
    nullable("source_checksum", HASH),
]);

static MESSAGES: ArrayShape = list(Shape::Object(&MESSAGE));
static MESSAGE: ObjectShape = closed(&[
    required("id", NON_EMPTY),
    nullable("provider_message_id", TEXT),
    required("role", one_of(ROLES)),
    optional("content", Shape::Object(&CONTENT)),
    required("created_at", TIME),
    nullable("parent_id", TEXT),
    optional("children_ids", Shape::Array(&IDS)),
    nullable("model", TEXT),
    optional("is_thought", Shape::Bool),
    nullable("token_count", Shape::Count(0)),
    optional("attachments", Shape::Array(&ATTACHMENTS)),
    optional("citations", Shape::Array(&CITATIONS)),
    optional("tool_calls", Shape::Array(&TOOL_CALLS)),
    optional("raw_metadata", Shape::Object(&OPEN)),
]);
static CONTENT: ObjectShape = closed(&[
    required("type", one_of(&["text", "multipart"])),
    nullable("text", TEXT),
    optional("parts", Shape::Array(&PARTS)),
]);
static PARTS: ArrayShape = list(Shape::Object(&PART));
static PART: ObjectShape = closed(&[
    required("type", one_of(&["text", "image", "code", "file", "audio", "video"])),
    nullable("text", TEXT),
    nullable("language", TEXT),
    nullable("mime_type", TEXT),
    nullable("ref", TEXT),
]);
static ATTACHMENTS: ArrayShape = list(Shape::Object(&ATTACHMENT));
static ATTACHMENT: ObjectShape = closed(&[
    required("type", one_of(&["file", "image", "audio", "video", "document"])),
    nullable("name", TEXT),
    nullable("mime_type", TEXT),
    nullable("size_bytes", Shape::Count(0)),
    nullable("ref", TEXT),
    nullable("provider_id", TEXT),
]);
static CITATIONS: ArrayShape = list(Shape::Object(&CITATION));
static CITATION: ObjectShape =
    closed(&[nullable("title", TEXT), nullable("url", URI), nullable("snippet", TEXT)]);
static TOOL_CALLS: ArrayShape = list(Shape::Object(&TOOL_CALL));
static TOOL_CALL: ObjectShape = closed(&[
    nullable("id", TEXT),
    required("name", NON_EMPTY),
    nullable("input", Shape::ObjectOrText),
    nullable("output", TEXT),
]);

pub(super) static EMBEDDINGS_SHAPE: ObjectShape = closed(&[
    required("schema", one_of(&[EMBEDDINGS])),
    required("schema_version", Shape::Text(TextForm::Version)),
    required("embeddings", Shape::Array(&EMBEDDING_LIST)),
]);
static EMBEDDING_LIST: ArrayShape = list(Shape::Object(&EMBEDDING));
static EMBEDDING: ObjectShape = closed(&[
    required("id", NON_EMPTY),
    required("memory_id", NON_EMPTY),
    required("model", NON_EMPTY),
    required("dimensions", Shape::Count(1)),
    required("created_at", TIME),
    nullable("vector", Shape::Array(&VECTOR)),
    nullable("storage", Shape::Object(&VECTOR_STORAGE)),
]);
static VECTOR: ArrayShape = list(Shape::Number);
static VECTOR_STORAGE: ObjectShape =
    closed(&[required("type", one_of(STORAGE_TYPES)), required("ref", NON_EMPTY)]);
