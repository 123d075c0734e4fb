//! Failures of the transport: unknown routes, methods, sizes, types, slow and broken requests
//! (section AA, rulings 16-18).

use std::net::TcpStream;
use std::time::Duration;

use lamina_sim::client::{Client, Deadline, Request};
use serde_json::json;

use crate::harness::{Api, Own, check_envelope, check_headers};

#[test]
fn r413_unknown_routes_are_404_with_the_envelope() {
    let mut api = Api::shared("404");
    for target in [
        "/",
        "/v1",
        "/v1/",
        "/v2/experience",
        "/v1/experience/",
        "/v1/Experience",
        "/v1/experience/bulk/more",
        "/v1/../etc/passwd",
        "/v1/%2e%2e/keys",
        "/favicon.ico",
        "//v1/health",
        "/v1/health/extra",
        "/v1/%ff",
    ] {
        for method in ["GET", "POST"] {
            let answer = api.send(&Request::new(method, target));
            answer.fails(404, "NOT_FOUND");
        }
    }
}

#[test]
fn ruling_17_wrong_methods_are_405_with_allow() {
    let mut api = Api::shared("405");
    for (method, target, allowed) in [
        ("GET", "/v1/experience", "POST"),
        ("PUT", "/v1/experience", "POST"),
        ("DELETE", "/v1/experience/bulk", "POST"),
        ("POST", "/v1/events", "GET"),
        ("DELETE", "/v1/events/evt_01890000000070008000000000000000", "GET"),
        ("PUT", "/v1/blobs/blob_01890000000070008000000000000000", "DELETE"),
        ("PUT", "/v1/blobs/blob_01890000000070008000000000000000", "GET"),
        ("POST", "/v1/lifecycle", "GET"),
        ("POST", "/v1/lifecycle/stream", "GET"),
        ("POST", "/v1/admin/health", "GET"),
        ("PATCH", "/v1/admin/version", "GET"),
        ("BREW", "/v1/health", "GET"),
        // C01: earlier drafts used DELETE.
        ("DELETE", "/v1/forget", "POST"),
    ] {
        let request = Request::new(method, target).bytes(Vec::new());
        let answer = api.send(&request);
        let allow = answer.header("allow").unwrap_or_default().to_owned();
        let names: Vec<&str> = allow.split(',').map(str::trim).collect();
        assert!(names.contains(&allowed), "{method} {target}: Allow: {allow}");
        assert!(!names.contains(&method), "{method} {target}: Allow: {allow}");
        answer.fails(405, "METHOD_NOT_ALLOWED");
    }
}

#[test]
fn ruling_18_a_json_body_has_at_most_4_mib_and_a_bulk_body_16() {
    let mut api = Api::shared("413");
    // White space counts: the limit is on the body, not on what it means.
    let padded = |body: String, to: usize| {
        let mut bytes = body.into_bytes();
        bytes.resize(to, b' ');
        bytes
    };
    let mib = 1_024 * 1_024;
    let post = |target: &str, bytes: Vec<u8>| {
        Request::new("POST", target).header("Content-Type", "application/json").bytes(bytes)
    };
    let one = || json!({"scope": "user:a", "content": "x"}).to_string();
    let many = || json!({"items": [{"scope": "user:a", "content": "x"}]}).to_string();
    api.send(&post("/v1/experience", padded(one(), 4 * mib))).ok(202);
    api.send(&post("/v1/experience", padded(one(), 4 * mib + 1))).fails(413, "BODY_TOO_LARGE");
    api.send(&post("/v1/experience/bulk", padded(many(), 16 * mib))).ok(202);
    let error = api
        .send(&post("/v1/experience/bulk", padded(many(), 16 * mib + 1)))
        .fails(413, "BODY_TOO_LARGE");
    assert_eq!(error["retriable"], false);
    // The connection is usable, or was closed and a new one is.
    api.get("/v1/health").ok(200);
}

#[test]
fn a_body_of_ten_megabytes_is_refused_however_it_is_framed() {
    let mut api = Api::shared("413");
    let bytes = vec![b'['; 10_000_000];
    api.send(&Request::new("POST", "/v1/experience").bytes(bytes.clone()))
        .fails(413, "BODY_TOO_LARGE");
    let mut wire =
        b"POST /v1/experience HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            .to_vec();
    wire.extend(format!("{:x}\r\n", bytes.len()).into_bytes());
    wire.extend(bytes);
    wire.extend_from_slice(b"\r\n0\r\n\r\n");
    let response = api.client.send_raw(&wire).unwrap();
    assert_eq!(response.status, 413, "{}", response.text());
    check_headers("chunked", &response);
    check_envelope("chunked", &response);
}

#[test]
fn ruling_17_a_body_that_does_not_come_is_408() {
    let own = Own::start_with(&[("LAMINA_LIMITS_BODY_TIMEOUT_MS", "300")]);
    let client = own.server.client();
    let head = b"POST /v1/experience HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"scope\":";
    let waited = Deadline::after(Duration::from_secs(60));
    let response = client.send_raw(head).unwrap();
    assert_eq!(response.status, 408, "{}", response.text());
    assert_eq!(response.json().unwrap()["error_code"], "REQUEST_TIMEOUT");
    check_headers("slow body", &response);
    check_envelope("slow body", &response);
    assert!(waited.spent() < Duration::from_secs(20), "{:?}", waited.spent());
    own.api("after").get("/v1/health").ok(200);
}

/// A client that sends its head byte by byte holds a connection, and only for so long.
#[test]
fn a_head_that_does_not_end_is_cut_off() {
    let own = Own::start_with(&[("LAMINA_LIMITS_HEADER_TIMEOUT_MS", "300")]);
    let client = own.server.client().patient_for(Duration::from_secs(30));
    let waited = Deadline::after(Duration::from_secs(60));
    // Closed without an answer, or with a 408: both end it.
    if let Ok(response) = client.send_raw(b"GET /v1/health HTTP/1.1\r\nHost: loc") {
        assert_eq!(response.status, 408);
    }
    assert!(waited.spent() < Duration::from_secs(20), "{:?}", waited.spent());
    own.api("after").get("/v1/health").ok(200);
}

#[test]
fn slow_bodies_within_the_limit_are_served_and_do_not_block_others() {
    let mut api = Api::shared("slow");
    let body = json!({"scope": api.scope, "content": "slowly"}).to_string();
    let head = format!(
        "POST /v1/experience HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let (early, late) = body.split_at(10);
    let client = Client::new(api.client.address());
    let response = client
        .send_in_two(
            format!("{head}{early}").as_bytes(),
            || {
                api.write("meanwhile");
            },
            late.as_bytes(),
        )
        .unwrap();
    assert_eq!(response.status, 202, "{}", response.text());
}

#[test]
fn ruling_2_the_code_plane_is_disabled() {
    let mut api = Api::shared("code");
    for (method, target) in [
        ("GET", "/v1/code/repos"),
        ("POST", "/v1/code/repos"),
        ("DELETE", "/v1/code/repos/x"),
        ("POST", "/v1/code/graph/query"),
        ("GET", "/v1/code/a/b/c"),
    ] {
        let error = api.send(&Request::new(method, target)).fails(503, "CODE_PLANE_DISABLED");
        assert_eq!(error["retriable"], false);
    }
}

/// What is not HTTP is answered with a refusal or a closed door, never with a hang or a crash.
#[test]
fn broken_http_does_no_harm() {
    let mut api = Api::shared("broken");
    let long_header =
        format!("GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(300_000));
    let many_headers: String = (0..400).map(|n| format!("X-{n}: 1\r\n")).collect();
    let many_headers = format!("GET /v1/health HTTP/1.1\r\nHost: localhost\r\n{many_headers}\r\n");
    let long_target =
        format!("GET /v1/{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(200_000));
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("garbage", b"\x00\x01\x02\x03\r\n\r\n".to_vec()),
        ("tls hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec()),
        ("no version", b"GET /v1/health\r\n\r\n".to_vec()),
        ("odd version", b"GET /v1/health HTTP/9.9\r\nHost: localhost\r\n\r\n".to_vec()),
        ("header without colon", b"GET /v1/health HTTP/1.1\r\nnonsense\r\n\r\n".to_vec()),
        ("space in name", b"GET /v1/health HTTP/1.1\r\nBad Name: x\r\n\r\n".to_vec()),
        ("nul in value", b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n".to_vec()),
        ("two lengths", b"POST /v1/experience HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab".to_vec()),
        ("length and chunks", b"POST /v1/experience HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_vec()),
        ("negative length", b"POST /v1/experience HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n".to_vec()),
        ("bad chunk size", b"POST /v1/experience HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_vec()),
        ("long header", long_header.into_bytes()),
        ("many headers", many_headers.into_bytes()),
        ("long target", long_target.into_bytes()),
    ];
    for (name, wire) in cases {
        let client = Client::new(api.client.address()).patient_for(Duration::from_secs(15));
        if let Ok(response) = client.send_raw(&wire) {
            let status = response.status;
            assert!(
                (400..500).contains(&status) || status == 505,
                "{name}: {status} {}",
                response.text()
            );
        }
        api.get("/v1/health").ok(200);
    }
}

#[test]
fn headers_that_are_too_large_are_431() {
    let mut api = Api::shared("431");
    let request = Request::get("/v1/health").header("X-Big", "x".repeat(70_000));
    let response = api.client.send(&request).unwrap();
    assert_eq!(response.status, 431, "{}", response.text());
    api.get("/v1/health").ok(200);
}

#[test]
fn a_client_that_leaves_early_costs_nothing() {
    let mut api = Api::shared("early");
    let scope = api.scope.clone();
    for _ in 0..20 {
        let client = Client::new(api.client.address()).patient_for(Duration::from_millis(30));
        let head = b"POST /v1/experience HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{\"scope\"";
        assert!(client.send_raw(head).is_err(), "there is no answer to half a request yet");
    }
    assert!(api.list(&format!("scope={scope}")).is_empty());
    api.write("still here");
}

/// Beyond the limit a connection waits its turn; it is neither refused nor served at the cost of
/// the others.
#[test]
fn connections_beyond_the_limit_wait() {
    let own = Own::start_with(&[("LAMINA_LIMITS_CONNECTIONS", "2")]);
    let held: Vec<TcpStream> =
        (0..2).map(|_| TcpStream::connect(own.server.address()).unwrap()).collect();
    let mut impatient = own.server.client().patient_for(Duration::from_millis(300));
    assert!(impatient.send(&Request::get("/v1/health")).is_err(), "there is no place for a third");
    drop(impatient);
    drop(held);
    own.api("after").get("/v1/health").ok(200);
}
