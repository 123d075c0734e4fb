//! A bundle: the store, conversations and embeddings, as one file, a directory or an archive.

use std::io::Read as _;

use super::companions::{self, Companions};
use super::report::{FileFindings, Finding, Level, Report, Rule};
use super::shape::{ObjectShape, ShapeCheck};
use super::shapes::{
    CONVERSATION, CONVERSATION_SHAPE, EMBEDDINGS, EMBEDDINGS_SHAPE, STORE, STORE_SHAPE,
};
use super::{manifest, store};
use crate::json::{ReadPolicy, Value, parse};
use crate::quote;
use crate::source::{ImportSource, SourceError};

/// The largest document that is read.
pub const DOCUMENT_BYTES_MAX: u64 = 256 << 20;

/// Bytes of all files of an export together, and of a document that is imported.
pub const BUNDLE_BYTES_MAX: u64 = 64 << 20;

pub(super) const STORE_FILE: &str = "memory-store.json";
pub(super) const EMBEDDINGS_FILE: &str = "embeddings.json";
pub(super) const CONVERSATIONS_FOLDER: &str = "conversations/";

/// How the files came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// As one document.
    File,
    /// As a directory or an archive of it.
    Directory,
}

/// One file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFile {
    /// Its path inside the bundle, with `/`.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The kind of a document, by its `schema`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// The memory store.
    Store,
    /// A conversation.
    Conversation,
    /// Embeddings.
    Embeddings,
}

impl DocumentKind {
    fn shape(self) -> &'static ObjectShape {
        match self {
            DocumentKind::Store => &STORE_SHAPE,
            DocumentKind::Conversation => &CONVERSATION_SHAPE,
            DocumentKind::Embeddings => &EMBEDDINGS_SHAPE,
        }
    }
}

/// A document that is JSON of a known kind.
#[derive(Debug, Clone)]
pub struct Document {
    /// The file.
    pub file: String,
    /// The kind.
    pub kind: DocumentKind,
    /// The content.
    pub value: Value,
}

/// A bundle that was read, and the findings about it.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// Its documents: those that could be read.
    pub documents: Vec<Document>,
    /// The findings.
    pub report: Report,
}

impl Bundle {
    /// The memory store.
    pub fn store(&self) -> Option<&Value> {
        self.of_kind(DocumentKind::Store).next()
    }

    /// The conversations.
    pub fn conversations(&self) -> impl Iterator<Item = &Value> {
        self.of_kind(DocumentKind::Conversation)
    }

    fn of_kind(&self, kind: DocumentKind) -> impl Iterator<Item = &Value> {
        self.documents.iter().filter(move |document| document.kind == kind).map(|d| &d.value)
    }
}

/// Validates the files of a bundle.
pub fn verify(container: Container, files: &[BundleFile]) -> Report {
    read(container, files).report
}

/// Reads and validates the files of a bundle.
pub fn read(container: Container, files: &[BundleFile]) -> Bundle {
    let mut bundle = Bundle { documents: Vec::new(), report: Report::default() };
    let prefix = match container {
        Container::Directory => common_folder(files),
        Container::File => String::new(),
    };
    for file in files {
        let name = file.name.strip_prefix(&prefix).unwrap_or(&file.name);
        let is_document = match container {
            Container::File => true,
            Container::Directory => is_document_name(name),
        };
        if is_document {
            read_document(name, &file.bytes, &mut bundle);
        }
    }
    if container == Container::Directory && bundle.store().is_none() && !has_store(&bundle.report) {
        bundle.report.push(Finding {
            level: Level::Error,
            rule: Rule::StoreMissing,
            file: STORE_FILE.to_owned(),
            place: String::new(),
            message: "a bundle needs memory-store.json".to_owned(),
        });
    }
    let Bundle { documents, report } = &mut bundle;
    for document in &*documents {
        let mut findings = FileFindings { report, file: &document.file };
        match document.kind {
            DocumentKind::Store => store::check(&document.value, &mut findings),
            DocumentKind::Conversation => {
                companions::check_conversation(&document.value, &mut findings);
            }
            DocumentKind::Embeddings => {
                companions::check_embeddings(&document.value, &mut findings);
            }
        }
    }
    if container == Container::Directory {
        Companions::new(documents).check(report);
        check_manifest(documents, &prefix, files, report);
    }
    report.memories = documents
        .iter()
        .filter(|document| document.kind == DocumentKind::Store)
        .map(|document| store::items(&document.value, "memories").len() as u64)
        .sum();
    report.conversations =
        documents.iter().filter(|d| d.kind == DocumentKind::Conversation).count() as u64;
    bundle
}

fn check_manifest(documents: &[Document], prefix: &str, files: &[BundleFile], report: &mut Report) {
    let Some(store) = documents.iter().find(|d| d.kind == DocumentKind::Store) else { return };
    let hashed = manifest::HashedFiles { prefix, files };
    hashed.check(&store.value, &mut FileFindings { report, file: &store.file });
}

/// Reads the files of a source: one document, or those of an archive. Nothing else is opened.
pub fn read_source(source: &ImportSource) -> Result<Bundle, SourceError> {
    let entries = source.entries();
    let container = match entries {
        [single] if !single.name.contains('/') && single.name != STORE_FILE => Container::File,
        _ => Container::Directory,
    };
    let mut files = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let is_document = container == Container::File || entry.name.ends_with(".json");
        if !is_document || entry.is_clutter() {
            continue;
        }
        let mut bytes = Vec::new();
        source.reader(index)?.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        files.push(BundleFile { name: entry.name.clone(), bytes });
    }
    Ok(read(container, &files))
}

/// The folder that holds the store, if an archive wraps the bundle into one.
fn common_folder(files: &[BundleFile]) -> String {
    let stores = files.iter().filter_map(|file| file.name.strip_suffix(STORE_FILE));
    let shortest = stores.filter(|folder| folder.is_empty() || folder.ends_with('/'));
    shortest.min_by_key(|folder| folder.len()).unwrap_or_default().to_owned()
}

fn is_document_name(name: &str) -> bool {
    let conversation = name.strip_prefix(CONVERSATIONS_FOLDER);
    name == STORE_FILE
        || name == EMBEDDINGS_FILE
        || conversation.is_some_and(|file| file.ends_with(".json") && !file.contains('/'))
}

fn has_store(report: &Report) -> bool {
    report.findings().iter().any(|finding| finding.file == STORE_FILE)
}

fn read_document(name: &str, bytes: &[u8], bundle: &mut Bundle) {
    let mut findings = FileFindings { report: &mut bundle.report, file: name };
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        let message = format!("the document has more than {DOCUMENT_BYTES_MAX} bytes");
        return findings.error(Rule::Size, "", message);
    }
    let value = match parse(bytes, &ReadPolicy::STRICT) {
        Ok(value) => value,
        Err(error) => return findings.error(Rule::Json, "", error.to_string()),
    };
    let kind = match value.get("schema").and_then(Value::as_str) {
        Some(STORE) => DocumentKind::Store,
        Some(CONVERSATION) => DocumentKind::Conversation,
        Some(EMBEDDINGS) => DocumentKind::Embeddings,
        Some(other) => {
            let message = format!("`{}` is not a document of this format", quote(other));
            return findings.error(Rule::SchemaId, "/schema", message);
        }
        None => return findings.error(Rule::SchemaId, "", "the document has no `schema`"),
    };
    let unknown = check_version(&value, &mut findings);
    ShapeCheck { findings: &mut findings, unknown, place: String::new() }
        .object(&value, kind.shape());
    bundle.documents.push(Document { file: name.to_owned(), kind, value });
}

/// Refuses another major version; a later minor one may know more names.
fn check_version(value: &Value, findings: &mut FileFindings<'_>) -> Level {
    let Some(version) = value.get("schema_version").and_then(Value::as_str) else {
        return Level::Error;
    };
    let place = "/schema_version";
    let numbers = version.split('-').next().and_then(|version| version.split_once('.'));
    match numbers {
        Some(("1", "0")) | None => Level::Error,
        Some(("1", _)) => {
            let message = format!("version {} is later than 1.0", quote(version));
            findings.warn(Rule::SchemaVersion, place, message);
            Level::Warning
        }
        Some(_) => {
            let message = format!("version {} is not known; this reader knows 1.x", quote(version));
            findings.error(Rule::SchemaVersion, place, message);
            Level::Error
        }
    }
}
