//! From a request to its caller: bearer tokens, the keys they are checked with, who is an operator,
//! and how often each may call.

mod gate;
pub mod rate;
mod trust;

pub use gate::Gate;
pub use trust::{Trust, TrustError};
