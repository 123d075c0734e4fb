//! How far the views are, for those who wait for it.

use tokio::sync::watch;

/// How far the views are.
#[derive(Debug)]
pub struct Applied(watch::Sender<State>);

#[derive(Debug, Clone, Copy)]
struct State {
    offset: u64,
    stopped: bool,
}

impl Default for Applied {
    fn default() -> Applied {
        Applied::new(0)
    }
}

impl Applied {
    /// Views that have everything before this offset.
    pub fn new(offset: u64) -> Applied {
        Applied(watch::Sender::new(State { offset, stopped: false }))
    }

    /// Everything before this offset is in the views.
    pub fn offset(&self) -> u64 {
        self.0.borrow().offset
    }

    /// Says that everything before this offset is in the views now.
    pub fn advance(&self, offset: u64) {
        self.0.send_modify(|state| state.offset = offset);
    }

    /// Says that the views will not advance any more, or not before [`Applied::resume`].
    pub fn stop(&self) {
        self.0.send_modify(|state| state.stopped = true);
    }

    /// Says that they advance again.
    pub fn resume(&self) {
        self.0.send_modify(|state| state.stopped = false);
    }

    /// Whether the views will not advance any more.
    pub fn is_stopped(&self) -> bool {
        self.0.borrow().stopped
    }

    /// Waits until everything before this offset is in the views. Does not wait for views that have
    /// stopped: what they have can be read, and health says why there is no more.
    pub async fn reached(&self, offset: u64) {
        let there = |state: &State| state.stopped || state.offset >= offset;
        if there(&self.0.borrow()) {
            return;
        }
        // The sender is `self`, so it cannot be gone.
        drop(self.0.subscribe().wait_for(there).await);
    }
}

#[cfg(test)]
mod tests;
