//! A sentence model whose directory lies on this machine, run in this process.
//!
//! It reads directories as they are published: `config.json`, the vocabulary, and `model.safetensors`, of
//! the architecture that nearly all small sentence models have (BERT). A batch is computed as one matrix of
//! all its tokens, without padding. What it cannot run it refuses by name, before anything is stored.

mod config;
mod tensors;
mod tokens;
mod encoder;

use ndarray::{Axis, Slice};
use sha2::{Digest as _, Sha256};

use config::{Config, Pooling};
use encoder::Encoder;
use tensors::Tensors;
use tokens::Tokenizer;

/// Reads a file of the directory; none if it is not there.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> std::io::Result<Option<Vec<u8>>>;

/// Why a directory is not a model that can be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A file cannot be read.
    #[error("{name} cannot be read")]
    Unreadable {
        /// Which.
        name: &'static str,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file is missing.
    #[error(
        "{0} is missing; a directory of a sentence model has config.json, vocab.txt or tokenizer.json, and model.safetensors"
    )]
    Missing(&'static str),
    /// A file does not hold what it should.
    #[error("{name} {why}")]
    Bad {
        /// Which.
        name: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

impl ModelError {
    fn bad(name: &'static str, why: impl Into<String>) -> ModelError {
        ModelError::Bad { name, why: why.into() }
    }
}

/// A model that makes vectors.
#[derive(Debug)]
pub struct Transformer {
    name: String,
    config: Config,
    tokenizer: Tokenizer,
    encoder: Encoder,
}

impl Transformer {
    /// Loads the model of a directory.
    pub fn load(read: ReadFile<'_>) -> Result<Transformer, ModelError> {
        let config = Config::read(read)?;
        let tokenizer = Tokenizer::read(read, &config)?;
        let bytes =
            file(read, "model.safetensors")?.ok_or(ModelError::Missing("model.safetensors"))?;
        let mut hash = Sha256::new();
        hash.update(&bytes);
        hash.update(config.told());
        let hash: String =
            hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let encoder = Encoder::read(&Tensors::of(&bytes)?, &config)?;
        let name = format!("local:bert-{}x{}-{hash}", config.layers, config.hidden);
        Ok(Transformer { name, config, tokenizer, encoder })
    }

    /// What its vectors are known by: size and a hash of everything that changes them.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Numbers of its vectors.
    pub fn dims(&self) -> usize {
        self.config.hidden
    }

    /// A vector for each text that is stored.
    pub fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.vectors(texts, &self.config.text_prompt)
    }

    /// A vector for each question.
    pub fn embed_questions(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.vectors(texts, &self.config.question_prompt)
    }

    fn vectors(&self, texts: &[&str], prompt: &str) -> Vec<Vec<f32>> {
        let tokens: Vec<Vec<u32>> = texts
            .iter()
            .map(|text| self.tokenizer.tokens(&format!("{prompt}{text}"), self.config.tokens_max))
            .collect();
        let outputs = self.encoder.run(&tokens);
        let mut start = 0;
        let mut vectors = Vec::with_capacity(tokens.len());
        for tokens in &tokens {
            let rows = outputs.slice_axis(Axis(0), Slice::from(start..start + tokens.len()));
            start += tokens.len();
            let pooled = match self.config.pooling {
                Pooling::Mean => rows.mean_axis(Axis(0)),
                Pooling::First => rows.outer_iter().next().map(|row| row.to_owned()),
            };
            vectors.push(pooled.map(|row| row.to_vec()).unwrap_or_default());
        }
        vectors
    }
}

fn file(read: ReadFile<'_>, name: &'static str) -> Result<Option<Vec<u8>>, ModelError> {
    read(name).map_err(|source| ModelError::Unreadable { name, source })
}

#[cfg(test)]
mod tests;
