//! What waits for the audit thread. Whoever puts something in never waits.
//!
//! The thread is woken when the queue was empty, and when it should hurry; not for every row,
//! because at thousands of rows a second waking costs more than the rows.

use std::time::Duration;

use lamina_types::AuditRow;
use parking_lot::{Condvar, Mutex};
use tokio::sync::oneshot;

use super::carried::Carried;

/// Messages that may wait.
const QUEUED_MAX: usize = 32_768;
/// So many and the thread hurries.
const HURRY_AT: usize = 1_024;

/// What the audit thread is told.
#[derive(Debug)]
pub(crate) enum Message {
    /// A row to write.
    Row(Box<AuditRow>),
    /// The log has come so far, and these entries carry rows.
    Written { carried: Vec<Carried>, next_offset: u64 },
    /// Write what was said before this, and then say so.
    Flush(oneshot::Sender<()>),
}

#[derive(Debug, Default)]
struct State {
    messages: Vec<Message>,
    hurry: bool,
    closed: bool,
}

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    wake: Condvar,
}

impl Queue {
    /// Puts a message in; `false` if there is no room, or nobody reads any more.
    pub(crate) fn push(&self, message: Message) -> bool {
        let mut state = self.state.lock();
        if state.closed || state.messages.len() >= QUEUED_MAX {
            return false;
        }
        let was_empty = state.messages.is_empty();
        let hurry = matches!(message, Message::Flush(_)) || state.messages.len() + 1 == HURRY_AT;
        state.hurry |= hurry;
        state.messages.push(message);
        drop(state);
        if was_empty || hurry {
            self.wake.notify_one();
        }
        true
    }

    /// Takes no more messages; what is in it is still read.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.wake.notify_one();
    }

    /// Everything that waits, after waiting for it at most this long; `None` once it is closed and
    /// empty.
    pub(crate) fn take(&self, timeout: Duration) -> Option<Vec<Message>> {
        let mut state = self.state.lock();
        if state.messages.is_empty() && !state.closed {
            self.wake.wait_for(&mut state, timeout);
        }
        state.hurry = false;
        let messages = std::mem::take(&mut state.messages);
        (!messages.is_empty() || !state.closed).then_some(messages)
    }

    /// Lets messages gather for a while, unless there is a hurry.
    pub(crate) fn gather(&self, pause: Duration) {
        let mut state = self.state.lock();
        if !state.hurry && !state.closed {
            self.wake.wait_while_for(&mut state, |state| !state.hurry && !state.closed, pause);
        }
    }
}
