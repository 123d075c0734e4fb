//! Which requests a stranger's web page could have made.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

use super::{Foreign, check};

fn headers(host: &str, origin: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(HOST, host.parse().unwrap());
    if let Some(origin) = origin {
        headers.insert(ORIGIN, origin.parse().unwrap());
    }
    headers
}

#[test]
fn requests_of_this_machine_pass() {
    for (host, origin) in [
        ("localhost:3141", None),
        ("LOCALHOST", None),
        ("127.0.0.1:3141", None),
        ("[::1]:3141", None),
        ("[::1]", None),
        ("0.0.0.0:3141", None),
        ("console.localhost:3141", None),
        ("localhost:3141", Some("http://localhost:5173")),
        ("localhost:3141", Some("http://127.0.0.1:8080")),
        ("localhost:3141", Some("http://[::1]:8080")),
    ] {
        assert_eq!(check(&headers(host, origin), None, false), Ok(()), "{host} {origin:?}");
    }
    assert_eq!(check(&HeaderMap::new(), None, false), Ok(()), "HTTP/1.0");
}

#[test]
fn pages_of_strangers_do_not() {
    for (host, origin, why) in [
        ("evil.example", None, Foreign::Host),
        ("evil.example:3141", None, Foreign::Host),
        ("localhost.evil.example:3141", None, Foreign::Host),
        ("127.0.0.1.evil.example", None, Foreign::Host),
        ("localhost:3141", Some("https://evil.example"), Foreign::Origin),
        ("localhost:3141", Some("null"), Foreign::Origin),
        ("localhost:3141", Some(""), Foreign::Origin),
        ("localhost:3141", Some("http://10.0.0.7"), Foreign::Origin),
        ("localhost:3141", Some("http://localhost.evil.example"), Foreign::Origin),
    ] {
        let found = check(&headers(host, origin), None, false);
        assert_eq!(found, Err(why), "{host} {origin:?}");
    }
    let authority = "evil.example:3141".parse().unwrap();
    assert_eq!(check(&HeaderMap::new(), Some(&authority), false), Err(Foreign::Host), "HTTP/2");
}

#[test]
fn a_listed_origin_is_no_stranger_and_a_foreign_host_still_is() {
    let page = Some("https://console.example.com");
    assert_eq!(check(&headers("localhost:3141", page), None, true), Ok(()));
    let rebound = headers("evil.example:3141", page);
    assert_eq!(check(&rebound, None, true), Err(Foreign::Host));
}
