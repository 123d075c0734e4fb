//! Rules of conversations and embeddings, and rules between the files of a bundle.

use std::collections::{BTreeMap, BTreeSet};

use super::bundle::{Document, DocumentKind, EMBEDDINGS_FILE};
use super::report::{FileFindings, Report, Rule};
use super::store::{check_order, is_inside, items, text, unique_ids};
use crate::json::Value;
use crate::quote;

pub(super) fn check_conversation(conversation: &Value, findings: &mut FileFindings<'_>) {
    let messages = items(conversation, "messages");
    unique_ids(messages, "messages", findings);
    check_order(conversation, "", &[("created_at", "updated_at")], findings);
    let parents: BTreeMap<&str, Option<&str>> = messages
        .iter()
        .filter_map(|message| Some((text(message, &["id"])?, text(message, &["parent_id"]))))
        .collect();
    for (at, message) in messages.iter().enumerate() {
        let place = format!("/messages/{at}");
        if let Some(parent) = text(message, &["parent_id"])
            && !parents.contains_key(parent)
        {
            let message = format!("there is no message `{}`", quote(parent));
            findings.error(Rule::Dag, &format!("{place}/parent_id"), message);
        }
        for (item, child) in items(message, "children_ids").iter().enumerate() {
            let Some(child) = child.as_str() else { continue };
            let place = format!("{place}/children_ids/{item}");
            match parents.get(child) {
                None => {
                    let message = format!("there is no message `{}`", quote(child));
                    findings.error(Rule::Dag, &place, message);
                }
                Some(parent) if *parent != text(message, &["id"]) => {
                    let message = format!("the child `{}` names another parent", quote(child));
                    findings.warn(Rule::DagBidirectional, &place, message);
                }
                Some(_) => {}
            }
        }
    }
}

pub(super) fn check_embeddings(document: &Value, findings: &mut FileFindings<'_>) {
    let embeddings = items(document, "embeddings");
    unique_ids(embeddings, "embeddings", findings);
    let mut memories = BTreeSet::new();
    for (at, embedding) in embeddings.iter().enumerate() {
        let place = format!("/embeddings/{at}");
        if let Some(id) = text(embedding, &["memory_id"])
            && !memories.insert(id)
        {
            let message = format!("the memory `{}` has two embeddings", quote(id));
            findings.error(Rule::MemoryIdUnique, &format!("{place}/memory_id"), message);
        }
        let dimensions = embedding.get("dimensions").and_then(Value::as_number);
        let vector = embedding.get("vector").and_then(Value::as_array);
        #[expect(clippy::cast_precision_loss, reason = "a list in memory is far below 2^53")]
        if let (Some(dimensions), Some(vector)) = (dimensions, vector)
            && dimensions.to_f64() != vector.len() as f64
        {
            let message = format!("the vector has {} numbers", vector.len());
            findings.error(Rule::DimensionsMismatch, &format!("{place}/dimensions"), message);
        }
    }
}

/// The documents of a directory, for the rules between them.
pub(super) struct Companions<'a> {
    documents: &'a [Document],
}

impl<'a> Companions<'a> {
    pub(super) fn new(documents: &'a [Document]) -> Companions<'a> {
        Companions { documents }
    }

    pub(super) fn check(&self, report: &mut Report) {
        let mut of_kind = self.documents.iter().filter(|d| d.kind == DocumentKind::Store);
        let Some(store) = of_kind.next() else { return };
        self.check_versions(store, report);
        self.check_vectors(store, report);
        self.check_index(store, report);
    }

    fn check_versions(&self, store: &Document, report: &mut Report) {
        let version = text(&store.value, &["schema_version"]);
        for document in self.documents {
            let found = text(&document.value, &["schema_version"]);
            if found.is_some() && found != version {
                let mut findings = FileFindings { report, file: &document.file };
                let message = "another version than that of the store";
                findings.error(Rule::SchemaVersionMix, "/schema_version", message);
            }
        }
    }

    fn check_vectors(&self, store: &Document, report: &mut Report) {
        let memories: BTreeSet<&str> =
            items(&store.value, "memories").iter().filter_map(|m| text(m, &["id"])).collect();
        let mut vectors = BTreeSet::new();
        for document in self.documents.iter().filter(|d| d.kind == DocumentKind::Embeddings) {
            let mut findings = FileFindings { report, file: &document.file };
            for (at, embedding) in items(&document.value, "embeddings").iter().enumerate() {
                vectors.extend(text(embedding, &["id"]));
                if let Some(id) = text(embedding, &["memory_id"])
                    && !memories.contains(id)
                {
                    let message = format!("there is no memory `{}`", quote(id));
                    let place = format!("/embeddings/{at}/memory_id");
                    findings.error(Rule::XrefMemory, &place, message);
                }
            }
        }
        let mut findings = FileFindings { report, file: &store.file };
        for (at, memory) in items(&store.value, "memories").iter().enumerate() {
            if let Some(id) = text(memory, &["embedding_ref"])
                && !vectors.contains(id)
            {
                let message = format!("there is no embedding `{}` in {EMBEDDINGS_FILE}", quote(id));
                let place = format!("/memories/{at}/embedding_ref");
                findings.error(Rule::XrefEmbedding, &place, message);
            }
        }
    }

    fn check_index(&self, store: &Document, report: &mut Report) {
        let is_conversation = |d: &&Document| d.kind == DocumentKind::Conversation;
        let by_id: BTreeMap<&str, &Document> = self
            .documents
            .iter()
            .filter(is_conversation)
            .filter_map(|document| Some((text(&document.value, &["id"])?, document)))
            .collect();
        let files: BTreeSet<&str> = self.documents.iter().map(|d| d.file.as_str()).collect();
        let mut findings = FileFindings { report, file: &store.file };
        for (at, entry) in items(&store.value, "conversations_index").iter().enumerate() {
            let place = format!("/conversations_index/{at}");
            let document = text(entry, &["id"]).and_then(|id| by_id.get(id));
            if let Some(document) = document {
                compare(entry, document, &place, &mut findings);
            }
            let is_file = text(entry, &["storage", "type"]) == Some("file");
            if let Some(path) = text(entry, &["storage", "ref"]).filter(|_| is_file)
                && is_inside(path)
                && !files.contains(path.trim_start_matches("./"))
            {
                let message = format!("there is no file `{}` in the bundle", quote(path));
                findings.warn(Rule::StorageMissing, &format!("{place}/storage/ref"), message);
            }
        }
    }
}

fn compare(entry: &Value, document: &Document, place: &str, findings: &mut FileFindings<'_>) {
    let conversation = &document.value;
    let file = &document.file;
    let pairs = [
        ("title", text(entry, &["title"]), text(conversation, &["title"])),
        ("platform", text(entry, &["platform"]), text(conversation, &["provider", "name"])),
    ];
    for (name, indexed, found) in pairs {
        if indexed.is_some() && indexed != found {
            let message = format!("`{name}` differs from {file}");
            findings.error(Rule::ConversationFile, &format!("{place}/{name}"), message);
        }
    }
    let count = entry.get("message_count").and_then(Value::as_i64);
    let messages = items(conversation, "messages").len();
    if count.is_some_and(|count| usize::try_from(count) != Ok(messages)) {
        let message = format!("{file} has {messages} messages");
        findings.error(Rule::ConversationFile, &format!("{place}/message_count"), message);
    }
    let created = ["temporal", "created_at"];
    if text(entry, &created) != text(conversation, &created) {
        let message = format!("`created_at` differs from {file}");
        findings.warn(Rule::ConversationFile, &format!("{place}/temporal/created_at"), message);
    }
}
