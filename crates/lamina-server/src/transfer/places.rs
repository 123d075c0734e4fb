//! Other servers that memory travels to and from: only over HTTPS, and only hosts that the operator has
//! named. A URL of a request decides nothing else about whom this server calls.

use std::time::Duration;

use lamina_api::ApiError;
use lamina_env::Env;
use lamina_outbound::{Bounds, Client, Endpoint, Error as OutboundError, PlainHttp};

use super::export::ExportSigner;
use crate::config::{Config, OutboundConfig, TransferConfig};
use crate::models::{certificates, roots};
use crate::secret::{Secret, read_secret_file};

/// Bytes of a file with a credential.
const CREDENTIAL_BYTES_MAX: u64 = 16 << 10;
/// Until a connection stands.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Until a transfer is over.
const TRANSFER_TIME_MAX: Duration = Duration::from_secs(6 * 3_600);
/// Bytes of an answer that is no transfer.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// The direction of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// An export goes there.
    Out,
    /// An import comes from there.
    In,
}

/// Where memory may travel, and by which credentials.
#[derive(Debug)]
pub(crate) struct TransferPlaces {
    config: TransferConfig,
    outbound: OutboundConfig,
    env: Env,
}

impl TransferPlaces {
    pub(crate) fn new(config: &Config, env: &Env) -> TransferPlaces {
        TransferPlaces {
            config: config.transfer.clone(),
            outbound: config.outbound.clone(),
            env: env.clone(),
        }
    }

    /// The key with which exports are signed.
    pub(crate) fn signer(&self) -> Result<ExportSigner, ApiError> {
        ExportSigner::of(&self.config, &self.env)
    }

    /// The address of a URL in a request, if the operator has named its host. `field` is its place in the
    /// body.
    pub(crate) fn endpoint(
        &self,
        url: &str,
        field: &str,
        direction: Direction,
    ) -> Result<Endpoint, ApiError> {
        let refuse = |reason: String| ApiError::invalid_shape(field, reason);
        let (setting, hosts) = match direction {
            Direction::Out => ("export.destinations", &self.config.destinations),
            Direction::In => ("import.sources", &self.config.sources),
        };
        let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme.as_deref() {
            Some("https") => {}
            Some("s3" | "gs" | "az" | "abfs") => {
                return Err(refuse(
                    "object stores are reached by a presigned https:// URL, not by their own scheme"
                        .to_owned(),
                ));
            }
            _ => return Err(refuse("must begin with https://".to_owned())),
        }
        let endpoint = Endpoint::parse(url, PlainHttp::Loopback);
        let endpoint = endpoint.map_err(|error| refuse(error.to_string()))?;
        let authority = endpoint.authority().to_ascii_lowercase();
        let authority = authority.strip_suffix(":443").unwrap_or(&authority);
        let is_named = |host: &String| host.strip_suffix(":443").unwrap_or(host) == authority;
        if !hosts.iter().any(is_named) {
            return Err(refuse(format!(
                "leads to a host that this server does not call; the operator names hosts in `{setting}`"
            )));
        }
        Ok(endpoint)
    }

    /// The value of the `Authorization` header under a name. The file is read when it is needed, so that it
    /// can be replaced.
    pub(crate) fn credential(&self, name: &str, field: &str) -> Result<Secret<String>, ApiError> {
        let refuse = |reason: &str| ApiError::invalid_shape(field, reason);
        let found = self.config.credentials.iter().find(|credential| credential.name == name);
        let found = found.ok_or_else(|| refuse("is no name in `transfer.credentials`"))?;
        let unusable = || refuse("names a credential whose file cannot be used");
        let bytes = read_secret_file(&*self.env.disk, &found.file, CREDENTIAL_BYTES_MAX);
        let bytes = bytes.map_err(|error| {
            tracing::warn!(error = crate::http::failure::chain(&error), "a credential is not used");
            unusable()
        })?;
        let text = std::str::from_utf8(bytes.expose()).map_err(|_| unusable())?.trim();
        if text.is_empty() { Err(unusable()) } else { Ok(Secret::new(text.to_owned())) }
    }

    /// A client for one transfer.
    pub(crate) fn client(&self) -> Result<Client, OutboundError> {
        let ca = certificates(&self.outbound, &self.env).map_err(|_| OutboundError::BadRoots)?;
        let bounds = Bounds {
            connect: CONNECT_TIME_MAX,
            total: TRANSFER_TIME_MAX,
            body_bytes: ANSWER_BYTES_MAX,
        };
        Client::new(roots(ca.as_deref()), bounds)
    }
}

#[cfg(test)]
mod tests;
