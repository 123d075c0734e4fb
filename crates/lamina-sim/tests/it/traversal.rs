//! Lists that leave their scope: every scope is decided before anything is read.

use serde_json::{Value, json};

use crate::harness::{string, unique_key};
use crate::tokens::{Signed, Team};

fn write(caller: &mut Signed, scope: &str) -> String {
    let envelope = json!({
        "scope": scope,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": "hello"},
        "context": {"observed_at": "2026-05-13T15:42:00Z"},
        "idempotency_key": unique_key(),
    });
    string(&caller.post("/v1/experience?wait=settled", &envelope).ok(200), "event_id")
}

fn close(owner: &mut Signed, scope: &str) {
    owner.post("/v1/scopes", &json!({"path": scope, "members": []})).ok(201);
}

/// All items of a list, page by page; every page but the last is full.
fn all(caller: &mut Signed, target: &str, limit: usize) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = caller.get(&format!("{target}&limit={limit}{cursor}")).ok(200);
        let found = page["items"].as_array().unwrap().clone();
        let full = found.len() == limit;
        items.extend(found);
        match page["next_cursor"].as_str() {
            None => return items,
            Some(next) => cursor = format!("&cursor={next}"),
        }
        assert!(full, "a page that goes on is full: {page}");
    }
}

fn ids(items: &[Value]) -> Vec<String> {
    let mut ids: Vec<String> = items.iter().map(|item| string(item, "id")).collect();
    ids.sort();
    ids
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

/// R072, R424: what may not be read is a placeholder with a number, and no hole in a page.
#[test]
fn r072_r424_a_walk_down_shows_readable_scopes_and_counts_the_others() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let mut open = Vec::new();
    for round in 0..4 {
        open.push(write(&mut alice, "org:acme"));
        open.push(write(&mut alice, "org:acme/team:open"));
        for _ in 0..3 {
            write(&mut alice, "org:acme/team:closed");
        }
        if round == 0 {
            close(&mut alice, "org:acme/team:closed");
        }
    }
    let found = all(&mut bob, "/v1/events?scope=org:acme&view=descend", 3);
    assert_eq!(ids(&found), sorted(open.clone()));
    let page = bob.get("/v1/events?scope=org:acme&view=descend&limit=100").ok(200);
    assert_eq!(
        page["scopes_traversed"],
        json!([
            {"scope": "org:acme", "items": 4},
            {"scope": "org:acme/team:open", "items": 4},
            {
                "scope": "org:acme/team:closed",
                "denied": true,
                "item_count": 12,
                "denied_reason": "scope.read.local is denied by the scope policy",
            },
        ])
    );
    // A count of matches would say what is in there.
    let page = bob.get("/v1/events?scope=org:acme&view=descend&observed_actor=user:nobody").ok(200);
    assert_eq!(
        (&page["items"], &page["scopes_traversed"][0]["item_count"]),
        (&json!([]), &json!(12))
    );
    let own = alice.get("/v1/events?scope=org:acme&view=descend&limit=100").ok(200);
    assert_eq!(own["items"].as_array().unwrap().len(), 20);
    assert!(!own["scopes_traversed"].to_string().contains("denied"));
    for view in ["local", "holistic"] {
        let page = bob.get(&format!("/v1/events?scope=org:acme&view={view}")).ok(200);
        assert!(page.get("scopes_traversed").is_none(), "only a walk down says so: {view}");
    }
    bob.get("/v1/events?scope=org:acme/team:closed&view=descend").fails(403, "NOT_A_MEMBER");
}

/// R072, R164: walking up passes over what is closed, without a word.
#[test]
fn r072_a_walk_up_passes_over_closed_scopes() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    write(&mut alice, "org:acme");
    close(&mut alice, "org:acme");
    let members = json!([{"actor": "user:bob", "role": "owner"}]);
    let registration = json!({"path": "org:acme/user:bob", "members": members});
    alice.post("/v1/scopes", &registration).ok(201);
    let own = write(&mut bob, "org:acme/user:bob");
    let found = all(&mut bob, "/v1/events?scope=org:acme/user:bob&view=holistic", 1);
    assert_eq!(ids(&found), [own]);
    bob.get("/v1/events?scope=org:acme&view=holistic").fails(403, "NOT_A_MEMBER");
}

/// §8.7.1: a walk needs `scope.read.local` too, and a token ends where it says.
#[test]
fn r164_a_walk_is_within_the_token() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    write(&mut alice, "org:acme");
    let inside = write(&mut alice, "org:acme/team:a");
    write(&mut alice, "org:acme/team:b");
    let mut claims = team.claims("acme", "user:carol");
    claims.scopes = vec![("scope.read.local".to_owned(), "org:acme/team:a/*".parse().unwrap())];
    let mut carol = team.with(&claims);
    let denied = carol.get("/v1/events?scope=org:acme&view=descend").fails(403, "POLICY_DENIED");
    assert_eq!(denied["details"]["capability"], "scope.read.local");
    let found = all(&mut carol, "/v1/events?scope=org:acme/team:a&view=holistic", 5);
    assert_eq!(ids(&found), [inside], "the scope above is outside the token");
}

/// Lists of the whole tenant show what is in sight, in full pages.
#[test]
fn r306_r313_lists_of_the_tenant_leave_out_closed_scopes_before_paging() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let mut open = Vec::new();
    for number in 0..5 {
        close(&mut alice, &format!("ws:closed-{number}"));
        write(&mut alice, &format!("ws:closed-{number}"));
        open.push(write(&mut alice, &format!("ws:open-{number}")));
    }
    let rows = all(&mut bob, "/v1/lifecycle?events=captured", 2);
    let seen: Vec<String> = rows.iter().map(|row| string(row, "event_id")).collect();
    assert_eq!(seen, open);
    let scopes = all(&mut bob, "/v1/scopes/list?auto_provisioned=", 2);
    let paths: Vec<String> = scopes.iter().map(|scope| string(scope, "path")).collect();
    let expected: Vec<String> = (0..5).map(|number| format!("ws:open-{number}")).collect();
    assert_eq!(paths, expected, "what is closed is not even named");
    assert_eq!(all(&mut alice, "/v1/scopes/list?auto_provisioned=", 3).len(), 10);
}
