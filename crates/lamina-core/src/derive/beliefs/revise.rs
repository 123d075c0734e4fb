//! When a belief changes what it shows, and when it ends: exact, and a function of recorded times.
//!
//! Every piece of evidence is taken at once; it is *shown* only when the revision policy lets it:
//! enough new mass, not too soon, not too often. What may not be shown yet has a deadline, and
//! deadlines fire before the first entry at or after them, at their own time, so that a replay
//! revises at the same instants as the first run. Withdrawn evidence is the exception to all of it:
//! the survivors are replayed as if it had never been said.

use std::collections::BTreeMap;

use lamina_types::layer::Confidence;
use lamina_types::{EpisodeId, RecordedAt, ValidAt};

use super::evidence::{Evidence, Heard, Polarity, UNIT, weigh};

/// Revisions within this long count against the budget.
const BUDGET_WINDOW_US: i64 = 3_600 * 1_000_000;
/// The largest hourly budget that can be set: so many times are kept per belief.
pub const REVISIONS_PER_HOUR_MAX: u32 = 60;

/// What a tenant, a scope or a belief asks of revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// New mass, as a share of the mass shown, below which nothing is revised.
    pub min_evidence_delta: Confidence,
    /// The pause between two revisions.
    pub cooldown_us: i64,
    /// Revisions within any hour.
    pub revisions_per_hour_max: u32,
    /// Confidence below which a belief is deleted.
    pub floor: Confidence,
    /// What remains of the confidence when all evidence is redacted.
    pub redaction_factor: Confidence,
    /// How long it takes until unconfirmed evidence counts half; none: for ever.
    pub half_life_us: Option<i64>,
    /// The level of the credible interval.
    pub level: Confidence,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            min_evidence_delta: Confidence::new(500),
            cooldown_us: 5 * 60 * 1_000_000,
            revisions_per_hour_max: 12,
            floor: Confidence::new(3_000),
            redaction_factor: Confidence::new(5_000),
            half_life_us: Some(180 * 24 * 3_600 * 1_000_000),
            level: Confidence::new(9_000),
        }
    }
}

/// Evidence on either side, in ten-thousandths of one full piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mass {
    /// For the claim.
    pub supports: u64,
    /// Against the claim.
    pub against: u64,
}

impl Mass {
    /// What is assumed of a claim before anybody spoke: one piece on either side.
    pub const UNIFORM: Mass = Mass { supports: UNIT, against: UNIT };

    /// Both sides together.
    pub fn total(self) -> u64 {
        self.supports.saturating_add(self.against)
    }

    /// Side by side.
    pub fn plus(self, other: Mass) -> Mass {
        Mass {
            supports: self.supports.saturating_add(other.supports),
            against: self.against.saturating_add(other.against),
        }
    }

    fn add(&mut self, polarity: Polarity, weight: u64) {
        let side = match polarity {
            Polarity::Supports => &mut self.supports,
            Polarity::Against => &mut self.against,
        };
        *side = side.saturating_add(weight);
    }
}

/// Why a belief was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deletion {
    /// Its confidence fell below the floor.
    BelowFloor,
    /// All its evidence was told to live only so long.
    Expired,
    /// All its evidence was withdrawn.
    Unsupported,
}

/// Why a belief is kept for the past only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deprecation {
    /// Its predicate means something else now.
    Vocabulary,
    /// Its subject is not who it was taken for.
    Identity,
    /// A newer declaration answers the same question.
    Replaced,
    /// What it stood on does not count any more: it was read again and says something else, or it is about somebody
    /// else.
    ReadAgain,
    /// A conflict was decided against it.
    Decided,
}

/// Whether it is still held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Held,
    /// Kept for questions about the past.
    Deprecated {
        /// Since when.
        at: RecordedAt,
        /// Why.
        why: Deprecation,
    },
    /// Gone.
    Deleted {
        /// Since when.
        at: RecordedAt,
        /// Why.
        why: Deletion,
    },
}

/// Everything that is stored of a belief: constant in size, whatever it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// What was assumed before the first evidence.
    pub prior: Mass,
    /// All evidence that was taken.
    pub known: Mass,
    /// The part of it that is shown.
    pub shown: Mass,
    /// Pieces of evidence for the claim.
    pub supports_count: u32,
    /// Pieces of evidence against it.
    pub against_count: u32,
    /// Pieces of either kind whose words are gone.
    pub redacted_count: u32,
    /// When the belief came to be.
    pub created: RecordedAt,
    /// When it last changed what it shows.
    pub last_revised: RecordedAt,
    /// When evidence last came.
    pub last_evidence: RecordedAt,
    /// Revisions since it came to be.
    pub revision_count: u32,
    /// The times of the latest revisions, oldest first, as many as the budget needs.
    pub recent: Vec<RecordedAt>,
    /// When evidence that may not be shown yet will be.
    pub due: Option<RecordedAt>,
    /// The earliest time any supporting evidence says it holds from.
    pub valid_from: ValidAt,
    /// When the last of its evidence expires; none if some of it never does.
    pub expires: Option<RecordedAt>,
    /// Whether it is still held.
    pub standing: Standing,
}

/// Why evidence was taken but is not shown yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unshown {
    /// Too little to matter.
    BelowDelta,
    /// The last revision is too recent.
    Cooldown,
    /// The hour's revisions are used up.
    Budget,
}

/// What happened to a belief, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It came to be.
    Created,
    /// New evidence is shown.
    NewEvidence,
    /// Evidence that had to wait is shown.
    Due,
    /// Evidence was taken and is not shown yet.
    Unshown(Unshown),
    /// The words of a piece of evidence are gone.
    Redacted,
    /// It is kept for the past only.
    Deprecated(Deprecation),
    /// Its predicate means what it did, and it is held again.
    Returned,
    /// It is gone.
    Deleted(Deletion),
    /// It was not held any more; nothing changed.
    NotHeld,
}

/// One step in the life of a belief.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revision {
    /// When, on the knowledge axis. For a deadline: the deadline itself.
    pub at: RecordedAt,
    /// What happened.
    pub reason: Reason,
    /// What was shown before, prior included.
    pub before: Mass,
    /// What is shown from now on, prior included.
    pub after: Mass,
}

/// A new belief, from its first piece of evidence.
pub fn begin(settings: &Settings, evidence: &Evidence) -> (State, Revision) {
    let at = evidence.recorded;
    let mut state = State {
        prior: Mass::UNIFORM,
        known: Mass::default(),
        shown: Mass::default(),
        supports_count: 0,
        against_count: 0,
        redacted_count: 0,
        created: at,
        last_revised: at,
        last_evidence: at,
        revision_count: 0,
        recent: Vec::new(),
        due: None,
        valid_from: evidence.valid_from,
        expires: evidence.expires,
        standing: Standing::Held,
    };
    state.take(evidence, weigh(evidence.confidence, evidence.trust, Heard::default()));
    state.shown = state.known;
    let mut revision =
        Revision { at, reason: Reason::Created, before: state.prior, after: state.visible() };
    state.check_floor(settings, &mut revision);
    (state, revision)
}

/// Takes one more piece of evidence. Deadlines that are due by then fire first.
pub fn revise(
    mut state: State,
    settings: &Settings,
    evidence: &Evidence,
    heard: Heard,
) -> (State, Vec<Revision>) {
    let at = evidence.recorded;
    let mut steps = Vec::new();
    while let Some(step) = fire(&mut state, settings, at) {
        steps.push(step);
    }
    let before = state.visible();
    if state.standing != Standing::Held {
        steps.push(Revision { at, reason: Reason::NotHeld, before, after: before });
        return (state, steps);
    }
    state.take(evidence, weigh(evidence.confidence, evidence.trust, heard));
    let reason = match state.unshown(settings, at) {
        Some(why) => {
            // The wait ends at the same instant however much more comes until then.
            if why != Unshown::BelowDelta && state.due.is_none() {
                state.due = Some(state.earliest(settings));
            }
            Reason::Unshown(why)
        }
        None => {
            state.show(settings, at);
            Reason::NewEvidence
        }
    };
    let mut revision = Revision { at, reason, before, after: state.visible() };
    if reason == Reason::NewEvidence {
        state.check_floor(settings, &mut revision);
    }
    steps.push(revision);
    (state, steps)
}

/// A belief that the floor deleted, and one more piece: another belief, from everything that is known.
/// Nothing of it was shown, so nothing has to wait.
pub fn again(
    mut state: State,
    settings: &Settings,
    evidence: &Evidence,
    heard: Heard,
) -> (State, Revision) {
    let at = evidence.recorded;
    let before = state.prior;
    state.take(evidence, weigh(evidence.confidence, evidence.trust, heard));
    state.shown = state.known;
    state.standing = Standing::Held;
    (state.created, state.last_revised) = (at, at);
    (state.revision_count, state.due) = (0, None);
    state.recent.clear();
    let mut revision = Revision { at, reason: Reason::Created, before, after: state.visible() };
    state.check_floor(settings, &mut revision);
    (state, revision)
}

/// The first deadline of a belief: a revision that had to wait, or its end.
pub fn next_deadline(state: &State) -> Option<RecordedAt> {
    if state.standing != Standing::Held {
        return None;
    }
    match (state.due, state.expires) {
        (Some(due), Some(expires)) => Some(due.min(expires)),
        (due, expires) => due.or(expires),
    }
}

/// Fires the first deadline at or before `until`, if there is one.
pub fn fire(state: &mut State, settings: &Settings, until: RecordedAt) -> Option<Revision> {
    let at = next_deadline(state).filter(|deadline| *deadline <= until)?;
    let before = state.visible();
    if state.expires == Some(at) {
        state.end(at, Deletion::Expired);
        let reason = Reason::Deleted(Deletion::Expired);
        return Some(Revision { at, reason, before, after: before });
    }
    state.show(settings, at);
    let mut revision = Revision { at, reason: Reason::Due, before, after: state.visible() };
    state.check_floor(settings, &mut revision);
    Some(revision)
}

/// The words of so many pieces of evidence are gone; the pieces still count. When no words are
/// left at all, the belief is only a shadow of itself, and may fall below the floor.
pub fn redact(state: &mut State, settings: &Settings, pieces: u32, at: RecordedAt) -> Revision {
    let before = state.visible();
    if state.standing != Standing::Held {
        return Revision { at, reason: Reason::NotHeld, before, after: before };
    }
    state.redacted_count = state.redacted_count.saturating_add(pieces).min(state.pieces());
    let mut revision = Revision { at, reason: Reason::Redacted, before, after: before };
    state.check_floor(settings, &mut revision);
    revision
}

/// Keeps the belief for questions about the past only.
pub fn deprecate(state: &mut State, why: Deprecation, at: RecordedAt) -> Revision {
    let before = state.visible();
    if state.standing != Standing::Held {
        return Revision { at, reason: Reason::NotHeld, before, after: before };
    }
    state.standing = Standing::Deprecated { at, why };
    state.due = None;
    Revision { at, reason: Reason::Deprecated(why), before, after: before }
}

/// Holds a belief again whose vocabulary has its predicate again; nothing if it was given up for another
/// reason. What was not shown yet is shown, and one whose time has passed meanwhile is gone.
pub fn restore(state: &mut State, settings: &Settings, at: RecordedAt) -> Option<Revision> {
    let why = Deprecation::Vocabulary;
    if !matches!(state.standing, Standing::Deprecated { why: known, .. } if known == why) {
        return None;
    }
    let before = state.visible();
    state.standing = Standing::Held;
    if state.expires.is_some_and(|expires| expires <= at) {
        state.end(at, Deletion::Expired);
        let reason = Reason::Deleted(Deletion::Expired);
        return Some(Revision { at, reason, before, after: before });
    }
    state.show(settings, at);
    let mut revision = Revision { at, reason: Reason::Returned, before, after: state.visible() };
    state.check_floor(settings, &mut revision);
    Some(revision)
}

/// A belief as it is at `until`, from all of its evidence in the order it was recorded: what
/// remains after a withdrawal, and the oracle of the incremental way. None without evidence.
pub fn replay(
    settings: &Settings,
    evidence: &[Evidence],
    until: RecordedAt,
) -> Option<(State, Vec<Revision>)> {
    let (first, rest) = evidence.split_first()?;
    let mut voices = Voices::default();
    voices.hear(first);
    let (state, created) = begin(settings, first);
    let mut steps = vec![created];
    let state = take_all(state, settings, (&mut voices, rest), until, &mut steps);
    Some((state, steps))
}

/// The same for a belief that was declared: its evidence comes on top of the declaration.
pub fn replay_declared(
    declared: State,
    settings: &Settings,
    evidence: &[Evidence],
    until: RecordedAt,
) -> (State, Vec<Revision>) {
    let mut steps = Vec::new();
    let heard = (&mut Voices::default(), evidence);
    let state = take_all(declared, settings, heard, until, &mut steps);
    (state, steps)
}

fn take_all(
    mut state: State,
    settings: &Settings,
    (voices, evidence): (&mut Voices, &[Evidence]),
    until: RecordedAt,
    steps: &mut Vec<Revision>,
) -> State {
    for piece in evidence {
        let heard = voices.hear(piece);
        let (next, more) = revise(state, settings, piece, heard);
        state = next;
        steps.extend(more);
    }
    while let Some(step) = fire(&mut state, settings, until) {
        steps.push(step);
    }
    state
}

/// How often each voice was heard: per actor and side, statements by episode. A store answers the
/// same question from two counters.
#[derive(Debug, Default)]
pub struct Voices(BTreeMap<([u8; 16], Polarity), BTreeMap<Option<EpisodeId>, u32>>);

impl Voices {
    /// How often this voice was heard before.
    pub fn heard(&self, piece: &Evidence) -> Heard {
        let Some(episodes) = self.0.get(&(piece.witness.actor, piece.polarity)) else {
            return Heard::default();
        };
        let known = u32::try_from(episodes.len()).unwrap_or(u32::MAX);
        let here = episodes.get(&piece.witness.episode).copied().unwrap_or(0);
        Heard { here, elsewhere: known - u32::from(here > 0) }
    }

    /// How often this voice was heard before this piece, which is heard now.
    pub fn hear(&mut self, piece: &Evidence) -> Heard {
        let heard = self.heard(piece);
        let episodes = self.0.entry((piece.witness.actor, piece.polarity)).or_default();
        let here = episodes.entry(piece.witness.episode).or_insert(0);
        *here = here.saturating_add(1);
        heard
    }
}

impl State {
    /// What is shown, prior included: the parameters of the posterior.
    pub fn visible(&self) -> Mass {
        self.prior.plus(self.shown)
    }

    /// All pieces of evidence.
    pub fn pieces(&self) -> u32 {
        self.supports_count.saturating_add(self.against_count)
    }

    /// Whether no words are left under the belief.
    pub fn all_redacted(&self) -> bool {
        self.redacted_count > 0 && self.redacted_count >= self.pieces()
    }

    fn take(&mut self, evidence: &Evidence, weight: u64) {
        self.known.add(evidence.polarity, weight);
        self.last_evidence = evidence.recorded;
        match evidence.polarity {
            Polarity::Supports => {
                self.supports_count = self.supports_count.saturating_add(1);
                self.valid_from = self.valid_from.min(evidence.valid_from);
            }
            Polarity::Against => self.against_count = self.against_count.saturating_add(1),
        }
        // A belief lives as long as anything that speaks about it.
        self.expires = match (self.expires, evidence.expires) {
            (Some(mine), Some(new)) => Some(mine.max(new)),
            _ => None,
        };
    }

    /// Why the known evidence may not be shown at `at`; none if it may.
    fn unshown(&self, settings: &Settings, at: RecordedAt) -> Option<Unshown> {
        let shown = u128::from(self.visible().total());
        let new = u128::from(self.known.total()) - u128::from(self.shown.total());
        let delta = u128::from(settings.min_evidence_delta.get());
        if new == 0 || new * u128::from(UNIT) < delta * shown {
            return Some(Unshown::BelowDelta);
        }
        if at.0 < self.last_revised.0.plus(settings.cooldown_us) {
            return Some(Unshown::Cooldown);
        }
        self.budget_ends(settings).filter(|end| at < *end).map(|_| Unshown::Budget)
    }

    /// The earliest time that the policy allows a revision.
    fn earliest(&self, settings: &Settings) -> RecordedAt {
        let cooled = RecordedAt(self.last_revised.0.plus(settings.cooldown_us));
        self.budget_ends(settings).map_or(cooled, |end| end.max(cooled))
    }

    /// When the hourly budget allows one more revision, if it is used up.
    fn budget_ends(&self, settings: &Settings) -> Option<RecordedAt> {
        let budget = settings.revisions_per_hour_max.clamp(1, REVISIONS_PER_HOUR_MAX) as usize;
        let first = self.recent.len().checked_sub(budget)?;
        self.recent.get(first).map(|at| RecordedAt(at.0.plus(BUDGET_WINDOW_US)))
    }

    fn show(&mut self, settings: &Settings, at: RecordedAt) {
        self.shown = self.known;
        self.last_revised = at;
        self.revision_count = self.revision_count.saturating_add(1);
        self.due = None;
        self.recent.push(at);
        let budget = settings.revisions_per_hour_max.clamp(1, REVISIONS_PER_HOUR_MAX) as usize;
        let surplus = self.recent.len().saturating_sub(budget);
        self.recent.drain(..surplus);
    }

    fn end(&mut self, at: RecordedAt, why: Deletion) {
        self.standing = Standing::Deleted { at, why };
        self.due = None;
        // What the floor took still ends when it was told to.
        if why != Deletion::BelowFloor {
            self.expires = None;
        }
    }

    fn check_floor(&mut self, settings: &Settings, revision: &mut Revision) {
        if self.below_floor(settings) {
            self.end(revision.at, Deletion::BelowFloor);
            revision.reason = Reason::Deleted(Deletion::BelowFloor);
        }
    }

    /// Exact: no float decides whether a record exists.
    fn below_floor(&self, settings: &Settings) -> bool {
        let mass = self.visible();
        let (total, supports) = (u128::from(mass.total()), u128::from(mass.supports));
        // Confidence measures the stance: how sure one may be that the claim is overturned, if it is.
        let sure = if is_contradicted(mass) { total - supports } else { supports };
        let factor = if self.all_redacted() { settings.redaction_factor } else { Confidence::FULL };
        sure * u128::from(factor.get()) < total * u128::from(settings.floor.get())
    }
}

/// At most four tenths speak for it.
pub(crate) fn is_contradicted(mass: Mass) -> bool {
    u128::from(mass.supports) * 10 <= u128::from(mass.total()) * 4
}

#[cfg(test)]
mod tests;
