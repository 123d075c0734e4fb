//! One question, one answer, within bounds.
//!
//! Every question has a connection of its own. It is driven by the future that asks, and not by a
//! task: who stops waiting has also hung up.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use http_body_util::BodyExt as _;
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

use crate::body::OutboundBody;
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
    body: OutboundBody,
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
        Request::new(Method::GET, endpoint, OutboundBody::bytes(Bytes::new()))
    }

    /// Sends JSON.
    pub fn post_json(endpoint: Endpoint, body: impl Into<Bytes>) -> Request {
        let mut request = Request::post(endpoint, OutboundBody::bytes(body.into()));
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request
    }

    /// Sends a body.
    pub fn post(endpoint: Endpoint, body: OutboundBody) -> Request {
        Request::new(Method::POST, endpoint, body)
    }

    /// Stores a body.
    pub fn put(endpoint: Endpoint, body: OutboundBody) -> Request {
        Request::new(Method::PUT, endpoint, body)
    }

    fn new(method: Method, endpoint: Endpoint, body: OutboundBody) -> Request {
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
        let mut whole = Whole { bytes: BytesMut::new(), bytes_max: self.bounds.body_bytes };
        self.bounded_exchange(request, &mut whole).await
    }

    /// Asks, and gives the body of a success to `sink` piece by piece; its length has no bound. Any other
    /// body is in the answer, as [`Client::send`] has it. Dropping the future hangs up.
    pub async fn receive(
        &self,
        request: Request,
        sink: &mut (dyn FnMut(Bytes) -> io::Result<()> + Send),
    ) -> Result<Answer, Error> {
        let whole = Whole { bytes: BytesMut::new(), bytes_max: self.bounds.body_bytes };
        let mut pieces = Pieces { sink, whole, is_success: false };
        self.bounded_exchange(request, &mut pieces).await
    }

    async fn bounded_exchange(
        &self,
        request: Request,
        taker: &mut dyn BodyTaker,
    ) -> Result<Answer, Error> {
        let late = Err(Error::Timeout { what: "answer" });
        timeout(self.bounds.total, self.exchange(request, taker)).await.unwrap_or(late)
    }

    async fn exchange(&self, request: Request, taker: &mut dyn BodyTaker) -> Result<Answer, Error> {
        let late = |_| Error::Timeout { what: CONNECTING };
        let endpoint = request.endpoint.clone();
        let connected = TcpStream::connect((endpoint.connect_host(), endpoint.port));
        let connect = self.bounds.connect;
        if !endpoint.secure {
            let stream =
                timeout(connect, connected).await.map_err(late)?.map_err(Error::Connect)?;
            return speak(stream, request, taker).await;
        }
        let name = ServerName::try_from(endpoint.host.clone())
            .map_err(|_| Error::BadUrl { why: "names a host that no certificate can be for" })?;
        let secured = async {
            let stream = connected.await.map_err(Error::Connect)?;
            self.tls.connect(name, stream).await.map_err(Error::Tls)
        };
        let stream = timeout(connect, secured).await.map_err(late)??;
        speak(stream, request, taker).await
    }
}

/// Takes the body of an answer.
trait BodyTaker: Send {
    /// The head is here: its status, and the least length of its body.
    fn begin(&mut self, status: u16, bytes_min: u64) -> Result<(), Error>;
    fn take(&mut self, piece: Bytes) -> Result<(), Error>;
    /// The part of the body that the answer holds.
    fn end(&mut self) -> Bytes;
}

/// The whole body, up to a bound.
struct Whole {
    bytes: BytesMut,
    bytes_max: usize,
}

impl BodyTaker for Whole {
    fn begin(&mut self, _status: u16, bytes_min: u64) -> Result<(), Error> {
        match bytes_min > self.bytes_max as u64 {
            true => Err(Error::TooLarge { max: self.bytes_max }),
            false => Ok(()),
        }
    }

    fn take(&mut self, piece: Bytes) -> Result<(), Error> {
        if self.bytes.len() + piece.len() > self.bytes_max {
            return Err(Error::TooLarge { max: self.bytes_max });
        }
        self.bytes.extend_from_slice(&piece);
        Ok(())
    }

    fn end(&mut self) -> Bytes {
        std::mem::take(&mut self.bytes).freeze()
    }
}

/// The body of a success piece by piece, any other whole.
struct Pieces<'a> {
    sink: &'a mut (dyn FnMut(Bytes) -> io::Result<()> + Send),
    whole: Whole,
    is_success: bool,
}

impl BodyTaker for Pieces<'_> {
    fn begin(&mut self, status: u16, bytes_min: u64) -> Result<(), Error> {
        self.is_success = (200..=299).contains(&status);
        if self.is_success { Ok(()) } else { self.whole.begin(status, bytes_min) }
    }

    fn take(&mut self, piece: Bytes) -> Result<(), Error> {
        match self.is_success {
            true => (self.sink)(piece).map_err(Error::Sink),
            false => self.whole.take(piece),
        }
    }

    fn end(&mut self) -> Bytes {
        self.whole.end()
    }
}

async fn speak<S>(stream: S, request: Request, taker: &mut dyn BodyTaker) -> Result<Answer, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Request { method, endpoint, headers, body } = request;
    let mut question = http::Request::new(body);
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
        let status = head.status.as_u16();
        let body = collect(body, status, taker).await?;
        Ok(Answer { status, body, headers: head.headers })
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

async fn collect(
    mut body: Incoming,
    status: u16,
    taker: &mut dyn BodyTaker,
) -> Result<Bytes, Error> {
    taker.begin(status, body.size_hint().lower())?;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(Error::Protocol)?.into_data() else { continue };
        taker.take(data)?;
    }
    Ok(taker.end())
}

#[cfg(test)]
mod tests;
