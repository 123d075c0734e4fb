//! The writer, the reader of its files, and deltas.

use expect_test::{Expect, expect};
use lamina_types::Micros;
use proptest::prelude::*;

use crate::json::{ReadPolicy, Value, parse};
use crate::pam::*;
use crate::sign::SigningKey;

const DAY: i64 = 86_400_000_000;
const START: i64 = 1_767_225_600_000_000;

pub(super) fn memory(id: &str, content: &str) -> Memory {
    Memory {
        id: id.to_owned(),
        kind: MemoryKind::Standard("fact".to_owned()),
        status: "active".to_owned(),
        content: content.to_owned(),
        summary: None,
        tags: vec!["work".to_owned()],
        temporal: Temporal {
            created_at: Micros(START),
            updated_at: None,
            valid_from: Some(Micros(START - DAY)),
            valid_until: None,
            superseded_by: None,
        },
        provenance: Provenance {
            platform: "lamina".to_owned(),
            conversation_ref: Some("talk 1".to_owned()),
            message_ref: Some("m1".to_owned()),
            ..Provenance::default()
        },
        confidence: Some(Confidence {
            initial: Some(Value::double(0.9)),
            current: Some(Value::double(1.0)),
            decay_model: None,
            last_reinforced: Some(Micros(START + 250_000)),
        }),
        access: None,
        embedding_ref: None,
        metadata: Some(Value::object([("language", "en".into())])),
    }
}

fn conversation() -> Conversation {
    let message = Message {
        id: "m1".to_owned(),
        role: "user".to_owned(),
        created_at: Micros(START),
        text: Some("Maria works at Initech".to_owned()),
        parent_id: None,
        others: Vec::new(),
    };
    Conversation {
        id: "talk 1".to_owned(),
        platform: "lamina".to_owned(),
        title: Some("Work".to_owned()),
        created_at: Micros(START),
        updated_at: None,
        tags: Vec::new(),
        messages: vec![message],
        others: Vec::new(),
    }
}

pub(super) fn export(memories: Vec<Memory>) -> StoreExport {
    StoreExport {
        owner_id: "550e8400-e29b-41d4-a716-446655440000".to_owned(),
        owner_did: None,
        export_id: "44444444-4444-4444-8444-444444444444".to_owned(),
        exported_at: Micros(START + DAY),
        exported_by: "lamina/0.1.0".to_owned(),
        span: ExportSpan::Full,
        memories,
        relations: Vec::new(),
        conversations: vec![conversation()],
        index_entries: Vec::new(),
        embeddings: Vec::new(),
        key: None,
    }
}

fn show(report: &Report) -> String {
    let mut lines: Vec<String> = report.findings().iter().map(ToString::to_string).collect();
    lines.push(format!("{:?} {:?}", report.is_valid(), report.signature));
    lines.join("\n") + "\n"
}

/// Replaces a text in one file of a signed bundle and shows the findings.
fn check_tampered(file: usize, from: &str, to: &str, expected: Expect) {
    let key = SigningKey::from_seed(&[7; 32]);
    let mut export = export(vec![memory("a", "Maria works at Initech")]);
    export.key = Some(key);
    let mut files = export.write().expect("valid").files;
    let text = String::from_utf8(files[file].bytes.clone()).expect("UTF-8");
    assert!(text.contains(from), "{text}");
    files[file].bytes = text.replacen(from, to, 1).into_bytes();
    expected.assert_eq(&show(&verify(Container::Directory, &files)));
}

#[test]
fn signed_export_verifies_and_names_its_signer() {
    let key = SigningKey::from_seed(&[7; 32]);
    let did = key.public().to_did_key();
    let mut export = export(vec![memory("a", "Maria works at Initech")]);
    export.key = Some(key);
    let written = export.write().expect("valid");
    let report = verify(Container::Directory, &written.files);
    assert_eq!(show(&report), "true Verified\n");
    assert_eq!(report.signer, Some(did));
    assert_eq!(report.memories, 2);
    let names: Vec<&str> = written.files.iter().map(|file| file.name.as_str()).collect();
    expect![[r#"["memory-store.json", "conversations/talk1.e3e02fcb9325bbbe.json"]"#]]
        .assert_eq(&format!("{names:?}"));
}

#[test]
fn changed_words_are_found_where_they_are() {
    check_tampered(
        0,
        "Maria works at Initech",
        "Maria works at Globex",
        expect![[r#"
        error: memory-store.json#/memories/0/content_hash: the content hashes to sha256:40bf372cdb00b687db9c660318427557506611080d7e01ff39ca0c77f34e5648 [content-hash]
        error: memory-store.json#/integrity/checksum: the memories hash to sha256:8071f6f3036652ff7f56b58663462af59c16f718da0db9711f3a9d5bd32a20e1 [integrity-checksum]
        false Failed
    "#]],
    );
}

#[test]
fn changed_conversation_is_found_by_the_manifest() {
    check_tampered(
        1,
        "Maria works at Initech",
        "Maria left Initech",
        expect![[r#"
        error: memory-store.json#/memories/1/metadata/x-lamina: `conversations/talk1.e3e02fcb9325bbbe.json` is missing or was changed [bundle-manifest]
        false Verified
    "#]],
    );
}

#[test]
fn changed_index_is_found_by_the_manifest() {
    check_tampered(
        0,
        r#""title":"Work","#,
        "",
        expect![[r#"
        error: memory-store.json#/memories/1/metadata/x-lamina: `conversations_index` was changed [bundle-manifest]
        false Verified
    "#]],
    );
}

#[test]
fn private_memory_stays_out_with_its_relations() {
    let mut private = memory("b", "a secret");
    private.access = Some(Value::object([("exportable", false.into())]));
    let mut replaced = memory("a", "old");
    replaced.status = "superseded".to_owned();
    replaced.temporal.superseded_by = Some("b".to_owned());
    let mut export = export(vec![replaced, private]);
    export.relations.push(Relation {
        id: "r".to_owned(),
        from: "b".to_owned(),
        to: "a".to_owned(),
        relation_type: "supersedes".to_owned(),
        confidence: None,
        created_at: Micros(START),
    });
    let written = export.write().expect("valid");
    assert_eq!((written.withheld_memories, written.dropped_relations), (1, 1));
    let bytes = written.files.concat_bytes();
    assert!(!bytes.contains("secret"), "{bytes}");
}

trait ConcatBytes {
    fn concat_bytes(&self) -> String;
}

impl ConcatBytes for Vec<BundleFile> {
    fn concat_bytes(&self) -> String {
        self.iter().map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).collect()
    }
}

#[test]
fn export_that_breaks_a_rule_is_not_written() {
    let error = export(vec![memory("a", "")]).write().expect_err("empty content");
    expect!["the export would break a rule: error: memory-store.json#/memories/0/content: `` must not be empty [length]"].assert_eq(&error.to_string());
    let same = export(vec![memory("a", "one"), memory("a", "two")]).write();
    assert!(matches!(same, Err(WriteError::Invalid(finding)) if finding.rule == Rule::IdUnique));
}

#[test]
fn report_keeps_a_limited_number_of_findings() {
    let tags = "\"!\",".repeat(Report::FINDINGS_MAX);
    let text = format!(
        r#"{{"schema":"portable-ai-memory-conversation","schema_version":"1.0","id":"c",
        "provider":{{"name":"local"}},"temporal":{{"created_at":"2026-01-01T00:00:00Z"}},
        "messages":[],"tags":[{tags}"!"]}}"#
    );
    let file = BundleFile { name: "c.json".to_owned(), bytes: text.into_bytes() };
    let report = verify(Container::File, &[file]);
    assert_eq!(report.findings().len(), Report::FINDINGS_MAX);
    assert_eq!(report.count(Level::Error), Report::FINDINGS_MAX as u64 + 1);
}

#[test]
fn delta_replaces_adds_and_retracts() {
    let store =
        |written: WrittenBundle| parse(&written.files[0].bytes, &ReadPolicy::STRICT).expect("JSON");
    let base = store(
        export(vec![memory("a", "one"), memory("b", "two"), memory("d", "four")])
            .write()
            .expect("base"),
    );
    let mut retracted = memory("b", "[erased]");
    retracted.status = "retracted".to_owned();
    let mut delta = export(vec![retracted, memory("c", "three")]);
    delta.span = ExportSpan::Incremental {
        base_export_id: Some(delta.export_id.clone()),
        since: Micros(START),
        live: vec!["a".to_owned(), "c".to_owned()],
    };
    let delta = store(delta.write().expect("delta"));
    let merged = merge(&base, &delta).expect("fits");
    let memories = merged.get("memories").and_then(Value::as_array).expect("memories");
    let shown: Vec<String> = memories
        .iter()
        .filter_map(Memory::read)
        .map(|m| format!("{} {} {}", m.id, m.status, m.content))
        .collect();
    expect!["a active one, b retracted [erased], d retracted [erased], c active three"]
        .assert_eq(&shown.join(", "));
    assert_eq!(
        merged.at(&["integrity", "checksum"]).and_then(Value::as_str),
        checksum(memories).ok().as_deref()
    );
    let mut other = delta;
    other.take("base_export_id");
    other.push("base_export_id", "another");
    assert_eq!(merge(&base, &other), Err(MergeError::Base));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn written_memories_read_back_equal(
        contents in prop::collection::vec("\\PC{1,40}", 1..8),
        micros in 0..4_000_000_000_000_000_i64,
        weight in 0.0..=1.0_f64,
    ) {
        let memories: Vec<Memory> = contents.iter().enumerate().map(|(at, content)| {
            let mut memory = memory(&format!("m{at:03}"), content);
            memory.temporal.created_at = Micros(micros);
            memory.temporal.valid_from = Some(Micros(micros / 2));
            if let Some(confidence) = &mut memory.confidence {
                confidence.current = Some(Value::double(weight));
            }
            memory
        }).collect();
        let written = export(memories.clone()).write().expect("valid");
        let bundle = read(Container::Directory, &written.files);
        // The toolkit computes the same checksum: there is no note about it.
        prop_assert!(bundle.report.findings().iter().all(|f| f.rule != Rule::ToolkitChecksum));
        let store = bundle.store().expect("store");
        let found: Vec<Memory> = store.get("memories").and_then(Value::as_array).expect("list")
            .iter().filter(|m| !is_manifest(m)).filter_map(Memory::read).collect();
        prop_assert_eq!(found, memories);
        let talks: Vec<Conversation> = bundle.conversations().filter_map(Conversation::read).collect();
        prop_assert_eq!(talks.len(), 1);
        prop_assert_eq!(talks[0].messages[0].text.as_deref(), Some("Maria works at Initech"));
    }
}
