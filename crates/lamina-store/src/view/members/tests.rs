//! Members of scopes: found by scope and by actor, replaced as a whole, gone with the words.

use lamina_types::MemberRole::{Owner, Reader, Writer};
use lamina_types::RecordedAt;

use super::*;
use crate::log::EraseTarget;
use crate::view::testing::{Say, TENANT, TestLog, dump};

fn role_in(views: &Views, actor: &str, scope: u64) -> Option<MemberRole> {
    let actor = views.tag_actor(TENANT, actor).unwrap();
    views.member_role(TENANT, &actor, scope).unwrap()
}

fn standing(views: &Views, scope: u64) -> (Registration, u64, bool) {
    let row = views.scope_standing(TENANT, scope).unwrap().unwrap();
    (row.registration, row.members, row.is_closed())
}

#[test]
fn the_first_writer_owns_the_scope_which_stays_open() {
    let log = TestLog::new(2);
    let views = log.views(9);
    assert_eq!(standing(&views, 1), (Registration::Auto, 1, false));
    assert_eq!(role_in(&views, "user:owner", 1), Some(Owner));
    assert_eq!(role_in(&views, "user:x", 1), None);
    let owner = views.tag_actor(TENANT, "user:owner").unwrap();
    assert_eq!(views.memberships(TENANT, &owner, 9).unwrap(), [(1, Owner), (2, Owner)]);
    assert_eq!(views.memberships(TENANT, &owner, 1).unwrap(), [(1, Owner)]);
    assert_eq!(views.scope_standing(TENANT, 3).unwrap(), None);
    assert_eq!(views.scopes(TENANT, None, 9).unwrap(), [1, 2]);
    assert_eq!(views.scopes(TENANT, Some(1), 9).unwrap(), [2]);
}

#[test]
fn members_are_replaced_as_a_whole() {
    let mut log = TestLog::new(1);
    log.members(1, &[("user:a", Owner), ("user:b", Reader)]);
    log.members(1, &[("user:b", Writer), ("user:c", Reader)]);
    let views = log.views(2);
    assert_eq!(standing(&views, 1), (Registration::Explicit, 2, true));
    let roles = ["user:owner", "user:a", "user:b", "user:c"].map(|who| role_in(&views, who, 1));
    assert_eq!(roles, [None, None, Some(Writer), Some(Reader)]);
    log.members(1, &[]);
    log.apply(&views, 9);
    assert_eq!(standing(&views, 1), (Registration::Explicit, 0, true), "open to nobody");
    assert_eq!(role_in(&views, "user:b", 1), None);
}

#[test]
fn a_removed_scope_has_no_members_and_keeps_its_events() {
    let mut log = TestLog::new(1);
    log.say(&Say::default());
    log.members(1, &[("user:a", Owner)]);
    log.scope_removed(1);
    let views = log.views(9);
    assert_eq!(standing(&views, 1), (Registration::Removed, 0, false));
    assert_eq!(role_in(&views, "user:a", 1), None);
    assert_eq!(views.scope_events(TENANT, 1, 9).unwrap(), 1);
}

#[test]
fn a_scope_whose_members_are_erased_is_closed_to_everybody() {
    let mut log = TestLog::new(1);
    let old = log.members(1, &[("user:a", Owner)]);
    let set = log.members(1, &[("user:b", Owner)]);
    let views = log.views(9);
    let target =
        |offset: u64| EraseTarget { offset, place: Place(offset * 100), who: false, what: true };
    log.erase(&[target(old)]);
    log.apply(&views, 9);
    assert_eq!(role_in(&views, "user:b", 1), Some(Owner));
    log.erase(&[target(set)]);
    log.apply(&views, 9);
    assert_eq!(standing(&views, 1), (Registration::Erased, 0, true));
    assert_eq!(role_in(&views, "user:b", 1), None);
    assert_eq!(dump(views.kv().as_ref()), dump(log.views(2).kv().as_ref()));
}

#[test]
fn the_last_write_and_the_number_of_events_are_found() {
    let mut log = TestLog::new(2);
    let views = log.views(9);
    assert_eq!(views.scope_written(TENANT, 1).unwrap(), None);
    log.say(&Say { key: "a".to_owned(), observed_at: 99, ..Say::default() });
    log.say(&Say { key: "b".to_owned(), observed_at: -99, ..Say::default() });
    let last = log.entries.last().unwrap().head.recorded_at;
    log.say(&Say { key: "c".to_owned(), scope: 2, ..Say::default() });
    log.apply(&views, 9);
    assert_eq!(views.scope_written(TENANT, 1).unwrap(), Some(last));
    assert!(views.scope_written(TENANT, 2).unwrap() > Some(RecordedAt(last.0)));
    assert_eq!(views.scope_events(TENANT, 1, 9).unwrap(), 2);
    assert_eq!(views.scope_events(TENANT, 1, 1).unwrap(), 1);
    assert_eq!(views.scope_events(TENANT, 3, 9).unwrap(), 0);
}

#[test]
fn members_of_a_scope_that_is_not_there_contradict_the_log() {
    let mut log = TestLog::new(1);
    log.members(7, &[]);
    let views = crate::view::testing::empty();
    let applied = views.apply(&log.entries, &log.tip(log.entries.len()));
    assert!(matches!(applied, Err(ViewError::Contradiction { .. })), "{applied:?}");
}
