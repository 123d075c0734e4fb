//! Keys sort like the numbers in them, give them back, and stay short.

use proptest::prelude::*;

use super::*;

fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![0..600u64, 65_000..66_000u64, any::<u64>()]
}

proptest! {
    #[test]
    fn short_numbers_sort_and_survive(a in numbers(), b in numbers()) {
        let key = |number| Key(Vec::new()).short(number).0;
        prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
        let bytes = key(a);
        prop_assert_eq!(split_short(&bytes), Some((a, &[][..])));
    }

    #[test]
    fn positions_sort_and_survive(
        tenant: u32,
        scope in numbers(),
        tag: Tag,
        a in (any::<i64>(), numbers()),
        b in (any::<i64>(), numbers()),
    ) {
        let axis = |position| by_axis(tenant, scope, position);
        prop_assert_eq!(axis(a).cmp(&axis(b)), a.cmp(&b));
        prop_assert_eq!(axis_position(&axis(a)), Some(a));
        let tagged = |position| by_tag(tenant, scope, &tag, position);
        prop_assert_eq!(tagged(a).cmp(&tagged(b)), a.cmp(&b));
        prop_assert_eq!(tag_position(&tagged(a)), Some(a));
    }

    #[test]
    fn foreign_keys_are_not_read(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let _ = axis_position(&bytes);
        let _ = tag_position(&bytes);
        let _ = exception_of(&bytes);
    }
}

#[test]
fn the_keys_of_a_busy_deployment_are_short() {
    let (tenant, scope, position) = (200, 60_000, (1_700_000_000_000_000, 16_000_000));
    let id = EventId::from_bytes([0xFF; 16]);
    assert!(by_axis(tenant, scope, position).len() <= 20);
    assert!(by_tag(tenant, scope, &[0xFF; 16], position).len() <= 20);
    assert!(event(tenant, &id).len() <= 20);
    assert!(idempotency(tenant, &[0xFF; 16]).len() <= 20);
    assert!(event_at(u64::MAX).len() <= 20);
}
