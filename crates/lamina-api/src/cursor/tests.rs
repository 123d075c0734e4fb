//! Cursors: only ours, only for their query.

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::{decode, encode};
use crate::page::PageStart;

fn keyed(key: u8) -> impl Fn(&[u8]) -> [u8; 32] {
    move |message| Sha256::new().chain_update([key]).chain_update(message).finalize().into()
}

#[test]
fn plain_numbers_are_offsets() {
    let start = |cursor| decode(Some(cursor), &[0; 32], &keyed(1));
    assert_eq!(start("0"), Ok(PageStart::Offset(0)));
    assert_eq!(start("50"), Ok(PageStart::Offset(50)));
    assert_eq!(start(""), Ok(PageStart::Begin));
    assert_eq!(decode(None, &[0; 32], &keyed(1)), Ok(PageStart::Begin));
    for bad in ["-1", "1.5", " 5", "99999999999999999999", "abc", "....", "é", &"A".repeat(10_000)]
    {
        let error = start(bad).unwrap_err();
        assert_eq!((error.status, error.code.as_str()), (422, "INVALID_CURSOR"), "{bad}");
    }
}

#[test]
fn a_cursor_does_not_show_where_it_stands() {
    let cursor = |position: &[u8]| encode(position, &[0; 32], &keyed(1));
    assert_eq!(cursor(b"7"), cursor(b"7"));
    let decoded = |position: &[u8]| {
        base64::Engine::decode(
            &base64::engine::general_purpose::URL_SAFE_NO_PAD,
            &cursor(position)[1..],
        )
        .unwrap()
    };
    let (seven, eight) = (decoded(&7u64.to_be_bytes()), decoded(&8u64.to_be_bytes()));
    assert_ne!(seven[..7], [0; 7]);
    assert_ne!(seven[..7], eight[..7], "positions side by side do not look alike");
    let long = decoded(&[0; 100]);
    assert_ne!(long[..32], long[32..64], "nor do parts of one");
}

proptest! {
    #[test]
    fn a_cursor_opens_with_its_key_and_query_only(
        position in prop::collection::vec(any::<u8>(), 0..100),
        query in any::<[u8; 32]>(),
        other in any::<[u8; 32]>(),
        flip in (any::<prop::sample::Index>(), 0..6_u8),
    ) {
        let cursor = encode(&position, &query, &keyed(1));
        prop_assert_eq!(decode(Some(&cursor), &query, &keyed(1)), Ok(PageStart::After(position)));
        prop_assert!(decode(Some(&cursor), &query, &keyed(2)).is_err());
        if other != query {
            prop_assert!(decode(Some(&cursor), &other, &keyed(1)).is_err());
        }
        for cut in 1..cursor.len() {
            prop_assert!(decode(Some(&cursor[..cut]), &query, &keyed(1)).is_err(), "cut at {}", cut);
        }
        let mut bytes = cursor.clone().into_bytes();
        let at = flip.0.index(bytes.len());
        bytes[at] = if bytes[at] == b'A' + flip.1 { b'z' } else { b'A' + flip.1 };
        let damaged = String::from_utf8(bytes).unwrap();
        prop_assert!(decode(Some(&damaged), &query, &keyed(1)).is_err());
    }

    #[test]
    fn reading_never_panics(cursor in ".{0,80}") {
        let _ = decode(Some(&cursor), &[0; 32], &keyed(1));
    }
}
