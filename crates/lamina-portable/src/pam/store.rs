//! Rules of a memory store beyond its shape: hashes, references, times, the signature.

use std::collections::{BTreeMap, BTreeSet};

use super::forms::{Instant, content_hash};
use super::integrity::{checksum, toolkit_checksum};
use super::report::{FileFindings, Level, Rule, SignatureState};
use super::signature::{SignatureClaim, SignedTexts};
use crate::json::Value;
use crate::quote;

/// Companies whose name is not the name of their product.
const COMPANIES: [&str; 6] = ["openai", "anthropic", "google", "microsoft", "xai", "meta"];

/// Checks a store whose shape was checked.
pub(super) fn check(store: &Value, findings: &mut FileFindings<'_>) {
    let memories = items(store, "memories");
    let level = match is_delta(store) {
        // The other end may be in the base.
        true => Level::Warning,
        false => Level::Error,
    };
    let known = unique_ids(memories, "memories", findings);
    unique_ids(items(store, "relations"), "relations", findings);
    let index = unique_ids(items(store, "conversations_index"), "conversations_index", findings);
    let references = References { known: &known, index: &index, level };
    for (at, memory) in memories.iter().enumerate() {
        let place = format!("/memories/{at}");
        check_memory(memory, &place, findings);
        references.check_memory(memory, &place, findings);
    }
    for (at, relation) in items(store, "relations").iter().enumerate() {
        references.check_relation(relation, &format!("/relations/{at}"), findings);
    }
    check_index(store, &references, findings);
    let errors = findings.report.count(Level::Error);
    check_integrity(store, memories, findings);
    let is_intact = findings.report.count(Level::Error) == errors;
    check_signature(store, findings);
    if !is_intact && findings.report.signature == SignatureState::Verified {
        // The signature covers the checksum, and the checksum does not cover these memories.
        findings.report.signature = SignatureState::Failed;
    }
    check_delta(store, findings);
}

pub(super) fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).unwrap_or_default()
}

pub(super) fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    value.at(path).and_then(Value::as_str)
}

fn is_delta(store: &Value) -> bool {
    text(store, &["export_type"]) == Some("incremental")
}

/// The ids of a list; a second one of the same name is an error.
pub(super) fn unique_ids<'a>(
    list: &'a [Value],
    name: &str,
    findings: &mut FileFindings<'_>,
) -> BTreeSet<&'a str> {
    let mut ids = BTreeSet::new();
    for (at, item) in list.iter().enumerate() {
        if let Some(id) = text(item, &["id"])
            && !ids.insert(id)
        {
            let message = format!("the id `{}` occurs twice", quote(id));
            findings.error(Rule::IdUnique, &format!("/{name}/{at}/id"), message);
        }
    }
    ids
}

fn check_memory(memory: &Value, place: &str, findings: &mut FileFindings<'_>) {
    let is_custom = text(memory, &["type"]) == Some("custom");
    match memory.get("custom_type").filter(|value| !value.is_null()) {
        None if is_custom => {
            findings.error(Rule::CustomType, place, "the type `custom` needs `custom_type`");
        }
        Some(_) if !is_custom => {
            findings.error(Rule::CustomType, place, "`custom_type` stands only with type `custom`");
        }
        _ => {}
    }
    if let (Some(content), Some(declared)) =
        (text(memory, &["content"]), text(memory, &["content_hash"]))
    {
        let computed = content_hash(content);
        if computed != declared {
            let message = format!("the content hashes to {computed}");
            findings.error(Rule::ContentHash, &format!("{place}/content_hash"), message);
        }
    }
    let pairs = [("created_at", "updated_at"), ("valid_from", "valid_until")];
    check_order(memory, place, &pairs, findings);
    let created = time(memory, &["temporal", "created_at"]);
    let reinforced = time(memory, &["confidence", "last_reinforced"]);
    if reinforced.is_some() && reinforced < created {
        findings.warn(Rule::Temporal, place, "`last_reinforced` is before `created_at`");
    }
    let is_superseded = text(memory, &["status"]) == Some("superseded");
    match text(memory, &["temporal", "superseded_by"]) {
        None if is_superseded => {
            findings.warn(Rule::Status, place, "superseded, but `superseded_by` is not set");
        }
        Some(_) if !is_superseded => {
            findings.warn(Rule::Status, place, "`superseded_by` is set, but it is not superseded");
        }
        _ => {}
    }
    if memory.at(&["access", "exportable"]).and_then(Value::as_bool) == Some(false) {
        let message = "a memory with `exportable: false` must not be in an export";
        findings.error(Rule::ExportableFalse, &format!("{place}/access/exportable"), message);
    }
    check_platform(text(memory, &["provenance", "platform"]), place, findings);
}

fn check_platform(platform: Option<&str>, place: &str, findings: &mut FileFindings<'_>) {
    if let Some(name) = platform.filter(|name| COMPANIES.contains(name)) {
        let message = format!("`{name}` is a company; a platform is named after its product");
        findings.warn(Rule::PlatformNaming, place, message);
    }
}

fn time(value: &Value, path: &[&str]) -> Option<i64> {
    text(value, path).and_then(Instant::parse).map(|instant| instant.at.0)
}

/// Checks that of each pair in the `temporal` block the second is not before the first.
pub(super) fn check_order(
    value: &Value,
    place: &str,
    pairs: &[(&str, &str)],
    findings: &mut FileFindings<'_>,
) {
    for (first, second) in pairs {
        let times = (time(value, &["temporal", first]), time(value, &["temporal", second]));
        if let (Some(earlier), Some(later)) = times
            && later < earlier
        {
            let message = format!("`{second}` is before `{first}`");
            findings.error(Rule::Temporal, &format!("{place}/temporal"), message);
        }
    }
}

struct References<'a> {
    known: &'a BTreeSet<&'a str>,
    index: &'a BTreeSet<&'a str>,
    level: Level,
}

impl References<'_> {
    fn check_memory(&self, memory: &Value, place: &str, findings: &mut FileFindings<'_>) {
        if let Some(id) = text(memory, &["temporal", "superseded_by"])
            && !self.known.contains(id)
        {
            let place = format!("{place}/temporal/superseded_by");
            findings.add(self.level, Rule::XrefSuperseded, &place, missing_memory(id));
        }
        if let Some(id) = text(memory, &["provenance", "conversation_ref"])
            && !self.index.is_empty()
            && !self.index.contains(id)
        {
            let place = format!("{place}/provenance/conversation_ref");
            let message = format!("`{}` is not in conversations_index", quote(id));
            findings.error(Rule::XrefConversation, &place, message);
        }
    }

    fn check_relation(&self, relation: &Value, place: &str, findings: &mut FileFindings<'_>) {
        let (from, to) = (text(relation, &["from"]), text(relation, &["to"]));
        for (name, id) in [("from", from), ("to", to)] {
            if let Some(id) = id.filter(|id| !self.known.contains(id)) {
                let place = format!("{place}/{name}");
                findings.add(self.level, Rule::XrefRelation, &place, missing_memory(id));
            }
        }
        if from.is_some() && from == to {
            findings.warn(Rule::XrefRelation, place, "a memory is related to itself");
        }
    }
}

fn missing_memory(id: &str) -> String {
    format!("there is no memory `{}`", quote(id))
}

fn check_index(store: &Value, references: &References<'_>, findings: &mut FileFindings<'_>) {
    let mut derived: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (at, entry) in items(store, "conversations_index").iter().enumerate() {
        let place = format!("/conversations_index/{at}");
        check_order(entry, &place, &[("created_at", "updated_at")], findings);
        check_platform(text(entry, &["platform"]), &place, findings);
        for (item, id) in items(entry, "derived_memories").iter().enumerate() {
            let Some(id) = id.as_str() else { continue };
            if !references.known.contains(id) {
                let place = format!("{place}/derived_memories/{item}");
                findings.add(references.level, Rule::XrefDerived, &place, missing_memory(id));
            }
            derived.entry(text(entry, &["id"]).unwrap_or_default()).or_default().insert(id);
        }
        check_storage(entry, &place, findings);
    }
    for (at, memory) in items(store, "memories").iter().enumerate() {
        let conversation = text(memory, &["provenance", "conversation_ref"]);
        let (Some(conversation), Some(id)) = (conversation, text(memory, &["id"])) else {
            continue;
        };
        let is_listed = derived.get(conversation).is_some_and(|ids| ids.contains(id));
        if references.index.contains(conversation) && !is_listed {
            let message = format!(
                "the conversation `{}` does not name this memory in derived_memories",
                quote(conversation)
            );
            findings.warn(Rule::XrefBidirectional, &format!("/memories/{at}"), message);
        }
    }
}

fn check_storage(entry: &Value, place: &str, findings: &mut FileFindings<'_>) {
    let Some(path) = text(entry, &["storage", "ref"]) else { return };
    if text(entry, &["storage", "type"]) == Some("file") && !is_inside(path) {
        let message = format!("`{}` leads out of the bundle", quote(path));
        findings.error(Rule::StorageEscape, &format!("{place}/storage/ref"), message);
    }
}

/// Whether a path stays inside a bundle, on every operating system.
pub(super) fn is_inside(path: &str) -> bool {
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    !is_drive
        && !path.starts_with(['/', '\\'])
        && !path.contains('\0')
        && path.split(['/', '\\']).all(|part| part != "..")
}

fn check_integrity(store: &Value, memories: &[Value], findings: &mut FileFindings<'_>) {
    let computed = checksum(memories);
    let Some(declared) = store.at(&["integrity", "checksum"]).and_then(Value::as_str) else {
        if let Err(error) = computed {
            findings.warn(Rule::NotCanonicalizable, "/memories", error.to_string());
        }
        return;
    };
    let total = store.at(&["integrity", "total_memories"]).and_then(Value::as_number);
    #[expect(clippy::cast_precision_loss, reason = "a list in memory is far below 2^53")]
    if total.is_some_and(|total| total.to_f64() != memories.len() as f64) {
        let message = format!("the store has {} memories", memories.len());
        findings.error(Rule::IntegrityTotal, "/integrity/total_memories", message);
    }
    let computed = match computed {
        Ok(computed) => computed,
        Err(error) => {
            return findings.error(Rule::NotCanonicalizable, "/memories", error.to_string());
        }
    };
    let toolkit = toolkit_checksum(memories).ok();
    let place = "/integrity/checksum";
    match (declared == computed, toolkit.as_deref() == Some(declared)) {
        (true, true) => {}
        (true, false) => {
            let message = "correct, but the published Python toolkit computes another checksum: \
                           it drops nulls, adds defaults and rewrites times first";
            findings.add(Level::Note, Rule::ToolkitChecksum, place, message);
        }
        (false, true) => {
            let message = "not the checksum of the memories as they stand here, but of the form \
                           that the published Python toolkit makes of them";
            findings.warn(Rule::ToolkitChecksum, place, message);
        }
        (false, false) => {
            let message = format!("the memories hash to {computed}");
            findings.error(Rule::IntegrityChecksum, place, message);
        }
    }
}

fn check_signature(store: &Value, findings: &mut FileFindings<'_>) {
    let Some(block) = store.get("signature").filter(|block| !block.is_null()) else { return };
    findings.report.signature = SignatureState::Failed;
    let place = "/signature";
    let signed = [
        ("integrity.checksum", text(store, &["integrity", "checksum"])),
        ("export_id", text(store, &["export_id"])),
        ("export_date", text(store, &["export_date"])),
        ("owner.id", text(store, &["owner", "id"])),
    ];
    for (name, found) in &signed {
        if found.is_none() {
            let message = format!("a signed store needs `{name}`");
            findings.error(Rule::SignatureFields, place, message);
        }
    }
    let export_date = time(store, &["export_date"]);
    let signed_at = time(store, &["signature", "signed_at"]);
    if signed_at.is_some() && signed_at < export_date {
        findings.error(Rule::SignedAt, place, "`signed_at` is before `export_date`");
    }
    let [(_, Some(checksum)), (_, Some(export_id)), (_, Some(export_date)), (_, Some(owner_id))] =
        signed
    else {
        return;
    };
    let parts = ["algorithm", "public_key", "value"].map(|name| text(block, &[name]));
    let [Some(algorithm), Some(public_key), Some(value)] = parts else { return };
    if value.ends_with('=') {
        let message = "the signature is padded; write base64url without `=`";
        findings.error(Rule::SignatureFields, "/signature/value", message);
    }
    let payload = SignedTexts { checksum, export_id, export_date, owner_id }.payload();
    match (SignatureClaim { algorithm, public_key, value }).verify(&payload) {
        Ok(signer) => {
            findings.report.signature = SignatureState::Verified;
            findings.report.signer = signer;
        }
        Err(error) => findings.error(Rule::Signature, place, error.to_string()),
    }
}

fn check_delta(store: &Value, findings: &mut FileFindings<'_>) {
    if !is_delta(store) {
        return;
    }
    for name in ["base_export_id", "since"] {
        if text(store, &[name]).is_none() {
            let message = format!("an incremental export should have `{name}`");
            findings.warn(Rule::IncrementalFields, "", message);
        }
    }
}
