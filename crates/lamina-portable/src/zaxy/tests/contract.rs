//! Logs of our own: written, read, projected, signed, disclosed, and refused after a change.

use crate::json::{ReadPolicy, Value, parse};
use crate::sign::{BundleKey, SignatureAlgorithm};
use crate::zaxy::{
    BundleError, EntrySelector, EventLog, LogRecord, LogWriter, Selector, SignatureInputs, Verdict,
    VerifyOptions, disclose, project, signed_bundle, to_file, unsigned_bundle, verify_bundle,
    verify_subset,
};

fn record(kind: &str, payload: Value, second: u32) -> LogRecord {
    LogRecord {
        timestamp: format!("2026-03-01T09:00:{second:02}Z"),
        kind: kind.to_owned(),
        actor: "user:alice".to_owned(),
        thread: "project:atlas%2Fsession:one".to_owned(),
        payload,
        sensitivity: "public".to_owned(),
    }
}

/// The text of a log with a goal, a decision and two turns.
pub(super) fn log_text() -> String {
    let turn = |text: &str, index: u64| {
        Value::object([
            ("role", "user".into()),
            ("content", text.into()),
            ("source", "one".into()),
            ("turn_index", Value::count(index)),
        ])
    };
    let mut writer = LogWriter::new();
    let records = [
        record("goal.created", Value::object([("title", "Ship the beta".into())]), 1),
        record("decision.made", Value::object([("decision", "Use Rust".into())]), 2),
        record("transcript.turn", turn("Berlin is where the team meets.", 0), 3),
        record("transcript.turn", turn("The beta ships in May.", 1), 4),
    ];
    records.into_iter().map(|record| LogWriter::line(&writer.seal(record))).collect()
}

pub(super) fn entries() -> Vec<Value> {
    let log = EventLog::read(log_text().as_bytes()).expect("is a log");
    project(&log.events, &Selector::all()).expect("has entries").entries
}

pub(super) fn signed(algorithm: SignatureAlgorithm) -> (Value, String) {
    let key = BundleKey::from_seed(algorithm, &[7; 32]);
    let inputs = SignatureInputs {
        created_at: "2026-03-02T00:00:00Z".to_owned(),
        nonce: "0123456789abcdef0123456789abcdef".to_owned(),
        randomness: [3; 32],
    };
    (signed_bundle("one", entries(), &key, inputs).expect("is signed"), key.public_hex())
}

fn is_valid(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Valid { .. })
}

#[test]
fn written_log_verifies_and_a_changed_line_names_its_event() {
    let text = log_text();
    EventLog::read(text.as_bytes()).expect("is a log").verify().expect("is chained");
    let changed = text.replace("Use Rust", "Use Rusk");
    let log = EventLog::read(changed.as_bytes()).expect("is a log");
    assert_eq!(log.verify().expect_err("is broken").seq, 2);
}

#[test]
fn unsigned_bundle_is_the_same_bytes_each_time() {
    let text = || to_file(&unsigned_bundle("one", entries())).expect("has a form");
    assert_eq!(text(), text());
    assert!(text().contains("zaxy.export.unsigned.v1"));
    assert!(entries().len() > 4, "events and what they mean");
}

#[test]
fn signed_bundle_verifies_with_either_algorithm_and_only_with_its_key() {
    for algorithm in SignatureAlgorithm::ALL {
        let (bundle, key) = signed(algorithm);
        let pinned = VerifyOptions { expect_public_key: Some(&key) };
        assert!(is_valid(&verify_bundle(&bundle, pinned)), "{algorithm:?}");
        let other = "00".repeat(key.len() / 2);
        let other = VerifyOptions { expect_public_key: Some(&other) };
        assert!(!is_valid(&verify_bundle(&bundle, other)), "{algorithm:?}");
    }
}

#[test]
fn changed_words_are_refused_in_bundles_and_subsets() {
    let (bundle, key) = signed(SignatureAlgorithm::Ed25519);
    let options = VerifyOptions { expect_public_key: Some(&key) };
    let subset = disclose(&bundle, &EntrySelector::all()).expect("is signed").subset;
    assert!(is_valid(&verify_subset(&subset, options)));
    let reread = |value: &Value, from: &str, to: &str| {
        let text = to_file(value).expect("has a form");
        assert!(text.contains(from), "{from} stands in the file");
        parse(text.replace(from, to).as_bytes(), &ReadPolicy::PYTHON).expect("is JSON")
    };
    for (from, to) in
        [("Berlin", "Bergen"), ("2026-03-02T00", "2026-03-03T00"), ("\"one\"", "\"two\"")]
    {
        assert!(!is_valid(&verify_bundle(&reread(&bundle, from, to), options)), "{from}");
        assert!(!is_valid(&verify_subset(&reread(&subset, from, to), options)), "{from}");
    }
}

#[test]
fn subset_discloses_the_selected_entries_alone() {
    let (bundle, key) = signed(SignatureAlgorithm::MlDsa65);
    let kinds = Some(vec!["goal.created".to_owned()]);
    let selector = EntrySelector { kinds, ..EntrySelector::all() };
    let disclosure = disclose(&bundle, &selector).expect("is signed");
    assert_eq!(disclosure.disclosed_count, 1);
    let text = to_file(&disclosure.subset).expect("has a form");
    assert!(text.contains("Ship the beta") && !text.contains("Berlin"));
    let options = VerifyOptions { expect_public_key: Some(&key) };
    assert!(is_valid(&verify_subset(&disclosure.subset, options)));
}

#[test]
fn empty_selection_is_not_signed() {
    let key = BundleKey::from_seed(SignatureAlgorithm::Ed25519, &[7; 32]);
    let inputs =
        SignatureInputs { created_at: String::new(), nonce: String::new(), randomness: [0; 32] };
    assert_eq!(signed_bundle("one", Vec::new(), &key, inputs), Err(BundleError::Empty));
}

#[test]
fn debug_text_of_a_key_has_no_secret() {
    for algorithm in SignatureAlgorithm::ALL {
        let text = format!("{:?}", BundleKey::from_seed(algorithm, &[7; 32]));
        assert!(!text.contains("7, 7") && !text.contains("0707"), "{text}");
    }
}
