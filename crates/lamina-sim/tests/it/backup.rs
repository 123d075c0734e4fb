//! Backups beside a running server, and restores that bring back everything but what was taken back.

use std::path::{Path, PathBuf};

use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk, RealDisk};
use lamina_sim::client::Request;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::certified::{ended, save};
use crate::cli::{code, lamina, out, text};
use crate::coverage::check_schema;
use crate::forget::{holding, redact, say};
use crate::harness::{Api, Own, data, directory, launch, string};

/// A server that notes what is taken back.
struct Noting {
    own: Own,
    ledger: PathBuf,
}

impl Noting {
    fn start() -> Noting {
        let directory = directory();
        let ledger = directory.path().join("ledger");
        let server =
            launch(directory.path(), &[("LAMINA_STORAGE_LEDGER", text(&ledger))]).start().unwrap();
        Noting { own: Own { server, directory }, ledger }
    }

    fn data(&self) -> PathBuf {
        data(self.own.directory.path())
    }

    fn backup(&self, name: &str) -> (PathBuf, Value) {
        let to = self.own.directory.path().join(name);
        (to.clone(), backup(&self.data(), &to))
    }
}

fn backup(data: &Path, to: &Path) -> Value {
    let made = lamina(&["backup", "--data", text(data), "--to", text(to), "--json"]);
    code(&made, 0);
    serde_json::from_str(&out(&made)).unwrap()
}

/// Serves a data directory that a restore made, with the ledger.
fn serve(root: TempDir, ledger: &Path) -> Own {
    let noting = [("LAMINA_STORAGE_LEDGER", text(ledger))];
    let server = launch(root.path(), &noting).start().unwrap();
    Own { server, directory: root }
}

fn restore(from: &Path, root: &Path, more: &[&str]) -> Value {
    let to = data(root);
    let mut words = vec!["restore", "--from", text(from), "--data", text(&to), "--json"];
    words.extend(more);
    let done = lamina(&words);
    code(&done, 0);
    serde_json::from_str(&out(&done)).unwrap()
}

#[test]
fn a_restore_gives_back_what_was_there_and_a_new_life_of_the_log() {
    let noting = Noting::start();
    let mut api = noting.own.api("backup");
    let upload = Request::new("POST", "/v1/blobs")
        .header("Content-Type", "text/plain")
        .bytes("a scanned deed");
    let blob = string(&api.send(&upload).made(), "blob_id");
    let mut envelope = api.envelope("I live in Rome.");
    envelope["content"]["media"] = json!([{"blob_id": blob}]);
    let first = string(&api.post("/v1/experience?wait=settled", &envelope).ok(200), "event_id");
    // Beside the running server.
    let (place, made) = noting.backup("copy");
    assert_eq!(made["verdict"], "the backup verifies");
    let scope = api.scope.clone();
    let facts = api.get(&format!("/v1/facts?scope={scope}")).ok(200);
    let later = say(&mut api, "I live in Paris.");

    let root = directory();
    // Two that write to one ledger would write over each other.
    let (to, ledger) = (data(root.path()), noting.ledger.clone());
    let words = ["restore", "--from", text(&place), "--data", text(&to), "--ledger", text(&ledger)];
    let refused = lamina(&words);
    code(&refused, 4);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is in use"), "{refused:?}");
    assert!(!RealDisk.exists(&to));
    let _kept = noting.own.stop();
    let done = restore(&place, root.path(), &["--ledger", text(&ledger)]);
    assert_eq!((&done["epoch"], &done["erased_again"]), (&json!(1), &json!(0)));
    let restored = serve(root, &ledger);
    let mut again = restored.api("restored");
    assert_eq!(again.event(&first)["content"]["text"], "I live in Rome.");
    again.get(&format!("/v1/events/{later}")).fails(404, "NOT_FOUND");
    assert_eq!(again.get(&format!("/v1/facts?scope={scope}")).ok(200)["items"], facts["items"]);
    let bytes = again.send(&Request::get(&format!("/v1/blobs/{blob}")));
    assert_eq!(bytes.response.text(), "a scanned deed");
    // It goes on from there.
    again.scope = scope;
    say(&mut again, "I live in Oslo.");
}

#[test]
fn a_second_run_copies_what_changed_and_drops_what_is_gone() {
    let noting = Noting::start();
    let mut api = noting.own.api("increment");
    let secret = say(&mut api, "The safe is behind Quaxley.");
    // The segment that has it is sealed.
    let filler = "x".repeat(600_000);
    for _ in 0..10 {
        api.write(&filler);
    }
    let (place, first) = noting.backup("copy");
    // Two segments of the log, one of the audit log, keys, the format.
    assert!(first["files"].as_u64().unwrap() > 4, "{first}");
    assert_eq!(holding(&place, "Quaxley").len(), 1);
    api.write("nothing much");
    let (_, second) = noting.backup("copy");
    assert!(second["bytes_copied"].as_u64() < first["bytes_copied"].as_u64(), "{second}");
    // The segment in which something was erased is copied again.
    api.post("/v1/forget", &redact(&api, &[&secret])).ok(200);
    let (_, third) = noting.backup("copy");
    assert!(third["bytes_copied"].as_u64() > second["bytes_copied"].as_u64(), "{third}");
    assert!(holding(&place, "Quaxley").is_empty());
    let root = directory();
    let ledger = noting.ledger.clone();
    let _kept = noting.own.stop();
    restore(&place, root.path(), &["--ledger", text(&ledger)]);
    let checked = lamina(&["check", "--data", text(&data(root.path()))]);
    code(&checked, 0);
}

#[test]
fn what_was_erased_after_the_backup_does_not_come_back() {
    let noting = Noting::start();
    let mut api = noting.own.api("ledger");
    let upload = Request::new("POST", "/v1/blobs")
        .header("Content-Type", "text/plain")
        .bytes("the blob says Wibblewort");
    let blob = string(&api.send(&upload).made(), "blob_id");
    let mut envelope = api.envelope("I live in Quaxley.");
    envelope["content"]["media"] = json!([{"blob_id": blob}]);
    let gone = string(&api.post("/v1/experience?wait=settled", &envelope).ok(200), "event_id");
    let kept = say(&mut api, "My dog is called Vimto.");
    let scope = api.scope.clone();
    let facts = api.get(&format!("/v1/facts?scope={scope}")).ok(200);
    let names = |fact: &&Value| fact.to_string().contains("Vimto");
    let suppressed: Vec<&Value> = facts["items"].as_array().unwrap().iter().filter(names).collect();
    let suppressed: Vec<String> = suppressed.iter().map(|fact| string(fact, "id")).collect();
    assert!(!suppressed.is_empty(), "{facts}");
    let (place, _) = noting.backup("copy");
    api.post("/v1/forget", &redact(&api, &[&gone])).ok(200);
    let derived = json!({
        "scope": scope, "cascade": "derived_only", "selector": {"memory_ids": suppressed},
        "reason": "asked to",
    });
    api.post("/v1/forget", &derived).ok(200);
    let hold = json!({"scope": scope, "reason": "a trial"});
    api.send(&Request::new("PUT", "/v1/admin/legal-holds").json(&hold)).ok(200);

    let root = directory();
    let ledger = noting.ledger.clone();
    let _kept = noting.own.stop();
    let done = restore(&place, root.path(), &["--ledger", text(&ledger)]);
    assert!(done["erased_again"].as_u64().unwrap() >= 2, "{done}");
    assert!(done["noted_again"].as_u64().unwrap() >= 1, "{done}");
    assert_eq!(done["blobs_removed_again"], 1);
    for word in ["Quaxley", "Wibblewort"] {
        let found = holding(&data(root.path()), word);
        assert!(found.is_empty(), "{word}: {found:?}");
    }
    code(&lamina(&["check", "--data", text(&data(root.path()))]), 0);
    let restored = serve(root, &ledger);
    let mut again = restored.api("restored");
    again.get(&format!("/v1/events/{gone}")).fails(410, "RESOURCE_DELETED");
    assert_eq!(again.event(&kept)["content"]["text"], "My dog is called Vimto.");
    let facts = again.get(&format!("/v1/facts?scope={scope}&include_superseded=true")).ok(200);
    let facts = facts.to_string();
    assert!(!facts.contains("Quaxley") && !facts.contains("Vimto"), "{facts}");
    // A hold that was put since stands again.
    let holds = again.get("/v1/admin/legal-holds").ok(200);
    assert_eq!(holds["items"][0]["scope"], json!(scope), "{holds}");
    assert_eq!(holds["items"][0]["reason"], "a trial");
    again.scope = scope;
    again.post("/v1/forget", &redact(&again, &[&kept])).fails(409, "LEGAL_HOLD");
}

/// The ledger takes back again what an erasure took, and nothing of those whom the scope lists as owners.
#[test]
fn restore_with_ledger_erases_no_more_than_the_erasure_did() {
    let noting = Noting::start();
    let mut api = noting.own.api("restored-trap");
    let send = |api: &mut Api, actor: &str, target: &str, body: &Value| {
        api.send(&Request::post(target, body).header("X-Cortex-Actor", actor))
    };
    let write = |api: &mut Api, scope: &str, actor: &str, text: &str| {
        let mut said = api.envelope(text);
        said["scope"] = json!(scope);
        string(&send(api, actor, "/v1/experience?wait=settled", &said).ok(200), "event_id")
    };
    let victims = write(&mut api, "user:victim", "user:victim", "I live in Quaxley.");
    let trap = api.scope.clone();
    let members = ["user:bob", "user:victim", "user:local"];
    let members = members.map(|actor| json!({"actor": actor, "role": "owner"}));
    send(&mut api, "user:bob", "/v1/scopes", &json!({"path": trap, "members": members})).ok(201);
    let own = write(&mut api, &trap, "user:bob", "My dog is called Vimto.");
    let (place, _) = noting.backup("copy");
    let body = json!({"scope": trap, "confirm_all": true});
    let begun = send(&mut api, "user:bob", "/v1/erasures", &body).ok(202);
    let status = ended(&mut api, &string(&begun, "erasure_id"));
    assert_eq!(status["certificate"]["counts"]["deleted_events"], 1, "{status}");
    api.event(&victims);
    let ledger = noting.ledger.clone();
    let _held = noting.own.stop();
    let root = directory();
    restore(&place, root.path(), &["--ledger", text(&ledger)]);
    let restored = serve(root, &ledger);
    let mut again = restored.api("restored-trap-again");
    again.event(&victims);
    again.get(&format!("/v1/events/{own}")).fails(410, "RESOURCE_DELETED");
}

/// The entries that erased are others in a restored directory; the ledger knows those of the certificate.
#[test]
fn a_certificate_verifies_in_a_directory_that_was_restored() {
    let noting = Noting::start();
    let mut api = noting.own.api("certified-before");
    say(&mut api, "I live in Quaxley.");
    let (place, _) = noting.backup("copy");
    // The backup does not know this one.
    say(&mut api, "My dog is called Vimto.");
    let begun = api.post("/v1/erasures", &json!({"scope": api.scope, "confirm_all": true})).ok(202);
    let id = string(&begun, "erasure_id");
    let status = ended(&mut api, &id);
    assert_eq!(status["certificate"]["counts"]["deleted_events"], 2);
    let ledger = noting.ledger.clone();
    let held = noting.own.stop();
    let certificate = save(&held.path().join("certificate.json"), &status);
    let strings = held.path().join("strings.txt");
    write_atomic(&RealDisk, &strings, b"Quaxley\nVimto\n").unwrap();

    let root = directory();
    restore(&place, root.path(), &["--ledger", text(&ledger)]);
    let verify = |root: &Path, more: &[&str]| {
        let to = data(root);
        let words = ["verify", text(&certificate), "--data", text(&to), "--absent", text(&strings)];
        lamina(&[&words[..], more].concat())
    };
    let alone = verify(root.path(), &[]);
    code(&alone, 2);
    assert!(out(&alone).contains("--ledger"), "{}", out(&alone));
    let done = verify(root.path(), &["--ledger", text(&ledger)]);
    code(&done, 0);
    for said in ["was restored since: life 1", "are not in this directory", "has this certificate"]
    {
        assert!(out(&done).contains(said), "{said}: {}", out(&done));
    }
    // The same when it was served, and the next certificate follows the one that the restore brought along.
    let restored = serve(root, &ledger);
    let mut next = restored.api("certified-after");
    // The backup does not know the job either: what it came to is told by its certificate.
    let told = next.get(&format!("/v1/erasures/{id}")).ok(200);
    check_schema("erasure_job", &told);
    for known in ["status", "phase", "fraction_complete", "audit_id", "certificate"] {
        assert_eq!(told[known], status[known], "{known}");
    }
    for known in ["deleted_events", "deleted_facts", "deleted_beliefs", "bytes_rewritten"] {
        assert_eq!(told["progress"][known], status["progress"][known], "{known}");
    }
    assert_eq!(told["scope_salt"], Value::Null, "who asked for it is not known here");
    next.post(&format!("/v1/erasures/{id}/cancel"), &json!({})).ok(200);
    let other = id.replace(char::is_numeric, "0");
    next.get(&format!("/v1/erasures/{other}")).fails(404, "NOT_FOUND");
    say(&mut next, "I live in Rome.");
    let begun =
        next.post("/v1/erasures", &json!({"scope": next.scope, "confirm_all": true})).ok(202);
    let second = ended(&mut next, &string(&begun, "erasure_id"));
    assert_eq!(second["certificate"]["number"], 2, "{second}");
    let root = restored.stop();
    code(&verify(root.path(), &["--ledger", text(&ledger)]), 0);
    let other = save(&held.path().join("second.json"), &second);
    code(&lamina(&["verify", text(&other), "--data", text(&data(root.path()))]), 0);
    // Where nothing was taken back again, the ledger does not help.
    let careless = directory();
    restore(&place, careless.path(), &["--without-ledger"]);
    let done = verify(careless.path(), &["--ledger", text(&ledger)]);
    code(&done, 2);
    assert!(out(&done).contains("FAIL"), "{}", out(&done));
    // A second restore knows each certificate once.
    let again = directory();
    restore(&place, again.path(), &["--ledger", text(&ledger)]);
    code(&verify(again.path(), &["--ledger", text(&ledger)]), 0);
    code(&lamina(&["check", "--data", text(&data(again.path()))]), 0);
}

#[test]
fn an_old_copy_put_in_place_by_hand_is_not_served() {
    let noting = Noting::start();
    let mut api = noting.own.api("by-hand");
    let gone = say(&mut api, "I live in Quaxley.");
    let (place, _) = noting.backup("copy");
    api.post("/v1/forget", &redact(&api, &[&gone])).ok(200);
    let ledger = noting.ledger.clone();
    let kept = noting.own.stop();
    let variable = [("LAMINA_STORAGE_LEDGER", text(&ledger))];
    let refused =
        crate::cli::with(&variable, &["serve", "--data", text(&place), "--listen", "127.0.0.1:0"]);
    code(&refused, 4);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("older than the ledger") && said.contains("lamina restore"), "{said}");
    drop(kept);
}

#[test]
fn a_restore_refuses_what_it_must_not_guess() {
    let noting = Noting::start();
    let mut api = noting.own.api("refused");
    say(&mut api, "I live in Rome.");
    let (place, _) = noting.backup("copy");
    let root = directory();
    let to = data(root.path());
    let words = ["restore", "--from", text(&place), "--data", text(&to)];
    // Without a ledger, unless that is said.
    let refused = lamina(&words);
    code(&refused, 64);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--without-ledger"));
    assert!(!RealDisk.exists(&to));
    // Of another log.
    let other = Noting::start();
    say(&mut other.own.api("other"), "I live in Oslo.");
    code(&lamina(&[&words[..], &["--ledger", text(&other.ledger)]].concat()), 4);
    // A backup with a byte changed.
    let segment = place.join("log").join("0000000000000000.seg");
    let bytes = read_file(&RealDisk, &segment, 1 << 30).unwrap();
    let file = RealDisk.open(&segment).unwrap();
    file.write_at(&[bytes[300] ^ 1], 300).unwrap();
    let refused = lamina(&[&words[..], &["--without-ledger"]].concat());
    code(&refused, 4);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("damaged"));
    assert!(!RealDisk.exists(&to));
    file.write_at(&[bytes[300]], 300).unwrap();
    let done = restore(&place, root.path(), &["--without-ledger"]);
    assert!(done["verdict"].as_str().unwrap().contains("WITHOUT"), "{done}");
    // Over something.
    let refused = lamina(&[&words[..], &["--without-ledger"]].concat());
    code(&refused, 4);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not empty"));
    // Into the data itself, or something else.
    let inside = noting.data().join("copy");
    let own = noting.data();
    code(&lamina(&["backup", "--data", text(&own), "--to", text(&inside)]), 4);
    let full = directory();
    RealDisk.create_new(&full.path().join("letters.txt")).unwrap();
    code(&lamina(&["backup", "--data", text(&own), "--to", text(full.path())]), 4);
}

#[test]
fn restore_drill_with_the_same_ledger_leaves_the_original_serving() {
    let noting = Noting::start();
    let mut api = noting.own.api("drill");
    let kept = say(&mut api, "My dog is called Vimto.");
    let gone = say(&mut api, "I live in Quaxley.");
    let (place, _) = noting.backup("copy");
    let (old, _) = noting.backup("old");
    api.post("/v1/forget", &redact(&api, &[&gone])).ok(200);
    let hold = json!({"scope": api.scope, "reason": "a trial"});
    api.send(&Request::new("PUT", "/v1/admin/legal-holds").json(&hold)).ok(200);
    let scope = api.scope.clone();
    let (ledger, drill) = (noting.ledger.clone(), directory());
    let original = noting.own.stop();
    restore(&place, drill.path(), &["--ledger", text(&ledger)]);
    // The original goes on, notes what it takes back, and so does the restored directory.
    let original = serve(original, &ledger);
    let mut api = original.api("drill");
    api.scope.clone_from(&scope);
    assert_eq!(api.event(&kept)["content"]["text"], "My dog is called Vimto.");
    api.get(&format!("/v1/events/{gone}")).fails(410, "RESOURCE_DELETED");
    api.delete(&format!("/v1/admin/legal-holds?scope={scope}"));
    let original = original.stop();
    let drill = serve(drill, &ledger);
    let mut api = drill.api("drill");
    api.get(&format!("/v1/events/{gone}")).fails(410, "RESOURCE_DELETED");
    drill.stop();
    // A copy from before the erasure is still refused.
    let variable = [("LAMINA_STORAGE_LEDGER", text(&ledger))];
    let refused =
        crate::cli::with(&variable, &["serve", "--data", text(&old), "--listen", "127.0.0.1:0"]);
    code(&refused, 4);
    drop(original);
}
