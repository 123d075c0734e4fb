//! Headers and manners of section K that hold for every route.

use lamina_sim::client::Request;
use serde_json::json;

use crate::harness::{Answer, Api, check_id, string};

#[test]
fn r206_every_answer_has_a_request_id_the_clients_own_if_it_sent_one() {
    let mut api = Api::shared("request-id");
    let minted = api.get("/v1/health").response;
    check_id(minted.header("x-cortex-request-id").unwrap(), "req");
    let other = api.get("/v1/health").response;
    assert_ne!(minted.header("x-cortex-request-id"), other.header("x-cortex-request-id"));
    for target in ["/v1/health", "/v1/no-such-route", "/v1/events"] {
        let request = Request::get(target).header("X-Cortex-Request-ID", "my-own.id:7");
        let answer = api.send(&request);
        assert_eq!(answer.header("x-cortex-request-id"), Some("my-own.id:7"), "{target}");
    }
}

#[test]
fn r207_x_request_id_is_a_fallback_that_is_not_echoed() {
    let mut api = Api::shared("request-id");
    let answer = api.send(&Request::get("/v1/health").header("X-Request-ID", "older-name"));
    assert_eq!(answer.header("x-cortex-request-id"), Some("older-name"));
    assert_eq!(answer.header("x-request-id"), None);
    let both = Request::get("/v1/health")
        .header("X-Request-ID", "older-name")
        .header("X-Cortex-Request-ID", "newer-name");
    assert_eq!(api.send(&both).header("x-cortex-request-id"), Some("newer-name"));
}

/// An id that could break a log line or a header is replaced, and the request still served.
#[test]
fn an_unusable_request_id_is_replaced() {
    let mut api = Api::shared("request-id");
    let long = "x".repeat(5_000);
    for bad in [b"with space".as_slice(), b"\xff\xfe", b"tab\there", long.as_bytes(), b""] {
        let answer = api.send(&Request::get("/v1/health").header("X-Cortex-Request-ID", bad));
        assert_eq!(answer.response.status, 200);
        check_id(answer.header("x-cortex-request-id").unwrap(), "req");
    }
}

#[test]
fn r208_gated_calls_say_what_the_policy_decided() {
    let mut api = Api::shared("policy");
    let scope = api.scope.clone();
    let id = api.write("x");
    for (target, capability) in [
        (format!("/v1/events?scope={scope}"), "scope.read.local"),
        (format!("/v1/events?scope={scope}&view=holistic"), "scope.read.holistic"),
        (format!("/v1/events?scope={scope}&view=descend"), "scope.read.descend"),
        (format!("/v1/events/{id}"), "scope.read.local"),
        (format!("/v1/lifecycle?scope={scope}"), "lifecycle.subscribe"),
    ] {
        let answer = api.get(&target);
        let policy = answer.header("x-cortex-policy").unwrap().to_owned();
        assert!(policy.starts_with("tier="), "{policy}");
        assert!(policy.contains("; decision=allow; "), "{policy}");
        assert!(policy.ends_with(&format!("capability={capability}")), "{target}: {policy}");
        answer.ok(200);
    }
    for open in ["/v1/health", "/v1/admin/version"] {
        assert_eq!(api.get(open).header("x-cortex-policy"), None, "{open} needs no permission");
    }
}

#[test]
fn r200_rate_limit_headers_are_numbers() {
    let mut api = Api::shared("rate");
    let answer = api.get("/v1/health");
    let limit: u64 = answer.header("x-ratelimit-limit").unwrap().parse().unwrap();
    let left: u64 = answer.header("x-ratelimit-remaining").unwrap().parse().unwrap();
    let reset: u64 = answer.header("x-ratelimit-reset").unwrap().parse().unwrap();
    assert!(left <= limit);
    assert!(reset > 1_700_000_000, "a Unix time in seconds: {reset}");
}

#[test]
fn r209_headers_that_clients_send_are_accepted() {
    let mut api = Api::shared("headers");
    let request = Request::get("/v1/health")
        .header("Authorization", "Bearer not-looked-at-in-dev-local")
        .header("X-Cortex-Actor", "user:default")
        .header("X-Cortex-Trace-Parent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        .header("traceparent", "nonsense")
        .header("User-Agent", "cortexdb-python/v1 0.12.0")
        .header("Accept", "application/json");
    api.send(&request).ok(200);
}

#[test]
fn an_actor_that_is_no_actor_is_refused() {
    let mut api = Api::shared("actor");
    let scope = api.scope.clone();
    let long = format!("user:{}", "a".repeat(300));
    for bad in ["alice", "user:", "User:x", "user:a b", long.as_str()] {
        let envelope = api.envelope("x");
        let request = Request::post("/v1/experience", &envelope).header("X-Cortex-Actor", bad);
        let answer = api.send(&request);
        let status = answer.response.status;
        assert!(matches!(status, 400 | 401 | 422), "{bad}: {status}");
    }
    assert!(api.list(&format!("scope={scope}")).is_empty());
}

#[test]
fn scopes_in_a_query_may_be_encoded_or_not() {
    let mut api = Api::shared("encoding");
    let id = api.write("x");
    let raw = api.scope.clone();
    let encoded = raw.replace(':', "%3A").replace('/', "%2F");
    let mixed = raw.replace(':', "%3a");
    for scope in [raw, encoded, mixed] {
        assert_eq!(api.list(&format!("scope={scope}")), [id.as_str()], "{scope}");
    }
}

#[test]
fn ruling_8_an_unknown_field_is_refused_by_name_at_every_depth() {
    let mut api = Api::shared("unknown");
    for (parent, field) in [
        ("", "colour"),
        ("/content", "content.colour"),
        ("/context", "context.colour"),
        ("/directives", "directives.colour"),
        ("/observed_actor", "observed_actor.colour"),
        ("/subject", "subject.colour"),
    ] {
        let mut envelope = api.envelope("x");
        envelope["directives"] = json!({});
        envelope["observed_actor"] = json!({"id": "user:a"});
        envelope["subject"] = json!({"id": "user:a"});
        envelope.pointer_mut(parent).unwrap()["colour"] = json!("red");
        let error = api.post("/v1/experience", &envelope).fails(422, "INVALID_BODY");
        assert_eq!(error["details"]["field"], field, "{error}");
    }
}

#[test]
fn a_misspelt_field_is_met_with_a_suggestion() {
    let mut api = Api::shared("suggestion");
    let mut envelope = api.envelope("x");
    envelope["modalty"] = json!("conversation");
    let error = api.post("/v1/experience", &envelope).fails(422, "INVALID_BODY");
    assert!(error.to_string().contains("modality"), "{error}");
}

/// 1.0: never anything but JSON on a JSON route, also for `HEAD` and odd methods.
#[test]
fn head_is_get_without_a_body() {
    let mut api = Api::shared("head");
    let response = api.client.send(&Request::new("HEAD", "/v1/health")).unwrap();
    assert_eq!(response.status, 200);
    assert!(response.body.is_empty());
    crate::harness::check_headers("HEAD /v1/health", &response);
    // The connection is still in step.
    api.get("/v1/health").ok(200);
}

#[test]
fn many_requests_share_a_connection() {
    let mut api = Api::shared("keep-alive");
    for number in 0..50 {
        let answer =
            if number % 3 == 0 { api.get("/v1/no-such-route") } else { api.get("/v1/health") };
        assert_ne!(answer.header("connection"), Some("close"), "request {number}");
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let api = Api::shared("pipeline");
    let address = api.client.address();
    let one = |id: &str| Request::get("/v1/health").header("X-Cortex-Request-ID", id).head(address);
    let wire = [one("first"), one("second"), one("third")].concat();
    let answers = api.client.send_pipelined(&wire, 3).unwrap();
    for (answer, id) in answers.into_iter().zip(["first", "second", "third"]) {
        let answer = Answer::checked("GET", "/v1/health", answer);
        assert_eq!(answer.header("x-cortex-request-id"), Some(id));
        assert_eq!(string(&answer.ok(200), "status"), "healthy");
    }
}

/// A page of another site must not be able to write into the memory of whoever reads it.
#[test]
fn pages_of_other_origins_are_refused_under_dev_local() {
    let mut api = Api::shared("origin");
    let scope = api.scope.clone();
    let envelope = api.envelope("from a stranger's page");
    let post = || Request::post("/v1/experience", &envelope);
    for request in [
        post().header("Origin", "https://evil.example"),
        post().header("Origin", "null"),
        post().header("Host", "evil.example"),
        post().header("Origin", "http://localhost:5173"),
        post().header("Sec-Fetch-Site", "cross-site"),
        post().header("Sec-Fetch-Site", "same-site"),
    ] {
        let error = api.send(&request).fails(403, "POLICY_DENIED");
        for key in ["capability", "denied_by_tier", "deployment_preset", "remediation"] {
            assert!(error["details"].get(key).is_some(), "R011, R154: {key}: {error}");
        }
    }
    assert!(api.list(&format!("scope={scope}")).is_empty());
    let own_page = format!("http://{}", api.client.address());
    let of_own_page = post().header("Origin", own_page).header("Sec-Fetch-Site", "same-origin");
    api.send(&of_own_page).ok(202);
}

#[test]
fn second_host_header_is_refused_with_the_envelope() {
    let mut api = Api::shared("hosts");
    let request =
        Request::get("/v1/health").header("Host", "localhost").header("Host", "localhost");
    let error = api.send(&request).fails(400, "MALFORMED_REQUEST");
    assert_eq!(error["details"]["field"], "Host");
}

#[test]
fn json_answers_are_protected_from_browsers() {
    let mut api = Api::shared("protected");
    let answer = api.send(&Request::get("/v1/health"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
    answer.ok(200);
}
