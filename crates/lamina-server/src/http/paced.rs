//! A body that is read no further ahead than it is used.
//!
//! The parser of forms takes everything the connection has before it looks at it, and keeps what it
//! cannot place: without a bound, a body without a boundary would end up in memory, whole.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures_util::Stream;

/// Bytes in a row before whoever reads has to look at them.
const BURST_BYTES: usize = 1 << 20;
/// Bytes that were read and not used; more than a burst and the largest piece of a body.
const AHEAD_BYTES_MAX: usize = 4 << 20;

/// Counts what was read and is not used yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter(Arc<AtomicUsize>);

impl Meter {
    /// So many bytes are out of the way.
    pub(crate) fn used(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The body, and the meter that its reader moves on.
pub(crate) fn paced(body: Body) -> (Body, Meter) {
    let meter = Meter::default();
    let paced = Paced { body: body.into_data_stream(), meter: meter.clone(), in_a_row: 0 };
    (Body::from_stream(paced), meter)
}

#[derive(Debug)]
struct Paced {
    body: BodyDataStream,
    meter: Meter,
    in_a_row: usize,
}

impl Stream for Paced {
    type Item = Result<Bytes, axum::BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.in_a_row >= BURST_BYTES {
            self.in_a_row = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let polled = Pin::new(&mut self.body).poll_next(context);
        let Poll::Ready(next) = polled else {
            self.in_a_row = 0;
            return Poll::Pending;
        };
        let Some(Ok(bytes)) = next else {
            return Poll::Ready(next.map(|failed| failed.map_err(Into::into)));
        };
        self.in_a_row += bytes.len();
        let ahead = self.meter.0.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
        if ahead > AHEAD_BYTES_MAX {
            let why = "more of the body was read than could be understood";
            return Poll::Ready(Some(Err(io::Error::other(why).into())));
        }
        Poll::Ready(Some(Ok(bytes)))
    }
}
