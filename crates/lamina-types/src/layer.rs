//! What is derived from events, as plain values: nothing here knows how it was found or where it is kept.

pub mod extraction;
pub mod settling;
pub mod source;

pub use extraction::{
    Bond, ByteSpan, Cardinality, Claim, Confidence, Effect, EntityKind, Extraction, Mention,
    Normaliser, Object, Term,
};
pub use settling::Settling;
pub use source::SourceClass;
