//! Rate limits (section K, R199-R201, R419): exact numbers, and a bucket for each actor.

use std::time::Duration;

use lamina_sim::client::Request;
use serde_json::json;

use crate::harness::{Answer, Api, Own, string};

fn number(answer: &Answer, name: &str) -> u64 {
    answer.header(name).unwrap_or_else(|| panic!("no {name}")).parse().unwrap()
}

fn write_as(api: &mut Api, actor: &str) -> Answer {
    let envelope = api.envelope("as often as it goes");
    api.send(&Request::post("/v1/experience", &envelope).header("X-Cortex-Actor", actor))
}

fn read_as(api: &mut Api, actor: &str) -> Answer {
    let target = format!("/v1/events?scope={}", api.scope);
    api.send(&Request::get(&target).header("X-Cortex-Actor", actor))
}

#[test]
fn r199_r200_every_actor_has_a_bucket_and_every_answer_says_what_is_left() {
    let own =
        Own::start_with(&[("LAMINA_LIMITS_RATE_WRITE", "5/h"), ("LAMINA_LIMITS_RATE_READ", "9/h")]);
    let mut api = own.api("rate");
    for left in (0..5).rev() {
        let answer = write_as(&mut api, "user:alice");
        assert_eq!(number(&answer, "x-ratelimit-limit"), 5);
        assert_eq!(number(&answer, "x-ratelimit-remaining"), left);
        assert!(number(&answer, "x-ratelimit-reset") > 1_700_000_000);
        answer.ok(202);
    }
    write_as(&mut api, "user:alice").fails(429, "RATE_LIMITED");
    // Reads, and everybody else, have buckets of their own.
    let answer = read_as(&mut api, "user:alice");
    assert_eq!(number(&answer, "x-ratelimit-limit"), 9);
    assert_eq!(number(&answer, "x-ratelimit-remaining"), 8);
    answer.ok(200);
    let answer = write_as(&mut api, "user:bob");
    assert_eq!(number(&answer, "x-ratelimit-remaining"), 4);
    answer.ok(202);
    // A request that is refused for another reason was one all the same.
    let request = Request::post("/v1/experience", &json!({"scope": "no scope"}));
    let answer = api.send(&request.header("X-Cortex-Actor", "user:bob"));
    assert_eq!(number(&answer, "x-ratelimit-remaining"), 3);
    answer.fails(422, "INVALID_SCOPE_GRAMMAR");
    // Whether the server lives can always be asked.
    for _ in 0..20 {
        let answer = api.get("/v1/health");
        assert_eq!(number(&answer, "x-ratelimit-limit"), 2_147_483_647);
        answer.ok(200);
    }
}

#[test]
fn r201_r419_over_the_limit_is_429_until_retry_after() {
    let own = Own::start_with(&[("LAMINA_LIMITS_RATE_WRITE", "1/s")]);
    let mut api = own.api("rate");
    // Two within a second, however slow the machine is.
    let refused = (0..100)
        .map(|_| write_as(&mut api, "user:alice"))
        .find(|answer| answer.response.status != 202)
        .unwrap();
    let wait = number(&refused, "retry-after");
    assert_eq!(wait, 1);
    assert_eq!(number(&refused, "x-ratelimit-remaining"), 0);
    let error = refused.fails(429, "RATE_LIMITED");
    assert_eq!(error["retriable"], true);
    assert_eq!(error["details"]["limit"], 1);
    assert!(!string(&error, "message").is_empty());
    std::thread::sleep(Duration::from_secs(wait));
    write_as(&mut api, "user:alice").ok(202);
}

/// A refused write did not happen: its key is free.
#[test]
fn a_write_that_was_refused_can_be_sent_again() {
    let own = Own::start_with(&[("LAMINA_LIMITS_RATE_WRITE", "1/h")]);
    let mut api = own.api("rate");
    let envelope = api.envelope("patient");
    api.write("the only one in an hour");
    api.post("/v1/experience", &envelope).fails(429, "RATE_LIMITED");
    let own = own.restart();
    let answer = own.api("rate").post("/v1/experience", &envelope);
    assert_eq!(answer.header("x-cortex-replay"), None);
    answer.ok(202);
}

/// A client that is busy sending gets the answer, not a broken connection.
#[test]
fn a_large_body_over_the_limit_is_answered() {
    let own = Own::start_with(&[("LAMINA_LIMITS_RATE_WRITE", "1/h")]);
    let mut api = own.api("rate");
    api.write("the only one in an hour");
    let text = "a".repeat(3 << 20);
    for _ in 0..5 {
        let envelope = api.envelope(&text);
        api.post("/v1/experience", &envelope).fails(429, "RATE_LIMITED");
    }
}
