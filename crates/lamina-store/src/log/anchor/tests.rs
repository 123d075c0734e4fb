//! An anchor that anybody changed does not hold.

use super::*;

fn anchor() -> Anchor {
    Anchor {
        log_id: [1; 16],
        batch: 7,
        next_offset: 30,
        tip: [2; 32],
        recorded_at: RecordedAt(Micros(5)),
        payload: b"heads".to_vec(),
    }
}

#[test]
fn it_survives_and_every_changed_byte_is_noticed() {
    let key = SigningKey::from_bytes(&[9; 32]);
    let public = key.verifying_key().to_bytes();
    let bytes = anchor().encode(&key);
    assert_eq!(Anchor::decode(&bytes, Some(public)), Some(anchor()));
    assert_eq!(Anchor::decode(&bytes, None), Some(anchor()));
    assert_eq!(Anchor::decode(&bytes, Some([3; 32])), None, "another key");
    for position in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[position] ^= 1;
        assert_eq!(Anchor::decode(&bytes, None), None, "byte {position}");
        assert_eq!(Anchor::decode(&bytes[..position], None), None, "cut at {position}");
    }
}
