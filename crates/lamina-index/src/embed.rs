//! Meaning without a model to run: a table of token vectors, compiled in.
//!
//! The table was made by running a small sentence model once for every token of its vocabulary
//! (`tools/distill_embedder.py`). A text's vector is the weighted sum of its tokens' vectors. That takes
//! microseconds, gives the same bytes everywhere, and on short texts finds nearly what the model finds.

mod table;
mod wordpiece;

pub(crate) use table::{Fnv, vocabulary};

use crate::vector::{Space, Vector};
use table::Table;

/// Makes vectors of texts.
pub trait Embedder: Send + Sync {
    /// The space that the vectors are of.
    fn space(&self) -> &Space;

    /// A vector for each text; none for a text without anything that it knows.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vector>>, EmbedError>;
}

/// An embedder could not do its work.
#[derive(Debug, thiserror::Error)]
#[error("texts cannot be embedded: {0}")]
pub struct EmbedError(pub String);

/// The embedder that is compiled in.
#[derive(Debug)]
pub struct StaticEmbedder {
    space: Space,
    table: &'static Table,
}

impl Default for StaticEmbedder {
    fn default() -> Self {
        StaticEmbedder::new()
    }
}

impl StaticEmbedder {
    /// The one there is.
    pub fn new() -> StaticEmbedder {
        let table = vocabulary();
        StaticEmbedder {
            space: Space { model: table.model().to_owned(), dims: table.dims() },
            table,
        }
    }

    /// The vector of one text; none if it has no token of the vocabulary.
    pub fn embed_one(&self, text: &str) -> Option<Vector> {
        let mut sum = vec![0.0_f32; usize::from(self.table.dims())];
        wordpiece::tokens(text, self.table, &mut |token| self.table.add(token, &mut sum));
        Vector::of(&sum)
    }
}

impl Embedder for StaticEmbedder {
    fn space(&self) -> &Space {
        &self.space
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vector>>, EmbedError> {
        Ok(texts.iter().map(|text| self.embed_one(text)).collect())
    }
}

#[cfg(test)]
mod tests;
