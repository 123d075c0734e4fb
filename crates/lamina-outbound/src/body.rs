//! The body of a request: known bytes, or pieces that are sent as they are made.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

/// Pieces that wait to be sent.
const PIECES_WAITING_MAX: usize = 8;

/// The body of a request.
#[derive(Debug)]
pub struct OutboundBody {
    source: BodySource,
    /// Bytes that are left, if that is known.
    left: Option<u64>,
}

#[derive(Debug)]
enum BodySource {
    Bytes(Option<Bytes>),
    Pieces(mpsc::Receiver<io::Result<Bytes>>),
}

impl OutboundBody {
    /// Bytes that are here already.
    pub fn bytes(bytes: Bytes) -> OutboundBody {
        let left = Some(bytes.len() as u64);
        let source = BodySource::Bytes(Some(bytes).filter(|bytes| !bytes.is_empty()));
        OutboundBody { source, left }
    }

    /// Pieces that are given to the sender. Dropping the sender ends the body; an error cuts the request.
    /// With a length the request says it, and fails if other bytes come.
    pub fn channel(length: Option<u64>) -> (mpsc::Sender<io::Result<Bytes>>, OutboundBody) {
        let (sender, pieces) = mpsc::channel(PIECES_WAITING_MAX);
        (sender, OutboundBody { source: BodySource::Pieces(pieces), left: length })
    }
}

impl Body for OutboundBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = &mut *self;
        let next = match &mut this.source {
            BodySource::Bytes(bytes) => Poll::Ready(bytes.take().map(Ok)),
            BodySource::Pieces(pieces) => pieces.poll_recv(context),
        };
        let Poll::Ready(next) = next else { return Poll::Pending };
        let Some(piece) = next else {
            let is_short = this.left.is_some_and(|left| left > 0);
            return Poll::Ready(is_short.then(|| Err(wrong_length())));
        };
        Poll::Ready(Some(piece.and_then(|piece| {
            if let Some(left) = &mut this.left {
                *left = left.checked_sub(piece.len() as u64).ok_or_else(wrong_length)?;
            }
            Ok(Frame::data(piece))
        })))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.source, BodySource::Bytes(None))
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}

fn wrong_length() -> io::Error {
    io::Error::other("the body has another length than was said")
}
