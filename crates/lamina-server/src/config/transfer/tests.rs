//! Hosts and credentials as people write them.

use super::*;

#[test]
fn hosts_are_read_without_schemes_and_wildcards() {
    assert_eq!(hosts("none").expect("is a list"), Vec::<String>::new());
    let read = hosts("Bucket.example.com, 127.0.0.1:8443").expect("is a list");
    assert_eq!(read, ["bucket.example.com", "127.0.0.1:8443"]);
    for bad in ["https://a.example", "*.example.com", "a.example/path"] {
        assert!(hosts(bad).is_err(), "{bad}");
    }
}

#[test]
fn credential_needs_a_name_and_a_file() {
    let read = credentials("archive=/etc/a=b").expect("is a list");
    assert_eq!(read, [Credential { name: "archive".to_owned(), file: "/etc/a=b".into() }]);
    for bad in ["archive", "=/etc/a", "archive="] {
        assert!(credentials(bad).is_err(), "{bad}");
    }
}
