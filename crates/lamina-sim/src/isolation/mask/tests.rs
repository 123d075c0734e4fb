//! What is masked, and that nothing that could tell two answers apart is.

use super::*;

fn response(body: &str) -> Response {
    let headers = vec![
        ("date".to_owned(), "today".to_owned()),
        ("x-cortex-policy".to_owned(), "tier=actor".to_owned()),
    ];
    Response { status: 200, headers, body: body.as_bytes().to_vec() }
}

fn id(digit: &str) -> String {
    format!("evt_{}", digit.repeat(32))
}

fn masked(body: &str) -> String {
    Mask::new(Micros(1_000)).answer(&response(body), &HashSet::new())
}

#[test]
fn ids_and_hashes_are_named_by_their_order() {
    let (one, two) = (id("1"), id("2"));
    let answer = |a: &str, b: &str| format!(r#"{{"a":"{a}","b":"/v1/events/{b}","c":"{a}"}}"#);
    assert_eq!(masked(&answer(&one, &two)), masked(&answer(&two, &one)));
    assert_ne!(masked(&answer(&one, &two)), masked(&answer(&one, &one)));
    let hash = |digit: &str| format!(r#"{{"h":"sha256:{}"}}"#, digit.repeat(64));
    assert_eq!(masked(&hash("a")), masked(&hash("b")));
}

#[test]
fn what_the_client_brought_along_stays() {
    let mut mask = Mask::new(Micros(0));
    let foreign = HashSet::from([id("1")]);
    let shown = mask.answer(&response(&format!(r#"{{"a":"{}"}}"#, id("1"))), &foreign);
    assert!(shown.contains(&id("1")), "{shown}");
    assert!(mask.own("evt").is_empty());
}

#[test]
fn counts_statuses_texts_order_and_old_times_are_not_masked() {
    for (one, other) in [
        (r#"{"n":1}"#, r#"{"n":2}"#),
        (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#),
        (r#"{"t":"x"}"#, r#"{"t":"y"}"#),
        (r#"{"t":"1960-01-01T00:00:00Z"}"#, r#"{"t":"1961-01-01T00:00:00Z"}"#),
        (r#"{"next_cursor":null}"#, r#"{"next_cursor":"abc"}"#),
        (r#"{"elapsed_ms":{"capture":1}}"#, r#"{"elapsed_ms":{"capture":1,"index":2}}"#),
        ("plain", "other"),
    ] {
        assert_ne!(masked(one), masked(other));
    }
    assert_eq!(
        masked(r#"{"t":"2026-01-01T00:00:00Z","elapsed_ms":3}"#),
        masked(r#"{"t":"2026-01-02T00:00:00.5Z","elapsed_ms":44}"#)
    );
    assert_eq!(
        masked(r#"{"elapsed_ms":{"capture":1,"index":2.5}}"#),
        masked(r#"{"elapsed_ms":{"capture":7,"index":0}}"#)
    );
}

#[test]
fn what_is_alike_is_named_where_it_can_be_told_apart() {
    let both = |first: &str, last: &str| {
        let mut mask = Mask::new(Micros(0));
        let (one, two) = (id("1"), id("2"));
        let list =
            format!(r#"{{"a":[{{"id":"{one}"}},{{"id":"{two}"}}],"b":{{"{one}":3,"{two}":3}}}}"#);
        let list = mask.answer(&response(&list), &HashSet::new());
        let told = response(&format!(r#"{{"id":"{first}","supersedes":"{last}"}}"#));
        list + &mask.answer(&told, &HashSet::new())
    };
    assert_eq!(both(&id("1"), &id("2")), both(&id("2"), &id("1")));
    assert_ne!(both(&id("1"), &id("2")), both(&id("1"), &id("1")));
}

#[test]
fn versions_have_their_confidences_in_one_order() {
    let versions = |one: &str, two: &str| {
        format!(
            r#"{{"versions":[{{"version":1,"confidence":{one}}},{{"version":2,"confidence":{two}}}]}}"#
        )
    };
    assert_ne!(masked(&versions("0.25", "0.5")), masked(&versions("0.5", "0.25")));
    assert_ne!(masked(&versions("0.25", "0.5")), masked(&versions("0.25", "0.75")));
}
