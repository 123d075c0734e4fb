//! Server-sent events: how one looks on the wire, and a body that never lets a connection look dead.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use tokio::time::timeout;

use super::listen::{Closing, closed};

/// Proxies and clients give up on connections that are silent for longer than this.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How soon a client should come back, and something to read at once: the stream is open.
const OPENING: Bytes = Bytes::from_static(b"retry: 1000\n\n");
const STILL_HERE: Bytes = Bytes::from_static(b": still here\n\n");

/// What a source of events says next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Send this and go on.
    Frame(Bytes),
    /// Send this and end.
    Last(Bytes),
    /// End.
    Done,
}

/// Something that has events to send. `next` must be safe to drop while it waits.
pub(crate) trait Source: Send + 'static {
    fn next(&mut self) -> impl Future<Output = Next> + Send;
}

/// One event. The data must be a single line, as compact JSON is.
pub(crate) fn frame(id: Option<&str>, event: &str, data: &[u8]) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    let mut bytes = Vec::with_capacity(id.len() + event.len() + data.len() + 24);
    bytes.extend_from_slice(id.as_bytes());
    bytes.extend_from_slice(b"event: ");
    bytes.extend_from_slice(event.as_bytes());
    bytes.extend_from_slice(b"\ndata: ");
    bytes.extend_from_slice(data);
    bytes.extend_from_slice(b"\n\n");
    Bytes::from(bytes)
}

/// A response that sends what the source says until either of them, or the server, closes.
pub(crate) fn response(source: impl Source, closing: Closing) -> Response {
    let state = (source, closing, State::Opening);
    let frames = stream::unfold(state, |(mut source, mut closing, state)| async move {
        let (bytes, state) = match state {
            State::Ended => return None,
            State::Opening => (OPENING, State::Open),
            State::Open => {
                let said = tokio::select! {
                    said = timeout(KEEP_ALIVE, source.next()) => said,
                    () = closed(&mut closing) => return None,
                };
                match said {
                    Err(_) => (STILL_HERE, State::Open),
                    Ok(Next::Frame(bytes)) => (bytes, State::Open),
                    Ok(Next::Last(bytes)) => (bytes, State::Ended),
                    Ok(Next::Done) => return None,
                }
            }
        };
        Some((Ok::<_, std::convert::Infallible>(bytes), (source, closing, state)))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Some reverse proxies hold a response back until it is complete.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

enum State {
    Opening,
    Open,
    Ended,
}

#[cfg(test)]
mod tests;
