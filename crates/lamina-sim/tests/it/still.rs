//! What still stands, from outside: a table of short stories whose answers, blocks and standing lines must not be from
//! what ended.

use serde_json::{Value, json};

use crate::harness::{Api, string};

const STORIES: &str = include_str!("still/stories.txt");

fn say(api: &mut Api, day: usize, content: &Value) {
    let context = json!({"observed_at": format!("2026-03-{:02}T09:00:00Z", 2 * day)});
    let mut envelope = api.envelope("");
    for (name, value) in [("content", content.clone()), ("context", context)] {
        envelope.as_object_mut().expect("an object").insert(name.to_owned(), value);
    }
    api.post("/v1/experience?wait=consolidated", &envelope).ok(200);
}

fn tell(api: &mut Api, question: &str) -> String {
    let body = json!({"scope": api.scope, "question": question});
    string(&api.post("/v1/answer", &body).ok(200), "answer")
}

fn recall(api: &mut Api, question: &str) -> Value {
    let body = json!({"scope": api.scope, "query": question});
    api.post("/v1/recall", &body).ok(200)
}

/// What is wrong with an answer.
fn judged(answer: &str, wanted: &str) -> bool {
    let (has, lacks) = wanted.split_once(" ! ").unwrap_or((wanted, ""));
    let known = match has {
        "?" => answer.starts_with("I do not know"),
        has => answer.contains(has),
    };
    known && (lacks.is_empty() || !answer.contains(lacks))
}

#[test]
fn nothing_is_answered_from_what_ended() {
    let mut api = Api::shared("still");
    let base = api.scope.clone();
    let (mut day, mut asked, mut wrong) = (0, String::new(), Vec::new());
    for line in STORIES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (kind, rest) = line.split_at(1);
        let rest = rest.trim();
        match kind {
            "=" => (api.scope, day) = (format!("{base}/project:{rest}"), 0),
            "M" => {
                day += 1;
                say(&mut api, day, &json!({"kind": "message", "role": "user", "text": rest}));
            }
            "Q" => {
                let (question, wanted) = rest.split_once(" | ").expect("a question and its answer");
                question.clone_into(&mut asked);
                let answer = tell(&mut api, question);
                if !judged(&answer, wanted) {
                    wrong.push(format!("{}: {question} -> {answer}", api.scope));
                }
            }
            "B" => {
                let block = string(&recall(&mut api, &asked), "context_block");
                let derived = ["[belief]", "[fact]", "[standing]"];
                let told = |line: &&str| derived.iter().any(|tag| line.contains(tag));
                if let Some(line) = block.lines().filter(told).find(|line| line.contains(rest)) {
                    wrong.push(format!("{}: {asked} -> {line}", api.scope));
                }
            }
            "S" => {
                let pack = recall(&mut api, &asked);
                let items = pack["standing"].as_array().cloned().unwrap_or_default();
                let texts: Vec<String> = items.iter().map(|item| string(item, "text")).collect();
                if texts.join(" ") != rest {
                    wrong.push(format!("{}: applies {texts:?}", api.scope));
                }
            }
            other => panic!("`{other}` is no kind of line"),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_document_is_told_without_quotation_marks() {
    let mut api = Api::shared("still-documents");
    let customer = json!({"customer": {"id": "C-17", "plan": "gold", "seats": 12}});
    say(&mut api, 1, &json!({"kind": "json", "data": customer}));
    let told = tell(&mut api, "What is the plan of customer C-17?");
    assert_eq!(
        told.split(" [").next(),
        Some("On 2026-03-02, from user:local: C-17: customer.plan gold")
    );
    let part = |id: &str, name: &str| json!({"type": "entity", "id": id, "name": name});
    let triple = json!({"subject": part("a", "Service A"), "predicate": "depends_on",
        "object": part("b", "Service B")});
    say(&mut api, 2, &json!({"kind": "triple", "triple": triple}));
    let told = tell(&mut api, "What does Service A depend on?");
    assert!(
        told.contains("Service A depends on Service B") && !told.contains('\u{201c}'),
        "{told}"
    );
}

#[test]
fn a_decided_conflict_is_answered_by_its_winner() {
    let mut api = Api::shared("still-decided");
    for text in ["Anna lives in Rome.", "Anna lives in Oslo."] {
        say(&mut api, 5, &json!({"kind": "message", "role": "user", "text": text}));
    }
    let scope = api.scope.clone();
    let open = api.get(&format!("/v1/conflicts?scope={scope}")).ok(200);
    let conflict = &open["conflicts"][0];
    let records = conflict["records"].as_array().expect("a conflict has sides");
    let oslo = records.iter().find(|record| record["object"] == "Oslo").expect("Oslo is a side");
    let body = json!({"action": "pick", "winner": string(oslo, "id"), "reason": "she told me"});
    api.post(&format!("/v1/conflicts/{}/resolve", string(conflict, "id")), &body).ok(200);
    let told = tell(&mut api, "Where does Anna live?");
    assert!(told.contains("Oslo") && !told.contains("Rome"), "{told}");
    let pack = recall(&mut api, "Where does Anna live?");
    assert_eq!(pack["layers"]["events"][0]["content"]["text"], "Anna lives in Oslo.");
}

#[test]
fn a_graph_says_what_is_held() {
    let mut api = Api::shared("still-graph");
    let text = "I'm not allergic to peanuts, I just dislike them.";
    say(&mut api, 1, &json!({"kind": "message", "role": "user", "text": text}));
    let body = json!({"scope": api.scope, "query": "What am I allergic to?", "view": "structured"});
    let pack = api.post("/v1/recall", &body).ok(200);
    let graph = pack["knowledge_subgraph"]["@graph"].as_array().cloned().unwrap_or_default();
    let belief = graph.iter().find(|node| {
        node["@type"] == "Belief"
            && node["name"].as_str().is_some_and(|name| name.contains("allergic"))
    });
    let belief = belief.expect("it is believed one way or the other");
    assert_eq!((&belief["stance"], &belief["held"]), (&json!("contradicted"), &json!(false)));
}
