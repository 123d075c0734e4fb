//! Ends and beginnings: what was acknowledged is there after `kill -9`, after `SIGTERM`, and after
//! the views were thrown away.

use std::path::{Path, PathBuf};

use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk, RealDisk};
use lamina_sim::client::{Client, Request};
use lamina_sim::process;
use serde_json::{Value, json};

use crate::cli::{code, lamina, text};
use crate::harness::{Api, Own, binary, data, ids, launch, string, unique_key};

/// A few events of every kind, a blob, a cancelled event; and how they read.
fn populate(api: &mut Api) -> Vec<(String, Value)> {
    let upload =
        Request::new("POST", "/v1/blobs").header("Content-Type", "text/plain").bytes("kept");
    let blob = string(&api.send(&upload).made(), "blob_id");
    let mut written = Vec::new();
    for number in 0..20 {
        let mut envelope = api.envelope(&format!("event {number} ünï"));
        envelope["context"]["labels"] = json!([format!("l{}", number % 3)]);
        envelope["observed_actor"] = json!({"id": format!("user:u{}", number % 2)});
        if number % 5 == 0 {
            envelope["content"]["media"] = json!([{"blob_id": blob}]);
        }
        written.push(api.write_envelope(&envelope));
    }
    let items: Vec<Value> = (0..10).map(|n| api.envelope(&format!("bulk {n}"))).collect();
    let answer = api.post("/v1/experience/bulk", &json!({"items": items})).ok(202);
    for result in answer["results"].as_array().unwrap() {
        written.push(string(result, "event_id"));
    }
    // What is derived of an event shows with it: nothing may be under way when it is looked at.
    written.push(api.write_settled("the last"));
    let cancelled = written[3].clone();
    api.post(&format!("/v1/lifecycle/memory-event/{cancelled}/cancel"), &json!({})).ok(200);
    written
        .into_iter()
        .map(|id| {
            let event = api.event(&id);
            (id, event)
        })
        .collect()
}

fn listing(api: &mut Api, scope: &str) -> Vec<Value> {
    ["", "&labels=l1", "&observed_actor=user:u1", "&view=holistic", "&modality=conversation"]
        .iter()
        .map(|filter| {
            let page = api.get(&format!("/v1/events?scope={scope}&limit=1000{filter}")).ok(200);
            page["items"].clone()
        })
        .collect()
}

#[test]
fn after_kill_9_everything_acknowledged_is_there() {
    let mut own = Own::start();
    let mut api = own.api("kill");
    let scope = api.scope.clone();
    let written = populate(&mut api);
    let before = listing(&mut api, &scope);
    for _ in 0..3 {
        own = own.crash();
        let mut api = own.api("again");
        for (id, event) in &written {
            assert_eq!(&api.event(id), event);
        }
        assert_eq!(listing(&mut api, &scope), before);
    }
}

#[test]
fn r008_dropping_the_views_changes_nothing() {
    let own = Own::start();
    let mut api = own.api("rebuild");
    let scope = api.scope.clone();
    let written = populate(&mut api);
    let before = listing(&mut api, &scope);
    let directory = own.stop();
    let path = data(directory.path());
    let output = process::run(&binary(), &["rebuild", "--data", path.to_str().unwrap()]).unwrap();
    assert!(output.status.success(), "{output:?}");
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("again");
    for (id, event) in &written {
        assert_eq!(&api.event(id), event);
    }
    assert_eq!(listing(&mut api, &scope), before);
}

/// An older log put back by hand, beside views that know of more.
#[test]
fn older_log_is_refused_and_then_served_without_the_history_of_the_newer_one() {
    let own = Own::start();
    own.api("older").write_settled("kept");
    let directory = own.stop();
    let folders = ["log", "checkpoints"].map(|name| data(directory.path()).join(name));
    let before = folders.each_ref().map(|folder| files(folder));
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("newer");
    for number in 0..3 {
        api.write_settled(&format!("lost {number}"));
    }
    let directory = own.stop();
    for (folder, files) in folders.iter().zip(&before) {
        RealDisk.remove_dir_all(folder).unwrap();
        RealDisk.create_dir_all(folder).unwrap();
        for (path, bytes) in files {
            write_atomic(&RealDisk, path, bytes).unwrap();
        }
    }
    let path = data(directory.path());
    code(&lamina(&["serve", "--data", text(&path), "--listen", "127.0.0.1:0"]), 2);
    code(&lamina(&["repair", "--data", text(&path), "--accept-loss"]), 0);
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("after");
    let scope = api.scope.clone();
    let id = api.write_settled("Maria works at Acme.");
    let rows = api.get(&format!("/v1/lifecycle?scope={scope}")).ok(200);
    assert_eq!(rows["items"].as_array().unwrap().len(), 4, "{rows}");
    assert!(rows["items"].as_array().unwrap().iter().all(|row| row["event_id"] == id.as_str()));
    assert_ne!(api.event(&id)["derives"], json!([]), "it went through its stages");
    api.get("/v1/lifecycle?limit=1000").ok(200);
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let names = RealDisk.list(folder).unwrap();
    let paths = names.iter().map(|name| folder.join(name));
    paths.map(|path| (path.clone(), read_file(&RealDisk, &path, 1 << 30).unwrap())).collect()
}

#[test]
fn ruling_9_keys_survive_a_crash_and_a_rebuild() {
    let own = Own::start();
    let mut api = own.api("keys");
    let envelope = api.envelope("once");
    let id = api.write_envelope(&envelope);
    let check = |own: &Own| {
        let mut api = own.api("again");
        let again = api.post("/v1/experience", &envelope);
        assert_eq!(again.header("x-cortex-replay"), Some("true"));
        assert_eq!(again.ok(202)["event_id"], id);
        let mut other = envelope.clone();
        other["content"]["text"] = json!("another");
        api.post("/v1/experience", &other).fails(409, "IDEMPOTENCY_CONFLICT");
        let key = string(&envelope, "idempotency_key");
        let found = api.get(&format!("/v1/experience/by-idempotency-key/{key}")).ok(200);
        assert_eq!(found["event_id"], id);
    };
    let own = own.crash();
    check(&own);
    let directory = own.stop();
    let path = data(directory.path());
    let output = process::run(&binary(), &["rebuild", "--data", path.to_str().unwrap()]).unwrap();
    assert!(output.status.success(), "{output:?}");
    let server = launch(directory.path(), &[]).start().unwrap();
    check(&Own { server, directory });
}

#[test]
fn cursors_and_offsets_go_on_after_a_restart() {
    let own = Own::start();
    let mut api = own.api("cursor");
    let scope = api.scope.clone();
    for number in 0..9 {
        api.write(&format!("n{number}"));
    }
    let whole = api.list(&format!("scope={scope}"));
    let page = api.get(&format!("/v1/events?scope={scope}&limit=4")).ok(200);
    let cursor = string(&page, "next_cursor");
    let last_offset = api.event(&whole[0])["wal_offset"].as_u64().unwrap();
    let own = own.restart();
    let mut api = own.api("again");
    let rest = api.get(&format!("/v1/events?scope={scope}&limit=100&cursor={cursor}")).ok(200);
    assert_eq!(ids(&rest), whole[4..], "the key of cursors is kept");
    let envelope = api.envelope("after");
    let answer = api.post("/v1/experience", &envelope).ok(202);
    assert!(answer["wal_offset"].as_u64().unwrap() > last_offset, "R105 across a restart");
}

/// A request that is under way when the server is asked to end is answered, and its write is kept.
#[test]
fn sigterm_lets_requests_finish() {
    let own = Own::start();
    let api = own.api("graceful");
    let envelope = api.envelope("under way");
    let body = envelope.to_string();
    let head = format!(
        "POST /v1/experience HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let (early, late) = body.split_at(20);
    let client = Client::new(own.server.address());
    let response = client
        .send_in_two(
            format!("{head}{early}").as_bytes(),
            || {
                // The request has reached its handler once another one on the same server was
                // answered after it.
                own.api("order").get("/v1/health").ok(200);
                own.server.terminate().unwrap();
            },
            late.as_bytes(),
        )
        .unwrap();
    assert_eq!(response.status, 202, "{}", response.text());
    let id = string(&response.json().unwrap(), "event_id");
    let Own { mut server, directory } = own;
    assert!(server.wait().unwrap().success());
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    assert_eq!(own.api("again").event(&id)["content"]["text"], "under way");
}

/// Writers that are cut off by an orderly end have lost nothing that was acknowledged.
#[test]
fn sigterm_under_load_keeps_every_acknowledged_write() {
    let own = Own::start();
    let api = own.api("load");
    let scope = api.scope.clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let mut client = api.another_client();
            let template = api.envelope("load");
            let sender = sender.clone();
            std::thread::spawn(move || {
                loop {
                    let mut envelope = template.clone();
                    envelope["idempotency_key"] = json!(unique_key());
                    match client.send_once(&Request::post("/v1/experience", &envelope)) {
                        Ok(answer) if answer.status == 202 => {
                            let id = string(&answer.json().unwrap(), "event_id");
                            sender.send(id).unwrap();
                        }
                        // 503 while it ends, or the connection is gone.
                        _ => break,
                    }
                }
            })
        })
        .collect();
    drop(sender);
    let mut acknowledged: Vec<String> = receiver.iter().take(200).collect();
    own.server.terminate().unwrap();
    acknowledged.extend(receiver.iter());
    for writer in writers {
        writer.join().unwrap();
    }
    let Own { mut server, directory } = own;
    assert!(server.wait().unwrap().success());
    let path = data(directory.path());
    let output = process::run(&binary(), &["check", "--data", path.to_str().unwrap()]).unwrap();
    assert!(output.status.success(), "{output:?}");
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("again");
    for id in &acknowledged {
        api.event(id);
    }
    let mut listed = 0;
    let mut cursor = String::new();
    loop {
        let page = api.get(&format!("/v1/events?scope={scope}&limit=1000{cursor}")).ok(200);
        listed += ids(&page).len();
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert!(listed >= acknowledged.len(), "{listed} < {}", acknowledged.len());
}

/// Ruling 15: the history of stages is kept beside the log; a crash may not leave an event stuck.
#[test]
fn stages_that_a_crash_interrupted_run_after_it() {
    let own = Own::start();
    let mut api = own.api("stages");
    let written: Vec<String> = (0..30).map(|n| api.write(&format!("n{n}"))).collect();
    let own = own.crash();
    let mut api = own.api("again");
    for id in written {
        let envelope = api.envelope("nudge");
        api.post("/v1/experience?wait=settled", &envelope).ok(200);
        let status = api.get(&format!("/v1/experience/status?event_id={id}")).ok(200);
        assert_eq!(status["found"], true);
        let state = api.get(&format!("/v1/lifecycle/memory-event/{id}")).ok(200);
        assert_eq!(state["stages_pending"], json!([]), "{state}");
    }
}

#[test]
fn blobs_survive_and_stay_in_use() {
    let own = Own::start();
    let mut api = own.api("blob");
    let upload = |api: &mut Api, text: &str| {
        let request = Request::new("POST", "/v1/blobs").header("Content-Type", "a/b").bytes(text);
        string(&api.send(&request).made(), "blob_id")
    };
    let used = upload(&mut api, "used");
    let free = upload(&mut api, "free");
    let mut envelope = api.envelope("x");
    envelope["content"]["media"] = json!([{"blob_id": used}]);
    api.write_envelope(&envelope);
    let own = own.crash();
    let mut api = own.api("again");
    let read = api.get(&format!("/v1/blobs/{used}")).response;
    assert_eq!((read.status, read.text().as_str()), (200, "used"));
    assert_eq!(read.header("content-type"), Some("a/b"));
    api.delete(&format!("/v1/blobs/{used}")).fails(409, "BLOB_IN_USE");
    api.delete(&format!("/v1/blobs/{free}")).ok(200);
    let own = own.crash();
    let status = own.api("third").get(&format!("/v1/blobs/{free}")).response.status;
    assert!(matches!(status, 404 | 410), "deleted stays deleted: {status}");
}

/// R420. A disk with less room than the operator wants kept free is a full one for writes.
#[test]
fn r420_a_full_disk_refuses_writes_and_nothing_else() {
    let own = Own::start();
    let id = own.api("full").write_settled("written while there was room");
    let directory = own.stop();
    let full = [("LAMINA_STORAGE_FREE_BYTES_MIN", "1048576GiB")];
    let server = launch(directory.path(), &full).start().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("full");

    let envelope = api.envelope("there is no room for this");
    for path in ["/v1/experience", "/v1/experience?wait=settled"] {
        let answer = api.post(path, &envelope);
        let seconds = answer.header("retry-after").map(|seconds| seconds.parse::<u32>().unwrap());
        assert!(seconds.is_some_and(|seconds| seconds > 0), "{path}: {seconds:?}");
        let error = answer.fails(503, "WAL_UNAVAILABLE");
        assert_eq!(error["retriable"], true);
    }
    let items = json!({"items": [envelope.clone()]});
    api.post("/v1/experience/bulk", &items).fails(503, "WAL_UNAVAILABLE");
    let upload = Request::new("POST", "/v1/blobs").bytes("bytes");
    api.send(&upload).fails(503, "WAL_UNAVAILABLE");

    assert_eq!(string(&api.event(&id), "id"), id);
    api.post(&format!("/v1/lifecycle/memory-event/{id}/cancel"), &json!({})).ok(200);
    assert_eq!(api.event(&id)["excluded_from_recall"], true);

    // The key of the refused write is not spent.
    let own = own.restart();
    own.api("full").write_envelope(&envelope);
}
