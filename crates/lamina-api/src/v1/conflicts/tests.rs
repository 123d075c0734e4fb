//! What can be asked of conflicts and decided about them, and what is refused.

use expect_test::{Expect, expect};

use super::*;

fn check(body: &str, expected: Expect) {
    let text = match ResolveRequest::read(body.as_bytes()) {
        Ok((action, reason)) => format!("{action:?} {reason:?}"),
        Err(error) => format!("{} {}", error.status, error.message),
    };
    expected.assert_eq(&text);
}

const ONE: &str = "0190a1b2c3d47e5f8a9b0c1d2e3f4a5b";

#[test]
fn decisions_are_read_as_clients_send_them() {
    check(
        &format!(r#"{{"action":"pick","winner":"{ONE}","reason":""}}"#),
        expect![[r#"Pick { winner: 0190a1b2c3d47e5f8a9b0c1d2e3f4a5b } """#]],
    );
    check(
        r#"{"action":"pick","winner":"fact_0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b","reason":"asked"}"#,
        expect![[r#"Pick { winner: 0190a1b2c3d47e5f8a9b0c1d2e3f4a5b } "asked""#]],
    );
    check(
        &format!(r#"{{"action":"split","boundary":"1970-02","earlier":"{ONE}","later":"{ONE}"}}"#),
        expect![[
            r#"Split { boundary: ValidAt(Micros(2678400000000)), earlier: 0190a1b2c3d47e5f8a9b0c1d2e3f4a5b, later: 0190a1b2c3d47e5f8a9b0c1d2e3f4a5b } """#
        ]],
    );
    check(
        &format!(r#"{{"action":"new_information","record":"{ONE}"}}"#),
        expect![[r#"NewInformation { record: 0190a1b2c3d47e5f8a9b0c1d2e3f4a5b } """#]],
    );
    check(r#"{"action":"dismiss","reason":""}"#, expect![[r#"Dismiss """#]]);
}

#[test]
fn decisions_of_another_shape_are_refused_by_name() {
    check("[]", expect!["422 `body`: must be an object, not an array"]);
    check("{}", expect!["422 `action`: must be one of pick, split, new_information, dismiss"]);
    check(
        r#"{"action":"toss"}"#,
        expect!["422 `action`: must be one of pick, split, new_information, dismiss"],
    );
    check(r#"{"action":"pick"}"#, expect!["422 `winner`: is required by the action"]);
    check(
        r#"{"action":"pick","winner":"first"}"#,
        expect!["422 `winner`: expected a UUID of 32 hex digits"],
    );
    check(
        &format!(r#"{{"action":"pick","winner":"evt_{ONE}"}}"#),
        expect!["422 `winner`: expected a UUID of 32 hex digits"],
    );
    check(
        &format!(r#"{{"action":"dismiss","winner":"{ONE}"}}"#),
        expect!["422 `winner`: does not belong to `dismiss`"],
    );
    check(
        &format!(r#"{{"action":"pick","winner":"{ONE}","why":"x"}}"#),
        expect![
            "422 `why`: unknown field; expected one of action, winner, boundary, earlier, later, record, reason"
        ],
    );
    check(
        &format!(r#"{{"action":"split","boundary":"soon","earlier":"{ONE}","later":"{ONE}"}}"#),
        expect!["422 `boundary`: expected an RFC 3339 timestamp such as 2026-05-13T15:42:00Z"],
    );
    check(
        &format!(r#"{{"action":"split","earlier":"{ONE}","later":"{ONE}"}}"#),
        expect!["422 `boundary`: is required by the action"],
    );
    let long = "x".repeat(AUDIT_NOTE_CHARS_MAX + 1);
    check(
        &format!(r#"{{"action":"dismiss","reason":"{long}"}}"#),
        expect!["422 `reason`: has more than 2000 characters"],
    );
    let fits = "x".repeat(AUDIT_NOTE_CHARS_MAX);
    assert!(
        ResolveRequest::read(format!(r#"{{"action":"dismiss","reason":"{fits}"}}"#).as_bytes())
            .is_ok()
    );
}

fn ask(query: &str, expected: Expect) {
    let pairs: Vec<(String, String)> = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let text = match ConflictsQuery::parse(&pairs) {
        Ok(query) => format!(
            "open {} pin {:?} before {:?} limit {}",
            query.open_only, query.recorded, query.before, query.limit
        ),
        Err(error) => format!("{} {}", error.status, error.message),
    };
    expected.assert_eq(&text);
}

#[test]
fn questions_for_conflicts() {
    ask("scope=user:a", expect!["open true pin None before None limit 50"]);
    ask(
        "scope=user:a&status=all&limit=3&cursor=12",
        expect!["open false pin None before Some(RecordedAt(Micros(12))) limit 3"],
    );
    ask(
        "scope=user:a&cursor=0&as_of=1970",
        expect!["open true pin Some(RecordedAt(Micros(0))) before None limit 50"],
    );
    ask(
        "scope=user:a&known_as_of=1970-01-02&as_of=1980",
        expect!["open true pin Some(RecordedAt(Micros(86400000000))) before None limit 50"],
    );
    ask("status=open", expect!["400 `scope`: this parameter is required"]);
    ask("scope=user:a&status=closed", expect!["422 `status`: must be one of open, all"]);
    ask("scope=user:a&cursor=-1", expect!["422 `cursor`: must be a `next_cursor` of this list"]);
    ask("scope=user:a&cursor=abc", expect!["422 `cursor`: must be a `next_cursor` of this list"]);
    ask("scope=user:a&limit=1001", expect!["422 `limit`: must be a whole number from 1 to 1000"]);
    ask(
        "scope=user:a&as_of=197",
        expect!["422 `as_of`: expected an RFC 3339 timestamp such as 2026-05-13T15:42:00Z"],
    );
}
