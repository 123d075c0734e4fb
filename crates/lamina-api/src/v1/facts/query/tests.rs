//! What can be asked of facts, and what is refused.

use expect_test::{Expect, expect};

use super::*;

fn check(query: &str, expected: Expect) {
    let pairs: Vec<(String, String)> = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let text = match FactsQuery::parse(&pairs) {
        Ok(query) => format!(
            "{:?} {:?} {:?} {:?} {} {}",
            query.times.as_of_valid.map(|at| at.0.0),
            query.times.as_of_recorded.map(|at| at.0.0),
            query.times.valid_during.map(|(from, to)| (from.0.0, to.0.0)),
            query.times.recorded_during.map(|(from, to)| (from.0.0, to.0.0)),
            query.min_confidence,
            query.include_superseded,
        ),
        Err(error) => format!("{error:?}").split("details").next().unwrap().to_owned(),
    };
    expected.assert_eq(&text);
}

#[test]
fn questions_on_both_axes() {
    check("scope=user:a", expect!["None None None None 0 false"]);
    check(
        "scope=user:a&as_of=1970-01-01T00:00:01Z",
        expect!["Some(1000000) Some(1000000) None None 0 false"],
    );
    check(
        "scope=user:a&as_of=1970-01-01T00:00:01Z&known_as_of=1970-01-01T00:00:02Z",
        expect!["Some(1000000) Some(2000000) None None 0 false"],
    );
    check(
        "scope=user:a&valid_during=1970-01-01..1970-01-02",
        expect!["None None Some((0, 86400000000)) None 0 false"],
    );
    check(
        "scope=user:a&min_confidence=0.5&include_superseded=true",
        expect!["None None None None 0.5 true"],
    );
}

#[test]
fn what_is_refused() {
    check(
        "scope=user:a&valid_during=1970-01-02..1970-01-01",
        expect![[
            r#"ApiError { code: InvalidParameter, status: 422, message: "`valid_during`: must end after it begins", "#
        ]],
    );
    check(
        "scope=user:a&valid_during=1970-01-02",
        expect![[
            r#"ApiError { code: InvalidParameter, status: 422, message: "`valid_during`: must be two times with `..` between them", "#
        ]],
    );
    check(
        "scope=user:a&recorded_during=x..y",
        expect![[
            r#"ApiError { code: InvalidTimestamp, status: 422, message: "`recorded_during`: expected an RFC 3339 timestamp such as 2026-05-13T15:42:00Z", "#
        ]],
    );
    check(
        "scope=user:a&min_confidence=2",
        expect![[
            r#"ApiError { code: InvalidParameter, status: 422, message: "`min_confidence`: must be a number from 0 to 1", "#
        ]],
    );
    check(
        "scope=user:a&min_confidence=NaN",
        expect![[
            r#"ApiError { code: InvalidParameter, status: 422, message: "`min_confidence`: must be a number from 0 to 1", "#
        ]],
    );
    check(
        "scope=user:a&include_superseded=maybe",
        expect![[
            r#"ApiError { code: InvalidParameter, status: 422, message: "`include_superseded`: must be one of false, true", "#
        ]],
    );
}
