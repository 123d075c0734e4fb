//! Episodes over HTTP: events that belong together, named by their words, sealed, and carried on.

use lamina_sim::process;
use serde_json::{Value, json};

use crate::harness::{Api, Own, binary, check_id, data, expect_event, launch, string, strings};

/// Says something at an instant, in a session, and waits until it is derived from.
fn say(api: &mut Api, session: &str, at: &str, text: &str) -> String {
    said(api, session, at, json!({"kind": "message", "role": "user", "text": text}), json!([]))
}

fn said(api: &mut Api, session: &str, at: &str, content: Value, preceded_by: Value) -> String {
    let mut envelope = api.envelope("");
    envelope["observed_actor"] = json!({"id": "user:local", "type": "user", "session": session});
    envelope["content"] = content;
    envelope["context"] = json!({"observed_at": at, "preceded_by": preceded_by});
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

/// The episodes, the first known first.
fn episodes(api: &mut Api, more: &str) -> Vec<Value> {
    let page = api.get(&format!("/v1/episodes?scope={}&limit=1000{more}", api.scope)).ok(200);
    assert_eq!(page["has_more"], false, "{page}");
    let mut items = page["items"].as_array().cloned().expect("a page has items");
    items.reverse();
    items
}

fn seal(api: &mut Api) -> Value {
    let body = json!({"scope": api.scope, "seal": true});
    api.post("/v1/episodes/build", &body).ok(200)
}

#[test]
fn r046_r214_events_of_a_session_are_an_episode_named_by_their_words() {
    let mut api = Api::shared("episodes");
    let first = say(&mut api, "s1", "2025-03-14T10:00:00Z", "Acme wants to renew the contract.");
    let second = say(&mut api, "s1", "2025-03-14T10:05:00Z", "The contract with Acme is signed.");
    let other = say(&mut api, "s2", "2025-03-14T10:03:00Z", "Lunch is at noon in the garden.");
    let found = episodes(&mut api, "");
    assert_eq!(found.len(), 2, "{found:#?}");
    let episode = &found[0];
    check_id(&string(episode, "id"), "ep");
    assert_eq!(episode["episode_id"], episode["id"], "the name that clients read");
    assert_eq!(episode["scope"], api.scope);
    assert_eq!(strings(&episode["events"]), [first.clone(), second]);
    assert_eq!(episode["supports"], episode["events"], "R051");
    assert_eq!(episode["started_at"], "2025-03-14T10:00:00Z");
    assert_eq!(episode["valid_from"], episode["started_at"]);
    assert_eq!(episode["valid_to"], Value::Null);
    assert_eq!(episode["recorded_to"], Value::Null);
    assert!(string(episode, "recorded_from").starts_with("20"), "R009");
    assert_eq!(strings(&episode["actors_involved"]), ["user:local"]);
    assert!(string(episode, "name").contains("Acme"), "{episode}");
    assert!(string(episode, "summary").contains("Acme wants to renew the contract."), "{episode}");
    assert!(episode["centrality_score"].is_number(), "{episode}");
    // It goes on: nothing says that it is over.
    assert_eq!((&episode["state"], &episode["ended_at"]), (&json!("open"), &Value::Null));
    assert_eq!(episode["_partial"], true, "R428");
    assert_eq!(episode["_partial_reason"], "episode_open");
    assert!(episode.get("causal_chain").is_none(), "only if it is asked for");
    assert_eq!(strings(&found[1]["events"]), [other]);
    // R212: the event points to its episode.
    let derives = strings(&api.event(&first)["derives"]);
    assert!(derives.contains(&string(episode, "id")), "{derives:?}");
    let status = api.get(&format!("/v1/derivation/status?scope={}", api.scope)).ok(200);
    assert_eq!(status["built"]["episodes"], 2);
}

#[test]
fn r050_pauses_and_topics_end_an_episode() {
    let mut api = Api::shared("episodes-end");
    let garden = "The roses and tulips in the garden need watering, compost and a sharp spade.";
    let travel =
        "Flights, hotels, passports and luggage for the beach holiday in Lisbon are booked.";
    say(&mut api, "s1", "2025-03-14T10:00:00Z", garden);
    say(&mut api, "s1", "2025-03-14T10:01:00Z", garden);
    say(&mut api, "s1", "2025-03-14T10:02:00Z", travel);
    say(&mut api, "s1", "2025-03-14T11:00:00Z", travel);
    // Late: it belongs to where it happened.
    say(&mut api, "s1", "2025-03-14T09:58:00Z", garden);
    let found = episodes(&mut api, "");
    let ends: Vec<(&Value, &Value, usize)> = found
        .iter()
        .map(|one| (&one["state"], &one["ended_by"], strings(&one["events"]).len()))
        .collect();
    assert_eq!(
        ends,
        [
            (&json!("closed"), &json!("topic_shift"), 3),
            (&json!("closed"), &json!("gap"), 1),
            (&json!("open"), &Value::Null, 1),
        ]
    );
    assert_eq!(found[0]["started_at"], "2025-03-14T09:58:00Z");
    assert_eq!(found[0]["ended_at"], "2025-03-14T10:01:00Z");
    assert_eq!(found[1]["causal_predecessor"], Value::Null, "about something else");
    assert_eq!(found[2]["causal_predecessor"], found[1]["id"]);
    assert_eq!(found[1]["causal_successor"], found[2]["id"]);
}

#[test]
fn r215_the_chain_of_causes_has_roles() {
    let mut api = Api::shared("episodes-chain");
    let typed =
        |kind: &str, title: &str| json!({"kind": "json", "data": {"type": kind, "title": title}});
    let at = |minute: u32| format!("2025-03-14T10:{minute:02}:00Z");
    let asked = said(&mut api, "s", &at(0), typed("task.created", "Pick a database"), json!([]));
    let chosen =
        said(&mut api, "s", &at(1), typed("decision.made", "Use Postgres"), json!([asked]));
    say(&mut api, "s", &at(2), "By tomorrow it is running.");
    let done =
        said(&mut api, "s", &at(3), typed("task.completed", "Pick a database"), json!([chosen]));
    let found = episodes(&mut api, "&with_causal_chain=true");
    assert_eq!(
        found[0]["causal_chain"],
        json!([
            {"event": asked, "role": "trigger"},
            {"event": chosen, "role": "decision"},
            {"event": done, "role": "outcome"},
        ])
    );
}

#[test]
fn r216_a_sealed_episode_stays_what_it_is_and_is_carried_on() {
    let mut api = Api::shared("episodes-sealed");
    let event = say(&mut api, "s1", "2025-03-14T10:00:00Z", "The pump in hall two leaks oil.");
    let built = seal(&mut api);
    assert_eq!((&built["built"], &built["dirty"]), (&json!(1), &json!(0)));
    let sealed = built["items"][0].clone();
    assert_eq!((&sealed["state"], &sealed["ended_by"]), (&json!("sealed"), &json!("explicit")));
    assert_eq!(sealed["_partial"], false);
    assert!(sealed["sealed_at"].is_string());
    assert_eq!(sealed["ended_at"], "2025-03-14T10:00:00Z");
    // A minute later, and before it: neither joins it.
    say(&mut api, "s1", "2025-03-14T10:01:00Z", "The pump in hall two still leaks oil.");
    say(&mut api, "s1", "2025-03-14T09:59:00Z", "I heard the pump in hall two drip.");
    let found = episodes(&mut api, "");
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(found[0]["events"], json!([event]), "immutable");
    assert_eq!(found[0]["causal_successors"], json!([found[1]["id"]]));
    assert_eq!(found[1]["causal_predecessor"], sealed["id"]);
    // Another session that names what it follows from.
    let text = json!({"kind": "text", "text": "The seal of the pump has come."});
    said(&mut api, "s2", "2025-03-15T10:00:00Z", text, json!([event]));
    let found = episodes(&mut api, "");
    assert_eq!(found[2]["causal_predecessor"], sealed["id"]);
}

#[test]
fn r056_r382_events_are_compressed_with_their_episode() {
    let mut api = Api::shared("episodes-compressed");
    let first = say(&mut api, "s1", "2025-03-14T10:00:00Z", "The pump in hall two leaks oil.");
    let second = say(&mut api, "s1", "2025-03-14T10:01:00Z", "The pump is old.");
    let mut stream = api.stream(&format!("scope={}&events=compressed", api.scope));
    let sealed = seal(&mut api)["items"][0]["id"].clone();
    for event in [&first, &second] {
        let told: Value = serde_json::from_str(&expect_event(&mut stream).data).unwrap();
        assert_eq!((&told["event"], &told["event_id"]), (&json!("compressed"), &json!(event)));
        assert_eq!(told["payload"]["episode_id"], sealed);
        assert!(told["payload"]["understanding_ids"].is_array(), "{told}");
    }
    let state = api.get(&format!("/v1/lifecycle/memory-event/{first}")).ok(200);
    assert_eq!(strings(&state["stages_completed"]).last().unwrap(), "compressed");
    let rows = api.get(&format!("/v1/lifecycle?event_id={first}&limit=100")).ok(200);
    let stages: Vec<String> =
        rows["items"].as_array().unwrap().iter().map(|row| string(row, "stage")).collect();
    assert_eq!(stages, ["captured", "extracted", "indexed", "consolidated", "compressed"]);
    let extracted = &rows["items"][1]["payload"]["derived"];
    assert_eq!(extracted["episodes"], 1, "R379");
    assert_eq!(rows["items"][2]["payload"]["layers_indexed"][1], "episodes", "R380");
}

#[test]
fn r289_questions_narrow() {
    let mut api = Api::shared("episodes-asked");
    say(&mut api, "s1", "2025-03-01T10:00:00Z", "Monday meeting about the budget.");
    say(&mut api, "s1", "2025-03-01T10:20:00Z", "The budget is approved.");
    say(&mut api, "s2", "2025-04-01T10:00:00Z", "Deployment of the gateway starts.");
    let asked = |api: &mut Api, more: &str| episodes(api, more).len();
    for (range, expected) in [
        ("2025-03-01..2025-03-02", 1),
        ("2025-03-01T10:10:00Z..2025-03-01T10:15:00Z", 1),
        ("2025-03-01T10:20:00Z..2025-03-01T10:21:00Z", 1),
        ("2025-03-01T10:21:00Z..2025-04-01T10:00:00Z", 0),
        ("2025-02-01..2025-05-01", 2),
    ] {
        assert_eq!(asked(&mut api, &format!("&overlapping={range}")), expected, "{range}");
    }
    assert_eq!(asked(&mut api, "&actor=user:local"), 2);
    assert_eq!(asked(&mut api, "&observed_actor=user:nobody"), 0);
    assert_eq!(asked(&mut api, "&view=holistic"), 2);
    assert_eq!(asked(&mut api, "&as_of_valid=2025-03-15"), 1, "had begun by then");
    assert_eq!(asked(&mut api, "&valid_during=2025-03-15..2025-03-16"), 1);
    assert_eq!(asked(&mut api, "&as_of_recorded=2025-03-15"), 0, "nothing was known then");
    assert_eq!(asked(&mut api, "&recorded_during=2025-03-15..2125-03-16"), 2);
}

#[test]
fn r072_r434_views_walk_up_and_down() {
    let mut api = Api::shared("episodes-views");
    let above = api.scope.clone();
    say(&mut api, "s1", "2025-03-01T10:00:00Z", "The plan for the year.");
    api.scope = format!("{above}/project:p");
    say(&mut api, "s1", "2025-03-01T10:00:00Z", "The plan for the project.");
    let scopes = |found: &[Value]| -> String {
        let scopes: Vec<String> = found.iter().map(|one| string(one, "scope")).collect();
        scopes.join(" ")
    };
    let below = api.scope.clone();
    assert_eq!(scopes(&episodes(&mut api, "")), below);
    assert_eq!(scopes(&episodes(&mut api, "&view=holistic")), format!("{above} {below}"));
    api.scope = above.clone();
    assert_eq!(scopes(&episodes(&mut api, "")), above);
    let page = api.get(&format!("/v1/episodes?scope={above}&view=descend")).ok(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    assert_eq!(
        page["scopes_traversed"],
        json!([{"scope": above, "items": 1}, {"scope": below, "items": 1}]),
        "R424"
    );
}

#[test]
fn r063_what_was_known_at_an_instant() {
    let mut api = Api::shared("episodes-known");
    let first = say(&mut api, "s1", "2025-03-01T10:00:00Z", "The audit begins.");
    let recorded = api.event(&first)["context"]["recorded_at"].as_str().unwrap().to_owned();
    let before = string(&episodes(&mut api, "")[0], "recorded_from");
    assert!(before >= recorded);
    say(&mut api, "s1", "2025-03-01T10:10:00Z", "The audit goes on.");
    say(&mut api, "s2", "2025-03-01T10:10:00Z", "Lunch.");
    seal(&mut api);
    let then = episodes(&mut api, &format!("&as_of_recorded={before}"));
    assert_eq!(then.len(), 1);
    assert_eq!(then[0]["events"], json!([first]));
    assert_eq!(then[0]["state"], "open");
    assert_eq!(then[0]["centrality_score"], Value::Null);
    let now = episodes(&mut api, "");
    assert_eq!(now.len(), 2);
    assert_eq!(strings(&now[0]["events"]).len(), 2);
    assert_eq!(now[0]["state"], "sealed");
}

#[test]
fn r316_a_cancelled_event_leaves_its_episode() {
    let mut api = Api::shared("episodes-cancelled");
    let first = say(&mut api, "s1", "2025-03-01T10:00:00Z", "The secret word is xylophone.");
    let second = say(&mut api, "s1", "2025-03-01T10:10:00Z", "The meeting is over.");
    api.post(&format!("/v1/lifecycle/memory-event/{first}/cancel"), &json!({})).ok(200);
    let found = episodes(&mut api, "");
    assert_eq!(found[0]["events"], json!([second]));
    assert_eq!(found[0]["started_at"], "2025-03-01T10:10:00Z");
    assert!(!found[0].to_string().contains("xylophone"), "{}", found[0]);
    api.post(&format!("/v1/lifecycle/memory-event/{second}/cancel"), &json!({})).ok(200);
    assert_eq!(episodes(&mut api, ""), [Value::Null; 0]);
}

#[test]
fn r198_pages_of_episodes_join_and_keep_the_knowledge_of_the_first() {
    let mut api = Api::shared("episodes-pages");
    for number in 0..5 {
        say(&mut api, &format!("s{number}"), "2025-03-01T10:00:00Z", "Hello there.");
    }
    let all: Vec<Value> =
        episodes(&mut api, "").iter().rev().map(|one| one["id"].clone()).collect();
    assert_eq!(all.len(), 5);
    let mut target = format!("/v1/episodes?scope={}&limit=2", api.scope);
    let mut seen = Vec::new();
    loop {
        let page = api.get(&target).ok(200);
        for one in page["items"].as_array().unwrap() {
            // What comes meanwhile is on no later page, not even within an episode.
            assert_eq!(strings(&one["events"]).len(), 1, "{one}");
            seen.push(one["id"].clone());
        }
        say(&mut api, "s0", "2025-03-01T10:01:00Z", "And again.");
        say(&mut api, "more", "2025-03-01T10:01:00Z", "Somebody else.");
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        target = format!("/v1/episodes?scope={}&limit=2&cursor={cursor}", api.scope);
    }
    assert_eq!(seen, all);
}

#[test]
fn what_is_asked_badly_is_refused() {
    let mut api = Api::shared("episodes-refused");
    let scope = api.scope.clone();
    for (query, status, code) in [
        ("&overlapping=2025-01-02..2025-01-01", 422, "INVALID_PARAMETER"),
        ("&overlapping=2025-01-02", 422, "INVALID_PARAMETER"),
        ("&overlapping=now..then", 422, "INVALID_TIMESTAMP"),
        ("&valid_during=2025-01-02..2025-01-02", 422, "INVALID_PARAMETER"),
        ("&recorded_during=x..y", 422, "INVALID_TIMESTAMP"),
        ("&as_of=yesterday", 422, "INVALID_TIMESTAMP"),
        ("&with_causal_chain=perhaps", 422, "INVALID_PARAMETER"),
        ("&actor=nobody", 422, "INVALID_PARAMETER"),
        ("&actor=user:a&observed_actor=user:b", 422, "INVALID_PARAMETER"),
        ("&view=everything", 422, "INVALID_PARAMETER"),
        ("&limit=0", 422, "INVALID_PARAMETER"),
        ("&limit=1001", 422, "INVALID_PARAMETER"),
        ("&cursor=abc", 422, "INVALID_CURSOR"),
        ("&cursor=5", 422, "INVALID_CURSOR"),
    ] {
        api.get(&format!("/v1/episodes?scope={scope}{query}")).fails(status, code);
    }
    api.get("/v1/episodes").fails(400, "MISSING_REQUIRED_FIELD");
    api.get("/v1/episodes?scope=nowhere").fails(422, "INVALID_SCOPE_GRAMMAR");
    for (body, status, code) in [
        (json!({}), 400, "MISSING_REQUIRED_FIELD"),
        (json!({"scope": 5}), 422, "INVALID_BODY"),
        (json!({"scope": "nowhere"}), 422, "INVALID_SCOPE_GRAMMAR"),
        (json!({"scope": scope, "seal": "yes"}), 422, "INVALID_BODY"),
        (json!({"scope": scope, "gap": 5}), 422, "INVALID_BODY"),
    ] {
        api.post("/v1/episodes/build", &body).fails(status, code);
    }
    // A scope that nothing was written to has none, and is not made by asking.
    let built = api.post("/v1/episodes/build", &json!({"scope": scope})).ok(200);
    assert_eq!((&built["built"], &built["items"]), (&json!(0), &json!([])));
}

#[test]
fn r008_episodes_survive_a_crash_and_are_made_again_from_the_log() {
    let own = Own::start();
    let mut api = own.api("episodes-again");
    let scope = api.scope.clone();
    let wrong = say(&mut api, "s1", "2025-03-01T10:00:00Z", "The Gateway is on fire.");
    say(&mut api, "s1", "2025-03-01T10:01:00Z", "The Gateway is fine.");
    api.post(&format!("/v1/lifecycle/memory-event/{wrong}/cancel"), &json!({})).ok(200);
    seal(&mut api);
    say(&mut api, "s1", "2025-03-01T10:02:00Z", "The Gateway has a new version.");
    say(&mut api, "s2", "2025-03-01T10:02:00Z", "Lunch.");
    let before = episodes(&mut api, "&with_causal_chain=true");
    assert_eq!(before.len(), 3);
    let same = |own: &Own| {
        let mut api = own.api("episodes-again");
        api.scope = scope.clone();
        assert_eq!(episodes(&mut api, "&with_causal_chain=true"), before);
    };
    let own = own.crash();
    same(&own);
    let directory = own.stop();
    let path = data(directory.path());
    let output = process::run(&binary(), &["rebuild", "--data", path.to_str().unwrap()]).unwrap();
    assert!(output.status.success(), "{output:?}");
    let server = launch(directory.path(), &[]).start().unwrap();
    same(&Own { server, directory });
}
