//! Small bundles of our own: they pass both modes, carry taint down their lineage, and are the same bytes
//! every time.

use std::sync::Arc;

use lamina_portable::json::{ReadPolicy, Value, parse};
use lamina_types::Micros;
use lamina_types::stdx::hex;

use crate::pseudonym::PseudonymKey;
use crate::read::{RecordReader, open_blob};
use crate::write::{
    BundleWriter, INLINE_BYTES_MAX, MemorySink, NativeEntry, NativeMeta, RecordDraft, WriteError,
    WriteOptions, write_zip,
};
use crate::{
    Hash, MemoryBundle, Payload, Principal, RecordType, Taint, TaintSet, VerifyOptions, ZERO_HASH,
    verify, verify_zip,
};

/// 2026-05-13T15:42:00Z.
const NOW: Micros = Micros(1_778_686_920_000_000);

pub(super) fn json(text: &str) -> Value {
    parse(text.as_bytes(), &ReadPolicy::STRICT).expect("the test writes JSON")
}

pub(super) fn options(pseudonyms: Option<PseudonymKey>) -> WriteOptions {
    let meta = vec![("generator".to_owned(), "lamina".into())];
    WriteOptions { created_at: NOW, meta, pseudonyms }
}

pub(super) fn draft(kind: RecordType, principal: Principal, parents: &[Hash]) -> RecordDraft {
    RecordDraft {
        kind,
        principal,
        taint: TaintSet::NONE,
        parents: parents.to_vec(),
        meta: NativeMeta::new(NativeEntry::Derived, NOW),
        payload: Payload::Inline(json("{}")),
        identifiers: Vec::new(),
    }
}

/// A session of five records with one blob.
pub(super) fn session(options: WriteOptions) -> MemorySink {
    let mut writer = BundleWriter::new(MemorySink::default(), options);
    let mut record = |draft| writer.record(draft).expect("the draft is good");
    let start = record(draft(RecordType::SessionStart, Principal::System, &[]));
    let mut message = draft(RecordType::SessionMessage, Principal::User, &[start]);
    message.meta.scope = Some("org:acme/user:nora".to_owned());
    message.meta.actor = Some("user:nora".to_owned());
    message.meta.recorded_at = Micros(NOW.0 + 1_500_000);
    message.payload = Payload::Inline(json(
        r#"{"actor":"user:nora","text":"café e\u0301 \"ok\"","score":0.25,"big":9007199254740993}"#,
    ));
    let message = record(message);
    let mut page = draft(RecordType::FileRead, Principal::Web, &[start]);
    page.taint = TaintSet::new(&[Taint::Untrusted, Taint::WebDerived]);
    let page = record(page);
    let commit = draft(RecordType::MemoryCommitRequest, Principal::System, &[message, page]);
    let commit = record(commit);
    let blob = writer.blob(b"a page", "text/plain").expect("memory takes it");
    let mut written = draft(RecordType::FileWrite, Principal::Tool, &[commit]);
    written.payload = Payload::Blob(blob);
    writer.record(written).expect("the draft is good");
    writer.finish().expect("memory takes it")
}

fn assert_passes(bundle: &MemoryBundle) {
    for options in [VerifyOptions::STRICT, VerifyOptions::REFERENCE] {
        let report = verify(bundle, &options);
        assert_eq!(report.exit_code(), 0, "{:?}", report.findings);
    }
}

#[test]
fn written_bundle_passes_both_modes() {
    assert_passes(&session(options(None)).into_bundle());
    assert_passes(&MemorySink::default_bundle());
}

impl MemorySink {
    fn default_bundle() -> MemoryBundle {
        let writer = BundleWriter::new(MemorySink::default(), options(None));
        writer.finish().expect("memory takes it").into_bundle()
    }
}

#[test]
fn archive_of_a_bundle_passes_and_is_the_same_every_time() {
    let archive = || {
        let bundle = session(options(None)).into_bundle();
        write_zip(&bundle, Vec::new()).expect("memory takes it")
    };
    let bytes = archive();
    assert_eq!(bytes, archive());
    for options in [VerifyOptions::STRICT, VerifyOptions::REFERENCE] {
        let report = verify_zip(Arc::new(bytes.clone()), &options);
        assert_eq!((report.exit_code(), report.records), (0, 5), "{:?}", report.findings);
    }
}

#[test]
fn child_has_the_taints_of_its_parents() {
    let bundle = session(options(None)).into_bundle();
    let records: Vec<_> = RecordReader::new(&bundle).map(|r| r.expect("it reads")).collect();
    let taints: Vec<&[String]> = records.iter().map(|record| record.taint.as_slice()).collect();
    let web = ["UNTRUSTED".to_owned(), "WEB_DERIVED".to_owned()];
    assert_eq!(taints, [&[], &[], &web[..], &web[..], &web[..]]);
}

#[test]
fn blob_is_read_back() {
    let bundle = session(options(None)).into_bundle();
    let last = RecordReader::new(&bundle).last().expect("there are records").expect("it reads");
    let Payload::Blob(blob) = last.payload else { panic!("the last record has a blob") };
    let mut bytes = Vec::new();
    let mut reader = open_blob(&bundle, &blob).expect("the blob is there");
    std::io::Read::read_to_end(&mut reader, &mut bytes).expect("memory gives it");
    assert_eq!((bytes.as_slice(), blob.size), (&b"a page"[..], 6));
}

#[test]
fn numbers_that_readers_round_become_strings() {
    let bundle = session(options(None)).into_bundle();
    let message = RecordReader::new(&bundle).nth(1).expect("there are records").expect("it reads");
    let Payload::Inline(value) = message.payload else { panic!("the message is inline") };
    assert_eq!(value.get("score").and_then(Value::as_str), Some("0.25"));
    assert_eq!(value.get("big").and_then(Value::as_str), Some("9007199254740993"));
}

#[test]
fn pseudonymous_bundle_names_nobody() {
    let named = session(options(None)).into_bundle();
    let key = PseudonymKey::new([5; 32]);
    let hidden = session(options(Some(key))).into_bundle();
    assert_passes(&hidden);
    let holds = |bundle: &MemoryBundle, name: &str| {
        bundle.files().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains(name))
    };
    for name in ["nora", "acme"] {
        assert!(holds(&named, name) && !holds(&hidden, name), "{name}");
    }
    assert!(holds(&hidden, &key.pseudonym("user:nora")));
}

#[test]
fn large_payload_becomes_a_blob() {
    let mut writer = BundleWriter::new(MemorySink::default(), options(None));
    let mut large = draft(RecordType::SessionMessage, Principal::User, &[]);
    large.payload = Payload::Inline(Value::from("x".repeat(INLINE_BYTES_MAX)));
    writer.record(large).expect("the draft is good");
    let bundle = writer.finish().expect("memory takes it").into_bundle();
    assert_passes(&bundle);
    assert_eq!(bundle.files().count(), 4);
}

#[test]
fn drafts_without_their_parents_or_blobs_are_refused() {
    let mut writer = BundleWriter::new(MemorySink::default(), options(None));
    let orphan = draft(RecordType::ToolCall, Principal::Tool, &[ZERO_HASH]);
    assert!(matches!(writer.record(orphan), Err(WriteError::UnknownParent(ZERO_HASH))));
    let mut empty = draft(RecordType::FileWrite, Principal::Tool, &[]);
    let blob = crate::BlobReference { hash: ZERO_HASH, mime: String::new(), size: 0 };
    empty.payload = Payload::Blob(blob);
    assert!(matches!(writer.record(empty), Err(WriteError::UnknownBlob(ZERO_HASH))));
    let mut keys = draft(RecordType::ToolCall, Principal::Tool, &[]);
    keys.payload = Payload::Inline(json("{\"\u{e9}\":1,\"e\u{301}\":2}"));
    assert!(matches!(writer.record(keys), Err(WriteError::Keys)));
    let mut deep = draft(RecordType::ToolCall, Principal::Tool, &[]);
    deep.payload = Payload::Inline(json(&format!("{}{}", "[".repeat(110), "]".repeat(110))));
    assert!(matches!(writer.record(deep), Err(WriteError::Depth(_))));
}

#[test]
fn id_of_a_made_record_is_known() {
    let bundle = session(options(None)).into_bundle();
    let first = RecordReader::new(&bundle).next().expect("there are records").expect("it reads");
    let form = concat!(
        r#"{"meta":{"lamina":{"entry":"derived","recorded_at":"2026-05-13T15:42:00Z"},"#,
        r#""ts":"2026-05-13T15:42:00Z"},"parents":[],"payload":{"inline":{}},"principal":"SYS","#,
        r#""schema":"0.1","taint":[],"type":"SessionStart"}"#,
    );
    assert_eq!(hex::encode(&first.id), hex::encode(&crate::digest::sha256(form.as_bytes())));
}

#[test]
fn all_13_types_pass_strict_and_the_13th_fails_the_reference() {
    let mut writer = BundleWriter::new(MemorySink::default(), options(None));
    for kind in RecordType::ALL {
        writer.record(draft(*kind, Principal::System, &[])).expect("the draft is good");
    }
    let bundle = writer.finish().expect("memory takes it").into_bundle();
    assert_eq!(verify(&bundle, &VerifyOptions::STRICT).exit_code(), 0);
    assert_eq!(verify(&bundle, &VerifyOptions::REFERENCE).exit_code(), 4);
}
