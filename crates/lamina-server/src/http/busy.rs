//! Whether anything is under way on a connection.
//!
//! An HTTP/2 peer that answers pings looks alive for ever. One that also asks for nothing holds a place that
//! others could use, so the connection has to know when its last request was over. One of HTTP/1 has to know it to tell
//! an answer from a refusal of its own.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response};
use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;
use tokio::time::sleep;

use super::starting::Routes;

/// Counts the requests under way.
#[derive(Debug, Clone)]
pub(crate) struct Busy(Arc<watch::Sender<usize>>);

impl Busy {
    pub(crate) fn new() -> Busy {
        Busy(Arc::new(watch::Sender::new(0)))
    }

    /// Resolves when nothing was under way for so long.
    pub(crate) async fn idle(&self, time: Duration) {
        let mut count = self.0.subscribe();
        loop {
            // The sender is ours: it cannot be gone.
            let _ = count.wait_for(|count| *count == 0).await;
            tokio::select! {
                () = sleep(time) => return,
                // Also when it is 0 again by now: something was under way.
                _ = count.changed() => {}
            }
        }
    }

    /// Whether anything is under way.
    pub(crate) fn is_busy(&self) -> bool {
        *self.0.borrow() > 0
    }

    pub(super) fn begin(&self) -> Held {
        self.0.send_modify(|count| *count += 1);
        Held(self.clone())
    }
}

/// One request under way.
#[derive(Debug)]
pub(super) struct Held(Busy);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

/// The router, counting.
#[derive(Debug, Clone)]
pub(crate) struct Counted {
    pub(crate) routes: Routes,
    pub(crate) busy: Busy,
}

type Answering = Pin<Box<dyn Future<Output = Result<Response<CountedBody>, Infallible>> + Send>>;

impl Service<Request<Incoming>> for Counted {
    type Response = Response<CountedBody>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Answering {
        let held = self.busy.begin();
        let answering = TowerToHyperService::new(self.routes.current()).call(request);
        Box::pin(async move {
            let response = answering.await?;
            Ok(response.map(|body| CountedBody { body, _held: held }))
        })
    }
}

/// A body that is under way until it was sent or given up.
#[derive(Debug)]
pub(crate) struct CountedBody {
    body: Body,
    _held: Held,
}

impl hyper::body::Body for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests;
