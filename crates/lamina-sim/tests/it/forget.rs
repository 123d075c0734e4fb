//! Forgetting over HTTP (R270-R276, R362-R365): what is named goes from every read, nothing else does, and
//! the words are in no file of the data directory any more.

use lamina_env::disk::read_file;
use lamina_env::{Disk, RealDisk};
use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::cli::{code, lamina, text};
use crate::coverage::check_schema;
use crate::harness::{Api, Own, check_id, data, expect_event, ids, launch, string, unique_key};

/// Says something and waits until it is derived from.
pub(crate) fn say(api: &mut Api, text: &str) -> String {
    let envelope = api.envelope(text);
    string(&api.post("/v1/experience?wait=settled", &envelope).ok(200), "event_id")
}

pub(crate) fn redact(api: &Api, ids: &[&str]) -> Value {
    json!({
        "scope": api.scope, "cascade": "redact_events", "confirm_all": false,
        "selector": {"memory_ids": ids}, "reason": "asked to",
    })
}

fn facts(api: &mut Api) -> usize {
    let page = api.get(&format!("/v1/facts?scope={}&include_superseded=true", api.scope)).ok(200);
    page["items"].as_array().unwrap().len()
}

#[test]
fn r272_r274_an_event_that_is_redacted_is_gone_from_every_read() {
    let mut api = Api::shared("forget");
    let kept = say(&mut api, "I live in Rome.");
    let gone = say(&mut api, "I live in Quaxley. My dog is called Vimto.");
    let scope = api.scope.clone();
    assert!(facts(&mut api) >= 3);
    let body = redact(&api, &[&gone]);
    let shown = api.post("/v1/forget/preview", &body).ok(200);
    check_schema("forget_preview", &shown);
    check_id(&string(&shown, "preview_id"), "fpvw");
    assert_eq!(ids(&api.get(&format!("/v1/events?scope={scope}")).ok(200)).len(), 2);
    let mut body = body;
    body["from_preview_id"] = shown["preview_id"].clone();
    let done = api.post("/v1/forget", &body).ok(200);
    check_schema("forgotten", &done);
    assert_eq!(done["deleted"], shown["estimated_deleted"]);
    assert_eq!((&done["requested"], &done["matched"]), (&json!(1), &json!(1)));
    assert_eq!(done["deleted"]["events"], 1);
    api.get(&format!("/v1/events/{gone}")).fails(410, "RESOURCE_DELETED");
    assert_eq!(ids(&api.get(&format!("/v1/events?scope={scope}")).ok(200)), [kept]);
    for target in [
        format!("/v1/facts?scope={scope}&include_superseded=true"),
        format!("/v1/facts/timeline?scope={scope}&subject=user:local"),
        format!("/v1/beliefs?scope={scope}&include_superseded=true"),
        format!("/v1/episodes?scope={scope}"),
        format!("/v1/entities?scope={scope}"),
        format!("/v1/lifecycle?scope={scope}"),
    ] {
        let text = api.get(&target).ok(200).to_string();
        assert!(!text.contains("Quaxley") && !text.contains("Vimto"), "{target}: {text}");
    }
    let asked = json!({"scope": scope, "query": "Where is Quaxley, and who is Vimto?"});
    let pack = api.post("/v1/recall", &asked).ok(200);
    let pack = pack["layers"].to_string();
    assert!(!pack.contains("Quaxley") && !pack.contains("Vimto"), "{pack}");
    // What it replaced is so again.
    let facts = api.get(&format!("/v1/facts?scope={scope}&predicate=lives_in")).ok(200);
    assert_eq!(facts["items"].as_array().unwrap().len(), 1, "{facts}");
    assert_eq!(facts["items"][0]["valid_to"], Value::Null);
    // The row of the audit log is there, and says by which right.
    let row = api.get(&format!("/v1/audit/{}", string(&done, "audit_id"))).ok(200);
    assert_eq!(row["capability"], "forget.cascade.redact_events");
}

#[test]
fn r273_derived_records_go_and_stay_away() {
    let mut api = Api::shared("forget-derived");
    let event = say(&mut api, "I live in Rome.");
    let scope = api.scope.clone();
    let belief = ids(&api.get(&format!("/v1/beliefs?scope={scope}")).ok(200));
    let body = json!({"scope": scope, "selector": {"predicate": "lives_in"}});
    let shown = api.post("/v1/forget/preview", &body).ok(200);
    let done = api.post("/v1/forget", &body).ok(200);
    assert_eq!(done["deleted"], shown["estimated_deleted"]);
    assert_eq!((&done["deleted"]["events"], &done["deleted"]["beliefs"]), (&json!(0), &json!(1)));
    api.event(&event);
    assert_eq!(facts(&mut api), 0);
    for belief in belief {
        api.get(&format!("/v1/beliefs/{belief}")).fails(410, "RESOURCE_DELETED");
    }
    assert_eq!(ids(&api.get(&format!("/v1/beliefs?scope={scope}")).ok(200)), [""; 0]);
    assert_eq!(ids(&api.get(&format!("/v1/episodes?scope={scope}")).ok(200)).len(), 1);
    // Somebody says it again: that is new.
    let again = say(&mut api, "I live in Rome.");
    let facts = api.get(&format!("/v1/facts?scope={scope}")).ok(200);
    assert_eq!(facts["items"][0]["supports"], json!([again]), "{facts}");
    // Everything that is derived, and nothing that is not.
    let body = json!({"scope": scope, "confirm_all": true});
    let done = api.post("/v1/forget", &body).ok(200);
    assert!(done["deleted"]["episodes"].as_u64() >= Some(1), "{done}");
    for layer in ["episodes", "facts", "beliefs", "understanding"] {
        let page = api.get(&format!("/v1/{layer}?scope={scope}")).ok(200);
        assert_eq!(ids(&page), [""; 0], "{layer}");
    }
    assert_eq!(ids(&api.get(&format!("/v1/events?scope={scope}")).ok(200)).len(), 2);
}

/// What was said for a fact is evidence for no belief either, whatever layers the filters look in.
#[test]
fn a_belief_goes_with_the_fact_that_it_stood_on() {
    for layers in [json!(null), json!(["facts"])] {
        let own = Own::start();
        let mut api = own.api("forget-beliefs");
        let event = say(&mut api, "Ann works at Initech.");
        say(&mut api, "Ben works at Initech.");
        let scope = api.scope.clone();
        let page = api.get(&format!("/v1/facts?scope={scope}")).ok(200);
        let page = page["items"].as_array().unwrap();
        let fact = string(page.iter().find(|one| one["subject"]["name"] == "Ann").unwrap(), "id");
        let page = api.get(&format!("/v1/beliefs?scope={scope}")).ok(200);
        let all = page["items"].as_array().unwrap().iter();
        let of_ann = all.filter(|one| one.to_string().contains("Ann")).map(|one| string(one, "id"));
        let of_ann: Vec<String> = of_ann.collect();
        assert_eq!((of_ann.len(), ids(&page).len()), (1, 2), "{page}");
        let body = json!({"scope": scope, "layers": layers, "selector": {"memory_ids": [fact]}});
        let shown = api.post("/v1/forget/preview", &body).ok(200);
        let done = api.post("/v1/forget", &body).ok(200);
        assert_eq!(done["deleted"], shown["estimated_deleted"]);
        assert_eq!(done["deleted"]["facts"], 1, "{done}");
        assert_eq!(done["deleted"]["beliefs"], 1, "{done}");
        let check = |api: &mut Api| {
            api.get(&format!("/v1/beliefs/{}", of_ann[0])).fails(410, "RESOURCE_DELETED");
            assert_eq!(ids(&api.get(&format!("/v1/beliefs?scope={scope}")).ok(200)).len(), 1);
            let asked = json!({"scope": scope, "query": "Where does Ann work?"});
            let pack = api.post("/v1/recall", &asked).ok(200);
            let beliefs = pack["layers"]["beliefs"].to_string();
            assert!(!beliefs.contains("Ann"), "{beliefs}");
            api.event(&event);
        };
        check(&mut api);
        // Nor when everything is made again.
        let held = own.stop();
        code(&lamina(&["rebuild", "--data", text(&data(held.path()))]), 0);
        code(&lamina(&["check", "--data", text(&data(held.path()))]), 0);
        let server = launch(held.path(), &[]).start().unwrap();
        let own = Own { server, directory: held };
        let mut api = own.api("forget-beliefs");
        api.scope.clone_from(&scope);
        check(&mut api);
    }
}

/// What is only said of others is what they are about, and no subject.
#[test]
fn an_episode_is_about_those_of_whom_something_is_said() {
    let mut api = Api::shared("forget-subjects");
    say(&mut api, "Ann works at Initech.");
    let scope = api.scope.clone();
    let shown = |api: &mut Api, filter: &str, name: &str| {
        let body = json!({"scope": scope, "selector": {filter: name}});
        let shown = api.post("/v1/forget/preview", &body).ok(200);
        shown["estimated_deleted"]["episodes"].as_u64()
    };
    assert_eq!(shown(&mut api, "about_subject", "Initech"), Some(0));
    assert_eq!(shown(&mut api, "about_entity", "Initech"), Some(1));
    assert_eq!(shown(&mut api, "about_subject", "Ann"), Some(1));
    let body = json!({"scope": scope, "selector": {"about_subject": "Initech"}});
    let done = api.post("/v1/forget", &body).ok(200);
    assert_eq!((&done["matched"], &done["deleted"]["episodes"]), (&json!(0), &json!(0)), "{done}");
}

/// A note is free text about somebody: it is not kept, and whoever has the request can prove it.
#[test]
fn r390_a_note_is_not_kept_and_the_hash_of_the_request_is() {
    let mut api = Api::shared("forget-notes");
    let event = say(&mut api, "I live in Rome.");
    let mut body = redact(&api, &[&event]);
    body["audit_note"] = json!("Whistlebrook asked for it");
    body.as_object_mut().unwrap().remove("reason");
    let done = api.post("/v1/forget", &body).ok(200);
    let row = api.get(&format!("/v1/audit/{}", string(&done, "audit_id"))).ok(200);
    assert!(!row.to_string().contains("Whistlebrook"), "{row}");
    let proof = json!({"audit_id": row["id"], "body": body.to_string()});
    assert_eq!(api.post("/v1/audit/verify", &proof).ok(200)["match"], true);
    let other = body.to_string().replace("Whistlebrook", "Somebody");
    let proof = json!({"audit_id": row["id"], "body": other});
    assert_eq!(api.post("/v1/audit/verify", &proof).ok(200)["match"], false);
}

#[test]
fn forgetting_somebody_reaches_what_was_said_by_their_other_name() {
    let told = [
        "Robert Miller works at Acme.",
        "Bobby lives in Oslo.",
        "Robert Miller is also known as Bobby.",
        "Clara Weiss lives in Rome.",
    ];
    for (cascade, filter) in [("derived_only", "about_subject"), ("redact_events", "about_entity")]
    {
        let mut api = Api::shared("forget-names");
        for text in told {
            say(&mut api, text);
        }
        let scope = api.scope.clone();
        let all = format!("/v1/facts?scope={scope}&include_superseded=true");
        let has =
            |api: &mut Api, word: &str| api.get(&all).ok(200)["items"].to_string().contains(word);
        assert!(has(&mut api, "Acme") && has(&mut api, "Oslo"));
        // Somebody whom nobody calls so is not reached.
        let mut body =
            json!({"scope": scope, "cascade": cascade, "selector": {filter: "Bobby Miller"}});
        assert_eq!(api.post("/v1/forget/preview", &body).ok(200)["matched"], 0);
        body["selector"] = json!({filter: "Robert Miller"});
        let shown = api.post("/v1/forget/preview", &body).ok(200);
        let done = api.post("/v1/forget", &body).ok(200);
        assert_eq!(done["deleted"], shown["estimated_deleted"]);
        assert!(done["deleted"]["facts"].as_u64() >= Some(2), "{cascade}: {done}");
        for word in ["Acme", "Oslo"] {
            assert!(!has(&mut api, word), "{cascade}: {word}");
        }
        let beliefs = api.get(&format!("/v1/beliefs?scope={scope}")).ok(200).to_string();
        assert!(!beliefs.contains("Oslo"), "{cascade}: {beliefs}");
        assert!(has(&mut api, "Rome"), "{cascade}: what is said of others stays");
        let words = api.get(&format!("/v1/events?scope={scope}")).ok(200).to_string();
        assert!(words.contains("Clara"), "{words}");
        assert_eq!(words.contains("Oslo"), cascade == "derived_only", "{words}");
    }
}

#[test]
fn r383_what_was_forgotten_is_announced_with_counts_only() {
    let mut api = Api::shared("forget-announced");
    let event = say(&mut api, "I live in Rome.");
    let mut stream = api.stream(&format!("scope={}&events=forgotten", api.scope));
    let body = redact(&api, &[&event]);
    api.post("/v1/forget", &body).ok(200);
    let row = expect_event(&mut stream).json().unwrap();
    check_schema("lifecycle_event", &row);
    assert_eq!((&row["event"], &row["event_id"]), (&json!("forgotten"), &Value::Null));
    assert_eq!(
        row["payload"],
        json!({"layer": "events", "count": 1, "by_actor": "user:local", "cascade": "redact_events"})
    );
    let rows = api.get(&format!("/v1/lifecycle?scope={}&events=forgotten", api.scope)).ok(200);
    assert_eq!(rows["items"][0], row);
}

#[test]
fn a_key_is_released_and_what_is_written_again_is_new() {
    let mut api = Api::shared("forget-keys");
    let envelope = api.envelope("I like tea.");
    let first = api.write_envelope(&envelope);
    let body = redact(&api, &[&first]);
    api.post("/v1/forget", &body).ok(200);
    let second = api.write_envelope(&envelope);
    assert_ne!(first, second);
    // The same request again forgets nothing more.
    let mut keyed = json!({
        "scope": api.scope, "cascade": "redact_events", "confirm_all": true,
        "idempotency_key": unique_key(),
    });
    let done = api.post("/v1/forget", &keyed).ok(200);
    assert_eq!(done["deleted"]["events"], 1);
    let third = api.write("I like tea again.");
    assert_eq!(api.post("/v1/forget", &keyed).ok(200), done);
    api.event(&third);
    keyed["selector"] = json!({"memory_ids": [third]});
    keyed["confirm_all"] = json!(false);
    api.post("/v1/forget", &keyed).fails(409, "IDEMPOTENCY_CONFLICT");
}

#[test]
fn r281_a_preview_is_its_callers_and_must_agree_with_what_is_there() {
    let mut api = Api::shared("forget-previews");
    say(&mut api, "I live in Rome.");
    let mut body = json!({"scope": api.scope, "cascade": "redact_events", "confirm_all": true});
    let shown = api.post("/v1/forget/preview", &body).ok(200);
    body["from_preview_id"] = shown["preview_id"].clone();
    let other = Request::post("/v1/forget", &body).header("X-Cortex-Actor", "user:mallory");
    api.send(&other).fails_at(422, "UNKNOWN_PREVIEW_ID", "from_preview_id");
    say(&mut api, "I live in Oslo.");
    api.post("/v1/forget", &body).fails(409, "PREVIEW_DRIFTED");
    assert_eq!(ids(&api.get(&format!("/v1/events?scope={}", api.scope)).ok(200)).len(), 2);
    let mut unknown = body.clone();
    unknown["from_preview_id"] = json!("fpvw_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b");
    api.post("/v1/forget", &unknown).fails_at(422, "UNKNOWN_PREVIEW_ID", "from_preview_id");
}

/// Requests of clients that are broken in one way each, with the selector they meant to send.
fn broken(scope: &str, event: &str) -> Vec<Value> {
    let id = event.strip_prefix("evt_").unwrap();
    let good = [
        json!({"memory_ids": [event]}),
        json!({"about_subject": "user:local"}),
        json!({"about_entity": "Rome"}),
        json!({"predicate": "lives_in"}),
        json!({"valid_during": ["2026-01-01", "2027-01-01"]}),
        json!({"recorded_during": {"from": "2026-01-01", "to": "2099-01-01"}}),
    ];
    let request =
        |selector: Value| json!({"scope": scope, "cascade": "redact_events", "selector": selector});
    let wrong: [Value; 9] = [
        json!(1),
        json!(true),
        json!([]),
        json!({}),
        json!([[]]),
        json!([1]),
        json!({"from": "2026-01-01"}),
        json!(["2026-01-01"]),
        json!(format!(" {id}")),
    ];
    let mut all = Vec::new();
    for selector in &good {
        let (name, value) = selector.as_object().unwrap().iter().next().unwrap();
        // Misspelt.
        let last = &name[..name.len() - 1];
        for other in [
            name.to_uppercase(),
            name.replace('_', ""),
            name.replace('_', "-"),
            format!("{name}_"),
            format!(" {name}"),
            format!("{name}s"),
            last.to_owned(),
            format!("selector.{name}"),
        ] {
            if other == *name {
                continue;
            }
            let mut selector = json!({});
            selector[other] = value.clone();
            all.push(request(selector));
        }
        // Null, or empty: nothing is selected.
        for nothing in [Value::Null, json!("")] {
            let mut selector = json!({});
            selector[name] = nothing;
            all.push(request(selector));
        }
        // Of the wrong type.
        for value in &wrong {
            let mut selector = json!({});
            selector[name] = value.clone();
            all.push(request(selector));
        }
        // Outside of the selector, or in a list.
        let mut flat = json!({"scope": scope, "cascade": "redact_events"});
        flat[name] = value.clone();
        all.push(flat.clone());
        flat["confirm_all"] = json!(true);
        all.push(flat);
        all.push(request(json!([selector])));
        all.push(request(json!(selector.to_string())));
        // Everything and something at once.
        let mut both = request(selector.clone());
        both["confirm_all"] = json!(true);
        all.push(both);
        // With a cascade, layers or a confirmation that is none.
        for (field, value) in [
            ("cascade", json!("events_too")),
            ("cascade", json!("delete")),
            ("cascade", json!(1)),
            ("layers", json!([])),
            ("layers", json!("events")),
            ("layers", json!(["event"])),
            ("confirm_all", json!("false")),
            ("selectors", json!({})),
            ("scope", json!("")),
        ] {
            let mut request = request(selector.clone());
            request[field] = value;
            all.push(request);
        }
    }
    all.extend([
        json!({"scope": scope}),
        json!({"scope": scope, "confirm_all": false}),
        json!({"scope": scope, "confirm_all": null}),
        json!({"scope": scope, "confirm-all": true}),
        json!({"confirm_all": true}),
        json!({"scopes": [scope], "confirm_all": true}),
        json!([]),
        json!("forget"),
        json!(null),
    ]);
    all
}

#[test]
fn a_broken_client_deletes_nothing_that_it_did_not_name() {
    let mut api = Api::shared("forget-broken");
    let event = say(&mut api, "I live in Rome.");
    let scope = api.scope.clone();
    let shown = |api: &mut Api| {
        ["events", "episodes", "facts", "beliefs"]
            .map(|layer| ids(&api.get(&format!("/v1/{layer}?scope={scope}")).ok(200)))
    };
    let before = shown(&mut api);
    let requests = broken(&scope, &event);
    assert!(requests.len() >= 200, "{}", requests.len());
    for body in &requests {
        for route in ["/v1/forget", "/v1/forget/preview"] {
            let answer = api.post(route, body).response;
            assert!(matches!(answer.status, 400 | 422), "{body}: {}", answer.text());
        }
    }
    assert_eq!(shown(&mut api), before);
    // A selector that is well formed and means nobody forgets nothing.
    for selector in [
        json!({"memory_ids": ["evt_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b"]}),
        json!({"about_subject": "user:nobody"}),
        json!({"about_entity": "ent_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b"}),
        json!({"about_entity": "ent_acme_corp"}),
        json!({"predicate": "livesin"}),
        json!({"valid_during": ["1999-01-01", "1999-02-01"]}),
        json!({"about_subject": "user:local", "predicate": "likes"}),
    ] {
        let body = json!({"scope": scope, "cascade": "redact_events", "selector": selector});
        let done = api.post("/v1/forget", &body).ok(200);
        assert_eq!(done["matched"], 0, "{body}");
    }
    assert_eq!(shown(&mut api), before);
}

/// Every file below a directory that holds a text.
pub(crate) fn holding(directory: &std::path::Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(folder) = open.pop() {
        for name in RealDisk.list(&folder).unwrap() {
            let path = folder.join(name);
            if RealDisk.list(&path).is_ok() {
                open.push(path);
                continue;
            }
            let bytes = read_file(&RealDisk, &path, 1 << 30).unwrap();
            if bytes.windows(text.len()).any(|at| at == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn the_words_and_the_blob_are_in_no_file_of_the_log() {
    let own = Own::start();
    let mut api = own.api("forget-bytes");
    let upload = Request::new("POST", "/v1/blobs")
        .header("Content-Type", "text/plain")
        .bytes("the blob says Wibblewort");
    let blob = string(&api.send(&upload).made(), "blob_id");
    let mut envelope = api.envelope("I live in Quaxley.");
    envelope["content"]["media"] = json!([{"blob_id": blob}]);
    let event = string(&api.post("/v1/experience?wait=settled", &envelope).ok(200), "event_id");
    let cancelled = say(&mut api, "My dog is called Vimto.");
    let target = format!("/v1/lifecycle/memory-event/{cancelled}/cancel");
    api.post(&target, &json!({})).ok(200);
    let root = data(own.directory.path());
    for word in ["Quaxley", "Vimto", "Wibblewort"] {
        let log = holding(&root.join("log"), word);
        let blobs = holding(&root.join("blobs"), word);
        assert!(!log.is_empty() || !blobs.is_empty(), "{word} is found before");
    }
    let body = json!({"scope": api.scope, "cascade": "redact_events", "confirm_all": true});
    let done = api.post("/v1/forget", &body).ok(200);
    assert_eq!(done["deleted"]["events"], 2);
    api.get(&format!("/v1/events/{event}")).fails(410, "RESOURCE_DELETED");
    api.get(&format!("/v1/blobs/{blob}")).fails(404, "NOT_FOUND");
    for word in ["Quaxley", "Vimto", "Wibblewort"] {
        for folder in ["log", "blobs", "audit"] {
            assert_eq!(holding(&root.join(folder), word), [""; 0], "{word}");
        }
    }
    // Nor does it come back with a crash.
    let own = own.crash();
    let mut api = own.api("forget-bytes");
    api.get(&format!("/v1/events/{event}")).fails(410, "RESOURCE_DELETED");
}
