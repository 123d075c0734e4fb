//! Entries about a model: golden bytes, round trips, and sums that stay in bounds.

use expect_test::expect;
use lamina_types::stdx::hex::encode as hex;

use super::*;

const COST: Cost = Cost { input_tokens: 300, output_tokens: 20, micros: 5 };

#[test]
fn golden_bytes() {
    let reserved = ModelReserved { call: [7; 16], cost: COST, events: 3, model: "m/1".to_owned() };
    expect!["01011007070707070707070707070707070707020b010102ac0202011403010503010304036d2f31"]
        .assert_eq(&hex(&reserved.encode()));
    assert_eq!(ModelReserved::decode(&reserved.encode()).unwrap(), reserved);
    let settled = ModelSettled { call: [7; 16], cost: COST, fault: 3 };
    expect!["01011007070707070707070707070707070707020b010102ac02020114030105030103"]
        .assert_eq(&hex(&settled.encode()));
    assert_eq!(ModelSettled::decode(&settled.encode()).unwrap(), settled);
    let gave_up = ModelGaveUp { fault: 13, attempts: 2 };
    expect!["0101010d020102"].assert_eq(&hex(&gave_up.encode()));
    assert_eq!(ModelGaveUp::decode(&gave_up.encode()).unwrap(), gave_up);
}

#[test]
fn cut_bytes_are_refused() {
    let reserved = ModelReserved { call: [7; 16], cost: COST, events: 3, model: "m/1".to_owned() };
    let bytes = reserved.encode();
    for end in 0..bytes.len() {
        assert!(ModelReserved::decode(&bytes[..end]).is_err(), "{end}");
    }
    let bytes = ModelSettled { call: [7; 16], cost: COST, fault: 3 }.encode();
    for end in 0..bytes.len() {
        assert!(ModelSettled::decode(&bytes[..end]).is_err(), "{end}");
    }
}

#[test]
fn sums_do_not_wrap() {
    let most = Cost { input_tokens: u64::MAX, output_tokens: u64::MAX, micros: u64::MAX };
    assert_eq!(most.plus(COST), most);
    assert_eq!(most.tokens(), u64::MAX);
    assert_eq!(COST.minus(most), Cost::default());
    assert_eq!(COST.plus(COST).minus(COST), COST);
}
