//! The fold against its law: replay equals live, also after crashes, failures and erasures.

use std::sync::Arc;

use expect_test::expect;
use lamina_types::limits::IDEMPOTENCY_TTL_US;
use lamina_types::stdx::hex;
use lamina_types::{BlobId, EventId, MemberRole, Micros, RecordedAt};
use proptest::collection::vec;
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::testing::{Say, TENANT, TestLog, blob_key, dump, empty, idem_mac, open};
use super::*;
use crate::codec::control::PolicyTarget;
use crate::entry::{Kind, Place, SectionState, control};
use crate::kv::MemKv;
use crate::log::EraseTarget;

fn id_of(log: &TestLog, offset: u64) -> EventId {
    log.entries[offset as usize].head.event_id()
}

fn say(key: &str) -> Say {
    Say { key: key.to_owned(), ..Say::default() }
}

#[test]
fn an_event_is_found_by_id_with_its_place_and_positions() {
    let mut log = TestLog::new(2);
    let offset = log.say(&Say { scope: 2, observed_at: -5, ..Say::default() });
    let views = log.views(100);
    let row = views.event(TENANT, id_of(&log, offset)).unwrap().unwrap();
    let head = &log.entries[offset as usize].head;
    assert_eq!((row.offset, row.place), (offset, Place(offset * 100)));
    assert_eq!((row.tenant_seq, row.scope), (head.tenant_seq, 2));
    assert_eq!((row.link.seq, row.recorded_at), (1, head.recorded_at));
    assert_eq!(row.listed().unwrap().observed_at.0, Micros(-5));
    assert_eq!(views.event_at(offset).unwrap(), Some((TENANT, row.id)));
    assert_eq!(views.event(TENANT + 1, row.id).unwrap(), None);
    assert_eq!(views.event_at(0).unwrap(), None);
}

/// Numbers are dense in each scope and count nothing but events; erasing and cancelling changes none.
#[test]
fn events_are_numbered_densely_in_their_scope() {
    let mut log = TestLog::new(2);
    let of = |scope, key: &str| Say { scope, ..say(key) };
    let mut offsets = Vec::new();
    for n in 0..6 {
        offsets.push(log.say(&of(1 + n % 2, &format!("k{n}"))));
        log.members(1, &[("user:x", MemberRole::Owner)]);
        log.mark();
    }
    log.cancel(offsets[0]);
    log.erase(&[target(offsets[2], true, true), target(offsets[4], false, true)]);
    offsets.push(log.say(&of(1, "last")));
    for batch in [1, 3, 100] {
        let views = log.views(batch);
        for (n, offset) in offsets.iter().enumerate() {
            let row = views.event(TENANT, id_of(&log, *offset)).unwrap().unwrap();
            assert_eq!(row.number, n as u64 / 2 + 1, "{n}");
            let scope = row.scope;
            let found = views.event_by_number(TENANT, scope, row.number).unwrap();
            assert_eq!(found.as_ref(), Some(&row));
            let found = views.event_by_position(TENANT, scope, row.link.seq).unwrap();
            assert_eq!(found.as_ref(), Some(&row));
        }
        for (scope, number) in [(1, 0), (1, 5), (2, 4), (3, 1), (1, u64::MAX)] {
            assert_eq!(views.event_by_number(TENANT, scope, number).unwrap(), None);
            assert_eq!(views.event_by_position(TENANT, scope, number.max(99)).unwrap(), None);
        }
        assert_eq!(views.event_by_number(TENANT + 1, 1, 1).unwrap(), None);
    }
}

#[test]
fn no_word_reaches_the_views() {
    let mut log = TestLog::new(1);
    log.say(&Say {
        text: "SECRETTEXT".to_owned(),
        key: "SECRETKEY".to_owned(),
        labels: vec!["SECRETLABEL".to_owned()],
        modality: "SECRETMODALITY".to_owned(),
        actor: "user:SECRETACTOR".to_owned(),
        ..Say::default()
    });
    log.scope("user:SECRETSCOPE");
    log.tenant(2, "SECRETTENANT");
    log.members(1, &[("user:SECRETMEMBER", MemberRole::Owner)]);
    log.policy(&PolicyTarget::Actor("user:SECRETACTOR".parse().unwrap()), "SECRETPOLICY");
    log.policy(&PolicyTarget::Scope("org:SECRETSCOPE".parse().unwrap()), "SECRETPOLICY");
    log.revoke("SECRETTOKEN", log.now + 1);
    let views = log.views(100);
    for (space, key, value) in dump(views.kv().as_ref()) {
        for bytes in [key, value] {
            let found = bytes.windows(6).any(|window| window == b"SECRET");
            assert!(!found, "a word is in {}", space.name());
        }
    }
}

#[test]
fn chains_answer_for_the_log() {
    let mut log = TestLog::new(1);
    log.say(&say("a"));
    let offset = log.say(&say("b"));
    let views = log.views(2);
    let head = &log.entries[offset as usize].head;
    let expected = ChainHead { seq: 2, seal: head.seal };
    assert_eq!(views.scope_head(TENANT, 1).unwrap(), Some(expected));
    assert_eq!(views.scope_head(TENANT, 9).unwrap(), None);
    assert_eq!(views.tenant_seq(TENANT).unwrap(), head.tenant_seq);
    assert_eq!(views.tenant_seq(9).unwrap(), 0);
    assert_eq!(ChainLookup::applied(&views), offset + 1);
}

/// The end of a scope's chain is found whatever became of the events at its end.
#[test]
fn chains_end_where_the_log_says() {
    let ends = |log: &TestLog, what: &str| {
        let mut last = std::collections::BTreeMap::new();
        for entry in &log.entries {
            let head = &entry.head;
            let link = ChainHead { seq: head.scope_seq, seal: head.seal };
            last.insert((head.tenant, head.scope), link);
        }
        let views = log.views(3);
        for ((tenant, scope), link) in last {
            assert_eq!(views.scope_head(tenant, scope).unwrap(), Some(link), "{what}");
        }
    };
    let mut log = TestLog::new(1);
    let events: Vec<u64> = ["a", "b", "c", "d"].iter().map(|text| log.say(&say(text))).collect();
    ends(&log, "events");
    log.erase(&[target(events[3], false, true)]);
    ends(&log, "the last is erased");
    log.erase(&[target(events[1], true, false), target(events[2], true, true)]);
    ends(&log, "those before it too");
    log.cancel(events[0]);
    ends(&log, "none is left in a list");
    log.say(&say("e"));
    ends(&log, "one is again");
}

#[test]
fn scopes_are_found_by_path_and_by_ancestor() {
    let mut log = TestLog::new(0);
    for path in ["org:a/user:x", "org:a", "org:ab", "org:a/user:x/app:y"] {
        log.scope(path);
    }
    let views = log.views(1);
    let below = |path: &str, after, limit| {
        let path = path.parse().unwrap();
        views.scopes_below(TENANT, &path, after, limit).unwrap()
    };
    let ordinal = |path: &str| views.scope_ordinal(TENANT, &path.parse().unwrap()).unwrap();
    assert_eq!(ordinal("org:a"), Some(2));
    assert_eq!(ordinal("org:b"), None);
    assert_eq!(below("org:a", None, 9), [1, 2, 4]);
    assert_eq!(below("org:a", Some(1), 1), [2]);
    assert_eq!(below("org:a/user:x", None, 9), [1, 4]);
    assert_eq!(below("org:zzz", None, 9), []);
    assert_eq!(below("org:a", Some(u64::MAX), 9), []);
    assert_eq!(views.next_scope_ordinal(TENANT).unwrap(), 5);
    assert_eq!(views.next_scope_ordinal(7).unwrap(), 1);
    assert_eq!(views.scope_row(TENANT, 2).unwrap().unwrap().offset, 2);
    assert_eq!(views.scope_row(TENANT, 5).unwrap(), None);
}

#[test]
fn tenants_are_found_by_name() {
    let mut log = TestLog::new(0);
    log.tenant(2, "acme");
    let views = log.views(9);
    assert_eq!(views.tenant_ordinal("acme").unwrap(), Some(2));
    assert_eq!(views.tenant_ordinal("default").unwrap(), Some(1));
    assert_eq!(views.tenant_ordinal("other").unwrap(), None);
    let all: Vec<u32> = views.tenants().unwrap().iter().map(|t| t.ordinal).collect();
    assert_eq!(all, [1, 2]);
}

#[test]
fn a_key_stands_for_its_last_event_until_its_day_is_over() {
    let mut log = TestLog::new(1);
    let first = log.say(&say("a"));
    let views = log.views(9);
    let row = views.idempotency(TENANT, &idem_mac("a")).unwrap().unwrap();
    assert_eq!(row.event_id, id_of(&log, first));
    assert_eq!(views.idempotency(TENANT, &idem_mac("b")).unwrap(), None);
    assert_eq!(views.idempotency(2, &idem_mac("a")).unwrap(), None);
    let ends = row.recorded_at.0.0 + IDEMPOTENCY_TTL_US;
    assert!(!row.is_expired(RecordedAt(Micros(ends - 1))));
    assert!(row.is_expired(RecordedAt(Micros(ends))));

    // The last instant before, and the first after.
    log.now = ends - 2;
    log.mark();
    log.apply(&views, 9);
    assert!(views.idempotency(TENANT, &idem_mac("a")).unwrap().is_some());
    log.mark();
    log.apply(&views, 9);
    assert_eq!(views.idempotency(TENANT, &idem_mac("a")).unwrap(), None);

    let second = log.say(&say("a"));
    log.apply(&views, 9);
    let row = views.idempotency(TENANT, &idem_mac("a")).unwrap().unwrap();
    assert_eq!(row.event_id, id_of(&log, second));
}

#[test]
fn the_sweep_is_bounded_for_each_entry_and_catches_up() {
    let mut log = TestLog::new(1);
    for n in 0..40 {
        log.say(&say(&format!("k{n}")));
    }
    let views = log.views(9);
    log.now += IDEMPOTENCY_TTL_US;
    log.mark();
    log.apply(&views, 1);
    let left = |views: &Views| {
        let found = |n| views.idempotency(TENANT, &idem_mac(&format!("k{n}"))).unwrap();
        (0..40).filter(|n| found(*n).is_some()).count()
    };
    assert_eq!(left(&views), 40 - sweep::STEPS_PER_ENTRY);
    for _ in 0..20 {
        log.mark();
    }
    log.apply(&views, 1);
    assert_eq!(left(&views), 0);
}

#[test]
fn a_cancelled_event_keeps_its_row_by_id_only() {
    let mut log = TestLog::new(1);
    let offset = log.say(&say("a"));
    let before = dump(log.views(9).kv().as_ref());
    log.cancel(offset);
    log.cancel(offset);
    let views = log.views(9);
    let row = views.event(TENANT, id_of(&log, offset)).unwrap().unwrap();
    assert!(row.is_excluded() && !row.is_erased() && row.listed().is_none());
    assert_eq!(views.counts().excluded, 1);
    let lists = [Space::ByRecorded, Space::ByObserved, Space::ByTag];
    let rows = |dump: &[(Space, Vec<u8>, Vec<u8>)]| {
        dump.iter().filter(|(space, ..)| lists.contains(space)).count()
    };
    assert_eq!(rows(&before), 3);
    assert_eq!(rows(&dump(views.kv().as_ref())), 0);
    assert!(views.idempotency(TENANT, &idem_mac("a")).unwrap().is_some());
}

#[test]
fn a_blob_is_found_until_it_is_removed_and_its_references_are_known() {
    let (one, two) = (BlobId::from_bytes([1; 16]), BlobId::from_bytes([2; 16]));
    let mut log = TestLog::new(1);
    let stored = log.blob(one);
    log.blob(two);
    let event = log.say(&Say { media: vec![one, one], ..say("a") });
    let views = log.views(9);
    let row = views.blob(TENANT, one).unwrap().unwrap();
    assert_eq!((row.size, row.file, row.offset), (10, [1; 16], stored));
    assert_eq!(views.blob_references(TENANT, one, 9).unwrap(), [id_of(&log, event)]);
    assert_eq!(views.blob_references(TENANT, two, 9).unwrap(), []);
    assert_eq!(views.blobs(TENANT, None, 9).unwrap().len(), 2);
    assert_eq!(views.blobs(TENANT, Some(one), 9).unwrap()[0].id, two);
    let used = |views: &Views, id| views.blob_by_key(TENANT, &blob_key(id)).unwrap();
    assert_eq!(used(&views, one).map(|used| (used.id, used.body_mac)), Some((one, [8; 32])));
    let (at, day) = (row.recorded_at, 86_400_000_000);
    for (later, expired) in [(0, false), (day - 1, false), (day + 1, true)] {
        let now = RecordedAt(at.0.plus(later));
        assert_eq!(used(&views, one).unwrap().is_expired(now), expired, "{later}");
    }
    log.blob_removed(stored);
    log.apply(&views, 9);
    assert_eq!(views.blob(TENANT, one).unwrap(), None);
    assert_eq!(views.counts().blobs, 1);
    assert_eq!((used(&views, one), used(&views, two).is_some()), (None, true));
}

#[test]
fn entries_that_do_not_continue_are_refused() {
    let log = TestLog::new(3);
    let views = empty();
    views.apply(&log.entries[..2], &log.tip(2)).unwrap();
    let before = dump(views.kv().as_ref());
    for range in [0..2, 1..3, 3..4] {
        let tip = log.tip(range.end);
        let error = views.apply(&log.entries[range], &tip).unwrap_err();
        assert!(matches!(error, ViewError::Gap { .. }), "{error}");
    }
    let error = views.apply(&log.entries[2..3], &log.tip(4)).unwrap_err();
    assert!(matches!(error, ViewError::Gap { .. }), "{error}");
    assert_eq!(dump(views.kv().as_ref()), before);
}

#[test]
fn contradictions_are_refused_and_change_nothing() {
    let check = |change: &dyn Fn(&mut TestLog) -> u64, expected: &str| {
        let mut log = TestLog::new(1);
        let views = log.views(9);
        let before = dump(views.kv().as_ref());
        change(&mut log);
        let from = before_len(&views);
        let error = views.apply(&log.entries[from..], &log.tip(log.entries.len())).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(dump(views.kv().as_ref()), before);
    };
    check(&|log| log.tenant(1, "b"), "there already");
    check(&|log| log.tenant(2, "default"), "name is taken");
    check(&|log| log.tenant(0, "b"), "not a tenant");
    check(&|log| log.scope("user:s1"), "registered already");
    check(
        &|log| {
            log.blob(BlobId::from_bytes([1; 16]));
            log.blob(BlobId::from_bytes([1; 16]))
        },
        "stored already",
    );
    check(
        &|log| {
            let offset = log.say(&Say::default());
            log.cancel(offset);
            log.entries.last_mut().unwrap().head.causes.clear();
            offset
        },
        "names no event",
    );
    check(
        &|log| {
            let offset = log.say(&Say::default());
            log.entries.last_mut().unwrap().what = SectionState::Absent;
            offset
        },
        "absent",
    );
    check(
        &|log| {
            let offset = log.say(&Say::default());
            log.entries.last_mut().unwrap().what = SectionState::Live(vec![9]);
            offset
        },
        "not readable",
    );
}

fn before_len(views: &Views) -> usize {
    views.applied().map_or(0, |tip| tip.next_offset as usize)
}

/// One of every row, and the bytes they all make. If this changes, stores of the old layout are
/// out there: [`LAYOUT`] must change with it, or they are never rebuilt.
#[test]
fn golden_layout() {
    let blob = BlobId::from_bytes([1; 16]);
    let mut log = TestLog::new(3);
    let stored = log.blob(blob);
    log.blob(BlobId::from_bytes([2; 16]));
    let said = Say {
        scope: 300,
        observed_at: -1,
        labels: vec!["l".to_owned()],
        media: vec![blob],
        ..say("a")
    };
    let events = [log.say(&said), log.say(&say("b")), log.say(&say("c"))];
    log.cancel(events[1]);
    log.erase(&[target(events[2], true, true), target(2, false, true)]);
    log.blob_removed(stored);
    log.policy(&PolicyTarget::Tenant, "x");
    let gone = log.policy(&PolicyTarget::Actor("user:x".parse().unwrap()), "y");
    log.erase(&[target(gone, true, true)]);
    log.revoke("t", log.now + 1);
    log.members(2, &[("user:x", MemberRole::Reader), ("user:y", MemberRole::Writer)]);
    log.scope_removed(3);
    let rows = dump(log.views(9).kv().as_ref());
    let mut text = String::new();
    for (space, key, value) in &rows {
        let (key, value) = (hex::encode(key), hex::encode(value));
        text.push_str(&format!("{} {key} {value}\n", space.name()));
    }
    let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    expect!["layout 34: 60 rows, 848cbc243f4e8cea4c625a7a24b3b802634f712734ceda8dc7e2e40af39867eb"]
        .assert_eq(&format!("layout {LAYOUT}: {} rows, {}", rows.len(), hex::encode(&hash)));
}

#[test]
fn views_of_another_layout_are_rebuilt() {
    let mut log = TestLog::new(1);
    log.say(&say("a"));
    let kv = Arc::new(MemKv::new());
    let views = open(kv.clone());
    log.apply(&views, 9);
    let before = dump(kv.as_ref());
    drop(views);

    let mut batch = Batch::default();
    batch.put(Space::Meta, key::LAYOUT, [9, 9, 9, 9]);
    batch.put(Space::Jobs, "job", "stays");
    kv.write(batch).unwrap();
    let views = open(kv.clone());
    assert!(views.needs_rebuild());
    assert_eq!(views.applied(), None);
    let error = views.apply(&log.entries, &log.tip(log.entries.len()));
    assert!(matches!(error, Err(ViewError::NeedsRebuild)));
    views.reset().unwrap();
    assert!(!views.needs_rebuild());
    log.apply(&views, 9);
    assert_eq!(dump(kv.as_ref()), before);
    assert_eq!(kv.get(Space::Jobs, b"job").unwrap(), Some(b"stays".to_vec()));
}

#[test]
fn a_reset_that_is_interrupted_anywhere_is_noticed() {
    let mut log = TestLog::new(1);
    log.say(&say("a"));
    for after in 0.. {
        let kv = Arc::new(MemKv::new());
        let views = open(kv.clone());
        log.apply(&views, 9);
        let before = dump(kv.as_ref());
        kv.persist().unwrap();
        kv.fail_after(after);
        let finished = views.reset().is_ok();
        kv.fail_never();
        kv.crash(0);
        let again = open(kv.clone());
        if before_len(&again) != log.entries.len() {
            again.reset().unwrap();
            log.apply(&again, 9);
        }
        assert_eq!(dump(kv.as_ref()), before, "failed at call {after}");
        if finished {
            return;
        }
    }
}

#[test]
fn a_failed_write_changes_nothing_and_can_be_tried_again() {
    let mut log = TestLog::new(1);
    for n in 0..3 {
        log.say(&say(&format!("k{n}")));
    }
    let expected = dump(log.views(9).kv().as_ref());
    for after in 0.. {
        let kv = Arc::new(MemKv::new());
        let views = open(kv.clone());
        kv.fail_after(after);
        let tip = log.tip(log.entries.len());
        let failed = views.apply(&log.entries, &tip).is_err();
        kv.fail_never();
        if failed {
            assert_eq!(views.applied(), None, "failed at call {after}");
            views.apply(&log.entries, &tip).unwrap();
        }
        assert_eq!(dump(kv.as_ref()), expected, "failed at call {after}");
        if !failed {
            return;
        }
    }
}

/// One thing that happens to a log.
#[derive(Debug, Clone)]
enum Step {
    Say {
        scope: u64,
        key: u8,
        label: u8,
        media: u8,
    },
    Cancel(usize),
    Blob,
    BlobRemoved(usize),
    Scope,
    Mark,
    Hours(u8),
    Policy(u8),
    Revoke {
        token: u8,
        hours: u8,
    },
    Members {
        scope: u64,
        first: u8,
    },
    ScopeRemoved(u64),
    /// Which entry, its `who`, its `what`; erased before or after the views have seen it.
    Erase(usize, bool, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1..3u64, 0..6u8, 0..3u8, 0..30u8).prop_map(|(scope, key, label, media)| Step::Say {
            scope,
            key,
            label,
            media
        }),
        2 => any::<usize>().prop_map(Step::Cancel),
        1 => Just(Step::Blob),
        1 => any::<usize>().prop_map(Step::BlobRemoved),
        1 => Just(Step::Scope),
        1 => Just(Step::Mark),
        2 => (1..20u8).prop_map(Step::Hours),
        1 => (0..5u8).prop_map(Step::Policy),
        2 => (0..9u8, 0..40u8).prop_map(|(token, hours)| Step::Revoke { token, hours }),
        1 => (1..3u64, 0..5u8).prop_map(|(scope, first)| Step::Members { scope, first }),
        1 => (1..3u64).prop_map(Step::ScopeRemoved),
        2 => any::<(usize, bool, bool)>().prop_map(|(n, who, what)| Step::Erase(n, who, what)),
    ];
    vec(step, 0..60)
}

/// The log these steps make, applied to `views` as it grows.
fn live(steps: &[Step], views: &Views, step: usize) -> TestLog {
    let mut log = TestLog::new(2);
    let (mut events, mut blobs) = (Vec::new(), Vec::new());
    let pick = |list: &[u64], n: usize| list.get(n % list.len().max(1)).copied();
    for (index, what) in steps.iter().enumerate() {
        match what {
            Step::Say { scope, key, label, media } => events.push(log.say(&Say {
                scope: *scope,
                key: format!("k{key}"),
                observed_at: i64::from(*key) - 3,
                labels: vec![format!("l{label}")],
                media: vec![BlobId::from_bytes([*media; 16])],
                ..Say::default()
            })),
            Step::Cancel(n) => {
                if let Some(offset) = pick(&events, *n) {
                    log.cancel(offset);
                }
            }
            Step::Blob => blobs.push(log.blob(BlobId::from_bytes([index as u8; 16]))),
            Step::BlobRemoved(n) => {
                if let Some(offset) = pick(&blobs, *n) {
                    log.blob_removed(offset);
                }
            }
            Step::Scope => _ = log.scope(&format!("user:t{index}")),
            Step::Mark => _ = log.mark(),
            Step::Erase(n, who, what) => {
                let offset = (n % log.entries.len()) as u64;
                let head = &log.entries[offset as usize].head;
                // The log never erases an erasure or a revocation; a mark has nothing to erase.
                let kept = [control::ERASE, control::TOKEN_REVOKED].contains(&head.sub);
                if !kept && head.kind != Kind::Mark {
                    log.erase(&[target(offset, *who, *what)]);
                }
            }
            Step::Policy(n) => {
                let target = match n {
                    0 => PolicyTarget::Tenant,
                    1 | 2 => PolicyTarget::Scope(format!("user:s{n}").parse().unwrap()),
                    _ => PolicyTarget::Actor(format!("user:a{n}").parse().unwrap()),
                };
                log.policy(&target, "document");
            }
            Step::Revoke { token, hours } => {
                let exp = log.now + i64::from(*hours) * 3_600_000_000;
                log.revoke(&format!("t{token}"), exp);
            }
            Step::Members { scope, first } => {
                let actors = ["user:a", "user:b", "user:c", "user:d"];
                let members = actors.iter().skip(usize::from(*first)).zip(MemberRole::ALL);
                let members: Vec<_> = members.map(|(actor, role)| (*actor, *role)).collect();
                log.members(*scope, &members);
            }
            Step::ScopeRemoved(scope) => _ = log.scope_removed(*scope),
            Step::Hours(hours) => log.now += i64::from(*hours) * 3_600_000_000,
        }
        if index % 3 == 0 {
            log.apply(views, step);
        }
    }
    log.apply(views, step);
    log
}

fn target(offset: u64, who: bool, what: bool) -> EraseTarget {
    EraseTarget { offset, place: Place(offset * 100), who, what }
}

proptest! {
    /// Law 1.
    #[test]
    fn replay_equals_live(steps in steps(), live_step in 1..9usize, replay_step in 1..40usize) {
        let views = empty();
        let log = live(&steps, &views, live_step);
        let replayed = log.views(replay_step);
        prop_assert_eq!(dump(views.kv().as_ref()), dump(replayed.kv().as_ref()));
        prop_assert_eq!(views.counts(), replayed.counts());
    }

    #[test]
    fn a_crash_between_batches_is_caught_up(steps in steps(), keep in 0..40usize) {
        let kv = Arc::new(MemKv::new());
        let views = open(kv.clone());
        let log = live(&steps, &views, 2);
        let before = dump(kv.as_ref());
        drop(views);
        kv.crash(keep);
        let views = open(kv.clone());
        prop_assert!(!views.needs_rebuild());
        log.apply(&views, 5);
        prop_assert_eq!(dump(kv.as_ref()), before);
    }
}
