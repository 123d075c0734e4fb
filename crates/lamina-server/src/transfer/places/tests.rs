//! Which URLs of requests are called.

use super::*;

fn places() -> TransferPlaces {
    let config = TransferConfig {
        destinations: vec!["bucket.example.com".to_owned(), "127.0.0.1:8443".to_owned()],
        sources: vec!["feed.example.com:443".to_owned()],
        credentials: Vec::new(),
        ..TransferConfig::default()
    };
    let outbound = OutboundConfig { ca: None, plain: PlainHttp::Loopback };
    TransferPlaces { config, outbound, env: Env::real() }
}

fn check(url: &str, direction: Direction) -> String {
    match places().endpoint(url, "destination.url", direction) {
        Ok(endpoint) => endpoint.to_string(),
        Err(error) => format!("{} {}", error.status, error.message),
    }
}

#[test]
fn only_named_hosts_are_called_over_https() {
    let out = |url| check(url, Direction::Out);
    assert_eq!(out("https://bucket.example.com/a?sig=1"), "https://bucket.example.com/a");
    assert_eq!(out("https://Bucket.example.com:443/a"), "https://Bucket.example.com:443/a");
    assert_eq!(out("https://127.0.0.1:8443/a"), "https://127.0.0.1:8443/a");
    assert_eq!(check("https://feed.example.com/", Direction::In), "https://feed.example.com/");
    for refused in [
        "https://feed.example.com/",
        "https://127.0.0.1/a",
        "https://127.0.0.1:8444/a",
        "https://bucket.example.com.evil.example/",
        "https://evil.example/bucket.example.com",
        "https://bucket.example.com@evil.example/",
        "http://127.0.0.1:8443/a",
        "s3://bucket.example.com/a",
        "file:///etc/passwd",
        "bucket.example.com/a",
        "https://",
        "",
    ] {
        assert!(out(refused).starts_with("422 `destination.url`: "), "{refused}");
    }
    assert!(out("s3://bucket/a").contains("presigned"));
}

#[test]
fn unknown_credential_is_refused_without_a_word_about_files() {
    let error = places().credential("nobody", "destination.credentials_ref").expect_err("is none");
    assert_eq!(error.status, 422);
    assert!(error.message.contains("transfer.credentials"), "{}", error.message);
}
