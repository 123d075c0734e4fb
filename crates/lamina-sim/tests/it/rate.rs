//! Rate limits (section K, R199-R201, R419): exact numbers, and a bucket for each actor.

use std::time::Duration;

use lamina_sim::client::Request;
use serde_json::json;

use crate::harness::{Answer, Api, Own, envelope, string};
use crate::tokens::{Signed, Team};

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
    // Who asks what they may do reads, and is told where they stand (the client looks there for it).
    for (left, target) in [(7, "/v1/auth/whoami"), (6, "/v1/policy/effective")] {
        let answer = api.send(&Request::get(target).header("X-Cortex-Actor", "user:alice"));
        assert_eq!(number(&answer, "x-ratelimit-limit"), 9, "{target}");
        assert_eq!(number(&answer, "x-ratelimit-remaining"), left, "{target}");
    }
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

/// R199, R457: a tenant's policy lowers the rates of its own callers, and nobody else's.
#[test]
fn r199_a_tenant_lowers_its_own_rates() {
    let team = Team::start_with("cloud_shared_saas", &[("CORTEX_ENABLE_EXPERIMENTAL", "1")]);
    let mut alice = team.caller("acme", "user:alice");
    let mut other = team.caller("other", "user:alice");
    let body = serde_json::json!({"defaults": {"rate_limit.write": "3/h"}});
    alice.send(Request::new("PUT", "/v1/policy/tenant/acme").json(&body)).ok(200);
    let write =
        |caller: &mut Signed| caller.post("/v1/experience", &envelope("user:alice", "hello"));
    for left in [2, 1, 0] {
        let answer = write(&mut alice);
        assert_eq!(number(&answer, "x-ratelimit-limit"), 3);
        assert_eq!(number(&answer, "x-ratelimit-remaining"), left);
        answer.ok(202);
    }
    write(&mut alice).fails(429, "RATE_LIMITED");
    assert_eq!(number(&write(&mut other), "x-ratelimit-limit"), 100);
    // Reads have a bucket of their own, and raising a rate takes an operator.
    assert_eq!(number(&alice.get("/v1/events?scope=user:alice"), "x-ratelimit-limit"), 500);
    let more = serde_json::json!({"defaults": {"rate_limit.write": "500/s"}});
    let put = Request::new("PUT", "/v1/policy/tenant/other").json(&more);
    other.send(put).fails_at(422, "INVALID_BODY", "defaults");
}

#[test]
fn reads_beyond_the_limit_are_refused_with_overloaded_and_writes_go_on() {
    let own = Own::start_with(&[("LAMINA_LIMITS_READS_IN_FLIGHT", "1")]);
    let mut api = own.api("crowd");
    for n in 0..20 {
        api.write(&format!("Person{n} works at Firm{n}."));
    }
    let target = format!("/v1/events?scope={}&limit=20", api.scope);
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let (mut client, target) = (own.server.client(), target.clone());
            std::thread::spawn(move || {
                let mut refused = 0;
                for _ in 0..60 {
                    let response = client.send(&Request::get(&target)).unwrap();
                    let answer = Answer::checked("GET", &target, response);
                    if answer.response.status == 503 {
                        refused += 1;
                        assert_eq!(answer.header("retry-after"), Some("1"));
                        answer.fails(503, "OVERLOADED");
                    } else {
                        answer.ok(200);
                    }
                }
                refused
            })
        })
        .collect();
    // Neither writes nor the health report are reads of this kind.
    for n in 0..20 {
        api.write(&format!("Person{n} moved to Firm{}.", n + 1));
        api.get("/v1/health").ok(200);
    }
    let refused: u32 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
    assert!(refused > 0, "eight readers at once, and one may read");
    // When the crowd is gone, one read after the other is answered.
    for _ in 0..10 {
        api.get(&target).ok(200);
    }
}
