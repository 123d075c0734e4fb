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
        ("localhost:3141", Some("http://localhost:3141")),
        ("LOCALHOST:3141", Some("https://localhost:3141")),
        ("localhost", Some("http://localhost")),
        ("localhost:443", Some("https://localhost")),
        ("[::1]:3141", Some("http://[::1]:3141")),
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
        ("localhost:3141", Some("http://localhost:5173"), Foreign::Origin),
        ("localhost:3141", Some("http://localhost"), Foreign::Origin),
        ("localhost:3141", Some("http://127.0.0.1:3141"), Foreign::Origin),
        ("localhost:3141", Some("ftp://localhost:3141"), Foreign::Origin),
        ("localhost:3141", Some("http://localhost:31410"), Foreign::Origin),
        ("localhost:3141", Some("http://localhost:99999"), Foreign::Origin),
        ("[::1]", Some("http://[::1]:3141"), Foreign::Origin),
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

#[test]
fn fetch_site_of_another_page_is_refused_without_a_listed_origin() {
    for (site, expected) in [
        ("cross-site", Err(Foreign::Site)),
        ("same-site", Err(Foreign::Site)),
        ("same-origin", Ok(())),
        ("none", Ok(())),
    ] {
        let mut headers = headers("localhost:3141", None);
        headers.insert("sec-fetch-site", site.parse().unwrap());
        assert_eq!(check(&headers, None, false), expected, "{site}");
        assert_eq!(check(&headers, None, true), Ok(()), "listed, {site}");
    }
}
