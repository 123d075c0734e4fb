//! Lists against an oracle that is slow and obviously right.

use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::view::testing::{Say, TENANT, TestLog};

const LABELS: u8 = 3;
const ACTORS: u8 = 2;

/// A log of events, some of them cancelled.
fn logs() -> impl Strategy<Value = TestLog> {
    let event = (1..4u64, -3..4i64, 0..LABELS, 0..ACTORS * 2, prop::bool::weighted(0.1));
    vec(event, 0..40).prop_map(|events| {
        let mut log = TestLog::new(3);
        for (index, (scope, observed_at, label, actor, cancelled)) in events.iter().enumerate() {
            let offset = log.say(&Say {
                scope: *scope,
                observed_at: *observed_at,
                key: format!("k{index}"),
                labels: (0..*label).map(|n| format!("l{n}")).collect(),
                actor: format!("user:a{}", actor % ACTORS),
                modality: format!("m{}", actor / ACTORS),
                ..Say::default()
            });
            if *cancelled {
                log.cancel(offset);
            }
        }
        log
    })
}

fn scans() -> impl Strategy<Value = EventScan> {
    let observed = || option::of((-4..5i64).prop_map(|at| ValidAt(Micros(at))));
    let recorded = || option::of((1_000_000..1_000_060i64).prop_map(|at| RecordedAt(Micros(at))));
    (
        btree_set(1..4u64, 0..4),
        any::<(bool, bool)>(),
        (observed(), observed(), recorded(), recorded()),
        vec(vec(0..7u8, 0..3), 0..3),
        (0..4usize, 1..6usize, 1..9usize),
    )
        .prop_map(|(scopes, (axis, direction), bounds, tags, (skip, limit, scan_max))| {
            let views = crate::view::testing::empty();
            let tag = |n: u8| match n {
                0..3 => views.tag_label(TENANT, &format!("l{n}")).unwrap(),
                3..5 => views.tag_actor(TENANT, &format!("user:a{}", n - 3)).unwrap(),
                _ => views.tag_modality(TENANT, &format!("m{}", n - 5)).unwrap(),
            };
            EventScan {
                tenant: TENANT,
                scopes: scopes.into_iter().collect(),
                axis: if axis { Axis::Observed } else { Axis::Recorded },
                direction: if direction { Direction::Forward } else { Direction::Backward },
                observed_from: bounds.0,
                observed_to: bounds.1,
                recorded_from: bounds.2,
                recorded_to: bounds.3,
                tags: tags.into_iter().map(|any| any.into_iter().map(tag).collect()).collect(),
                after: None,
                skip,
                limit,
                scan_max,
            }
        })
}

/// Slow and obviously right: every event row, filtered and sorted.
fn oracle(views: &Views, log: &TestLog, scan: &EventScan) -> Vec<EventId> {
    let rows = log.entries.iter().filter_map(|entry| {
        views.event(TENANT, entry.head.event_id()).unwrap().filter(|row| {
            scan.scopes.contains(&row.scope)
                && row.listed().is_some_and(|facets| scan.matches(row, facets))
        })
    });
    let mut found: Vec<_> = rows
        .map(|row| {
            let at = match scan.axis {
                Axis::Observed => row.listed().unwrap().observed_at.0,
                Axis::Recorded => row.recorded_at.0,
            };
            (at, row.tenant_seq, row.id)
        })
        .collect();
    found.sort();
    if scan.direction == Direction::Backward {
        found.reverse();
    }
    found.into_iter().map(|(_, _, id)| id).collect()
}

proptest! {
    #[test]
    fn pages_put_together_are_the_whole_list(log in logs(), scan in scans()) {
        let views = log.views(7);
        let expected: Vec<_> = oracle(&views, &log, &scan).into_iter().skip(scan.skip).collect();
        let mut scan = scan;
        let mut found = Vec::new();
        loop {
            let page = views.event_scan(&scan).unwrap();
            prop_assert!(page.rows.len() <= scan.limit);
            prop_assert!(page.looked_at <= scan.scan_max);
            found.extend(page.rows.iter().map(|row| row.id));
            scan.skip -= page.skipped;
            let Some(next) = page.next else { break };
            prop_assert_ne!(Some(next), scan.after, "the list does not move");
            scan.after = Some(next);
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_page_with_room_says_whether_there_is_more(log in logs(), scan in scans()) {
        let views = log.views(7);
        let scan = EventScan { scan_max: 1_000, ..scan };
        let page = views.event_scan(&scan).unwrap();
        let all = oracle(&views, &log, &scan).len();
        prop_assert_eq!(page.next.is_some(), all > scan.skip + scan.limit);
    }
}

#[test]
fn a_long_list_is_read_in_chunks_and_with_bounded_work() {
    let mut log = TestLog::new(2);
    for n in 0..1_000u64 {
        log.say(&Say { scope: 1 + n % 2, key: format!("k{n}"), ..Say::default() });
    }
    let views = log.views(100);
    let scan = EventScan {
        tenant: TENANT,
        scopes: vec![1, 2],
        axis: Axis::Observed,
        direction: Direction::Backward,
        observed_from: None,
        observed_to: None,
        recorded_from: None,
        recorded_to: None,
        tags: Vec::new(),
        after: None,
        skip: 900,
        limit: 50,
        scan_max: 10_000,
    };
    let page = views.event_scan(&scan).unwrap();
    assert_eq!((page.rows.len(), page.skipped, page.looked_at), (50, 900, 951));
    // The tenant's and the scopes' entries come first: the newest event has sequence 1,003.
    assert_eq!(page.rows[0].tenant_seq, 103);
    let page = views.event_scan(&EventScan { after: page.next, skip: 0, ..scan }).unwrap();
    assert_eq!((page.rows.len(), page.next), (50, None));
}
