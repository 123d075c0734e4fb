//! Episodes: stretches of events that belong together.
//!
//! Where one ends is decided in two places. Whether the topic shifted is read from words, so the
//! extractor decides it and the log keeps the verdict (`topics`); everything else is a state machine
//! over headers and times (`window`), which replays to the same boundaries. Names and summaries are
//! made when an episode is read, because words live in the log only (`words`).

pub mod topics;
pub mod window;
pub mod chain;
pub mod words;

pub use chain::{Role, Step, centrality, chain};
pub use topics::{Arriving, Topics};
pub use window::{Action, Arrival, Ending, Input, Limits, Thread, Window, Windows};
