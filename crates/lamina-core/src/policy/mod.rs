//! Who may do what: documents of four tiers in, a permit or a denial out.
//!
//! A [`Document`] is a list of [`Pattern`]s to allow and to deny. A [`Stack`] is what is known about
//! the place a call wants to act in: the documents of the tiers above it and the caller's role
//! there. It answers with a [`Permit`] or with a [`Denial`] that says which tier refused and whom
//! to ask.

mod pattern;
mod period;
mod rate;
mod defaults;
mod document;
mod preset;
mod grant;
mod denial;
mod rules;
mod stack;
mod needs;
mod family;
mod as_system;
mod permit;
mod job;
mod walk;
#[cfg(test)]
mod fixture;

pub use as_system::SystemSpeech;
pub use defaults::{Cascade, CascadeError, Defaults, DefaultsError};
pub use denial::{Denial, DenialCode, Tier};
pub use document::{Document, DocumentError, Effect};
pub use grant::{Caller, Grant, GrantError, Guest, Home};
pub use job::{ALWAYS_FINISHES, Derivation, Derive, JobGrant, Retain};
pub use needs::{
    Write, actor_policy_needs, create_needs, natural_level, others_scope_needs, write_needs,
};
pub use pattern::{Pattern, PatternError};
pub use period::PeriodError;
pub use permit::{Permit, Policy};
pub use preset::{Preset, PresetError};
pub use rate::{Rate, RateError, RatePeriod};
pub use rules::{ADMINISTRATOR_ONLY, OPERATOR_ONLY, is_of};
pub use stack::{Membership, Stack};
pub use walk::Walk;
