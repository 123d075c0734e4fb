//! Who is taken for whom, from words over HTTP (issue of entities: aliases, folding, spellings, kinds),
//! and merging and splitting with their past.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::coverage::check_schema;
use crate::harness::{Api, Own, encode, string};

/// Says something a day after what was said before, and waits until it is derived from.
fn say(api: &mut Api, day: usize, text: &str) -> String {
    let mut envelope = api.envelope(text);
    let (month, day) = (day / 28 + 1, day % 28 + 1);
    envelope["context"] = json!({"observed_at": format!("2025-{month:02}-{day:02}T10:00:00Z")});
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

fn facts(api: &mut Api, more: &str) -> Vec<Value> {
    let target = format!("/v1/facts?scope={}&limit=200&include_superseded=true{more}", api.scope);
    api.get(&target).ok(200)["items"].as_array().unwrap().clone()
}

/// Every entity that facts name so, as subject or object.
fn called(api: &mut Api, name: &str) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for fact in facts(api, "") {
        for end in [&fact["subject"], &fact["object"]] {
            if end["name"] == name {
                ids.insert(string(end, "id"));
            }
        }
    }
    ids
}

const SAME: bool = true;
const OTHER: bool = false;

/// What is said, two names in it, and whether they are one.
const TABLE: &[(&[&str], &str, &str, bool)] = &[
    // Case, punctuation, legal forms.
    (&["I work at Acme.", "ACME has 200 seats."], "Acme", "ACME", SAME),
    (
        &["I work at Acme Corp.", "Acme Corporation has 200 seats."],
        "Acme Corp",
        "Acme Corporation",
        SAME,
    ),
    (&["I work at Acme Inc.", "Acme has 200 seats."], "Acme Inc", "Acme", SAME),
    (&["Acme has 200 seats.", "I work at Acme."], "Acme", "Acme", SAME),
    (&["I work at Müller GmbH.", "Muller has 20 seats."], "Müller GmbH", "Muller", SAME),
    (&["I work at Acme.", "We use Acme for billing."], "Acme", "Acme", SAME),
    (&["I work at Acme.", "My sister works at Initech."], "Acme", "Initech", OTHER),
    (&["I work at Acme Labs.", "Acme has 200 seats."], "Acme Labs", "Acme", OTHER),
    (&["Acme has 200 seats.", "The Acme deal is on hold."], "Acme", "Acme deal", SAME),
    // Kinds are evidence.
    (&["We use Kubernetes.", "Kubernetes is on hold."], "Kubernetes", "Kubernetes", SAME),
    (&["Kubernetes is on hold.", "We use Kubernetes."], "Kubernetes", "Kubernetes", SAME),
    (&["I live in Florence.", "My wife is Florence."], "Florence", "Florence", OTHER),
    (
        &["I work at Morgan Stanley.", "My manager is Morgan Stanley."],
        "Morgan Stanley",
        "Morgan Stanley",
        OTHER,
    ),
    // Parts of names.
    (&["Bob Miller works at Acme.", "Bob lives in Oslo."], "Bob Miller", "Bob", SAME),
    (&["Rob lives in Oslo.", "Rob Carter works at Acme."], "Rob", "Rob Carter", SAME),
    // Another scope, and a full name that the tenant knows from the one before.
    (&["Bob lives in Oslo.", "Bob Miller works at Acme."], "Bob", "Bob Miller", OTHER),
    (&["Bob Miller works at Acme.", "Bob Jones works at Acme."], "Bob Miller", "Bob Jones", OTHER),
    (
        &["Bob Miller works at Acme.", "Bob Jones works at Acme.", "Bob lives in Oslo."],
        "Bob Miller",
        "Bob",
        OTHER,
    ),
    (
        &["Bob Miller works at Acme.", "Bob Jones works at Acme.", "Bob lives in Oslo."],
        "Bob Jones",
        "Bob",
        OTHER,
    ),
    (
        &["Bob Miller works at Acme.", "Ann Miller works at Acme."],
        "Bob Miller",
        "Ann Miller",
        OTHER,
    ),
    (&["Ann Lee works at Acme.", "Dr Ann Lee lives in Oslo."], "Ann Lee", "Dr Ann Lee", SAME),
    // Spellings.
    (
        &["Michael Brown works at Acme.", "Micheal Brown lives in Oslo."],
        "Michael Brown",
        "Micheal Brown",
        SAME,
    ),
    (&["We use Postgres.", "Postgress is on hold."], "Postgres", "Postgress", SAME),
    (&["We use Kubernetes.", "Kubernets is on hold."], "Kubernetes", "Kubernets", SAME),
    (&["I live in Bern.", "My sister lives in Bonn."], "Bern", "Bonn", OTHER),
    (&["Marion works at Acme.", "Marian works at Acme."], "Marion", "Marian", OTHER),
    (&["We use Java.", "We use Jawa."], "Java", "Jawa", OTHER),
    (
        &["John Smith works at Acme.", "Joan Smith works at Acme."],
        "John Smith",
        "Joan Smith",
        OTHER,
    ),
    // Names that are said.
    (&["Acme Corp is also known as Globex.", "Globex has 200 seats."], "Acme Corp", "Globex", SAME),
    (
        &["My name is Alice Hart.", "I live in Oslo.", "Alice Hart works at Acme."],
        "user:local",
        "Alice Hart",
        SAME,
    ),
    (
        &["Bob Miller works at Acme.", "Robert Miller works at Acme."],
        "Bob Miller",
        "Robert Miller",
        OTHER,
    ),
];

#[test]
fn who_is_taken_for_whom() {
    let mut wrong = Vec::new();
    // One server for the whole table: rows tell of names that a row before them made known.
    let _held = Api::shared("entities");
    for (number, (sentences, one, other, expected)) in TABLE.iter().enumerate() {
        let mut api = Api::shared(&format!("entities-{number}"));
        for (day, sentence) in sentences.iter().enumerate() {
            say(&mut api, day, sentence);
        }
        let (one_is, other_is) = (called(&mut api, one), called(&mut api, other));
        let is_same = one_is.len() == 1 && one_is == other_is;
        if is_same != *expected || one_is.is_empty() || other_is.is_empty() {
            wrong.push(format!("{sentences:?}: {one} {one_is:?}, {other} {other_is:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TABLE.len(), wrong.join("\n"));
}

#[test]
fn a_guess_is_shown_with_how_sure_it_is() {
    let own = Own::start();
    let mut api = own.api("entities-guessed");
    say(&mut api, 0, "We use Postgres.");
    say(&mut api, 1, "Postgress is on hold.");
    let known = facts(&mut api, "&predicate=uses");
    check_schema("fact", &known[0]);
    assert_eq!(known[0]["object"].get("confidence"), None, "{known:?}");
    let guessed = facts(&mut api, "&predicate=status");
    check_schema("fact", &guessed[0]);
    assert_eq!(guessed[0]["subject"]["id"], known[0]["object"]["id"]);
    assert_eq!(guessed[0]["subject"]["name"], "Postgress");
    assert_eq!(guessed[0]["subject"]["confidence"], json!(0.7), "{guessed:?}");
}

fn merge(api: &mut Api, from: &str, into: &str) -> Value {
    let body = json!({"into": into, "reason": "the same company"});
    api.post(&format!("/v1/entities/{from}/merge"), &body).ok(200)
}

fn one_of(ids: BTreeSet<String>) -> String {
    assert_eq!(ids.len(), 1, "{ids:?}");
    ids.into_iter().next().unwrap()
}

fn about(api: &mut Api, subject: &str, more: &str) -> Vec<String> {
    let target =
        format!("/v1/facts/timeline?scope={}&subject={}{more}", api.scope, encode(subject));
    let page = api.get(&target).ok(200);
    let line = |fact: &Value| {
        let to = fact["valid_to"].as_str().map_or("", |to| &to[..10]);
        format!("{} {} {to}", string(fact, "predicate"), fact["object"]["value"])
    };
    page["items"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn a_merge_holds_from_then_on_and_a_split_takes_it_back() {
    let mut own = Own::start();
    let mut api = own.api("entities-merged");
    say(&mut api, 0, "Acme is based in Rome.");
    say(&mut api, 1, "Globex is based in Oslo.");
    say(&mut api, 2, "Globex has 200 seats.");
    let (acme, globex) = (one_of(called(&mut api, "Acme")), one_of(called(&mut api, "Globex")));
    let apart = (about(&mut api, "Acme", ""), about(&mut api, "Globex", ""));
    let before = string(&facts(&mut api, "&subject=Globex")[0], "recorded_from");
    let then = format!("&as_of_recorded={}", encode(&before));
    let merged = merge(&mut api, &globex, &acme);
    check_schema("entity", &merged);
    assert_eq!((&merged["id"], &merged["merged"]), (&json!(acme), &json!([globex])));
    assert_eq!(merge(&mut api, &globex, &acme), merged, "asked again it is one already");
    let one = about(&mut api, "Acme", "");
    assert_eq!(one.len(), 3, "{one:?}");
    assert!(
        one.iter().any(|line| line.contains("Rome") && line.ends_with("2025-01-02")),
        "{one:?}"
    );
    for other in ["Globex", &globex, &acme] {
        assert_eq!(about(&mut api, other, ""), one, "{other}");
    }
    for fact in facts(&mut api, "&subject=Globex&predicate=located_in") {
        if fact["recorded_to"].is_null() {
            assert_eq!(fact["subject"]["id"], json!(acme));
        }
    }
    // What was known before is what was known before.
    assert_eq!(about(&mut api, "Acme", &then), apart.0);
    assert_eq!(about(&mut api, "Globex", &then), apart.1);
    let page = api.get(&format!("/v1/entities?scope={}&name=globex", api.scope)).ok(200);
    check_schema("entity_page", &page);
    assert_eq!(page["items"][0]["id"], json!(acme));
    let scope = api.scope.clone();
    own = own.crash();
    let mut api = own.api("entities-merged");
    api.scope = scope.clone();
    assert_eq!(about(&mut api, "Globex", ""), one, "after a crash");
    say(&mut api, 3, "Globex is based in Bonn.");
    assert!(about(&mut api, "Acme", "").iter().any(|line| line.contains("Bonn")));
    let split = api.post(&format!("/v1/entities/{globex}/split"), &json!({})).ok(200);
    assert_eq!((&split["id"], &split["merged_into"]), (&json!(globex), &Value::Null));
    assert_eq!(about(&mut api, "Acme", ""), apart.0, "as it was");
    let own_again = about(&mut api, "Globex", "");
    assert!(own_again.iter().any(|line| line.contains("Bonn")), "{own_again:?}");
    assert!(!own_again.iter().any(|line| line.contains("Rome")), "{own_again:?}");
    own = own.restart();
    let mut api = own.api("entities-merged");
    api.scope = scope;
    assert_eq!(about(&mut api, "Acme", ""), apart.0, "after a restart");
    assert_eq!(about(&mut api, "Globex", ""), own_again);
    let rows = api.get("/v1/audit?limit=100").ok(200);
    // The row of the merge was lost in the crash, and is made again from its entry.
    let rows = rows["items"].as_array().unwrap();
    let administered = rows.iter().filter(|row| row["capability"] == "policy.administer.tenant");
    assert!(administered.count() >= 2, "{rows:?}");
}

/// Each merge and each split makes a new version of what was said: the last of very many is the one that holds.
#[test]
fn a_fact_that_was_changed_very_often_is_still_recalled() {
    let own = Own::start();
    let mut api = own.api("entities-often");
    say(&mut api, 0, "Acme is based in Rome.");
    say(&mut api, 1, "Globex has 200 seats.");
    let (acme, globex) = (one_of(called(&mut api, "Acme")), one_of(called(&mut api, "Globex")));
    for _ in 0..40 {
        merge(&mut api, &acme, &globex);
        api.post(&format!("/v1/entities/{acme}/split"), &json!({})).ok(200);
    }
    let versions = facts(&mut api, "&predicate=located_in").len();
    assert!(versions > 64, "{versions} versions");
    let asked = json!({"scope": api.scope, "query": "Where is Acme based?"});
    let pack = api.post("/v1/recall", &asked).ok(200);
    let known = pack["layers"]["facts"].as_array().unwrap();
    let rome = known.iter().filter(|fact| fact["object"]["value"] == "Rome").count();
    assert_eq!(rome, 1, "{known:?}");
}

#[test]
fn what_cannot_be_merged_or_split() {
    let own = Own::start();
    let mut api = own.api("entities-refused");
    say(&mut api, 0, "Acme is based in Rome.");
    say(&mut api, 1, "Globex is based in Oslo.");
    say(&mut api, 2, "Initech is based in Bonn.");
    let id = |api: &mut Api, name: &str| one_of(called(api, name));
    let (a, b, c) = (id(&mut api, "Acme"), id(&mut api, "Globex"), id(&mut api, "Initech"));
    let nobody = "ent_01890000000070008000000000000000";
    api.post(&format!("/v1/entities/{nobody}/merge"), &json!({"into": a})).fails(404, "NOT_FOUND");
    api.post(&format!("/v1/entities/{a}/merge"), &json!({"into": nobody})).fails(404, "NOT_FOUND");
    api.post(&format!("/v1/entities/{a}/merge"), &json!({"into": "x"})).fails(422, "INVALID_ID");
    api.post(&format!("/v1/entities/{a}/merge"), &json!({})).fails(400, "MISSING_REQUIRED_FIELD");
    api.post("/v1/entities/evt_1/merge", &json!({"into": a})).fails(422, "INVALID_ID");
    api.post(&format!("/v1/entities/{nobody}/split"), &json!({})).fails(404, "NOT_FOUND");
    merge(&mut api, &c, &b);
    merge(&mut api, &b, &a);
    let further = api.post(&format!("/v1/entities/{c}/split"), &json!({}));
    further.fails(409, "ENTITY_MERGED_FURTHER");
    let answer = api.get(&format!("/v1/entities?scope={}", api.scope));
    assert_eq!(answer.header("x-cortex-stability"), Some("experimental"));
    let page = answer.ok(200);
    let ids: Vec<String> =
        page["items"].as_array().unwrap().iter().map(|item| string(item, "id")).collect();
    assert!(ids.contains(&a) && !ids.contains(&b) && !ids.contains(&c), "{page}");
}

#[test]
fn what_was_said_by_a_name_before_it_was_said_whose_it_is_is_found() {
    let mut api = Api::shared("entities-older");
    say(&mut api, 1, "Robert Miller works at Acme.");
    say(&mut api, 2, "Bobby lives in Oslo.");
    let lives = "lives_in \"Oslo\" ".to_owned();
    assert!(!about(&mut api, "Robert Miller", "").contains(&lives), "nobody said so yet");
    say(&mut api, 3, "Robert Miller is also known as Bobby.");
    say(&mut api, 4, "Bobby likes tea.");
    let by_name = about(&mut api, "Robert Miller", "");
    assert!(by_name.contains(&lives), "{by_name:?}");
    assert!(by_name.iter().any(|fact| fact.contains("tea")), "{by_name:?}");
    assert_eq!(about(&mut api, "Bobby", ""), by_name);
    let beliefs = |api: &mut Api, name: &str| {
        let target = format!("/v1/beliefs?scope={}&about={}", api.scope, encode(name));
        api.get(&target).ok(200)["items"].to_string()
    };
    assert!(beliefs(&mut api, "Robert Miller").contains("Oslo"));
    // An id means one: whether they are merged is for somebody to say.
    let robert = one_of(called(&mut api, "Robert Miller"));
    assert!(!about(&mut api, &robert, "").contains(&lives));
    // Whoever is called so in part only is not meant.
    let mut api = Api::shared("entities-older-two");
    say(&mut api, 1, "Bobby Brown lives in Oslo.");
    say(&mut api, 2, "Robert Miller is also known as Bobby.");
    let found = about(&mut api, "Robert Miller", "");
    assert!(!found.iter().any(|fact| fact.contains("Oslo")), "{found:?}");
}
