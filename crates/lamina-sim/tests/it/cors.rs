//! Web pages: closed by default, open to exactly the origins that the operator lists.

use lamina_sim::client::Request;

use crate::harness::{Answer, Api, Own};

const CONSOLE: &str = "https://console.example.com";

fn cors_headers(answer: &Answer) -> Vec<&str> {
    let headers = answer.response.headers.iter();
    headers.map(|(name, _)| name.as_str()).filter(|name| name.starts_with("access-")).collect()
}

fn preflight(origin: &str) -> Request {
    Request::new("OPTIONS", "/v1/experience")
        .header("Origin", origin)
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "authorization, content-type")
}

#[test]
fn no_page_is_let_in_by_default() {
    let mut api = Api::shared("cors");
    for origin in [CONSOLE, "null", "http://localhost:8080"] {
        let asked = api.send(&preflight(origin));
        assert_eq!(cors_headers(&asked), [""; 0], "{origin}");
        let read = api.send(&Request::get("/v1/health").header("Origin", origin));
        assert_eq!(cors_headers(&read), [""; 0], "{origin}");
        assert_eq!(read.header("vary"), None);
    }
}

#[test]
fn a_listed_origin_is_let_in_and_no_other() {
    let own = Own::start_with(&[(
        "LAMINA_HTTP_CORS_ORIGINS",
        "https://console.example.com,http://localhost:8080",
    )]);
    let mut api = own.api("cors");
    for origin in [CONSOLE, "http://localhost:8080"] {
        let asked = api.send(&preflight(origin));
        assert_eq!(asked.response.status, 204, "{origin}");
        assert_eq!(asked.header("access-control-allow-origin"), Some(origin));
        assert!(asked.header("access-control-allow-methods").unwrap().contains("POST"));
        let sent = asked.header("access-control-allow-headers").unwrap();
        assert!(sent.contains("authorization") && sent.contains("x-cortex-actor"), "{sent}");
        assert_eq!(asked.header("access-control-allow-credentials"), None);
        assert_eq!(asked.header("vary"), Some("origin"));

        let envelope = api.envelope("from a page");
        let write = Request::post("/v1/experience", &envelope).header("Origin", origin);
        let answer = api.send(&write);
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        let seen = answer.header("access-control-expose-headers").unwrap();
        assert!(seen.contains("x-cortex-request-id") && seen.contains("retry-after"), "{seen}");
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        answer.ok(202);
    }
    // Also what is refused can be read by the page it was refused to.
    let refused = api.send(&Request::get("/v1/nothing").header("Origin", CONSOLE));
    assert_eq!(refused.header("access-control-allow-origin"), Some(CONSOLE));
    refused.fails(404, "NOT_FOUND");
    // Compared as it is written: no suffix, no case, no other scheme or port.
    for origin in [
        "https://console.example.com.evil.example",
        "https://evilconsole.example.com",
        "http://console.example.com",
        "https://console.example.com:8443",
        "HTTPS://CONSOLE.EXAMPLE.COM",
        "http://localhost:8081",
        "null",
        "*",
    ] {
        let asked = api.send(&preflight(origin));
        assert_eq!(cors_headers(&asked), [""; 0], "{origin}");
        let read = api.send(&Request::get("/v1/health").header("Origin", origin));
        assert_eq!(cors_headers(&read), [""; 0], "{origin}");
    }
}

#[test]
fn a_star_is_no_origin() {
    let directory = crate::harness::directory();
    let refused = crate::harness::launch(directory.path(), &[("LAMINA_HTTP_CORS_ORIGINS", "*")]);
    let error = refused.start().unwrap_err().to_string();
    assert!(error.contains("is not an origin"), "{error}");
}
