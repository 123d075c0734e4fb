//! Revoked tokens are known until they have ended, and forgotten a few at a time.

use lamina_types::Micros;
use lamina_types::limits::REVOCATION_GRACE_US;

use crate::view::Views;
use crate::view::testing::{TestLog, dump, idem_mac};

fn is_known(views: &Views, token: &str) -> bool {
    views.revoked(&idem_mac(token)).unwrap().is_some()
}

fn all(views: &Views) -> usize {
    let mut count = 0;
    views.revoked_all(&mut |_| count += 1).unwrap();
    assert_eq!(count as u64, views.counts().revoked);
    count
}

#[test]
fn a_token_is_revoked_until_it_has_ended_by_itself() {
    let mut log = TestLog::new(1);
    let exp = log.now + 5_000_000;
    let offset = log.revoke("t", exp);
    let views = log.views(9);
    let row = views.revoked(&idem_mac("t")).unwrap().unwrap();
    assert_eq!((row.offset, row.exp), (offset, Micros(exp)));
    assert!(!is_known(&views, "other"));
    log.now = exp + REVOCATION_GRACE_US - 2;
    log.mark();
    log.apply(&views, 9);
    assert!(is_known(&views, "t"));
    log.mark();
    log.apply(&views, 9);
    assert!(!is_known(&views, "t"));
    assert_eq!(all(&views), 0);
}

#[test]
fn revoking_again_moves_the_end() {
    let mut log = TestLog::new(1);
    let now = log.now;
    log.revoke("t", now + 1);
    log.revoke("t", now + 50);
    let views = log.views(9);
    assert_eq!(all(&views), 1);
    log.now = now + 20 + REVOCATION_GRACE_US;
    log.mark();
    log.apply(&views, 9);
    assert!(is_known(&views, "t"));
    log.now = now + 60 + REVOCATION_GRACE_US;
    log.mark();
    log.apply(&views, 9);
    assert!(!is_known(&views, "t"));
}

#[test]
fn forgetting_is_bounded_for_each_entry_and_counted_in_entries() {
    let mut log = TestLog::new(1);
    // In an order that is not the order of their ends.
    for n in 0..20 {
        log.revoke(&format!("t{n}"), log.now + (n * 7) % 20);
    }
    let views = log.views(9);
    log.now += REVOCATION_GRACE_US + 1_000_000;
    for left in [16, 12, 8, 4, 0, 0] {
        log.mark();
        log.apply(&views, 1);
        assert_eq!(all(&views), left);
    }
    for step in [1, 2, 5, 100] {
        assert_eq!(dump(log.views(step).kv().as_ref()), dump(views.kv().as_ref()), "step {step}");
    }
}

#[test]
fn a_token_that_ends_before_all_others_is_forgotten_first() {
    let mut log = TestLog::new(1);
    log.revoke("late", log.now + 10 * REVOCATION_GRACE_US);
    let views = log.views(9);
    log.mark();
    log.apply(&views, 9);
    // The views know by now that nothing ends for long.
    log.revoke("early", log.now);
    log.now += REVOCATION_GRACE_US + 10;
    log.mark();
    log.apply(&views, 1);
    assert!(!is_known(&views, "early") && is_known(&views, "late"));
}
