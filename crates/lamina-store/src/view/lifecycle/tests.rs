//! Lifecycle rows of every kind survive, are found by id, event and time, and go after their week.

use super::*;
use crate::view::testing::{TENANT, empty};

fn row(n: u8, event: u8, kind: LifecycleKind, payload: Payload) -> LifecycleRow {
    LifecycleRow {
        id: LifecycleId::from_bytes([n; 16]),
        kind,
        event_id: EventId::from_bytes([event; 16]),
        scope: 300,
        at: Micros(i64::from(n) * 10),
        seq: u32::from(n),
        batch_id: event.is_multiple_of(2).then(|| BatchId::from_bytes([event; 16])),
        payload,
        event_offset: 70_000,
        event_place: Place(u64::MAX),
    }
}

fn cancelled(from: Option<Stage>) -> Payload {
    let mut dependants = lamina_types::lifecycle::Dependants::default();
    let episode = lamina_types::lifecycle::Derived::Episode(EpisodeId::from_bytes([4; 16]));
    dependants.add(lamina_types::lifecycle::Fate::Removed, episode);
    Payload::Cancelled { from, dependants: Box::new(dependants) }
}

/// One of each kind and payload.
fn rows() -> Vec<LifecycleRow> {
    let stage = LifecycleKind::Stage;
    let (facts, entities, beliefs, episodes) = (1, 200, u32::MAX, 0);
    let (beliefs_updated, conflicts_resolved, superseded_facts) = (7, 8, 9);
    vec![
        row(1, 9, stage(Stage::Captured), Payload::Captured { wal_offset: u64::MAX }),
        row(
            2,
            9,
            stage(Stage::Extracted),
            Payload::Extracted { facts, entities, beliefs, episodes },
        ),
        row(3, 8, stage(Stage::Indexed), Payload::Indexed { layers: 31 }),
        row(
            4,
            9,
            stage(Stage::Consolidated),
            Payload::Consolidated { beliefs_updated, conflicts_resolved, superseded_facts },
        ),
        row(
            5,
            9,
            stage(Stage::Compressed),
            Payload::Compressed {
                episode: EpisodeId::from_bytes([4; 16]),
                understanding: vec![ConceptId::from_bytes([6; 16])],
            },
        ),
        row(6, 8, LifecycleKind::Failed(Stage::Indexed), Payload::Failed { attempts: 5 }),
        row(7, 9, LifecycleKind::Cancelled, cancelled(Some(Stage::Extracted))),
    ]
}

fn stored() -> Views {
    let views = empty();
    let mut batch = Batch::default();
    views.lifecycle_put(&mut batch, TENANT, &rows()).unwrap();
    views.commit(batch).unwrap();
    views
}

fn scan(views: &Views, after: Option<u8>, direction: Direction, limit: usize) -> Vec<u8> {
    let mut seen = Vec::new();
    let after = after.map(|n| LifecycleId::from_bytes([n; 16]));
    views
        .lifecycle_scan(TENANT, after, direction, limit, &mut |row| {
            seen.push(row.id.as_bytes()[0]);
            ControlFlow::Continue(())
        })
        .unwrap();
    seen
}

#[test]
fn every_kind_of_row_survives() {
    let views = stored();
    for row in rows() {
        assert_eq!(views.lifecycle_get(TENANT, row.id).unwrap(), Some(row.clone()));
        assert_eq!(views.lifecycle_get(TENANT + 1, row.id).unwrap(), None);
    }
}

#[test]
fn rows_are_found_by_event_and_in_order() {
    let views = stored();
    let of = |event: u8| {
        let rows = views.lifecycle_of_event(TENANT, EventId::from_bytes([event; 16])).unwrap();
        rows.iter().map(|row| row.id.as_bytes()[0]).collect::<Vec<_>>()
    };
    assert_eq!(of(9), [1, 2, 4, 5, 7]);
    assert_eq!(of(8), [3, 6]);
    assert_eq!(of(7), []);
    // The second of a run is found, and a scan goes on from within one.
    assert_eq!(scan(&views, Some(1), Direction::Forward, 2), [2, 3]);
    assert_eq!(scan(&views, Some(2), Direction::Backward, 9), [1]);
    assert_eq!(scan(&views, Some(0), Direction::Forward, 1), [1]);
    assert_eq!(scan(&views, None, Direction::Forward, 3), [1, 2, 3]);
    assert_eq!(scan(&views, Some(3), Direction::Forward, 9), [4, 5, 6, 7]);
    assert_eq!(scan(&views, Some(3), Direction::Backward, 9), [2, 1]);
    assert_eq!(scan(&views, None, Direction::Backward, 2), [7, 6]);
    assert_eq!(scan(&views, None, Direction::Forward, 0), []);
}

#[test]
fn old_rows_are_pruned_in_bounded_steps() {
    let views = stored();
    // Runs: 1 and 2, 3, 4 and 5, 6, 7. A run goes when its last row is old.
    assert_eq!(views.lifecycle_prune(TENANT, Micros(20), 9).unwrap(), 0);
    assert_eq!(views.lifecycle_prune(TENANT, Micros(40), 1).unwrap(), 1);
    assert_eq!(scan(&views, None, Direction::Forward, 9), [3, 4, 5, 6, 7]);
    assert_eq!(views.lifecycle_prune(TENANT, Micros(50), 9).unwrap(), 1);
    assert_eq!(views.lifecycle_prune(TENANT, Micros(50), 9).unwrap(), 0);
    let rows = views.lifecycle_of_event(TENANT, EventId::from_bytes([9; 16])).unwrap();
    assert_eq!(rows.len(), 3);
}

#[test]
fn damaged_runs_are_refused_and_never_panic() {
    let rows = rows();
    let bytes = encode_run(&rows[3], &rows[3..5]).unwrap();
    assert_eq!(decode_run(rows[3].id, &bytes).unwrap(), rows[3..5]);
    for end in 0..bytes.len() {
        let cut = decode_run(rows[3].id, bytes.get(..end).unwrap());
        // A run may end after any of its rows.
        assert!(cut.is_err() || cut.unwrap() == rows[3..4], "cut at {end}");
    }
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xFF] {
            let mut other = bytes.clone();
            other[at] ^= flip;
            drop(decode_run(rows[3].id, &other));
        }
    }
}

#[test]
fn a_cancellation_that_came_after_every_stage_is_kept_as_such() {
    for from in [None, Some(Stage::Captured), Some(Stage::Compressed)] {
        let mut bytes = Vec::new();
        put_payload(&mut bytes, &cancelled(from)).unwrap();
        assert_eq!(payload(&mut Cursor::new(&bytes)), Ok(cancelled(from)));
    }
}

#[test]
fn what_a_model_has_to_do_with_it_survives() {
    let views = empty();
    let revised = Payload::Revised {
        facts: 3,
        entities: 2,
        ungrounded: 1,
        input_tokens: u64::MAX,
        output_tokens: 70,
        cost_micros: 1 << 50,
    };
    let mut rows = vec![row(1, 9, LifecycleKind::Revised, revised)];
    for (at, fault) in ModelFault::ALL.iter().enumerate() {
        let payload = Payload::ModelFailed { fault: *fault, attempts: 5 };
        rows.push(row(2 + at as u8, 9, LifecycleKind::ModelFailed, payload));
    }
    let mut batch = Batch::default();
    views.lifecycle_put(&mut batch, TENANT, &rows).unwrap();
    views.commit(batch).unwrap();
    assert_eq!(views.lifecycle_of_event(TENANT, EventId::from_bytes([9; 16])).unwrap(), rows);
}
