//! Where episodes begin and end: `on(Input) -> Vec<Action>`, over headers and times only.
//!
//! A thread (a session of a scope, or the scope itself) has at most one open window, which events in
//! order continue, and a few closed ones that still take late events. A window is closed by a gap, a
//! topic shift, its size or an explicit end; it is sealed once nothing came for it during one gap of
//! recorded time, and then never changes. Deadlines fire in (deadline, id) order before the first
//! entry at or after them, so an idle database and a busy one agree.
//!
//! Gaps are measured on both axes: between the times events say they happened, so that an import of
//! years in one minute still has its episodes, and between the times they were recorded, so that
//! an episode ends although nothing more comes.

use std::collections::{BTreeMap, BTreeSet};

use lamina_types::{EpisodeId, EventId, Micros, RecordedAt, ValidAt};

/// The pause that ends an episode, unless a scope says otherwise.
pub const GAP_US: i64 = 30 * 60 * 1_000_000;
/// Events of one episode.
pub const EVENTS_MAX: u32 = 500;
/// Windows of one thread that are not sealed; beyond it the one longest idle is sealed.
pub const UNSEALED_MAX: usize = 8;

/// What a scope asks of its episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The pause that ends an episode.
    pub gap_us: i64,
    /// Events of one episode.
    pub events_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { gap_us: GAP_US, events_max: EVENTS_MAX }
    }
}

/// Events that may follow each other: those of one session, or of a scope without sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thread {
    /// The ordinal of the scope.
    pub scope: u64,
    /// A keyed hash of the session.
    pub session: Option<[u8; 16]>,
}

/// One event, as far as windows see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The event.
    pub event: EventId,
    /// Where it belongs.
    pub thread: Thread,
    /// When it was recorded.
    pub recorded: RecordedAt,
    /// When it happened.
    pub observed: ValidAt,
    /// Whether the extractor found that the topic shifts with it.
    pub shift: bool,
    /// Whether it ends its episode.
    pub ends: bool,
    /// The episode of an event that it names as preceding it.
    pub continues: Option<EpisodeId>,
    /// The id of the episode it opens, if it opens one.
    pub fresh: EpisodeId,
}

/// What can happen to windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// An event came.
    Arrive(Arrival),
    /// The open episode of a thread is over.
    End {
        /// The thread.
        thread: Thread,
        /// When that was recorded.
        at: RecordedAt,
    },
    /// Everything of a thread is over, also for what comes late.
    Seal {
        /// The thread.
        thread: Thread,
        /// When that was recorded.
        at: RecordedAt,
    },
    /// Time passed.
    Tick {
        /// The time.
        now: RecordedAt,
    },
}

/// Why an episode ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Nothing came for too long.
    Gap,
    /// The talk turned to something else.
    TopicShift,
    /// It was full.
    Size,
    /// Somebody said so.
    Explicit,
}

/// What is to be done to episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A new episode.
    Opened {
        /// Its id.
        episode: EpisodeId,
        /// Where.
        thread: Thread,
        /// When that was recorded.
        at: RecordedAt,
        /// The episode whose matter it carries on.
        successor_of: Option<EpisodeId>,
    },
    /// An event belongs to an episode. Exactly one for each arrival.
    Joined {
        /// The episode.
        episode: EpisodeId,
        /// The event.
        event: EventId,
        /// Whether it came after events that happened later.
        late: bool,
    },
    /// Events in order do not continue it any more.
    Closed {
        /// The episode.
        episode: EpisodeId,
        /// When that was recorded.
        at: RecordedAt,
        /// Why.
        why: Ending,
    },
    /// Its events never change again.
    Sealed {
        /// The episode.
        episode: EpisodeId,
        /// When that was recorded.
        at: RecordedAt,
    },
}

/// An episode that is not sealed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its episode.
    pub episode: EpisodeId,
    /// When its first event happened.
    pub first: ValidAt,
    /// When its last event happened.
    pub last: ValidAt,
    /// When an event last came for it.
    pub recorded: RecordedAt,
    /// Its events.
    pub events_count: u32,
    /// Whether events in order continue it.
    pub open: bool,
}

/// All windows that are not sealed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Windows {
    limits: Limits,
    threads: BTreeMap<Thread, Vec<Window>>,
    deadlines: BTreeSet<(RecordedAt, EpisodeId, Thread)>,
}

impl Windows {
    /// No windows yet.
    pub fn new(limits: Limits) -> Windows {
        Windows { limits, ..Windows::default() }
    }

    /// The windows that a view kept.
    pub fn restore(
        limits: Limits,
        rows: impl IntoIterator<Item = (Thread, Vec<Window>)>,
    ) -> Windows {
        let mut windows = Windows::new(limits);
        for (thread, kept) in rows {
            for window in &kept {
                windows.deadlines.insert((windows.deadline(window), window.episode, thread));
            }
            windows.threads.insert(thread, kept);
        }
        windows
    }

    /// What a view keeps: the threads that have windows.
    pub fn rows(&self) -> impl Iterator<Item = (&Thread, &[Window])> {
        self.threads.iter().map(|(thread, windows)| (thread, windows.as_slice()))
    }

    /// The windows of one thread.
    pub fn thread(&self, thread: &Thread) -> &[Window] {
        self.threads.get(thread).map_or(&[], Vec::as_slice)
    }

    /// The first deadline.
    pub fn next_deadline(&self) -> Option<RecordedAt> {
        self.deadlines.first().map(|(at, _, _)| *at)
    }

    /// What follows from an input. Deadlines that are due by its time come first.
    pub fn on(&mut self, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        match input {
            Input::Arrive(arrival) => {
                self.expire(arrival.recorded, &mut actions);
                self.arrive(arrival, &mut actions);
            }
            Input::End { thread, at } => {
                self.expire(at, &mut actions);
                if let Some(open) = self.open(&thread) {
                    self.close(&thread, open.episode, at, Ending::Explicit, &mut actions);
                    self.seal(&thread, open.episode, at, &mut actions);
                }
            }
            Input::Seal { thread, at } => {
                self.expire(at, &mut actions);
                if let Some(open) = self.open(&thread) {
                    self.close(&thread, open.episode, at, Ending::Explicit, &mut actions);
                }
                while let Some(window) = self.thread(&thread).first().copied() {
                    self.seal(&thread, window.episode, at, &mut actions);
                }
            }
            Input::Tick { now } => self.expire(now, &mut actions),
        }
        actions
    }

    fn expire(&mut self, until: RecordedAt, actions: &mut Vec<Action>) {
        while let Some((at, episode, thread)) = self.deadlines.first().copied() {
            if at > until {
                return;
            }
            if self.open(&thread).is_some_and(|open| open.episode == episode) {
                self.close(&thread, episode, at, Ending::Gap, actions);
            }
            self.seal(&thread, episode, at, actions);
        }
    }

    fn arrive(&mut self, arrival: Arrival, actions: &mut Vec<Action>) {
        let Arrival { event, thread, recorded, observed, .. } = arrival;
        let (episode, late) = self.place(&arrival, actions);
        let window = self
            .threads
            .get_mut(&thread)
            .and_then(|windows| windows.iter_mut().find(|window| window.episode == episode))
            .expect("a placed event has a window");
        window.first = window.first.min(observed);
        window.last = window.last.max(observed);
        window.events_count += 1;
        let (before, open) = (window.recorded, window.open);
        window.recorded = recorded;
        self.deadlines.remove(&(after(before, self.limits.gap_us), episode, thread));
        self.deadlines.insert((after(recorded, self.limits.gap_us), episode, thread));
        actions.push(Action::Joined { episode, event, late });
        if arrival.ends && open {
            self.close(&thread, episode, recorded, Ending::Explicit, actions);
            self.seal(&thread, episode, recorded, actions);
        }
    }

    /// The episode an event belongs to, which may have to be opened.
    fn place(&mut self, arrival: &Arrival, actions: &mut Vec<Action>) -> (EpisodeId, bool) {
        let Arrival { thread, recorded, observed, .. } = *arrival;
        let open = self.open(&thread);
        let near = self.nearest(&thread, observed);
        let Some(open) = open else {
            // Only late windows are left, or none: a neighbour takes it, or it begins anew.
            return match near {
                Some(window) => (window.episode, observed < window.last),
                None => (self.begin(arrival, true, arrival.continues, actions), false),
            };
        };
        if observed.0 > open.last.0.plus(self.limits.gap_us) {
            self.close(&thread, open.episode, recorded, Ending::Gap, actions);
            let previous = arrival.continues.or(Some(open.episode));
            let successor_of = previous.filter(|_| !arrival.shift);
            return (self.begin(arrival, true, successor_of, actions), false);
        }
        if observed < open.last {
            // It happened before others that are known: where it belongs, or in an episode of its own
            // that only late events can join. It never ends the one that is open.
            return match near {
                Some(window) => (window.episode, true),
                None => (self.begin(arrival, false, arrival.continues, actions), true),
            };
        }
        if arrival.shift {
            self.close(&thread, open.episode, recorded, Ending::TopicShift, actions);
            return (self.begin(arrival, true, None, actions), false);
        }
        if open.events_count >= self.limits.events_max {
            self.close(&thread, open.episode, recorded, Ending::Size, actions);
            return (self.begin(arrival, true, Some(open.episode), actions), false);
        }
        (open.episode, false)
    }

    /// The window nearest to an instant, among those within one gap that are not full.
    fn nearest(&self, thread: &Thread, observed: ValidAt) -> Option<Window> {
        let Limits { gap_us, events_max } = self.limits;
        self.thread(thread)
            .iter()
            .filter(|window| window.events_count < events_max)
            .map(|window| (distance(window, observed), window))
            .filter(|(distance, _)| *distance <= gap_us)
            // An open window takes what is as near to it as to a closed one.
            .min_by_key(|(distance, window)| (*distance, !window.open, window.episode))
            .map(|(_, window)| *window)
    }

    fn begin(
        &mut self,
        arrival: &Arrival,
        open: bool,
        successor_of: Option<EpisodeId>,
        actions: &mut Vec<Action>,
    ) -> EpisodeId {
        let Arrival { thread, recorded, observed, fresh: episode, .. } = *arrival;
        if self.thread(&thread).len() >= UNSEALED_MAX {
            let idle = self.thread(&thread).iter().filter(|window| !window.open);
            let idle = idle.min_by_key(|window| (window.recorded, window.episode)).copied();
            if let Some(window) = idle {
                self.seal(&thread, window.episode, recorded, actions);
            }
        }
        let window =
            Window { episode, first: observed, last: observed, recorded, events_count: 0, open };
        self.threads.entry(thread).or_default().push(window);
        self.deadlines.insert((self.deadline(&window), episode, thread));
        let successor_of = successor_of.filter(|previous| *previous != episode);
        actions.push(Action::Opened { episode, thread, at: recorded, successor_of });
        episode
    }

    fn open(&self, thread: &Thread) -> Option<Window> {
        self.thread(thread).iter().find(|window| window.open).copied()
    }

    fn close(
        &mut self,
        thread: &Thread,
        episode: EpisodeId,
        at: RecordedAt,
        why: Ending,
        actions: &mut Vec<Action>,
    ) {
        let windows = self.threads.get_mut(thread).into_iter().flatten();
        for window in windows.filter(|window| window.episode == episode) {
            window.open = false;
        }
        actions.push(Action::Closed { episode, at, why });
    }

    fn seal(
        &mut self,
        thread: &Thread,
        episode: EpisodeId,
        at: RecordedAt,
        actions: &mut Vec<Action>,
    ) {
        let Some(windows) = self.threads.get_mut(thread) else { return };
        let Some(index) = windows.iter().position(|window| window.episode == episode) else {
            return;
        };
        let window = windows.remove(index);
        if windows.is_empty() {
            self.threads.remove(thread);
        }
        self.deadlines.remove(&(self.deadline(&window), episode, *thread));
        actions.push(Action::Sealed { episode, at });
    }

    fn deadline(&self, window: &Window) -> RecordedAt {
        after(window.recorded, self.limits.gap_us)
    }
}

fn after(at: RecordedAt, us: i64) -> RecordedAt {
    RecordedAt(at.0.plus(us))
}

/// How far an instant lies outside of a window; zero within.
fn distance(window: &Window, observed: ValidAt) -> i64 {
    let Micros(at) = observed.0;
    let before = window.first.0.0.saturating_sub(at);
    let behind = at.saturating_sub(window.last.0.0);
    before.max(behind).max(0)
}

#[cfg(test)]
mod tests;
