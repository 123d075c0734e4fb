//! The small helpers we refuse to import.

pub mod hex;
pub mod quick;
