//! Damage is contained: a damaged event or answer is an item with an error of its own, a damaged audit log stops neither
//! reads nor writes of memory, and `lamina salvage` brings back everything that verifies.

use std::path::Path;

use lamina_env::{Disk, RealDisk};
use serde_json::{Value, json};

use super::{Fault, bytes, files, health, put, serve};
use crate::cli::{code, err, lamina, out, text};
use crate::harness::{Api, Own, data, launch, string};
use crate::import::{import, upload};

/// Changes a byte of the words in the log, in place: a server that has the file open reads it.
fn strike_words(data: &Path, words: &str) {
    for segment in files(&data.join("log")) {
        let found = bytes(&segment);
        let Some(at) = found.windows(words.len()).position(|part| part == words.as_bytes()) else {
            continue;
        };
        let file = RealDisk.open(&segment).unwrap();
        file.write_at(&[found[at] ^ 0x40], at as u64).unwrap();
        file.sync().unwrap();
        return;
    }
    panic!("`{words}` is not in the log");
}

/// A caller of a server that was started again, for a scope of before.
fn again(own: &Own, scope: &str) -> Api {
    let mut api = own.api("faults-again");
    api.scope = scope.to_owned();
    api
}

fn list(api: &mut Api) -> Vec<Value> {
    let path = format!("/v1/events?scope={}&limit=50", api.scope);
    let page = api.get(&path).ok(200);
    page["items"].as_array().unwrap().clone()
}

fn recall(api: &mut Api, query: &str) -> Value {
    api.post("/v1/recall", &json!({"scope": api.scope, "query": query})).ok(200)
}

#[test]
fn damaged_event_is_an_item_with_its_own_error_in_lists_and_recalls() {
    let own = Own::start();
    let mut api = own.api("faults-item");
    let good = api.write("The green ledger lies in the north tower.");
    let bad = api.write("The zyxwen ledger lies in the south tower.");
    api.write_settled("The blue ledger lies in the west tower.");
    assert_eq!(health(&mut api), "healthy");
    strike_words(&data(own.directory.path()), "zyxwen ledger");
    let items = list(&mut api);
    assert_eq!(items.len(), 3, "{items:?}");
    let damaged: Vec<&Value> = items.iter().filter(|item| item["error"].is_object()).collect();
    assert_eq!(damaged.len(), 1);
    assert_eq!(
        (string(damaged[0], "id"), damaged[0]["error"]["code"].as_str()),
        (bad.clone(), Some("RECORD_DAMAGED"))
    );
    // The read that met it degrades health at once.
    assert_eq!(health(&mut api), "degraded");
    api.get(&format!("/v1/events/{bad}")).fails(503, "RECORD_DAMAGED");
    let pack = recall(&mut api, "Where does the ledger lie?");
    let shown: Vec<String> = pack["layers"]["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| string(event, "id"))
        .collect();
    assert!(shown.contains(&good) && !shown.contains(&bad), "{shown:?}");
    assert_eq!(pack["damaged"][0]["id"], json!(bad), "{pack}");
    assert_eq!(pack["damaged"][0]["error"]["code"], "RECORD_DAMAGED");
    assert_eq!(pack["_partial"], json!(true));
    // The rest goes on.
    api.write("A new event");
    assert_eq!(list(&mut api).len(), 4);
}

#[test]
fn damaged_answer_costs_its_fact_and_not_the_page() {
    let own = Own::start();
    let mut api = own.api("faults-fact");
    api.write_settled("I live in Oslo.");
    let event = api.write_settled("My favorite color is zyxgreen.");
    let path = format!("/v1/facts?scope={}", api.scope);
    let before = api.get(&path).ok(200)["items"].as_array().unwrap().len();
    assert!(before >= 2, "{before}");
    let directory = own.stop();
    let data = data(directory.path());
    // The answer stands behind the event, and names the value again.
    let segment = files(&data.join("log")).remove(0);
    let found = bytes(&segment);
    let at = found.windows(8).rposition(|part| part == b"zyxgreen").unwrap();
    let mut damaged = found.clone();
    damaged[at] ^= 0x20;
    put(&segment, &damaged);
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let mut api = again(&own, &api.scope);
    let items = api.get(&path).ok(200)["items"].as_array().unwrap().clone();
    assert_eq!(items.len(), before, "{items:?}");
    let codes: Vec<&str> = items.iter().filter_map(|item| item["error"]["code"].as_str()).collect();
    assert!(!codes.is_empty() && codes.iter().all(|code| *code == "RECORD_DAMAGED"), "{items:?}");
    assert!(items.iter().any(|item| item["error"].is_null()), "{items:?}");
    assert_eq!(api.event(&event)["content"]["text"], "My favorite color is zyxgreen.");
    recall(&mut api, "Where do I live?");
    assert_eq!(health(&mut api), "degraded");
}

#[test]
fn damaged_or_missing_audit_log_stops_nothing_and_is_noticed() {
    for fault in [Fault::Flipped, Fault::Truncated, Fault::Missing] {
        let own = Own::start();
        let mut api = own.api("faults-audit");
        let event = api.write("remember the audit");
        api.get("/v1/audit?limit=1").ok(200);
        let directory = own.stop();
        let data = data(directory.path());
        code(&lamina(&["check", "--data", text(&data)]), 0);
        match fault {
            Fault::Missing => RealDisk.remove_dir_all(&data.join("audit")).unwrap(),
            Fault::Flipped | Fault::Truncated => {
                let segment = files(&data.join("audit/log")).remove(0);
                let mut damaged = bytes(&segment);
                let written = damaged.iter().rposition(|byte| *byte != 0).unwrap();
                match fault {
                    Fault::Flipped => damaged[written / 2] ^= 0x40,
                    _ => damaged.truncate(written / 2),
                }
                put(&segment, &damaged);
            }
        }
        let checked = lamina(&["check", "--data", text(&data)]);
        code(&checked, 2);
        assert!(out(&checked).contains("DAMAGED: audit"), "{fault:?}: {}", out(&checked));
        let server = launch(directory.path(), &[]).start().unwrap();
        let own = Own { server, directory };
        let mut api = again(&own, &api.scope);
        let report = api.get("/v1/health").ok(200);
        assert_eq!(report["status"], "degraded", "{fault:?}: {report}");
        assert!(report.to_string().contains("audit"), "{report}");
        assert_eq!(api.event(&event)["content"]["text"], "remember the audit");
        api.write("and go on");
        // Rows of writes are made again.
        let rows = api.get("/v1/audit?limit=50").ok(200);
        assert!(rows["items"].as_array().unwrap().len() >= 2, "{rows}");
        let directory = own.stop();
        // A restart does not forget it; accepting the loss does.
        let server = launch(directory.path(), &[]).start().unwrap();
        let own = Own { server, directory };
        let mut api = own.api("faults-audit");
        assert_eq!(health(&mut api), "degraded", "{fault:?}");
        let directory = own.stop();
        let repaired = lamina(&["repair", "--data", text(&data), "--accept-loss"]);
        code(&repaired, 0);
        assert!(out(&repaired).contains("accepted a loss"), "{}", out(&repaired));
        let server = launch(directory.path(), &[]).start().unwrap();
        let own = Own { server, directory };
        let mut api = own.api("faults-audit");
        assert_eq!(health(&mut api), "healthy", "{fault:?}");
        own.stop();
        code(&lamina(&["check", "--data", text(&data)]), 0);
    }
}

#[test]
fn exchanged_audit_log_is_noticed() {
    let stopped = || {
        let own = Own::start();
        own.api("faults-exchanged").write("something");
        own.stop()
    };
    let (directory, other) = (stopped(), stopped());
    let [one, two] = [&directory, &other].map(|one| data(one.path()).join("audit"));
    RealDisk.rename(&one, &one.with_extension("kept")).unwrap();
    RealDisk.rename(&two, &one).unwrap();
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("faults-exchanged");
    assert_eq!(health(&mut api), "degraded");
    api.write("it goes on");
}

/// A directory with several segments, stopped in order: its events by their words.
fn several_segments(count: usize) -> (Own, Vec<(String, String)>) {
    let own = Own::start();
    let mut api = own.api("faults-salvage");
    let mut events = Vec::new();
    for number in 0..count {
        let words = format!("entry {number} zyx{number}zyx {}", "x".repeat(600_000));
        events.push((api.write(&words), format!("zyx{number}zyx")));
    }
    (own, events)
}

fn salvage(data: &Path, to: &Path, expected: i32) -> String {
    let salvaged = lamina(&["salvage", "--data", text(data), "--to", text(to)]);
    code(&salvaged, expected);
    out(&salvaged)
}

#[test]
fn salvage_of_a_damaged_section_loses_that_event_alone() {
    let (own, events) = several_segments(9);
    let directory = own.stop();
    let (old, new) = (data(directory.path()), directory.path().join("new"));
    strike_words(&old, &events[2].1);
    // Nobody can open it any more without its views.
    RealDisk.remove_dir_all(&old.join("views")).unwrap();
    let told = salvage(&old, &new, 2);
    assert!(told.contains("the section `what` of entry"), "{told}");
    let again = lamina(&["salvage", "--data", text(&old), "--to", text(&new)]);
    assert!(err(&again).contains("is not empty"), "{}", err(&again));
    let moved = directory.path().join("data-old");
    RealDisk.rename(&old, &moved).unwrap();
    RealDisk.rename(&new, &old).unwrap();
    code(&lamina(&["check", "--data", text(&old)]), 0);
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("faults-salvage");
    for (id, words) in &events {
        if *words == events[2].1 {
            api.get(&format!("/v1/events/{id}")).fails(410, "RESOURCE_DELETED");
        } else {
            let text = string(&api.event(id)["content"], "text");
            assert!(text.contains(words), "{words}");
        }
    }
    api.write("it goes on");
    let directory = own.stop();
    code(&lamina(&["check", "--data", text(&data(directory.path()))]), 0);
}

#[test]
fn salvage_of_a_directory_that_lost_a_segment_gives_the_rest_for_import() {
    let (own, events) = several_segments(20);
    let directory = own.stop();
    let (old, new) = (data(directory.path()), directory.path().join("new"));
    let segments = files(&old.join("log"));
    assert!(segments.len() > 2, "{segments:?}");
    RealDisk.remove(&segments[1]).unwrap();
    RealDisk.remove_dir_all(&old.join("views")).unwrap();
    assert!(!serve(&old).status.success());
    let told = salvage(&old, &new, 2);
    assert!(told.contains("entries before this segment are gone"), "{told}");
    let report: Value = serde_json::from_slice(&bytes(&new.join("salvage/report.json"))).unwrap();
    assert!(report["loose_events"].as_u64().unwrap() > 0, "{report}");
    RealDisk.rename(&old, &directory.path().join("data-old")).unwrap();
    RealDisk.rename(&new, &old).unwrap();
    code(&lamina(&["check", "--data", text(&old)]), 0);
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("faults-salvage");
    let scope = string(&api.event(&events[0].0), "scope");
    let (_, last) = events.last().unwrap();
    let lines = bytes(&old.join("salvage/tenant-1.jsonl"));
    assert!(lines.windows(last.len()).any(|part| part == last.as_bytes()));
    import(&mut api, upload("format=jsonl", lines));
    let page = api.get(&format!("/v1/events?scope={scope}&limit=50")).ok(200).to_string();
    assert!(page.contains(last.as_str()), "an event behind the gap is imported");
}
