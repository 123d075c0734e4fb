//! The native proof: it shows that nothing of a scope is missing, and that no byte was edited after it.

use lamina_portable::sign::SigningKey;
use lamina_types::Micros;

use super::made::{draft, json, options};
use crate::proof::{
    ChainPoint, DisclosedSection, ProofBuilder, ProofEntry, ProofExpectation, ProofHeader, seal_of,
    section_commitment, tip_after,
};
use crate::write::{BundleWriter, MemorySink, NativeEntry, NativeMeta, RecordDraft};
use crate::{
    FindingCode, MANIFEST, MemoryBundle, Payload, Principal, RECORDS, RecordType, Report,
    VerifyOptions, verify,
};

const LOG_ID: [u8; 16] = [9; 16];
const SALT: [u8; 32] = [3; 32];

/// The head of an entry as the log writes it.
fn head(kind: u8, seq: u64, batch: u64, prev_seal: &[u8; 32]) -> Vec<u8> {
    let mut bytes = vec![1, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend_from_slice(&(100 + seq).to_le_bytes());
    bytes.extend_from_slice(&batch.to_le_bytes());
    bytes.extend_from_slice(&1_u32.to_le_bytes());
    bytes.extend_from_slice(&seq.to_le_bytes());
    bytes.extend_from_slice(&7_u64.to_le_bytes());
    bytes.extend_from_slice(&seq.to_le_bytes());
    bytes.extend_from_slice(&[0; 16]);
    bytes.extend_from_slice(&1_778_686_920_000_000_i64.to_le_bytes());
    bytes.extend_from_slice(&1_u16.to_le_bytes());
    bytes.extend_from_slice(&5_u64.to_le_bytes());
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(&section_commitment(&SALT, b"who"));
    bytes.extend_from_slice(&[0; 32]);
    bytes.extend_from_slice(prev_seal);
    bytes
}

struct Chain {
    heads: Vec<Vec<u8>>,
    seals: Vec<[u8; 32]>,
    events: Vec<bool>,
}

/// Event, answer, event, event; two entries in each batch.
fn chain() -> Chain {
    let mut chain = Chain { heads: Vec::new(), seals: Vec::new(), events: Vec::new() };
    let mut seal = [0; 32];
    for (seq, kind) in (1_u64..).zip([1, 2, 1, 1]) {
        let head = head(kind, seq, 40 + seq.div_ceil(2), &seal);
        seal = seal_of(&seal, &head);
        chain.heads.push(head);
        chain.seals.push(seal);
        chain.events.push(kind == 1);
    }
    chain
}

fn signed_tip(tip: &[u8; 32], key: &SigningKey) -> Vec<u8> {
    let mut payload = vec![1];
    payload.extend_from_slice(&LOG_ID);
    payload.extend_from_slice(&2_u32.to_le_bytes());
    payload.extend_from_slice(&42_u64.to_le_bytes());
    payload.extend_from_slice(&105_u64.to_le_bytes());
    payload.extend_from_slice(tip);
    payload.extend_from_slice(&0_i64.to_le_bytes());
    let public: [u8; 32] = public_key(key);
    payload.extend_from_slice(&public);
    let message = [b"lamina checkpoint 1\0".as_slice(), &payload].concat();
    payload.extend_from_slice(&key.sign(&message));
    payload
}

fn public_key(key: &SigningKey) -> [u8; 32] {
    lamina_types::stdx::hex::decode_array(&key.public().to_hex()).expect("it is hex")
}

struct Made {
    /// Records of the events that are left out.
    left_out: Option<usize>,
    /// Entries of the proof.
    proven: usize,
}

fn made(made: &Made) -> MemoryBundle {
    let chain = chain();
    let key = SigningKey::from_seed(&[1; 32]);
    let mut writer = BundleWriter::new(MemorySink::default(), options(None));
    let tip = [4; 32];
    let mut proof = ProofBuilder::new(&ProofHeader {
        log_id: LOG_ID,
        epoch: 2,
        scope: "user:nora",
        after: ChainPoint::START,
        tip: Some(tip),
    });
    for (index, head) in chain.heads.iter().enumerate().take(made.proven) {
        let who = Some(DisclosedSection { salt: SALT, bytes: b"who" });
        proof.entry(&ProofEntry { head, who, what: None }).expect("it follows");
        if !chain.events[index] || made.left_out == Some(index) {
            continue;
        }
        let mut event: RecordDraft = draft(RecordType::SessionMessage, Principal::User, &[]);
        event.meta = NativeMeta::new(NativeEntry::Experience, Micros(1_778_686_920_000_000));
        event.meta.seal = Some(chain.seals[index]);
        event.payload = Payload::Inline(json(&format!("{{\"text\":\"words {index}\"}}")));
        writer.record(event).expect("the draft is good");
    }
    if made.proven == chain.heads.len() {
        let (first, second) = chain.seals.split_at(2);
        // An entry of another scope stands in the first batch.
        let first = [first, &[[8; 32]]].concat();
        proof.batch(41, &first);
        proof.batch(42, second);
        proof.checkpoint(&signed_tip(&tip_after(&tip_after(&tip, &first), second), &key));
    }
    let snapshot = draft(RecordType::Snapshot, Principal::System, &[]);
    writer.prove(proof, snapshot).expect("the proof is good");
    writer.finish().expect("memory takes it").into_bundle()
}

fn whole() -> MemoryBundle {
    made(&Made { left_out: None, proven: 4 })
}

fn codes(report: &Report) -> Vec<FindingCode> {
    report.findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn whole_scope_is_proven_up_to_the_signed_checkpoint() {
    let report = verify(&whole(), &VerifyOptions::STRICT);
    assert_eq!(report.exit_code(), 0, "{:?}", report.findings);
    let proof = report.proof.expect("there is a proof");
    assert_eq!((proof.scope.as_str(), proof.last_seq, proof.events), ("user:nora", 4, 3));
    assert_eq!(proof.signed_by, Some(public_key(&SigningKey::from_seed(&[1; 32]))));
    assert_eq!(verify(&whole(), &VerifyOptions::REFERENCE).exit_code(), 0);
}

#[test]
fn every_event_left_out_is_missed() {
    for left_out in [0, 2, 3] {
        let bundle = made(&Made { left_out: Some(left_out), proven: 4 });
        let report = verify(&bundle, &VerifyOptions::STRICT);
        assert_eq!(codes(&report), [FindingCode::ProofEventMissing], "{left_out}");
        assert_eq!(verify(&bundle, &VerifyOptions::REFERENCE).exit_code(), 0, "the format cannot");
    }
}

#[test]
fn expectations_from_elsewhere_are_held_against_the_proof() {
    let chain = chain();
    let point = |seq: u64, seal| ChainPoint { seq, events: 0, seal };
    let verdict = |bundle: &MemoryBundle, expected| {
        verify(bundle, &VerifyOptions { expected, ..VerifyOptions::STRICT }).exit_code()
    };
    let at = |head| ProofExpectation { head: Some(head), public_key: None };
    assert_eq!(verdict(&whole(), at(point(4, chain.seals[3]))), 0);
    assert_eq!(verdict(&whole(), at(point(3, chain.seals[3]))), 2);
    let short = made(&Made { left_out: None, proven: 3 });
    assert_eq!(verdict(&short, ProofExpectation::NONE), 0);
    assert_eq!(verdict(&short, at(point(4, chain.seals[3]))), 2, "the last event was cut off");
    let by = |public_key| ProofExpectation { head: None, public_key: Some(public_key) };
    assert_eq!(verdict(&whole(), by(public_key(&SigningKey::from_seed(&[1; 32])))), 0);
    assert_eq!(verdict(&whole(), by(public_key(&SigningKey::from_seed(&[2; 32])))), 2);
    assert_eq!(verdict(&short, by(public_key(&SigningKey::from_seed(&[1; 32])))), 2);
}

fn edited(path: &str, from: &str, to: &str) -> Report {
    let bundle = whole();
    let files = bundle.files().map(|(own, bytes)| {
        let text = std::str::from_utf8(bytes).expect("it is text");
        let text = match own == path {
            true => {
                assert!(text.contains(from), "{from}");
                text.replacen(from, to, 1)
            }
            false => text.to_owned(),
        };
        (own.to_owned(), text.into_bytes())
    });
    verify(&MemoryBundle::new(files), &VerifyOptions::STRICT)
}

#[test]
fn edits_that_no_hash_of_the_format_covers_are_found() {
    let cases = [
        (RECORDS, ",\"schema\":\"0.1\"}", "}"),
        (RECORDS, ",\"schema\":\"0.1\"}", ",\"schema\":\"0.1\",\"extensions\":{\"n\":1}}"),
        (RECORDS, "\"taint\":[],", "\"taint\" : [],"),
        (MANIFEST, "\"generator\":\"lamina\"", "\"generator\":\"forged\""),
        (MANIFEST, "\"created_at\":\"2026", "\"created_at\":\"1999"),
        (MANIFEST, "\"meta\":{", "\"extensions\":{},\"meta\":{"),
    ];
    for (path, from, to) in cases {
        let report = edited(path, from, to);
        assert_eq!(codes(&report), [FindingCode::ProofCoverage], "{from} to {to}");
    }
}

#[test]
fn proof_with_any_line_removed_is_refused() {
    let bundle = whole();
    let (proof, text) = bundle
        .files()
        .find(|(path, bytes)| path.starts_with("blobs/") && bytes.starts_with(b"{\"proof\""))
        .map(|(path, bytes)| (path.to_owned(), String::from_utf8_lossy(bytes).into_owned()))
        .expect("there is a proof");
    let lines: Vec<&str> = text.lines().collect();
    for left_out in 0..lines.len() {
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != left_out);
        let text: String = kept.map(|(_, line)| format!("{line}\n")).collect();
        let files = bundle.files().map(|(path, bytes)| {
            let bytes = if path == proof { text.clone().into_bytes() } else { bytes.to_vec() };
            (path.to_owned(), bytes)
        });
        let report = verify(&MemoryBundle::new(files), &VerifyOptions::STRICT);
        let in_proof =
            report.findings.iter().any(|finding| finding.code.as_str().starts_with("PROOF"));
        let is_checkpoint = lines[left_out].starts_with("{\"checkpoint\"");
        assert!(in_proof || is_checkpoint, "without line {left_out}");
        assert!(report.exit_code() >= 2, "the hash of the blob fails too");
    }
}

#[test]
fn proof_entries_must_follow_each_other() {
    let chain = chain();
    let header = ProofHeader {
        log_id: LOG_ID,
        epoch: 2,
        scope: "user:nora",
        after: ChainPoint::START,
        tip: None,
    };
    let entry = |at: usize| ProofEntry { head: &chain.heads[at], who: None, what: None };
    assert!(ProofBuilder::new(&header).entry(&entry(1)).is_err());
    assert!(
        ProofBuilder::new(&header).entry(&ProofEntry { head: b"", who: None, what: None }).is_err()
    );
    let mut proof = ProofBuilder::new(&header);
    proof.entry(&entry(0)).expect("it follows");
    assert!(proof.entry(&entry(0)).is_err());
    assert_eq!(proof.last(), ChainPoint { seq: 1, events: 1, seal: chain.seals[0] });
}
