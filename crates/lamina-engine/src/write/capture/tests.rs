//! The writer alone, over a simulated disk: what it decides, what it leaves for the views, and what
//! a refusal costs.

use std::path::Path;

use lamina_env::sim::disk::SimDisk;
use lamina_env::sim::rng::SimRng;
use lamina_store::ballast::Ballast;
use lamina_store::keys::Keys;
use lamina_store::kv::MemKv;
use lamina_store::log::{EraseTarget, LogReader};
use lamina_types::limits::BULK_ITEMS_MAX;
use tokio::sync::oneshot;

use super::*;
use crate::Settings;
use crate::open::{self, FIRST_TENANT};
use crate::write::apply::Applier;
use crate::write::prepare::section;
use crate::write::testing;

pub(super) struct World {
    disk: Arc<SimDisk>,
    pub(super) capture: Capture,
    applier: Applier,
    pub(super) views: Arc<Views>,
    pub(super) reader: Arc<dyn LogReader>,
    pub(super) keys: Arc<Keys>,
}

pub(super) fn world(segment_bytes: u64) -> World {
    let disk = Arc::new(SimDisk::new());
    let env = testing::env(7, &disk);
    let data = Path::new("/data");
    let settings = Settings { segment_bytes, ballast_bytes: 0, ..Settings::new(data) };
    let lock = open::lock(&env, data).unwrap();
    let kv = Arc::new(MemKv::new());
    let parts = open::open_parts(&settings, env.clone(), kv, lock).unwrap().into_parts();
    let applied = Arc::new(Applied::new(parts.log.tip().next_offset));
    let reader = parts.log.reader();
    let capture = Capture::new(
        parts.log,
        Arc::clone(&parts.views),
        Arc::clone(&env.rng),
        Arc::clone(&applied),
    );
    let applier = Applier::new(Arc::clone(&parts.views), applied);
    World { disk, capture, applier, views: parts.views, reader, keys: parts.keys }
}

impl World {
    /// One experience with a text of so many bytes.
    pub(super) fn item(&self, number: u64, scope: &str, bytes: usize) -> PreparedWrite {
        let rng = SimRng::new(number + 1);
        let mut mac = [0; 32];
        mac[..8].copy_from_slice(&number.to_le_bytes());
        let (who, what) = testing::experience(scope, bytes, mac);
        PreparedWrite {
            tenant: FIRST_TENANT,
            scope: scope.parse().unwrap(),
            owner: "user:local".parse().unwrap(),
            registers: true,
            idem_mac: mac,
            key_drawn: false,
            body_mac: mac,
            blobs: Vec::new(),
            who: section(&rng, &who),
            what: section(&rng, &what),
        }
    }

    fn commit(&mut self, groups: Vec<Vec<PreparedWrite>>) -> Vec<Result<Vec<Placed>, Error>> {
        let (requests, answers): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .map(|items| {
                let (reply, answer) = oneshot::channel();
                (Request::Write { items, reply }, answer)
            })
            .unzip();
        let committed = self.capture.commit(requests);
        self.fold(committed);
        answers.into_iter().map(|mut answer| answer.try_recv().unwrap()).collect()
    }

    pub(super) fn fold(&mut self, committed: Committed) {
        let (folded, answers) = self.applier.fold(vec![committed]);
        answers.give();
        folded.unwrap();
    }
}

/// More scopes in one write than the writer remembers: each keeps the ordinal it has.
#[test]
fn a_write_to_more_scopes_than_are_remembered_registers_none_twice() {
    let mut world = world(1 << 20);
    let names: Vec<String> = (0..12).map(|n| format!("user:u{n}")).collect();
    for (number, name) in names.iter().enumerate() {
        let item = world.item(number as u64, name, 1);
        world.commit(vec![vec![item]]).remove(0).unwrap();
    }
    // So that nothing is remembered but what this one write looks up.
    world.capture.scope_cache.clear();
    world.capture.scope_next.clear();
    let items = names.iter().zip(100..).map(|(name, n)| world.item(n, name, 1)).collect();
    world.commit(vec![items]).remove(0).unwrap();
    assert_eq!(world.views.counts().scopes, 12);
    assert_eq!(world.views.counts().events, 24);
}

/// What the log can never take is refused alone, with the limit and not as an outage.
#[test]
fn an_entry_that_is_too_large_does_not_take_its_neighbours_with_it() {
    let mut world = world(1 << 20);
    let large = world.item(1, "user:a", ENTRY_BYTES);
    let small = world.item(2, "user:a", 1);
    let mut answers = world.commit(vec![vec![large], vec![small]]);
    assert!(answers.remove(1).is_ok());
    let refused = answers.remove(0);
    assert!(matches!(refused, Err(Error::TooLarge { limit: "ENTRY_BYTES_MAX" })), "{refused:?}");
}

const ENTRY_BYTES: usize = lamina_types::limits::ENTRY_BYTES_MAX;

/// A bulk body may be larger than a batch of the log; then the answer is a limit, not an outage.
#[test]
fn a_bulk_write_beyond_a_batch_is_refused_with_the_limit() {
    let mut world = world(16 << 20);
    let items: Vec<_> =
        (0..BULK_ITEMS_MAX as u64).map(|n| world.item(n, "user:a", 10_000)).collect();
    let refused = world.commit(vec![items]).remove(0);
    assert!(matches!(refused, Err(Error::TooLarge { limit: "BATCH_BYTES_MAX" })), "{refused:?}");
    let item = world.item(5_000, "user:a", 1);
    world.commit(vec![vec![item]]).remove(0).unwrap();
}

/// A full disk is not a state that waits for a writer to find out that it is over.
#[test]
fn an_idle_writer_notices_that_there_is_room_again() {
    let mut world = world(8_192);
    let first = world.item(1, "user:a", 1);
    world.commit(vec![vec![first]]).remove(0).unwrap();
    let idle = world.capture.idle().unwrap();
    world.fold(idle);
    world.disk.set_capacity(Some(world.disk.used_bytes()));
    let large = world.item(2, "user:a", 10_000);
    let refused = world.commit(vec![vec![large]]).remove(0);
    assert!(matches!(refused, Err(Error::LogUnavailable(_))), "{refused:?}");
    assert!(world.capture.stats().full);
    world.disk.set_capacity(None);
    let idle = world.capture.idle().unwrap();
    world.fold(idle);
    assert!(!world.capture.stats().full);
    let quiet = world.capture.idle().unwrap();
    assert!(quiet.is_empty(), "nothing is left to do");
}

/// The `erase` entry is durable and the words are gone, but there is no room for `erased`: the views
/// get what was appended, and the rest follows when there is room.
#[test]
fn an_erasure_that_cannot_be_closed_yet_leaves_no_gap_in_the_views() {
    let mut closed_later = 0;
    for spare in (0..8_192).step_by(64) {
        let mut world = world(8_192);
        let item = world.item(1, "user:a", 300);
        let placed = world.commit(vec![vec![item]]).remove(0).unwrap()[0];
        let filler = world.item(50, "user:a", spare);
        world.commit(vec![vec![filler]]).remove(0).unwrap();
        let target =
            EraseTarget { offset: placed.offset, place: placed.place, who: true, what: true };
        world.disk.set_capacity(Some(world.disk.used_bytes()));
        let erased = world.capture.erase(FIRST_TENANT, &[target]);
        world.disk.set_capacity(None);
        if let Ok(committed) = erased {
            let entry = world.reader.entry(placed.offset, placed.place).unwrap();
            assert!(entry.what.live().is_none() && entry.who.live().is_none());
            closed_later += u64::from(world.capture.stats().erasures_open > 0);
            world.fold(committed);
        }
        let committed = world.capture.idle().unwrap();
        world.fold(committed);
        assert_eq!(world.capture.stats().erasures_open, 0);
        let item = world.item(60, "user:a", 1);
        world.commit(vec![vec![item]]).remove(0).unwrap();
    }
    assert!(closed_later > 0, "no size left room for one entry and not for two");
}

/// Reads wait for what somebody can see the difference of.
#[test]
fn nobody_waits_for_what_no_read_shows() {
    let mut world = world(8_192);
    for (number, (hidden, with_write)) in (1..).zip([(true, false), (true, true), (false, false)]) {
        let item = world.item(number, "user:a", 300);
        let placed = world.commit(vec![vec![item]]).remove(0).unwrap()[0];
        let target =
            EraseTarget { offset: placed.offset, place: placed.place, who: true, what: true };
        let remains = Remains { hidden, ..Remains::default() };
        let (reply, _answer) = oneshot::channel();
        let (tenant, targets) = (FIRST_TENANT, vec![target]);
        let mut requests = vec![Request::Erase { tenant, targets, remains, reply }];
        let (reply, _written) = oneshot::channel();
        if with_write {
            requests.push(Request::Write { items: vec![world.item(9, "user:b", 10)], reply });
        }
        let committed = world.capture.commit(requests);
        assert_eq!(committed.hidden, hidden && !with_write);
        assert_eq!(committed.veiled, hidden, "a write takes nothing back");
        world.fold(committed);
    }
    // Answers are told of when the views have them.
    for with_write in [false, true] {
        let (reply, _answer) = oneshot::channel();
        let mut requests =
            vec![Request::Answers { entries: vec![crate::derive::alone::tick()], reply }];
        let (reply, _written) = oneshot::channel();
        if with_write {
            requests.push(Request::Write { items: vec![world.item(10, "user:b", 10)], reply });
        }
        let committed = world.capture.commit(requests);
        assert_eq!(committed.hidden, !with_write);
        world.fold(committed);
    }
    // Who asked for an erasure is told that it began and that it ended, nobody is of what lies between.
    for (sub, hidden) in [
        (control::ERASURE_BEGUN, false),
        (control::ERASURE_STEP, true),
        (control::ERASURE_ENDED, false),
    ] {
        let entry = Box::new(NewEntry { kind: Kind::Control, sub, ..crate::derive::alone::tick() });
        let (reply, _answer) = oneshot::channel();
        let committed = world.capture.commit(vec![Request::TakeBack { entry, reply }]);
        assert_eq!(committed.hidden, hidden, "{sub}");
    }
}

/// The views do not survive a full disk, so writes stop before; what takes something back goes on.
#[test]
fn writes_stop_before_the_disk_is_full_and_resume_when_there_is_room() {
    let mut world = world(1 << 20);
    let ballast = Ballast::new(Arc::clone(&world.disk) as _, Path::new("/data"), 0);
    let room = Room::new(ballast, 10_000);
    let first = world.item(1, "user:a", 1);
    let placed = world.commit(vec![vec![first]]).remove(0).unwrap()[0];
    world.capture.room = Some(room);
    world.disk.set_capacity(Some(world.disk.used_bytes() + 9_999));
    let second = world.item(2, "user:a", 1);
    let refused = world.commit(vec![vec![second]]).remove(0);
    assert!(matches!(refused, Err(Error::LogUnavailable(_))), "{refused:?}");
    assert!(world.capture.stats().full);
    let (reply, mut answer) = oneshot::channel();
    let cancel = lamina_store::codec::control::Cancel {
        event_id: placed.event_id,
        audit_id: lamina_types::AuditId::mint(lamina_types::Micros(1), [0; 8]),
        note: String::new(),
    };
    let entry = NewEntry {
        causes: vec![placed.offset],
        scope: 1,
        ..system_entry(
            control::CANCEL,
            FIRST_TENANT,
            Section::absent(),
            section(&SimRng::new(4), &cancel.encode()),
        )
    };
    let committed = world.capture.commit(vec![Request::TakeBack { entry: Box::new(entry), reply }]);
    world.fold(committed);
    answer.try_recv().unwrap().unwrap();
    world.disk.set_capacity(None);
    let third = world.item(3, "user:a", 1);
    world.commit(vec![vec![third]]).remove(0).unwrap();
    assert!(!world.capture.stats().full);
}
