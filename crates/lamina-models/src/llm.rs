//! The optional extractor: a language model behind one of three protocols.
//!
//! A model is a stranger. It is shown the words of events as data, and what it says is read with
//! bounds, has to quote the words it stands on, and goes through the same gate as everything else.
//! `prompt` and `wire` make a question, `wire` and `candidate` read the answer, `claims` turns it into
//! an extraction, and `call` is the only place that touches the network.

mod prompt;
mod wire;
mod candidate;
mod claims;
pub(crate) mod call;
mod tell;

pub use call::{Heard, Llm, LlmSettings, Spent, Trouble};
pub use candidate::{Candidate, Output, read_output};
pub use claims::{Read, read};
pub use lamina_types::ModelFault as Fault;
pub use prompt::{Item, fixed_bytes, prompt_version, shown_bytes};
pub use tell::{Shown, Task, Words};
pub use wire::{Provider, Usage, Wire};

/// Bytes of a text that a model is shown; the rest of a longer one is for the rules alone.
pub const TEXT_BYTES_MAX: usize = 16 * 1024;
/// Claims of one event that are looked at.
pub const CLAIMS_MAX: usize = 64;

/// The beginning of a text, cut between characters: what a model is shown of it.
pub fn shown(text: &str) -> &str {
    text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or(text)
}

#[cfg(test)]
mod tests;
