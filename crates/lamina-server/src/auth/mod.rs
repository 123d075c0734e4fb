//! Who may call, and how often.

pub mod rate;
