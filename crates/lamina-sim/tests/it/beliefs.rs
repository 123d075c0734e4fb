//! Beliefs over HTTP: how sure one may be, why, since when, and what becomes of them.

use lamina_api::time;
use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{Api, string, unique_key};
use crate::tokens::Team;

/// Says something with directives at an instant and waits until it is derived from.
fn say_with(api: &mut Api, at: &str, text: &str, directives: Value) -> String {
    let mut envelope = api.envelope(text);
    let fields = envelope.as_object_mut().expect("an envelope is an object");
    fields.insert("context".to_owned(), json!({"observed_at": at}));
    fields.insert("directives".to_owned(), directives);
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

fn say(api: &mut Api, at: &str, text: &str) -> String {
    say_with(api, at, text, json!({}))
}

fn beliefs(api: &mut Api, more: &str) -> Vec<Value> {
    let page = api.get(&format!("/v1/beliefs?scope={}&limit=1000{more}", api.scope)).ok(200);
    page.get("items").and_then(Value::as_array).cloned().expect("a page has items")
}

/// What is believed when nothing waits any more: asked with the knowledge of an hour from now.
fn settled(api: &mut Api, more: &str) -> Vec<Value> {
    let in_an_hour = in_an_hour(api);
    beliefs(api, &format!("&as_of_recorded={in_an_hour}{more}"))
}

/// Far enough from now that every pause is over, and near enough that little has faded. The clock is
/// the server's: what it wrote last says when it is.
fn in_an_hour(api: &mut Api) -> String {
    let id = say(api, "2020-01-01T00:00:00Z", "Hello.");
    let event = api.get(&format!("/v1/events/{id}")).ok(200);
    let now = event.pointer("/context/recorded_at").and_then(Value::as_str).expect("it has a time");
    let now = time::parse(now).expect("a time of the server can be read");
    time::print(now.plus(3_600_000_000))
}

fn lines(beliefs: &[Value]) -> Vec<String> {
    let mut lines: Vec<String> = beliefs
        .iter()
        .map(|belief| {
            let at = |pointer: &str| match belief.pointer(pointer) {
                Some(Value::String(text)) => text.clone(),
                other => other.map(Value::to_string).unwrap_or_default(),
            };
            let (subject, predicate) = (at("/claim/subject/name"), at("/claim/predicate"));
            format!("{subject} {predicate} {} {}", at("/claim/object/value"), at("/stance"))
        })
        .collect();
    lines.sort_unstable();
    lines
}

fn belief(api: &mut Api, value: &str) -> Value {
    let all = beliefs(api, "&include_superseded=true");
    let said = |belief: &&Value| {
        belief.pointer("/claim/object/value").and_then(Value::as_str) == Some(value)
    };
    let found = all.iter().find(said);
    found.unwrap_or_else(|| panic!("nothing about {value} in {all:?}")).clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn r048_r222_what_is_said_is_believed_with_everything_a_belief_has() {
    let mut api = Api::shared("beliefs");
    let event = say(&mut api, "2025-03-14T10:00:00Z", "I live in Rome.");
    let all = beliefs(&mut api, "");
    assert_eq!(lines(&all), ["user:local lives_in Rome supported"]);
    let found = &all[0];
    let facts = api.get(&format!("/v1/facts?scope={}", api.scope)).ok(200);
    let fact = &facts["items"][0];
    // R222, R223: the posterior of one piece over one on either side.
    let weight = number(&found["supports"][0]["weight"]);
    assert_eq!(weight, number(&fact["confidence"]));
    let mean = (1.0 + weight) / (2.0 + weight);
    assert!((number(&found["confidence"]) - mean).abs() < 1e-4);
    let interval = &found["confidence_interval"];
    assert_eq!((&interval["method"], &interval["level"]), (&json!("beta_posterior"), &json!(0.9)));
    assert!(number(&interval["lower"]) < mean && mean < number(&interval["upper"]));
    // R225, R227, R228.
    let support = json!({
        "type": "fact", "id": fact["id"], "weight": found["supports"][0]["weight"],
        "polarity": "supports",
    });
    assert_eq!(found["supports"], json!([support]));
    let policy = &found["revision_policy"];
    assert_eq!(policy["trigger"], "new_supporting_evidence_or_contradiction");
    assert_eq!(policy["min_evidence_delta"], 0.05);
    assert_eq!(
        (&policy["cooldown"], &policy["max_revisions_per_hour"]),
        (&json!("PT5M"), &json!(12))
    );
    assert_eq!(found["supporting_evidence_redacted"], false);
    assert_eq!(found["supporting_evidence_redacted_fraction"], 0.0);
    assert_eq!((&found["contradicts"], &found["calibration"]), (&json!([]), &Value::Null));
    assert_eq!(found["claim"]["subject"]["id"], fact["subject"]["id"]);
    assert_eq!((&found["valid_from"], &found["valid_to"]), (&fact["valid_from"], &Value::Null));
    assert_eq!((&found["recorded_to"], &found["revision_count"]), (&Value::Null, &json!(0)));
    assert_eq!(found["last_revised_at"], found["recorded_from"]);
    assert_eq!((&found["_partial"], &found["_partial_reason"]), (&json!(false), &Value::Null));
    let id = string(found, "id");
    assert_eq!(found["why_url"], format!("/v1/beliefs/why?belief_id={id}"));
    // R212, R379, R381: the event points back, and its stages say so.
    let read = api.get(&format!("/v1/events/{event}")).ok(200);
    assert!(read["derives"].as_array().unwrap().contains(&found["id"]));
    let rows = api.get(&format!("/v1/lifecycle?event_id={event}")).ok(200);
    let row = |stage: &str| {
        let rows = rows["items"].as_array().unwrap();
        rows.iter().find(|row| row["stage"] == stage).unwrap()["payload"].clone()
    };
    assert_eq!(row("extracted")["derived"]["beliefs"], 1);
    assert_eq!(row("consolidated")["beliefs_updated"], 1);
    // R293.
    let at = string(found, "recorded_from");
    let one = api.get(&format!("/v1/beliefs/{id}?as_of_recorded={at}")).ok(200);
    assert_eq!(one, beliefs(&mut api, &format!("&as_of_recorded={at}"))[0]);
}

#[test]
fn r226_r229_what_excludes_a_belief_counts_against_it_when_the_pause_is_over() {
    let mut api = Api::shared("beliefs-moved");
    say(&mut api, "2025-01-10T10:00:00Z", "I live in Rome.");
    say(&mut api, "2025-06-01T10:00:00Z", "I moved to Oslo.");
    let rome = belief(&mut api, "Rome");
    assert_eq!((&rome["stance"], &rome["_partial"]), (&json!("supported"), &json!(true)));
    assert_eq!(rome["_partial_reason"], "revision_in_progress");
    let oslo = belief(&mut api, "Oslo");
    let tension = &rome["contradicts"][0];
    assert_eq!(
        (&tension["belief_id"], &tension["resolution"]),
        (&oslo["id"], &json!("newer_wins"))
    );
    let expected = number(&rome["confidence"]) + number(&oslo["confidence"]) - 1.0;
    assert!((number(&tension["tension"]) - expected).abs() < 1e-4);
    assert_eq!(oslo["contradicts"][0]["belief_id"], rome["id"]);
    assert_eq!(
        lines(&settled(&mut api, "&predicate=lives_in&include_superseded=true")),
        ["user:local lives_in Oslo supported", "user:local lives_in Rome uncertain"]
    );
    let sides: Vec<&str> = rome["supports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|support| support["polarity"].as_str().unwrap())
        .collect();
    assert!(sides.contains(&"supports") && sides.contains(&"against"), "{sides:?}");
}

#[test]
fn r230_what_is_denied_is_kept_as_contradicted() {
    let mut api = Api::shared("beliefs-denied");
    say(&mut api, "2025-01-10T10:00:00Z", "I like jazz.");
    for month in 2..9 {
        let at = format!("2025-{month:02}-10T10:00:00Z");
        say(&mut api, &at, "I no longer like jazz.");
    }
    let jazz = settled(&mut api, "&predicate=likes");
    assert_eq!(lines(&jazz), ["user:local likes jazz contradicted"]);
    let contradicted = settled(&mut api, "&stance=contradicted");
    assert_eq!(contradicted.len(), 1);
    assert_eq!(settled(&mut api, "&stance=supported"), [Value::Null; 0]);
    // C41: confidence measures the stance.
    assert!(number(&jazz[0]["confidence"]) >= 0.6);
}

#[test]
fn r293_a_belief_without_evidence_is_gone() {
    let mut api = Api::shared("beliefs-gone");
    say(&mut api, "2025-01-10T10:00:00Z", "I work at Acme.");
    let wrong = say(&mut api, "2025-02-10T10:00:00Z", "I work at Initech.");
    let initech = string(&belief(&mut api, "Initech"), "id");
    let acme = belief(&mut api, "Acme");
    assert_eq!(acme["_partial"], true);
    api.post(&format!("/v1/lifecycle/memory-event/{wrong}/cancel"), &json!({})).ok(200);
    assert_eq!(lines(&beliefs(&mut api, "")), ["user:local works_at Acme supported"]);
    let after = belief(&mut api, "Acme");
    assert_eq!((&after["id"], &after["_partial"]), (&acme["id"], &json!(false)));
    assert_eq!(after["contradicts"], json!([]));
    for target in [
        format!("/v1/beliefs/{initech}"),
        format!("/v1/beliefs/why?belief_id={initech}"),
        format!("/v1/beliefs/history?belief_id={initech}"),
    ] {
        api.get(&target).fails(410, "RESOURCE_DELETED");
    }
    let unknown = format!("belief_{}", "0".repeat(32));
    api.get(&format!("/v1/beliefs/{unknown}")).fails(404, "NOT_FOUND");
    api.get("/v1/beliefs/fact_1").fails(422, "INVALID_ID");
}

#[test]
fn r098_r099_r232_floors_and_lives_are_obeyed() {
    let mut api = Api::shared("beliefs-directives");
    say_with(&mut api, "2025-01-10T10:00:00Z", "I like jazz.", json!({"confidence_floor": 0.9}));
    assert_eq!(beliefs(&mut api, ""), [Value::Null; 0]);
    say_with(&mut api, "2025-01-10T10:00:00Z", "I like tea.", json!({"confidence_floor": 0.1}));
    assert_eq!(lines(&beliefs(&mut api, "")), ["user:local likes tea supported"]);
    say_with(&mut api, "2025-01-10T10:00:00Z", "I like cheese.", json!({"extract": ["facts"]}));
    assert_eq!(beliefs(&mut api, "").len(), 1);
    let short = json!({"ttl_for_belief_layer": "PT30M"});
    say_with(&mut api, "2025-01-10T10:00:00Z", "I like snow.", short);
    let snow = string(&belief(&mut api, "snow"), "id");
    let then = in_an_hour(&mut api);
    api.get(&format!("/v1/beliefs/{snow}?as_of_recorded={then}")).fails(410, "RESOURCE_DELETED");
    assert_eq!(lines(&settled(&mut api, "")), ["user:local likes tea supported"]);
    // Every group of facts is a belief or has a reason.
    let built = api.post("/v1/beliefs/build", &json!({"scope": api.scope})).ok(200);
    assert_eq!((&built["built"], &built["groups_considered"]), (&json!(2), &json!(4)));
    assert_eq!(built["reasons"], json!({"below_floor": 1, "no_belief_shaped_events": 1}));
    assert_eq!((&built["groups_rejected"], &built["facts_scanned"]), (&json!(2), &json!(4)));
    assert_eq!(built["items"].as_array().unwrap().len(), 2);
    let empty = api.post("/v1/beliefs/build", &json!({"scope": "user:nobody-at-all"})).ok(200);
    assert_eq!((&empty["built"], &empty["reasons"]), (&json!(0), &json!({"no_facts_in_scope": 1})));
}

#[test]
fn r436_a_belief_that_falls_below_its_floor_leaves_only_audit_rows() {
    let mut api = Api::shared("beliefs-fallen");
    let floor = json!({"confidence_floor": 0.55});
    say_with(&mut api, "2025-01-10T10:00:00Z", "I own a boat.", floor.clone());
    let boat = string(&belief(&mut api, "boat"), "id");
    say_with(&mut api, "2025-01-11T10:00:00Z", "I don't own a boat.", floor);
    let then = in_an_hour(&mut api);
    api.get(&format!("/v1/beliefs/{boat}?as_of_recorded={then}")).fails(410, "RESOURCE_DELETED");
    assert_eq!(settled(&mut api, ""), [Value::Null; 0]);
    let rows = api.get(&format!("/v1/audit?scope={}&limit=100", api.scope)).ok(200);
    let writes = rows["items"].as_array().unwrap().iter();
    let writes = writes.filter(|row| row["endpoint"] == "POST /v1/experience").count();
    assert!(writes >= 2, "what was called stays known: {rows}");
}

#[test]
fn r232_a_tenant_has_a_floor_of_its_own() {
    let team = Team::start("on_prem_enterprise");
    let believes = |tenant: &str, floor: Option<&str>| {
        let mut caller = team.caller(tenant, "user:alice");
        if let Some(floor) = floor {
            let body = json!({"defaults": {"confidence_floor": floor}});
            let put = Request::new("PUT", &format!("/v1/policy/tenant/{tenant}")).json(&body);
            caller.send(put).ok(200);
        }
        let said = json!({
            "scope": "user:alice",
            "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": "I like jazz."},
            "context": {"observed_at": "2026-05-13T15:42:00Z"},
            "idempotency_key": unique_key(),
        });
        caller.post("/v1/experience?wait=consolidated", &said).ok(200);
        let page = caller.get("/v1/beliefs?scope=user:alice").ok(200);
        page["items"].as_array().expect("a page has items").len()
    };
    assert_eq!(believes("acme", None), 1);
    assert_eq!(believes("other", Some("0.9")), 0);
}

#[test]
fn r294_r295_why_goes_down_to_the_words() {
    let mut api = Api::shared("beliefs-why");
    let first = say(&mut api, "2025-05-13T10:00:00Z", "Acme has 200 seats.");
    let second = say(&mut api, "2025-05-20T10:00:00Z", "Acme has 300 seats.");
    let seats = beliefs(&mut api, "&about=Acme&include_superseded=true");
    let seats = seats.iter().find(|belief| belief["claim"]["object"]["value"] == 200).unwrap();
    let id = string(seats, "id");
    let why = api.get(&format!("/v1/beliefs/why?belief_id={id}")).ok(200);
    assert_eq!(why["belief"]["id"], seats["id"]);
    let narrative = string(&why, "narrative");
    for part in [
        "Acme",
        "200",
        "on 13 May 2025",
        "Acme has 200 seats",
        &first,
        "Acme has 300 seats",
        &second,
    ] {
        assert!(narrative.contains(part), "{part} is not in {narrative}");
    }
    assert_eq!(why["narrative_model"], "template/1");
    let nodes = why["support_graph"]["nodes"].as_array().unwrap();
    let node = |id: &str| nodes.iter().find(|node| node["id"] == id).unwrap().clone();
    assert_eq!(node(&first)["summary"], "Acme has 200 seats.");
    assert_eq!(node(&first)["type"], "event");
    let edges: Vec<(String, String)> = why["support_graph"]["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| (string(edge, "relation"), string(edge, "from")))
        .collect();
    let of = |relation: &str| edges.iter().filter(|edge| edge.0 == relation).count();
    assert_eq!(of("supported_by"), 1);
    assert_eq!(of("contradicted_by"), 1);
    assert_eq!(of("extracted_from"), 2);
    assert!(edges.iter().filter(|edge| edge.0.ends_with("ed_by")).all(|edge| edge.1 == id));
    // Every edge ends at a node.
    for edge in why["support_graph"]["edges"].as_array().unwrap() {
        assert!(nodes.iter().any(|node| node["id"] == edge["to"]), "{edge}");
    }
    api.get("/v1/beliefs/why").fails(400, "MISSING_REQUIRED_FIELD");
    api.get("/v1/beliefs/why?belief_id=evt_1").fails(422, "INVALID_ID");
}

#[test]
fn beliefs_are_declared_closed_and_remembered() {
    let mut api = Api::shared("beliefs-declared");
    let event = say(&mut api, "2025-01-10T10:00:00Z", "Acme has 200 seats.");
    let scope = api.scope.clone();
    let declared = |statement: &str, from: &str| {
        json!({
            "scope": scope, "statement": statement, "confidence": 0.8, "supports": [event],
            "subject": "Acme", "predicate": "renewal", "valid_from": from,
        })
    };
    let first = api.post("/v1/beliefs", &declared("likely", "2025-02-01T00:00:00Z")).ok(201);
    assert_eq!((&first["stance"], &first["confidence"]), (&json!("supported"), &json!(0.8)));
    assert_eq!(first["declared"], true);
    assert_eq!(first["claim"]["object"]["value"], "likely");
    assert_eq!(first["claim"]["subject"]["type"], "entity");
    assert_eq!(first["supports"][0]["id"], event);
    let second = api.post("/v1/beliefs", &declared("unlikely", "2025-03-01T00:00:00Z")).ok(201);
    let current = beliefs(&mut api, "&predicate=renewal");
    assert_eq!(lines(&current), ["Acme renewal unlikely supported"]);
    // Retired and asserted again: February keeps its answer (ruling 12).
    let then = beliefs(&mut api, "&predicate=renewal&as_of_valid=2025-02-10T00:00:00Z");
    assert_eq!(lines(&then), ["Acme renewal likely supported"]);
    assert_eq!(then[0]["valid_to"], "2025-03-01T00:00:00Z");
    // What was believed before the second was declared.
    let known = string(&first, "recorded_from");
    let known = beliefs(&mut api, &format!("&predicate=renewal&as_of_recorded={known}"));
    assert_eq!(lines(&known), ["Acme renewal likely supported"]);
    assert_eq!(known[0]["valid_to"], Value::Null);
    let history = format!("/v1/beliefs/history?belief_id={}", string(&first, "id"));
    let history = api.get(&history).ok(200);
    assert_eq!(history["versions"].as_array().unwrap().len(), 2);
    assert_eq!(history["versions"][1]["recorded_from"], second["recorded_from"]);
    assert_eq!(history["revision_count"], 0);
    // The one that begins with the second replaces it.
    api.post("/v1/beliefs", &declared("open", "2025-03-01T00:00:00Z")).ok(201);
    let all = beliefs(&mut api, "&predicate=renewal&include_deprecated=true");
    assert_eq!(
        lines(&all),
        [
            "Acme renewal likely supported",
            "Acme renewal open supported",
            "Acme renewal unlikely deprecated",
        ]
    );
    // What a declaration stands on can go, and that is told.
    api.post(&format!("/v1/lifecycle/memory-event/{event}/cancel"), &json!({})).ok(200);
    let open = beliefs(&mut api, "&predicate=renewal");
    assert_eq!(open[0]["supporting_evidence_redacted_fraction"], 1.0);
    assert_eq!(open[0]["_partial_reason"], "supporting_evidence_redacted");
    assert_eq!((&open[0]["stance"], &open[0]["confidence"]), (&json!("uncertain"), &json!(0.4)));
    // The least that can be said.
    let bare = json!({"scope": api.scope, "statement": "It works.", "confidence": 1});
    let bare = api.post("/v1/beliefs", &bare).ok(201);
    assert_eq!(bare["claim"]["predicate"], "asserts");
    assert_eq!(
        (&bare["claim"]["subject"]["id"], &bare["supports"]),
        (&json!(api.scope), &json!([]))
    );
}

#[test]
fn declared_belief_without_support_is_at_most_seven_tenths_sure_and_says_so() {
    let mut api = Api::shared("beliefs-unsupported");
    let event = say(&mut api, "2025-01-10T10:00:00Z", "Acme has 200 seats.");
    let scope = api.scope.clone();
    let declared = |predicate: &str, confidence: f64, supports: &Value| {
        json!({"scope": scope, "statement": "yes", "subject": "Acme", "predicate": predicate,
            "confidence": confidence, "supports": supports})
    };
    let cases = [
        ("sure", 1.0, "supported", 0.7),
        ("likely", 0.65, "supported", 0.65),
        ("open", 0.5, "uncertain", 0.5),
        ("never", 0.0, "contradicted", 0.7),
    ];
    for (predicate, given, stance, shown) in cases {
        let answer = api.post("/v1/beliefs", &declared(predicate, given, &json!([])));
        let warning = answer.header("x-cortex-warning").unwrap_or_default().to_owned();
        assert_eq!(warning, "unsupported_declaration", "{predicate}");
        let belief = answer.ok(201);
        assert_eq!((&belief["stance"], &belief["confidence"]), (&json!(stance), &json!(shown)));
        assert_eq!(belief["_partial_reason"], "unsupported_declaration");
        assert_eq!(belief["_partial"], true);
        let read = api.get(&format!("/v1/beliefs/{}", string(&belief, "id"))).ok(200);
        assert_eq!(read["confidence"], json!(shown), "{predicate}");
        assert_eq!(read["_partial_reason"], "unsupported_declaration");
    }
    // With something to look into it is as sure as its author.
    let answer = api.post("/v1/beliefs", &declared("backed", 1.0, &json!([event])));
    assert_eq!(answer.header("x-cortex-warning"), None);
    let backed = answer.ok(201);
    assert_eq!(backed["confidence"], 1.0);
    assert!(backed.get("_partial_reason").is_none(), "{backed}");
}

#[test]
fn declared_belief_does_not_count_support_that_its_author_may_not_read() {
    let team = Team::start_with("on_prem_enterprise", &[("CORTEX_ENABLE_EXPERIMENTAL", "1")]);
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let closed =
        json!({"path": "ws:closed", "members": [{"actor": "user:alice", "role": "owner"}]});
    alice.post("/v1/scopes", &closed).ok(201);
    let said = crate::harness::envelope("ws:closed", "Acme has 200 seats.");
    let event = string(&alice.post("/v1/experience", &said).ok(202), "event_id");
    let declared = json!({"scope": "ws:open", "statement": "yes", "confidence": 1,
        "supports": [event]});
    bob.post("/v1/beliefs", &declared).fails_at(422, "INVALID_BODY", "supports[0]");
}

#[test]
fn r292_questions_narrow_pages_join_and_bad_ones_are_refused() {
    let mut api = Api::shared("beliefs-asked");
    say(&mut api, "2025-01-10T10:00:00Z", "Bob works at Acme.");
    for thing in ["jazz", "tea", "chess", "hiking"] {
        say(&mut api, "2025-01-10T10:00:00Z", &format!("I like {thing}."));
    }
    assert_eq!(lines(&beliefs(&mut api, "&about=bob")), ["Bob works_at Acme supported"]);
    let bob = string(&beliefs(&mut api, "&about=Bob")[0]["claim"]["subject"], "id");
    assert_eq!(beliefs(&mut api, &format!("&about={bob}")).len(), 1);
    assert_eq!(beliefs(&mut api, "&about=nobody"), [Value::Null; 0]);
    assert_eq!(beliefs(&mut api, "&min_confidence=0.99"), [Value::Null; 0]);
    assert_eq!(beliefs(&mut api, "&valid_during=2024-01-01..2025-01-01"), [Value::Null; 0]);
    assert_eq!(beliefs(&mut api, "&valid_during=2025-01-01..2026-01-01").len(), 5);
    assert_eq!(beliefs(&mut api, "&recorded_during=2020-01-01..2021-01-01"), [Value::Null; 0]);
    assert_eq!(beliefs(&mut api, "&as_of=2020-01-01T00:00:00Z"), [Value::Null; 0]);
    let all = lines(&beliefs(&mut api, ""));
    let mut target = format!("/v1/beliefs?scope={}&limit=2", api.scope);
    let mut seen = Vec::new();
    loop {
        let page = api.get(&target).ok(200);
        seen.extend(page["items"].as_array().unwrap().clone());
        say(&mut api, "2025-01-11T10:00:00Z", "I like snow.");
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        target = format!("/v1/beliefs?scope={}&limit=2&cursor={cursor}", api.scope);
    }
    assert_eq!(lines(&seen), all);
    let scope = api.scope.clone();
    for (query, status, code) in [
        ("&min_confidence=1.5", 422, "INVALID_PARAMETER"),
        ("&stance=sure", 422, "INVALID_PARAMETER"),
        ("&valid_during=2025-01-02..2025-01-01", 422, "INVALID_PARAMETER"),
        ("&as_of=yesterday", 422, "INVALID_TIMESTAMP"),
        ("&cursor=abc", 422, "INVALID_CURSOR"),
        ("&limit=0", 422, "INVALID_PARAMETER"),
    ] {
        api.get(&format!("/v1/beliefs?scope={scope}{query}")).fails(status, code);
    }
    api.get("/v1/beliefs").fails(400, "MISSING_REQUIRED_FIELD");
    let unknown = format!("evt_{}", "0".repeat(32));
    let body = json!({"scope": scope, "statement": "x", "confidence": 1, "supports": [unknown]});
    let refused = api.post("/v1/beliefs", &body).fails(422, "INVALID_BODY");
    assert_eq!(refused["details"]["field"], "supports[0]");
    for (body, status, code) in [
        (json!({"statement": "x", "confidence": 1}), 400, "MISSING_REQUIRED_FIELD"),
        (json!({"scope": scope, "statement": "x"}), 400, "MISSING_REQUIRED_FIELD"),
        (json!({"scope": scope, "statement": "", "confidence": 1}), 422, "INVALID_BODY"),
        (json!({"scope": scope, "statement": "x", "confidence": 2}), 422, "INVALID_BODY"),
        (json!({"scope": scope, "statement": "x", "confidence": "1"}), 422, "INVALID_BODY"),
    ] {
        api.post("/v1/beliefs", &body).fails(status, code);
    }
    api.post("/v1/beliefs/build", &json!({})).fails(400, "MISSING_REQUIRED_FIELD");
}

#[test]
fn r224_feedback_calibrates() {
    let mut api = Api::shared("beliefs-feedback");
    say(&mut api, "2025-01-10T10:00:00Z", "I like tea.");
    let tea = belief(&mut api, "tea");
    for index in 0..10 {
        let mut envelope = api.envelope("");
        let fields = envelope.as_object_mut().expect("an envelope is an object");
        fields.insert("modality".to_owned(), json!("feedback"));
        let data = json!({"belief_id": tea["id"], "came_true": index != 0});
        fields.insert("content".to_owned(), json!({"kind": "json", "data": data}));
        api.post("/v1/experience?wait=consolidated", &envelope).ok(200);
    }
    let after = belief(&mut api, "tea");
    let calibration = &after["calibration"];
    assert_eq!((&calibration["model"], &calibration["samples"]), (&json!("platt_v1"), &json!(10)));
    let p = (number(&tea["confidence"]) * 10_000.0).floor() / 10_000.0;
    let brier = (9.0 * (1.0 - p) * (1.0 - p) + p * p) / 10.0;
    assert!((number(&calibration["brier_score_30d"]) - brier).abs() < 1e-9);
    assert!(number(&calibration["calibrated"]) > p);
    // Nine pieces for it and one against, of one voice.
    assert_eq!(after["supports"].as_array().unwrap().len(), 11);
}
