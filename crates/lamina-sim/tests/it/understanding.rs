//! Understanding over HTTP: concepts out of what keeps occurring together, with ids that last, versions
//! that do not change, and nothing that stands on what was withdrawn.

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{Api, check_id, envelope, string, strings};
use crate::tokens::Team;

/// Says something in a session of its own and waits until it is derived from.
fn say(api: &mut Api, day: u32, text: &str) -> String {
    let mut envelope = api.envelope(text);
    let session = format!("s{day}");
    envelope["observed_actor"] = json!({"id": "user:local", "type": "user", "session": session});
    envelope["context"] = json!({"observed_at": format!("2025-03-{day:02}T10:00:00Z")});
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

fn synthesize(api: &mut Api, more: Value) -> Value {
    let mut body = json!({"scope": api.scope, "topics": []});
    let fields = body.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    api.post("/v1/understanding/synthesize", &body).ok(202)
}

fn concepts(api: &mut Api, more: &str) -> Vec<Value> {
    let page = api.get(&format!("/v1/understanding?scope={}&limit=1000{more}", api.scope)).ok(200);
    page["items"].as_array().cloned().expect("a page has items")
}

fn things(concept: &Value) -> Vec<String> {
    let mut things: Vec<String> =
        strings(&concept["things"]).iter().map(|thing| thing.to_lowercase()).collect();
    things.sort_unstable();
    things
}

/// Three days about a renewal.
fn renewal(api: &mut Api) -> [String; 3] {
    let events = [
        say(api, 1, "Today Acme asked for the renewal."),
        say(api, 2, "Today Priya negotiates the renewal for Acme."),
        say(api, 3, "The renewal of Acme is signed, says Priya."),
    ];
    synthesize(api, json!({}));
    events
}

#[test]
fn r049_r241_r467_what_keeps_occurring_together_is_a_whole_concept() {
    let mut api = Api::shared("understanding");
    let events = renewal(&mut api);
    let found = concepts(&mut api, "");
    assert_eq!(found.len(), 1, "{found:#?}");
    let concept = &found[0];
    check_id(&string(concept, "id"), "concept");
    assert_eq!(things(concept), ["acme", "priya", "renewal"]);
    assert!(string(concept, "name").contains("Acme"), "{concept}");
    assert!(string(concept, "summary").contains("together in 3 episodes"), "{concept}");
    assert!(string(concept, "summary").contains("The renewal of Acme is signed"), "{concept}");
    assert_eq!(concept["scope"], api.scope);
    // Three episodes are sealed at once, in an order that is nobody's business.
    let versions = concept["version"].as_u64().unwrap();
    assert_eq!(versions == 1, concept["previous_version"] == Value::Null);
    assert_eq!(concept["canonical_id"], Value::Null);
    assert_eq!(concept["derived_from"], json!([]));
    assert_eq!(concept["summary_embedding"], Value::Null);
    // R237.
    let inputs = &concept["synthesis_inputs"];
    assert_eq!(strings(&inputs["layers"]), ["episodes", "facts"]);
    assert_eq!(inputs["synthesizer"], "lamina-builtin");
    assert_eq!(inputs["as_of"], concept["last_synthesized_at"]);
    // Its supports lead down to the events.
    let episodes = strings(&concept["supported_by"]["episodes"]);
    assert_eq!(episodes.len(), 3);
    let listed = api.get(&format!("/v1/episodes?scope={}", api.scope)).ok(200);
    for episode in listed["items"].as_array().unwrap() {
        assert!(episodes.contains(&string(episode, "id")), "{episode}");
        assert!(events.contains(&strings(&episode["events"])[0]), "{episode}");
    }
    let facts = api.get(&format!("/v1/facts?scope={}", api.scope)).ok(200);
    let supports = strings(&concept["supported_by"]["facts"]);
    assert_eq!(supports, [string(&facts["items"][0], "id")]);
    let beliefs = api.get(&format!("/v1/beliefs?scope={}", api.scope)).ok(200);
    let believed = strings(&concept["supported_by"]["beliefs"]);
    assert_eq!(believed, [string(&beliefs["items"][0], "id")]);
    assert!(string(concept, "valid_from").starts_with("2025-03-0"), "{concept}");
    assert_eq!((&concept["valid_to"], &concept["recorded_to"]), (&Value::Null, &Value::Null));
    assert_ne!(concept["stance"], "deprecated");
    assert!(concept["confidence"].as_f64().unwrap() > 0.3);
    assert_eq!(concept["staleness_score"], 0.0);
    assert_eq!(concept["support_loss_fraction"], 0.0);
    assert_eq!(concept["coverage_score"], 1.0);
    assert_eq!(concept["_partial"], false, "R467");
    // R297, and the alias.
    let id = string(concept, "id");
    for family in ["understanding", "concepts"] {
        assert_eq!(&api.get(&format!("/v1/{family}/{id}")).ok(200), concept);
        let page = api.get(&format!("/v1/{family}?scope={}", api.scope)).ok(200);
        assert_eq!(page["items"], json!([concept]));
        assert_eq!((&page["_partial"], &page["has_more"]), (&json!(false), &json!(false)));
    }
    // R212: the event points to it.
    let derives = strings(&api.event(&events[0])["derives"]);
    assert!(derives.contains(&id), "{derives:?}");
}

#[test]
fn r233_versions_are_kept_and_time_travels() {
    let mut api = Api::shared("understanding-versions");
    renewal(&mut api);
    let first = concepts(&mut api, "")[0].clone();
    say(&mut api, 4, "Today Acme called about the renewal.");
    synthesize(&mut api, json!({}));
    let second = concepts(&mut api, "")[0].clone();
    let version = |one: &Value| one["version"].as_u64().unwrap();
    assert_eq!((&second["id"], version(&second)), (&first["id"], version(&first) + 1));
    assert_eq!(second["previous_version"], first["version_id"]);
    let id = string(&first, "id");
    let history = api.get(&format!("/v1/concepts/{id}/history")).ok(200);
    assert_eq!(history["current"], second);
    let versions = history["versions"].as_array().unwrap();
    assert_eq!(versions.len() as u64, version(&second));
    assert_eq!(versions[1]["recorded_to"], second["recorded_from"]);
    // C29: the version before can be asked for by its own id, and does not change.
    let before = api.get(&format!("/v1/understanding/{}", string(&first, "version_id"))).ok(200);
    assert_eq!((&before["id"], &before["version"]), (&first["id"], &first["version"]));
    // What was understood then (C31).
    let then = string(&first, "recorded_from");
    let known = concepts(&mut api, &format!("&as_of_recorded={then}"));
    assert_eq!(known[0]["version"], first["version"]);
    assert_eq!(concepts(&mut api, "&as_of_recorded=2020-01-01T00:00:00Z"), [Value::Null; 0]);
    assert_eq!(concepts(&mut api, "&as_of_valid=2025-01-01T00:00:00Z"), [Value::Null; 0]);
    assert_eq!(concepts(&mut api, "&as_of_valid=2026-01-01T00:00:00Z").len(), 1);
    assert_eq!(concepts(&mut api, "&valid_during=2025-01-01..2025-02-01"), [Value::Null; 0]);
}

#[test]
fn a_concept_names_the_fact_that_was_said_apart_now_and_for_the_past() {
    let mut api = Api::shared("understanding-apart");
    say(&mut api, 1, "Today Acme asked for the renewal.");
    say(&mut api, 2, "Again Acme asked for the renewal.");
    say(&mut api, 3, "Acme has 200 seats.");
    synthesize(&mut api, json!({}));
    let concept = concepts(&mut api, "").pop().expect("a concept");
    assert_eq!(things(&concept), ["acme", "renewal"]);
    let facts = api.get(&format!("/v1/facts?scope={}", api.scope)).ok(200);
    assert_eq!(strings(&concept["supported_by"]["facts"]), [string(&facts["items"][0], "id")]);
    assert_eq!(strings(&concept["supported_by"]["episodes"]).len(), 2);
    // Something else is written: the same instant is past now, and the concept stood then as it stood.
    let then = string(&concept, "last_synthesized_at");
    say(&mut api, 4, "The weather is nice today.");
    let past = concepts(&mut api, &format!("&as_of_recorded={then}")).pop().expect("a concept");
    for field in ["stance", "supported_by", "_partial", "version_id"] {
        assert_eq!(past[field], concept[field], "{field}: {past}");
    }
}

#[test]
fn r240_what_lost_its_support_is_hidden_at_once() {
    let mut api = Api::shared("understanding-lost");
    let [_, second, third] = renewal(&mut api);
    let id = string(&concepts(&mut api, "")[0], "id");
    for wrong in [third, second] {
        api.post(&format!("/v1/lifecycle/memory-event/{wrong}/cancel"), &json!({})).ok(200);
        assert_eq!(concepts(&mut api, ""), [Value::Null; 0]);
        assert!(!strings(&api.event(&wrong)["derives"]).contains(&id));
    }
    let hidden = concepts(&mut api, "&include_deprecated=true");
    assert_eq!(hidden.len(), 1);
    assert_eq!((&hidden[0]["id"], &hidden[0]["stance"]), (&json!(id), &json!("deprecated")));
    assert_eq!(hidden[0]["_partial_reason"], "insufficient_supporting_facts", "R243");
    // It can still be asked for, and says what it is.
    assert_eq!(api.get(&format!("/v1/understanding/{id}")).ok(200)["stance"], "deprecated");
    let history = api.get(&format!("/v1/concepts/{id}/history")).ok(200);
    assert_eq!(history["versions"].as_array().unwrap().last().unwrap()["version"], 1);
}

#[test]
fn r298_r299_concepts_are_related_and_cover_a_scope() {
    let mut api = Api::shared("understanding-related");
    for day in [1, 4, 7] {
        say(&mut api, day, "Today checkout had trouble with refunds.");
        say(&mut api, day + 1, "Today Stripe sent webhooks.");
        say(&mut api, day + 2, "The checkout uses Stripe.");
    }
    synthesize(&mut api, json!({}));
    let found = concepts(&mut api, "");
    let of = |name: &str| {
        let one = found.iter().find(|one| things(one).iter().any(|thing| thing.contains(name)));
        one.unwrap_or_else(|| panic!("{name}: {found:#?}")).clone()
    };
    let checkout = of("checkout");
    let coverage = api.get(&format!("/v1/understanding/coverage?scope={}", api.scope)).ok(200);
    assert_eq!(coverage["concept_count"], found.len());
    let topics = coverage["by_topic"].as_array().unwrap();
    let sum: u64 = topics.iter().map(|topic| topic["concepts"].as_u64().unwrap()).sum();
    assert_eq!(sum as usize, found.len());
    assert!(topics.iter().all(|topic| topic["avg_confidence"].as_f64().unwrap() > 0.0));
    assert_eq!(coverage["synthesis_lag"], "PT0S");
    assert_eq!(coverage["_partial"], false);
    assert_eq!(api.get(&format!("/v1/concepts/coverage?scope={}", api.scope)).ok(200), coverage);
    let id = string(&checkout, "id");
    let related = api.get(&format!("/v1/understanding/{id}/related?depth=2")).ok(200);
    for one in related["items"].as_array().unwrap() {
        assert_ne!(one["concept"]["id"], checkout["id"]);
        assert!(one["depth"].as_u64().unwrap() <= 2 && one["weight"].as_f64().unwrap() <= 1.0);
    }
    // R242: what edges lead to can be asked for.
    for edge in checkout["edges"].as_array().unwrap() {
        assert_eq!(edge["vocabulary"], "default");
        api.get(&format!("/v1/understanding/{}", string(edge, "to"))).ok(200);
    }
    let none = api.get(&format!("/v1/understanding/{id}/related?relation=generalizes")).ok(200);
    assert_eq!(none["items"], json!([]));
    // R296: by topic.
    let about = concepts(&mut api, "&topic=the+Refunds");
    assert_eq!(about.len(), 1, "{about:#?}");
    assert_eq!(about[0]["id"], checkout["id"]);
    assert_eq!(concepts(&mut api, "&topic=golf&depth=2"), [Value::Null; 0]);
}

#[test]
fn r236_r242_relations_of_a_vocabulary_type_edges() {
    let mut api = Api::shared("understanding-custom");
    let relations = json!([{"id": "settles_through", "aliases": ["pays via"]}]);
    let body = json!({"name": "payments", "kind": "relation", "scope": api.scope,
        "relations": relations});
    api.post("/v1/vocabularies", &body).ok(201);
    for day in [1, 4, 7] {
        say(&mut api, day, "Today checkout had trouble with refunds.");
        say(&mut api, day + 1, "Today Stripe sent webhooks.");
        let mut envelope = api.envelope("");
        envelope["content"] = json!({"kind": "triple", "triple": {
            "subject": {"type": "entity", "id": "checkout", "name": "checkout"},
            "predicate": "pays via",
            "object": {"type": "entity", "id": "stripe", "name": "Stripe"},
        }});
        let session = format!("s{}", day + 2);
        envelope["observed_actor"] =
            json!({"id": "user:local", "type": "user", "session": session});
        envelope["context"] = json!({"observed_at": format!("2025-03-{:02}T10:00:00Z", day + 2)});
        api.post("/v1/experience?wait=consolidated", &envelope).ok(200);
    }
    synthesize(&mut api, json!({}));
    let found = concepts(&mut api, "");
    let checkout = found.iter().find(|one| things(one).contains(&"checkout".to_owned()));
    let checkout = checkout.unwrap_or_else(|| panic!("{found:#?}"));
    let edge = &checkout["edges"][0];
    assert_eq!(edge["relation"], "settles_through", "{checkout:#}");
    assert_eq!(edge["vocabulary"], "payments");
    let related = format!("/v1/understanding/{}/related?relation=", string(checkout, "id"));
    let over = api.get(&format!("{related}settles_through")).ok(200);
    assert_eq!(over["items"][0]["relation"], "settles_through");
    assert_eq!(over["items"][0]["concept"]["id"], edge["to"]);
    api.get(&format!("{related}pays_never")).fails(422, "INVALID_PARAMETER");
}

#[test]
fn r300_synthesis_is_a_job_that_is_asked_for_once() {
    let mut api = Api::shared("understanding-job");
    say(&mut api, 1, "Today Acme asked for the renewal.");
    let keyed = json!({"idempotency_key": "once", "force": false});
    let job = synthesize(&mut api, keyed.clone());
    check_id(&string(&job, "job_id"), "job");
    assert!(string(&job, "lifecycle_stream").starts_with("/v1/lifecycle/stream?"), "{job}");
    assert_eq!(synthesize(&mut api, keyed), job);
    let body = json!({"scope": api.scope, "topics": [], "force": true, "idempotency_key": "once"});
    api.post("/v1/understanding/synthesize", &body).fails(409, "IDEMPOTENCY_CONFLICT");
    let body = json!({"scope": api.scope, "topics": [], "idempotency_key": "once"});
    let again = api.post("/v1/understanding/synthesize", &body);
    assert_eq!(again.header("x-cortex-replay"), Some("true"), "R197");
    assert_eq!(again.header("x-cortex-stability"), Some("experimental"), "R036");
    // The open episode is over.
    let episodes = api.get(&format!("/v1/episodes?scope={}", api.scope)).ok(200);
    assert_eq!(episodes["items"][0]["state"], "sealed");
}

#[test]
fn r198_pages_of_concepts_join() {
    let mut api = Api::shared("understanding-pages");
    for day in [1, 5, 9, 13] {
        for (step, text) in ["Acme wants the renewal.", "Rex visits the vet.", "Mia buys a boat."]
            .into_iter()
            .enumerate()
        {
            say(&mut api, day + step as u32, &format!("Today {text}"));
        }
    }
    synthesize(&mut api, json!({}));
    let all: Vec<String> = concepts(&mut api, "").iter().map(|one| string(one, "id")).collect();
    assert_eq!(all.len(), 3);
    let mut target = format!("/v1/understanding?scope={}&limit=1", api.scope);
    let mut seen = Vec::new();
    loop {
        let page = api.get(&target).ok(200);
        seen.extend(page["items"].as_array().unwrap().iter().map(|one| string(one, "id")));
        // What is understood meanwhile is not on a later page.
        synthesize(&mut api, json!({"force": true}));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        target = format!("/v1/understanding?scope={}&limit=1&cursor={cursor}", api.scope);
    }
    assert_eq!(seen, all);
}

#[test]
fn r296_r203_bad_questions_are_refused() {
    let mut api = Api::shared("understanding-refused");
    let scope = api.scope.clone();
    for (query, status, code) in [
        ("&depth=6", 422, "INVALID_PARAMETER"),
        ("&depth=x", 422, "INVALID_PARAMETER"),
        ("&include_deprecated=perhaps", 422, "INVALID_PARAMETER"),
        ("&min_confidence=2", 422, "INVALID_PARAMETER"),
        ("&limit=0", 422, "INVALID_PARAMETER"),
        ("&limit=1001", 422, "INVALID_PARAMETER"),
        ("&as_of=yesterday", 422, "INVALID_TIMESTAMP"),
        ("&cursor=abc", 422, "INVALID_CURSOR"),
        ("&view=sideways", 422, "INVALID_PARAMETER"),
    ] {
        api.get(&format!("/v1/understanding?scope={scope}{query}")).fails(status, code);
    }
    api.get("/v1/understanding").fails(400, "MISSING_REQUIRED_FIELD");
    api.get("/v1/understanding/coverage").fails(400, "MISSING_REQUIRED_FIELD");
    let nobody = "concept_00000000000070008000000000000000";
    for tail in ["", "/related"] {
        api.get(&format!("/v1/understanding/{nobody}{tail}")).fails(404, "NOT_FOUND");
        api.get(&format!("/v1/understanding/evt_{}{tail}", &nobody[8..])).fails(422, "INVALID_ID");
    }
    api.get(&format!("/v1/concepts/{nobody}/history")).fails(404, "NOT_FOUND");
    let post = |body: Value| Request::post("/v1/understanding/synthesize", &body);
    let many: Vec<String> = (0..101).map(|at| format!("t{at}")).collect();
    for (body, status, code) in [
        (json!({"topics": []}), 400, "MISSING_REQUIRED_FIELD"),
        (json!({"scope": scope, "model": "large"}), 422, "INVALID_BODY"),
        (json!({"scope": scope, "topics": many}), 422, "INVALID_BODY"),
        (json!({"scope": "nothing"}), 422, "INVALID_SCOPE_GRAMMAR"),
        (json!({"scope": scope, "idempotency_key": "k".repeat(65)}), 422, "INVALID_BODY"),
    ] {
        api.send(&post(body)).fails(status, code);
    }
    // Nothing was ever written there: nothing is understood, and nothing fails.
    assert_eq!(concepts(&mut api, ""), [Value::Null; 0]);
}

#[test]
fn r072_r434_concepts_are_read_upwards_and_downwards() {
    let mut api = Api::shared("understanding-views");
    let above = api.scope.clone();
    renewal(&mut api);
    let top = string(&concepts(&mut api, "")[0], "id");
    api.scope = format!("{above}/project:p");
    let below = api.scope.clone();
    let last = renewal(&mut api)[2].clone();
    let own = string(&concepts(&mut api, "")[0], "id");
    let ids = |found: Vec<Value>| -> String {
        found.iter().map(|one| string(one, "id")).collect::<Vec<String>>().join(" ")
    };
    // The same things, understood in each scope on its own.
    assert_ne!(top, own);
    assert_eq!(ids(concepts(&mut api, "")), own);
    assert_eq!(ids(concepts(&mut api, "&view=holistic")), format!("{own} {top}"));
    assert_eq!(ids(concepts(&mut api, "&view=descend")), own, "nothing is below");
    api.scope = above.clone();
    assert_eq!(ids(concepts(&mut api, "")), top);
    assert_eq!(ids(concepts(&mut api, "&view=holistic")), top, "nothing is above");
    let all = concepts(&mut api, "&view=descend");
    let scopes: Vec<String> = all.iter().map(|one| string(one, "scope")).collect();
    assert_eq!(scopes, [below, above.clone()]);
    assert_eq!(ids(concepts(&mut api, "&view=descend&topic=renewal")), format!("{own} {top}"));
    let coverage = |api: &mut Api, view: &str| {
        let target = format!("/v1/understanding/coverage?scope={above}&view={view}");
        api.get(&target).ok(200)["concept_count"].clone()
    };
    assert_eq!((coverage(&mut api, "local"), coverage(&mut api, "descend")), (json!(1), json!(2)));
    // What is withdrawn below is gone from above too, and nothing else is.
    api.post(&format!("/v1/lifecycle/memory-event/{last}/cancel"), &json!({})).ok(200);
    assert_eq!(ids(concepts(&mut api, "&view=descend")), top);
}

#[test]
fn r166_r183_concepts_of_other_scopes_take_a_capability_of_their_own() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let below = "org:acme/team:a";
    for (day, text) in [
        "Today Acme asked for the renewal.",
        "Today Priya negotiates the renewal for Acme.",
        "The renewal of Acme is signed, says Priya.",
    ]
    .iter()
    .enumerate()
    {
        let mut envelope = envelope(below, text);
        let at = format!("2025-03-{:02}T10:00:00Z", day + 1);
        envelope["context"] = json!({"observed_at": at});
        alice.post("/v1/experience?wait=consolidated", &envelope).ok(200);
    }
    let body = json!({"scope": below, "topics": []});
    alice.post("/v1/understanding/synthesize", &body).ok(202);
    let mut claims = team.claims("acme", "user:alice");
    let caps = ["scope.read.local", "scope.read.holistic", "scope.read.descend"];
    claims.caps =
        Some(caps.iter().chain(&["understanding.read"]).map(|cap| (*cap).to_owned()).collect());
    let mut narrow = team.with(&claims);
    // Its own scope, and those above it; not those below.
    for view in ["local", "holistic"] {
        let page = narrow.get(&format!("/v1/understanding?scope={below}&view={view}")).ok(200);
        assert_eq!(page["items"].as_array().unwrap().len(), 1, "{view}");
    }
    for target in ["/v1/understanding?", "/v1/concepts?", "/v1/understanding/coverage?"] {
        let target = format!("{target}scope=org:acme&view=descend");
        let denied = narrow.get(&target).fails(403, "POLICY_DENIED");
        assert_eq!(denied["details"]["capability"], "understanding.read.cross_scope");
        alice.get(&target).ok(200);
    }
    let page = alice.get("/v1/understanding?scope=org:acme&view=descend").ok(200);
    let found = page["items"].as_array().unwrap();
    assert_eq!((found.len(), &found[0]["scope"]), (1, &json!(below)));
    // Without `understanding.read` there is nothing to read, whatever the view.
    claims.caps = Some(caps.iter().map(|cap| (*cap).to_owned()).collect());
    let mut blind = team.with(&claims);
    let id = string(&found[0], "id");
    for target in [format!("/v1/understanding?scope={below}"), format!("/v1/understanding/{id}")] {
        let denied = blind.get(&target).fails(403, "POLICY_DENIED");
        assert_eq!(denied["details"]["capability"], "understanding.read");
    }
}

#[test]
fn r301_a_scope_can_ask_for_no_synthesis() {
    let mut api = Api::shared("understanding-off");
    let body = json!({"path": api.scope, "policies": {"consolidation": "none"}});
    api.post("/v1/scopes", &body).ok(201);
    renewal(&mut api);
    let page = api.get(&format!("/v1/understanding?scope={}", api.scope)).ok(200);
    assert_eq!(page["items"], json!([]));
    assert_eq!(page["_partial_reason"], "synthesis_disabled_by_policy", "R243");
    let coverage = api.get(&format!("/v1/understanding/coverage?scope={}", api.scope)).ok(200);
    assert_eq!((&coverage["_partial"], &coverage["concept_count"]), (&json!(true), &json!(0)));
}
