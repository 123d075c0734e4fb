//! `GET /v1/events` and `GET /v1/events/{id}`: filters, views, limits (sections E and P).

use std::collections::BTreeSet;

use lamina_sim::client::Request;
use serde_json::json;

use crate::harness::{Api, encode, ids, string, unique_key};

fn set(ids: Vec<String>) -> BTreeSet<String> {
    let count = ids.len();
    let set: BTreeSet<String> = ids.into_iter().collect();
    assert_eq!(set.len(), count, "an event is listed once");
    set
}

#[test]
fn r287_a_list_has_items_a_cursor_and_says_if_there_is_more() {
    let mut api = Api::shared("list");
    let scope = api.scope.clone();
    let written: BTreeSet<String> = (0..3).map(|n| api.write(&format!("n{n}"))).collect();
    let page = api.get(&format!("/v1/events?scope={scope}")).ok(200);
    assert_eq!(set(ids(&page)), written);
    assert_eq!(page["has_more"], false);
    assert!(page["next_cursor"].is_null(), "{page}");
    let page = api.get(&format!("/v1/events?scope={scope}&limit=2")).ok(200);
    assert_eq!(ids(&page).len(), 2);
    assert_eq!(page["has_more"], true);
    assert!(page["next_cursor"].is_string());
    let item = &page["items"][0];
    for field in ["id", "scope", "actor", "modality", "content", "context", "derives", "wal_offset"]
    {
        assert!(item.get(field).is_some(), "R211: {field} in {item}");
    }
}

#[test]
fn an_event_is_the_same_in_a_list_and_by_id() {
    let mut api = Api::shared("same");
    let id = api.write_settled("the same");
    let listed = api.get(&format!("/v1/events?scope={}", api.scope)).ok(200)["items"][0].clone();
    assert_eq!(listed, api.event(&id));
}

#[test]
fn r074_a_scope_nobody_wrote_to_is_an_empty_list() {
    let mut api = Api::shared("empty");
    let page = api.get(&format!("/v1/events?scope={}", api.scope)).ok(200);
    assert_eq!(page["items"], json!([]));
    assert_eq!(page["has_more"], false);
}

#[test]
fn r072_r073_r434_views_walk_local_up_and_down() {
    let mut api = Api::shared("views");
    let root = api.scope.clone();
    let mut write = |scope: &str| {
        let mut envelope = api.envelope(scope);
        envelope["scope"] = json!(scope);
        api.write_envelope(&envelope)
    };
    let middle = format!("{root}/team:t");
    let leaf = format!("{middle}/user:u");
    let sibling = format!("{root}/team:tt");
    let at_root = write(&root);
    let at_middle = write(&middle);
    let at_leaf = write(&leaf);
    let at_sibling = write(&sibling);
    let all = |of: &[&String]| -> BTreeSet<String> { of.iter().map(|id| (*id).clone()).collect() };
    let cases: &[(&str, &str, BTreeSet<String>)] = &[
        (&middle, "", all(&[&at_middle])),
        (&middle, "&view=local", all(&[&at_middle])),
        (&middle, "&view=holistic", all(&[&at_middle, &at_root])),
        (&leaf, "&view=holistic", all(&[&at_leaf, &at_middle, &at_root])),
        (&middle, "&view=descend", all(&[&at_middle, &at_leaf])),
        (&root, "&view=descend", all(&[&at_root, &at_middle, &at_leaf, &at_sibling])),
        (&root, "&view=holistic", all(&[&at_root])),
        (&leaf, "&view=descend", all(&[&at_leaf])),
    ];
    for (scope, view, expected) in cases {
        let listed = set(api.list(&format!("scope={scope}{view}")));
        assert_eq!(&listed, expected, "{scope} {view}");
    }
}

/// `team:t` is no ancestor of `team:tt`, though its text is a prefix.
#[test]
fn a_scope_whose_text_is_a_prefix_is_not_an_ancestor() {
    let mut api = Api::shared("prefix");
    let root = api.scope.clone();
    let mut envelope = api.envelope("x");
    envelope["scope"] = json!(format!("{root}/team:tt"));
    api.write_envelope(&envelope);
    for view in ["local", "holistic", "descend"] {
        let listed = api.list(&format!("scope={root}/team:t&view={view}"));
        assert!(listed.is_empty(), "{view}: {listed:?}");
    }
}

#[test]
fn views_that_do_not_exist_are_refused() {
    let mut api = Api::shared("views");
    let scope = api.scope.clone();
    for view in ["sideways", "LOCAL", "narrative"] {
        let answer = api.get(&format!("/v1/events?scope={scope}&view={view}"));
        assert_eq!(answer.response.status, 422, "{view}: {}", answer.response.text());
        let error = answer.response.json().unwrap();
        assert_eq!(error["details"]["field"], "view", "{error}");
    }
}

#[test]
fn r287_filters_narrow_and_combine() {
    let mut api = Api::shared("filters");
    let scope = api.scope.clone();
    let mut write = |text: &str, actor: &str, modality: &str, labels: &[&str], at: &str| {
        let envelope = json!({
            "scope": scope,
            "observed_actor": {"id": actor},
            "modality": modality,
            "content": {"kind": "text", "text": text},
            "context": {"observed_at": at, "labels": labels},
            "idempotency_key": unique_key(),
        });
        api.write_envelope(&envelope)
    };
    let a = write("a", "user:ann", "conversation", &["red", "big"], "2021-01-01T00:00:00Z");
    let b = write("b", "user:ben", "conversation", &["blue"], "2022-01-01T00:00:00Z");
    let c = write("c", "user:ann", "document", &["red"], "2023-01-01T00:00:00Z");
    let d = write("d", "user:ben", "document", &[], "2024-01-01T00:00:00Z");
    let ask = |api: &mut Api, filter: &str| set(api.list(&format!("scope={scope}{filter}")));
    let all = |of: &[&String]| -> BTreeSet<String> { of.iter().map(|id| (*id).clone()).collect() };
    let cases: &[(&str, BTreeSet<String>)] = &[
        ("", all(&[&a, &b, &c, &d])),
        ("&observed_actor=user:ann", all(&[&a, &c])),
        ("&observed_actor=user%3Aann", all(&[&a, &c])),
        ("&actor=user:ben", all(&[&b, &d])),
        ("&observed_actor=user:nobody", all(&[])),
        ("&modality=document", all(&[&c, &d])),
        ("&modality=smell", all(&[])),
        ("&labels=red", all(&[&a, &c])),
        ("&labels=red,blue", all(&[&a, &b, &c])),
        ("&labels=big", all(&[&a])),
        ("&labels=Red", all(&[])),
        ("&since=2022-01-01T00:00:00Z", all(&[&b, &c, &d])),
        ("&until=2023-01-01T00:00:00Z", all(&[&a, &b])),
        ("&since=2022-01-01T00:00:00Z&until=2024-01-01T00:00:00Z", all(&[&b, &c])),
        ("&since=2030-01-01T00:00:00Z", all(&[])),
        ("&modality=conversation&labels=red", all(&[&a])),
        ("&observed_actor=user:ann&modality=document&since=2022-06-01T00:00:00Z", all(&[&c])),
    ];
    for (filter, expected) in cases {
        assert_eq!(&ask(&mut api, filter), expected, "{filter}");
    }
}

#[test]
fn filters_hold_in_every_view() {
    let mut api = Api::shared("filter-views");
    let root = api.scope.clone();
    let child = format!("{root}/user:u");
    let mut write = |scope: &str, label: &str| {
        let mut envelope = api.envelope(scope);
        envelope["scope"] = json!(scope);
        envelope["context"]["labels"] = json!([label]);
        api.write_envelope(&envelope)
    };
    let up = write(&root, "keep");
    let down = write(&child, "keep");
    write(&root, "drop");
    write(&child, "drop");
    let both: BTreeSet<String> = [up, down].into_iter().collect();
    assert_eq!(set(api.list(&format!("scope={child}&view=holistic&labels=keep"))), both);
    assert_eq!(set(api.list(&format!("scope={root}&view=descend&labels=keep"))), both);
}

#[test]
fn ruling_8_unknown_query_parameters_are_ignored() {
    let mut api = Api::shared("unknown");
    let id = api.write("x");
    let scope = encode(&api.scope);
    assert_eq!(api.list(&format!("colour=red&scope={scope}&utm=1&flag")), [id]);
}

#[test]
fn ruling_18_page_size_has_a_default_of_50_and_a_limit_of_1000() {
    let mut api = Api::shared("size");
    let scope = api.scope.clone();
    let items: Vec<_> = (0..60)
        .map(|n| {
            json!({
                "modality": "observation",
                "content": {"kind": "text", "text": format!("n{n}")},
                "context": {"observed_at": "2026-05-13T15:42:00Z"},
                "idempotency_key": unique_key(),
            })
        })
        .collect();
    api.post("/v1/experience/bulk", &json!({"scope": scope, "items": items})).ok(202);
    assert_eq!(api.list(&format!("scope={scope}")).len(), 50);
    assert_eq!(api.list(&format!("scope={scope}&limit=1000")).len(), 60);
    assert_eq!(api.list(&format!("scope={scope}&limit=500")).len(), 60, "clients ask for 500");
    assert_eq!(api.list(&format!("scope={scope}&limit=1")).len(), 1);
    for limit in ["0", "1001", "-1", "many", "1e3", "99999999999999999999", "", "5.0"] {
        let answer = api.get(&format!("/v1/events?scope={scope}&limit={limit}"));
        assert_eq!(answer.response.status, 422, "{limit}: {}", answer.response.text());
        let error = answer.response.json().unwrap();
        assert_eq!(error["details"]["field"], "limit", "{error}");
    }
}

#[test]
fn a_list_needs_a_scope() {
    let mut api = Api::shared("no-scope");
    let error = api.get("/v1/events").fails(400, "MISSING_REQUIRED_FIELD");
    assert_eq!(error["details"]["field"], "scope", "C34");
    api.get("/v1/events?scope=nonsense").fails(422, "INVALID_SCOPE_GRAMMAR");
    api.get("/v1/events?scope=").fails(422, "INVALID_SCOPE_GRAMMAR");
    api.get("/v1/events?scope=user:a&since=yesterday").fails(422, "INVALID_TIMESTAMP");
    api.get("/v1/events?scope=user:a&until=2026-99-01T00:00:00Z").fails(422, "INVALID_TIMESTAMP");
}

#[test]
fn r288_r108_one_event_by_id() {
    let mut api = Api::shared("by-id");
    let id = api.write("by id");
    assert_eq!(api.event(&id)["id"], id);
    let hex = id.strip_prefix("evt_").unwrap().to_owned();
    let hyphens = format!(
        "evt_{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    );
    assert_eq!(api.event(&hyphens)["id"], id, "ruling 7: hyphens in, plain hex out");
    api.get("/v1/events/evt_01890000000070008000000000000000").fails(404, "NOT_FOUND");
    for bad in [
        format!("lce_{hex}"),
        format!("ep_{hex}"),
        hex.clone(),
        "evt_".to_owned(),
        format!("evt_{}", &hex[..31]),
        format!("evt_{hex}0"),
        format!("evt_{}g", &hex[..31]),
        "evt_..%2f..%2fetc%2fpasswd".to_owned(),
        "%00".to_owned(),
    ] {
        api.get(&format!("/v1/events/{bad}")).fails(422, "INVALID_ID");
    }
}

#[test]
fn r213_an_event_is_never_changed_by_any_method() {
    let mut api = Api::shared("immutable");
    let id = api.write_settled("as it was");
    let before = api.event(&id);
    for method in ["PUT", "PATCH", "DELETE", "POST"] {
        let request =
            Request::new(method, &format!("/v1/events/{id}")).json(&json!({"content": "x"}));
        let answer = api.send(&request);
        assert!(answer.header("allow").unwrap().contains("GET"), "{method}");
        answer.fails(405, "METHOD_NOT_ALLOWED");
    }
    api.write("something later");
    let mut after = api.event(&id);
    // What is made of it is not a part of it.
    after["derives"] = before["derives"].clone();
    assert_eq!(after, before, "R007");
}

#[test]
fn r316_a_cancelled_event_is_found_by_id_only() {
    let mut api = Api::shared("cancelled");
    let scope = api.scope.clone();
    let keep = api.write("keep");
    let gone = api.write("a mistake");
    api.post(&format!("/v1/lifecycle/memory-event/{gone}/cancel"), &json!({})).ok(200);
    assert_eq!(api.list(&format!("scope={scope}")), [keep.as_str()]);
    for view in ["holistic", "descend"] {
        assert_eq!(api.list(&format!("scope={scope}&view={view}")), [keep.as_str()], "{view}");
    }
    let event = api.event(&gone);
    assert_eq!(event["excluded_from_recall"], true);
    assert_eq!(event["content"]["text"], "a mistake");
    assert_ne!(api.event(&keep)["excluded_from_recall"], true);
    assert_eq!(string(&event, "id"), gone);
}

/// Three events whose two times disagree: the first one recorded happened last.
fn out_of_order(api: &mut Api) -> [String; 3] {
    ["2023-01-01T00:00:00Z", "2021-01-01T00:00:00Z", "2022-01-01T00:00:00Z"].map(|at| {
        let mut envelope = api.envelope(at);
        envelope["context"]["observed_at"] = json!(at);
        api.write_envelope(&envelope)
    })
}

#[test]
fn lists_sort_by_either_time_in_either_direction() {
    let mut api = Api::shared("sort");
    let scope = api.scope.clone();
    let [a, b, c] = out_of_order(&mut api);
    for (order, expected) in [
        ("", [&a, &c, &b]),
        ("&sort=observed", [&a, &c, &b]),
        ("&order=asc", [&b, &c, &a]),
        ("&sort=recorded", [&c, &b, &a]),
        ("&sort=recorded&order=desc", [&c, &b, &a]),
        ("&sort=recorded&order=asc", [&a, &b, &c]),
    ] {
        let listed = api.list(&format!("scope={scope}{order}"));
        assert_eq!(listed.iter().collect::<Vec<_>>(), expected, "{order}");
        let page = api.get(&format!("/v1/events?scope={scope}{order}&limit=1")).ok(200);
        let cursor = string(&page, "next_cursor");
        let rest = api.list(&format!("scope={scope}{order}&cursor={cursor}"));
        assert_eq!(rest.iter().collect::<Vec<_>>(), expected[1..], "{order}, second page");
    }
}

/// R009: the axis of knowledge can be asked for as well as the axis of the world.
#[test]
fn lists_can_be_cut_on_the_axis_of_knowledge() {
    let mut api = Api::shared("knowledge");
    let scope = api.scope.clone();
    let [a, b, c] = out_of_order(&mut api);
    let recorded = |api: &mut Api, id: &str| string(&api.event(id)["context"], "recorded_at");
    let of_b = recorded(&mut api, &b);
    let ask = |api: &mut Api, filter: &str| set(api.list(&format!("scope={scope}{filter}")));
    let all = |of: &[&String]| -> BTreeSet<String> { of.iter().map(|id| (*id).clone()).collect() };
    assert_eq!(ask(&mut api, &format!("&as_of={of_b}")), all(&[&a, &b]), "includes its instant");
    assert_eq!(ask(&mut api, &format!("&recorded_since={of_b}")), all(&[&b, &c]));
    assert_eq!(ask(&mut api, &format!("&recorded_until={of_b}")), all(&[&a]), "half-open");
    let both = format!("&recorded_since={of_b}&as_of={of_b}");
    assert_eq!(ask(&mut api, &both), all(&[&b]));
    assert_eq!(ask(&mut api, "&as_of=2000-01-01T00:00:00Z"), all(&[]));
}

#[test]
fn c32_a_date_alone_is_midnight_utc() {
    let mut api = Api::shared("dates");
    let scope = api.scope.clone();
    let [a, _, c] = out_of_order(&mut api);
    assert_eq!(set(api.list(&format!("scope={scope}&since=2022-01-01"))), [a, c].into());
}
