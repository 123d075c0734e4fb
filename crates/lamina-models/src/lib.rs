//! Other minds: what is made of words. `rules` is the built-in extractor, deterministic and offline;
//! `structured` maps documents, typed events and triples; `llm` asks a language model, if one is
//! configured; `embed` makes vectors with a model, if one is; `ground` is the gate that judges every extractor, built in or not, by the bytes it points at.
//!
//! The crate knows neither clock nor store: a text and its circumstances come in, claims come out.

pub mod relation;
pub mod source;
pub mod rules;
pub mod structured;
pub mod ground;
pub mod llm;
pub mod embed;
pub mod duration;
pub mod asked;

pub use duration::duration_us;
pub use ground::{Gate, Ungrounded, grounded};
pub use relation::{Relation, cardinality, relation, sentence};
pub use rules::extract;
pub use source::Source;
pub use structured::{extract_json, extract_triple, kind_of};
