//! How far an event has come, as its rows and the watermark tell it.

use lamina_store::entry::Place;
use lamina_types::Micros;

use super::*;

fn row(kind: LifecycleKind, payload: Payload) -> LifecycleRow {
    LifecycleRow {
        id: LifecycleId::mint(Micros(1), [1; 8]),
        kind,
        event_id: EventId::mint(Micros(1), [2; 8]),
        scope: 1,
        at: Micros(1),
        seq: 1,
        batch_id: None,
        payload,
        event_offset: 1,
        event_place: Place(1),
    }
}

fn stage(stage: Stage) -> LifecycleRow {
    row(LifecycleKind::Stage(stage), Payload::Captured { wal_offset: 1 })
}

/// The watermark stands where the slowest event is; whoever waits for another must not wait for it.
#[test]
fn an_event_is_settled_by_its_own_rows() {
    let mut rows: Vec<LifecycleRow> = Vec::new();
    for done in STAGES {
        assert!(!progress_of(&rows, false, false).settled, "before {done:?}");
        rows.push(stage(*done));
    }
    let progress = progress_of(&rows, false, false);
    assert!(progress.settled && progress.pending.is_empty());
    assert_eq!(progress.completed, STAGES);
    // A stage that was given up on is over as well.
    rows.pop();
    let failed = LifecycleKind::Failed(Stage::Consolidated);
    rows.push(row(failed, Payload::Failed { attempts: 5 }));
    assert!(progress_of(&rows, false, false).settled);
    // Rows are gone after a week; the watermark stays.
    assert!(progress_of(&[], true, false).settled);
}
