//! The key with which the server signs exports. It is read when it is needed, so that it can be replaced
//! without a restart, and it is never shown.

use std::path::PathBuf;

use lamina_api::ApiError;
use lamina_env::Env;
use lamina_env::rng::draw;
use lamina_portable::sign::BundleKey;
use lamina_portable::time;
use lamina_portable::zaxy::SignatureInputs;
use lamina_types::stdx::hex;

use crate::config::TransferConfig;
use crate::http::failure::{Failure, chain, internal};
use crate::secret::read_secret_file;

/// Bytes of a key file.
pub(crate) const KEY_BYTES_MAX: u64 = 16 << 10;

/// Where the key is, and by which public key and algorithm the operator knows it.
#[derive(Debug, Clone)]
pub(crate) struct ExportSigner {
    env: Env,
    private_key: PathBuf,
    public_key: Option<PathBuf>,
    algorithm: Option<String>,
}

impl ExportSigner {
    /// The signer of the configuration.
    pub(crate) fn of(config: &TransferConfig, env: &Env) -> Result<ExportSigner, ApiError> {
        let Some(private_key) = config.signing_private_key_file.clone() else {
            let reason = "the server has no key for exports; the operator names one in \
                          `export.signing_private_key_file`, or sign on the client: lamina export --private-key";
            return Err(ApiError::invalid_shape("sign", reason));
        };
        let signer = ExportSigner {
            env: env.clone(),
            private_key,
            public_key: config.signing_public_key_file.clone(),
            algorithm: config.signing_algorithm.clone(),
        };
        Ok(signer)
    }

    /// Reads the key, and holds it against the public key and the algorithm of the configuration.
    pub(crate) fn key(&self) -> Result<BundleKey, Failure> {
        let unusable = |reason: &str| {
            tracing::warn!(reason, "the key for exports is not used");
            internal(format!("the key for exports: {reason}"))
        };
        let bytes = read_secret_file(&*self.env.disk, &self.private_key, KEY_BYTES_MAX)
            .map_err(|error| unusable(&chain(&error)))?;
        let text = std::str::from_utf8(bytes.expose()).map_err(|_| unusable("is not text"))?;
        let key = BundleKey::from_pem(text).map_err(|error| unusable(&error.to_string()))?;
        if let Some(path) = &self.public_key {
            let text = lamina_env::disk::read_file(&*self.env.disk, path, KEY_BYTES_MAX)
                .map_err(|error| unusable(&chain(&error)))?;
            if String::from_utf8_lossy(&text).trim() != key.public_hex() {
                return Err(unusable("the public key is another key's"));
            }
        }
        match &self.algorithm {
            Some(named) if named != key.algorithm().name() => {
                Err(unusable("the named algorithm is not the key's"))
            }
            _ => Ok(key),
        }
    }

    /// Time, nonce and random bytes of one signature.
    pub(crate) fn inputs(&self) -> SignatureInputs {
        signature_inputs(&self.env)
    }
}

/// Time, nonce and random bytes of one signature.
pub(crate) fn signature_inputs(env: &Env) -> SignatureInputs {
    SignatureInputs {
        created_at: time::print(env.clock.wall()),
        nonce: hex::encode(&draw::<16>(&*env.rng)),
        randomness: draw(&*env.rng),
    }
}
