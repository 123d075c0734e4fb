//! Meaning without a model to run: a table of token vectors, compiled in.
//!
//! The table was made by running a small sentence model once for every token of its vocabulary
//! (`tools/distill_embedder.py`). A text's vector is the weighted sum of its tokens' vectors. That takes
//! microseconds, gives the same bytes everywhere, and on short texts finds nearly what the model finds.

mod table;
mod wordpiece;

pub(crate) use table::{Fnv, vocabulary};

use lamina_types::ModelFault;

use crate::vector::{Space, Vector};
use table::Table;

/// Makes vectors of texts. One may be far away: it is asked with many texts at once, and it may fail.
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// The model's name and version, and whatever else changes its vectors.
    fn model(&self) -> &str;

    /// A vector for each text; none for a text without anything that it knows.
    fn embed(&self, texts: &[&str], side: Side) -> Result<Vec<Option<Vector>>, EmbedError>;

    /// Whether the texts leave this machine.
    fn is_remote(&self) -> bool {
        false
    }

    /// One for questions in the space of a model that was configured before, if that can still be asked.
    fn former(&self, model: &str) -> Option<std::sync::Arc<dyn Embedder>> {
        let _ = model;
        None
    }

    /// Whoever waits is answered now: nobody needs vectors any more.
    fn close(&self) {}
}

/// Which of two a text is: some models are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// It is found.
    Stored,
    /// It is what is looked for.
    Question,
}

/// An embedder could not do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("texts cannot be embedded: {}", .fault.as_str())]
pub struct EmbedError {
    /// What went wrong.
    pub fault: ModelFault,
    /// Seconds that it asks to be left alone.
    pub retry_after_s: Option<u64>,
}

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

    /// The space that its vectors are of.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The vector of one text; none if it has no token of the vocabulary.
    pub fn embed_one(&self, text: &str) -> Option<Vector> {
        let mut sum = vec![0.0_f32; usize::from(self.table.dims())];
        wordpiece::tokens(text, self.table, &mut |token| self.table.add(token, &mut sum));
        Vector::of(&sum)
    }
}

impl Embedder for StaticEmbedder {
    fn model(&self) -> &str {
        &self.space.model
    }

    fn embed(&self, texts: &[&str], _: Side) -> Result<Vec<Option<Vector>>, EmbedError> {
        Ok(texts.iter().map(|text| self.embed_one(text)).collect())
    }
}

#[cfg(test)]
mod tests;
