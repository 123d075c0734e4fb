//! What can be asked of episodes, and what is refused.

use expect_test::{Expect, expect};

use super::*;

fn check(query: &str, expected: Expect) {
    let pairs: Vec<(String, String)> = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let text = match EpisodesQuery::parse(&pairs) {
        Ok(query) => format!(
            "{:?} {:?} {:?} {:?} {:?} {}",
            query.actor.as_ref().map(ActorId::as_str),
            query.times.as_of_valid.map(|at| at.0.0),
            query.times.as_of_recorded.map(|at| at.0.0),
            query.overlapping.map(|(from, to)| (from.0.0, to.0.0)),
            query.times.recorded_during.map(|(from, to)| (from.0.0, to.0.0)),
            query.with_causal_chain,
        ),
        Err(error) => format!("{error:?}").split("details").next().unwrap().to_owned(),
    };
    expected.assert_eq(&text);
}

#[test]
fn questions_on_both_axes() {
    check("scope=user:a", expect!["None None None None None false"]);
    check(
        "scope=user:a&actor=user:b&with_causal_chain=true",
        expect![[r#"Some("user:b") None None None None true"#]],
    );
    check(
        "scope=user:a&observed_actor=user:b&actor=user:b",
        expect![[r#"Some("user:b") None None None None false"#]],
    );
    check(
        "scope=user:a&as_of=1970-01-01T00:00:01Z",
        expect!["None Some(1000000) Some(1000000) None None false"],
    );
    check(
        "scope=user:a&as_of=1970-01-01T00:00:01Z&as_of_valid=1970-01-02",
        expect!["None Some(86400000000) Some(1000000) None None false"],
    );
    check(
        "scope=user:a&overlapping=1970-01-01..1970-01-02",
        expect!["None None None Some((0, 86400000000)) None false"],
    );
    check(
        "scope=user:a&recorded_during=1970-01-01..1970-01-02",
        expect!["None None None None Some((0, 86400000000)) false"],
    );
}

#[test]
fn what_is_refused() {
    check(
        "view=local",
        expect![[
            r#"ApiError { code: MissingRequiredField, status: 400, message: "`scope`: this parameter is required", "#
        ]],
    );
    check(
        "scope=user:a&actor=b",
        expect![[
            r#"ApiError { code: InvalidParameter, status: 422, message: "`actor`: an actor is `type:id` with type [a-z][a-z0-9_]* and id [A-Za-z0-9._@+-]+, at most 256 characters", "#
        ]],
    );
    check(
        "scope=user:a&actor=user:b&observed_actor=user:c",
        expect![[
            r#"ApiError { code: InvalidParameter, status: 422, message: "`actor`: differs from `observed_actor`, which means the same", "#
        ]],
    );
    check(
        "scope=user:a&overlapping=1970-01-02",
        expect![[
            r#"ApiError { code: InvalidParameter, status: 422, message: "`overlapping`: must be two times with `..` between them", "#
        ]],
    );
    check(
        "scope=user:a&overlapping=1970-01-02..1970-01-02",
        expect![[
            r#"ApiError { code: InvalidParameter, status: 422, message: "`overlapping`: must end after it begins", "#
        ]],
    );
    check(
        "scope=user:a&overlapping=a..b",
        expect![[
            r#"ApiError { code: InvalidTimestamp, status: 422, message: "`overlapping`: expected an RFC 3339 timestamp such as 2026-05-13T15:42:00Z", "#
        ]],
    );
    check(
        "scope=user:a&with_causal_chain=perhaps",
        expect![[
            r#"ApiError { code: InvalidParameter, status: 422, message: "`with_causal_chain`: must be one of false, true", "#
        ]],
    );
    check(
        "scope=user:a&limit=1001",
        expect![[
            r#"ApiError { code: InvalidParameter, status: 422, message: "`limit`: must be a whole number from 1 to 1000", "#
        ]],
    );
    check(
        "scope=user:a&as_of=soon",
        expect![[
            r#"ApiError { code: InvalidTimestamp, status: 422, message: "`as_of`: expected an RFC 3339 timestamp such as 2026-05-13T15:42:00Z", "#
        ]],
    );
}
