//! The bytes of retention, as they are in logs.

use lamina_types::retention::{Keep, Rule};

use super::RetentionSet;

#[test]
fn rules_are_read_back_and_their_bytes_stay() {
    let sources = [("slack".to_owned(), 7)].into();
    let one = Rule { scope: "org:a".parse().unwrap(), keep: Keep::Days(30), sources };
    let sources = std::collections::BTreeMap::new();
    let two = Rule { scope: "org:b".parse().unwrap(), keep: Keep::Forever, sources };
    let set = RetentionSet { rules: vec![one, two] };
    let bytes = set.encode();
    let golden: &[u8] = b"\x01\x01\x19\x01\x01\x05org:a\x02\x04\x1e\x00\x00\x00\
        \x03\x09\x07\x00\x00\x00slack\x01\x08\x01\x01\x05org:b";
    assert_eq!(bytes, golden);
    assert_eq!(RetentionSet::decode(&bytes).unwrap(), set);
    let none = RetentionSet { rules: Vec::new() };
    assert_eq!(RetentionSet::decode(&none.encode()).unwrap(), none);
}
