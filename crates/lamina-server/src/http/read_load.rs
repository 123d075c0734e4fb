//! How many reads the surface takes at once: a request beyond them is refused and can be sent again, so that a crowd of
//! clients costs a bounded amount of memory.
//!
//! The engine works on few of them at the same time; the others wait in line here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lamina_api::ApiError;
use lamina_types::ErrorCode;

/// Counts the reads under way.
#[derive(Debug, Clone)]
pub(crate) struct ReadLoad {
    under_way: Arc<AtomicUsize>,
    max: usize,
}

/// The place of one read, until it is dropped.
#[derive(Debug)]
pub(crate) struct ReadPlace(Arc<AtomicUsize>);

impl ReadLoad {
    /// A load of so many reads at most.
    pub(crate) fn new(max: usize) -> ReadLoad {
        ReadLoad { under_way: Arc::default(), max }
    }

    /// Takes a place for a read, if there is one.
    pub(crate) fn begin(&self) -> Result<ReadPlace, ApiError> {
        let place = ReadPlace(Arc::clone(&self.under_way));
        if self.under_way.fetch_add(1, Ordering::AcqRel) < self.max {
            return Ok(place);
        }
        let text =
            format!("The server already works on {} reads; try again in a second.", self.max);
        Err(ApiError::new(ErrorCode::Overloaded, text).retry_after(1))
    }
}

impl Drop for ReadPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
