//! A reader of the log that notes the damage it meets, so that health is degraded by the read that found it.

use std::sync::Arc;

use lamina_store::entry::{Entry, Head, Place};
use lamina_store::log::{LogError, LogReader, Tip};

use super::ScrubStatus;

/// Reads through another reader.
#[derive(Debug)]
pub(crate) struct Watching {
    inner: Arc<dyn LogReader>,
    status: Arc<ScrubStatus>,
}

impl Watching {
    /// Wraps a reader; damage is told to `status`.
    pub(crate) fn over(inner: Arc<dyn LogReader>, status: &Arc<ScrubStatus>) -> Arc<dyn LogReader> {
        Arc::new(Watching { inner, status: Arc::clone(status) })
    }

    fn watch<T>(&self, read: Result<T, LogError>) -> Result<T, LogError> {
        if let Err(error) = &read
            && error.is_damage()
        {
            self.status.found(error.to_string());
        }
        read
    }
}

impl LogReader for Watching {
    fn read(
        &self,
        from: u64,
        place: Option<Place>,
        entries_max: usize,
        bytes_max: usize,
    ) -> Result<Vec<Entry>, LogError> {
        self.watch(self.inner.read(from, place, entries_max, bytes_max))
    }

    fn heads(
        &self,
        from: u64,
        place: Option<Place>,
        entries_max: usize,
    ) -> Result<Vec<(Head, Place)>, LogError> {
        self.watch(self.inner.heads(from, place, entries_max))
    }

    fn entry(&self, offset: u64, place: Place) -> Result<Entry, LogError> {
        self.watch(self.inner.entry(offset, place))
    }

    fn tip_at(&self, place: Place) -> Result<Tip, LogError> {
        self.watch(self.inner.tip_at(place))
    }
}
