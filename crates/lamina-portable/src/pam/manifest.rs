//! A memory that lists the hashes of everything that the checksum of the format leaves out: the other
//! files, the relations, the index and the fields of a delta. A signature then covers the whole bundle.

use std::collections::BTreeSet;

use super::bundle::BundleFile;
use super::forms::sha256_text;
use super::model::{Memory, MemoryKind, Provenance, Temporal, print_time};
use super::native::VENDOR;
use super::report::{FileFindings, Rule};
use super::store::{items, text};
use super::write::{ExportSpan, StoreExport};
use crate::canon::{CanonError, jcs};
use crate::json::{Member, Value};
use crate::quote;

const CUSTOM_TYPE: &str = "bundle_manifest";

/// The parts of an export that the manifest covers.
pub(super) struct Manifest<'a> {
    pub(super) export: &'a StoreExport,
    pub(super) files: &'a [BundleFile],
    pub(super) relations: &'a Value,
    pub(super) index: &'a Value,
}

impl Manifest<'_> {
    pub(super) fn write(&self) -> Result<Memory, CanonError> {
        let hashes = self.files.iter().map(|f| Member::new(&f.name, sha256_text(&f.bytes).into()));
        let mut block = Value::object([
            ("v", Value::count(1)),
            ("layer", "manifest".into()),
            ("files", Value::Object(hashes.collect())),
            ("relations", hash(self.relations)?.into()),
            ("conversations_index", hash(self.index)?.into()),
        ]);
        match &self.export.span {
            ExportSpan::Full => block.push("export_type", "full"),
            ExportSpan::Incremental { base_export_id, since, live } => {
                block.push("export_type", "incremental");
                block.push_some("base_export_id", base_export_id.as_deref());
                block.push("since", print_time(*since));
                block.push("live", Value::strings(live));
            }
        }
        Ok(Memory {
            id: format!("manifest-{}", self.export.export_id),
            kind: MemoryKind::Custom(CUSTOM_TYPE.to_owned()),
            status: "active".to_owned(),
            content: "Hashes of the other files and lists of this export".to_owned(),
            summary: None,
            tags: Vec::new(),
            temporal: Temporal {
                created_at: self.export.exported_at,
                updated_at: None,
                valid_from: None,
                valid_until: None,
                superseded_by: None,
            },
            provenance: Provenance { platform: "lamina".to_owned(), ..Provenance::default() },
            confidence: None,
            access: None,
            embedding_ref: None,
            metadata: Some(Value::object([(VENDOR, block)])),
        })
    }
}

fn hash(value: &Value) -> Result<String, CanonError> {
    jcs(value).map(|bytes| sha256_text(&bytes))
}

/// Whether a memory is the manifest of a bundle, which is no memory of a person.
pub fn is_manifest(memory: &Value) -> bool {
    text(memory, &["custom_type"]) == Some(CUSTOM_TYPE)
        && text(memory, &["metadata", VENDOR, "layer"]) == Some("manifest")
}

/// The memories that are left at the point of a delta, by its manifest.
pub(super) fn live_ids(delta: &Value) -> Option<BTreeSet<&str>> {
    let manifest = items(delta, "memories").iter().find(|memory| is_manifest(memory))?;
    let live = manifest.at(&["metadata", VENDOR, "live"])?.as_array()?;
    Some(live.iter().filter_map(Value::as_str).collect())
}

/// The files of a bundle, under the folder that wraps them.
pub(super) struct HashedFiles<'a> {
    pub(super) prefix: &'a str,
    pub(super) files: &'a [BundleFile],
}

impl HashedFiles<'_> {
    /// Checks the manifests of a store, if it has any, against the other parts of the bundle.
    pub(super) fn check(&self, store: &Value, findings: &mut FileFindings<'_>) {
        for (at, memory) in items(store, "memories").iter().enumerate() {
            let block = memory.at(&["metadata", VENDOR]).filter(|_| is_manifest(memory));
            let Some(block) = block else { continue };
            let place = format!("/memories/{at}/metadata/{VENDOR}");
            self.check_files(block, &place, findings);
            for name in ["relations", "conversations_index"] {
                let empty = Value::Array(Vec::new());
                let computed = hash(store.get(name).unwrap_or(&empty)).ok();
                if computed.as_deref() != text(block, &[name]) {
                    findings.error(Rule::Manifest, &place, format!("`{name}` was changed"));
                }
            }
            for name in ["export_type", "base_export_id", "since"] {
                if text(block, &[name]) != text(store, &[name]) {
                    findings.error(Rule::Manifest, &place, format!("`{name}` was changed"));
                }
            }
        }
    }

    fn check_files(&self, block: &Value, place: &str, findings: &mut FileFindings<'_>) {
        for member in block.get("files").and_then(Value::as_object).unwrap_or_default() {
            let name = member.key.to_lossy();
            let inner = |file: &&BundleFile| file.name.strip_prefix(self.prefix) == Some(&name);
            let found = self.files.iter().find(inner);
            if found.map(|file| sha256_text(&file.bytes)).as_deref() != member.value.as_str() {
                let message = format!("`{}` is missing or was changed", quote(&name));
                findings.error(Rule::Manifest, place, message);
            }
        }
    }
}
