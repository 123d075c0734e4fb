//! The audit thread without its thread, over a simulated disk: every write has its row whatever
//! happens in between, and a log that cannot be written says so.

use std::path::Path;

use lamina_core::clock::ClockWitness;
use lamina_core::policy::Document;
use lamina_env::sim::clock::SimClock;
use lamina_env::sim::disk::SimDisk;
use lamina_env::sim::rng::SimRng;
use lamina_env::{Env, SteadyClock};
use lamina_store::audit::{AuditFilter, AuditOptions, StoredRow};
use lamina_store::codec::control::{PolicySet, PolicyTarget};
use lamina_store::codec::experience::ExperienceWho;
use lamina_store::entry::{Entry, Kind, SYSTEM_SCOPE, control};
use lamina_store::keys::Keys;
use lamina_store::kv::MemKv;
use lamina_store::log::{Log, NewEntry, Section};
use lamina_types::EventId;

use super::*;
use crate::Settings;
use crate::admin::standing::Standing;
use crate::clock::{ClockGuard, OpenedClock, SyncSource};
use crate::open::{self, FIRST_TENANT};
use crate::write::prepare::section;
use crate::write::testing;

struct World {
    disk: Arc<SimDisk>,
    clock: Arc<SimClock>,
    env: Env,
    keys: Arc<Keys>,
    log: Box<dyn Log>,
    next: u64,
}

fn world() -> World {
    World::on(Arc::new(SimDisk::new()), 1)
}

impl World {
    fn on(disk: Arc<SimDisk>, seed: u64) -> World {
        let clock = Arc::new(SimClock::at(Micros(1_700_000_000_000_000 + seed as i64 * 1_000_000)));
        let env = Env { clock: clock.clone(), ..testing::env(seed, &disk) };
        let data = Path::new("/data");
        let settings = Settings { segment_bytes: 1 << 16, ballast_bytes: 0, ..Settings::new(data) };
        let lock = open::lock(&env, data).unwrap();
        let kv = Arc::new(MemKv::new());
        let parts = open::open_parts(&settings, env.clone(), kv, lock).unwrap().into_parts();
        World { disk, clock, env, keys: parts.keys, log: parts.log, next: seed * 1_000 }
    }

    fn audit_log(&self) -> AuditLog {
        let options = AuditOptions {
            disk: Arc::clone(&self.env.disk),
            dir: "/data/audit".into(),
            clock: Arc::new(SteadyClock::new(self.clock.clone())),
            rng: Arc::clone(&self.env.rng),
            keys: Arc::clone(&self.keys),
            segment_bytes: 16 * 1_024,
        };
        AuditLog::open(options).unwrap().0
    }

    /// Opens the audit log, makes again what is missing, and starts an auditor.
    fn auditor(&self) -> (Auditor, u64, Arc<AuditStatus>) {
        let (reader, tip) = (self.log.reader(), self.log.tip());
        let mut audit = self.audit_log();
        let made = recover(&mut audit, &*reader, &tip).unwrap();
        let status = Arc::new(AuditStatus::default());
        let clock: Arc<dyn Clock> = self.clock.clone();
        let auditor = Auditor::new(audit, reader, clock, Arc::clone(&status), &tip);
        (auditor.with_recovered(made), made.rows, status)
    }

    /// What is in force when this is the only setting of the only policy.
    fn says(&mut self, tenant: u32, setting: &str, value: &str) -> Arc<Standing> {
        let mut document = Document::default();
        document.defaults.set(setting, value).unwrap();
        let document = Some(document.to_string());
        let what = PolicySet { target: PolicyTarget::Tenant, document, version: 1 };
        let entry = NewEntry {
            kind: Kind::Control,
            sub: control::POLICY_SET,
            tenant,
            scope: SYSTEM_SCOPE,
            causes: Vec::new(),
            who: Section::absent(),
            what: section(&SimRng::new(4), &what.encode()),
        };
        let standing = Standing::default();
        standing.apply(&self.log.append(vec![entry], None).unwrap().entries);
        Arc::new(standing)
    }

    fn id(&mut self) -> AuditId {
        self.next += 1;
        AuditId::mint(self.env.clock.wall(), self.next.to_be_bytes())
    }

    /// Writes an event for each id; the same id twice is a bulk write.
    fn write(&mut self, ids: &[AuditId]) -> Vec<Entry> {
        self.clock.advance(1_000);
        let batch = ids.iter().enumerate().map(|(n, id)| {
            let (who, what) = testing::experience("user:a", 10, [n as u8; 32]);
            let who = ExperienceWho { audit_id: *id, ..ExperienceWho::decode(&who).unwrap() };
            let rng = SimRng::new(n as u64 + 9);
            NewEntry {
                kind: Kind::Experience,
                sub: 0,
                tenant: FIRST_TENANT,
                scope: 1,
                causes: Vec::new(),
                who: section(&rng, &who.encode()),
                what: section(&rng, &what),
            }
        });
        self.log.append(batch.collect(), None).unwrap().entries
    }
}

fn row(id: AuditId, entry: Option<&Entry>) -> AuditRow {
    AuditRow {
        id,
        at: Micros(5),
        tenant: FIRST_TENANT,
        who: None,
        endpoint: "x".to_owned(),
        capability: "scope.write".to_owned(),
        decision: lamina_types::Decision::Allow,
        decided_by_tier: "deployment".to_owned(),
        method: "POST".to_owned(),
        body_hash: None,
        headers_hash: None,
        body_bytes: None,
        pepper_version: 0,
        response_status: Some(202),
        event_id: entry.map(|entry| EventId::from_bytes(entry.head.id)),
        elapsed_ms: Some(1),
        gdpr: false,
        recovered: false,
    }
}

fn tell(auditor: &mut Auditor, entries: &[Entry]) {
    let next_offset = entries.last().unwrap().head.offset + 1;
    auditor.on(Message::Written { carried: carried(entries), next_offset });
}

fn rows(audit: &AuditLog) -> Vec<StoredRow> {
    let page = audit.reader().query(FIRST_TENANT, &AuditFilter::default(), None, 1_000).unwrap();
    page.items
}

fn ids(audit: &AuditLog) -> Vec<AuditId> {
    let mut ids: Vec<AuditId> = rows(audit).iter().map(|row| row.row.id).collect();
    ids.sort();
    ids
}

#[test]
fn rows_are_written_together_after_a_second_and_what_is_covered_with_them() {
    let mut world = world();
    let (mut auditor, _, _) = world.auditor();
    let (a, b) = (world.id(), world.id());
    let entries = world.write(&[a, b, b]);
    // One row comes before its entry is told, the other after.
    auditor.on(Message::Row(Box::new(row(a, entries.first()))));
    tell(&mut auditor, &entries);
    auditor.tick();
    assert_eq!(rows(&auditor.audit).len(), 0, "not for one row");
    world.clock.advance(1_000_000);
    auditor.tick();
    assert_eq!(ids(&auditor.audit), [a]);
    let offset_of_b = entries[1].head.offset;
    assert_eq!(auditor.audit.covered(), offset_of_b, "the row of the second is awaited");
    auditor.on(Message::Row(Box::new(row(b, entries.get(1)))));
    world.clock.advance(1_000_000);
    auditor.tick();
    assert_eq!(auditor.audit.covered(), offset_of_b + 2);
    world.clock.advance(QUIET_US);
    auditor.tick();
    assert!(auditor.marked && auditor.pause() == LOOK_AGAIN, "and then it is quiet");
    drop(auditor);
    assert_eq!(world.auditor().1, 0, "nothing is missing");
}

#[test]
fn a_row_that_never_comes_is_made_again_after_a_minute() {
    let mut world = world();
    let (mut auditor, _, _) = world.auditor();
    let id = world.id();
    let entries = world.write(&[id, id]);
    tell(&mut auditor, &entries);
    world.clock.advance(OVERDUE_US - 1);
    auditor.tick();
    auditor.flush();
    assert_eq!(rows(&auditor.audit).len(), 0);
    world.clock.advance(2);
    auditor.tick();
    auditor.flush();
    let [made] = &rows(&auditor.audit)[..] else { panic!("one row for one call") };
    assert!(made.row.recovered);
    assert_eq!((made.row.id, made.row.capability.as_str()), (id, "scope.write"));
    assert_eq!(made.row.event_id, Some(EventId::from_bytes(entries[0].head.id)));
    let who = made.row.who.clone().unwrap();
    assert_eq!(who.actor, Some("user:local".parse().unwrap()));
    assert_eq!(who.scope, Some("user:a".parse().unwrap()));
    assert_eq!(who.request_id, "req_1");
    assert_eq!(auditor.audit.covered(), world.log.tip().next_offset);
}

#[test]
fn closing_waits_for_nobody() {
    let mut world = world();
    let (mut auditor, _, _) = world.auditor();
    let (a, b, c) = (world.id(), world.id(), world.id());
    let entries = world.write(&[a, b]);
    tell(&mut auditor, &entries);
    auditor.on(Message::Row(Box::new(row(b, None))));
    auditor.on(Message::Row(Box::new(row(c, None))));
    auditor.close();
    let mut expected = vec![a, b, c];
    expected.sort();
    assert_eq!(ids(&auditor.audit), expected);
    assert_eq!(auditor.audit.covered(), world.log.tip().next_offset);
}

/// The power fails at every moment; what was in the log has its row after the next open.
#[test]
fn no_write_is_without_its_row_after_a_crash() {
    for seed in 1..25 {
        let mut world = world();
        let (mut auditor, _, _) = world.auditor();
        let mut written = Vec::new();
        for n in 0..12u64 {
            let id = world.id();
            let entries = world.write(&[id]);
            written.push(id);
            tell(&mut auditor, &entries);
            // Some rows come late, some not at all.
            if n % 3 != 0 {
                auditor.on(Message::Row(Box::new(row(id, entries.first()))));
            }
            if n % 4 == 3 {
                auditor.flush();
            }
        }
        // Everything is in the log; now the audit log is cut off in the middle of something.
        world.disk.power_off_after_calls(seed);
        auditor.flush();
        auditor.close();
        let World { disk, log, .. } = world;
        drop((auditor, log));
        disk.crash(&SimRng::new(seed));
        let again = World::on(disk, 2);
        let (auditor, _, _) = again.auditor();
        written.sort();
        assert_eq!(ids(&auditor.audit), written, "seed {seed}: each once");
    }
}

#[test]
fn an_audit_log_that_is_gone_is_made_again_from_the_log() {
    let mut world = world();
    let (mut auditor, _, _) = world.auditor();
    let all: Vec<AuditId> = (0..30).map(|_| world.id()).collect();
    for id in &all {
        let entries = world.write(&[*id]);
        tell(&mut auditor, &entries);
        auditor.on(Message::Row(Box::new(row(*id, entries.first()))));
    }
    auditor.close();
    drop(auditor);
    lamina_env::Disk::remove_dir_all(&*world.disk, Path::new("/data/audit")).unwrap();
    let (auditor, made, _) = world.auditor();
    assert_eq!(made, 30);
    let mut all = all;
    all.sort();
    assert_eq!(ids(&auditor.audit), all);
}

#[test]
fn rows_wait_while_the_disk_is_full() {
    let mut world = world();
    let (mut auditor, _, status) = world.auditor();
    world.disk.set_capacity(Some(world.disk.used_bytes() + 2_000));
    let all: Vec<AuditId> = (0..80).map(|_| world.id()).collect();
    for id in &all {
        auditor.on(Message::Row(Box::new(row(*id, None))));
    }
    auditor.flush();
    assert!(status.full.load(Ordering::Relaxed));
    assert!(!auditor.rows.is_empty() && auditor.audit.covered() == 0);
    world.disk.set_capacity(None);
    auditor.flush();
    assert!(!status.full.load(Ordering::Relaxed) && status.failed.lock().is_none());
    assert_eq!(ids(&auditor.audit).len(), 80);
    assert_eq!(status.lost.load(Ordering::Relaxed), 0);
}

#[test]
fn a_failed_sync_is_told_and_the_rows_of_writes_come_back() {
    let mut world = world();
    let (mut auditor, _, status) = world.auditor();
    let (id, read) = (world.id(), world.id());
    let entries = world.write(&[id]);
    tell(&mut auditor, &entries);
    auditor.on(Message::Row(Box::new(row(id, entries.first()))));
    auditor.on(Message::Row(Box::new(row(read, None))));
    world.disk.fail_sync(1);
    auditor.flush();
    assert!(status.failed.lock().is_some());
    assert_eq!(status.lost.load(Ordering::Relaxed), 2);
    auditor.close();
    let World { disk, log, .. } = world;
    drop((auditor, log));
    disk.restart();
    let (auditor, _, _) = World::on(disk, 2).auditor();
    assert!(ids(&auditor.audit).contains(&id), "from its entry, or as it was");
}

#[test]
fn what_the_thread_was_not_told_is_not_called_covered() {
    let mut world = world();
    let (mut auditor, _, status) = world.auditor();
    let id = world.id();
    world.write(&[id]);
    status.untold.store(true, Ordering::Release);
    let other = world.id();
    let entries = world.write(&[other]);
    tell(&mut auditor, &entries);
    auditor.on(Message::Row(Box::new(row(other, entries.first()))));
    auditor.close();
    drop(auditor);
    let (auditor, made, _) = world.auditor();
    assert_eq!(made, 1);
    assert_eq!(ids(&auditor.audit).len(), 2);
}

#[test]
fn what_the_thread_was_not_told_is_found_after_a_minute() {
    let mut world = world();
    let (mut auditor, _, status) = world.auditor();
    let first = world.log.tip().next_offset;
    let all: Vec<AuditId> = (0..20).map(|_| world.id()).collect();
    for (n, id) in all.iter().enumerate() {
        let entries = world.write(&[*id]);
        // Of some neither the entry nor the row is told, of some only one of them.
        if n % 4 >= 2 {
            tell(&mut auditor, &entries);
        }
        if n % 2 == 1 {
            auditor.on(Message::Row(Box::new(row(*id, entries.first()))));
        }
    }
    status.untold.store(true, Ordering::Release);
    auditor.tick();
    auditor.flush();
    assert_eq!(auditor.audit.covered(), first, "nothing from the first on that may be missing");
    assert_eq!(ids(&auditor.audit).len(), 10, "the others may still come");
    for _ in 0..5 {
        world.clock.advance(OVERDUE_US);
        auditor.tick();
        auditor.flush();
    }
    let mut all = all;
    all.sort();
    assert_eq!(ids(&auditor.audit), all, "each once");
    auditor.close();
    assert_eq!(auditor.audit.covered(), world.log.tip().next_offset);
}

#[test]
fn rows_beyond_what_is_kept_are_made_again() {
    let mut world = world();
    let (mut auditor, _, status) = world.auditor();
    world.disk.set_capacity(Some(world.disk.used_bytes() + 200_000));
    for _ in 0..KEPT_ROWS_MAX {
        let id = world.id();
        auditor.on(Message::Row(Box::new(row(id, None))));
    }
    let id = world.id();
    let entries = world.write(&[id]);
    tell(&mut auditor, &entries);
    auditor.on(Message::Row(Box::new(row(id, entries.first()))));
    assert_eq!(status.lost.load(Ordering::Relaxed), 1);
    world.disk.set_capacity(None);
    auditor.flush();
    assert!(auditor.audit.reader().row(FIRST_TENANT, id).unwrap().is_none());
    for _ in 0..3 {
        world.clock.advance(OVERDUE_US);
        auditor.tick();
        auditor.flush();
    }
    assert!(auditor.audit.reader().row(FIRST_TENANT, id).unwrap().is_some());
}

#[test]
fn what_is_too_much_for_an_open_is_made_again_afterwards() {
    let mut world = world();
    let all: Vec<AuditId> = (0..2 * RECOVERED_AT_OPEN_MAX).map(|_| world.id()).collect();
    for id in &all {
        world.write(&[*id]);
    }
    let (mut auditor, made, _) = world.auditor();
    assert_eq!((made, ids(&auditor.audit).len()), (0, 0), "opening does not wait for it");
    // New rows come meanwhile, and are not made twice.
    let id = world.id();
    let entries = world.write(&[id]);
    tell(&mut auditor, &entries);
    auditor.on(Message::Row(Box::new(row(id, entries.first()))));
    for _ in 0..3 {
        auditor.tick();
        auditor.flush();
    }
    let mut all = all;
    all.push(id);
    all.sort();
    assert_eq!(ids(&auditor.audit), all, "each once, without waiting a minute");
}

/// How many of sixty rows of two tenants are left after four days, and whether the first pepper is, if rows and
/// peppers are kept for a day and the log ended so long before the start.
#[track_caller]
fn left_after_expiry(pause_us: i64) -> (usize, usize, bool) {
    let mut world = world();
    let (auditor, _, _) = world.auditor();
    let day = 86_400 * 1_000_000;
    let settings = Settings {
        audit_retention_us: day,
        pepper_rotation_us: day,
        pepper_buffer_us: day,
        ..Settings::new("/data")
    };
    let keys = Path::new("/data/keys");
    let peppers = Peppers::open(Arc::clone(&world.env.disk), keys, Arc::clone(&world.env.rng));
    let peppers = Arc::new(peppers.unwrap());
    peppers.current(1, world.clock.wall(), day).unwrap();
    let standing = world.says(2, "audit.retention", "P10Y");
    let clock = Arc::new(SteadyClock::new(world.clock.clone()));
    let wall = world.clock.wall();
    let witness = ClockWitness { wall, recorded: Some(wall.plus(-pause_us)), modified: None };
    let sync = SyncSource::new(&world.env.disk, &settings);
    let opened = OpenedClock::compare(clock, witness, sync);
    let guard = Arc::new(ClockGuard::new(opened, &Arc::default()));
    let retention = Arc::new(Retention::new(&settings, &standing, &guard));
    let mut auditor = auditor.with_retention(retention, Arc::clone(&peppers));
    let at = world.clock.wall();
    for n in 0..120u32 {
        let row = AuditRow { at, tenant: 1 + n % 2, ..row(world.id(), None) };
        auditor.on(Message::Row(Box::new(row)));
        auditor.flush();
    }
    world.clock.advance(day);
    peppers.current(1, world.clock.wall(), day).unwrap();
    for _ in 0..100 {
        world.clock.advance(day / 24);
        auditor.tick();
    }
    let left = |tenant| {
        let reader = auditor.audit.reader();
        reader.query(tenant, &AuditFilter::default(), None, 1_000).unwrap().items.len()
    };
    let verified = auditor.audit.reader().verify(1, world.keys.public()).unwrap();
    assert_eq!((verified.first_broken_index, verified.chain.length), (None, 60));
    assert!(peppers.version(1, 2).is_some());
    (left(1), left(2), peppers.version(1, 1).is_some())
}

#[test]
fn what_has_expired_goes_when_there_is_nothing_else_to_do() {
    let (left, of_another, pepper) = left_after_expiry(0);
    assert!(left < 20, "only those of the segment being written: {left}");
    assert_eq!(of_another, 60, "kept for as long as the tenant wants");
    assert!(!pepper);
}

#[test]
fn rows_and_peppers_stay_while_the_clock_is_in_doubt() {
    assert_eq!(left_after_expiry(400 * 86_400 * 1_000_000), (60, 60, true));
}
