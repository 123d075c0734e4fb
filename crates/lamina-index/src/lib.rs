//! Rebuildable search: by words and by meaning, over the records of all layers.
//!
//! Nothing in here is truth. The engine feeds it from the log and the views and may delete it at any
//! time; it is then made again. It is synchronous and owns no thread of its own that decides anything.
//! Two things come back from a search: keys and numbers. Texts stay in the log.

pub mod analyze;
mod applied;
mod document;
pub mod embed;
mod error;
mod filter;
pub mod frequency;
mod index;
pub mod inspect;
mod lexical;
mod lexicon;
mod tenant;
mod vector;

pub use applied::{Further, Reason};
pub use document::{Change, Document, LabelHash, Layer, Layers, Part, RecordKey};
pub use embed::{EmbedError, Embedder, Side, StaticEmbedder};
pub use error::Error;
pub use filter::{Candidate, Filter, Reach};
pub use index::{Held, Index, Opened, Purged, Setup, Stats};
pub use lexical::{LexicalAnswer, LexicalHit, LexicalQuery, QueryTerm, Statistics};
pub use lexicon::{CHANCE, Focus, Lexicon};
pub use vector::{DIMS_MAX, Space, Vector, VectorHit, VectorQuery};
