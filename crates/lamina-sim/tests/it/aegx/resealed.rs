//! A forger who knows the format and computes every hash anew. The native proof shows the forgery.

use std::collections::HashMap;
use std::sync::Arc;

use lamina_aegx::proof::ProofExpectation;
use lamina_aegx::{MemoryBundle, Report, VerifyOptions, verify, verify_zip};
use lamina_portable::canon;
use lamina_portable::json::{ReadPolicy, parse};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{Exported, export, write};
use crate::harness::{Api, string};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn canonical(value: &Value) -> Vec<u8> {
    canon::aegx(&parse(value.to_string().as_bytes(), &ReadPolicy::STRICT).unwrap()).unwrap()
}

/// A bundle under the forger's hands.
struct Forgery {
    records: Vec<Value>,
    proof: Vec<Value>,
    manifest: Value,
}

impl Forgery {
    fn of(bundle: &Exported) -> Forgery {
        let records = bundle.records();
        let name = string(&records.last().unwrap()["payload"], "blob");
        let proof = String::from_utf8(bundle.files[&format!("blobs/{name}")].clone()).unwrap();
        let proof = proof.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Forgery { records, proof, manifest: bundle.manifest() }
    }

    /// The position of the record that says this.
    fn saying(&self, words: &str) -> usize {
        let found = |record: &Value| record["payload"]["inline"]["text"] == words;
        self.records.iter().position(found).unwrap()
    }

    /// Removes a record; its children lose a parent.
    fn remove(&mut self, at: usize) -> Value {
        let gone = self.records.remove(at);
        for record in &mut self.records {
            record["parents"].as_array_mut().unwrap().retain(|parent| *parent != gone["recordId"]);
        }
        gone
    }

    /// Computes every hash anew and gives the verdict.
    fn sealed(mut self) -> Vec<u8> {
        let mut renamed: HashMap<String, String> = HashMap::new();
        let (mut lines, mut audit, mut head) = (String::new(), String::new(), "0".repeat(64));
        let mut blobs = Vec::new();
        let count = self.records.len();
        for (index, record) in self.records.iter_mut().enumerate() {
            for parent in record["parents"].as_array_mut().unwrap() {
                if let Some(new) = renamed.get(parent.as_str().unwrap()) {
                    *parent = json!(new);
                }
            }
            if index + 1 == count {
                let end = self.proof.last_mut().unwrap();
                end["records_sha256"] = json!(sha256(lines.as_bytes()));
                let proof: String = self.proof.iter().map(|line| format!("{line}\n")).collect();
                let name = sha256(proof.as_bytes());
                record["payload"]["blob"] = json!(name);
                record["payload"]["size"] = json!(proof.len());
                blobs.push((format!("blobs/{name}"), proof));
            }
            let mut form = Map::new();
            for member in ["meta", "parents", "payload", "principal", "schema", "taint", "type"] {
                form.insert(member.to_owned(), record[member].clone());
            }
            let id = sha256(&canonical(&Value::Object(form)));
            renamed.insert(string(record, "recordId"), id.clone());
            record["recordId"] = json!(id);
            lines.push_str(&format!("{record}\n"));
            let at = record["meta"]["ts"].clone();
            let entry = json!({"idx": index, "prev": head, "recordId": id, "ts": at});
            head = sha256(&canonical(&entry));
            let mut entry = entry;
            entry["entryHash"] = json!(head);
            audit.push_str(&format!("{entry}\n"));
        }
        let roots = self.records.iter().filter(|record| record["parents"] == json!([]));
        self.manifest["root_records"] = roots.map(|record| record["recordId"].clone()).collect();
        self.manifest["record_count"] = json!(count);
        self.manifest["audit_head"] = json!(head);
        blobs.extend([
            ("records.jsonl".to_owned(), lines),
            ("audit-log.jsonl".to_owned(), audit),
            ("manifest.json".to_owned(), format!("{}\n", self.manifest)),
        ]);
        let files: Vec<(&str, &[u8])> =
            blobs.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
        crate::import::archive(&files)
    }
}

fn judged(bytes: &[u8], options: &VerifyOptions) -> Report {
    verify_zip(Arc::new(bytes.to_vec()), options)
}

#[track_caller]
fn is_found(bytes: &[u8], code: &str) {
    let report = judged(bytes, &VerifyOptions::STRICT);
    let codes: Vec<&str> = report.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(report.exit_code(), 2, "{:#?}", report.findings);
    assert!(codes.contains(&code), "{codes:?}");
    assert!(codes.iter().all(|code| code.starts_with("PROOF")), "the hashes hold: {codes:?}");
    assert_eq!(judged(bytes, &VerifyOptions::REFERENCE).exit_code(), 0, "the format cannot tell");
}

fn made(area: &str) -> Exported {
    let mut api = Api::shared(area);
    for text in ["The first word.", "The second word.", "The third word."] {
        write(&mut api, text, &json!({}));
    }
    // Others write too, before and after.
    crate::pam::settle(&mut api);
    export(&mut api, &json!({}))
}

#[test]
fn resealed_bundle_without_changes_holds() {
    let bytes = Forgery::of(&made("aegx-resealed")).sealed();
    let report = judged(&bytes, &VerifyOptions::STRICT);
    assert_eq!(report.exit_code(), 0, "the test seals as a writer does: {:#?}", report.findings);
}

#[test]
fn event_that_was_removed_or_made_up_is_found_although_every_hash_holds() {
    let bundle = made("aegx-removed");
    for words in ["The first word.", "The second word.", "The third word."] {
        let mut forgery = Forgery::of(&bundle);
        let at = forgery.saying(words);
        forgery.remove(at);
        is_found(&forgery.sealed(), "PROOF_EVENT_MISSING");
    }
    let mut forgery = Forgery::of(&bundle);
    let at = forgery.saying("The second word.");
    let mut added = forgery.records[at].clone();
    added["meta"]["lamina"]["seal"] = json!("ab".repeat(32));
    added["recordId"] = json!("cd".repeat(32));
    forgery.records.insert(at, added);
    is_found(&forgery.sealed(), "PROOF_EVENT_UNKNOWN");
}

#[test]
fn event_whose_entry_was_removed_from_the_proof_too_breaks_the_chain() {
    let bundle = made("aegx-chain");
    let mut forgery = Forgery::of(&bundle);
    let at = forgery.saying("The second word.");
    let seal = forgery.remove(at)["meta"]["lamina"]["seal"].clone();
    forgery.proof.retain(|line| line["seal"] != seal);
    is_found(&forgery.sealed(), "PROOF_CHAIN");
}

#[test]
fn end_that_was_cut_off_does_not_lead_to_the_signed_checkpoint() {
    let bundle = made("aegx-cut");
    let mut forgery = Forgery::of(&bundle);
    let at = forgery.saying("The third word.");
    let seal = forgery.records[at]["meta"]["lamina"]["seal"].clone();
    let place = forgery.proof.iter().position(|line| line["seal"] == seal).unwrap();
    let is_entry = |line: &Value| line.get("seq").is_some();
    // Every entry from there on goes, and every record of them.
    let cut: Vec<Value> =
        forgery.proof[place..].iter().filter(|line| is_entry(line)).cloned().collect();
    forgery.proof.retain(|line| !cut.contains(line));
    let seals: Vec<Value> = cut.iter().map(|line| line["seal"].clone()).collect();
    while let Some(at) = forgery.records.iter().position(|record| {
        record["meta"]["lamina"]["seal"].is_string()
            && seals.contains(&record["meta"]["lamina"]["seal"])
    }) {
        forgery.remove(at);
    }
    let entries = forgery.proof.iter().filter(|line| is_entry(line)).count();
    let events = forgery.proof.iter().filter(|line| line.get("event").is_some()).count();
    let end = forgery.proof.last_mut().unwrap();
    (end["entries"], end["events"]) = (json!(entries), json!(events));
    let unsigned = Forgery {
        records: forgery.records.clone(),
        proof: forgery.proof.clone(),
        manifest: forgery.manifest.clone(),
    };
    is_found(&forgery.sealed(), "PROOF_CHECKPOINT");
    // Without the checkpoint nothing shows it, unless the reader knows who must have signed.
    let mut unsigned = unsigned;
    unsigned.proof.retain(|line| line.get("batch").is_none() && line.get("checkpoint").is_none());
    let bytes = unsigned.sealed();
    let report = judged(&bytes, &VerifyOptions::STRICT);
    assert_eq!((report.exit_code(), report.proof.unwrap().signed_by), (0, None));
    let signer = bundle.judged(&VerifyOptions::STRICT).proof.unwrap().signed_by;
    let expected = ProofExpectation { head: None, public_key: signer };
    let options = VerifyOptions { expected, ..VerifyOptions::STRICT };
    assert_eq!(judged(&bytes, &options).exit_code(), 2);
    assert_eq!(bundle.judged(&options).exit_code(), 0);
}

#[test]
fn every_record_deleted_inserted_replaced_or_moved_fails_the_evidence() {
    let bundle = made("aegx-edits");
    let text = String::from_utf8(bundle.files["records.jsonl"].clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let verdict = |lines: &[&str]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let files = bundle.files.iter().map(|(name, bytes)| match name.as_str() {
            "records.jsonl" => (name.clone(), text.clone().into_bytes()),
            _ => (name.clone(), bytes.clone()),
        });
        verify(&MemoryBundle::new(files), &VerifyOptions::STRICT).exit_code()
    };
    assert_eq!(verdict(&lines), 0);
    for at in 0..lines.len() {
        let mut edited = lines.clone();
        edited.remove(at);
        assert_eq!(verdict(&edited), 2, "without record {at}");
        let mut edited = lines.clone();
        edited.insert(at, lines[(at + 1) % lines.len()]);
        assert_eq!(verdict(&edited), 2, "with a copy before record {at}");
        let replaced =
            lines[at].replacen("\"principal\":\"", "\"principal\":\"TOOL\",\"was\":\"", 1);
        let mut edited = lines.clone();
        edited[at] = &replaced;
        assert_eq!(verdict(&edited), 3, "record {at} with another member");
        let mut edited = lines.clone();
        let replaced = lines[at].replacen("\"taint\":[", "\"taint\":[\"SECRET_RISK\",", 1);
        let replaced = replaced.replacen(",]", "]", 1);
        edited[at] = &replaced;
        assert_eq!(verdict(&edited), 2, "record {at} with another taint");
        if at > 0 {
            let mut edited = lines.clone();
            edited.swap(at - 1, at);
            assert_eq!(verdict(&edited), 2, "record {at} moved");
        }
    }
}
