//! Compactions as published clients ask for them.

use super::*;

#[test]
fn what_is_read_and_refused() {
    assert_eq!(CompactRequest::read(b"").unwrap(), (true, true));
    let full = br#"{"dry_run": false, "compaction": "full", "max_rows": 5}"#;
    assert_eq!(CompactRequest::read(full).unwrap(), (false, true));
    assert_eq!(CompactRequest::read(br#"{"compaction": "none"}"#).unwrap(), (true, false));
    assert!(CompactRequest::read(br#"{"compaction": "some"}"#).is_err());
    assert!(CompactRequest::read(br#"{"rows": 1}"#).is_err());
}
