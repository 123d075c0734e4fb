//! The sweep that forgets idempotency keys after their day.
//!
//! It walks the events, oldest first, a few steps for each entry that is applied. It is counted in
//! entries and never in calls or wall time, and it walks erased events too, so that a replay sweeps
//! exactly what the live fold swept.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;

use lamina_types::RecordedAt;
use lamina_types::limits::IDEMPOTENCY_TTL_US;

use crate::codec::CodecError;
use crate::kv::{Direction, Kv, Space};
use crate::view::key;
use crate::view::row::EventAt;

/// Steps for each applied entry. More than the events an entry can add, so the sweep catches up.
pub(crate) const STEPS_PER_ENTRY: usize = 4;

/// Whether a key that was used at `recorded_at` is forgotten at `now`.
pub(crate) fn expired(recorded_at: RecordedAt, now: RecordedAt) -> bool {
    recorded_at.0.plus(IDEMPOTENCY_TTL_US) <= now.0
}

/// Where the sweep stands between calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// Events below this offset are swept.
    pub(crate) cursor: u64,
    /// The age of the oldest event that is not swept. A memo, so that nothing is read while
    /// nothing is due; `None` if not known.
    pub(crate) oldest: Option<RecordedAt>,
}

/// An event that the sweep has before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) offset: u64,
    pub(crate) at: EventAt,
    /// Its age, once someone has looked.
    pub(crate) recorded_at: Option<RecordedAt>,
}

/// One run over the entries of one batch.
#[derive(Debug)]
pub(crate) struct Sweep {
    position: Position,
    /// The oldest events, if any can be due in this batch.
    window: Option<VecDeque<Step>>,
    /// The window reaches the end of what is stored: events of this batch follow.
    complete: bool,
}

impl Sweep {
    /// Starts a run that applies `entries` entries, the last of them recorded at `last`.
    pub(crate) fn start(
        kv: &dyn Kv,
        position: Position,
        entries: usize,
        last: RecordedAt,
    ) -> io::Result<Result<Sweep, CodecError>> {
        let mut sweep = Sweep { position, window: None, complete: false };
        if position.oldest.is_some_and(|oldest| !expired(oldest, last)) {
            return Ok(Ok(sweep));
        }
        let steps_max = entries.saturating_mul(STEPS_PER_ENTRY);
        let mut window = VecDeque::new();
        let mut failed = None;
        let mut visit = |key: &[u8], value: &[u8]| {
            match (key::tail_number(key), EventAt::decode(value)) {
                (Some(offset), Ok(at)) => {
                    window.push_back(Step { offset, at, recorded_at: None });
                }
                (None, _) => failed = Some(CodecError::Truncated),
                (_, Err(error)) => failed = Some(error),
            }
            if window.len() < steps_max && failed.is_none() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let (from, to) = (key::event_at(position.cursor), key::events_end());
        kv.scan(Space::Entries, &from, &to, Direction::Forward, &mut visit)?;
        if let Some(error) = failed {
            return Ok(Err(error));
        }
        sweep.complete = window.len() < steps_max;
        sweep.window = Some(window);
        Ok(Ok(sweep))
    }

    /// An entry of this batch is an event.
    pub(crate) fn push(&mut self, offset: u64, at: EventAt, recorded_at: RecordedAt) {
        if self.complete
            && let Some(window) = &mut self.window
        {
            window.push_back(Step { offset, at, recorded_at: Some(recorded_at) });
        }
    }

    /// The oldest event that is not swept, if it can be due.
    pub(crate) fn front(&self) -> Option<Step> {
        self.window.as_ref()?.front().copied()
    }

    /// The oldest event has this age and is not due: nothing is, until it is.
    pub(crate) fn stop_at(&mut self, recorded_at: RecordedAt) {
        if let Some(step) = self.window.as_mut().and_then(VecDeque::front_mut) {
            step.recorded_at = Some(recorded_at);
        }
    }

    /// The oldest event is swept.
    pub(crate) fn pass(&mut self) {
        if let Some(step) = self.window.as_mut().and_then(VecDeque::pop_front) {
            self.position.cursor = step.offset + 1;
        }
    }

    /// Where it stands after the batch.
    pub(crate) fn finish(self) -> Position {
        match self.window {
            None => self.position,
            Some(window) => Position {
                cursor: self.position.cursor,
                oldest: window.front().and_then(|step| step.recorded_at),
            },
        }
    }
}
