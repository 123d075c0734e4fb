//! Cursors in the wrong hands: forged, spliced, of another tenant, of another caller, of another
//! question. Each is no cursor, or continues only what the one who sends it may read.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{envelope, string};
use crate::tokens::{Signed, Team};

const SCOPE: &str = "org:same/ws:one";
/// Bytes of a cursor that authenticate the rest.
const MAC_BYTES: usize = 16;
/// Every list, each with more than one page of two after [`fill`].
const LISTS: &[&str] = &[
    "/v1/events?scope=org:same/ws:one&limit=2",
    "/v1/events?scope=org:same/ws:one&view=holistic&limit=2",
    "/v1/events?scope=org:same&view=descend&sort=recorded&limit=2",
    "/v1/events?scope=org:same/ws:one&labels=red&order=asc&limit=2",
    "/v1/lifecycle?scope=org:same/ws:one&limit=2",
    "/v1/lifecycle?limit=2",
    "/v1/scopes/list?limit=2",
    "/v1/scopes?prefix=org:same&limit=2",
    "/v1/audit?limit=2",
];

/// The same events, scopes and calls for whoever asks.
fn fill(caller: &mut Signed) {
    for number in 0..5 {
        let mut body = envelope(SCOPE, &format!("text {number}"));
        body["context"]["labels"] = json!(["red"]);
        caller.post("/v1/experience?wait=settled", &body).ok(200);
        let child = envelope(&format!("{SCOPE}/project:p{number}"), "below");
        caller.post("/v1/experience?wait=settled", &child).ok(200);
    }
}

#[track_caller]
fn next_of(caller: &mut Signed, list: &str) -> String {
    let page = caller.get(list).ok(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 2, "{list}: {page}");
    string(&page, "next_cursor")
}

fn with_cursor(list: &str, cursor: &str) -> String {
    format!("{list}&cursor={cursor}")
}

/// The error without what is different in every request.
fn error(caller: &mut Signed, target: &str) -> Value {
    let mut error = caller.get(target).fails(422, "INVALID_CURSOR");
    error["request_id"] = Value::Null;
    error
}

#[test]
fn a_cursor_of_another_tenant_is_no_cursor() {
    let team = Team::start("on_prem_enterprise");
    let mut ours = team.caller("acme", "user:alice");
    let mut theirs = team.caller("other", "user:alice");
    fill(&mut ours);
    fill(&mut theirs);
    for list in LISTS {
        let foreign = next_of(&mut theirs, list);
        let mut nowhere = foreign.clone().into_bytes();
        let last = nowhere.last_mut().unwrap();
        *last = if *last == b'0' { b'1' } else { b'0' };
        let nowhere = String::from_utf8(nowhere).unwrap();
        let refused = error(&mut ours, &with_cursor(list, &foreign));
        let absent = error(&mut ours, &with_cursor(list, &nowhere));
        assert_eq!(refused, absent, "{list}: a real cursor is refused like an invented one");
        let own = next_of(&mut ours, list);
        ours.get(&with_cursor(list, &own)).ok(200);
    }
}

#[test]
fn a_cursor_put_together_from_two_is_no_cursor() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    fill(&mut alice);
    for list in LISTS {
        let first = next_of(&mut alice, list);
        let page = alice.get(&with_cursor(list, &first)).ok(200);
        let second = string(&page, "next_cursor");
        let bytes =
            |cursor: &str| URL_SAFE_NO_PAD.decode(cursor.strip_prefix('c').unwrap()).unwrap();
        let (first, second) = (bytes(&first), bytes(&second));
        let (_, mac) = first.split_at(first.len() - MAC_BYTES);
        let (position, _) = second.split_at(second.len() - MAC_BYTES);
        let spliced = [position, mac].concat();
        let bare = [position, &[0; MAC_BYTES]].concat();
        let longer = [first.as_slice(), &[0; 8]].concat();
        for forged in [spliced, bare, longer, mac.to_vec()] {
            error(&mut alice, &with_cursor(list, &format!("c{}", URL_SAFE_NO_PAD.encode(forged))));
        }
        // Of one list under another.
        let own = next_of(&mut alice, list);
        for other in LISTS.iter().filter(|other| *other != list) {
            error(&mut alice, &with_cursor(other, &own));
        }
    }
}

#[test]
fn a_cursor_does_not_carry_the_rights_of_who_got_it() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let members = json!([{"actor": "user:alice", "role": "owner"}]);
    alice.post("/v1/scopes", &json!({"path": SCOPE, "members": members})).ok(201);
    fill(&mut alice);
    for list in LISTS {
        let page = alice.get(list).ok(200);
        let cursor = page["next_cursor"].as_str().unwrap().to_owned();
        // A number is a place in the list and no proof of anything.
        for cursor in [cursor.as_str(), "0", "1", "3"] {
            let answer = bob.get(&with_cursor(list, cursor));
            let (status, body) = (answer.response.status, answer.response.text());
            assert!(!body.contains("text "), "{list} {cursor}: {body}");
            let of_scope = list.contains("scope=org:same/ws:one");
            assert!(!of_scope || matches!(status, 403 | 422), "{list} {cursor}: {status} {body}");
        }
    }
    let narrowed = {
        let mut claims = team.claims("acme", "user:alice");
        claims.caps = Some(["audit.read".to_owned()].into());
        claims
    };
    let mut narrowed = team.with(&narrowed);
    for list in LISTS.iter().filter(|list| !list.contains("/audit")) {
        let cursor = next_of(&mut alice, list);
        narrowed.get(&with_cursor(list, &cursor)).fails(403, "POLICY_DENIED");
    }
}

/// A number is an offset where lists are counted, and no cursor where they are not.
#[test]
fn numbers_as_cursors_reach_nothing_else() {
    let team = Team::start("on_prem_enterprise");
    let mut ours = team.caller("acme", "user:alice");
    let mut theirs = team.caller("other", "user:alice");
    fill(&mut theirs);
    for list in LISTS {
        for number in ["0", "1", "7", "100", "9223372036854775807"] {
            let answer = ours.get(&with_cursor(list, number));
            if answer.response.status == 200 && !list.contains("/audit") {
                assert_eq!(answer.response.json().unwrap()["items"], json!([]), "{list} {number}");
            } else if !list.contains("/audit") {
                answer.fails(422, "INVALID_CURSOR");
            }
        }
        ours.get(&with_cursor(list, "99999999999999999999999999")).fails(422, "INVALID_CURSOR");
        ours.get(&with_cursor(list, "-1")).fails(422, "INVALID_CURSOR");
    }
    let stream = Request::get("/v1/events?scope=org:same&cursor=1&cursor=2");
    assert!(matches!(ours.send(stream).response.status, 400 | 422));
}

/// Rows that come while the list is read do not shift it, and a cursor is for whom and for what it was
/// made.
#[test]
fn r198_r318_the_list_of_rows_stands_still_while_rows_come() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    for _ in 0..9 {
        alice.get("/v1/events?scope=user:alice").ok(200);
    }
    let list = "/v1/audit?capability=scope.read.local&limit=3";
    let whole = alice.get("/v1/audit?capability=scope.read.local&limit=100").ok(200);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = alice.get(&with_cursor(list, &cursor)).ok(200);
        seen.extend(page["items"].as_array().unwrap().iter().map(|row| row["id"].clone()));
        // Each page is followed by more of what the list is about.
        alice.get("/v1/events?scope=user:alice").ok(200);
        match page["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    let rows = whole["items"].as_array().unwrap();
    assert_eq!(seen, rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>());
    // Another's, another question's, a row's id, and a number are none.
    let id = string(&rows[0], "id");
    let mut bob = team.caller("acme", "user:bob");
    bob.get(&with_cursor(list, &cursor)).fails(422, "INVALID_CURSOR");
    for asked in [
        "/v1/audit?capability=scope.write&limit=3",
        "/v1/audit?capability=scope.read.local&decision=deny",
        "/v1/audit?capability=scope.read.local&since=2020-01-01T00:00:00Z",
        "/v1/audit?capability=scope.read.local&scope=user:alice",
        "/v1/audit?capability=scope.read.local&actor=user:alice",
    ] {
        alice.get(&with_cursor(asked, &cursor)).fails(422, "INVALID_CURSOR");
    }
    for none in [id.as_str(), "3", "c", "cAAAA"] {
        alice.get(&with_cursor(list, none)).fails(422, "INVALID_CURSOR");
    }
    let mut narrowed = team.claims("acme", "user:alice");
    narrowed.caps = Some(["scope.read.local".to_owned()].into());
    team.with(&narrowed).get(&with_cursor(list, &cursor)).fails(403, "POLICY_DENIED");
}
