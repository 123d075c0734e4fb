//! The language model behind the engine's port: the configured one, over the network.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lamina_engine::derive::models::{Model, Models};
use lamina_env::Env;
use lamina_env::disk::read_file;
use lamina_models::llm::{Fault, Heard, Item, Llm, LlmSettings, Spent};
use lamina_outbound::{Bounds, Client, Error as OutboundError, Roots};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::config::{ModelKey, ModelsConfig, OutboundConfig};
use crate::secret::{SecretFileError, read_secret_file};

/// Bytes of a file of certificates.
const CA_BYTES_MAX: u64 = 1 << 20;
/// Bytes of a file with a key.
const KEY_BYTES_MAX: u64 = 16 << 10;
/// Until a connection stands.
const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of an answer: what so many tokens can be, and what stands around them.
const BYTES_PER_TOKEN: usize = 32;
const BYTES_AROUND: usize = 64 << 10;

/// Why a model cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Its key is not to be had.
    #[error("the key of the language model cannot be used")]
    Key(#[from] SecretFileError),
    /// The variable that should hold its key does not.
    #[error(
        "the environment has no variable of the name that `models.key_variable` or `models.embed.key_variable` gives, or it is empty"
    )]
    Unset,
    /// Its key is none.
    #[error("the file with the key of the language model holds no key: one line of text")]
    NoKey,
    /// The certificates to believe cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The directory of a sentence model holds none that can be run.
    #[cfg(feature = "local-embedder")]
    #[error("the sentence model in {} cannot be used", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: lamina_models::embed::transformer::ModelError,
    },
    /// This program cannot run models itself.
    #[error("this program was built without the feature `local-embedder`")]
    NotBuilt,
    /// Nothing can be called.
    #[error("other servers cannot be called")]
    Outbound(#[from] OutboundError),
}

/// The configured model, if it is to write answers.
pub fn answering(
    config: &ModelsConfig,
    outbound: &OutboundConfig,
    env: &Env,
) -> Result<Option<Arc<Llm>>, ModelError> {
    match config.answers {
        true => Ok(Some(Arc::new(llm(config, outbound, env)?))),
        false => Ok(None),
    }
}

/// The model behind the network.
fn llm(config: &ModelsConfig, outbound: &OutboundConfig, env: &Env) -> Result<Llm, ModelError> {
    let key = secret(&config.key, env)?;
    let ca = certificates(outbound, env)?;
    let total = Duration::from_millis(config.timeout_ms);
    let output = config.wire.output_tokens_max;
    let bounds = Bounds {
        connect: CONNECT.min(total),
        total,
        body_bytes: BYTES_AROUND + BYTES_PER_TOKEN * output as usize,
    };
    Ok(Llm::new(LlmSettings {
        wire: config.wire.clone(),
        endpoint: config.endpoint.clone(),
        key,
        client: Client::new(roots(ca.as_deref()), bounds)?,
    }))
}

/// The key of a model, if it has one.
pub(crate) fn secret(key: &ModelKey, env: &Env) -> Result<Option<String>, ModelError> {
    Ok(match key {
        ModelKey::None => None,
        ModelKey::Held(key) => Some(key.expose().clone()),
        ModelKey::Unset => return Err(ModelError::Unset),
        ModelKey::File(path) => {
            let bytes = read_secret_file(&*env.disk, path, KEY_BYTES_MAX)?;
            let text = String::from_utf8(bytes.expose().clone()).map_err(|_| ModelError::NoKey)?;
            let key = text.trim();
            let is_one = !key.is_empty() && !key.contains(char::is_whitespace);
            Some(is_one.then(|| key.to_owned()).ok_or(ModelError::NoKey)?)
        }
    })
}

/// Certificates to believe beside those of the machine.
pub(crate) fn certificates(
    outbound: &OutboundConfig,
    env: &Env,
) -> Result<Option<Vec<u8>>, ModelError> {
    let Some(path) = &outbound.ca else { return Ok(None) };
    let read = read_file(&*env.disk, path, CA_BYTES_MAX);
    read.map(Some).map_err(|source| ModelError::Unreadable { path: path.clone(), source })
}

/// Whom to believe.
pub(crate) fn roots(ca: Option<&[u8]>) -> Roots<'_> {
    ca.map_or(Roots::System, Roots::SystemAnd)
}

/// The configured model. Made within the runtime that its calls run on.
pub fn configured(
    config: &ModelsConfig,
    outbound: &OutboundConfig,
    env: &Env,
) -> Result<Models, ModelError> {
    let (llm, output) = (llm(config, outbound, env)?, config.wire.output_tokens_max);
    let model = Remote { llm, runtime: Handle::current(), closed: watch::Sender::new(false) };
    Ok(Models {
        model: Arc::new(model),
        batch_events: usize::try_from(config.batch_events).unwrap_or(usize::MAX),
        attempts: u32::try_from(config.attempts).unwrap_or(u32::MAX),
        output_tokens_max: u64::from(output),
        prices: config.prices,
        budget_scope: config.budget_scope,
        budget_all: config.budget_all,
        pause_ms: config.pause_ms,
    })
}

/// A model over the network, asked from a thread that may wait.
#[derive(Debug)]
struct Remote {
    llm: Llm,
    runtime: Handle,
    closed: watch::Sender<bool>,
}

impl Model for Remote {
    fn name(&self) -> &str {
        self.llm.name()
    }

    fn ask(&self, items: &[Item]) -> Heard {
        let mut closed = self.closed.subscribe();
        self.runtime.block_on(async {
            tokio::select! {
                heard = self.llm.ask(items) => heard,
                // Also if nobody is left to close it.
                _ = closed.wait_for(|closed| *closed) => {
                    Heard::trouble(Fault::CutOff, Spent::Unknown)
                }
            }
        })
    }

    fn close(&self) {
        self.closed.send_replace(true);
    }
}
