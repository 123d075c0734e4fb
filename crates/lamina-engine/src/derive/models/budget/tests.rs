//! Money and tokens: never less than is owed, never more than is there.

use lamina_models::llm::Usage;
use lamina_types::Micros;
use proptest::prelude::*;

use super::*;

#[test]
fn prices_are_of_a_million_tokens_and_rounded_up() {
    // 0.15 and 0.60 for a million.
    let prices = Prices { input_micros: 150_000, output_micros: 600_000 };
    assert_eq!(prices.cost(1_000_000, 0).micros, 150_000);
    assert_eq!(prices.cost(1_000, 100).micros, 210);
    assert_eq!(prices.cost(1, 0).micros, 1);
    assert_eq!(prices.cost(0, 0).micros, 0);
    let dear = Prices { input_micros: u64::MAX, output_micros: u64::MAX };
    assert_eq!(dear.cost(u64::MAX, u64::MAX).micros, u64::MAX);
}

#[test]
fn a_day_begins_at_midnight() {
    let day = |us: i64| day_of(RecordedAt(Micros(us)));
    assert_eq!((day(0), day(DAY_US - 1), day(DAY_US)), (0, 0, 1));
    assert_eq!(day(-1), 0);
}

#[test]
fn a_budget_is_used_up_to_its_edge() {
    let budget = Budget { tokens: Some(100), micros: Some(50) };
    let cost = |input_tokens, micros| Cost { input_tokens, output_tokens: 0, micros };
    assert!(budget.allows(cost(60, 20), cost(40, 30)));
    assert!(!budget.allows(cost(60, 20), cost(41, 30)));
    assert!(!budget.allows(cost(60, 20), cost(40, 31)));
    assert!(Budget::default().allows(cost(u64::MAX, 0), cost(u64::MAX, u64::MAX)));
    assert!(!Budget { tokens: Some(0), micros: None }.allows(Cost::default(), cost(1, 0)));
}

proptest! {
    #[test]
    fn what_is_settled_is_within_what_was_reserved(
        input in any::<u64>(), output in any::<u64>(),
        reserved_input in 0u64..1 << 40, reserved_output in 0u64..1 << 40,
        input_micros in 0u64..1 << 40, output_micros in 0u64..1 << 40,
    ) {
        let prices = Prices { input_micros, output_micros };
        let reserved = prices.cost(reserved_input, reserved_output);
        for spent in [Spent::Nothing, Spent::Unknown, Spent::Tokens(Usage { input, output })] {
            let settled = prices.settle(spent, reserved);
            prop_assert!(settled.input_tokens <= reserved.input_tokens);
            prop_assert!(settled.output_tokens <= reserved.output_tokens);
            prop_assert!(settled.micros <= reserved.micros);
        }
    }

    #[test]
    fn shares_are_the_whole(
        bytes in proptest::collection::vec(0u64..1 << 20, 1..20),
        input_tokens in any::<u64>(), output_tokens in any::<u64>(), micros in any::<u64>(),
    ) {
        let cost = Cost { input_tokens, output_tokens, micros };
        let shares = shares(cost, &bytes);
        prop_assert_eq!(shares.len(), bytes.len());
        prop_assert_eq!(shares.into_iter().fold(Cost::default(), Cost::plus), cost);
    }
}
