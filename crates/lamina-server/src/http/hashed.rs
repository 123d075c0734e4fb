//! The hash of a body that goes to disk piece by piece, for its audit row (R390).

use std::sync::Arc;

use axum::body::Body;
use futures_util::TryStreamExt as _;
use lamina_engine::audit::{Pepper, Pieces};
use parking_lot::Mutex;

use super::record::Record;

/// A hash that grows while its body is read.
#[derive(Debug, Clone)]
pub(crate) struct BodyHash(Arc<Mutex<(Pieces, u64)>>);

/// The body, and the hash of what was read of it.
pub(crate) fn hashed(body: Body, pepper: &Pepper) -> (Body, BodyHash) {
    let hash = BodyHash(Arc::new(Mutex::new((pepper.body_pieces(), 0))));
    let growing = hash.clone();
    let pieces = body.into_data_stream().inspect_ok(move |bytes| {
        let mut hash = growing.0.lock();
        hash.0.add(bytes);
        hash.1 += bytes.len() as u64;
    });
    (Body::from_stream(pieces), hash)
}

impl BodyHash {
    /// Notes what was read: all of it, or as much as it took to refuse it.
    pub(crate) fn note(&self, record: &Record) {
        let (pieces, bytes) = self.0.lock().clone();
        record.body(pieces.finish(), bytes);
    }
}
