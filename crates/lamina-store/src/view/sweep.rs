//! The sweep that forgets idempotency keys after their day.
//!
//! It walks the entries that made rows, oldest first, a few steps for each entry that is applied.
//! It is counted in entries and never in calls or wall time, and it walks erased entries too, so
//! that a replay sweeps exactly what the live fold swept.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;

use lamina_types::RecordedAt;
use lamina_types::limits::IDEMPOTENCY_TTL_US;

use crate::codec::CodecError;
use crate::kv::{Direction, Kv, Space};
use crate::view::key;
use crate::view::row::Origin;

/// Steps for each applied entry. More than the rows an entry can add, so the sweep catches up.
pub(crate) const STEPS_PER_ENTRY: usize = 4;

/// Whether a key that was used at `recorded_at` is forgotten at `now`.
pub(crate) fn expired(recorded_at: RecordedAt, now: RecordedAt) -> bool {
    recorded_at.0.plus(IDEMPOTENCY_TTL_US) <= now.0
}

/// Where the sweep stands between calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// Entries below this offset are swept.
    pub(crate) cursor: u64,
    /// The age of the oldest entry that is not swept. A memo, so that nothing is read while
    /// nothing is due; `None` if not known.
    pub(crate) oldest: Option<RecordedAt>,
}

/// One run over the entries of one batch.
#[derive(Debug)]
pub(crate) struct Sweep {
    position: Position,
    /// The oldest entries, if anything can be due in this batch.
    window: Option<VecDeque<(u64, Origin)>>,
    /// The window reaches the end of what is stored: entries of this batch follow.
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
        let (from, to) = (key::origin(position.cursor), key::origins_end());
        kv.scan(Space::Events, &from, &to, Direction::Forward, &mut |key, value| {
            let offset = key::origin_offset(key).ok_or(CodecError::Truncated);
            match offset.and_then(|offset| Ok((offset, Origin::decode(value)?))) {
                Ok(row) => window.push_back(row),
                Err(error) => failed = Some(error),
            }
            if window.len() < steps_max && failed.is_none() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        if let Some(error) = failed {
            return Ok(Err(error));
        }
        sweep.complete = window.len() < steps_max;
        sweep.window = Some(window);
        Ok(Ok(sweep))
    }

    /// An entry of this batch made rows.
    pub(crate) fn push(&mut self, offset: u64, origin: Origin) {
        if self.complete
            && let Some(window) = &mut self.window
        {
            window.push_back((offset, origin));
        }
    }

    /// The next entry whose key is forgotten at `now`.
    pub(crate) fn next(&mut self, now: RecordedAt) -> Option<(u64, Origin)> {
        let window = self.window.as_mut()?;
        let (offset, origin) =
            window.pop_front_if(|(_, origin)| expired(origin.recorded_at, now))?;
        self.position.cursor = offset + 1;
        Some((offset, origin))
    }

    /// Where it stands after the batch.
    pub(crate) fn finish(self) -> Position {
        match self.window {
            None => self.position,
            Some(window) => Position {
                cursor: self.position.cursor,
                oldest: window.front().map(|(_, origin)| origin.recorded_at),
            },
        }
    }
}
