//! What can go wrong. Nothing here is truth, so the answer to most of it is: drop the index and make it
//! again from the log.

use std::io;

use crate::vector::Space;

/// Why the index could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The disk did not do its part.
    #[error("the search index cannot use its files")]
    Io(#[from] io::Error),
    /// The lexical index did not do its part.
    #[error("the lexical index failed")]
    Lexical(#[source] Box<tantivy::TantivyError>),
    /// Files do not hold what was written: clear the index and apply the log again.
    #[error("the search index is damaged: {0}")]
    Damaged(&'static str),
    /// A vector or question of another model.
    #[error("vectors of {} ({}) cannot be compared with those of {} ({})", asked.model, asked.dims, stored.model, stored.dims)]
    OtherSpace {
        /// What is stored.
        stored: Space,
        /// What was put or asked.
        asked: Space,
    },
    /// A vector of another length.
    #[error("a vector has {found} dimensions, not {expected}")]
    WrongDims {
        /// Of the space.
        expected: u16,
        /// Of the vector.
        found: usize,
    },
    /// A limit of the files is reached.
    #[error("there are too many {0}")]
    TooMany(&'static str),
    /// There is no such space.
    #[error("there is no space of vectors of {} ({})", .0.model, .0.dims)]
    NoSuchSpace(Space),
}

impl From<tantivy::TantivyError> for Error {
    fn from(error: tantivy::TantivyError) -> Error {
        Error::Lexical(Box::new(error))
    }
}

impl Error {
    /// Whether clearing the index and applying the log again helps.
    pub fn calls_for_rebuild(&self) -> bool {
        use tantivy::TantivyError as Inner;
        match self {
            Error::Damaged(_) => true,
            Error::Lexical(inner) => matches!(
                **inner,
                Inner::DataCorruption(_) | Inner::OpenReadError(_) | Inner::IncompatibleIndex(_)
            ),
            _ => false,
        }
    }
}
