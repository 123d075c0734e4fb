//! Pipeline progress survives a reset and is found one by one and all together.

use super::*;
use crate::view::testing::{TENANT, empty};

#[test]
fn the_watermark_starts_at_zero_and_is_kept_by_a_reset() {
    let views = empty();
    assert_eq!(views.pipeline_watermark().unwrap(), 0);
    let mut batch = Batch::default();
    views.pipeline_watermark_put(&mut batch, 70_000);
    views.commit(batch).unwrap();
    views.reset().unwrap();
    assert_eq!(views.pipeline_watermark().unwrap(), 70_000);
}

#[test]
fn exceptional_events_are_found_one_by_one_and_all_together() {
    let views = empty();
    let states = [
        ExceptionState::Pending,
        ExceptionState::Retry { at: Micros(-7) },
        ExceptionState::Failed,
        ExceptionState::Cancelled,
    ];
    let rows: Vec<ExceptionRow> = states
        .into_iter()
        .enumerate()
        .map(|(n, state)| ExceptionRow {
            tenant: TENANT + n as u32 / 2,
            event_id: EventId::from_bytes([n as u8; 16]),
            offset: 300,
            place: Place(70_000),
            done: Stage::Captured,
            attempts: 4,
            state,
        })
        .collect();
    let mut batch = Batch::default();
    views.pipeline_watermark_put(&mut batch, 1);
    for row in &rows {
        views.exception_put(&mut batch, row);
    }
    views.commit(batch).unwrap();
    for row in &rows {
        let found = views.exception(row.tenant, row.event_id).unwrap();
        assert_eq!(found.as_ref(), Some(row));
    }
    let all = || {
        let mut all = Vec::new();
        views
            .exceptions(&mut |row| {
                all.push(row);
                ControlFlow::Continue(())
            })
            .unwrap();
        all
    };
    assert_eq!(all(), rows);
    let mut batch = Batch::default();
    views.exception_delete(&mut batch, TENANT, rows[0].event_id);
    views.commit(batch).unwrap();
    assert_eq!(all(), rows[1..]);
}
