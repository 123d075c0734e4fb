//! What is no request that HTTP/1 allows is refused with the envelope too.
//!
//! The connection refuses it before any of our code sees it, with a bare status. Nothing but such a refusal can be
//! written while nothing is asked: before the first request, and after an answer until the next. Then, and only then, it
//! is put in our own words. An answer is out when its body is given up and everything before that was flushed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use lamina_api::ApiError;
use lamina_env::Env;
use lamina_types::ErrorCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::busy::Busy;
use super::request_id::{self, Id};

/// Whether a request of this connection has reached our code and its answer is not out yet.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    noted: Arc<AtomicBool>,
    busy: Busy,
}

impl Asked {
    /// Of a connection whose requests are counted here.
    pub(crate) fn new(busy: Busy) -> Asked {
        Asked { noted: Arc::default(), busy }
    }

    /// A request is about to be counted.
    pub(crate) fn note(&self) {
        self.noted.store(true, Ordering::Relaxed);
    }

    /// Everything that was written so far is out.
    fn flushed(&self) {
        if !self.busy.is_busy() {
            self.noted.store(false, Ordering::Relaxed);
        }
    }

    fn is_noted(&self) -> bool {
        self.noted.load(Ordering::Relaxed)
    }
}

/// A stream on which bare refusals become explained ones.
#[derive(Debug)]
pub(crate) struct Garbled<S> {
    inner: S,
    asked: Asked,
    env: Env,
    /// What goes out instead of the bare refusal, from `sent` on.
    refusal: Option<Vec<u8>>,
    sent: usize,
}

impl<S: AsyncWrite + Unpin> Garbled<S> {
    pub(crate) fn new(inner: S, asked: Asked, env: Env) -> Garbled<S> {
        Garbled { inner, asked, env, refusal: None, sent: 0 }
    }

    /// Sends what is left of the refusal.
    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest) = self.refusal.as_ref().and_then(|refusal| refusal.get(self.sent..))
            && !rest.is_empty()
        {
            match Pin::new(&mut self.inner).poll_write(context, rest) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(count)) => self.sent += count,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// The refusal in our own words, if these bytes are a bare one.
fn explained(bare: &[u8], env: &Env) -> Option<Vec<u8>> {
    let status = bare.strip_prefix(b"HTTP/1.1 ").or_else(|| bare.strip_prefix(b"HTTP/1.0 "))?;
    let error = match status.get(..3)? {
        b"400" => ApiError::of(ErrorCode::MalformedRequest),
        b"414" => {
            let what = "The request's address is longer than the server takes. Send what is long in the body.";
            ApiError { status: 414, ..ApiError::new(ErrorCode::HeadersTooLarge, what) }
        }
        b"431" => ApiError::of(ErrorCode::HeadersTooLarge),
        _ => return None,
    };
    let id = Id::mint(env);
    let body = serde_json::to_vec(&error.envelope(id.as_str(), None)).ok()?;
    let reason = axum::http::StatusCode::from_u16(error.status).ok()?.canonical_reason()?;
    let head = format!(
        "HTTP/1.1 {} {reason}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n{}: {}\r\n\r\n",
        error.status,
        body.len(),
        request_id::HEADER,
        id.as_str(),
    );
    Some([head.into_bytes(), body].concat())
}

impl<S: AsyncRead + Unpin> AsyncRead for Garbled<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Garbled<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let garbled = &mut *self;
        if !garbled.asked.is_noted()
            && garbled.refusal.is_none()
            && let Some(refusal) = explained(bytes, &garbled.env)
        {
            garbled.refusal = Some(refusal);
        }
        if garbled.refusal.is_none() {
            return Pin::new(&mut garbled.inner).poll_write(context, bytes);
        }
        // The bare one is taken and goes nowhere.
        match garbled.poll_refusal(context) {
            Poll::Ready(Ok(())) => Poll::Ready(Ok(bytes.len())),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.asked.is_noted() {
            return Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        }
        let first = slices.iter().find(|slice| !slice.is_empty()).map_or(&[][..], |slice| slice);
        self.poll_write(context, first)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_flush(context);
        if matches!(polled, Poll::Ready(Ok(()))) {
            self.asked.flushed();
        }
        polled
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests;
