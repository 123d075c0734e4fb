//! From a request to its caller: bearer tokens, the keys they are checked with, who is an operator,
//! and how often each may call.

mod freshness;
mod fetch;
mod remote;
mod trust;
mod guesses;
pub(crate) mod narrow;
pub(crate) mod minting;
pub(crate) mod gate;
pub(crate) mod bound;
pub mod rate;

pub use fetch::Source;
pub use gate::Gate;
pub use trust::{Trust, TrustError};
