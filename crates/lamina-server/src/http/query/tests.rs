//! Query strings as real clients and careless ones write them.

use super::pairs;

fn check(query: &str, expected: &[(&str, &str)]) {
    let found = pairs(Some(query)).unwrap();
    let found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(found, expected, "{query}");
}

#[test]
fn scopes_come_raw_and_encoded() {
    check("scope=org:acme/user:alice", &[("scope", "org:acme/user:alice")]);
    check(
        "scope=org%3Aacme%2Fuser%3aalice&limit=5",
        &[("scope", "org:acme/user:alice"), ("limit", "5")],
    );
}

#[test]
fn odd_strings_are_read_as_they_stand() {
    assert_eq!(pairs(None).unwrap(), []);
    check("", &[]);
    check("&&a", &[("a", "")]);
    check("a=b=c&a=+%2B", &[("a", "b=c"), ("a", " +")]);
    check("%C3%A9=%F0%9F%8C%B1", &[("é", "🌱")]);
}

#[test]
fn what_cannot_be_decoded_is_refused() {
    for query in ["a=%", "a=%2", "a=%zz", "%g0=1", "a=%ff", "a=%c3%28", "a=%+1"] {
        assert!(pairs(Some(query)).is_err(), "{query}");
    }
    let many = vec!["a=1"; 257].join("&");
    assert!(pairs(Some(&many)).is_err());
    let most = vec!["a=1"; 256].join("&");
    assert_eq!(pairs(Some(&most)).unwrap().len(), 256);
}
