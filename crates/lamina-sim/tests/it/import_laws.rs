//! The laws of import: a dry run tells the truth, the same file twice writes nothing, a crash at any row changes
//! nothing, one bad row costs one row, both orderings give the same facts, and an erasure stays one.

use std::time::Duration;

use lamina_sim::process::run;
use serde_json::{Value, json};

use crate::harness::{Api, Own, binary, data, launch, string};
use crate::import::{archive_of, events, fixture, import, line, upload};

/// Sources of different shapes.
fn sources() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("openai", archive_of("chatgpt")),
        ("claude", archive_of("claude")),
        ("mem0", fixture("mem0/page.json")),
        ("zep", fixture("zep/graph.json")),
        ("letta", fixture("letta/version2.af")),
        ("mcp_memory", fixture("mcp-memory/memory.jsonl")),
        ("csv", fixture("csv/notes.csv")),
        ("jsonl", fixture("jsonl/envelopes.jsonl")),
    ]
}

/// A report without the one word in which a dry run differs.
fn without_dry(mut report: Value) -> Value {
    report.as_object_mut().unwrap().remove("dry_run");
    report
}

#[test]
fn law_a_dry_run_reports_what_the_real_run_reports() {
    let mut api = Api::shared("law-a");
    let base = api.scope.clone();
    for (format, bytes) in sources() {
        let query =
            format!("format={format}&scope={base}/project:{format}&modified=2026-05-01T00:00:00Z");
        for round in 0..2 {
            let dry = import(&mut api, upload(&format!("{query}&dry_run=true"), bytes.clone()));
            assert_eq!(
                (&dry["dry_run"], &dry["status"]),
                (&json!(true), &json!("completed")),
                "{dry}"
            );
            let real = import(&mut api, upload(&query, bytes.clone()));
            let reports = [dry["report"].clone(), real["report"].clone()].map(without_dry);
            assert_eq!(reports[0], reports[1], "{format}, round {round}");
        }
    }
    // Nothing of the dry runs is in the log: all events are of the real ones.
    let dry = import(
        &mut api,
        upload(
            &format!("format=jsonl&scope={base}/project:dry&dry_run=true"),
            line(&base, "tea", 1),
        ),
    );
    assert_eq!(dry["written"], 1);
    assert_eq!(events(&mut api, &format!("{base}/project:dry")), Vec::<Value>::new());
}

#[test]
fn law_b_same_file_writes_nothing_the_second_time() {
    let mut own = Own::start();
    let rows = ["equal", "equal", "other"].map(|text| line("user:nora", text, 1)).join("\n");
    let mut all = sources();
    all.push(("jsonl", rows.into_bytes()));
    let mut written = Vec::new();
    for (index, (format, bytes)) in all.iter().enumerate() {
        let mut api = own.api("law-b");
        let query = format!("format={format}&scope=project:p{index}&modified=2026-05-01T00:00:00Z");
        let job = import(&mut api, upload(&query, bytes.clone()));
        assert!(job["written"].as_u64().unwrap() > 0, "{job}");
        written.push(job["written"].clone());
    }
    assert_eq!(written.last(), Some(&json!(3)), "two equal rows of one file are two rows");
    own = own.restart();
    for round in ["restart", "rebuild"] {
        if round == "rebuild" {
            own = rebuilt(own);
        }
        for (index, (format, bytes)) in all.iter().enumerate() {
            let mut api = own.api("law-b");
            let query =
                format!("format={format}&scope=project:p{index}&modified=2026-05-01T00:00:00Z");
            let job = import(&mut api, upload(&query, bytes.clone()));
            let counts = (&job["written"], &job["known"], &job["replaced"]);
            assert_eq!(counts, (&json!(0), &written[index], &json!(0)), "{round}, {format}: {job}");
        }
    }
    own.stop();
}

/// Stops a server, makes its views anew and starts it.
fn rebuilt(own: Own) -> Own {
    let directory = own.stop();
    let path = data(directory.path());
    let rebuilt = run(&binary(), &["rebuild", "--data", path.to_str().unwrap()]).unwrap();
    assert!(rebuilt.status.success());
    Own { server: launch(directory.path(), &[]).start().unwrap(), directory }
}

/// An erasure takes the words; that they were here is still known when everything is made anew from the log. (That
/// 48 hours change nothing is a test of the engine, whose clock can be moved.)
#[test]
fn law_b_erased_rows_are_known_after_a_rebuild() {
    let own = Own::start();
    let mut api = own.api("law-b");
    let query = |index: usize, format: &str| {
        format!("format={format}&scope=project:p{index}&modified=2026-05-01T00:00:00Z")
    };
    let mut written = Vec::new();
    for (index, (format, bytes)) in sources().into_iter().enumerate() {
        let job = import(&mut api, upload(&query(index, format), bytes));
        written.push(job["written"].as_u64().unwrap());
        let body = json!({"scope": format!("project:p{index}"), "confirm_all": true});
        let erasure = string(&api.post("/v1/erasures", &body).ok(202), "erasure_id");
        while api.get(&format!("/v1/erasures/{erasure}")).ok(200)["status"] == "running" {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    let own = rebuilt(own).restart();
    let mut api = own.api("law-b");
    for (index, (format, bytes)) in sources().into_iter().enumerate() {
        for dry in ["&dry_run=true", ""] {
            let again = import(&mut api, upload(&(query(index, format) + dry), bytes.clone()));
            let counts = (&again["written"], &again["known"], &again["replaced"]);
            assert_eq!(counts, (&json!(0), &json!(0), &json!(0)), "{format}: {again}");
            let errors = again["errors"].as_array().unwrap();
            let erased = errors.iter().filter(|error| error["error"] == "RESOURCE_DELETED").count();
            assert_eq!(erased as u64, written[index], "{format}: {again}");
        }
    }
    own.stop();
}

#[test]
fn law_d_one_bad_row_costs_one_row() {
    let mut api = Api::shared("law-d");
    let scope = api.scope.clone();
    let good = |n: u32| line(&scope, &format!("note {n}"), n);
    let lines = [
        good(1),
        "{\"scope\": ".to_owned(),
        good(2),
        json!({"scope": scope, "modality": "conversation", "content": {"kind": "text"}}).to_string(),
        good(3),
        json!({"scope": "nonsense", "modality": "x", "content": {"kind": "text", "text": "x"},
               "context": {"observed_at": "2026-01-01T00:00:00Z"}})
        .to_string(),
        json!({"scope": scope, "modality": "x", "content": {"kind": "text", "text": "x"},
               "context": {"observed_at": "yesterday"}})
        .to_string(),
        json!({"scope": scope, "modality": "x", "content": {"kind": "text", "text": "x"},
               "context": {"observed_at": "2026-01-01T00:00:00Z", "recorded_at": "2026-01-01T00:00:00Z"}})
        .to_string(),
        good(4),
    ];
    for ordering in ["strict_temporal", "batch_throughput"] {
        let query = format!("format=jsonl&scope={scope}/project:{ordering}&ordering={ordering}");
        let moved = lines
            .join("\n")
            .replace(&format!("\"{scope}\""), &format!("\"{scope}/project:{ordering}\""));
        let job = import(&mut api, upload(&query, moved));
        assert_eq!((&job["written"], &job["failed"]), (&json!(4), &json!(5)), "{job}");
        let mut bad: Vec<(u64, String)> = job["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| (error["line"].as_u64().unwrap(), string(error, "error")))
            .collect();
        bad.sort();
        let lines: Vec<u64> = bad.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 4, 6, 7, 8], "{bad:?}");
        assert!(
            bad.iter().all(|(_, code)| code.chars().all(|c| c.is_ascii_uppercase() || c == '_')),
            "C03: {bad:?}"
        );
    }
}

/// The current facts of a scope, without ids.
fn facts(api: &mut Api, scope: &str) -> Vec<String> {
    let page = api.get(&format!("/v1/facts?scope={scope}&limit=1000")).ok(200);
    let name = |term: &Value| match term["name"].as_str() {
        Some(name) => name.to_owned(),
        None => term["value"].to_string(),
    };
    let fact = |fact: &Value| {
        let (subject, object) = (name(&fact["subject"]), name(&fact["object"]));
        let (from, to) = (&fact["valid_from"], &fact["valid_to"]);
        format!("{subject} {} {object} {from} {to}", fact["predicate"])
    };
    let mut facts: Vec<String> = page["items"].as_array().unwrap().iter().map(fact).collect();
    facts.sort();
    facts
}

fn settle(api: &mut Api, scope: &str) {
    let marker = crate::harness::envelope(scope, "The end.");
    api.post("/v1/experience?wait=settled", &marker);
}

#[test]
fn law_e_both_orderings_give_the_same_facts() {
    let rows = [
        "I live in Oslo.",
        "I live in Rome.",
        "I work at Acme.",
        "I live in Bergen.",
        "I like tea.",
    ];
    let mut lines: Vec<String> = rows
        .iter()
        .zip([5, 1, 3, 9, 7])
        .map(|(text, minute)| line("user:nora", text, minute * 1_440))
        .collect();
    lines.push(line("user:nora", "I work at Globex.", 8 * 1_440));
    let mut known = Vec::new();
    for ordering in ["strict_temporal", "batch_throughput"] {
        let own = Own::start();
        let mut api = own.api("law-e");
        let query = format!("format=jsonl&scope=user:nora&ordering={ordering}");
        let job = import(&mut api, upload(&query, lines.join("\n")));
        assert_eq!(job["written"], 6, "{job}");
        let order: Vec<String> = events(&mut api, "user:nora")
            .iter()
            .map(|event| event["context"]["observed_at"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(order.is_sorted(), ordering == "strict_temporal", "{order:?}");
        settle(&mut api, "user:nora");
        known.push(facts(&mut api, "user:nora"));
        own.stop();
    }
    assert!(!known[0].is_empty());
    assert_eq!(known[0], known[1]);
}

#[test]
fn law_g_erased_rows_stay_erased_until_somebody_says_otherwise() {
    let own = Own::start();
    let mut api = own.api("law-g");
    let secret = "Quillburg-9431";
    let lines = [
        line("user:nora", &format!("I live in {secret}."), 1),
        line("user:nora", &format!("{secret} is cold."), 2),
    ];
    let query = "format=jsonl&scope=user:nora";
    let source = lines.join("\n");
    assert_eq!(import(&mut api, upload(query, source.clone()))["written"], 2);
    let erased =
        api.post("/v1/erasures", &json!({"scope": "user:nora", "confirm_all": true})).ok(202);
    let id = string(&erased, "erasure_id");
    for _ in 0..400 {
        if api.get(&format!("/v1/erasures/{id}")).ok(200)["status"] == "completed" {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let again = import(&mut api, upload(query, source.clone()));
    assert_eq!((&again["written"], &again["failed"]), (&json!(0), &json!(2)), "{again}");
    assert!(
        again["errors"]
            .as_array()
            .unwrap()
            .iter()
            .all(|error| error["error"] == "RESOURCE_DELETED"),
        "{again}"
    );
    let directory = own.stop();
    let words = directory.path().join("words.txt");
    lamina_env::disk::write_atomic(&lamina_env::RealDisk, &words, secret.as_bytes()).unwrap();
    let path = data(directory.path());
    let absent = ["check", "--data", path.to_str().unwrap(), "--absent", words.to_str().unwrap()];
    let checked = run(&binary(), &absent).unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("law-g");
    let restored = import(&mut api, upload(&format!("{query}&restore_erased=true"), source));
    assert_eq!((&restored["written"], &restored["failed"]), (&json!(2), &json!(0)), "{restored}");
    own.stop();
}

/// Twenty times `kill -9` at a random row: the end is that of one run.
#[test]
fn law_c_crash_at_any_row_gives_the_end_of_one_run() {
    const ROUNDS: u64 = 20;
    const ROWS: u32 = 3_000;
    let mut rows: Vec<String> = (0..ROWS)
        .map(|n| line("user:nora", &format!("note {n} of the log"), (n * 7_919) % ROWS))
        .collect();
    rows.insert(1_234, "{broken".to_owned());
    let source = rows.join("\n");
    let summary = |job: &Value| {
        let mut report = job["report"].clone();
        report.as_object_mut().unwrap().retain(|name, _| name != "source");
        report
    };
    let whole = {
        let own = Own::start();
        let mut api = own.api("law-c");
        let job = import(&mut api, upload("format=jsonl&scope=user:nora", source.clone()));
        let end = (summary(&job), texts(&mut api));
        own.stop();
        end
    };
    assert_eq!(whole.1.len(), ROWS as usize);
    let mut cut = 0;
    for round in 0..ROUNDS {
        let own = Own::start();
        let mut client = own.server.client();
        let request = upload("format=jsonl&scope=user:nora", source.clone())
            .header("X-Cortex-Idempotency-Key", "law-c");
        let first = request.clone();
        // The answer waits for the job: the server is killed before it can come.
        let sending = std::thread::spawn(move || client.send_once(&first).is_ok());
        // Spread over the time that a job takes, so that rounds end at different rows.
        std::thread::sleep(Duration::from_millis(20 + round * 67));
        let own = own.crash();
        let is_answered = sending.join().unwrap();
        let mut api = own.api("law-c");
        let before = texts(&mut api).len();
        cut += u32::from(!is_answered && before < ROWS as usize);
        // The same key is the same job, if it had begun; else it begins now.
        let job = import(&mut api, request);
        assert_eq!(summary(&job), whole.0, "round {round}, {before} rows before");
        assert_eq!(texts(&mut api), whole.1, "round {round}");
        let again = import(&mut api, upload("format=jsonl&scope=user:nora", source.clone()));
        assert_eq!(
            (&again["written"], &again["known"]),
            (&json!(0), &json!(ROWS)),
            "round {round}"
        );
        own.stop();
    }
    assert!(cut > 0, "no round was killed before the end");
}

fn texts(api: &mut Api) -> Vec<String> {
    let mut texts: Vec<String> = events(api, "user:nora")
        .iter()
        .map(|event| event["content"]["text"].as_str().unwrap_or_default().to_owned())
        .collect();
    texts.sort();
    texts
}
