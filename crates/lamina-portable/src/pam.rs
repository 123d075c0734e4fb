//! Portable AI Memory 1.0: a person's memory as one store with conversations beside it.
//!
//! The reader validates before anything is used, and reports every violation with its rule, its file
//! and its place. The writer stays in the profile on which the specification, the JSON Schemas and the
//! published Python toolkit agree.

mod bundle;
mod companions;
mod forms;
mod ids;
mod integrity;
mod manifest;
mod merge;
mod model;
mod native;
mod report;
mod shape;
mod shapes;
mod signature;
mod store;
mod write;

pub use bundle::{
    BUNDLE_BYTES_MAX, Bundle, BundleFile, Container, DOCUMENT_BYTES_MAX, Document, DocumentKind,
    read, read_source, verify,
};
pub use forms::{content_hash, is_language, is_tag};
pub use ids::{PamExportId, TermsTag, derived_id, owner_id};
pub use integrity::checksum;
pub use manifest::is_manifest;
pub use merge::{ERASED, MergeError, merge};
pub use model::{
    Confidence, Conversation, Memory, MemoryKind, Message, Provenance, Relation, Temporal,
};
pub use native::{NativeRecord, take_message_block};
pub use report::{Finding, Level, Report, Rule, SignatureState};
pub use signature::{SignatureClaim, SignatureError, SignedTexts, sign};
pub use write::{
    Embedding, ExportSpan, SignStoreError, StoreExport, WriteError, WrittenBundle, sign_store,
};

#[cfg(test)]
mod tests;
