//! Topic hashes are stored, so they are frozen here.

use super::{fnv, stem};

#[test]
fn hashes_never_change() {
    assert_eq!(fnv(b""), 0x811c_9dc5);
    assert_eq!(fnv(b"a"), 0xe40c_292c);
    assert_eq!(fnv(b"foobar"), 0xbf9c_f968);
}

#[test]
fn stems_join_plurals() {
    assert_eq!(stem("deadlines"), stem("deadline"));
    assert_eq!(stem("glass"), "glass");
    assert_eq!(stem("bus"), "bus");
}
