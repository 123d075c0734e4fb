//! How the model does, for health and for whoever asks what it costs.

use std::sync::atomic::{AtomicU32, Ordering};

use lamina_models::llm::Fault;
use parking_lot::Mutex;

/// Failures in a row after which health says so.
const TROUBLED_AFTER: u32 = 3;

/// How the model does.
#[derive(Debug, Default)]
pub struct ModelStatus {
    /// Failures of the server in a row.
    failures: AtomicU32,
    last: Mutex<Option<Fault>>,
}

impl ModelStatus {
    /// A call came back as it should.
    pub(crate) fn well(&self) {
        self.failures.store(0, Ordering::Relaxed);
        *self.last.lock() = None;
    }

    /// A call did not. Gives the number of failures in a row.
    pub(crate) fn failed(&self, fault: Fault) -> u32 {
        *self.last.lock() = Some(fault);
        let before = self.failures.fetch_add(1, Ordering::Relaxed);
        before.saturating_add(1)
    }

    /// Failures in a row.
    pub fn failures(&self) -> u32 {
        self.failures.load(Ordering::Relaxed)
    }

    /// What went wrong last, unless a call has come back well since.
    pub fn last_fault(&self) -> Option<Fault> {
        *self.last.lock()
    }

    /// What went wrong last, if that goes on.
    pub(crate) fn troubled(&self) -> Option<Fault> {
        self.last_fault().filter(|_| self.failures() >= TROUBLED_AFTER)
    }

    /// What an operator should know.
    pub fn trouble(&self) -> Option<String> {
        let fault = self.troubled()?;
        Some(format!(
            "the language model does not answer as it should ({}); the built-in rules go on",
            fault.as_str()
        ))
    }
}
