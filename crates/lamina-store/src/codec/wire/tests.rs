//! Numbers have one form, and a length is never believed before it is checked.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn numbers_survive(value: u64) {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, value);
        prop_assert_eq!(number(&bytes, "n"), Ok(value));
    }

    #[test]
    fn a_number_has_one_form(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
        if let Ok(value) = number(&bytes, "n") {
            let mut again = Vec::new();
            put_varint(&mut again, value);
            prop_assert_eq!(again, bytes);
        }
    }
}

#[test]
fn a_longer_form_of_a_number_is_refused() {
    let mut cursor = Cursor::new(&[0x80, 0x00]);
    assert_eq!(cursor.varint(), Err(CodecError::Malformed { field: "varint" }));
    let mut cursor = Cursor::new(&[0xFF; 10]);
    assert_eq!(cursor.varint(), Err(CodecError::Malformed { field: "varint" }));
}

#[test]
fn a_length_beyond_the_end_is_refused_before_it_is_used() {
    let mut bytes = vec![1, 9];
    put_varint(&mut bytes, u64::MAX);
    let mut fields = fields(&bytes, 1).unwrap();
    assert_eq!(fields.next(), Err(CodecError::Truncated));
}
