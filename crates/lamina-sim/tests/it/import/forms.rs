//! The forms of a request: inline, by upload, by URL; options; keys; limits.

use lamina_sim::client::Request;
use serde_json::{Value, json};

use super::{Sender, events, finished, import, line, upload};
use crate::harness::{Api, Own, data, string, unique_key};

/// The vendor client, its command line and its guide send the source in the body.
#[test]
fn inline_forms_of_lines_rows_and_data_write_the_same() {
    let mut api = Api::shared("import-forms");
    let base = api.scope.clone();
    let text = |scope: &str| line(scope, "I live in Oslo.", 1);
    for (form, at) in [("lines", "a"), ("texts", "b"), ("data", "c"), ("inline", "d")] {
        let scope = format!("{base}/project:{at}");
        let value: Value = serde_json::from_str(&text(&scope)).unwrap();
        let body = match form {
            "lines" => json!({"scope": scope, "lines": [value]}),
            "texts" => json!({"scope": scope, "lines": [text(&scope)]}),
            "data" => json!({"scope": scope, "data": text(&scope), "format": "jsonl"}),
            _ => {
                json!({"scope": scope, "source": {"format": "jsonl", "url": null, "inline": text(&scope)}})
            }
        };
        let answer = api.post("/v1/import", &body).ok(202);
        let job = finished(&mut api, &string(&answer, "import_id"));
        assert_eq!((&job["written"], &job["status"]), (&json!(1), &json!("completed")), "{job}");
        assert_eq!(events(&mut api, &scope).len(), 1, "{form}");
    }
}

#[test]
fn r321_mem0_goes_to_the_scope_of_each_user() {
    let mut api = Api::shared("import-mem0");
    let base = api.scope.clone();
    let body = json!({
        "scope_template": format!("{base}/user:{{user_id}}"),
        "source": {"format": "mem0_export_v3", "url": null, "inline": {"results": [
            {"id": "1", "memory": "Likes tea", "user_id": "ann", "run_id": "r-7", "agent_id": "helper",
             "created_at": "2026-01-05T10:00:00Z", "hash": "ab", "immutable": true},
            {"id": "2", "memory": "Likes coffee", "user_id": "ben", "created_at": "2026-01-05T10:00:00Z"},
            {"id": "3", "memory": "Nobody's", "created_at": "2026-01-05T10:00:00Z"},
            {"id": "4", "memory": "Escapes", "user_id": "x/org:y", "created_at": "2026-01-05T10:00:00Z"},
        ]}, "credentials_ref": null},
        "options": {"ordering": "strict_temporal", "preserve_timestamps": true,
                    "map_categories_to": "understanding", "extract": ["facts", "entities", "beliefs"],
                    "embed": "lazy", "skip_on_conflict": false},
    });
    let answer = api.post("/v1/import/mem0", &body).ok(202);
    let job = finished(&mut api, &string(&answer, "import_id"));
    assert_eq!((&job["written"], &job["failed"]), (&json!(2), &json!(2)), "{job}");
    let details: Vec<&str> = job["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["detail"].as_str().unwrap())
        .collect();
    assert!(details[0].contains("{user_id}"), "{details:?}");
    assert!(
        job["errors"]
            .as_array()
            .unwrap()
            .iter()
            .all(|error| error["error"] == "INVALID_SCOPE_GRAMMAR")
    );
    let ann = events(&mut api, &format!("{base}/user:ann"));
    assert_eq!(ann.len(), 1);
    let event = api.event(ann[0]["id"].as_str().unwrap());
    assert_eq!(event["observed_actor"]["id"], "agent:helper", "{event}");
    assert_eq!(event["observed_actor"]["session"], "r-7", "{event}");
    assert_eq!(event["modality"], "imported", "{event}");
    assert_eq!(event["context"]["observed_at"], "2026-01-05T10:00:00Z", "{event}");
    assert_eq!(event["directives"]["no_supersede"], true, "{event}");
    let labels = event["context"]["labels"].to_string();
    assert!(labels.contains("mem0_source_id") && labels.contains("mem0_hash"), "{labels}");
}

#[test]
fn format_of_an_upload_is_recognized_and_named() {
    let mut api = Api::shared("import-auto");
    let scope = api.scope.clone();
    let job = import(
        &mut api,
        upload(&format!("scope={scope}"), super::fixture("chatgpt/conversations.json")),
    );
    assert_eq!((&job["format"], &job["status"]), (&json!("openai"), &json!("completed")), "{job}");
    assert!(job["report"]["detected"].as_str().unwrap().contains("ChatGPT"), "{job}");
    let error = api.ask(upload(&format!("scope={scope}"), "hello")).fails_at(
        422,
        "INVALID_PARAMETER",
        "format",
    );
    assert!(error["message"].as_str().unwrap().contains("No format"), "{error}");
}

#[test]
fn request_without_a_target_or_a_known_format_is_refused() {
    let mut api = Api::shared("import-refused");
    let scope = api.scope.clone();
    api.ask(upload("format=mem0", "{}")).fails_at(400, "MISSING_REQUIRED_FIELD", "scope");
    api.ask(upload(&format!("format=colour&scope={scope}"), "{}")).fails_at(
        422,
        "INVALID_PARAMETER",
        "format",
    );
    api.ask(upload(&format!("format=jsonl&scope={scope}"), "")).fails_at(
        400,
        "INVALID_BODY",
        "source",
    );
    let wrong = Request::new("POST", &format!("/v1/import/zep?format=mem0&scope={scope}"))
        .header("Content-Type", "application/zip")
        .bytes("x");
    api.ask(wrong).fails_at(422, "INVALID_PARAMETER", "format");
    api.post("/v1/import", &json!({"scope": scope})).fails_at(422, "INVALID_BODY", "source");
    api.post(
        "/v1/import/mem0",
        &json!({"scope": scope, "source": {"format": "zep", "inline": "x"}}),
    )
    .fails_at(422, "INVALID_BODY", "source.format");
    api.get("/v1/import/imp_01890000000070008000000000000000").fails(404, "NOT_FOUND");
    api.get("/v1/import/evt_01890000000070008000000000000000").fails_at(
        422,
        "INVALID_ID",
        "import_id",
    );
}

#[test]
fn source_without_rows_fails_and_says_so() {
    let mut api = Api::shared("import-nothing");
    let scope = api.scope.clone();
    let job = import(&mut api, upload(&format!("format=zep&scope={scope}"), "{\"edges\":[]}"));
    assert_eq!(job["status"], "failed", "{job}");
    assert!(job["errors"][0]["detail"].as_str().unwrap().contains("no rows"), "{job}");
}

#[test]
fn urls_lead_only_where_the_operator_says() {
    let mut api = Api::shared("import-url");
    let scope = api.scope.clone();
    for (url, word) in [
        ("s3://bucket/export.jsonl.gz", "presigned"),
        ("http://127.0.0.1:1/x", "https"),
        ("https://127.0.0.1/x", "import.sources"),
        ("https://169.254.169.254/latest", "import.sources"),
        ("file:///etc/passwd", "https"),
    ] {
        let body = json!({"scope": scope, "source": {"format": "mem0", "url": url}});
        let error = api.post("/v1/import/mem0", &body).fails_at(422, "INVALID_BODY", "source.url");
        assert!(error["message"].as_str().unwrap().contains(word), "{url}: {error}");
    }
}

#[test]
fn r429_key_belongs_to_one_importer() {
    let mut api = Api::shared("import-key");
    let scope = api.scope.clone();
    let key = unique_key();
    let body = |text: &str| json!({"scope": scope, "lines": [line(&scope, text, 1)], "idempotency_key": key});
    let first = api.post("/v1/import/jsonl", &body("I like tea.")).ok(202);
    let again = api.post("/v1/import/jsonl", &body("I like tea."));
    assert_eq!(again.header("x-cortex-replay"), Some("true"));
    assert_eq!(again.ok(202)["import_id"], first["import_id"]);
    api.post("/v1/import/jsonl", &body("I like coffee.")).fails(409, "IDEMPOTENCY_CONFLICT");
    let other = json!({"scope": scope, "rows": [{"id": "1", "memory": "Likes tea"}], "idempotency_key": key});
    let other = api.post("/v1/import/mem0", &other).ok(202);
    assert_ne!(other["import_id"], first["import_id"]);
}

/// The limit holds at its edge, by length and for a body of unknown length, and leaves nothing behind.
#[test]
fn upload_is_limited_at_the_edge_of_import_bytes() {
    let own = Own::start_with(&[("LAMINA_LIMITS_IMPORT_BYTES", "1000")]);
    let mut api = own.api("import-limit");
    let scope = api.scope.clone();
    let mut bytes = line(&scope, "I like tea.", 1).into_bytes();
    bytes.resize(1_000, b'\n');
    let query = format!("format=jsonl&scope={scope}");
    let job = import(&mut api, upload(&query, bytes.clone()));
    assert_eq!(job["written"], 1, "{job}");
    bytes.push(b'\n');
    let error = api.ask(upload(&query, bytes.clone())).fails(413, "BODY_TOO_LARGE");
    assert_eq!(error["details"]["limit_bytes"], 1_000, "{error}");
    let inline = json!({"scope": scope, "data": String::from_utf8(bytes).unwrap()});
    api.post("/v1/import", &inline).fails(413, "BODY_TOO_LARGE");
    let directory = own.stop();
    let staged = data(directory.path()).join("imports");
    let left = lamina_env::Disk::list(&lamina_env::RealDisk, &staged).unwrap_or_default();
    assert_eq!(left, Vec::<String>::new());
}

/// Three jobs at once: two run, the third waits. Their sources are longer than those whose end an answer waits for,
/// so that each answer comes while its job is at work. Should a job be faster than the request that
/// cancels it, the sources grow.
#[test]
fn r328_cancelled_job_stays_cancelled() {
    let own = Own::start();
    let mut api = own.api("import-cancel");
    let are_cancelled = |rows: &u32| cancel_three(&mut api, *rows);
    let rows = [30_000, 120_000, 480_000, 1_920_000].into_iter().find(are_cancelled);
    assert!(rows.is_some(), "no job was slower than its cancellation");
    own.stop();
}

/// Begins three jobs and cancels each; `false` if one of them was over before.
fn cancel_three(api: &mut Api, rows: u32) -> bool {
    let base = format!("{}/project:rows{rows}", api.scope);
    let ids = ["a", "b", "c"].map(|name| {
        let scope = format!("{base}/project:{name}");
        let text = |n: u32| line(&scope, &format!("note {n} of many that are written"), n % 40_000);
        let source: Vec<String> = (0..rows).map(text).collect();
        let query = format!("format=jsonl&scope={scope}");
        string(&api.ask(upload(&query, source.join("\n"))).ok(202), "import_id")
    });
    let mut were_running = true;
    for (id, name) in ids.iter().zip(["a", "b", "c"]).rev() {
        let target = format!("/v1/import/{id}/cancel");
        let cancelled = api.send(&Request::new("POST", &target)).ok(200);
        let job = finished(api, id);
        if cancelled["cancellation_accepted"] == false {
            assert_eq!(job["status"], "completed", "{job}");
            were_running = false;
            continue;
        }
        assert_eq!(job["status"], "cancelled", "{job}");
        let written = job["written"].as_u64().unwrap();
        assert!(written < u64::from(rows), "{job}");
        let scope = format!("{base}/project:{name}");
        assert_eq!(events(api, &scope).len() as u64, written);
        let again = api.send(&Request::new("POST", &target)).ok(200);
        assert_eq!(again["cancellation_accepted"], false, "{again}");
    }
    were_running
}

/// A19: rows whose label is `concept:NAME` are events, and the concept of that name stands on them when the job is
/// over.
#[test]
fn concept_label_of_one_row_makes_a_concept_at_once() {
    let mut api = Api::shared("import-concept-once");
    let scope = api.scope.clone();
    let row = |id: &str, text: &str, day: u32, categories: Value| {
        json!({"id": id, "memory": text, "categories": categories, "run_id": format!("run-{id}"),
            "created_at": format!("2025-03-{day:02}T10:00:00Z")})
    };
    let rows = [
        row("1", "Nora likes olives.", 1, json!(["eating habits"])),
        row("2", "Nora has a bicycle.", 5, json!([])),
    ];
    let answer = api.post("/v1/import/mem0", &json!({"scope": scope, "rows": rows})).ok(202);
    finished(&mut api, &string(&answer, "import_id"));
    let labelled = events(&mut api, &scope);
    let labelled =
        labelled.iter().find(|event| event["context"]["labels"].to_string().contains("eat"));
    let labelled = string(labelled.unwrap(), "id");
    let shown = |api: &mut Api, target: &str| -> Vec<Value> {
        let page = api.get(&format!("{target}scope={scope}")).ok(200);
        page["items"].as_array().unwrap().clone()
    };
    let concepts = shown(&mut api, "/v1/understanding?");
    assert_eq!(concepts.len(), 1, "{concepts:?}");
    let concept = &concepts[0];
    assert_eq!(concept["name"], "eating habits", "{concept}");
    let supported = crate::harness::strings(&concept["supported_by"]["episodes"]);
    let episodes = shown(&mut api, "/v1/episodes?");
    let cited: Vec<String> = episodes
        .iter()
        .filter(|episode| supported.contains(&string(episode, "id")))
        .flat_map(|episode| crate::harness::strings(&episode["events"]))
        .collect();
    assert_eq!(cited, [labelled.as_str()], "{concept}");
    assert!(api.event(&labelled)["derives"].to_string().contains(&string(concept, "id")));
    let summary = string(concept, "summary");
    assert_eq!(summary, "eating habits: named in 1 episode. Nora likes olives.", "{concept}");
    assert_eq!(concept["supported_by"]["facts"].as_array().unwrap().len(), 1, "{concept}");
    assert_eq!(shown(&mut api, "/v1/understanding?topic=eating%20habits&").len(), 1);
    // Without its only event it is no concept any more.
    let body = json!({"scope": scope, "cascade": "redact_events",
        "selector": {"memory_ids": [labelled]}});
    api.post("/v1/forget", &body).ok(200);
    assert_eq!(shown(&mut api, "/v1/understanding?"), Vec::<Value>::new());
}

#[test]
fn concept_label_makes_a_concept_that_cites_its_events() {
    let mut api = Api::shared("import-concept");
    let scope = api.scope.clone();
    let rows = [
        ("1", "Today Acme asked for the renewal."),
        ("2", "Today Priya negotiates the renewal for Acme."),
        ("3", "The renewal of Acme is signed, says Priya."),
    ];
    let rows = rows.map(|(day, text)| {
        json!({"id": day, "memory": text, "categories": ["renewal"], "run_id": format!("r{day}"),
            "created_at": format!("2025-03-0{day}T10:00:00Z")})
    });
    let body =
        json!({"scope": scope, "rows": rows, "options": {"map_categories_to": "understanding"}});
    let answer = api.post("/v1/import/mem0", &body).ok(202);
    let job = finished(&mut api, &string(&answer, "import_id"));
    assert_eq!(job["written"], 3, "{job}");
    let written: Vec<String> =
        events(&mut api, &scope).iter().map(|event| string(event, "id")).collect();
    let page = api.get(&format!("/v1/understanding?scope={scope}")).ok(200);
    let concepts = page["items"].as_array().unwrap();
    let concept = concepts.iter().find(|concept| concept["things"].to_string().contains("renewal"));
    let concept = concept.unwrap_or_else(|| panic!("no concept of that name: {page}"));
    let episodes = crate::harness::strings(&concept["supported_by"]["episodes"]);
    let listed = api.get(&format!("/v1/episodes?scope={scope}")).ok(200);
    let mut cited: Vec<String> = Vec::new();
    for episode in listed["items"].as_array().unwrap() {
        if episodes.contains(&string(episode, "id")) {
            cited.extend(crate::harness::strings(&episode["events"]));
        }
    }
    cited.sort();
    let mut written = written;
    written.sort();
    assert_eq!(cited, written, "{concept}");
    // Where categories are not wanted as concepts there is no label.
    let none = format!("{scope}/project:none");
    let body = json!({"scope": none, "rows": rows, "options": {"map_categories_to": "none"}});
    let answer = api.post("/v1/import/mem0", &body).ok(202);
    finished(&mut api, &string(&answer, "import_id"));
    let labels: Vec<Value> =
        events(&mut api, &none).iter().map(|event| event["context"]["labels"].clone()).collect();
    assert!(!json!(labels).to_string().contains("concept:"), "{labels:?}");
}
