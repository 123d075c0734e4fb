//! The bytes of phrases, as they are in logs.

use lamina_types::recall::Phrase;
use lamina_types::{Micros, ValidAt};

use super::PhrasesSet;

#[test]
fn phrases_are_read_back_and_their_bytes_stay() {
    let phrase = Phrase {
        name: "q3".to_owned(),
        pattern: "fiscal Q3".to_owned(),
        from: ValidAt(Micros(1)),
        to: ValidAt(Micros(-2)),
    };
    let set = PhrasesSet { phrases: vec![phrase] };
    let bytes = set.encode();
    let golden: &[u8] = b"\x01\x01\x24\x01\x01\x02q3\x02\x09fiscal Q3\
        \x03\x08\x01\x00\x00\x00\x00\x00\x00\x00\x04\x08\xfe\xff\xff\xff\xff\xff\xff\xff";
    assert_eq!(bytes, golden);
    assert_eq!(PhrasesSet::decode(&bytes).unwrap(), set);
    let none = PhrasesSet { phrases: Vec::new() };
    assert_eq!(PhrasesSet::decode(&none.encode()).unwrap(), none);
    for cut in 1..bytes.len() {
        assert!(PhrasesSet::decode(&bytes[..cut]).is_err() || cut == 1, "{cut}");
    }
}
