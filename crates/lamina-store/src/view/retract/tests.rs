//! What is left of something that was erased, and what is not.

use lamina_types::{BlobId, EventId};

use crate::entry::Place;
use crate::kv::Space;
use crate::log::EraseTarget;
use crate::view::testing::{Say, TENANT, TestLog, dump, idem_mac};

fn id_of(log: &TestLog, offset: u64) -> EventId {
    log.entries[offset as usize].head.event_id()
}

fn say(key: &str) -> Say {
    Say { key: key.to_owned(), ..Say::default() }
}

fn target(offset: u64, who: bool, what: bool) -> EraseTarget {
    EraseTarget { offset, place: Place(offset * 100), who, what }
}

#[test]
fn an_erased_event_answers_by_id_and_nothing_else_knows_it() {
    let blob = BlobId::from_bytes([1; 16]);
    let mut log = TestLog::new(1);
    let (other, gone) = (log.say(&say("a")), log.say(&Say { media: vec![blob], ..say("b") }));
    let views = log.views(9);
    log.erase(&[target(gone, false, true)]);
    log.apply(&views, 9);
    let row = views.event(TENANT, id_of(&log, gone)).unwrap().unwrap();
    assert!(row.is_erased() && row.listed().is_none());
    assert_eq!(views.idempotency(TENANT, &idem_mac("b")).unwrap(), None);
    assert!(views.idempotency(TENANT, &idem_mac("a")).unwrap().is_some());
    assert_eq!(views.blob_references(TENANT, blob, 9).unwrap(), []);
    assert_eq!((views.counts().events, views.counts().erased), (2, 1));
    let listed = dump(views.kv().as_ref())
        .into_iter()
        .filter(|(space, ..)| *space == Space::ByRecorded)
        .map(|(_, _, id)| id);
    assert_eq!(listed.collect::<Vec<_>>(), [id_of(&log, other).as_bytes().to_vec()]);
}

#[test]
fn an_erased_scope_keeps_its_ordinal_and_an_erased_tenant_its_row() {
    let mut log = TestLog::new(0);
    let scope = log.scope("org:a/user:x");
    let views = log.views(9);
    log.erase(&[target(scope, true, true), target(0, false, true)]);
    log.apply(&views, 9);
    let path = "org:a/user:x".parse().unwrap();
    assert_eq!(views.scope_ordinal(TENANT, &path).unwrap(), None);
    assert_eq!(views.scopes_below(TENANT, &"org:a".parse().unwrap(), None, 9).unwrap(), []);
    assert_eq!(views.scope_row(TENANT, 1).unwrap().unwrap().offset, scope);
    assert_eq!(views.next_scope_ordinal(TENANT).unwrap(), 2);
    assert_eq!(views.tenant_ordinal("default").unwrap(), None);
    assert_eq!(views.tenants().unwrap().len(), 1);
    log.scope("org:a/user:x");
    log.apply(&views, 9);
    assert_eq!(views.scope_ordinal(TENANT, &path).unwrap(), Some(2));
}
