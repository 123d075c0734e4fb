//! Request bodies: bounded before they are buffered, and in time.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use lamina_api::ApiError;
use lamina_types::ErrorCode;
use tokio::time::timeout;

/// How much of a body that is refused anyway is still read. A client that is busy sending does not
/// look for an answer; cut off in the middle, it would report a broken connection and not our code.
const DRAIN_BYTES_MAX: u64 = 64 << 20;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(5);

/// What a body may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Bytes.
    pub(crate) bytes: u64,
    /// From the first byte to the last.
    pub(crate) time: Duration,
}

/// The whole body.
pub(crate) async fn read(
    headers: &HeaderMap,
    mut body: Body,
    bounds: Bounds,
) -> Result<Bytes, ApiError> {
    if declared(headers).is_some_and(|bytes| bytes > bounds.bytes) {
        drain(headers, body).await;
        return Err(too_large(bounds.bytes));
    }
    match timeout(bounds.time, collect(&mut body, bounds.bytes)).await {
        Err(_) => Err(late()),
        Ok(Err(Broken::TooLarge)) => {
            drain(headers, body).await;
            Err(too_large(bounds.bytes))
        }
        Ok(Err(Broken::Cut)) => Err(cut()),
        Ok(Ok(bytes)) => Ok(bytes),
    }
}

/// The next piece of a body that is not buffered; `None` at its end.
pub(crate) async fn piece(body: &mut Body, time: Duration) -> Result<Option<Bytes>, ApiError> {
    loop {
        match timeout(time, body.frame()).await {
            Err(_) => return Err(late()),
            Ok(None) => return Ok(None),
            Ok(Some(Err(_))) => return Err(cut()),
            Ok(Some(Ok(frame))) => {
                // Trailers are no part of the content.
                if let Ok(bytes) = frame.into_data() {
                    return Ok(Some(bytes));
                }
            }
        }
    }
}

/// Reads and forgets the rest, within reason.
pub(crate) async fn drain(headers: &HeaderMap, mut body: Body) {
    // A client that waits for `100 Continue` has sent nothing and is listening.
    if headers.contains_key(EXPECT) {
        return;
    }
    let rest = async {
        let mut left = DRAIN_BYTES_MAX;
        while left > 0 {
            match body.frame().await {
                Some(Ok(frame)) => {
                    let bytes = frame.data_ref().map_or(0, Bytes::len);
                    left = left.saturating_sub(bytes as u64);
                }
                Some(Err(_)) | None => break,
            }
        }
    };
    // Whether it came in time makes no difference to the answer.
    let _ = timeout(DRAIN_TIME_MAX, rest).await;
}

/// What the client says the body will be.
pub(crate) fn declared(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

enum Broken {
    TooLarge,
    Cut,
}

async fn collect(body: &mut Body, bytes_max: u64) -> Result<Bytes, Broken> {
    let Some(first) = next(body).await? else {
        return Ok(Bytes::new());
    };
    if first.len() as u64 > bytes_max {
        return Err(Broken::TooLarge);
    }
    // Most bodies arrive in one piece, and that piece is the body: nothing is copied.
    if body.is_end_stream() {
        return Ok(first);
    }
    let mut whole = BytesMut::from(first);
    while let Some(more) = next(body).await? {
        if (whole.len() + more.len()) as u64 > bytes_max {
            return Err(Broken::TooLarge);
        }
        whole.extend_from_slice(&more);
    }
    Ok(whole.freeze())
}

async fn next(body: &mut Body) -> Result<Option<Bytes>, Broken> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Broken::Cut)?;
        if let Ok(bytes) = frame.into_data() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

fn too_large(bytes_max: u64) -> ApiError {
    ApiError::new(ErrorCode::BodyTooLarge, format!("The body has more than {bytes_max} bytes."))
        .with("limit_bytes", bytes_max)
}

fn late() -> ApiError {
    ApiError::of(ErrorCode::RequestTimeout)
}

fn cut() -> ApiError {
    let reason = "the body ended early or is badly framed";
    ApiError::new(ErrorCode::InvalidBody, "The body ended early or is badly framed.")
        .with("reason", reason)
}

#[cfg(test)]
mod tests;
