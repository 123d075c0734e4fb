//! What one client can hold: places, headers, streams, time. Every limit at its edge.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use lamina_sim::client::{Deadline, Request};
use serde_json::Value;

use crate::harness::{Api, Own, check_envelope, check_headers, string};

const LONG: Duration = Duration::from_secs(20);

/// Without a free place nobody is turned away: the next client is served when one is free.
#[test]
fn connections_beyond_the_limit_wait_for_a_place() {
    let own = Own::start_with(&[
        ("LAMINA_LIMITS_CONNECTIONS", "2"),
        ("LAMINA_LIMITS_HEADER_TIMEOUT_MS", "60000"),
    ]);
    let mut first = own.api("places");
    let mut second = own.api("places");
    first.get("/v1/health").ok(200);
    second.get("/v1/health").ok(200);
    // Both connections are kept open: a third is not served meanwhile.
    let mut third = own.server.client().patient_for(Duration::from_millis(300));
    third.send_once(&Request::get("/v1/health")).expect_err("there is no place");
    drop(first);
    let mut third = own.server.client().patient_for(LONG);
    assert_eq!(third.send_once(&Request::get("/v1/health")).unwrap().status, 200);
    second.get("/v1/health").ok(200);
}

#[test]
fn a_connection_that_is_kept_without_use_is_closed() {
    let own = Own::start_with(&[("LAMINA_LIMITS_HEADER_TIMEOUT_MS", "300")]);
    let mut socket = TcpStream::connect(own.server.address()).unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    socket.write_all(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).expect("the server closes it");
    assert!(answer.starts_with(b"HTTP/1.1 200"), "it was answered first");
}

/// A client that asks for much and reads nothing.
#[test]
fn an_answer_that_nobody_takes_is_given_up() {
    let own = Own::start_with(&[
        ("LAMINA_LIMITS_WRITE_TIMEOUT_MS", "300"),
        ("LAMINA_LIMITS_CONNECTIONS", "1"),
    ]);
    let mut api = own.api("stall");
    let upload = Request::new("POST", "/v1/blobs").bytes(vec![7; 32 << 20]);
    let blob = string(&api.send(&upload).made(), "blob_id");
    drop(api);
    let mut socket = TcpStream::connect(own.server.address()).unwrap();
    let request = format!("GET /v1/blobs/{blob} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    // It holds the only place until the server gives up.
    let mut next = own.server.client().patient_for(LONG);
    assert_eq!(next.send_once(&Request::get("/v1/health")).unwrap().status, 200);
    drop(socket);
}

fn with_headers(count: usize) -> Vec<u8> {
    let mut wire = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n".to_vec();
    for number in 1..count {
        wire.extend(format!("X-{number}: 1\r\n").into_bytes());
    }
    wire.extend(b"\r\n");
    wire
}

#[test]
fn a_request_has_at_most_100_headers() {
    let api = Api::shared("headers");
    assert_eq!(api.client.send_raw(&with_headers(100)).unwrap().status, 200);
    let refused = api.client.send_raw(&with_headers(101)).unwrap();
    assert_eq!(refused.status, 431);
    check_envelope("101 headers", &refused);
}

/// What the connection itself refuses is explained like everything else.
#[test]
fn what_is_no_request_gets_the_envelope_too() {
    let api = Api::shared("garbled");
    let long =
        format!("GET /v1/health?a={} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(70_000));
    for (wire, status, code) in [
        (&b"what is this\r\n\r\n"[..], 400, "MALFORMED_REQUEST"),
        (b"GET /v1/health HTTP/1.1\r\nHost localhost\r\n\r\n", 400, "MALFORMED_REQUEST"),
        (b"GET /v1/health HTTP/9.9\r\nHost: localhost\r\n\r\n", 400, "MALFORMED_REQUEST"),
        (b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "MALFORMED_REQUEST"),
        (long.as_bytes(), 414, "HEADERS_TOO_LARGE"),
    ] {
        let name = String::from_utf8_lossy(wire.get(..30).unwrap_or(wire)).into_owned();
        // As the first thing that a connection says, and after what was answered: with much, little and no body.
        let before = [
            "",
            "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /v1/nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ];
        for before in before {
            let all = [before.as_bytes(), wire].concat();
            let count = 1 + usize::from(!before.is_empty());
            let answers = api.client.send_pipelined(&all, count).unwrap();
            let refused = answers.last().unwrap();
            assert_eq!(refused.status, status, "{before}{name}");
            check_envelope(&name, refused);
            assert_eq!(refused.json().unwrap()["error_code"], code, "{before}{name}");
            assert!(refused.header("x-cortex-request-id").is_some(), "{before}{name}");
        }
    }
}

/// A refusal is explained on a connection that is kept, too.
#[test]
fn what_is_no_request_gets_the_envelope_on_a_kept_connection() {
    let api = Api::shared("garbled");
    let mut socket = TcpStream::connect(api.client.address()).unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    let mut answer = vec![0; 64 << 10];
    for _ in 0..3 {
        socket.write_all(b"GET /v1/nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let count = socket.read(&mut answer).unwrap();
        let text = String::from_utf8_lossy(answer.get(..count).unwrap());
        assert!(text.starts_with("HTTP/1.1 404") && !text.contains("MALFORMED"), "{text}");
    }
    socket.write_all(b"what is this\r\n\r\n").unwrap();
    let mut rest = String::new();
    socket.read_to_string(&mut rest).expect("the server closes it");
    assert!(rest.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{rest}");
    assert!(rest.contains("\"error_code\":\"MALFORMED_REQUEST\""), "{rest}");
}

/// 64 KiB of headers are read; more is refused, and far more too.
#[test]
fn headers_have_a_size() {
    let mut api = Api::shared("headers");
    let of = |bytes: usize| Request::get("/v1/health").header("X-Large", "a".repeat(bytes));
    api.send(&of(60 << 10)).ok(200);
    let refused = api.send(&of(64 << 10)).response;
    assert_eq!(refused.status, 431);
    check_headers("64 KiB", &refused);
    check_envelope("64 KiB", &refused);
    assert_eq!(refused.json().unwrap()["error_code"], "HEADERS_TOO_LARGE");
    let response = api.another_client().send(&of(300 << 10)).unwrap();
    assert_eq!(response.status, 431);
    check_envelope("300 KiB", &response);
}

/// HTTP/2 has no count of its own: there both refusals are in our own words.
#[test]
fn http_2_headers_are_counted_and_measured_too() {
    let api = Api::shared("headers");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let socket = tokio::net::TcpStream::connect(api.client.address()).await.unwrap();
        let (mut sender, connection) =
            http2::handshake(TokioExecutor::new(), TokioIo::new(socket)).await.unwrap();
        tokio::spawn(connection);
        for (count, bytes, status) in
            [(99, 1, 200), (101, 1, 431), (1, 60 << 10, 200), (1, 64 << 10, 431)]
        {
            let mut request = http::Request::get("http://localhost/v1/health");
            for number in 0..count {
                request = request.header(format!("x-{number}"), "a".repeat(bytes));
            }
            let request = request.body(Empty::<Bytes>::new()).unwrap();
            let response = sender.send_request(request).await.unwrap();
            assert_eq!(response.status(), status, "{count} of {bytes}");
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["error_code"] == "HEADERS_TOO_LARGE", status == 431, "{body}");
        }
    });
}

/// A raw HTTP/2 frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// `GET` of this path on localhost, without compression.
fn head(path: &str) -> Vec<u8> {
    let mut block = vec![0x82, 0x86, 0x04, u8::try_from(path.len()).unwrap()];
    block.extend(path.as_bytes());
    block.extend([0x01, 9]);
    block.extend(b"localhost");
    block
}

/// A setting of one byte is an error: it ends the connection, and with it the conversation.
fn broken() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[0])
}

const HEALTH: &str = "/v1/health";
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const GO_AWAY: u8 = 7;
const END_STREAM_AND_HEADERS: u8 = 5;

/// Opens a connection with prior knowledge and sends these frames, those of each part so long after
/// the part before. Gives the frames that come back until the other end closes or says goodbye.
fn speak_http2(api: &Api, parts: &[(Duration, Vec<u8>)]) -> Vec<(u8, u32, Vec<u8>)> {
    let mut socket = TcpStream::connect(api.client.address()).unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    let mut wire = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    wire.extend(frame(SETTINGS, 0, 0, &[]));
    for (pause, frames) in parts {
        std::thread::sleep(*pause);
        wire.extend(frames);
        // The server may have closed before it took all of it.
        let _ = socket.write_all(&wire);
        wire.clear();
    }
    let mut got = Vec::new();
    let deadline = Deadline::after(LONG);
    loop {
        assert!(!deadline.passed(), "no end: {got:?}");
        let mut header = [0; 9];
        if socket.read_exact(&mut header).is_err() {
            return got;
        }
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
        let mut payload = vec![0; length as usize];
        if socket.read_exact(&mut payload).is_err() {
            return got;
        }
        let stream = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
        let kind = header[3];
        got.push((kind, stream, payload));
        if kind == GO_AWAY {
            return got;
        }
    }
}

/// Opening and resetting streams as fast as the wire takes them costs the client nothing.
#[test]
fn a_flood_of_resets_ends_the_connection() {
    let mut api = Api::shared("flood");
    let mut flood = Vec::new();
    for number in 0..2_000u32 {
        let stream = 2 * number + 1;
        flood.extend(frame(HEADERS, END_STREAM_AND_HEADERS, stream, &head(HEALTH)));
        flood.extend(frame(RESET, 0, stream, &8u32.to_be_bytes()));
    }
    let got = speak_http2(&api, &[(Duration::ZERO, flood)]);
    let calm = 11u32.to_be_bytes();
    let goodbye = got.iter().find(|(kind, ..)| *kind == GO_AWAY);
    let reason = goodbye.and_then(|(_, _, payload)| payload.get(4..8));
    assert_eq!(reason, Some(&calm[..]), "{got:?}");
    api.get("/v1/health").ok(200);
}

/// The server says how many requests it takes at once on one connection, and refuses one more.
#[test]
fn an_http_2_connection_has_256_streams() {
    let api = Api::shared("streams");
    let scope = api.scope.clone();
    let mut wire = Vec::new();
    // Streams that stay open: each follows lifecycle events.
    let block = head(&format!("/v1/lifecycle/stream?scope={scope}"));
    for number in 0..257u32 {
        wire.extend(frame(HEADERS, END_STREAM_AND_HEADERS, 2 * number + 1, &block));
    }
    wire.extend(broken());
    let got = speak_http2(&api, &[(Duration::ZERO, wire)]);
    let settings = got.iter().find(|(kind, ..)| *kind == SETTINGS).unwrap();
    let announced = settings.2.chunks(6).find(|setting| setting[..2] == [0, 3]).unwrap();
    assert_eq!(announced[2..], 256u32.to_be_bytes());
    let refused: Vec<u32> =
        got.iter().filter(|(kind, ..)| *kind == RESET).map(|(_, stream, _)| *stream).collect();
    assert_eq!(refused, [513], "{got:?}");
}

/// An HTTP/2 connection that asks for nothing is closed, one with a stream under way is not.
#[test]
fn an_idle_http_2_connection_is_closed() {
    let own = Own::start_with(&[("LAMINA_LIMITS_HEADER_TIMEOUT_MS", "300")]);
    let api = own.api("idle");
    let ask = |stream, path: &str| frame(HEADERS, END_STREAM_AND_HEADERS, stream, &head(path));
    let answered = |got: &[(u8, u32, Vec<u8>)], wanted| {
        got.iter().any(|(kind, stream, _)| (*kind, *stream) == (HEADERS, wanted))
    };
    let reason = |got: &[(u8, u32, Vec<u8>)]| {
        let (_, _, payload) = got.iter().find(|(kind, ..)| *kind == GO_AWAY).expect("a goodbye");
        u32::from_be_bytes(payload[4..8].try_into().unwrap())
    };
    let got = speak_http2(&api, &[(Duration::ZERO, ask(1, HEALTH))]);
    assert!(answered(&got, 1) && reason(&got) == 0, "{got:?}");

    let follow = ask(1, &format!("/v1/lifecycle/stream?scope={}", api.scope));
    let later = [ask(3, HEALTH), broken()].concat();
    let parts = [(Duration::ZERO, follow), (Duration::from_millis(900), later)];
    let got = speak_http2(&api, &parts);
    assert_ne!(reason(&got), 0, "it was open until we broke it: {got:?}");
}
