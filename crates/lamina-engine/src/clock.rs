//! The clock guard: decides whether anything may be deleted because of its age.
//!
//! A deletion that nobody asks for needs a clock that somebody believes. The guard compares the wall clock
//! with the log when it is opened, follows jumps of the clock after that, and answers one question:
//! may retention, expiry and the release of keys go on now? Requests of people are not asked.
//!
//! | what is found | what waits |
//! |---|---|
//! | nothing | ten minutes after the start |
//! | a pause or a jump of more than a day | an hour |
//! | a clock 45 days ahead of the log, or behind it | until an operator or the system vouches for it |

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lamina_core::clock::ClockWitness;
use lamina_core::policy::Permit;
use lamina_env::{Clock as _, Disk, Env, SteadyClock};
use lamina_store::entry::{DEPLOYMENT, Kind, SYSTEM_SCOPE, control};
use lamina_store::log::{NewEntry, Section};
use lamina_types::Micros;
use lamina_types::capability::AdminCompact;
use lamina_types::limits::{CLOCK_GAP_US_MAX, CLOCK_PAUSE_US_MAX, CLOCK_SKEW_US_MAX};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::derive::misdated::MisdatedSpans;
use crate::write::capture::Request;
use crate::write::writer::WriterStatus;
use crate::{Engine, Error, Settings};

/// No automatic deletion for so long after a start.
const AFTER_START_US: i64 = 10 * 60 * 1_000_000;
/// No automatic deletion for so long after a pause or a jump.
const AFTER_PAUSE_US: i64 = 3_600 * 1_000_000;

/// Why nobody believes the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockDoubt {
    /// It is more than 45 days ahead of the log.
    Ahead,
    /// It is behind the log.
    Behind,
}

/// Who vouched for a clock that was in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockVoucher {
    /// An operator confirmed it.
    Operator,
    /// The system reported it as synchronized.
    System,
}

/// Why automatic deletion waits although nobody doubts the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitReason {
    /// The server has just started.
    Start,
    /// The server was off for more than a day.
    Pause,
    /// The clock jumped by more than a day.
    Jump,
}

/// Whether anything may be deleted because of its age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionVerdict {
    /// It may.
    Allowed,
    /// Not before so many microseconds have passed.
    Waits {
        /// Microseconds from now.
        us: i64,
        /// Why.
        reason: WaitReason,
    },
    /// Not before somebody vouches for the clock.
    Doubted(ClockDoubt),
}

/// How the clock stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockReport {
    /// The machine's time.
    pub wall: Micros,
    /// The date that an entry gets which is appended now.
    pub log: Micros,
    /// When the last entry was recorded.
    pub recorded: Micros,
    /// When the newest file of the log had been written, before it was opened.
    pub modified: Option<Micros>,
    /// How far the last entry is ahead of the machine's time; 0 if it is not.
    pub log_ahead_us: i64,
    /// Why nobody believes the clock.
    pub doubt: Option<ClockDoubt>,
    /// Who vouched for it last.
    pub voucher: Option<ClockVoucher>,
    /// Whether anything may be deleted because of its age.
    pub deletion: DeletionVerdict,
}

/// A clock as the log was opened with it.
#[derive(Debug)]
pub(crate) struct OpenedClock {
    clock: Arc<SteadyClock>,
    witness: ClockWitness,
    sync: SyncSource,
}

impl OpenedClock {
    /// Compares the clock with a log that was just opened. From a clock that is too far ahead the log does not take
    /// its time, unless the system vouches for it.
    pub(crate) fn compare(
        clock: Arc<SteadyClock>,
        witness: ClockWitness,
        sync: SyncSource,
    ) -> OpenedClock {
        if let Some(recorded) = witness.recorded
            && !sync.is_synchronized()
        {
            clock.distrust(recorded);
        }
        OpenedClock { clock, witness, sync }
    }
}

/// Where the system says that its clock is synchronized.
#[derive(Debug, Clone)]
pub(crate) struct SyncSource {
    disk: Arc<dyn Disk>,
    file: Option<PathBuf>,
}

impl SyncSource {
    pub(crate) fn new(disk: &Arc<dyn Disk>, settings: &Settings) -> SyncSource {
        SyncSource { disk: Arc::clone(disk), file: settings.synchronized_file.clone() }
    }

    fn is_synchronized(&self) -> bool {
        self.file.as_ref().is_some_and(|file| self.disk.exists(file))
    }
}

/// Says whether anything may be deleted because of its age.
#[derive(Debug)]
pub(crate) struct ClockGuard {
    clock: Arc<SteadyClock>,
    sync: SyncSource,
    writer: Arc<WriterStatus>,
    /// The monotonic time of the start.
    opened: Micros,
    modified: Option<Micros>,
    state: Mutex<GuardState>,
}

#[derive(Debug)]
struct GuardState {
    /// Until then (monotonic) deletion waits.
    waits_until: Micros,
    reason: WaitReason,
    /// The last jump of the clock that was looked at.
    jump: u64,
    /// The clock may be this far ahead of the newest file.
    gap_us_max: i64,
    /// The clock may be this far behind the log.
    behind_us_max: i64,
    voucher: Option<ClockVoucher>,
}

/// One comparison of the clock with the log.
struct Comparison {
    machine: Micros,
    recorded: Micros,
    file_gap_us: i64,
    behind_us: i64,
}

impl ClockGuard {
    pub(crate) fn new(opened: OpenedClock, writer: &Arc<WriterStatus>) -> ClockGuard {
        let OpenedClock { clock, witness, sync } = opened;
        let started = clock.monotonic();
        let (wait_us, reason) = match witness.gap_us() > CLOCK_PAUSE_US_MAX {
            true => (AFTER_PAUSE_US, WaitReason::Pause),
            false => (AFTER_START_US, WaitReason::Start),
        };
        ClockGuard {
            sync,
            writer: Arc::clone(writer),
            opened: started,
            modified: witness.modified,
            state: Mutex::new(GuardState {
                waits_until: started.plus(wait_us),
                reason,
                jump: 0,
                gap_us_max: CLOCK_GAP_US_MAX,
                behind_us_max: CLOCK_SKEW_US_MAX,
                voucher: None,
            }),
            clock,
        }
    }

    /// Beside a log that somebody else opened, or none: there is nothing to compare the clock with.
    pub(crate) fn alone(env: &Env, settings: &Settings, writer: &Arc<WriterStatus>) -> ClockGuard {
        let clock = Arc::new(SteadyClock::new(Arc::clone(&env.clock)));
        let witness = ClockWitness { wall: clock.machine(), recorded: None, modified: None };
        let sync = SyncSource::new(&env.disk, settings);
        ClockGuard::new(OpenedClock { clock, witness, sync }, writer)
    }

    /// Whether anything may be deleted because of its age.
    pub(crate) fn allows_deletion(&self) -> bool {
        self.report().deletion == DeletionVerdict::Allowed
    }

    /// The clock that dates what is stored.
    pub(crate) fn steady(&self) -> Arc<SteadyClock> {
        Arc::clone(&self.clock)
    }

    /// The machine's time.
    pub(crate) fn machine(&self) -> Micros {
        self.clock.machine()
    }

    /// The date that an entry gets which is appended now.
    pub(crate) fn log_time(&self) -> Micros {
        self.clock.wall().max(self.recorded())
    }

    /// An operator vouches for the clock as it is.
    pub(crate) fn confirm(&self) {
        let mut state = self.state.lock();
        let there = self.compare();
        self.vouch(&mut state, &there, ClockVoucher::Operator);
    }

    /// How the clock stands now.
    pub(crate) fn report(&self) -> ClockReport {
        let mut state = self.state.lock();
        let there = self.compare();
        self.note_jump(&mut state);
        let mut doubt = self.doubt(&state, &there);
        if doubt.is_some() && self.sync.is_synchronized() {
            self.vouch(&mut state, &there, ClockVoucher::System);
            doubt = None;
        }
        let us = state.waits_until.0.saturating_sub(self.clock.monotonic().0);
        let deletion = match doubt {
            Some(doubt) => DeletionVerdict::Doubted(doubt),
            None if us > 0 => DeletionVerdict::Waits { us, reason: state.reason },
            None => DeletionVerdict::Allowed,
        };
        ClockReport {
            wall: there.machine,
            log: self.log_time(),
            recorded: there.recorded,
            modified: self.modified,
            log_ahead_us: there.recorded.0.saturating_sub(there.machine.0).max(0),
            doubt,
            voucher: state.voucher,
            deletion,
        }
    }

    fn recorded(&self) -> Micros {
        Micros(self.writer.recorded_last.load(Ordering::Acquire))
    }

    fn compare(&self) -> Comparison {
        let (machine, recorded) = (self.clock.machine(), self.recorded());
        let latest = self.modified.map_or(recorded, |modified| modified.max(recorded));
        // Time that passed while the server ran is no gap.
        let ran_us = self.clock.monotonic().0.saturating_sub(self.opened.0);
        let gap = |at: Micros| machine.0.saturating_sub(at.0).saturating_sub(ran_us);
        Comparison {
            machine,
            recorded,
            file_gap_us: self.modified.map_or(0, gap),
            behind_us: latest.0.saturating_sub(machine.0),
        }
    }

    fn doubt(&self, state: &GuardState, there: &Comparison) -> Option<ClockDoubt> {
        if self.clock.is_distrusted() || there.file_gap_us > state.gap_us_max {
            Some(ClockDoubt::Ahead)
        } else if there.behind_us > state.behind_us_max {
            Some(ClockDoubt::Behind)
        } else {
            None
        }
    }

    /// Nobody doubts the clock from now on, unless it gets worse.
    fn vouch(&self, state: &mut GuardState, there: &Comparison, voucher: ClockVoucher) {
        self.clock.trust();
        state.gap_us_max =
            CLOCK_GAP_US_MAX.max(there.file_gap_us.saturating_add(CLOCK_SKEW_US_MAX));
        state.behind_us_max =
            CLOCK_SKEW_US_MAX.max(there.behind_us.saturating_add(CLOCK_SKEW_US_MAX));
        state.voucher = Some(voucher);
    }

    /// After a long jump deletion waits as after a pause.
    fn note_jump(&self, state: &mut GuardState) {
        let Some(jump) = self.clock.last_jump().filter(|jump| jump.number > state.jump) else {
            return;
        };
        state.jump = jump.number;
        if jump.size_us() > CLOCK_PAUSE_US_MAX.unsigned_abs() {
            state.waits_until = state.waits_until.max(jump.followed.plus(AFTER_PAUSE_US));
            state.reason = WaitReason::Jump;
        }
    }
}

impl Engine {
    /// How the clock stands.
    pub fn clock(&self) -> ClockReport {
        self.inner.guard.report()
    }

    /// Takes an operator's word that the machine's clock is right. The log follows it from now on.
    pub async fn clock_confirm(
        &self,
        _permit: &Permit<AdminCompact>,
    ) -> Result<ClockReport, Error> {
        self.inner.guard.confirm();
        self.inner.admin.retention.wake.notify_one();
        self.clock_mark().await?;
        Ok(self.clock())
    }

    /// Marks in the log where it stops following the machine's clock, and where it follows it again. To be called
    /// before the first write and from time to time: events between two marks count as younger than their dates.
    pub async fn clock_mark(&self) -> Result<(), Error> {
        self.inner.caught_up().await;
        let marked =
            self.blocking(|inner| Ok(MisdatedSpans::read(&inner.views)?.is_open())).await?;
        self.clock();
        let sub = match (self.inner.guard.clock.is_distrusted(), marked) {
            (true, false) => control::CLOCK_DOUBTED,
            (false, true) => control::CLOCK_TRUSTED,
            (true, true) | (false, false) => return Ok(()),
        };
        let entry = NewEntry {
            kind: Kind::Control,
            sub,
            tenant: DEPLOYMENT,
            scope: SYSTEM_SCOPE,
            causes: Vec::new(),
            who: Section::absent(),
            what: Section::absent(),
        };
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::Control { entry: Box::new(entry), reply }, answer).await
    }
}

#[cfg(test)]
mod tests;
