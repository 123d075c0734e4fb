//! Connections: accept, find out which HTTP they speak, bound what a slow or greedy client can hold,
//! and let requests finish when the server closes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::config::Limits;

/// Bytes of a request's head; a longer one is answered with 431 before any of our code sees it.
const HEAD_BYTES_MAX: usize = 256 << 10;
/// Streams of one HTTP/2 connection.
const STREAMS_MAX: u32 = 256;
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

/// Serves until `closing` says so, then lets requests that are under way finish, for a while.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, mut closing: Closing) {
    let slots = Arc::new(Semaphore::new(usize::try_from(limits.connections).unwrap_or(usize::MAX)));
    let door = Arc::new(Door {
        router,
        header_timeout: Duration::from_millis(limits.header_timeout_ms),
        closing: closing.clone(),
    });
    let graceful = GracefulShutdown::new();
    let mut tasks = JoinSet::new();
    loop {
        // Without a free slot nothing is accepted: the kernel's queue holds the rest.
        let accepted = async {
            let slot = Arc::clone(&slots).acquire_owned().await;
            (slot, listener.accept().await)
        };
        tokio::select! {
            (slot, stream) = accepted => match (slot, stream) {
                (Ok(slot), Ok((stream, _))) => {
                    let door = Arc::clone(&door);
                    tasks.spawn(door.connection(stream, graceful.watcher(), slot));
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
    if timeout(grace, graceful.shutdown()).await.is_err() {
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
    router: Router,
    header_timeout: Duration,
    closing: Closing,
}

impl Door {
    async fn connection(
        self: Arc<Self>,
        stream: TcpStream,
        watcher: Watcher,
        slot: OwnedSemaphorePermit,
    ) {
        // Answers are small: waiting to fill a packet would only add latency.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY was refused");
        }
        let mut closing = self.closing.clone();
        let spoken = tokio::select! {
            spoken = timeout(self.header_timeout, spoken(&stream)) => spoken,
            () = closed(&mut closing) => return,
        };
        let ended: Result<(), hyper::Error> = match spoken {
            Ok(Ok(Protocol::Http1)) => self.http1(stream, watcher).await,
            Ok(Ok(Protocol::Http2)) => self.http2(stream, watcher).await,
            // It left, or it never said a word.
            Ok(Err(_)) | Err(_) => Ok(()),
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended badly");
        }
        drop(slot);
    }

    async fn http1(&self, stream: TcpStream, watcher: Watcher) -> Result<(), hyper::Error> {
        let service = TowerToHyperService::new(self.router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.header_timeout)
            .max_header_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        watcher.watch(connection).await
    }

    async fn http2(&self, stream: TcpStream, watcher: Watcher) -> Result<(), hyper::Error> {
        let service = TowerToHyperService::new(self.router.clone());
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_INTERVAL)
            .max_concurrent_streams(STREAMS_MAX)
            .max_header_list_size(HEAD_BYTES_MAX as u32)
            .serve_connection(TokioIo::new(stream), service);
        watcher.watch(connection).await
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
