//! Who may do what: tiers of policy in, a permit or a denial out.

mod permit;
mod preset;

pub use permit::{Caller, Denial, Permit, Policy, Tier};
pub use preset::{Preset, PresetError};
