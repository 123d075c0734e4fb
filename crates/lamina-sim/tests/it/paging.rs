//! Cursors: every event once, in one order, also while others write; and what is not a cursor
//! (R198, D8, ruling 17).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{Api, ids, unique_key};

fn fill(api: &mut Api, scope: &str, count: usize) -> Vec<String> {
    let items: Vec<Value> = (0..count)
        .map(|number| {
            json!({
                "scope": scope,
                "modality": "observation",
                "content": {"kind": "text", "text": format!("n{number}")},
                // Equal times on purpose: the order must be decided all the same.
                "context": {"observed_at": format!("2026-05-13T15:42:{:02}Z", number / 10)},
                "idempotency_key": unique_key(),
            })
        })
        .collect();
    let answer = api.post("/v1/experience/bulk", &json!({"items": items})).ok(202);
    answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["event_id"].as_str().unwrap().to_owned())
        .collect()
}

/// All pages of a listing, with the cursor of the server.
fn walk(api: &mut Api, query: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = api.get(&format!("/v1/events?{query}{cursor}")).ok(200);
        all.extend(ids(&page));
        let more = page["has_more"].as_bool().unwrap();
        match page["next_cursor"].as_str() {
            Some(next) => {
                assert!(more);
                cursor = format!("&cursor={next}");
            }
            None => {
                assert!(!more);
                return all;
            }
        }
    }
}

#[test]
fn r198_pages_join_to_the_whole_list() {
    let mut api = Api::shared("pages");
    let scope = api.scope.clone();
    let written: BTreeSet<String> = fill(&mut api, &scope, 57).into_iter().collect();
    let whole = api.list(&format!("scope={scope}&limit=1000"));
    assert_eq!(whole.iter().cloned().collect::<BTreeSet<_>>(), written);
    for limit in [1, 2, 7, 19, 56, 57, 58] {
        let joined = walk(&mut api, &format!("scope={scope}&limit={limit}"));
        assert_eq!(joined, whole, "limit {limit}");
    }
}

#[test]
fn pages_join_in_every_view_and_under_every_filter() {
    let mut api = Api::shared("page-views");
    let root = api.scope.clone();
    let child = format!("{root}/user:u");
    fill(&mut api, &root, 23);
    fill(&mut api, &child, 23);
    for query in [
        format!("scope={child}&view=holistic"),
        format!("scope={root}&view=descend"),
        format!("scope={root}&view=descend&modality=observation"),
        format!("scope={root}&view=descend&since=2026-05-13T15:42:01Z"),
        format!("scope={child}&view=holistic&until=2026-05-13T15:42:01Z"),
    ] {
        let whole = api.list(&format!("{query}&limit=1000"));
        assert!(whole.len() > 10, "{query}");
        let joined = walk(&mut api, &format!("{query}&limit=5"));
        assert_eq!(joined, whole, "{query}");
    }
}

#[test]
fn paging_sees_each_event_once_while_others_write() {
    let mut api = Api::shared("page-race");
    let scope = api.scope.clone();
    let before: BTreeSet<String> = fill(&mut api, &scope, 120).into_iter().collect();
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let stop = Arc::clone(&stop);
        let mut client = api.another_client();
        let mut envelope = api.envelope("meanwhile");
        std::thread::spawn(move || {
            let mut written = 0usize;
            while !stop.load(Ordering::SeqCst) {
                envelope["idempotency_key"] = json!(unique_key());
                let seconds = written % 60;
                envelope["context"]["observed_at"] =
                    json!(format!("2026-05-13T15:42:{seconds:02}Z"));
                let answer = client.send(&Request::post("/v1/experience", &envelope)).unwrap();
                assert_eq!(answer.status, 202);
                written += 1;
            }
            written
        })
    };
    for _ in 0..5 {
        let seen = walk(&mut api, &format!("scope={scope}&limit=11"));
        let distinct: BTreeSet<String> = seen.iter().cloned().collect();
        assert_eq!(distinct.len(), seen.len(), "an event was listed twice");
        assert!(before.is_subset(&distinct), "an event was skipped");
    }
    stop.store(true, Ordering::SeqCst);
    assert!(writer.join().unwrap() > 0);
}

/// D8: MCP pages with a plain integer.
#[test]
fn an_integer_cursor_is_an_offset() {
    let mut api = Api::shared("offset");
    let scope = api.scope.clone();
    fill(&mut api, &scope, 25);
    let whole = api.list(&format!("scope={scope}&limit=1000"));
    for (offset, limit) in [(0, 10), (10, 10), (20, 10), (24, 1), (25, 10), (1_000, 10)] {
        let page = api.list(&format!("scope={scope}&limit={limit}&cursor={offset}"));
        let expected: Vec<String> = whole.iter().skip(offset).take(limit).cloned().collect();
        assert_eq!(page, expected, "offset {offset}");
    }
}

#[test]
fn what_is_not_a_cursor_is_refused() {
    let mut api = Api::shared("bad-cursor");
    let scope = api.scope.clone();
    fill(&mut api, &scope, 5);
    let page = api.get(&format!("/v1/events?scope={scope}&limit=2")).ok(200);
    let good = page["next_cursor"].as_str().unwrap().to_owned();
    for bad in [
        "nonsense",
        "-1",
        "1.5",
        "%00",
        "evt_01890000000070008000000000000000",
        "99999999999999999999999",
    ] {
        api.get(&format!("/v1/events?scope={scope}&cursor={bad}")).fails(422, "INVALID_CURSOR");
    }
    // Every single character of a real one counts.
    for at in 0..good.len() {
        let mut bytes = good.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        let answer = api.get(&format!("/v1/events?scope={scope}&limit=2&cursor={changed}"));
        assert_eq!(answer.response.status, 422, "character {at} of {good}");
    }
    for cut in 1..good.len() {
        let answer = api.get(&format!("/v1/events?scope={scope}&limit=2&cursor={}", &good[..cut]));
        assert_eq!(answer.response.status, 422, "cut at {cut}");
    }
    api.get(&format!("/v1/events?scope={scope}&limit=2&cursor={good}")).ok(200);
}

/// A cursor continues one question; under another it would skip or repeat.
#[test]
fn a_cursor_belongs_to_its_question() {
    let mut api = Api::shared("cursor-question");
    let scope = api.scope.clone();
    fill(&mut api, &scope, 5);
    let page = api.get(&format!("/v1/events?scope={scope}&limit=2")).ok(200);
    let cursor = page["next_cursor"].as_str().unwrap().to_owned();
    for other in [
        "scope=user:someone-else".to_owned(),
        format!("scope={scope}&view=descend"),
        format!("scope={scope}&modality=document"),
        format!("scope={scope}&labels=x"),
        format!("scope={scope}&since=2020-01-01T00:00:00Z"),
    ] {
        api.get(&format!("/v1/events?{other}&cursor={cursor}")).fails(422, "INVALID_CURSOR");
    }
    // The size of a page is not part of the question.
    assert_eq!(api.list(&format!("scope={scope}&limit=3&cursor={cursor}")).len(), 3);
}
