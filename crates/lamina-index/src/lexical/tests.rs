//! What is in a segment is tested through the whole index in `index/tests.rs`; here are its numbers.

use lamina_types::{Micros, RecordedAt, ValidAt};
use proptest::prelude::*;

use super::schema::{Fields, Numbers};
use crate::document::{Layer, RecordKey};
use crate::filter::Candidate;

proptest! {
    #[test]
    fn numbers_come_back_from_their_columns(
        layer in 0_u8..5, id in any::<[u8; 16]>(), part in any::<u32>(), len in any::<u32>(),
        offset in any::<u64>(), recorded in any::<i64>(), from in any::<i64>(),
        until in prop::option::of(i64::MIN..i64::MAX),
    ) {
        let numbers = Numbers {
            len,
            candidate: Candidate {
                key: RecordKey { layer: Layer::ALL[usize::from(layer)], id, part },
                offset,
                recorded: RecordedAt(Micros(recorded)),
                valid_from: ValidAt(Micros(from)),
                valid_until: until.map(|until| ValidAt(Micros(until))),
            },
        };
        prop_assert_eq!(Numbers::from_columns(numbers.columns()), Some(numbers));
    }
}

#[test]
fn columns_that_no_document_has_are_refused() {
    assert_eq!(Numbers::from_columns([0, 5 << 32, 0, 0, 0, 0, 0, 0]), None);
    assert_eq!(Numbers::from_columns([u64::MAX, 0, 0, 0, 0, 0, 0, 0]), None);
}

#[test]
fn a_scope_is_never_taken_for_its_subtree() {
    let fields = Fields::new();
    let path: lamina_types::ScopePath = "org:a".parse().unwrap();
    let exact = fields.reach_term(&crate::filter::Reach::Exact(path.clone()));
    assert_ne!(exact, fields.reach_term(&crate::filter::Reach::Subtree(path)));
}
