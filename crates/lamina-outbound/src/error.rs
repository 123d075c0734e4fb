//! Why a call to another server gave nothing.

use std::io;

/// Why there is no answer, or none that can be used. No message repeats an address or a header:
/// either may hold a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be called.
    #[error("the address {why}")]
    BadUrl {
        /// What is wrong with it.
        why: &'static str,
    },
    /// A header is not one.
    #[error("a header cannot be sent: its name or value has characters that no header has")]
    BadHeader,
    /// The certificates to trust cannot be read.
    #[error("the file of certificates to trust holds none in PEM")]
    BadRoots,
    /// The library that speaks TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Setup(#[source] rustls::Error),
    /// Nobody answers there.
    #[error("the server cannot be reached")]
    Connect(#[source] io::Error),
    /// The other end does not prove who it is, or does not speak TLS.
    #[error("the TLS handshake failed")]
    Tls(#[source] io::Error),
    /// It took too long.
    #[error("the server did not {what} in time")]
    Timeout {
        /// What did not happen.
        what: &'static str,
    },
    /// The answer is larger than the caller takes.
    #[error("the answer is larger than {max} bytes")]
    TooLarge {
        /// The limit.
        max: usize,
    },
    /// The answer is not HTTP, or was cut off.
    #[error("the answer is not HTTP, or was cut off")]
    Protocol(#[source] hyper::Error),
    /// The receiver of the body does not take more.
    #[error("the answer could not be stored")]
    Sink(#[source] io::Error),
    /// The answer is not the one that was hoped for. A redirect is one of these.
    #[error("the server answered with status {status}")]
    Status {
        /// Which.
        status: u16,
    },
}

/// What did not happen when the connection did not come to stand in time.
pub(crate) const CONNECTING: &str = "take the connection";

impl Error {
    /// Whether nothing of the request can have reached the other end.
    pub fn is_unsent(&self) -> bool {
        match self {
            Error::BadUrl { .. }
            | Error::BadHeader
            | Error::BadRoots
            | Error::Setup(_)
            | Error::Connect(_)
            | Error::Tls(_) => true,
            Error::Timeout { what } => *what == CONNECTING,
            Error::TooLarge { .. } | Error::Protocol(_) | Error::Sink(_) | Error::Status { .. } => {
                false
            }
        }
    }
}
