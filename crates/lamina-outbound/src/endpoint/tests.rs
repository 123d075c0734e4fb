//! Which addresses may be called.

use super::*;

fn read(text: &str) -> String {
    match Endpoint::parse(text, PlainHttp::Loopback) {
        Ok(endpoint) => format!("{endpoint} -> {} {}", endpoint.connect_host(), endpoint.port),
        Err(error) => error.to_string(),
    }
}

#[test]
fn addresses_are_read_once() {
    for (text, expected) in [
        ("https://id.example", "https://id.example/ -> id.example 443"),
        ("https://id.example:8443/a/b?k=v", "https://id.example:8443/a/b -> id.example 8443"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x -> 127.0.0.1 8080"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x -> ::1 8080"),
        ("https://[2001:db8::1]/x", "https://[2001:db8::1]/x -> 2001:db8::1 443"),
        ("http://localhost/x", "http://localhost/x -> 127.0.0.1 80"),
        ("ftp://id.example", "the address must begin with https:// or http://"),
        ("id.example/keys", "the address is not a URL"),
        ("/keys", "the address must begin with https:// or http://"),
        ("", "the address is not a URL"),
        ("https://", "the address is not a URL"),
        ("https://a:b@id.example/", "the address must not hold a user name or password"),
        ("https://id.example:0/", "the address has a port that is no number from 1 to 65535"),
        ("https://id.example:99999/", "the address has a port that is no number from 1 to 65535"),
        ("https://id.example/a b", "the address is not a URL"),
        ("https://id.example/#keys", "the address must not have a fragment"),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
    assert_eq!(
        read(&format!("https://a/{}", "x".repeat(2_048))),
        "the address is longer than 2048 characters"
    );
}

#[test]
fn in_the_clear_only_to_this_machine_unless_allowed() {
    for text in [
        "http://id.example/",
        "http://10.0.0.1/",
        "http://127.0.0.1.evil.example/",
        "http://localhost.evil.example/",
    ] {
        assert!(read(text).contains("in the clear"), "{text}");
        assert!(Endpoint::parse(text, PlainHttp::Anywhere).is_ok(), "{text}");
    }
}

#[test]
fn a_key_in_the_query_is_not_shown() {
    let endpoint = Endpoint::parse("https://id.example/x?key=secret", PlainHttp::Loopback).unwrap();
    assert!(!format!("{endpoint} {endpoint:?}").contains("secret"));
}
