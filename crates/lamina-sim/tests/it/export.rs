//! Exports: every format and layer, the pinned point, scopes below, who may have them, and where they go
//! (R170, R329, R330, R387, C22).

mod denial;
mod destination;

use std::io::Read as _;

use lamina_portable::gzip::{GzipLimits, GzipReader};
use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::coverage::{check_schema, declaration, disputing, recurring};
use crate::harness::{Api, check_id, expect_event, string};

const LAYERS: [&str; 5] = ["events", "facts", "beliefs", "episodes", "concepts"];

/// Asks for an export of the scope.
fn export(api: &mut Api, more: &Value) -> Value {
    let mut body = json!({"scope": api.scope});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    let job = api.post("/v1/export", &body).ok(202);
    check_schema("export_job", &job);
    job
}

/// The lines of an export that came whole.
fn lines(job: &Value) -> Vec<Value> {
    let data = job["data"].as_str().unwrap_or_else(|| panic!("no data: {job}"));
    data.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<&str> =
        lines.iter().map(|line| line["lamina"]["line"].as_str().unwrap()).collect();
    kinds.dedup();
    kinds
}

fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["lamina"]["line"] == kind).collect()
}

fn texts(lines: &[Value]) -> Vec<String> {
    of_kind(lines, "event").iter().map(|line| string(&line["content"], "text")).collect()
}

fn inflate(bytes: &[u8]) -> GzipReader<&[u8]> {
    GzipReader::new(bytes, GzipLimits::IMPORT)
}

/// A scope with records of every layer.
fn fill(api: &mut Api) {
    let scope = api.scope.clone();
    api.write_settled("Ada works at Quillfeather.");
    for said in recurring(&scope) {
        api.post("/v1/experience?wait=settled", &said).ok(200);
    }
    api.post("/v1/understanding/synthesize", &json!({"scope": scope, "topics": []})).ok(202);
}

#[test]
fn r329_small_export_stands_in_the_answer_in_log_order() {
    let mut api = Api::shared("export-small");
    let ids: Vec<String> = (0..5).map(|n| api.write_settled(&format!("word {n}"))).collect();
    let job = export(&mut api, &json!({}));
    check_id(&string(&job, "export_id"), "exp");
    assert_eq!(
        (&job["status"], &job["format"], &job["view"]),
        (&json!("completed"), &json!("jsonl"), &json!("local"))
    );
    assert_eq!(job["layers"], json!(["events"]));
    let data = string(&job, "data");
    assert_eq!(job["estimated_size_bytes"], data.len());
    assert_eq!(job["size_bytes"], data.len());
    let id = string(&job, "export_id");
    assert_eq!(job["lifecycle_stream"], format!("/v1/lifecycle/stream?export_id={id}"));
    assert_eq!(job["data_url"], format!("/v1/export/{id}/data"));
    let lines = lines(&job);
    assert_eq!(kinds(&lines), ["header", "event"]);
    assert_eq!(lines[0]["lamina"]["scope"], api.scope.as_str());
    let exported: Vec<&str> = of_kind(&lines, "event")
        .iter()
        .map(|line| line["lamina"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(exported, ids);
    assert_eq!(texts(&lines), ["word 0", "word 1", "word 2", "word 3", "word 4"]);
    assert_eq!(job["report"]["by_kind"], json!({"event": 5, "header": 1}));
    // R330: the same job, without its bytes; and the bytes by themselves.
    let status = api.get(&format!("/v1/export/{id}")).ok(200);
    check_schema("export_job", &status);
    assert_eq!((&status["status"], &status["data"]), (&json!("completed"), &Value::Null));
    let fetched = api.get(&format!("/v1/export/{id}/data")).response;
    assert_eq!((fetched.status, fetched.text()), (200, data));
    assert_eq!(fetched.header("content-type"), Some("application/x-ndjson"));
    assert_eq!(fetched.header("cache-control"), Some("no-store"));
}

/// What was written is what comes out: an event line is the body that writes it.
#[test]
fn event_line_has_the_envelope_of_its_event() {
    let mut api = Api::shared("export-envelope");
    let said = json!({
        "scope": api.scope,
        "modality": "observation",
        "content": {"kind": "text", "text": "Quotes \" and\nlines, ünïcode 🦀"},
        "observed_actor": {"id": "agent:scribe", "session": "s-1"},
        "subject": {"id": "user:nora"},
        "context": {"observed_at": "2026-05-13T15:42:00Z", "labels": ["a", "b"], "intent": "note"},
        "directives": {"no_supersede": true},
        "language": "en",
        "idempotency_key": "export-envelope-1",
    });
    api.post("/v1/experience?wait=settled", &said).ok(200);
    let lines = lines(&export(&mut api, &json!({})));
    let line = of_kind(&lines, "event")[0];
    for member in ["scope", "modality", "content", "subject", "language", "idempotency_key"] {
        assert_eq!(line[member], said[member], "{member}");
    }
    assert_eq!(line["context"]["labels"], said["context"]["labels"]);
    assert_eq!(line["observed_actor"]["session"], "s-1");
    assert_eq!(line["directives"]["no_supersede"], true);
}

#[test]
fn every_layer_has_lines_with_supports() {
    let mut api = Api::shared("export-layers");
    fill(&mut api);
    let job = export(&mut api, &json!({"layers": LAYERS}));
    let lines = lines(&job);
    assert_eq!(kinds(&lines), ["header", "event", "fact", "belief", "episode", "concept"]);
    let events: Vec<&str> = of_kind(&lines, "event")
        .iter()
        .map(|line| line["lamina"]["id"].as_str().unwrap())
        .collect();
    for kind in ["fact", "episode"] {
        for line in of_kind(&lines, kind) {
            let supports = line["supports"].as_array().unwrap();
            assert!(!supports.is_empty(), "{line}");
            assert!(supports.iter().all(|id| events.contains(&id.as_str().unwrap())), "{line}");
        }
    }
    let fact = of_kind(&lines, "fact")[0];
    assert_eq!(fact["sentence"], "Ada works at Quillfeather");
    assert!(of_kind(&lines, "belief").iter().all(|line| line["supports"][0]["id"].is_string()));
    for concept in of_kind(&lines, "concept") {
        assert!(!concept["supports"].as_object().unwrap().is_empty(), "{concept}");
    }
    // The vendor's name of the same parameter.
    let job = export(&mut api, &json!({"include": ["facts"]}));
    let same: Vec<Value> = self::lines(&job);
    assert_eq!(kinds(&same), ["header", "fact"]);
    assert_eq!(of_kind(&same, "fact"), of_kind(&lines, "fact"));
}

#[test]
fn versions_that_were_replaced_are_exported_too() {
    let mut api = Api::shared("export-versions");
    for (day, said) in [("2025-01-10", "I live in Rome."), ("2025-06-10", "I moved to Bern.")] {
        let mut said = api.envelope(said);
        said["context"] = json!({"observed_at": format!("{day}T10:00:00Z")});
        api.post("/v1/experience?wait=settled", &said).ok(200);
    }
    let listed = format!("/v1/facts?scope={}&include_superseded=true&limit=200", api.scope);
    let mut listed: Vec<String> =
        crate::harness::ids(&api.get(&listed).ok(200)).into_iter().collect();
    let lines = lines(&export(&mut api, &json!({"layers": ["facts"]})));
    let mut exported: Vec<String> =
        of_kind(&lines, "fact").iter().map(|line| string(&line["lamina"], "id")).collect();
    listed.sort();
    exported.sort();
    assert!(listed.len() > 2, "{listed:?}");
    assert_eq!(exported, listed);
}

#[test]
fn every_format_is_whole_and_says_its_losses() {
    let mut api = Api::shared("export-formats");
    fill(&mut api);
    for (format, member) in [("mem0", "results"), ("zep", "episodes"), ("letta", "agents")] {
        let job = export(&mut api, &json!({"format": format, "layers": LAYERS}));
        let whole: Value = serde_json::from_str(&string(&job, "data")).unwrap();
        assert!(!whole[member].as_array().unwrap().is_empty(), "{format}: {whole}");
        let report = &job["report"];
        assert_eq!(report["format"], format);
        assert!(report["by_kind"]["event"].as_u64() == Some(4), "{report}");
        assert!(!report["changed"].as_array().unwrap().is_empty() || format == "zep", "{report}");
        let id = string(&job, "export_id");
        let status = api.get(&format!("/v1/export/{id}")).ok(200);
        assert_eq!(&status["report"], report, "the report stays with the job");
        let fetched = api.get(&format!("/v1/export/{id}/data")).response;
        assert_eq!(fetched.text(), string(&job, "data"), "{format}");
        assert_eq!(fetched.header("content-type"), Some("application/json"));
    }
    let body = json!({"scope": api.scope, "format": "floppy"});
    api.post("/v1/export", &body).fails_at(422, "INVALID_BODY", "format");
}

#[test]
fn as_of_pins_the_knowledge_that_is_exported() {
    let mut api = Api::shared("export-as-of");
    api.write_settled("before");
    let first = lines(&export(&mut api, &json!({})));
    let at = string(&of_kind(&first, "event")[0]["lamina"], "recorded_at");
    api.write_settled("after");
    let all = lines(&export(&mut api, &json!({"as_of": null})));
    assert_eq!(texts(&all), ["before", "after"]);
    let past = export(&mut api, &json!({"as_of": at}));
    assert_eq!(texts(&lines(&past)), ["before"]);
    // Pinned when it was asked for: the same bytes later.
    let now = export(&mut api, &json!({}));
    api.write_settled("later");
    let id = string(&now, "export_id");
    let fetched = api.get(&format!("/v1/export/{id}/data")).response.text();
    assert_eq!(fetched, string(&now, "data"));
    let body = json!({"scope": api.scope, "as_of": "2999-01-01T00:00:00Z"});
    api.post("/v1/export", &body).fails_at(422, "INVALID_TIMESTAMP", "as_of");
    let body = json!({"scope": api.scope, "as_of": "1999-01-01T00:00:00Z"});
    assert_eq!(kinds(&lines(&api.post("/v1/export", &body).ok(202))), ["header"]);
}

#[test]
fn descend_adds_the_scopes_below_in_log_order() {
    let mut api = Api::shared("export-below");
    let below = format!("{}/project:deep/user:nora", api.scope);
    api.write_settled("one");
    let said = crate::harness::envelope(&below, "two");
    api.post("/v1/experience?wait=settled", &said).ok(200);
    api.write_settled("three");
    assert_eq!(texts(&lines(&export(&mut api, &json!({})))), ["one", "three"]);
    let all = lines(&export(&mut api, &json!({"view": "descend"})));
    assert_eq!(texts(&all), ["one", "two", "three"]);
    assert_eq!(of_kind(&all, "event")[1]["scope"], below.as_str());
    assert_eq!(all[0]["lamina"]["descends"], true);
}

/// Cancelled events are in no list, and an export holds them with a line that says so.
#[test]
fn cancelled_event_is_exported_in_its_place_with_a_line() {
    let mut api = Api::shared("export-cancelled");
    let ids: Vec<String> = (0..3).map(|n| api.write_settled(&format!("said {n}"))).collect();
    api.post(&format!("/v1/lifecycle/memory-event/{}/cancel", ids[1]), &json!({})).ok(200);
    let lines = lines(&export(&mut api, &json!({})));
    assert_eq!(texts(&lines), ["said 0", "said 1", "said 2"]);
    assert_eq!(kinds(&lines), ["header", "event", "cancellation"]);
    let cancelled = of_kind(&lines, "cancellation");
    assert_eq!(cancelled.len(), 1);
    assert_eq!(cancelled[0]["event"], ids[1].as_str());
    assert_eq!(cancelled[0]["scope"], api.scope.as_str());
}

#[test]
fn decisions_have_lines_of_their_own() {
    let mut api = Api::shared("export-decisions");
    let scope = api.scope.clone();
    let words = json!({"name": "export-words", "scope": scope, "predicates": [{"id": "likes"}]});
    api.post("/v1/vocabularies", &words).ok(201);
    for said in disputing(&scope) {
        api.post("/v1/experience?wait=settled", &said).ok(200);
    }
    let page = api.get(&format!("/v1/conflicts?scope={scope}")).ok(200);
    let conflict = &page["conflicts"][0];
    let oslo = conflict["records"]
        .as_array()
        .unwrap()
        .iter()
        .find(|record| record.to_string().contains("Oslo"));
    let body = json!({"action": "pick", "winner": oslo.unwrap()["id"], "reason": "I asked"});
    api.post(&format!("/v1/conflicts/{}/resolve", string(conflict, "id")), &body).ok(200);
    api.post("/v1/beliefs", &declaration(&scope)).ok(201);
    let lines = lines(&export(&mut api, &json!({})));
    let own = ["header", "vocabulary", "event", "conflict_decision", "declared_belief"];
    assert_eq!(kinds(&lines), own);
    assert_eq!(of_kind(&lines, "vocabulary")[0]["predicates"][0]["id"], "likes");
    let decision = of_kind(&lines, "conflict_decision")[0];
    let winner = usize::try_from(decision["decision"]["winner"].as_u64().unwrap()).unwrap();
    assert_eq!(decision["claims"][winner]["object"]["value"], "Oslo");
    assert_eq!(
        (&decision["predicate"], &decision["reason"]),
        (&json!("lives_in"), &json!("I asked"))
    );
    let declared = of_kind(&lines, "declared_belief")[0];
    assert_eq!(declared["statement"], "It works.");
    // Nobody can look into the grounds of a declaration without support: it counts 0.7 at most.
    assert_eq!(declared["confidence"], 0.7);
}

#[test]
fn merged_entities_have_a_line_with_their_names() {
    let own = crate::harness::Own::start();
    let mut api = own.api("export-merged");
    api.write_settled("Acme is based in Rome.");
    api.write_settled("Globex is based in Oslo.");
    let id = |api: &mut Api, name: &str| {
        let page = api.get(&format!("/v1/entities?scope={}&name={name}", api.scope)).ok(200);
        string(&page["items"][0], "id")
    };
    let (globex, acme) = (id(&mut api, "Globex"), id(&mut api, "Acme"));
    api.post(&format!("/v1/entities/{globex}/merge"), &json!({"into": acme})).ok(200);
    let lines = lines(&export(&mut api, &json!({})));
    let merged = of_kind(&lines, "entity_merge");
    assert_eq!(merged.len(), 1, "{lines:?}");
    assert_eq!(
        (&merged[0]["from"]["name"], &merged[0]["into"]["name"]),
        (&json!("Globex"), &json!("Acme"))
    );
    api.post(&format!("/v1/entities/{globex}/split"), &json!({})).ok(200);
    let lines = self::lines(&export(&mut api, &json!({})));
    assert_eq!(of_kind(&lines, "entity_merge"), Vec::<&Value>::new(), "an undone merge is none");
}

/// R329: over a mebibyte there is no `data`; the bytes are fetched, plain or compressed.
#[test]
fn large_export_is_fetched_and_compressed_if_the_client_asks() {
    const INLINE_BYTES_MAX: usize = 1 << 20;
    let mut api = Api::shared("export-large");
    let filler = "memory ".repeat(5_000);
    let mut count = 0;
    let mut job = export(&mut api, &json!({}));
    while job["data"].is_string() {
        assert!(string(&job, "data").len() <= INLINE_BYTES_MAX);
        for _ in 0..8 {
            api.write(&format!("{count} {filler}"));
            count += 1;
        }
        job = export(&mut api, &json!({}));
    }
    assert_eq!(job["status"], "ready");
    let estimated = job["estimated_size_bytes"].as_u64().unwrap();
    let url = string(&job, "data_url");
    let plain = api.get(&url).response.text();
    assert!(plain.len() > INLINE_BYTES_MAX, "{}", plain.len());
    let ratio = estimated as f64 / plain.len() as f64;
    assert!((0.5..2.0).contains(&ratio), "{estimated} for {}", plain.len());
    assert_eq!(plain.lines().count(), count + 1);
    let request = Request::get(&url).header("Accept-Encoding", "br, gzip;q=0.8");
    let answer = api.send(&request).response;
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    let mut inflated = String::new();
    inflate(&answer.body).read_to_string(&mut inflated).unwrap();
    assert!(answer.body.len() * 10 < plain.len());
    assert_eq!(inflated, plain);
    let refused = Request::get(&url).header("Accept-Encoding", "gzip;q=0");
    assert_eq!(api.send(&refused).response.header("content-encoding"), None);
    let id = string(&job, "export_id");
    let status = api.get(&format!("/v1/export/{id}")).ok(200);
    assert_eq!(
        (&status["status"], &status["fraction_complete"]),
        (&json!("completed"), &json!(1.0))
    );
    let head = api.send(&Request::new("HEAD", &url)).response;
    assert_eq!((head.status, head.body.len()), (200, 0));
}

/// R387: whoever listens hears of progress and of the end; who comes later hears how it stands.
#[test]
fn r387_export_is_announced_on_the_stream() {
    let mut api = Api::shared("export-stream");
    api.write_settled("hello");
    let job = export(&mut api, &json!({}));
    let id = string(&job, "export_id");
    let mut stream = api.stream(&format!("export_id={id}"));
    let told = expect_event(&mut stream);
    assert_eq!(told.event, "export_complete");
    let body: Value = serde_json::from_str(&told.data).unwrap();
    assert_eq!(
        body["payload"],
        json!({
            "export_id": id,
            "url": format!("/v1/export/{id}/data"),
            "size_bytes": job["size_bytes"],
        })
    );
    // Of a whole scope, while it happens.
    let mut stream =
        api.stream(&format!("scope={}&events=export_progress,export_complete", api.scope));
    api.get(&format!("/v1/export/{id}/data"));
    let told = [expect_event(&mut stream), expect_event(&mut stream)];
    assert_eq!(
        told.each_ref().map(|event| event.event.as_str()),
        ["export_progress", "export_complete"]
    );
    let progress: Value = serde_json::from_str(&told[0].data).unwrap();
    assert!(progress["payload"]["fraction_complete"].as_f64().unwrap() > 0.0, "{progress}");
    // Nothing of it is kept.
    let page = api.get(&format!("/v1/lifecycle?export_id={id}")).ok(200);
    assert_eq!(page["items"], json!([]));
}

/// The job lives in memory: after a restart it is as unknown as one that never was.
#[test]
fn export_ends_with_the_server_and_leaves_nothing_behind() {
    let own = crate::harness::Own::start();
    let mut api = own.api("export-restart");
    api.write_settled("hello");
    let job = export(&mut api, &json!({}));
    let id = string(&job, "export_id");
    let own = own.restart();
    let mut api = own.api("export-restart");
    api.get(&format!("/v1/export/{id}")).fails(404, "NOT_FOUND");
    api.get(&format!("/v1/export/{id}/data")).fails(404, "NOT_FOUND");
    api.get("/v1/export/exp_00").fails(422, "INVALID_ID");
    api.get("/v1/export/imp_01890000000070008000000000000000").fails(422, "INVALID_ID");
}

#[test]
fn bad_requests_name_the_field() {
    let mut api = Api::shared("export-bad");
    let scope = api.scope.clone();
    for (more, field) in [
        (json!({"layers": []}), "layers"),
        (json!({"layers": ["words"]}), "layers[0]"),
        (json!({"include": ["events", "words"]}), "include[1]"),
        (json!({"view": "holistic"}), "view"),
        (json!({"destination": {"kind": "s3", "url": "s3://b/k"}}), "destination.kind"),
        (json!({"destination": {"kind": "url", "url": "s3://b/k"}}), "destination.url"),
        (
            json!({"destination": {"kind": "url", "url": "https://evil.example/"}}),
            "destination.url",
        ),
    ] {
        let mut body = json!({"scope": scope});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        api.post("/v1/export", &body).fails_at(422, "INVALID_BODY", field);
    }
    api.post("/v1/export", &json!({})).fails(400, "MISSING_REQUIRED_FIELD");
    api.send(
        &Request::new("POST", "/v1/export").bytes("{").header("Content-Type", "application/json"),
    )
    .fails(400, "INVALID_BODY");
}
