//! One question, one answer, within bounds.
//!
//! Every question has a connection of its own. It is driven by the future that asks, and not by a
//! task: who stops waiting has also hung up.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::endpoint::Endpoint;
use crate::error::{CONNECTING, Error};

/// Bytes of the head of an answer.
const HEAD_BYTES_MAX: usize = 64 << 10;
const OUR_NAME: HeaderValue = HeaderValue::from_static("lamina");

/// How much of the other end is borne.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Until the connection stands, TLS included.
    pub connect: Duration,
    /// Until the last byte of the answer is here.
    pub total: Duration,
    /// Bytes of the body of an answer.
    pub body_bytes: usize,
}

/// Whose certificates are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roots<'a> {
    /// Those of the machine.
    System,
    /// Those of the machine, and these in PEM.
    SystemAnd(&'a [u8]),
}

/// Asks other servers.
#[derive(Clone)]
pub struct Client {
    tls: TlsConnector,
    bounds: Bounds,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

/// A question. Its headers are not shown in logs: they may hold a key.
pub struct Request {
    method: Method,
    endpoint: Endpoint,
    headers: HeaderMap,
    body: Bytes,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Request({} {})", self.method, self.endpoint)
    }
}

/// An answer, whole.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: Bytes,
    headers: HeaderMap,
}

impl Request {
    /// Asks for what is there.
    pub fn get(endpoint: Endpoint) -> Request {
        Request::new(Method::GET, endpoint, Bytes::new())
    }

    /// Sends JSON.
    pub fn post_json(endpoint: Endpoint, body: impl Into<Bytes>) -> Request {
        let mut request = Request::new(Method::POST, endpoint, body.into());
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request
    }

    fn new(method: Method, endpoint: Endpoint, body: Bytes) -> Request {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, OUR_NAME);
        Request { method, endpoint, headers, body }
    }

    /// The same with a header, in place of an earlier one of this name.
    pub fn header(mut self, name: &str, value: &str) -> Result<Request, Error> {
        let name: HeaderName = name.parse().map_err(|_| Error::BadHeader)?;
        let mut value = HeaderValue::from_str(value).map_err(|_| Error::BadHeader)?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }
}

impl Answer {
    /// The answer, if it is one of success. Anything else, a redirect too, is an error.
    pub fn success(self) -> Result<Answer, Error> {
        match self.status {
            200..=299 => Ok(self),
            status => Err(Error::Status { status }),
        }
    }

    /// The first header of this name, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

impl Client {
    /// A client that believes these certificates.
    pub fn new(roots: Roots<'_>, bounds: Bounds) -> Result<Client, Error> {
        let mut store = RootCertStore::empty();
        // A machine may have certificates that nobody can read; they are not the ones we need.
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Roots::SystemAnd(pem) = roots {
            let own: Result<Vec<CertificateDer<'static>>, _> =
                CertificateDer::pem_slice_iter(pem).collect();
            let own = own.ok().filter(|own| !own.is_empty()).ok_or(Error::BadRoots)?;
            for certificate in own {
                store.add(certificate).map_err(|_| Error::BadRoots)?;
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(Error::Setup)?
            .with_root_certificates(store)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Client { tls: TlsConnector::from(Arc::new(config)), bounds })
    }

    /// The same with other bounds.
    pub fn bounded(&self, bounds: Bounds) -> Client {
        Client { tls: self.tls.clone(), bounds }
    }

    /// Asks, and waits for the whole answer. Dropping the future hangs up.
    pub async fn send(&self, request: Request) -> Result<Answer, Error> {
        let late = Err(Error::Timeout { what: "answer" });
        timeout(self.bounds.total, self.exchange(request)).await.unwrap_or(late)
    }

    async fn exchange(&self, request: Request) -> Result<Answer, Error> {
        let late = |_| Error::Timeout { what: CONNECTING };
        let endpoint = request.endpoint.clone();
        let connected = TcpStream::connect((endpoint.connect_host(), endpoint.port));
        let connect = self.bounds.connect;
        if !endpoint.secure {
            let stream =
                timeout(connect, connected).await.map_err(late)?.map_err(Error::Connect)?;
            return speak(stream, request, self.bounds.body_bytes).await;
        }
        let name = ServerName::try_from(endpoint.host.clone())
            .map_err(|_| Error::BadUrl { why: "names a host that no certificate can be for" })?;
        let secured = async {
            let stream = connected.await.map_err(Error::Connect)?;
            self.tls.connect(name, stream).await.map_err(Error::Tls)
        };
        let stream = timeout(connect, secured).await.map_err(late)??;
        speak(stream, request, self.bounds.body_bytes).await
    }
}

async fn speak<S>(stream: S, request: Request, bytes_max: usize) -> Result<Answer, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Request { method, endpoint, headers, body } = request;
    let mut question = http::Request::new(Full::new(body));
    *question.method_mut() = method;
    *question.uri_mut() = endpoint.target.into();
    *question.headers_mut() = headers;
    let host = HeaderValue::try_from(endpoint.authority).map_err(|_| Error::BadHeader)?;
    question.headers_mut().insert(HOST, host);
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD_BYTES_MAX)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(Error::Protocol)?;
    let answered = async {
        let response = sender.send_request(question).await.map_err(Error::Protocol)?;
        let (head, body) = response.into_parts();
        let body = collect(body, bytes_max).await?;
        Ok(Answer { status: head.status.as_u16(), body, headers: head.headers })
    };
    let (mut answered, mut connection) = (pin!(answered), pin!(connection));
    tokio::select! {
        biased;
        answer = answered.as_mut() => return answer,
        // What it has read is still on its way to whoever asked; so is its error.
        _ = connection.as_mut() => {}
    }
    answered.await
}

async fn collect(mut body: Incoming, bytes_max: usize) -> Result<Bytes, Error> {
    let too_large = Error::TooLarge { max: bytes_max };
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(too_large);
    }
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(Error::Protocol)?.into_data() else { continue };
        if whole.len() + data.len() > bytes_max {
            return Err(too_large);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

#[cfg(test)]
mod tests;
