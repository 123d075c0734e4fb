//! Conflicts over HTTP, as published clients call them (clients 1.5): found, listed, decided, and read at
//! any point on the axis of knowledge.

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::coverage::check_schema;
use crate::harness::{Api, Own, string};

/// Says something at an instant and waits until it is derived from.
fn say(api: &mut Api, at: &str, text: &str) -> String {
    let mut envelope = api.envelope(text);
    envelope["context"] = json!({"observed_at": at});
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

const MORNING: &str = "2025-01-10T10:00:00Z";

/// Two people who cannot both be right, and what comes of it.
fn disputed(api: &mut Api) -> Value {
    say(api, MORNING, "I live in Rome.");
    say(api, MORNING, "I live in Oslo.");
    let page = api.get(&format!("/v1/conflicts?scope={}", api.scope)).ok(200);
    assert_eq!((&page["total"], &page["next_cursor"]), (&json!(1), &Value::Null));
    page["conflicts"][0].clone()
}

fn resolve(api: &mut Api, conflict: &Value, body: &Value) -> crate::harness::Answer {
    api.post(&format!("/v1/conflicts/{}/resolve", string(conflict, "id")), body)
}

/// The id of the record that says this.
fn side(conflict: &Value, object: &str) -> String {
    let records = conflict["records"].as_array().unwrap();
    string(records.iter().find(|record| record["object"] == object).unwrap(), "id")
}

fn lives_in(api: &mut Api, more: &str) -> Vec<String> {
    let target = format!("/v1/claims?scope={}&predicate=lives_in{more}", api.scope);
    let page = api.get(&target).ok(200);
    let mut found: Vec<String> = page["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| format!("{} {}", string(record, "object"), string(record, "status")))
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn a_disagreement_is_shown_with_a_record_for_each_side() {
    let mut api = Api::shared("conflicts");
    let conflict = disputed(&mut api);
    check_schema("conflict", &conflict);
    let id = string(&conflict, "id");
    assert_eq!(id.len(), 32, "a bare UUID: {id}");
    assert_eq!(conflict["kind"], "value_disagreement");
    assert_eq!(conflict["status"], "open");
    assert_eq!(conflict["subject"], "user:local");
    assert_eq!(conflict["predicate"], "lives_in");
    assert_eq!(conflict["valid_from"], MORNING);
    for null in ["resolved_at", "resolved_by", "resolution"] {
        assert_eq!(conflict[null], Value::Null, "{null}");
    }
    assert_eq!(conflict.get("confidence"), None, "Rome is no spelling of Oslo");
    let records = conflict["records"].as_array().unwrap();
    assert_eq!(records.len(), 2);
    for record in records {
        assert_eq!(record["status"], "disputed");
        assert_eq!(record["conflict_id"], id.as_str());
        assert_eq!(record["source_authority"], "user:local");
        assert_eq!(record["valid_from_basis"], "observed");
        assert_eq!(record["supports"].as_array().unwrap().len(), 1, "{record}");
    }
    // D12: hyphens are taken, and the fact points to its conflict.
    let hyphens =
        format!("{}-{}-{}-{}-{}", &id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]);
    assert_eq!(api.get(&format!("/v1/conflicts/{hyphens}")).ok(200), conflict);
    let facts = api.get(&format!("/v1/facts?scope={}", api.scope)).ok(200);
    assert_eq!(facts["items"][0]["conflict_id"], id.as_str());
    assert_eq!(facts["items"][0]["conflicting"].as_array().unwrap().len(), 2);
}

#[test]
fn r421_a_pick_is_known_from_when_it_was_made() {
    let mut api = Api::shared("conflicts-picked");
    let conflict = disputed(&mut api);
    let before = string(&conflict, "detected_at");
    let body = json!({"action": "pick", "winner": side(&conflict, "Oslo"), "reason": "asked"});
    let decided = resolve(&mut api, &conflict, &body).ok(200);
    check_schema("conflict", &decided);
    assert_eq!(decided["status"], "manually_resolved");
    assert_eq!(decided["resolved_by"], "user:local");
    assert_eq!(
        decided["resolution"],
        json!({"action": "pick", "winner": side(&conflict, "Oslo"), "reason": "asked"})
    );
    assert_eq!(lives_in(&mut api, ""), ["Oslo active"]);
    let known = format!("&known_as_of={before}");
    assert_eq!(lives_in(&mut api, &known), ["Oslo disputed", "Rome disputed"]);
    let id = string(&conflict, "id");
    for pin in ["as_of", "as_of_recorded", "known_as_of"] {
        let then = api.get(&format!("/v1/conflicts/{id}?{pin}={before}")).ok(200);
        assert_eq!(then["status"], "open", "{pin}");
        let page = api.get(&format!("/v1/conflicts?scope={}&{pin}={before}", api.scope)).ok(200);
        assert_eq!(page["total"], 1, "{pin}");
        api.get(&format!("/v1/conflicts/{id}?{pin}=2020")).fails(404, "NOT_FOUND");
    }
    let open = api.get(&format!("/v1/conflicts?scope={}", api.scope)).ok(200);
    assert_eq!(open["total"], 0);
    let all = api.get(&format!("/v1/conflicts?scope={}&status=all", api.scope)).ok(200);
    assert_eq!(all["conflicts"][0], decided);
    // The same words again do not open it again.
    say(&mut api, MORNING, "I live in Rome.");
    assert_eq!(lives_in(&mut api, ""), ["Oslo active"]);
}

#[test]
fn r204_a_decision_is_made_once_and_again_is_the_same() {
    let mut api = Api::shared("conflicts-once");
    let conflict = disputed(&mut api);
    let body = json!({"action": "dismiss", "reason": ""});
    let first = resolve(&mut api, &conflict, &body).ok(200);
    assert_eq!(first["status"], "dismissed");
    assert_eq!(resolve(&mut api, &conflict, &body).ok(200), first);
    let other = json!({"action": "pick", "winner": side(&conflict, "Oslo")});
    resolve(&mut api, &conflict, &other).fails(409, "CONFLICT_NOT_OPEN");
    // What was said first stands.
    assert_eq!(lives_in(&mut api, ""), ["Rome active"]);
}

#[test]
fn a_split_makes_both_true_one_after_the_other() {
    let mut api = Api::shared("conflicts-split");
    let conflict = disputed(&mut api);
    let body = json!({
        "action": "split",
        "boundary": "2025-03",
        "earlier": side(&conflict, "Rome"),
        "later": side(&conflict, "Oslo"),
    });
    let decided = resolve(&mut api, &conflict, &body).ok(200);
    assert_eq!(decided["resolution"]["boundary"], "2025-03-01T00:00:00Z");
    assert_eq!(lives_in(&mut api, "&valid_as_of=2025-02"), ["Rome active"]);
    assert_eq!(lives_in(&mut api, "&valid_as_of=2025-03"), ["Oslo active"]);
    assert_eq!(lives_in(&mut api, "&valid_as_of=2025-01-09"), [""; 0]);
    // Beliefs have the same ends.
    let rome = belief_in(&mut api, "Rome", "&as_of_valid=2025-02");
    let oslo = belief_in(&mut api, "Oslo", "");
    assert_eq!(believed(&mut api, "&as_of_valid=2025-02"), ["Rome supported"]);
    assert_eq!(rome["valid_from"], MORNING);
    assert_eq!(rome["valid_to"], "2025-03-01T00:00:00Z");
    assert_eq!((&oslo["valid_from"], &oslo["valid_to"]), (&rome["valid_to"], &Value::Null));
}

#[test]
fn new_information_is_a_record_and_goes_with_its_evidence() {
    let mut api = Api::shared("conflicts-news");
    let conflict = disputed(&mut api);
    let news = say(&mut api, "2025-06-01T10:00:00Z", "I moved to Bern.");
    let page = api.get(&format!("/v1/claims?scope={}&predicate=lives_in", api.scope)).ok(200);
    let bern = string(&page["records"][0], "id");
    let body = json!({"action": "new_information", "record": bern});
    let decided = resolve(&mut api, &conflict, &body).ok(200);
    assert_eq!(decided["resolution"], json!({"action": "new_information", "record": bern}));
    assert_eq!(lives_in(&mut api, "&valid_as_of=2025-02"), ["Bern active"]);
    api.post(&format!("/v1/lifecycle/memory-event/{news}/cancel"), &json!({})).ok(200);
    let id = string(&conflict, "id");
    assert_eq!(api.get(&format!("/v1/conflicts/{id}")).ok(200)["status"], "open");
    assert_eq!(lives_in(&mut api, "&valid_as_of=2025-02"), ["Oslo disputed", "Rome disputed"]);
}

/// The beliefs in where somebody lives: object and stance.
fn believed(api: &mut Api, more: &str) -> Vec<String> {
    let target = format!("/v1/beliefs?scope={}&predicate=lives_in{more}", api.scope);
    let page = api.get(&target).ok(200);
    let mut found: Vec<String> = page["items"].as_array().unwrap().iter().map(shown).collect();
    found.sort_unstable();
    found
}

fn shown(belief: &Value) -> String {
    format!("{} {}", string(&belief["claim"]["object"], "value"), string(belief, "stance"))
}

fn belief_in(api: &mut Api, object: &str, more: &str) -> Value {
    let target = format!("/v1/beliefs?scope={}&predicate=lives_in{more}", api.scope);
    let page = api.get(&target).ok(200);
    let found = page["items"].as_array().unwrap().iter();
    let mut found = found.filter(|belief| shown(belief).starts_with(object));
    found.next().unwrap().clone()
}

#[test]
fn beliefs_follow_a_decision_and_the_past_keeps_its_own() {
    let own = Own::start();
    let mut api = own.api("conflicts-beliefs");
    let conflict = disputed(&mut api);
    let (rome, oslo) = (belief_in(&mut api, "Rome", ""), belief_in(&mut api, "Oslo", ""));
    assert_eq!(believed(&mut api, ""), ["Oslo supported", "Rome supported"]);
    let before = string(&conflict, "detected_at");
    let body = json!({"action": "pick", "winner": side(&conflict, "Oslo"), "reason": "asked"});
    let decided = resolve(&mut api, &conflict, &body).ok(200);
    assert_eq!(believed(&mut api, ""), ["Oslo supported"]);
    assert_eq!(belief_in(&mut api, "Oslo", "")["id"], oslo["id"]);
    // Nothing of the past is lost, and why it ended is told.
    let known = format!("&as_of_recorded={before}");
    assert_eq!(believed(&mut api, &known), ["Oslo supported", "Rome supported"]);
    let id = string(&rome, "id");
    let history = api.get(&format!("/v1/beliefs/history?belief_id={id}")).ok(200);
    check_schema("belief_history", &history);
    assert_eq!(history["current"]["stance"], "deprecated", "{history}");
    assert_eq!(history["current"]["recorded_to"], decided["resolved_at"]);
    let last = history["versions"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["reason"], "conflict_resolved", "{history}");
    assert_eq!(last["recorded_from"], decided["resolved_at"]);
    // A crash changes none of it.
    let scope = api.scope.clone();
    drop(api);
    let own = own.crash();
    let mut api = own.api("conflicts-beliefs");
    api.scope = scope;
    let after = api.get(&format!("/v1/beliefs/history?belief_id={id}")).ok(200);
    assert_eq!(after["versions"], history["versions"]);
    // The same words again do not bring it back; of another time they do.
    say(&mut api, MORNING, "I live in Rome.");
    assert_eq!(believed(&mut api, ""), ["Oslo supported"]);
    say(&mut api, "2025-08-01T10:00:00Z", "I moved to Rome.");
    let now = believed(&mut api, "");
    assert!(now.iter().any(|belief| belief == "Rome supported"), "{now:?}");
}

#[test]
fn beliefs_stand_again_when_a_decision_is_taken_back() {
    let mut api = Api::shared("conflicts-beliefs-back");
    let conflict = disputed(&mut api);
    let body = json!({"action": "pick", "winner": side(&conflict, "Oslo")});
    resolve(&mut api, &conflict, &body).ok(200);
    let rome = |api: &mut Api| believed(api, "").into_iter().find(|one| one.starts_with("Rome"));
    assert_eq!(rome(&mut api), None);
    // Without the side that won there was nothing to decide.
    let records = conflict["records"].as_array().unwrap();
    let won = records.iter().find(|record| record["object"] == "Oslo").unwrap();
    let event = won["supports"][0].as_str().unwrap();
    api.post(&format!("/v1/lifecycle/memory-event/{event}/cancel"), &json!({})).ok(200);
    assert_eq!(believed(&mut api, ""), ["Rome supported"]);
}

#[test]
fn what_is_said_later_overtakes_and_what_is_cancelled_was_never_said() {
    let mut api = Api::shared("conflicts-overtaken");
    let conflict = disputed(&mut api);
    let id = string(&conflict, "id");
    let wrong = conflict["records"][0]["supports"][0].as_str().unwrap().to_owned();
    let left = string(&conflict["records"][1], "object");
    api.post(&format!("/v1/lifecycle/memory-event/{wrong}/cancel"), &json!({})).ok(200);
    assert_eq!(lives_in(&mut api, ""), [format!("{left} active")]);
    api.get(&format!("/v1/conflicts/{id}")).fails(410, "RESOURCE_DELETED");
    let dismiss = json!({"action": "dismiss"});
    resolve(&mut api, &conflict, &dismiss).fails(410, "RESOURCE_DELETED");
    let page = api.get(&format!("/v1/conflicts?scope={}&status=all", api.scope)).ok(200);
    assert_eq!(page["total"], 0);
}

#[test]
fn r398_a_directive_puts_what_is_said_beside_what_is_known() {
    let mut api = Api::shared("conflicts-beside");
    say(&mut api, MORNING, "I live in Rome.");
    let mut envelope = api.envelope("I live in Oslo.");
    envelope["context"] = json!({"observed_at": "2025-06-01T10:00:00Z"});
    envelope["directives"] = json!({"no_supersede": true, "extract": ["facts"], "embed": "lazy"});
    let event = api.post("/v1/experience?wait=consolidated", &envelope).ok(200);
    let event = api.get(&format!("/v1/events/{}", string(&event, "event_id"))).ok(200);
    assert_eq!(event["directives"]["no_supersede"], true);
    assert_eq!(lives_in(&mut api, "&valid_as_of=2025-02"), ["Rome active"]);
    assert_eq!(lives_in(&mut api, "&valid_as_of=2025-07"), ["Oslo disputed", "Rome disputed"]);
    // It is a directive of its own, and no stage of extraction; others there are none.
    for (directives, field) in [
        (json!({"extract": ["no_supersede"]}), "directives.extract[0]"),
        (json!({"no_supersede": "yes"}), "directives.no_supersede"),
        (json!({"never": true}), "directives.never"),
        (json!({"embed": "never"}), "directives.embed"),
    ] {
        let mut envelope = api.envelope("I live in Bern.");
        envelope["directives"] = directives.clone();
        let answer = api.post("/v1/experience", &envelope);
        assert_eq!(answer.response.status, 422, "{directives}");
        let error = answer.response.json().unwrap();
        assert_eq!(error["details"]["field"], field, "{directives}");
    }
    // Without facts nothing is learned.
    let mut envelope = api.envelope("I live in Bern.");
    envelope["directives"] = json!({"extract": ["entities"]});
    api.post("/v1/experience?wait=consolidated", &envelope).ok(200);
    assert_eq!(lives_in(&mut api, "").len(), 2);
}

#[test]
fn bad_questions_and_decisions_are_refused_by_name() {
    let mut api = Api::shared("conflicts-bad");
    let conflict = disputed(&mut api);
    let id = string(&conflict, "id");
    let scope = api.scope.clone();
    for (query, status, code) in [
        ("", 400, "MISSING_REQUIRED_FIELD"),
        ("scope=nobody", 422, "INVALID_SCOPE_GRAMMAR"),
        (&*format!("scope={scope}&status=closed"), 422, "INVALID_PARAMETER"),
        (&*format!("scope={scope}&cursor=x"), 422, "INVALID_CURSOR"),
        (&*format!("scope={scope}&cursor=-4"), 422, "INVALID_CURSOR"),
        (&*format!("scope={scope}&limit=0"), 422, "INVALID_PARAMETER"),
        (&*format!("scope={scope}&limit=1001"), 422, "INVALID_PARAMETER"),
        (&*format!("scope={scope}&as_of=soon"), 422, "INVALID_TIMESTAMP"),
        (&*format!("scope={scope}&view=sideways"), 422, "INVALID_PARAMETER"),
    ] {
        api.get(&format!("/v1/conflicts?{query}")).fails(status, code);
    }
    api.get("/v1/conflicts/nothing").fails(422, "INVALID_ID");
    api.get(&format!("/v1/conflicts/evt_{id}")).fails(422, "INVALID_ID");
    let unknown = "0190a1b2c3d47e5f8a9b0c1d2e3f4a5b";
    api.get(&format!("/v1/conflicts/{unknown}")).fails(404, "NOT_FOUND");
    let rome = side(&conflict, "Rome");
    for (body, field) in [
        (json!({}), "action"),
        (json!({"action": "toss"}), "action"),
        (json!({"action": "pick"}), "winner"),
        (json!({"action": "pick", "winner": unknown}), "winner"),
        (json!({"action": "pick", "winner": 5}), "winner"),
        (json!({"action": "pick", "winner": rome, "record": rome}), "record"),
        (json!({"action": "split", "boundary": "2025", "earlier": rome}), "later"),
        (json!({"action": "new_information", "record": unknown}), "record"),
        (json!({"action": "dismiss", "because": "x"}), "because"),
        (json!({"action": "dismiss", "reason": "x".repeat(2_001)}), "reason"),
    ] {
        let error = resolve(&mut api, &conflict, &body).fails(422, "INVALID_BODY");
        assert_eq!(error["details"]["field"], field, "{body}");
    }
    let soon = json!({"action": "split", "boundary": "soon", "earlier": rome, "later": rome});
    resolve(&mut api, &conflict, &soon).fails(422, "INVALID_TIMESTAMP");
    let target = format!("/v1/conflicts/{id}/resolve");
    api.send(&Request::new("POST", &target).bytes("pick")).fails(400, "INVALID_BODY");
    assert_eq!(api.get(&format!("/v1/conflicts/{id}")).ok(200)["status"], "open");
}

#[test]
fn a_cursor_is_a_number_and_pages_join_while_conflicts_come_and_go() {
    let mut api = Api::shared("conflicts-pages");
    for name in ["Bob", "Eva", "Karl", "Nina", "Olaf"] {
        say(&mut api, MORNING, &format!("{name} lives in Rome."));
        say(&mut api, MORNING, &format!("{name} lives in Oslo."));
    }
    let mut seen: Vec<String> = Vec::new();
    let mut target = format!("/v1/conflicts?scope={}&limit=2", api.scope);
    loop {
        let page = api.get(&target).ok(200);
        check_schema("conflict_page", &page);
        for conflict in page["conflicts"].as_array().unwrap().clone() {
            seen.push(string(&conflict, "subject"));
            resolve(&mut api, &conflict, &json!({"action": "dismiss"})).ok(200);
        }
        // One that comes meanwhile is not on a later page.
        let late = format!("Late{}", seen.len());
        say(&mut api, MORNING, &format!("{late} lives in Rome."));
        say(&mut api, MORNING, &format!("{late} lives in Oslo."));
        let Some(cursor) = page["next_cursor"].as_i64() else { break };
        target = format!("/v1/conflicts?scope={}&limit=2&cursor={cursor}", api.scope);
    }
    assert_eq!(seen, ["Olaf", "Nina", "Karl", "Eva", "Bob"]);
}

#[test]
fn r008_decisions_survive_a_crash_and_have_their_audit_row() {
    let own = Own::start();
    let mut api = own.api("conflicts-crash");
    let conflict = disputed(&mut api);
    let body = json!({"action": "pick", "winner": side(&conflict, "Rome"), "reason": "asked"});
    let decided = resolve(&mut api, &conflict, &body).ok(200);
    let (scope, id) = (api.scope.clone(), string(&conflict, "id"));
    drop(api);
    let own = own.crash();
    let mut api = own.api("conflicts-crash");
    assert_eq!(api.get(&format!("/v1/conflicts/{id}")).ok(200), decided);
    let page = api.get(&format!("/v1/conflicts?scope={scope}")).ok(200);
    assert_eq!(page["total"], 0);
    let rows = api.get("/v1/audit?capability=scope.write&limit=100").ok(200);
    // Two writes and the decision, made again from their entries if the crash took them.
    let rows = rows["items"].as_array().unwrap();
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(rows.iter().all(|row| row["actor"] == "user:local"), "{rows:?}");
}

#[test]
fn r301_a_scope_may_say_which_of_two_stands() {
    for (policy, expected) in [
        ("latest_wins", &["Oslo active"][..]),
        // Equally sure: nobody is ahead.
        ("strongest_wins", &["Oslo disputed", "Rome disputed"]),
        ("latest_wins_within_confidence_band", &["Oslo active"]),
        ("manual", &["Oslo disputed", "Rome disputed"]),
    ] {
        let mut api = Api::shared(&format!("conflicts-{policy}").replace('_', "-"));
        let policies = json!({"conflict_resolution": policy});
        api.post("/v1/scopes", &json!({"path": api.scope, "policies": policies})).ok(201);
        say(&mut api, MORNING, "I live in Rome.");
        say(&mut api, MORNING, "I live in Oslo.");
        assert_eq!(lives_in(&mut api, ""), expected, "{policy}");
        let open = api.get(&format!("/v1/conflicts?scope={}", api.scope)).ok(200)["total"].clone();
        assert_eq!(open, u64::from(expected.len() == 2), "{policy}");
        // What the other said stays known to have been said.
        let history =
            format!("/v1/claims/history?scope={}&subject=user:local&predicate=lives_in", api.scope);
        assert!(api.get(&history).ok(200)["history"].to_string().contains("Rome"), "{policy}");
    }
}

#[test]
fn r301_what_a_scope_settled_is_the_same_after_a_replay() {
    let own = Own::start();
    let mut api = own.api("conflicts-settled");
    let scope = api.scope.clone();
    let policies = json!({"conflict_resolution": "latest_wins"});
    api.post("/v1/scopes", &json!({"path": scope, "policies": policies})).ok(201);
    say(&mut api, MORNING, "I live in Rome.");
    say(&mut api, MORNING, "I live in Oslo.");
    let told = |api: &mut Api| {
        let history =
            format!("/v1/claims/history?scope={scope}&subject=user:local&predicate=lives_in");
        (
            lives_in(api, ""),
            api.get(&history).ok(200)["history"].clone(),
            api.get(&format!("/v1/conflicts?scope={scope}&status=all")).ok(200),
            api.get(&format!("/v1/beliefs?scope={scope}&as_of_recorded=2027-01-01T00:00:00Z"))
                .ok(200),
        )
    };
    let live = told(&mut api);
    assert_eq!(live.0, ["Oslo active"]);
    drop(api);
    let Own { server, directory } = own;
    server.stop().unwrap();
    let place = crate::harness::data(directory.path());
    crate::cli::code(&crate::cli::lamina(&["rebuild", "--data", crate::cli::text(&place)]), 0);
    let server = crate::harness::launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("conflicts-settled");
    api.scope.clone_from(&scope);
    assert_eq!(told(&mut api), live);
}
