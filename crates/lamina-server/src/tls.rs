//! TLS by certificate and key files.
//!
//! The files are read at the start and again when the operator asks for it, so that a renewed
//! certificate is served without a restart. New connections take what was read last; a file that
//! cannot be used leaves everything as it was.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use lamina_env::Disk;
use lamina_env::disk::read_file;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::secret::{SecretFileError, read_secret_file};

/// Larger than any chain of certificates.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// What we speak, best first (ALPN).
const PROTOCOLS: &[&[u8]] = &[HTTP2, b"http/1.1"];
/// The name of HTTP/2 in a handshake.
pub(crate) const HTTP2: &[u8] = b"h2";

/// Where the certificate and its key are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The certificate, followed by those that sign it, in PEM.
    pub cert: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
}

/// Why TLS cannot be spoken with these files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The certificate file cannot be read.
    #[error("the certificate file {} cannot be read", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The key file cannot be used.
    #[error("the key file cannot be used")]
    Key(#[from] SecretFileError),
    /// The file is not PEM. Its text is not repeated: it may be a key.
    #[error("{} holds no {what} in PEM", path.display())]
    NotPem {
        /// Which file.
        path: PathBuf,
        /// What was looked for.
        what: &'static str,
    },
    /// Certificate and key were read and do not work.
    #[error("the certificate {} and the key {} do not work together", cert.display(), key.display())]
    Unusable {
        /// The certificate file.
        cert: PathBuf,
        /// The key file.
        key: PathBuf,
        /// Why.
        #[source]
        source: rustls::Error,
    },
}

/// The certificate in use.
#[derive(Debug)]
pub struct Tls {
    files: Files,
    disk: Arc<dyn Disk>,
    current: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads the files.
    pub fn open(files: Files, disk: Arc<dyn Disk>) -> Result<Tls, TlsError> {
        let current = RwLock::new(read(&files, &*disk)?);
        Ok(Tls { files, disk, current })
    }

    /// Reads the files again. On an error the certificate in use stays.
    pub fn reload(&self) -> Result<(), TlsError> {
        let fresh = read(&self.files, &*self.disk)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&current))
    }
}

fn read(files: &Files, disk: &dyn Disk) -> Result<Arc<ServerConfig>, TlsError> {
    let Files { cert, key } = files;
    let chain = read_chain(cert, disk)?;
    let pem = read_secret_file(disk, key, FILE_BYTES_MAX)?;
    let private = PrivateKeyDer::from_pem_slice(pem.expose()).map_err(|_| not_pem(key, "key"))?;
    let unusable = |source| TlsError::Unusable { cert: cert.clone(), key: key.clone(), source };
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
        .map_err(unusable)?;
    config.alpn_protocols = PROTOCOLS.iter().map(|name| name.to_vec()).collect();
    Ok(Arc::new(config))
}

fn read_chain(path: &Path, disk: &dyn Disk) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = read_file(disk, path, FILE_BYTES_MAX)
        .map_err(|source| TlsError::Unreadable { path: path.to_owned(), source })?;
    let chain: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&bytes).collect();
    match chain {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        _ => Err(not_pem(path, "certificate")),
    }
}

fn not_pem(path: &Path, what: &'static str) -> TlsError {
    TlsError::NotPem { path: path.to_owned(), what }
}

#[cfg(test)]
mod tests;
