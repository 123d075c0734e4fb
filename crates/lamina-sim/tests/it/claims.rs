//! Claims over HTTP, as published clients ask for them (clients 1.5): every value, on both axes of time.

use serde_json::{Value, json};

use crate::coverage::check_schema;
use crate::harness::{Api, string};

fn say(api: &mut Api, at: &str, text: &str) -> String {
    let mut envelope = api.envelope(text);
    envelope["context"] = json!({"observed_at": at});
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

fn records(api: &mut Api, more: &str) -> Vec<Value> {
    let page = api.get(&format!("/v1/claims?scope={}{more}", api.scope)).ok(200);
    check_schema("claim_page", &page);
    page["records"].as_array().unwrap().clone()
}

fn objects(api: &mut Api, more: &str) -> Vec<String> {
    let mut found: Vec<String> =
        records(api, more).iter().map(|one| string(one, "object")).collect();
    found.sort_unstable();
    found
}

/// Rome from January, Oslo from June, learned in that order.
fn moved(api: &mut Api) -> (String, String) {
    say(api, "2025-01-10T10:00:00Z", "I live in Rome.");
    let rome = string(&records(api, "&predicate=lives_in")[0], "recorded_from");
    say(api, "2025-06-01T10:00:00Z", "I moved to Oslo.");
    let oslo = string(&records(api, "&predicate=lives_in")[0], "recorded_from");
    (rome, oslo)
}

#[test]
fn r063_what_was_so_then_as_known_then() {
    let mut api = Api::shared("claims");
    let (rome, oslo) = moved(&mut api);
    for (question, expected) in [
        ("", vec!["Oslo"]),
        ("&valid_as_of=2025-03-01", vec!["Rome"]),
        ("&as_of_valid=2025-03", vec!["Rome"]),
        ("&valid_as_of=2025", vec![]),
        ("&valid_as_of=2026", vec!["Oslo"]),
        ("&valid_during=2025-02..2025-03", vec!["Rome"]),
        ("&valid_during=2025-02..2025-07", vec!["Oslo", "Rome"]),
        ("&valid_during=2024..2025", vec![]),
        (&*format!("&known_as_of={rome}"), vec!["Rome"]),
        (&*format!("&as_of_recorded={rome}&valid_as_of=2025-07"), vec!["Rome"]),
        (&*format!("&known_as_of={oslo}&valid_as_of=2025-03"), vec!["Rome"]),
        ("&known_as_of=2020", vec![]),
        // R063, R421: one parameter for both axes.
        ("&as_of=2020-01-01T00:00:00Z", vec![]),
        // All conditions hold together: what was known then and is not any more is not current.
        (&*format!("&recorded_during={rome}..{oslo}&valid_as_of=2025-07"), vec![]),
        (
            &*format!(
                "&recorded_during={rome}..{oslo}&valid_as_of=2025-07&include_superseded=true"
            ),
            vec!["Rome"],
        ),
        ("&recorded_during=2020..2021", vec![]),
    ] {
        assert_eq!(
            objects(&mut api, &format!("&predicate=lives_in{question}")),
            expected,
            "{question}"
        );
    }
    // C32: the other ways to write a range.
    for range in [r#"["2025-02","2025-03"]"#, r#"{"from":"2025-02","to":"2025-03"}"#] {
        let encoded = range
            .replace('"', "%22")
            .replace('[', "%5B")
            .replace(']', "%5D")
            .replace('{', "%7B")
            .replace('}', "%7D");
        let question = format!("&predicate=lives_in&valid_during={encoded}");
        assert_eq!(objects(&mut api, &question), ["Rome"], "{range}");
    }
    // R374: what was replaced, when it is asked for.
    let ever = records(&mut api, "&predicate=lives_in&include_superseded=true&valid_as_of=2025-07");
    let mut told: Vec<String> = ever
        .iter()
        .map(|one| format!("{} {}", string(one, "object"), string(one, "status")))
        .collect();
    told.sort_unstable();
    assert_eq!(told, ["Oslo active", "Rome superseded"]);
}

#[test]
fn a_record_says_what_it_stands_on() {
    let mut api = Api::shared("claims-record");
    let event = say(&mut api, "2025-03-14T10:00:00Z", "Acme has 200 seats.");
    let found = records(&mut api, "&subject=Acme");
    let [record] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(record["subject"], "Acme");
    assert_eq!(record["predicate"], "count:seats");
    assert_eq!(record["object"], "200", "a record tells its object as text");
    assert_eq!(record["supports"], json!([event]));
    assert_eq!(record["source_authority"], "user:local");
    assert_eq!(record["redacted"], false);
    assert_eq!(record["valid_from_basis"], "observed");
    // The same id as the fact, without its prefix.
    let facts = api.get(&format!("/v1/facts?scope={}", api.scope)).ok(200);
    let fact = string(&facts["items"][0], "id");
    assert_eq!(fact, format!("fact_{}", string(record, "id")));
}

#[test]
fn the_history_of_a_claim_has_every_version_and_the_conflicts() {
    let mut api = Api::shared("claims-history");
    moved(&mut api);
    say(&mut api, "2025-06-01T10:00:00Z", "I live in Bern.");
    let target =
        format!("/v1/claims/history?scope={}&subject=user:local&predicate=lives_in", api.scope);
    let history = api.get(&target).ok(200);
    check_schema("claim_history", &history);
    assert_eq!(history["claim"]["subject"], "user:local");
    assert_eq!(history["claim"]["predicate"], "lives_in");
    let told: Vec<String> = history["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", string(one, "object"), string(one, "status")))
        .collect();
    // Learned in this order; the conflict between Oslo and Bern came last, with both its sides.
    assert_eq!(told.first().map(String::as_str), Some("Rome superseded"), "{told:?}");
    assert_eq!(told.iter().filter(|line| line.ends_with("disputed")).count(), 2, "{told:?}");
    let recorded: Vec<String> =
        history["history"].as_array().unwrap().iter().map(|r| string(r, "recorded_from")).collect();
    assert!(recorded.is_sorted(), "{recorded:?}");
    let conflicts = history["conflicts"].as_array().unwrap();
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0]["status"], "open");
    // Page by page it is the same, whatever is said meanwhile.
    let mut paged = Vec::new();
    let mut page = format!("{target}&limit=1");
    loop {
        let answer = api.get(&page).ok(200);
        assert!(answer["history"].as_array().unwrap().len() <= 1);
        paged.extend(answer["history"].as_array().unwrap().clone());
        say(&mut api, "2025-07-01T10:00:00Z", "I like tea.");
        let Some(cursor) = answer["next_cursor"].as_str() else { break };
        page = format!("{target}&limit=1&cursor={cursor}");
    }
    assert_eq!(&Value::Array(paged), &history["history"]);
    // Nobody was ever heard of.
    let target = format!("/v1/claims/history?scope={}&subject=Nobody&predicate=likes", api.scope);
    let nothing = api.get(&target).ok(200);
    assert_eq!((&nothing["history"], &nothing["claim"]["subject"]), (&json!([]), &json!("Nobody")));
}

#[test]
fn r198_pages_of_claims_join_between_the_sides_of_a_conflict() {
    let mut api = Api::shared("claims-pages");
    say(&mut api, "2025-01-10T10:00:00Z", "I live in Rome.");
    say(&mut api, "2025-01-10T10:00:00Z", "I live in Oslo.");
    say(&mut api, "2025-01-10T10:00:00Z", "I like tea.");
    let all: Vec<String> = records(&mut api, "").iter().map(|one| string(one, "id")).collect();
    assert_eq!(all.len(), 3);
    for limit in [1, 2] {
        let mut seen = Vec::new();
        let mut target = format!("/v1/claims?scope={}&limit={limit}", api.scope);
        loop {
            let page = api.get(&target).ok(200);
            let found = page["records"].as_array().unwrap();
            assert!(found.len() <= limit);
            seen.extend(found.iter().map(|one| string(one, "id")));
            // A page is asked with the knowledge of the first.
            say(&mut api, "2025-01-11T10:00:00Z", "I like snow.");
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            target = format!("/v1/claims?scope={}&limit={limit}&cursor={cursor}", api.scope);
        }
        if limit == 1 {
            assert_eq!(seen, all);
        } else {
            assert!(all.iter().all(|id| seen.contains(id)), "{seen:?}");
        }
    }
}

#[test]
fn bad_questions_are_refused() {
    let mut api = Api::shared("claims-bad");
    let scope = api.scope.clone();
    for (query, status, code) in [
        ("&valid_as_of=soon", 422, "INVALID_TIMESTAMP"),
        ("&valid_as_of=202", 422, "INVALID_TIMESTAMP"),
        ("&valid_as_of=2025-13", 422, "INVALID_TIMESTAMP"),
        ("&known_as_of=2025-02-30", 422, "INVALID_TIMESTAMP"),
        ("&valid_during=2025", 422, "INVALID_PARAMETER"),
        ("&valid_during=2025..2024", 422, "INVALID_PARAMETER"),
        ("&valid_during=2025..2025", 422, "INVALID_PARAMETER"),
        ("&recorded_during=%5B%222025%22%5D", 422, "INVALID_PARAMETER"),
        ("&limit=0", 422, "INVALID_PARAMETER"),
        ("&limit=1001", 422, "INVALID_PARAMETER"),
        ("&cursor=abc", 422, "INVALID_CURSOR"),
        ("&cursor=7", 422, "INVALID_CURSOR"),
        ("&include_superseded=perhaps", 422, "INVALID_PARAMETER"),
    ] {
        api.get(&format!("/v1/claims?scope={scope}{query}")).fails(status, code);
    }
    let long = "x".repeat(513);
    api.get(&format!("/v1/claims?scope={scope}&subject={long}")).fails(422, "INVALID_PARAMETER");
    api.get(&format!("/v1/claims?scope={scope}&subject={}", "x".repeat(512))).ok(200);
    api.get("/v1/claims").fails(400, "MISSING_REQUIRED_FIELD");
    for missing in ["&subject=a", "&predicate=b", ""] {
        let target = format!("/v1/claims/history?scope={scope}{missing}");
        api.get(&target).fails(400, "MISSING_REQUIRED_FIELD");
    }
    // A cursor of one list is none of another.
    say(&mut api, "2025-01-10T10:00:00Z", "I like tea. I like jazz.");
    let page = api.get(&format!("/v1/facts?scope={scope}&limit=1")).ok(200);
    let cursor = string(&page, "next_cursor");
    let target = format!("/v1/claims?scope={scope}&limit=1&cursor={cursor}");
    api.get(&target).fails(422, "INVALID_CURSOR");
}
