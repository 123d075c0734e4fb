//! Law 8, byte by byte: secrets go in through every entrance, flow wherever they flow, and are found there by
//! `lamina check --absent`. After an erasure none of the words is in any file, row, term or vector; ids are
//! only where the contract keeps them. The same after crashes, and after a restore of an older backup.

use std::path::Path;
use std::time::Duration;

use lamina_env::RealDisk;
use lamina_env::disk::write_atomic;
use lamina_sim::client::{Deadline, Request};
use serde_json::{Value, json};

use crate::cli::{code, lamina, out, text};
use crate::harness::{Api, Own, data, directory, launch, string, unique_key};

/// An erasure waits for the search index, on a machine that may be busy.
const LONG: Duration = Duration::from_secs(180);

/// What must be nowhere after an erasure; each enters by one entrance.
const WORDS: &[&str] = &[
    "Zorbquill",   // text
    "Vantrumpet",  // JSON
    "Plumbagora",  // triple
    "Wibblewort",  // the bytes of a blob
    "Frangleprop", // a label
    "Skivortune",  // an idempotency key
    "Mungledorf",  // bulk
    "Yackenfold",  // a declared belief
    "Drosselmire", // feedback
    "Quimbercast", // an event that was cancelled
    "Hexelbrand",  // said twice, so that something replaces it
    "Trinklesop",  // a session
    "Jorvendale",  // a word with a quote and a letter beyond ASCII, below
    "Ömlautgräben \"zu\"",
    "Grindlewisp",  // why a conflict was decided
    "Pelldrake",    // why a scope was held, before the hold was lifted
    "Fennimark",    // whom a declared belief is about
    "Bladderwick",  // what was asked for by key
    "Morfelspan",   // why two entities were merged
    "Splinterquay", // why they were split again
    "Krumplenote",  // why an event was cancelled
    "Ostelbane",    // why something was forgotten
    "Vergilmoss",   // why something was erased
    "Tansyveil",    // a topic that concepts were asked for by
];

/// Those of them that nobody can read again: they are not kept at all.
const UNKEPT: &[&str] = &[
    "Bladderwick",
    "Morfelspan",
    "Splinterquay",
    "Krumplenote",
    "Ostelbane",
    "Vergilmoss",
    "Tansyveil",
];

/// Those that can be searched for.
const INDEXED: &[&str] = &[
    "Zorbquill",
    "Vantrumpet",
    "Plumbagora",
    "Mungledorf",
    "Drosselmire",
    "Hexelbrand",
    "Jorvendale",
    "Ömlautgräben \"zu\"",
];

/// Names of people and places: they are in ids.
const OBSERVED: &str = "vexmarlow";
const PLACE: &str = "glimmerfen";

/// Looks for strings in a directory.
fn look(dir: &Path, strings: &[&str]) -> (Option<i32>, Value) {
    let file = dir.parent().unwrap().join("strings.txt");
    write_atomic(&RealDisk, &file, strings.join("\n").as_bytes()).unwrap();
    let done = lamina(&["check", "--data", text(dir), "--absent", text(&file), "--json"]);
    let report = serde_json::from_str(&out(&done)).unwrap_or_else(|_| panic!("{done:?}"));
    (done.status.code(), report)
}

/// The places where the string in a line stands.
fn places(report: &Value, line: usize) -> Vec<String> {
    let traces = report["traces"].as_array().unwrap();
    let of_line = traces.iter().filter(|trace| trace["line"] == json!(line));
    let mut places: Vec<String> = of_line.map(|trace| string(trace, "place")).collect();
    places.dedup();
    places
}

#[track_caller]
fn gone(dir: &Path, strings: &[&str]) {
    let (code, report) = look(dir, strings);
    assert_eq!(code, Some(0), "{report:#}");
    assert!(report["files"].as_u64() > Some(5) && report["rows"].as_u64() > Some(10), "{report}");
}

/// Says something in a scope and waits until it is derived from.
fn say(api: &mut Api, change: impl FnOnce(&mut Value)) -> String {
    let mut envelope = api.envelope("");
    envelope["observed_actor"] = json!({"id": format!("user:{OBSERVED}")});
    change(&mut envelope);
    string(&api.post("/v1/experience?wait=settled", &envelope).ok(200), "event_id")
}

fn said(text: &str) -> impl FnOnce(&mut Value) {
    let text = text.to_owned();
    move |envelope| envelope["content"]["text"] = json!(text)
}

/// Writes every word through its entrance. The scope is the api's.
fn write_all(api: &mut Api) -> String {
    let blob = Request::new("POST", "/v1/blobs")
        .header("Content-Type", "text/plain")
        .bytes("the deed names Wibblewort");
    let blob = string(&api.send(&blob).made(), "blob_id");
    // The key of an event that was erased is refused for a day: each time another.
    let key = format!("Skivortune-{}", unique_key());
    let first = say(api, |envelope| {
        envelope["content"]["text"] = json!("I live in Zorbquill. My dog is called Jorvendale.");
        envelope["content"]["media"] = json!([{"blob_id": blob}]);
        envelope["context"]["labels"] = json!(["Frangleprop"]);
        envelope["observed_actor"]["session"] = json!("Trinklesop");
        envelope["idempotency_key"] = json!(key);
    });
    api.get(&format!("/v1/experience/by-idempotency-key/{key}")).ok(200);
    api.get("/v1/experience/by-idempotency-key/Bladderwick-1").fails(404, "NOT_FOUND");
    say(api, |envelope| {
        let data = json!({"note": "Vantrumpet", "deep": ["Ömlautgräben \"zu\""]});
        envelope["content"] = json!({"kind": "json", "data": data});
    });
    say(api, |envelope| {
        let triple = json!({
            "subject": {"type": "entity", "id": "acme", "name": "Acme"}, "predicate": "code_name",
            "object": {"type": "literal", "datatype": "string", "value": "Plumbagora"},
        });
        envelope["content"] = json!({"kind": "triple", "triple": triple});
    });
    let items: Vec<Value> = (0..3)
        .map(|n| api.envelope(&format!("Maria works at Mungledorf, said {n} times.")))
        .collect();
    api.post("/v1/experience/bulk", &json!({"items": items})).ok(202);
    say(api, said("I work at Hexelbrand."));
    say(api, said("I work at Hexelbrand Two now."));
    let cancelled = say(api, said("My safe is in Quimbercast."));
    let why = json!({"audit_note": "Krumplenote"});
    api.post(&format!("/v1/lifecycle/memory-event/{cancelled}/cancel"), &why).ok(200);
    let belief = api.post(
        "/v1/beliefs",
        &json!({
            "scope": api.scope, "statement": "Yackenfold", "confidence": 0.8, "supports": [first],
            "subject": "Fennimark", "predicate": "renewal", "valid_from": "2025-02-01T00:00:00Z",
        }),
    );
    let belief = string(&belief.ok(201), "id");
    say(api, |envelope| {
        envelope["modality"] = json!("feedback");
        let data = json!({"belief_id": belief, "came_true": true, "note": "Drosselmire"});
        envelope["content"] = json!({"kind": "json", "data": data});
    });
    give_reasons(api);
    first
}

/// Every request that may say why.
fn give_reasons(api: &mut Api) {
    let scope = api.scope.clone();
    say(api, said("Carla lives in Zorbquill. Martha lives in Rome."));
    say(api, said("Carla lives in Hexelbrand. Marta lives in Oslo."));
    let open = api.get(&format!("/v1/conflicts?scope={scope}")).ok(200);
    let open = open["conflicts"].as_array().unwrap();
    let conflict = open.iter().find(|one| one["subject"] == "Carla").expect("a conflict").clone();
    let winner = &conflict["records"][0]["id"];
    let body = json!({"action": "pick", "winner": winner, "reason": "Grindlewisp said so"});
    api.post(&format!("/v1/conflicts/{}/resolve", string(&conflict, "id")), &body).ok(200);
    let known = api.get(&format!("/v1/entities?scope={scope}&limit=100")).ok(200);
    let called = |name: &str| {
        let mut items = known["items"].as_array().unwrap().iter();
        string(items.find(|one| one["name"] == name).expect(name), "id")
    };
    let (from, into) = (called("Martha"), called("Marta"));
    let body = json!({"into": into, "reason": "Morfelspan is both"});
    api.post(&format!("/v1/entities/{from}/merge"), &body).ok(200);
    let body = json!({"reason": "Splinterquay is not"});
    api.post(&format!("/v1/entities/{from}/split"), &body).ok(200);
    let tea = say(api, said("I like tea."));
    let body = json!({
        "scope": scope, "selector": {"memory_ids": [tea]}, "audit_note": "Ostelbane asked",
    });
    api.post("/v1/forget", &body).ok(200);
    let hold = json!({"scope": scope, "reason": "Pelldrake against all"});
    api.send(&Request::new("PUT", "/v1/admin/legal-holds").json(&hold)).ok(200);
    let lift = format!("/v1/admin/legal-holds?scope={scope}");
    assert_eq!(api.delete(&lift).response.status, 204);
    let body = json!({"scope": scope, "topics": ["Tansyveil"], "force": true});
    api.post("/v1/understanding/synthesize", &body).ok(202);
    let body = json!({"scope": scope, "audit_note": "Vergilmoss wishes it"});
    api.post("/v1/erasures/preview", &body).ok(200);
}

/// Has the words read in every way there is.
fn flow(api: &mut Api) {
    let scope = api.scope.clone();
    api.post("/v1/episodes/build", &json!({"scope": scope, "seal": true})).ok(200);
    for word in ["Zorbquill", "Vantrumpet", "Plumbagora", "Mungledorf"] {
        let words = format!("What about {word} and Nusselbeck?");
        api.post("/v1/recall", &json!({"scope": scope, "query": words})).ok(200);
        api.post("/v1/answer", &json!({"scope": scope, "question": words})).ok(200);
    }
    for target in [
        format!("/v1/facts?scope={scope}&subject=user:{OBSERVED}"),
        format!("/v1/beliefs?scope={scope}"),
        format!("/v1/understanding?scope={scope}"),
        format!("/v1/entities?scope={scope}"),
        format!("/v1/facts/timeline?scope={scope}&subject=user:{OBSERVED}"),
        format!("/v1/events?scope={scope}&labels=Frangleprop"),
        "/v1/audit?limit=10".to_owned(),
    ] {
        api.get(&target).ok(200);
    }
}

/// Erases the scope and waits for the end.
fn erase(api: &mut Api) -> Value {
    let id = begin(api);
    ended(api, &id)
}

fn begin(api: &mut Api) -> String {
    let body = json!({
        "scope": api.scope, "confirm_all": true, "audit_note": "Vergilmoss wishes it",
    });
    string(&api.post("/v1/erasures", &body).ok(202), "erasure_id")
}

fn ended(api: &mut Api, id: &str) -> Value {
    let deadline = Deadline::after(LONG);
    loop {
        let status = api.get(&format!("/v1/erasures/{id}")).ok(200);
        if status["status"] != "running" {
            return status;
        }
        assert!(!deadline.passed(), "{status}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn owned(own: &Own, number: usize) -> Api {
    let mut api = own.api("erased-bytes");
    api.scope = format!("org:it/user:{PLACE}_{number}");
    api
}

#[test]
fn no_byte_of_what_entered_anywhere_is_left_after_an_erasure() {
    let own = Own::start();
    let mut api = owned(&own, 1);
    // Somebody else's, and the tenant's: they stay.
    let mut other = own.api("erased-bytes-other");
    let kept = other.write_settled("We met in Oslo with Kestrelmoor.");
    let vocabulary = json!({"name": "sales_v1", "predicates": [{"id": "thrumble_stage"}]});
    api.post("/v1/vocabularies", &vocabulary).ok(201);
    let first = write_all(&mut api);
    flow(&mut api);
    let scope = api.scope.clone();
    let held = own.stop();
    let dir = data(held.path());

    // Each of them is found before, where it must be.
    let (found, before) = look(&dir, WORDS);
    assert_eq!(found, Some(2));
    assert_eq!(before["unread"], json!([]), "{before:#}");
    for (line, word) in (1..).zip(WORDS) {
        let places = places(&before, line);
        let within = |folder: &str| places.iter().any(|place| place.starts_with(folder));
        match *word {
            "Wibblewort" => assert!(within("blobs/"), "{word}: {places:?}"),
            // No word of a question is kept, and no reason that nobody can read again.
            word if UNKEPT.contains(&word) => assert_eq!(places, [""; 0], "{word}"),
            _ => assert!(within("log/"), "{word}: {places:?}"),
        }
        // What was cancelled may be in a segment that is not merged yet.
        if *word != "Quimbercast" {
            assert_eq!(within("search/"), INDEXED.contains(word), "{word}: {places:?}");
        }
        assert!(!within("audit/"), "{word}: {places:?}");
        assert!(!within("views"), "{word}: {places:?}");
    }
    let (_, ids) = look(&dir, &[OBSERVED, PLACE, "Kestrelmoor", "Thrumble_stage", "Nusselbeck"]);
    for (line, name) in [(1, OBSERVED), (2, PLACE), (3, "Kestrelmoor"), (4, "thrumble")] {
        assert!(!places(&ids, line).is_empty(), "{name}");
    }
    assert_eq!(places(&ids, 5), [""; 0], "no word of a question is kept");

    let server = launch(held.path(), &[]).start().unwrap();
    let own = Own { server, directory: held };
    let mut api = owned(&own, 1);
    assert_eq!(api.scope, scope);
    let done = erase(&mut api);
    assert_eq!(done["status"], "completed");
    api.get(&format!("/v1/events/{first}")).fails(410, "RESOURCE_DELETED");
    flow(&mut api);
    let held = own.stop();
    let dir = data(held.path());
    gone(&dir, WORDS);
    code(&lamina(&["check", "--data", text(&dir)]), 0);
    // Ids are where the contract keeps them: a scope in the log, with its path, and rows of the audit log with
    // who asked and where. Of the observed actor nothing is left in the log.
    let (_, ids) = look(&dir, &[OBSERVED, PLACE, "Kestrelmoor", "Thrumble_stage"]);
    for place in places(&ids, 1) {
        assert!(place.starts_with("audit/"), "{OBSERVED}: {place}");
    }
    for place in places(&ids, 2) {
        assert!(place.starts_with("audit/") || place.starts_with("log/"), "{PLACE}: {place}");
    }
    assert!(!places(&ids, 3).is_empty() && !places(&ids, 4).is_empty(), "{ids:#}");
    let server = launch(held.path(), &[]).start().unwrap();
    let own = Own { server, directory: held };
    own.api("erased-bytes-other").event(&kept);
}

/// Killed at different moments of the job, each time with what was written anew.
#[test]
fn no_byte_is_left_when_erasures_are_cut_short_by_crashes() {
    let mut own = Own::start();
    let mut seen = Vec::new();
    for (number, pause) in [0, 3, 10, 40, 150].into_iter().enumerate() {
        let mut api = owned(&own, number);
        write_all(&mut api);
        let again = |n| api.envelope(&format!("Zorbquill again, for the {n}th time."));
        let items: Vec<Value> = (0..700).map(again).collect();
        api.post("/v1/experience/bulk", &json!({"items": items})).ok(202);
        let id = begin(&mut api);
        std::thread::sleep(Duration::from_millis(pause));
        let status = api.get(&format!("/v1/erasures/{id}")).ok(200);
        seen.push(format!("{} {}", string(&status, "status"), string(&status, "phase")));
        own = own.crash();
        let mut api = owned(&own, number);
        assert_eq!(ended(&mut api, &id)["status"], "completed", "{seen:?}");
    }
    let held = own.stop();
    gone(&data(held.path()), WORDS);
    code(&lamina(&["check", "--data", text(&data(held.path()))]), 0);
}

#[test]
fn no_byte_comes_back_with_an_older_backup() {
    let root = directory();
    let ledger = root.path().join("ledger");
    let noting = [("LAMINA_STORAGE_LEDGER", text(&ledger))];
    let server = launch(root.path(), &noting).start().unwrap();
    let own = Own { server, directory: root };
    let mut api = owned(&own, 1);
    write_all(&mut api);
    flow(&mut api);
    let copy = own.directory.path().join("copy");
    let source = data(own.directory.path());
    code(&lamina(&["backup", "--data", text(&source), "--to", text(&copy)]), 0);
    let (found, _) = look(&copy, WORDS);
    assert_eq!(found, Some(2), "the backup has the words");
    assert_eq!(erase(&mut api)["status"], "completed");
    let kept = own.stop();

    let again = directory();
    let to = data(again.path());
    let words = ["restore", "--from", text(&copy), "--data", text(&to), "--ledger", text(&ledger)];
    code(&lamina(&words), 0);
    gone(&to, WORDS);
    code(&lamina(&["check", "--data", text(&to)]), 0);
    // Nor when it was served, and its index was made again.
    let server = launch(again.path(), &noting).start().unwrap();
    let own = Own { server, directory: again };
    let mut api = owned(&own, 1);
    flow(&mut api);
    let held = own.stop();
    gone(&data(held.path()), WORDS);
    // The next run of the backup has no word of it either.
    let source = data(kept.path());
    code(&lamina(&["backup", "--data", text(&source), "--to", text(&copy)]), 0);
    let (found, report) = look(&copy, WORDS);
    assert_eq!(found, Some(0), "{report:#}");
}

/// What was declared, and why something was decided, may quote the words that somebody wants gone.
#[test]
fn what_was_said_about_words_goes_with_them() {
    let own = Own::start();
    let mut api = owned(&own, 1);
    let first = write_all(&mut api);
    let scope = api.scope.clone();
    let conflicts = api.get(&format!("/v1/conflicts?scope={scope}&status=all")).ok(200);
    let decided = conflicts["conflicts"].as_array().unwrap();
    let decided = decided.iter().find(|one| one["subject"] == "Carla").unwrap();
    assert_eq!(decided["resolution"]["reason"], "Grindlewisp said so");
    let beliefs = api.get(&format!("/v1/beliefs?scope={scope}&limit=100")).ok(200);
    let items = beliefs["items"].as_array().unwrap();
    let declared = items.iter().find(|one| one.to_string().contains("Yackenfold")).unwrap();
    let declared = string(declared, "id");
    let carla = api.get(&format!("/v1/events?scope={scope}&limit=100")).ok(200);
    let carla = carla["items"].as_array().unwrap().iter();
    let mut carla = carla.filter(|one| one.to_string().contains("Carla"));
    let carla = string(carla.next_back().unwrap(), "id");
    let body = json!({
        "scope": scope, "cascade": "redact_events",
        "selector": {"memory_ids": [declared, carla]},
    });
    let done = api.post("/v1/forget", &body).ok(200);
    // The event that was named, and the feedback on the belief.
    assert_eq!((&done["deleted"]["events"], &done["matched"]), (&json!(2), &json!(2)), "{done}");
    api.get(&format!("/v1/beliefs/{declared}")).fails(410, "RESOURCE_DELETED");
    api.event(&first);
    let held = own.stop();
    let dir = data(held.path());
    gone(&dir, &["Grindlewisp", "Yackenfold", "Fennimark"]);
    let (found, _) = look(&dir, &["Zorbquill"]);
    assert_eq!(found, Some(2), "what was not named stays");
    code(&lamina(&["check", "--data", text(&dir)]), 0);
}

#[test]
fn what_cannot_be_looked_for_is_a_mistake_of_the_caller() {
    let held = Own::start().stop();
    let dir = data(held.path());
    let file = held.path().join("strings.txt");
    let check = |strings: &[u8]| {
        write_atomic(&RealDisk, &file, strings).unwrap();
        lamina(&["check", "--data", text(&dir), "--absent", text(&file)])
    };
    for strings in [&b""[..], b"\n\n", b"Ann\n", b"\xff\xfe\n"] {
        code(&check(strings), 64);
    }
    code(&lamina(&["check", "--data", text(&dir), "--absent", text(&held.path().join("no"))]), 4);
    let done = check(b"Quaxley\n");
    code(&done, 0);
    assert!(out(&done).ends_with("none of the strings is in the directory\n"), "{}", out(&done));
    let own = {
        let server = launch(held.path(), &[]).start().unwrap();
        Own { server, directory: held }
    };
    // A directory in use.
    let dir = data(own.directory.path());
    code(
        &lamina(&[
            "check",
            "--data",
            text(&dir),
            "--absent",
            text(&own.directory.path().join("strings.txt")),
        ]),
        4,
    );
}
