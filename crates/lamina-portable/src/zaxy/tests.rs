//! The export contract end to end, on small logs of our own; and, where the directory of interchange
//! fixtures is at hand, on every file of it.

mod contract;
mod fixtures;
mod mutations;
