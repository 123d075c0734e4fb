//! Lists beside what may not be read: two trees that look the same to a reader, one of them full of
//! scopes that are closed to it. Pages, their lengths and their ends must not tell which is which.

use serde_json::{Value, json};

use crate::harness::{envelope, string};
use crate::tokens::{Signed, Team};

/// The scopes of a tree that everybody reads.
const OPEN: &[&str] = &["", "/ws:a", "/ws:a/project:p", "/ws:b"];
/// Those of the full tree that only their owner reads: between the others, above one, at the end.
const CLOSED: &[&str] = &["/dept:c", "/ws:a/project:q", "/ws:a/team:x", "/ws:z"];
const ROUNDS: usize = 5;

/// Fills both trees the same, and one of them with more that is closed. Closed scopes come before,
/// between and after the others in every order there is.
fn grow(alice: &mut Signed, tree: &str, closed: &[&str]) {
    for scope in closed {
        let members = json!([{"actor": "user:alice", "role": "owner"}]);
        let path = format!("{tree}{scope}");
        alice.post("/v1/scopes", &json!({"path": path, "members": members})).ok(201);
    }
    for round in 0..ROUNDS {
        for (number, scope) in OPEN.iter().enumerate() {
            hide(alice, tree, closed, round);
            let mut body = envelope(&format!("{tree}{scope}"), &format!("{scope} {round}"));
            body["context"] = json!({
                "observed_at": format!("2026-05-13T15:{:02}:30Z", round * 10 + number),
                "labels": [format!("round-{round}")],
            });
            alice.post("/v1/experience?wait=settled", &body).ok(200);
        }
        hide(alice, tree, closed, round);
    }
}

fn hide(alice: &mut Signed, tree: &str, closed: &[&str], round: usize) {
    for scope in closed {
        let mut body = envelope(&format!("{tree}{scope}"), "secret");
        body["context"]["observed_at"] = json!(format!("2026-05-13T15:{:02}:40Z", round * 10));
        body["context"]["labels"] = json!([format!("round-{round}")]);
        alice.post("/v1/experience?wait=settled", &body).ok(200);
    }
}

/// What of an item does not depend on the tree.
fn shown(item: &Value, tree: &str) -> String {
    let part = |key: &str| item[key].as_str().unwrap_or_default().replacen(tree, "", 1);
    let text = item["content"]["text"].as_str().unwrap_or_default();
    format!("{}|{}|{}|{text}", part("scope"), part("path"), part("event"))
}

/// Every page of a list: its items and whether it goes on.
fn pages(caller: &mut Signed, list: &str, tree: &str, limit: usize) -> Vec<(Vec<String>, bool)> {
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let target = format!("{}&limit={limit}{cursor}", list.replace("TREE", tree));
        let page = caller.get(&target).ok(200);
        assert!(!page["items"].to_string().contains("secret"), "{target}: {page}");
        let items = page["items"].as_array().unwrap();
        let more = page["has_more"].as_bool().unwrap();
        pages.push((items.iter().map(|item| shown(item, tree)).collect(), more));
        if !more {
            return pages;
        }
        cursor = format!("&cursor={}", string(&page, "next_cursor"));
    }
}

const LISTS: &[&str] = &[
    "/v1/events?scope=TREE&view=descend",
    "/v1/events?scope=TREE&view=descend&sort=recorded",
    "/v1/events?scope=TREE&view=descend&order=asc",
    "/v1/events?scope=TREE&view=descend&labels=round-2",
    "/v1/events?scope=TREE&view=descend&since=2026-05-13T15:20:00Z",
    "/v1/events?scope=TREE/ws:a&view=descend&modality=conversation",
    "/v1/events?scope=TREE/ws:a/project:p&view=holistic",
    "/v1/events?scope=TREE/ws:a/project:p&view=holistic&sort=recorded&order=asc",
    "/v1/lifecycle?scope=TREE/ws:a",
    "/v1/lifecycle?scope=TREE/ws:a&events=captured",
    "/v1/scopes/list?prefix=TREE",
    "/v1/scopes?prefix=TREE&auto_provisioned=true",
];

#[test]
fn r072_r424_what_may_not_be_read_does_not_change_what_may() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    grow(&mut alice, "org:full", CLOSED);
    grow(&mut alice, "org:bare", &[]);
    for list in LISTS {
        for limit in [1, 2, 3, 4, 5, 7, 100] {
            let full = pages(&mut bob, list, "org:full", limit);
            let bare = pages(&mut bob, list, "org:bare", limit);
            assert_eq!(full, bare, "{list} in pages of {limit}");
            let last = full.last().unwrap();
            assert!(full.len() == 1 || !last.0.is_empty(), "{list}: an empty page at the end");
        }
    }
    // An offset counts what is shown, and nothing else.
    for list in LISTS.iter().filter(|list| list.contains("/events")) {
        for offset in 0..ROUNDS * OPEN.len() + 2 {
            let mut answer = |tree: &str| {
                let target = format!("{}&limit=2&cursor={offset}", list.replace("TREE", tree));
                let page = bob.get(&target).ok(200);
                let items = page["items"].as_array().unwrap();
                let items: Vec<String> = items.iter().map(|item| shown(item, tree)).collect();
                (items, page["has_more"].clone())
            };
            assert_eq!(answer("org:full"), answer("org:bare"), "{list} from {offset}");
        }
    }
}

/// §18.2#4: what is left out of a walk down is named and counted, whatever was asked, and no more.
#[test]
fn r424_placeholders_do_not_depend_on_the_question() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    grow(&mut alice, "org:full", CLOSED);
    let mut denied = |query: &str| -> Vec<Value> {
        let page = bob.get(&format!("/v1/events?scope=org:full&view=descend&{query}")).ok(200);
        let scopes = page["scopes_traversed"].as_array().unwrap();
        scopes.iter().filter(|scope| scope["denied"] == true).cloned().collect()
    };
    let all = denied("limit=1000");
    assert_eq!(all.len(), CLOSED.len(), "{all:?}");
    for placeholder in &all {
        let keys: Vec<&String> = placeholder.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["scope", "denied", "item_count", "denied_reason"], "{placeholder}");
        assert_eq!(placeholder["item_count"], ROUNDS * (OPEN.len() + 1), "{placeholder}");
    }
    for query in [
        "limit=1",
        "labels=round-2",
        "labels=none",
        "observed_actor=user:alice",
        "observed_actor=user:nobody",
        "modality=document",
        "since=2026-05-13T15:20:00Z",
        "until=2000-01-01",
        "as_of=2000-01-01T00:00:00Z",
        "cursor=3",
    ] {
        assert_eq!(denied(query), all, "{query}");
    }
}
