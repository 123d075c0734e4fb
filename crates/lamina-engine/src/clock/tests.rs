//! Every rule of the guard in simulated time: what waits, for how long, and what ends it.

use std::path::Path;

use lamina_env::sim::{SimClock, SimDisk, SimRng};
use lamina_store::kv::MemKv;
use lamina_store::log::Log;

use super::*;
use crate::derive::alone::tick;
use crate::open;

const START: Micros = Micros(1_700_000_000_000_000);
const MINUTE: i64 = 60 * 1_000_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const DATA: &str = "/data";
const SYNCHRONIZED: &str = "/run/synchronized";

/// A machine: its disk survives, its clock starts anew.
struct Machine {
    disk: Arc<SimDisk>,
    settings: Settings,
}

/// A log that was opened at some time, and its guard.
struct Running {
    clock: Arc<SimClock>,
    log: Box<dyn Log>,
    writer: Arc<WriterStatus>,
    guard: ClockGuard,
}

impl Machine {
    /// With a log that has entries and ended at [`START`].
    fn new() -> Machine {
        let clock = Arc::new(SimClock::at(START.plus(-HOUR)));
        let settings = Settings {
            ballast_bytes: 0,
            synchronized_file: Some(SYNCHRONIZED.into()),
            ..Settings::new(DATA)
        };
        let machine = Machine { disk: Arc::new(SimDisk::dated_by(Arc::clone(&clock))), settings };
        let mut running = machine.open_with(clock);
        running.clock.advance(HOUR);
        running.write();
        machine
    }

    /// Opens the log with the wall clock at this time.
    fn open(&self, wall: Micros) -> Running {
        self.open_with(Arc::new(SimClock::at(wall)))
    }

    fn open_with(&self, clock: Arc<SimClock>) -> Running {
        self.disk.restart();
        self.disk.set_clock(Arc::clone(&clock));
        let env = Env {
            clock: Arc::clone(&clock) as _,
            rng: Arc::new(SimRng::new(5)),
            disk: Arc::clone(&self.disk) as _,
        };
        let lock = open::lock(&env, Path::new(DATA)).unwrap();
        let kv = Arc::new(MemKv::new());
        let opened = open::open_parts(&self.settings, env.clone(), kv, lock).unwrap();
        let writer = Arc::new(WriterStatus::default());
        let guard = ClockGuard::new(opened.clock, &writer);
        let running = Running { clock, log: opened.log, writer, guard };
        running.publish();
        running
    }

    fn synchronize(&self) {
        self.disk.create_dir_all(Path::new("/run")).unwrap();
        self.disk.create_new(Path::new(SYNCHRONIZED)).unwrap();
    }

    /// Changes the time of the newest file of the log.
    fn date_file(&self, at: Micros) {
        let newest = self
            .disk
            .files()
            .into_iter()
            .rfind(|path| path.extension().is_some_and(|x| x == "seg"));
        self.disk.set_modified(&newest.unwrap(), at).unwrap();
    }
}

impl Running {
    fn publish(&self) {
        self.writer.recorded_last.store(self.log.tip().recorded_at.0.0, Ordering::Release);
    }

    /// Appends an entry and gives its date.
    fn write(&mut self) -> Micros {
        self.log.append(vec![tick()], None).unwrap();
        self.publish();
        self.log.tip().recorded_at.0
    }

    fn deletion(&self) -> DeletionVerdict {
        self.guard.report().deletion
    }

    /// Deletion waits for exactly so long, for this reason, and is allowed then.
    #[track_caller]
    fn waits(&self, us: i64, reason: WaitReason) {
        assert_eq!(self.deletion(), DeletionVerdict::Waits { us, reason });
        self.clock.advance(us - 1);
        assert_eq!(self.deletion(), DeletionVerdict::Waits { us: 1, reason });
        assert!(!self.guard.allows_deletion());
        self.clock.advance(1);
        assert_eq!(self.deletion(), DeletionVerdict::Allowed);
        assert!(self.guard.allows_deletion());
    }

    /// Deletion waits for somebody who vouches for the clock, however long that takes.
    #[track_caller]
    fn doubts(&self, doubt: ClockDoubt) {
        for _ in 0..3 {
            assert_eq!(self.deletion(), DeletionVerdict::Doubted(doubt));
            assert_eq!(self.guard.report().doubt, Some(doubt));
            self.clock.advance(DAY / 4);
        }
    }

    /// Steps the wall clock and lets the ten minutes pass in which a jump is not followed.
    fn jump(&self, us: i64) {
        self.clock.step_wall(us);
        self.guard.report();
        self.clock.advance(10 * MINUTE);
    }
}

#[test]
fn start_waits_ten_minutes() {
    let fresh = Machine { disk: Arc::new(SimDisk::new()), settings: Settings::new(DATA) };
    fresh.open(START).waits(10 * MINUTE, WaitReason::Start);
    Machine::new().open(START.plus(MINUTE)).waits(10 * MINUTE, WaitReason::Start);
    Machine::new().open(START.plus(DAY)).waits(10 * MINUTE, WaitReason::Start);
}

#[test]
fn pause_over_a_day_waits_an_hour() {
    for pause in [DAY + 1, 3 * DAY, 45 * DAY] {
        let running = Machine::new().open(START.plus(pause));
        assert_eq!(running.guard.log_time(), START.plus(pause), "the log follows");
        running.waits(HOUR, WaitReason::Pause);
    }
}

#[test]
fn gap_over_45_days_waits_for_confirmation() {
    for gap in [45 * DAY + 1, 400 * DAY] {
        let mut running = Machine::new().open(START.plus(gap));
        let report = running.guard.report();
        assert_eq!((report.wall, report.recorded), (START.plus(gap), START), "both times are told");
        assert_eq!((report.log_ahead_us, report.voucher), (0, None));
        running.doubts(ClockDoubt::Ahead);
        assert!(running.write() < START.plus(DAY), "the log does not follow");
        running.guard.confirm();
        assert_eq!(running.deletion(), DeletionVerdict::Allowed, "the hour is over");
        assert_eq!(running.guard.report().voucher, Some(ClockVoucher::Operator));
        assert!(running.write() > START.plus(gap));
    }
}

#[test]
fn confirmation_in_the_first_hour_leaves_the_rest_of_it() {
    let running = Machine::new().open(START.plus(400 * DAY));
    running.clock.advance(20 * MINUTE);
    running.guard.confirm();
    running.waits(40 * MINUTE, WaitReason::Pause);
}

#[test]
fn old_file_alone_waits_for_confirmation() {
    let machine = Machine::new();
    machine.date_file(START.plus(-45 * DAY));
    let running = machine.open(START.plus(MINUTE));
    assert_eq!(running.guard.report().modified, Some(START.plus(-45 * DAY)));
    assert_eq!(running.guard.log_time(), START.plus(MINUTE), "the last entry agrees");
    running.doubts(ClockDoubt::Ahead);
    running.guard.confirm();
    assert_eq!(running.deletion(), DeletionVerdict::Allowed);
}

#[test]
fn clock_behind_the_log_waits_for_confirmation() {
    let machine = Machine::new();
    let mut running = machine.open(START.plus(-2 * DAY));
    let report = running.guard.report();
    assert_eq!((report.wall, report.log_ahead_us), (START.plus(-2 * DAY), 2 * DAY));
    running.doubts(ClockDoubt::Behind);
    let written = running.write();
    assert!(written > START && written < START.plus(MINUTE), "entries keep their order");
    running.guard.confirm();
    assert_eq!(running.deletion(), DeletionVerdict::Allowed);
    assert!(running.guard.report().log_ahead_us > DAY, "it is still told");
    running.jump(-2 * HOUR);
    assert_eq!(running.deletion(), DeletionVerdict::Doubted(ClockDoubt::Behind), "it got worse");

    let machine = Machine::new();
    machine.date_file(START.plus(DAY));
    machine.open(START.plus(MINUTE)).doubts(ClockDoubt::Behind);
}

#[test]
fn clock_that_catches_up_with_the_log_is_believed() {
    let running = Machine::new().open(START.plus(-2 * MINUTE));
    assert_eq!(running.deletion(), DeletionVerdict::Doubted(ClockDoubt::Behind));
    running.clock.advance(MINUTE);
    running.waits(9 * MINUTE, WaitReason::Start);
}

#[test]
fn synchronized_system_vouches_for_the_clock() {
    let machine = Machine::new();
    let running = machine.open(START.plus(400 * DAY));
    running.doubts(ClockDoubt::Ahead);
    machine.synchronize();
    assert_eq!(running.deletion(), DeletionVerdict::Allowed);
    assert_eq!(running.guard.report().voucher, Some(ClockVoucher::System));
    let running = machine.open(START.plus(400 * DAY));
    assert_eq!(running.guard.log_time(), START.plus(400 * DAY));
    running.waits(HOUR, WaitReason::Pause);
}

#[test]
fn system_that_is_not_asked_vouches_for_nothing() {
    let machine = Machine::new();
    machine.synchronize();
    let settings = Settings { synchronized_file: None, ..machine.settings.clone() };
    Machine { settings, ..machine }.open(START.plus(400 * DAY)).doubts(ClockDoubt::Ahead);
}

#[test]
fn entry_written_with_a_wrong_clock_does_not_hide_the_gap() {
    let machine = Machine::new();
    for _ in 0..3 {
        let mut running = machine.open(START.plus(400 * DAY));
        running.clock.advance(MINUTE);
        assert!(running.write() <= START.plus(4 * MINUTE));
        running.doubts(ClockDoubt::Ahead);
    }
    let mut right = machine.open(START.plus(HOUR));
    assert_eq!(right.write(), START.plus(HOUR), "nothing is dated into the future");
    assert_eq!(right.guard.report().doubt, Some(ClockDoubt::Behind), "the file is from the future");
    let right = machine.open(START.plus(2 * HOUR));
    right.waits(10 * MINUTE, WaitReason::Start);
}

#[test]
fn long_jump_at_run_time_counts_like_one_at_the_start() {
    let mut running = Machine::new().open(START.plus(MINUTE));
    running.clock.advance(DAY);
    assert_eq!(running.deletion(), DeletionVerdict::Allowed);
    running.jump(2 * HOUR);
    assert_eq!(running.deletion(), DeletionVerdict::Allowed, "less than a day");
    running.jump(3 * DAY);
    running.waits(HOUR, WaitReason::Jump);
    let before = running.guard.log_time();
    running.jump(400 * DAY);
    running.doubts(ClockDoubt::Ahead);
    assert!(running.write() < before.plus(DAY));
    running.jump(-400 * DAY);
    running.waits(HOUR, WaitReason::Jump);
}

#[test]
fn server_that_ran_without_writes_needs_no_confirmation() {
    let running = Machine::new().open(START.plus(MINUTE));
    running.clock.advance(300 * DAY);
    assert_eq!(running.deletion(), DeletionVerdict::Allowed);
    assert_eq!(running.guard.report().doubt, None);
}
