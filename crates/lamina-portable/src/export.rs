//! Exports: records of every layer as JSONL lines, and in the shapes of other programs.

mod line;

pub use line::LineKind;
pub(crate) use line::{LINE_MEMBER, LINE_VERSION};
