//! Checkpoints hold their signature through both encodings, and lose it with any change.

use ed25519_dalek::SigningKey;
use expect_test::expect;
use lamina_types::{Micros, RecordedAt};
use proptest::prelude::*;

use super::Checkpoint;

fn checkpoint() -> Checkpoint {
    Checkpoint {
        log_id: [1; 16],
        epoch: 2,
        batch: 3,
        next_offset: 4,
        tip: [5; 32],
        recorded_at: RecordedAt(Micros(6)),
        public_key: [0; 32],
        signature: [0; 64],
    }
    .sign(&SigningKey::from_bytes(&[7; 32]))
}

#[test]
fn both_encodings_are_read_back() {
    let checkpoint = checkpoint();
    assert!(checkpoint.is_signed());
    assert_eq!(Checkpoint::decode(&checkpoint.encode()), Some(checkpoint));
    assert_eq!(Checkpoint::from_json(&checkpoint.to_json()), Some(checkpoint));
    let one_line: String = checkpoint.to_json().split_whitespace().collect();
    assert_eq!(Checkpoint::from_json(&one_line), Some(checkpoint));
}

#[test]
fn the_file_is_frozen() {
    expect![[r#"
        {
          "version": 1,
          "log_id": "01010101010101010101010101010101",
          "epoch": 2,
          "batch": 3,
          "next_offset": 4,
          "tip": "0505050505050505050505050505050505050505050505050505050505050505",
          "recorded_at": 6,
          "public_key": "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c",
          "signature": "e1c63133af4b626629257c5882f91bf3ebf17a4f36ff567faa28d241a3cd67cc4fa32f65c2e16964052dd0a803e9695b255bab50319e625d3f32b4999198d305"
        }
    "#]].assert_eq(&checkpoint().to_json());
}

#[test]
fn any_change_breaks_the_signature() {
    let bytes = checkpoint().encode();
    for position in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[position] ^= 1;
        let holds = Checkpoint::decode(&changed).is_some_and(|c| c.is_signed());
        assert!(!holds, "byte {position}");
    }
}

proptest! {
    #[test]
    fn reading_anything_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in ".*") {
        let _ = Checkpoint::decode(&bytes);
        let _ = Checkpoint::from_json(&text);
        let _ = Checkpoint::from_json(&format!("{{{text}}}"));
    }
}
