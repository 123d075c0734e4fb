//! Who makes room in a full cache.

use lamina_types::Micros;

use super::{ENTRY_BYTES, TenantShares};

#[test]
fn full_cache_evicts_the_oldest_entry_of_the_largest_tenant() {
    let mut shares = TenantShares::new(10 * (1_000 + ENTRY_BYTES));
    assert_eq!(shares.admit(1, 100, 1_000, Micros(0)), Vec::<u64>::new());
    for entry in 0..9 {
        assert_eq!(shares.admit(2, entry, 1_000, Micros(1)), Vec::<u64>::new());
    }
    for entry in 9..50 {
        assert_eq!(shares.admit(2, entry, 1_000, Micros(2)), [entry - 9], "its own oldest");
    }
    assert_eq!(shares.len(), 10);
    assert_eq!(shares.expire(Micros(0)), [100], "the entry of the other tenant was still there");
}

#[test]
fn entry_over_the_limit_evicts_itself() {
    let mut shares = TenantShares::new(1_000);
    assert_eq!(shares.admit(1, 7, 2_000, Micros(0)), [7]);
    assert_eq!((shares.len(), shares.bytes), (0, 0));
}

#[test]
fn expiry_and_retain_return_the_room() {
    let mut shares = TenantShares::new(1 << 20);
    for entry in 0..10 {
        shares.admit(entry % 2, entry, 100, Micros(i64::from(entry)));
    }
    assert_eq!(shares.expire(Micros(3)), [0, 2, 1, 3]);
    shares.retain(|entry| *entry > 7);
    assert_eq!((shares.len(), shares.bytes), (2, 2 * (100 + ENTRY_BYTES)));
}
