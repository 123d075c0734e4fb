//! Golden bytes and back.

use expect_test::expect;
use lamina_types::stdx::hex;

use super::*;

#[test]
fn audit_pin_is_read_back() {
    let pin = AuditPin { log_id: [1; 16], next_offset: 300, tip: [2; 32], epoch: 3 };
    let bytes = pin.encode();
    expect!["010110010101010101010101010101010101010202ac0203200202020202020202020202020202020202020202020202020202020202020202040103"].assert_eq(&hex::encode(&bytes));
    assert_eq!(AuditPin::decode(&bytes).unwrap(), pin);
    for end in 0..bytes.len() {
        assert!(AuditPin::decode(bytes.get(..end).unwrap()).is_err());
    }
}
