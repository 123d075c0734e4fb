//! Connections: accept, find out which HTTP they speak, bound what a slow or greedy client can hold,
//! and let requests finish when the server closes.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use lamina_env::Env;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::busy::{Busy, Counted};
use super::garbled::{Asked, Garbled};
use super::stall::Stall;
use super::starting::Routes;
use crate::config::Limits;
use crate::tls::{HTTP2, Tls};

/// Bytes of a request's head; a longer one is refused before a handler sees it.
const HEAD_BYTES_MAX: usize = 256 << 10;
/// Streams of one HTTP/2 connection.
const STREAMS_MAX: u32 = 256;
/// Streams that the peer has reset before we took them up; one more ends the connection. Opening and
/// resetting costs the peer nothing and us a request.
const PENDING_RESETS_MAX: usize = 20;
/// Streams that we had to reset, because of what the peer sent on them; one more ends the connection.
const OUR_RESETS_MAX: usize = 256;
/// How often an HTTP/2 peer is asked whether it is still there, and how long it may take to answer.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// What every HTTP/2 connection begins with.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Whether the server is closing; streams and waiting connections watch it.
pub type Closing = watch::Receiver<bool>;

/// Resolves when the server begins to close.
pub(crate) async fn closed(closing: &mut Closing) {
    // A sender that is gone counts as closing: nobody could say it any more.
    let _ = closing.wait_for(|closing| *closing).await;
}

/// Where connections come from.
#[derive(Debug)]
pub struct Acceptor {
    socket: Socket,
    connections: Busy,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// A connection that was taken.
enum Accepted {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl From<TcpListener> for Acceptor {
    fn from(listener: TcpListener) -> Acceptor {
        Acceptor { socket: Socket::Tcp(listener), connections: Busy::new() }
    }
}

impl From<UnixListener> for Acceptor {
    fn from(listener: UnixListener) -> Acceptor {
        Acceptor { socket: Socket::Unix(listener), connections: Busy::new() }
    }
}

impl Acceptor {
    /// Counts the connections.
    pub(crate) fn connections(&self) -> Busy {
        self.connections.clone()
    }

    async fn accept(&self) -> io::Result<Accepted> {
        match &self.socket {
            Socket::Tcp(listener) => Ok(Accepted::Tcp(listener.accept().await?.0)),
            Socket::Unix(listener) => Ok(Accepted::Unix(listener.accept().await?.0)),
        }
    }
}

/// Serves until `closing` says so, then lets requests that are under way finish, for a while.
pub async fn serve(
    listener: impl Into<Acceptor>,
    routes: impl Into<Routes>,
    limits: Limits,
    tls: Option<Arc<Tls>>,
    env: Env,
    mut closing: Closing,
) {
    let listener = listener.into();
    let slots = Arc::new(Semaphore::new(usize::try_from(limits.connections).unwrap_or(usize::MAX)));
    let door = Arc::new(Door {
        routes: routes.into(),
        tls,
        env,
        header_timeout: Duration::from_millis(limits.header_timeout_ms),
        handshake_timeout: Duration::from_millis(limits.handshake_timeout_ms),
        write_timeout: Duration::from_millis(limits.write_timeout_ms),
        closing: closing.clone(),
    });
    let mut tasks = JoinSet::new();
    loop {
        // Without a free slot nothing is accepted: the kernel's queue holds the rest.
        let accepted = async {
            let slot = Arc::clone(&slots).acquire_owned().await;
            (slot, listener.accept().await)
        };
        tokio::select! {
            (slot, stream) = accepted => match (slot, stream) {
                (Ok(slot), Ok(accepted)) => {
                    let held = listener.connections.begin();
                    let door = Arc::clone(&door);
                    tasks.spawn(async move {
                        match accepted {
                            Accepted::Tcp(stream) => door.connection(stream, slot).await,
                            Accepted::Unix(stream) => door.local_connection(stream, slot).await,
                        }
                        drop(held);
                    });
                }
                (_, Err(error)) => pause(&error).await,
                (Err(_), _) => break,
            },
            Some(_) = tasks.join_next() => {}
            () = closed(&mut closing) => break,
        }
    }
    drop(listener);
    let grace = Duration::from_millis(limits.shutdown_timeout_ms);
    let finished = timeout(grace, async { while tasks.join_next().await.is_some() {} }).await;
    if finished.is_err() {
        tracing::warn!(connections = tasks.len(), "requests did not finish in time and are cut");
    }
    tasks.shutdown().await;
}

/// Out of file descriptors or memory: trying again at once would only burn time.
async fn pause(error: &io::Error) {
    if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
        tracing::warn!(%error, "a connection could not be accepted");
        sleep(Duration::from_millis(50)).await;
    }
}

#[derive(Debug)]
struct Door {
    routes: Routes,
    tls: Option<Arc<Tls>>,
    env: Env,
    header_timeout: Duration,
    handshake_timeout: Duration,
    write_timeout: Duration,
    closing: Closing,
}

impl Door {
    async fn connection(self: Arc<Self>, stream: TcpStream, slot: OwnedSemaphorePermit) {
        // Answers are small: waiting to fill a packet would only add latency.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY was refused");
        }
        let peer = stream.peer_addr().ok().map(Peer);
        let mut closing = self.closing.clone();
        // Closing waits for requests, not for connections that have not made one yet.
        let ended = match &self.tls {
            None => {
                let spoken = tokio::select! {
                    spoken = timeout(self.header_timeout, spoken(&stream)) => spoken,
                    () = closed(&mut closing) => return,
                };
                // It left, or it never said a word.
                let Ok(Ok(protocol)) = spoken else { return };
                self.speak(protocol, peer, Stall::new(stream, self.write_timeout)).await
            }
            Some(tls) => {
                let stream = Stall::new(stream, self.write_timeout);
                let greeted = tokio::select! {
                    greeted = timeout(self.handshake_timeout, tls.acceptor().accept(stream)) => greeted,
                    () = closed(&mut closing) => return,
                };
                let stream = match greeted {
                    Ok(Ok(stream)) => stream,
                    Ok(Err(error)) => {
                        tracing::debug!(%error, "a TLS handshake failed");
                        return;
                    }
                    Err(_) => return,
                };
                let protocol = match stream.get_ref().1.alpn_protocol() {
                    Some(HTTP2) => Protocol::Http2,
                    _ => Protocol::Http1,
                };
                self.speak(protocol, peer, stream).await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended badly");
        }
        drop(slot);
    }

    /// A connection from a process of this machine. It speaks HTTP/1.
    async fn local_connection(self: Arc<Self>, stream: UnixStream, slot: OwnedSemaphorePermit) {
        let stream = Stall::new(stream, self.write_timeout);
        if let Err(error) = self.speak(Protocol::Http1, None, stream).await {
            tracing::debug!(%error, "a connection ended badly");
        }
        drop(slot);
    }

    async fn speak<S>(
        &self,
        protocol: Protocol,
        peer: Option<Peer>,
        stream: S,
    ) -> Result<(), hyper::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        match protocol {
            // Boxed, so that a task is as large as what it speaks.
            Protocol::Http1 => Box::pin(self.http1(peer, stream)).await,
            Protocol::Http2 => Box::pin(self.http2(peer, stream)).await,
        }
    }

    async fn http1<S>(&self, peer: Option<Peer>, stream: S) -> Result<(), hyper::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let busy = Busy::new();
        let asked = Asked::new(busy.clone());
        let stream = Garbled::new(stream, asked.clone(), self.env.clone());
        let inner = Counted { routes: self.routes.clone(), busy };
        let service = FromPeer { peer, asked, inner };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.header_timeout)
            .max_header_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let mut closing = self.closing.clone();
        tokio::select! {
            ended = connection.as_mut() => return ended,
            () = closed(&mut closing) => connection.as_mut().graceful_shutdown(),
        }
        connection.await
    }

    async fn http2<S>(&self, peer: Option<Peer>, stream: S) -> Result<(), hyper::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let busy = Busy::new();
        let inner = Counted { routes: self.routes.clone(), busy: busy.clone() };
        let service = FromPeer { peer, asked: Asked::new(busy.clone()), inner };
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_INTERVAL)
            .max_concurrent_streams(STREAMS_MAX)
            .max_pending_accept_reset_streams(PENDING_RESETS_MAX)
            .max_local_error_reset_streams(OUR_RESETS_MAX)
            .max_header_list_size(HEAD_BYTES_MAX as u32)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let mut closing = self.closing.clone();
        tokio::select! {
            ended = connection.as_mut() => ended,
            () = closed(&mut closing) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
            () = busy.idle(self.header_timeout) => {
                connection.as_mut().graceful_shutdown();
                // A peer that does not let go is let go of.
                timeout(self.header_timeout, connection).await.unwrap_or(Ok(()))
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Http1,
    Http2,
}

/// Looks at the first bytes without taking them. Done here, under a timeout, so that a client that
/// connects and says nothing does not hold its slot for ever.
async fn spoken(stream: &TcpStream) -> io::Result<Protocol> {
    loop {
        let mut bytes = [0; PREFACE.len()];
        let count = stream.peek(&mut bytes).await?;
        let seen = bytes.get(..count).unwrap_or_default();
        if seen.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if !PREFACE.starts_with(seen) {
            return Ok(Protocol::Http1);
        }
        if count == PREFACE.len() {
            return Ok(Protocol::Http2);
        }
        // The rest of the preface is on its way; bytes already seen keep the socket readable.
        sleep(Duration::from_millis(2)).await;
    }
}
/// Where a connection comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Tells each request of a connection where it comes from, and the connection that there was one.
struct FromPeer<S> {
    peer: Option<Peer>,
    asked: Asked,
    inner: S,
}

impl<S: Service<hyper::Request<Incoming>>> Service<hyper::Request<Incoming>> for FromPeer<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, mut request: hyper::Request<Incoming>) -> S::Future {
        self.asked.note();
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(peer);
        }
        self.inner.call(request)
    }
}
