//! `[models]`: whether and how a language model is asked about what was written. Off unless a provider
//! is named. The key is never a setting: a variable or a file that holds it is.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use lamina_engine::derive::models::Models;
use lamina_engine::derive::models::budget::{Budget, Prices};
use lamina_models::llm::{Llm, Provider, Wire};
use lamina_outbound::{Endpoint, PlainHttp};

use super::source::Settings;
use super::{ConfigError, Environment, Origin};
use crate::secret::Secret;

/// How a language model is asked.
#[derive(Debug, Clone)]
pub struct ModelsConfig {
    /// How it is spoken to.
    pub wire: Wire,
    /// Where it is, path included.
    pub endpoint: Endpoint,
    /// Where its key comes from.
    pub key: ModelKey,
    /// How long one call may take.
    pub timeout_ms: u64,
    /// Events of one call.
    pub batch_events: u64,
    /// How often a server that fails is asked about the same events.
    pub attempts: u64,
    /// The first pause after a failure.
    pub pause_ms: u64,
    /// What a million tokens cost.
    pub prices: Prices,
    /// What one scope may take in a day.
    pub budget_scope: Budget,
    /// What all scopes together may take in a day.
    pub budget_all: Budget,
    /// Whether it also writes answers, which no budget counts.
    pub answers: bool,
}

/// Where the key of a model comes from.
#[derive(Clone)]
pub enum ModelKey {
    /// It needs none.
    None,
    /// A variable of the environment held it.
    Held(Arc<Secret<String>>),
    /// A variable should hold it, and does not: only whoever needs it minds.
    Unset,
    /// A file holds it.
    File(PathBuf),
}

impl fmt::Debug for ModelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelKey::None => f.write_str("None"),
            ModelKey::Held(_) => f.write_str("Held"),
            ModelKey::Unset => f.write_str("Unset"),
            ModelKey::File(path) => write!(f, "File({})", path.display()),
        }
    }
}

const MINUTES_10_MS: u64 = 600_000;

impl ModelsConfig {
    pub(super) fn take(
        settings: &mut Settings,
        environment: &Environment,
        plain: PlainHttp,
    ) -> Result<Option<ModelsConfig>, ConfigError> {
        let provider = settings.parsed("models.provider", "none", provider)?;
        let base = provider.unwrap_or(Provider::OpenAi).base_url();
        let base = if provider.is_some() { base } else { "none" };
        let model = settings.optional("models.model")?;
        let wire = provider.zip(model.clone()).map(|(provider, model)| Wire {
            provider,
            model,
            output_tokens_max: 0,
            newer_limit: false,
        });
        let base = settings.text("models.base_url", base.to_owned())?;
        let url = wire.as_ref().map(|wire| endpoint(wire, &base, plain)).transpose()?;
        let names = KeyNames { file: "models.key_file", variable: "models.key_variable" };
        let key = key(settings, environment, names)?;
        let timeout_ms = settings.number("models.timeout_ms", 60_000, 100..=MINUTES_10_MS)?;
        let output = Models::OUTPUT_TOKENS_MAX;
        let output = settings.number("models.output_tokens_max", output, 16..=65_536)?;
        let batch = Models::BATCH_EVENTS as u64;
        let batch_events = settings.number("models.batch_events", batch, 1..=64)?;
        let attempts = settings.number("models.attempts", u64::from(Models::ATTEMPTS), 1..=10)?;
        let pause_ms = settings.number("models.pause_ms", Models::PAUSE_MS, 1..=60_000)?;
        let prices = Prices {
            input_micros: settings.parsed("models.price_input", "0", money)?,
            output_micros: settings.parsed("models.price_output", "0", money)?,
        };
        let budget_scope = Budget {
            tokens: settings.parsed("models.budget_scope_tokens", "none", tokens)?,
            micros: settings.parsed("models.budget_scope_money", "none", budget_money)?,
        };
        let budget_all = Budget {
            tokens: settings.parsed("models.budget_tokens", "none", tokens)?,
            micros: settings.parsed("models.budget_money", "none", budget_money)?,
        };
        let answers = settings.switch("models.answers", false, Origin::Default)?;
        let missing = |given, missing| Err(ConfigError::Alone { given, missing });
        let (provider, wire, endpoint) = match (provider, wire, url) {
            (None, ..) if model.is_some() => return missing("models.model", "models.provider"),
            (None, ..) => return Ok(None),
            (Some(provider), Some(wire), Some(url)) => (provider, wire, url),
            (Some(_), ..) => return missing("models.provider", "models.model"),
        };
        if provider.needs_key() && matches!(key, ModelKey::None) {
            return missing("models.provider", "models.key_file");
        }
        let free = prices == Prices::default();
        if free && (budget_scope.micros.is_some() || budget_all.micros.is_some()) {
            return missing("models.budget_money", "models.price_input");
        }
        let newer_limit = provider == Provider::OpenAi && names_the_limit_anew(&base);
        let output_tokens_max = u32::try_from(output).unwrap_or(u32::MAX);
        Ok(Some(ModelsConfig {
            wire: Wire { output_tokens_max, newer_limit, ..wire },
            endpoint,
            key,
            timeout_ms,
            batch_events,
            attempts,
            pause_ms,
            prices,
            budget_scope,
            budget_all,
            answers,
        }))
    }
}

/// Where a model is. An address may hold a secret where it must not, so it is not repeated.
fn endpoint(wire: &Wire, base: &str, plain: PlainHttp) -> Result<Endpoint, ConfigError> {
    let hidden = |reason: String| ConfigError::Hidden { key: "models.base_url", reason };
    if base.contains(['?', '#']) {
        return Err(hidden("the address must not have a query or a fragment".to_owned()));
    }
    let parsed = Endpoint::parse(&Llm::url(wire, base), plain);
    parsed.map_err(|error| hidden(error.to_string()))
}

/// Those whose newer models refuse the older name of the limit.
fn names_the_limit_anew(base: &str) -> bool {
    let host = base.split("://").nth(1).unwrap_or_default();
    let host = host.split(['/', ':']).next().unwrap_or_default();
    host == "api.openai.com" || host.ends_with(".openai.azure.com")
}

fn provider(text: &str) -> Result<Option<Provider>, String> {
    if text == "none" {
        return Ok(None);
    }
    let found = Provider::ALL.iter().copied().find(|provider| provider.as_str() == text);
    found.map(Some).ok_or_else(|| "expected none, openai, anthropic or ollama".to_owned())
}

/// The two settings that say where a key is.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyNames {
    pub(super) file: &'static str,
    pub(super) variable: &'static str,
}

/// One of two places; the variable is read now, because nobody keeps the environment.
pub(super) fn key(
    settings: &mut Settings,
    environment: &Environment,
    names: KeyNames,
) -> Result<ModelKey, ConfigError> {
    let file = settings.optional(names.file)?.map(PathBuf::from);
    let variable = settings.optional(names.variable)?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if variable.as_ref().is_some_and(|name| !name.chars().all(is_name)) {
        // Somebody may have written the key itself there.
        let reason = "it is the name of a variable of the environment that holds the key, never \
                      the key";
        return Err(ConfigError::Hidden { key: names.variable, reason: reason.to_owned() });
    }
    match (file, variable) {
        (None, None) => Ok(ModelKey::None),
        (Some(file), None) => Ok(ModelKey::File(file)),
        (None, Some(name)) => Ok(match environment.secret(&name) {
            Some(key) => ModelKey::Held(Arc::new(Secret::new(key))),
            None => ModelKey::Unset,
        }),
        (Some(_), Some(_)) => Err(ConfigError::Both { one: names.file, other: names.variable }),
    }
}

/// An amount of money with up to six decimals, in millionths.
pub(crate) fn money(text: &str) -> Result<u64, String> {
    const EXPECTED: &str = "expected an amount such as 0.15 or 2.50, with at most six decimals";
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 {
        return Err(EXPECTED.to_owned());
    }
    let micros = format!("{whole}{part:0<6}").parse::<u64>().ok();
    micros.filter(|micros| *micros <= 1_000_000_000_000).ok_or_else(|| EXPECTED.to_owned())
}

fn budget_money(text: &str) -> Result<Option<u64>, String> {
    if text == "none" { Ok(None) } else { money(text).map(Some) }
}

fn tokens(text: &str) -> Result<Option<u64>, String> {
    if text == "none" { Ok(None) } else { super::value::number(text, 0..=1 << 50).map(Some) }
}

#[cfg(test)]
mod tests;
