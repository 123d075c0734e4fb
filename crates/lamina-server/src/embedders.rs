//! Models that make vectors behind the engine's port: over the network, or in this process.

use std::sync::Arc;
use std::time::Duration;

use lamina_engine::embed::{EmbedError, Embedder, Embedding, Side, Vector};
use lamina_env::Env;
use lamina_models::embed::{DIMS_MAX, RemoteEmbedder, RemoteSettings, Speed};
use lamina_outbound::{Bounds, Client};
use lamina_types::ModelFault;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::config::{EmbedConfig, EmbedSource, OutboundConfig};
use crate::models::{ModelError, certificates, roots, secret};

/// Until a connection stands.
const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of an answer: digits of a number and what stands between two, and what stands around them.
const BYTES_PER_NUMBER: usize = 28;
const BYTES_AROUND: usize = 64 << 10;

/// The configured model. Made within the runtime that its calls run on.
pub fn configured(
    config: &EmbedConfig,
    outbound: &OutboundConfig,
    env: &Env,
) -> Result<Embedding, ModelError> {
    let EmbedConfig { source, batch_texts, pause_ms, cache_texts } = config;
    let batch_texts = usize::try_from(*batch_texts).unwrap_or(usize::MAX);
    let embedder: Arc<dyn Embedder> = match source {
        EmbedSource::Local(directory) => local(directory, env)?,
        EmbedSource::Remote { wire, endpoint, key, timeout_ms, question_timeout_ms } => {
            let ca = certificates(outbound, env)?;
            let client = |limit_ms: u64, texts: usize| {
                let total = Duration::from_millis(limit_ms);
                let body_bytes = BYTES_AROUND + texts * DIMS_MAX * BYTES_PER_NUMBER;
                let bounds = Bounds { connect: CONNECT.min(total), total, body_bytes };
                Client::new(roots(ca.as_deref()), bounds)
            };
            let remote = RemoteEmbedder::new(RemoteSettings {
                wire: wire.clone(),
                endpoint: endpoint.clone(),
                key: secret(key, env)?,
                client: client(*timeout_ms, batch_texts)?,
                hurried: client(*question_timeout_ms, 1)?,
            });
            Arc::new(Remote::new(remote, Handle::current()))
        }
    };
    Ok(Embedding {
        embedder,
        batch_texts,
        pause_ms: *pause_ms,
        cache_texts: usize::try_from(*cache_texts).unwrap_or(usize::MAX),
    })
}

/// A model over the network, asked from a thread that may wait.
#[derive(Debug)]
struct Remote {
    name: String,
    model: RemoteEmbedder,
    runtime: Handle,
    closed: watch::Sender<bool>,
}

impl Remote {
    fn new(model: RemoteEmbedder, runtime: Handle) -> Remote {
        Remote { name: model.wire().name(), model, runtime, closed: watch::Sender::new(false) }
    }
}

impl Embedder for Remote {
    fn model(&self) -> &str {
        &self.name
    }

    fn embed(&self, texts: &[&str], side: Side) -> Result<Vec<Option<Vector>>, EmbedError> {
        let speed = match side {
            Side::Stored => Speed::Patient,
            Side::Question => Speed::Hurried,
        };
        let mut closed = self.closed.subscribe();
        let heard = self.runtime.block_on(async {
            tokio::select! {
                heard = self.model.ask(texts, speed) => Some(heard),
                // Also if nobody is left to close it.
                _ = closed.wait_for(|closed| *closed) => None,
            }
        });
        match heard {
            Some(Ok(vectors)) => Ok(vectors.iter().map(|vector| Vector::of(vector)).collect()),
            Some(Err(trouble)) => {
                Err(EmbedError { fault: trouble.fault, retry_after_s: trouble.retry_after_s })
            }
            None => Err(EmbedError { fault: ModelFault::CutOff, retry_after_s: None }),
        }
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn former(&self, model: &str) -> Option<Arc<dyn Embedder>> {
        let wire = self.model.wire().former(model)?;
        Some(Arc::new(Remote::new(self.model.with_wire(wire), self.runtime.clone())))
    }

    fn close(&self) {
        self.closed.send_replace(true);
    }
}

#[cfg(feature = "local-embedder")]
use local::load as local;

/// Without the feature no configuration gets here.
#[cfg(not(feature = "local-embedder"))]
fn local(_: &std::path::Path, _: &Env) -> Result<Arc<dyn Embedder>, ModelError> {
    Err(ModelError::NotBuilt)
}

#[cfg(feature = "local-embedder")]
mod local {
    //! A sentence model in this process.

    use std::path::Path;
    use std::sync::Arc;

    use lamina_engine::embed::{EmbedError, Embedder, Side, Vector};
    use lamina_env::Env;
    use lamina_env::disk::read_file;
    use lamina_models::embed::transformer::Transformer;

    use crate::models::ModelError;

    /// Bytes of one file of a model.
    const FILE_BYTES_MAX: u64 = 4 << 30;

    pub(super) fn load(directory: &Path, env: &Env) -> Result<Arc<dyn Embedder>, ModelError> {
        let read = |name: &str| {
            let path = directory.join(name);
            match env.disk.exists(&path) {
                true => read_file(&*env.disk, &path, FILE_BYTES_MAX).map(Some),
                false => Ok(None),
            }
        };
        let path = directory.to_owned();
        let model =
            Transformer::load(&read).map_err(|source| ModelError::Directory { path, source })?;
        tracing::info!(model = model.name(), dims = model.dims(), "a sentence model is loaded");
        Ok(Arc::new(Local(model)))
    }

    #[derive(Debug)]
    struct Local(Transformer);

    impl Embedder for Local {
        fn model(&self) -> &str {
            self.0.name()
        }

        fn embed(&self, texts: &[&str], side: Side) -> Result<Vec<Option<Vector>>, EmbedError> {
            let vectors = match side {
                Side::Stored => self.0.embed(texts),
                Side::Question => self.0.embed_questions(texts),
            };
            Ok(vectors.iter().map(|vector| Vector::of(vector)).collect())
        }
    }
}
