//! Notes of failed stages, so that they are tried again.

use lamina_store::view::{ExceptionRow, ExceptionState};
use lamina_types::Stage;

use super::Flight;

/// Notes that a stage failed, so that a restart takes the event up again.
pub(super) fn failed(
    flight: &mut Flight,
    stage: Stage,
    attempt: u32,
    reason: &str,
) -> ExceptionRow {
    let event = flight.event_id;
    tracing::warn!(%event, stage = stage.as_str(), attempt, reason, "a stage failed");
    flight.excepted = true;
    ExceptionRow {
        tenant: flight.tenant,
        event_id: event,
        offset: flight.offset,
        place: flight.place,
        done: Stage::from_u8(stage as u8 - 1).unwrap_or(Stage::Captured),
        attempts: attempt,
        state: ExceptionState::Pending,
    }
}
