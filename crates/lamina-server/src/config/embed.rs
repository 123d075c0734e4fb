//! `[models.embed]`: whether a model makes vectors beside the built-in ones. Off unless a provider is
//! named; with one over the network, words leave the machine.

use std::path::PathBuf;

use lamina_engine::embed::{DIMS_MAX, Embedding};
use lamina_models::embed::{EmbedProvider, EmbedWire};
use lamina_outbound::{Endpoint, PlainHttp};

use super::models::{KeyNames, key};
use super::source::Settings;
use super::{ConfigError, Environment, ModelKey};

/// How vectors are made.
#[derive(Debug, Clone)]
pub struct EmbedConfig {
    /// By whom.
    pub source: EmbedSource,
    /// Texts of one call.
    pub batch_texts: u64,
    /// The first pause after a failure.
    pub pause_ms: u64,
    /// Vectors of texts that are remembered.
    pub cache_texts: u64,
}

/// Who makes vectors.
#[derive(Debug, Clone)]
pub enum EmbedSource {
    /// A server.
    Remote {
        /// How it is spoken to.
        wire: EmbedWire,
        /// Where it is, path included.
        endpoint: Endpoint,
        /// Where its key comes from.
        key: ModelKey,
        /// How long a call about stored texts may take.
        timeout_ms: u64,
        /// How long a call about a question may take.
        question_timeout_ms: u64,
    },
    /// A model in this directory, run in this process.
    Local(PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Provider {
    None,
    Remote(EmbedProvider),
    Local,
}

impl EmbedConfig {
    pub(super) fn take(
        settings: &mut Settings,
        environment: &Environment,
        plain: PlainHttp,
    ) -> Result<Option<EmbedConfig>, ConfigError> {
        let provider = settings.parsed("models.embed.provider", "none", provider)?;
        let model = settings.optional("models.embed.model")?;
        let directory = settings.optional("models.embed.directory")?.map(PathBuf::from);
        let base = match provider {
            Provider::Remote(provider) => provider.base_url(),
            Provider::None | Provider::Local => "none",
        };
        let base = settings.text("models.embed.base_url", base.to_owned())?;
        let key = key(
            settings,
            environment,
            KeyNames { file: "models.embed.key_file", variable: "models.embed.key_variable" },
        )?;
        let dimensions = settings.parsed("models.embed.dimensions", "none", dimensions)?;
        let text_prefix = settings.optional("models.embed.text_prefix")?.unwrap_or_default();
        let question_prefix =
            settings.optional("models.embed.question_prefix")?.unwrap_or_default();
        let timeout_ms = settings.number("models.embed.timeout_ms", 30_000, 100..=600_000)?;
        let question_timeout_ms =
            settings.number("models.embed.question_timeout_ms", 1_000, 10..=60_000)?;
        let batch = Embedding::BATCH_TEXTS as u64;
        let batch_texts = settings.number("models.embed.batch_texts", batch, 1..=256)?;
        let pause_ms = settings.number("models.embed.pause_ms", Embedding::PAUSE_MS, 1..=60_000)?;
        let cache = Embedding::CACHE_TEXTS as u64;
        let cache_texts = settings.number("models.embed.cache_texts", cache, 0..=1_000_000)?;
        let missing = |given, missing| Err(ConfigError::Alone { given, missing });
        let source = match (provider, model, directory) {
            (Provider::None, Some(_), _) => {
                return missing("models.embed.model", "models.embed.provider");
            }
            (Provider::None, None, Some(_)) => {
                return missing("models.embed.directory", "models.embed.provider");
            }
            (Provider::None, None, None) => return Ok(None),
            (Provider::Local, _, Some(directory)) => EmbedSource::Local(directory),
            (Provider::Local, _, None) => {
                return missing("models.embed.provider", "models.embed.directory");
            }
            (Provider::Remote(_), None, _) => {
                return missing("models.embed.provider", "models.embed.model");
            }
            (Provider::Remote(provider), Some(model), _) => {
                let wire = EmbedWire { provider, model, dimensions, text_prefix, question_prefix };
                let endpoint = endpoint(&wire, &base, plain)?;
                EmbedSource::Remote { wire, endpoint, key, timeout_ms, question_timeout_ms }
            }
        };
        Ok(Some(EmbedConfig { source, batch_texts, pause_ms, cache_texts }))
    }
}

/// Where a model is. An address may hold a secret where it must not, so it is not repeated.
fn endpoint(wire: &EmbedWire, base: &str, plain: PlainHttp) -> Result<Endpoint, ConfigError> {
    let hidden = |reason: String| ConfigError::Hidden { key: "models.embed.base_url", reason };
    if base.contains(['?', '#']) {
        return Err(hidden("the address must not have a query or a fragment".to_owned()));
    }
    Endpoint::parse(&wire.url(base), plain).map_err(|error| hidden(error.to_string()))
}

fn provider(text: &str) -> Result<Provider, String> {
    match text {
        "none" => Ok(Provider::None),
        "openai" => Ok(Provider::Remote(EmbedProvider::OpenAi)),
        "ollama" => Ok(Provider::Remote(EmbedProvider::Ollama)),
        "local" if cfg!(feature = "local-embedder") => Ok(Provider::Local),
        "local" => Err("this program was built without the feature `local-embedder`".to_owned()),
        _ => Err("expected none, openai, ollama or local".to_owned()),
    }
}

fn dimensions(text: &str) -> Result<Option<u16>, String> {
    if text == "none" {
        return Ok(None);
    }
    let number = super::value::number(text, 1..=u64::from(DIMS_MAX))?;
    Ok(u16::try_from(number).ok())
}

#[cfg(test)]
mod tests;
