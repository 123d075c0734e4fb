//! The newest policy of each target is found, and none that was erased or replaced by one that was.

use crate::codec::control::PolicyTarget;
use crate::entry::Place;
use crate::log::EraseTarget;
use crate::view::testing::{TENANT, TestLog, dump};

fn scope(path: &str) -> PolicyTarget {
    PolicyTarget::Scope(path.parse().unwrap())
}

fn erase(log: &mut TestLog, offset: u64) {
    log.erase(&[EraseTarget { offset, place: Place(offset * 100), who: true, what: true }]);
}

#[test]
fn the_newest_policy_of_each_target_is_found() {
    let mut log = TestLog::new(1);
    let actor = PolicyTarget::Actor("user:x".parse().unwrap());
    log.policy(&PolicyTarget::Tenant, "a");
    log.policy(&scope("org:acme"), "b");
    log.policy(&actor, "c");
    let newest = log.policy(&scope("org:acme"), "d");
    let views = log.views(2);
    let row = views.policy(TENANT, &scope("org:acme")).unwrap().unwrap();
    assert_eq!((row.offset, row.place, row.version), (newest, Place(newest * 100), 2));
    assert_eq!(views.policy(TENANT, &actor).unwrap().unwrap().version, 1);
    assert_eq!(views.policy(TENANT, &scope("org:other")).unwrap(), None);
    assert_eq!(views.policy(TENANT, &PolicyTarget::Deployment).unwrap(), None);
    assert_eq!(views.policies(TENANT).unwrap().len(), 3);
    assert_eq!(views.policies(TENANT + 1).unwrap(), []);
}

#[test]
fn an_erased_policy_does_not_bring_back_the_one_it_replaced() {
    let mut log = TestLog::new(1);
    log.policy(&scope("org:acme"), "old");
    let newest = log.policy(&scope("org:acme"), "new");
    let views = log.views(9);
    erase(&mut log, newest);
    log.apply(&views, 9);
    assert_eq!(views.policy(TENANT, &scope("org:acme")).unwrap(), None);
    assert_eq!(dump(views.kv().as_ref()), dump(log.views(3).kv().as_ref()));
    let again = log.policy(&scope("org:acme"), "again");
    log.apply(&views, 9);
    assert_eq!(views.policy(TENANT, &scope("org:acme")).unwrap().unwrap().offset, again);
}

#[test]
fn erasing_an_older_policy_leaves_the_newest_in_force() {
    let mut log = TestLog::new(1);
    let old = log.policy(&scope("org:acme"), "old");
    let newest = log.policy(&scope("org:acme"), "new");
    let views = log.views(9);
    erase(&mut log, old);
    log.apply(&views, 9);
    assert_eq!(views.policy(TENANT, &scope("org:acme")).unwrap().unwrap().offset, newest);
    assert_eq!(dump(views.kv().as_ref()), dump(log.views(1).kv().as_ref()));
}
