//! Recall over HTTP: what is found, in which order, within which bounds, and when nothing is.

use lamina_env::Disk as _;
use lamina_sim::client::Deadline;
use serde_json::{Value, json};

use crate::harness::{Api, Own, data, directory, launch, string};

/// Says something at an instant and waits until it can be found.
fn say(api: &mut Api, at: &str, text: &str) -> String {
    let mut envelope = api.envelope(text);
    let fields = envelope.as_object_mut().expect("an envelope is an object");
    fields.insert("context".to_owned(), json!({"observed_at": at}));
    string(&api.post("/v1/experience?wait=indexed", &envelope).ok(200), "event_id")
}

/// A recall in the scope of the test, with more fields.
fn recall(api: &mut Api, query: &str, more: &Value) -> Value {
    let mut body = json!({"scope": api.scope, "query": query});
    let fields = body.as_object_mut().expect("a request is an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    api.post("/v1/recall", &body).ok(200)
}

fn ids(pack: &Value, layer: &str) -> Vec<String> {
    let items = pack.pointer(&format!("/layers/{layer}")).and_then(Value::as_array);
    let items = items.expect("a layer is a list");
    items.iter().map(|item| string(item, "id")).collect()
}

/// Whether a pack has nothing that is relevant enough.
fn is_only_closest(pack: &Value) -> bool {
    let events =
        pack.pointer("/layers/events").and_then(Value::as_array).expect("a layer is a list");
    pack.get("why_not").is_some() && events.iter().all(|event| event["below_floor"] == true)
}

/// A few things that were said, with the one that answers most questions below.
fn roof(api: &mut Api) -> (String, String, String) {
    let roof = say(api, "2025-03-14T10:00:00Z", "The roof of the barn leaks above the hayloft.");
    let cat = say(api, "2025-03-20T10:00:00Z", "Our cat caught three mice this morning.");
    let roofer =
        say(api, "2025-05-02T09:30:00Z", "The roofer will repair the roof for 1,900 euros.");
    (roof, cat, roofer)
}

#[test]
fn r342_r343_r264_a_pack_has_layers_positions_and_scores() {
    let mut api = Api::shared("recall-pack");
    let (roof, cat, roofer) = roof(&mut api);
    let pack = recall(&mut api, "Where does the roof leak?", &json!({}));
    assert_eq!(ids(&pack, "events").first(), Some(&roof));
    assert!(ids(&pack, "events").contains(&roofer), "it speaks of the roof too");
    assert!(!ids(&pack, "events").iter().take(2).any(|id| *id == cat));
    assert!(string(&pack, "pack_id").starts_with("pack_"), "R264");
    assert!(string(&pack, "request_id").starts_with("req_"));
    assert_eq!((&pack["scope"], &pack["view"]), (&json!(api.scope), &json!("holistic")));
    for layer in ["beliefs", "facts", "episodes", "events", "understanding"] {
        let items = pack["layers"][layer].as_array().expect("every layer is a list");
        for (at, item) in items.iter().enumerate() {
            assert_eq!(item["ranked_position"], json!(at + 1), "R343");
            let score = item["score"].as_f64().expect("a score is a number");
            assert!((0.0..=1.0).contains(&score));
        }
    }
    let best = pack["layers"]["events"][0]["score"].as_f64().unwrap();
    assert!((best - 1.0).abs() < 1e-9, "the best of the pack has 1");
    assert!(pack.get("diagnostics").is_none(), "not asked for");
}

#[test]
fn the_context_block_has_the_form_that_clients_take_apart() {
    let mut api = Api::shared("recall-block");
    roof(&mut api);
    let pack = recall(&mut api, "Where does the roof leak?", &json!({"include": ["events"]}));
    let block = string(&pack, "context_block");
    let memories: Vec<&str> = block.split("\n---\n").collect();
    assert_eq!(memories.len(), pack["layers"]["events"].as_array().unwrap().len());
    assert_eq!(
        memories.first().copied(),
        Some(
            "[2025-03-14 10:00 UTC] [user] [user:local] The roof of the barn leaks above the hayloft."
        )
    );
    // The stored text stands without the role.
    let first = &pack["layers"]["events"][0];
    assert_eq!(first["content"]["text"], "The roof of the barn leaks above the hayloft.");
    let marked = recall(
        &mut api,
        "Where does the roof leak?",
        &json!({"include": ["events"], "citation_mode": "inline_with_markers"}),
    );
    assert!(string(&marked, "context_block").contains("hayloft. [1]"), "R261");
    let listed = recall(
        &mut api,
        "Where does the roof leak?",
        &json!({"include": ["events"], "citation_mode": "block_at_end"}),
    );
    assert!(string(&listed, "context_block").contains("Sources:\n[1] evt_"));
}

#[test]
fn the_context_block_tells_nothing_twice() {
    let mut api = Api::shared("recall-once");
    say(&mut api, "2025-05-03T10:00:00Z", "Acme has 200 seats.");
    say(&mut api, "2025-05-03T10:01:00Z", "Maria owns the renewal of Acme.");
    let seal = json!({"scope": api.scope, "seal": true});
    api.post("/v1/episodes/build", &seal).ok(200);
    let pack = recall(&mut api, "How many seats has Acme?", &json!({}));
    let block = string(&pack, "context_block");
    assert_eq!(block.matches("Acme has 200 seats").count(), 1, "{block}");
    // What is not told again is in its layer still.
    for layer in ["events", "facts", "beliefs", "episodes"] {
        assert!(!ids(&pack, layer).is_empty(), "{layer}: {pack}");
    }
    // A fact says in other words what nobody said in these.
    assert!(block.contains("[fact] "), "{block}");
}

#[test]
fn r348_r349_r352_views_show_what_they_say() {
    let mut api = Api::shared("recall-views");
    roof(&mut api);
    say(&mut api, "2025-05-03T10:00:00Z", "Acme has 200 seats.");
    let of =
        |api: &mut Api, view: &str| recall(api, "How many seats has Acme?", &json!({"view": view}));
    let raw = of(&mut api, "raw");
    assert!(!ids(&raw, "events").is_empty() && ids(&raw, "facts").is_empty(), "R348");
    for alias in ["granular", "local"] {
        let granular = of(&mut api, alias);
        assert_eq!(granular["view"], "granular");
        assert_eq!(granular["context_block"], "", "R349");
        assert!(!ids(&granular, "events").is_empty());
    }
    let structured = of(&mut api, "structured");
    assert!(ids(&structured, "events").is_empty(), "R352");
    let graph = structured["knowledge_subgraph"]["@graph"].as_array().expect("JSON-LD");
    assert!(graph.iter().any(|node| node["@type"] == "Fact" && node["predicate"] == "count:seats"));
    let story = of(&mut api, "narrative");
    assert!(ids(&story, "events").is_empty(), "R351");
    assert!(string(&story, "context_block").contains("Acme has 200 seats."));
}

#[test]
fn r354_derived_records_lead_back_to_their_events() {
    let mut api = Api::shared("recall-citations");
    let event = say(&mut api, "2025-05-03T10:00:00Z", "Acme has 200 seats.");
    let pack = recall(&mut api, "How many seats has Acme?", &json!({}));
    let facts = ids(&pack, "facts");
    assert_eq!(facts.len(), 1, "{pack}");
    assert_eq!(pack["provenance"]["citations"][&facts[0]], json!([event]));
    for layer in ["beliefs", "facts", "episodes", "understanding"] {
        for id in ids(&pack, layer) {
            assert!(pack["provenance"]["citations"][&id].is_array(), "{id} stands on something");
        }
    }
}

#[test]
fn r344_r346_the_trail_names_the_plan() {
    let mut api = Api::shared("recall-trail");
    roof(&mut api);
    let pack = recall(&mut api, "Where does the roof leak?", &json!({}));
    let trail = pack["provenance"]["trail"].as_array().unwrap();
    let phases: Vec<&str> = trail.iter().map(|phase| phase["phase"].as_str().unwrap()).collect();
    assert_eq!(
        phases,
        ["ARIL_classify", "hybrid_retrieve", "rerank", "graph_expand", "score", "mmr"]
    );
    assert!(trail.iter().all(|phase| phase["elapsed_ms"].is_number()));
    assert_eq!(trail[0]["plan"], "DIRECT_LOOKUP_RECHECK");
    assert!(trail[1]["bm25_hits"].as_u64().unwrap() >= 2);
    assert!(trail[2].as_object().unwrap().contains_key("model") && trail[2]["model"].is_null());
    assert!(trail[4]["weights"]["semantic"].is_number());
}

#[test]
fn r256_r260_layers_and_limits() {
    let mut api = Api::shared("recall-limits");
    roof(&mut api);
    say(&mut api, "2025-05-03T10:00:00Z", "Acme has 200 seats.");
    let question = "How many seats has Acme for the roof?";
    let only = recall(&mut api, question, &json!({"include": ["facts"]}));
    assert!(ids(&only, "events").is_empty() && !ids(&only, "facts").is_empty(), "R256");
    let none = json!({"budgets": {"per_layer_limits": {"events": 0, "facts": 5}}});
    let none = recall(&mut api, question, &none);
    assert!(ids(&none, "events").is_empty() && !ids(&none, "facts").is_empty(), "0 is none");
    let one = recall(&mut api, question, &json!({"budgets": {"per_layer_limits": {"events": 1}}}));
    assert_eq!(ids(&one, "events").len(), 1);
    let small = json!({"budgets": {"max_tokens": 40}, "diagnostics": "summary"});
    let small = recall(&mut api, question, &small);
    assert!(small["diagnostics"]["knapsack_evictions"].as_u64().unwrap() > 0, "R353");
    assert!(small["diagnostics"]["tokens"].as_u64().unwrap() <= 40);
}

#[test]
fn r257_without_content_ids_and_numbers_stay() {
    let mut api = Api::shared("recall-bare");
    let (roof, ..) = roof(&mut api);
    let pack = recall(&mut api, "Where does the roof leak?", &json!({"exclude_content": true}));
    let first = &pack["layers"]["events"][0];
    assert_eq!(string(first, "id"), roof);
    assert!(first.get("content").is_none() && first["context"]["observed_at"].is_string());
    assert!(!pack.to_string().contains("hayloft"), "no words at all");
}

#[test]
fn r259_filters_decide_before_anything_is_ranked() {
    let mut api = Api::shared("recall-filters");
    let mut envelope = api.envelope("The roof was painted green.");
    envelope["context"] = json!({"observed_at": "2025-01-01T00:00:00Z", "labels": ["house"]});
    let labelled = api.post("/v1/experience?wait=indexed", &envelope).ok(200);
    let labelled = string(&labelled, "event_id");
    let (roof, _, roofer) = roof(&mut api);
    let question = "What about the roof?";
    let metadata =
        recall(&mut api, question, &json!({"filters": {"metadata": {"labels": "house"}}}));
    assert_eq!(ids(&metadata, "events"), std::slice::from_ref(&labelled));
    let tree = json!({"filters": {"AND": [
        {"NOT": {"labels": {"in": ["house"]}}},
        {"OR": [{"observed_at": {"lt": "2025-04-01"}}, {"modality": {"in": ["nonsense"]}}]},
    ]}, "diagnostics": "summary"});
    let tree = recall(&mut api, question, &tree);
    let found = ids(&tree, "events");
    assert!(found.contains(&roof) && !found.contains(&roofer) && !found.contains(&labelled));
    assert_eq!(
        tree["diagnostics"]["filters_applied"],
        json!(["labels.in", "observed_at.lt", "modality.in"])
    );
}

#[test]
fn r372_r375_times_in_words() {
    let mut api = Api::shared("recall-times");
    let (roof, _, roofer) = roof(&mut api);
    let at = |api: &mut Api, temporal: Value| {
        let pack = recall(api, "What about the roof?", &json!({"temporal": temporal}));
        ids(&pack, "events")
    };
    let march = json!({"natural": "in March 2025"});
    let march = at(&mut api, march);
    assert!(march.contains(&roof) && !march.contains(&roofer));
    let anchored = json!({"natural": "last 30 days", "reference_date": "2025-05-10T00:00:00Z"});
    assert_eq!(at(&mut api, anchored), std::slice::from_ref(&roofer), "R258");
    let before = at(&mut api, json!({"natural": "before the roofer"}));
    assert!(before.contains(&roof) && !before.contains(&roofer));
    let during = json!({"valid_during": ["2025-05-01", "2025-06-01"]});
    assert_eq!(at(&mut api, during), [roofer]);
    let body = json!({"scope": api.scope, "query": "What about the roof?",
        "temporal": {"natural": "when pigs fly"}});
    api.post("/v1/recall", &body).fails(422, "UNPARSEABLE_TEMPORAL");
    // The question itself is never refused.
    recall(&mut api, "What about the roof when pigs fly?", &json!({}));
}

#[test]
fn r373_a_question_of_the_past_gets_the_knowledge_of_the_past() {
    let mut api = Api::shared("recall-as-of");
    let first = say(&mut api, "2025-01-10T10:00:00Z", "I live in Rome.");
    let pack = recall(&mut api, "Where do I live?", &json!({}));
    let then = string(&pack, "as_of");
    let second = say(&mut api, "2025-06-01T10:00:00Z", "I moved to Oslo.");
    let now = recall(&mut api, "Where do I live?", &json!({}));
    let values = |pack: &Value| -> Vec<String> {
        let facts = pack["layers"]["facts"].as_array().unwrap().iter();
        facts.map(|fact| fact["object"]["value"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(values(&now), ["Oslo"], "what was replaced is not current");
    let past = recall(&mut api, "Where do I live?", &json!({"temporal": {"as_of": then}}));
    assert_eq!(values(&past), ["Rome"]);
    assert!(ids(&past, "events").contains(&first) && !ids(&past, "events").contains(&second));
    let past_items = past["layers"].to_string();
    assert!(!past_items.contains("Oslo"), "{past_items}");
}

#[test]
fn what_replaced_something_stands_above_it() {
    let mut api = Api::shared("recall-superseded");
    let old = say(
        &mut api,
        "2025-01-10T10:00:00Z",
        "I live in Rome, and where I live is near the river.",
    );
    let new = say(&mut api, "2025-06-01T10:00:00Z", "I moved to Oslo.");
    let pack = recall(&mut api, "Where do I live?", &json!({}));
    let found = ids(&pack, "events");
    let place = |id: &String| found.iter().position(|other| other == id);
    let (old, new) = (place(&old), place(&new));
    assert!(new.is_some() && new < old, "{found:?}: it shares no word with the question");
}

#[test]
fn what_replaced_something_else_does_not_come_before_the_answer() {
    let mut api = Api::shared("recall-beside");
    let due = "The Acme renewal is due on 2026-04-30. Maria works at Acme.";
    let due = say(&mut api, "2026-03-16T09:00:00Z", due);
    say(&mut api, "2026-04-02T09:00:00Z", "Maria works at Initech now. Acme has 200 seats.");
    let pack = recall(&mut api, "When is the renewal due?", &json!({}));
    assert_eq!(ids(&pack, "events").first(), Some(&due), "where she works was not asked");
}

#[test]
fn nothing_is_an_answer_and_says_why() {
    let mut api = Api::shared("recall-nothing");
    roof(&mut api);
    let pack = recall(&mut api, "When did Bartholomew marry Clementine in Reykjavik?", &json!({}));
    for layer in ["beliefs", "facts", "episodes", "events", "understanding"] {
        assert!(ids(&pack, layer).is_empty(), "{layer}");
    }
    assert_eq!(pack["context_block"], "");
    let why = &pack["why_not"];
    assert!(why["best_score"].as_f64().unwrap() < why["floor"].as_f64().unwrap());
    assert!(why["candidates"].is_u64());
    let anyway = json!({"relevance_floor": 0.0});
    let anyway = recall(&mut api, "When did Bartholomew repair the roof?", &anyway);
    assert!(!ids(&anyway, "events").is_empty(), "without a floor the best there is");
}

#[test]
fn a_question_behind_other_matters_is_still_asked() {
    let mut api = Api::shared("recall-behind");
    let (roof, _, _) = roof(&mut api);
    let chat = "What a week this was! The trains were late again and the coffee machine at work is broken. \
                Somebody ought to look at the printer as well, it prints green. Where does the roof leak?";
    let pack = recall(&mut api, chat, &json!({}));
    assert_eq!(ids(&pack, "events").first(), Some(&roof), "{pack}");
    let chat = chat.replace("Where does the roof leak?", "Who painted the Sistine Chapel?");
    let pack = recall(&mut api, &chat, &json!({}));
    assert!(is_only_closest(&pack), "{pack}");
}

#[test]
fn a_question_without_spaces_is_not_taken_for_one_about_nothing() {
    let mut api = Api::shared("recall-unspaced");
    say(&mut api, "2026-05-01T10:00:00Z", "我的邻居养了两只鹦鹉。");
    let roof = say(&mut api, "2026-05-02T10:00:00Z", "厨房的屋顶漏水了。");
    say(&mut api, "2026-05-03T10:00:00Z", "我姐姐在图书馆上班。");
    let chat = "今天的火车又晚点了，咖啡机也坏了。对了，我想知道的是，那个漏水的地方是什么？";
    let pack = recall(&mut api, chat, &json!({}));
    assert_eq!(ids(&pack, "events").first(), Some(&roof), "{pack}");
    let pack = recall(&mut api, "火星的卫星是什么？", &json!({}));
    assert!(is_only_closest(&pack), "{pack}");
}

#[test]
fn a_star_asks_for_the_latest() {
    let mut api = Api::shared("recall-star");
    let (roof, cat, roofer) = roof(&mut api);
    for body in [json!({"scope": api.scope, "query": "*"}), json!({"scope": api.scope})] {
        let pack = api.post("/v1/recall", &body).ok(200);
        assert_eq!(ids(&pack, "events"), [roofer.clone(), cat.clone(), roof.clone()]);
        assert_eq!(pack["provenance"]["trail"][0]["plan"], "RECENT");
    }
}

#[test]
fn r263_the_same_key_gives_the_same_pack() {
    // Whatever is forgotten elsewhere on a shared server takes packs with it.
    let own = Own::start();
    let mut api = own.api("recall-again");
    roof(&mut api);
    let keyed = json!({"idempotency_key": "recall-roof-1"});
    let first = recall(&mut api, "Where does the roof leak?", &keyed);
    say(&mut api, "2025-06-01T10:00:00Z", "The roof does not leak any more.");
    let again = recall(&mut api, "Where does the roof leak?", &keyed);
    assert_eq!(first, again, "the cached pack, byte for byte");
    let fresh = recall(&mut api, "Where does the roof leak?", &json!({}));
    assert_ne!(first["pack_id"], fresh["pack_id"]);
    let other = json!({"scope": api.scope, "query": "Who?", "idempotency_key": "recall-roof-1"});
    api.post("/v1/recall", &other).fails(409, "IDEMPOTENCY_CONFLICT");
}

#[test]
fn r262_r347_diagnostics_say_how_it_was_made() {
    let mut api = Api::shared("recall-diagnostics");
    let (roof, ..) = roof(&mut api);
    let pack = recall(&mut api, "Where does the roof leak?", &json!({"diagnostics": "summary"}));
    let said = &pack["diagnostics"];
    assert_eq!(said["policy"]["capability"], "scope.read.holistic");
    assert!(said["policy"]["tier_attribution"].is_string());
    assert_eq!(said["filters_applied"], json!([]));
    assert_eq!(said["scopes_traversed"][0], json!(api.scope));
    for step in ["recall", "rerank", "rank", "render_context_block", "total"] {
        assert!(said["time_ms"][step].is_number(), "{step}");
    }
    assert_eq!(said["_partial"], json!(false));
    assert!(said.get("items").is_none(), "only in full");
    let full = recall(&mut api, "Where does the roof leak?", &json!({"diagnostics": "full"}));
    let item = &full["diagnostics"]["items"][0];
    assert_eq!(string(item, "event_id"), roof);
    let parts: f64 =
        item["contributions"].as_object().unwrap().values().filter_map(Value::as_f64).sum();
    assert!((parts - item["score"].as_f64().unwrap()).abs() < 0.001, "contributions add up");
}

/// 1.3 of the clients' facts: `recall_diagnostics_v1`.
#[test]
fn full_diagnostics_say_where_each_event_stood_and_why_it_is_not_shown() {
    let mut api = Api::shared("recall-stood");
    let (roof, cat, roofer) = roof(&mut api);
    let asked = json!({"diagnostics": "full", "budgets": {"per_layer_limits": {"events": 1}},
        "query_variants": [{"text": "Who repairs the roof?"}]});
    let pack = recall(&mut api, "Where does the roof leak?", &asked);
    let said = &pack["diagnostics"];
    let items = said["items"].as_array().unwrap();
    assert_eq!(items.len(), 3);
    for (at, item) in items.iter().enumerate() {
        assert_eq!(item["final_rank"], json!(at + 1));
        let moved = item["fused_rank"] != item["final_rank"];
        let why = if moved { json!("query_variants") } else { Value::Null };
        assert_eq!(item["reorder"]["why"], why, "{item}");
        for way in item["variants"].as_array().unwrap() {
            assert!([0, 1].contains(&way.as_u64().unwrap()), "{item}");
        }
    }
    // The places in a channel are those of its scores.
    for channel in ["bm25", "vector"] {
        let mut found: Vec<(u64, f64)> = items
            .iter()
            .filter_map(|item| item["channels"].get(channel))
            .map(|place| (place["rank"].as_u64().unwrap(), place["score"].as_f64().unwrap()))
            .collect();
        found.sort_by_key(|(rank, _)| *rank);
        assert!(found.iter().map(|(rank, _)| *rank).eq(1..=found.len() as u64), "{channel}");
        assert!(found.is_sorted_by(|one, other| one.1 >= other.1), "{channel}: {found:?}");
        let lists = said["channel_lists"].as_array().unwrap();
        let list = lists.iter().find(|list| list["channel"] == channel).unwrap();
        assert_eq!(list["len"], json!(found.len()));
    }
    let leaks = items.iter().find(|item| item["event_id"] == json!(roof)).unwrap();
    assert_eq!(leaks["channels"]["bm25"]["rank"], 1);
    assert_eq!(ids(&pack, "events").len(), 1);
    let drops = |pack: &Value| -> Vec<(String, String)> {
        let drops = pack["diagnostics"]["drops"].as_array().unwrap();
        drops.iter().map(|drop| (string(drop, "event_id"), string(drop, "reason"))).collect()
    };
    let left: Vec<String> = [&roof, &cat, &roofer].map(String::clone).into();
    let left = left.into_iter().filter(|id| !ids(&pack, "events").contains(id));
    let mut expected: Vec<_> = left.map(|id| (id, "layer_limit".to_owned())).collect();
    let mut found = drops(&pack);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(said["items_truncated"], json!(false));
    // Too few tokens for anything, and nothing that answers.
    let few = json!({"diagnostics": "full", "budgets": {"max_tokens": 1}});
    let pack = recall(&mut api, "Where does the roof leak?", &few);
    assert!(drops(&pack).iter().all(|(_, why)| why == "token_budget"), "{pack}");
    assert_eq!(drops(&pack).len(), 3);
    let pack = recall(&mut api, "Who wrote Turandot?", &json!({"diagnostics": "full"}));
    assert_eq!(ids(&pack, "events"), Vec::<String>::new());
    assert!(drops(&pack).iter().all(|(_, why)| why == "below_floor"), "{pack}");
}

/// What replaced something goes above it, and its diagnostics say so.
#[test]
fn diagnostics_say_that_the_newer_went_first() {
    let mut api = Api::shared("recall-moved");
    say(&mut api, "2025-01-10T10:00:00Z", "I live in Rome.");
    let new = say(&mut api, "2025-06-01T10:00:00Z", "I moved to Oslo.");
    let more = json!({"diagnostics": "full"});
    let pack = recall(&mut api, "Where do I live?", &more);
    let items = pack["diagnostics"]["items"].as_array().unwrap();
    let first = items.first().unwrap();
    assert_eq!(string(first, "event_id"), new);
    let moved = first["fused_rank"] != json!(1);
    assert_eq!(first["reorder"]["from"] == first["fused_rank"], moved, "{first}");
    assert_eq!(first["reorder"]["why"] == json!("newer_first"), moved, "{first}");
}

#[test]
fn r316_a_cancelled_event_is_not_recalled() {
    let mut api = Api::shared("recall-cancelled");
    let (roof, _, roofer) = roof(&mut api);
    let cancel = format!("/v1/lifecycle/memory-event/{roof}/cancel");
    api.post(&cancel, &json!({})).ok(200);
    let pack = recall(&mut api, "Where does the roof leak?", &json!({"relevance_floor": 0.0}));
    assert!(!pack.to_string().contains(&roof), "{pack}");
    assert!(ids(&pack, "events").contains(&roofer));
}

#[test]
fn r434_recall_reads_upward_and_never_sideways() {
    let mut api = Api::shared("recall-up");
    let parent = api.scope.clone();
    let (roof, ..) = roof(&mut api);
    api.scope = format!("{parent}/project:barn");
    let below = say(&mut api, "2025-05-04T10:00:00Z", "The roof of the barn needs new beams.");
    let sibling = format!("{parent}/project:shed");
    api.scope = sibling;
    let beside = say(&mut api, "2025-05-04T11:00:00Z", "The roof of the shed is fine.");
    api.scope = format!("{parent}/project:barn");
    let found = ids(&recall(&mut api, "What about the roof?", &json!({})), "events");
    assert!(found.contains(&below) && found.contains(&roof) && !found.contains(&beside));
    let local = recall(&mut api, "What about the roof?", &json!({"view": "granular"}));
    assert_eq!(ids(&local, "events"), std::slice::from_ref(&below));
    api.scope = parent;
    let down = json!({"view": "descend", "diagnostics": "summary"});
    let down = recall(&mut api, "What about the roof?", &down);
    let found = ids(&down, "events");
    assert!(found.contains(&below) && found.contains(&beside) && found.contains(&roof));
    let walked = down["diagnostics"]["scopes_traversed"].as_array().unwrap();
    assert!(walked.iter().all(|scope| scope["scope"].is_string() && scope["items"].is_u64()));
}

#[test]
fn r339_r340_r341_r376_a_tenant_has_words_for_times_of_its_own() {
    let mut api = Api::shared("recall-phrases");
    let (roof, _, roofer) = roof(&mut api);
    let phrase = json!({"name": "hay season", "pattern": "Hay Season",
        "resolves_to": {"valid_during": ["2025-03-01", "2025-04-01"]}});
    let made = api.post("/v1/temporal/phrases", &phrase).ok(201);
    assert_eq!(made["resolves_to"]["valid_during"][0], "2025-03-01T00:00:00Z");
    let listed = api.get("/v1/temporal/phrases").ok(200);
    let items = listed["items"].as_array().unwrap();
    assert!(items.iter().any(|item| item == &made), "{listed}");
    let asked = json!({"temporal": {"natural": "during the hay season"}});
    let found = ids(&recall(&mut api, "What about the roof?", &asked), "events");
    assert!(found.contains(&roof) && !found.contains(&roofer));
    let removed = api.delete("/v1/temporal/phrases/hay%20season");
    assert_eq!(removed.response.status, 204);
    let body = json!({"scope": api.scope, "query": "What about the roof?",
        "temporal": {"natural": "during the hay season"}});
    api.post("/v1/recall", &body).fails(422, "UNPARSEABLE_TEMPORAL");
    api.delete("/v1/temporal/phrases/hay%20season").fails(404, "NOT_FOUND");
}

#[test]
fn the_index_is_held_against_the_events() {
    let mut api = Api::shared("recall-audit");
    let (roof, ..) = roof(&mut api);
    let asked = json!({"scope": api.scope, "repair": true});
    let audit = api.post("/v1/admin/index-audit", &asked).ok(200);
    assert_eq!((&audit["checked"], &audit["missing"]), (&json!(3), &json!(0)), "{audit}");
    assert_eq!((&audit["unembedded"], &audit["complete"]), (&json!(0), &json!(true)));
    let shown = api.get(&format!("/v1/admin/events/{roof}/chunks")).ok(200);
    let chunk = &shown["chunks"][0];
    assert_eq!(chunk["text"], "The roof of the barn leaks above the hayloft.");
    assert_eq!((&chunk["lexical"], &chunk["vector"]), (&json!(true), &json!(true)));
    assert_eq!(chunk["byte_range"], json!({"start": 0, "end": 45}));
}

#[test]
fn r205_r420_without_an_index_writes_succeed_and_recall_reads() {
    let directory = directory();
    let place = data(directory.path());
    let server = launch(directory.path(), &[]).start().unwrap();
    assert!(server.stop().unwrap().success());
    let search = place.join("search");
    lamina_env::RealDisk.remove_dir_all(&search).unwrap();
    // A file where the folder should be: the index cannot be opened.
    std::os::unix::fs::symlink("/dev/null", &search).unwrap();
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("recall-unindexed");
    let envelope = api.envelope("The roof of the barn leaks above the hayloft.");
    let written = api.post("/v1/experience", &envelope).ok(202);
    let event = string(&written, "event_id");
    let pack = recall(&mut api, "Where does the roof leak?", &json!({"diagnostics": "summary"}));
    assert_eq!(ids(&pack, "events"), std::slice::from_ref(&event), "found by reading");
    assert_eq!(pack["_partial"], json!(true), "R420");
    assert_eq!(pack["_partial_reason"], "DERIVED_LAYER_UNAVAILABLE: search_index");
    api.post("/v1/admin/index-audit", &json!({})).fails(503, "DERIVED_LAYER_UNAVAILABLE");
    let health = api.get("/v1/admin/health").ok(200);
    assert_eq!(health["status"], "degraded");
    // The stage is tried five times, with growing pauses, before it is given up.
    let mut looks = 0;
    loop {
        let status = api.get(&format!("/v1/experience/status?event_id={event}")).ok(200);
        if status.to_string().contains("\"failed") || status["failure_reason"].is_string() {
            break;
        }
        looks += 1;
        assert!(looks < 600, "{status}");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

/// How long a small index may take to be made again.
const HEALS: std::time::Duration = std::time::Duration::from_secs(60);

#[test]
fn r205_r420_a_damaged_index_fails_no_recall_and_is_made_again() {
    let own = Own::start();
    let mut api = own.api("recall-damaged");
    let (scope, event) = (api.scope.clone(), roof(&mut api).0);
    let directory = own.stop();
    let search = data(directory.path()).join("search");
    let names = lamina_env::RealDisk.list(&search).unwrap();
    for tenant in names.iter().filter(|name| name.starts_with("tenant-")) {
        let metas = search.join(tenant).join("words").join("meta.json");
        lamina_env::disk::write_atomic(&lamina_env::RealDisk, &metas, b"not what was written")
            .unwrap();
    }
    let found = |own: &Own, question: &str| {
        let mut api = own.api("recall-damaged");
        api.scope.clone_from(&scope);
        recall(&mut api, question, &json!({}))
    };
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let pack = found(&own, "Where does the roof leak?");
    assert!(ids(&pack, "events").contains(&event), "{pack}");
    assert_eq!(pack["_partial_reason"], "DERIVED_LAYER_UNAVAILABLE: search_index");
    let mut api = own.api("recall-damaged");
    api.scope.clone_from(&scope);
    assert_eq!(api.get("/v1/admin/health").ok(200)["status"], "degraded");
    let well = api.write("The well of the farm is thirty feet deep.");
    let pack = found(&own, "How deep is the well?");
    assert!(ids(&pack, "events").contains(&well), "what is written meanwhile is read: {pack}");
    // It is made again while the server runs.
    let deadline = Deadline::after(HEALS);
    for (question, event) in
        [("Where does the roof leak?", &event), ("How deep is the well?", &well)]
    {
        loop {
            let pack = found(&own, question);
            assert!(ids(&pack, "events").contains(event), "{pack}");
            if pack["_partial"].is_null() {
                break;
            }
            assert!(!deadline.passed(), "{pack}");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
    assert_eq!(api.get("/v1/admin/health").ok(200)["status"], "healthy");
    let directory = own.stop();
    let checked =
        crate::cli::lamina(&["check", "--data", crate::cli::text(&data(directory.path()))]);
    crate::cli::code(&checked, 0);
    assert!(!crate::cli::out(&checked).contains("search/"), "{}", crate::cli::out(&checked));
}
