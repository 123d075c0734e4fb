//! The order of deadlines is that of their keys. That they fire is tested with what they fire.

use super::*;
use crate::derive::key::deadlines as key;

fn deadline(at: i64, tenant: u32, id: u8) -> Deadline {
    Deadline { at: RecordedAt(Micros(at)), tenant, due: Due::Episode as u8, id: [id; 16] }
}

fn written(deadline: Deadline) -> Vec<u8> {
    key::deadline(deadline.at, deadline.tenant, deadline.due, &deadline.id)
}

#[test]
fn keys_are_in_order_of_time_and_can_be_read() {
    let in_order = [
        deadline(i64::MIN, 9, 9),
        deadline(-1, 9, 9),
        deadline(0, 1, 3),
        deadline(0, 2, 1),
        deadline(0, 2, 2),
        deadline(1, 0, 0),
        deadline(i64::MAX, 0, 0),
    ];
    let keys: Vec<Vec<u8>> = in_order.into_iter().map(written).collect();
    assert!(keys.is_sorted());
    for (deadline, written) in in_order.into_iter().zip(&keys) {
        assert_eq!(key::read(written), Some(deadline));
        let (from, to) = key::since(deadline.at);
        assert!(from <= *written && *written < to);
    }
    assert_eq!(key::read(&[1, 2, 3]), None);
    assert!(Due::of(0).is_none());
}
