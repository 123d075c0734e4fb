//! Beliefs: how sure one may be of a claim, given everything that speaks for and against it.
//!
//! A belief is a Beta posterior over "the claim is true". What is stored is the mass of evidence on
//! either side in ten-thousandths, counts and times, all exact; mean, interval, decay and calibration
//! are computed when it is read. `docs/BELIEFS.md` has the formulas.

pub mod beta;
pub mod evidence;
pub mod revise;
pub mod read;
pub mod calibration;
pub mod tension;
pub mod declare;
pub mod ledger;
pub mod build;
pub mod why;

pub use evidence::{Evidence, Heard, Polarity, SupportId, Witness, trust, weigh};
pub use read::{Glance, Hidden, Interval, PartialReason, Shown, Stance, glance, read};
pub use revise::{
    Deletion, Deprecation, Mass, Reason, Revision, Settings, Standing, State, Unshown, Voices,
    again, begin, deprecate, fire, next_deadline, redact, replay, replay_declared, restore, revise,
};

/// What a belief is about, as ordinals and keyed hashes: two claims with one key are one belief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BeliefKey {
    /// The ordinal of the scope.
    pub scope: u64,
    /// The subject.
    pub subject: [u8; 16],
    /// The predicate.
    pub predicate: [u8; 16],
    /// The object.
    pub object: [u8; 16],
}

impl BeliefKey {
    /// Whether both say something of one subject under one predicate: what a newer declaration
    /// closes, and, where only one object can be true, what is in tension.
    pub fn same_question(&self, other: &BeliefKey) -> bool {
        (self.scope, self.subject, self.predicate) == (other.scope, other.subject, other.predicate)
    }
}
