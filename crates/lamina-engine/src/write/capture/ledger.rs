//! Noting what was taken back, before anybody hears that it is done.

use lamina_store::entry::Entry;
use lamina_store::log::{Appended, LogReader};

use super::{Capture, Committed, Due};
use crate::Error;
use crate::ledger::{Keeper, keeps};
use crate::write::request::Request;

impl Capture {
    /// The same, and what is taken back is noted in a ledger.
    pub(crate) fn with_ledger(self, ledger: Option<Keeper>) -> Capture {
        Capture { ledger, ..self }
    }

    /// Whether a request must wait for a ledger that could not be written: what is taken back now
    /// would come back with a restore.
    pub(super) fn waits_for_ledger(&mut self, request: &Request) -> bool {
        let takes_back = matches!(request, Request::Erase { .. } | Request::TakeBack { .. });
        let next = self.log.tip().next_offset;
        takes_back
            && self.ledger.as_mut().is_some_and(|ledger| {
                !ledger.has_room() || ledger.is_behind() && ledger.flush(next).is_err()
            })
    }

    /// Writes what could not be noted before.
    pub(super) fn mend_ledger(&mut self) {
        let next = self.log.tip().next_offset;
        let behind = self.ledger.as_mut().filter(|ledger| ledger.is_behind());
        if behind.is_some_and(|ledger| ledger.flush(next).is_ok()) {
            tracing::info!("the ledger of erasures has everything again");
        }
    }

    /// Whether something that was taken back is not noted.
    pub(crate) fn is_ledger_behind(&self) -> bool {
        self.ledger.as_ref().is_some_and(Keeper::is_behind)
    }

    /// What the log appended by itself, noted.
    pub(super) fn noted(&mut self, appended: Vec<Appended>) -> Committed {
        let mut committed = Committed { appended, ..Committed::default() };
        self.note(&mut committed);
        committed
    }

    /// Notes what was committed. Whoever asked for what could not be noted is told so.
    pub(super) fn note(&mut self, committed: &mut Committed) {
        let Some(ledger) = &mut self.ledger else { return };
        let next = self.log.tip().next_offset;
        let entries = || committed.appended.iter().flat_map(|appended| &appended.entries);
        let noted = match entries().any(keeps) {
            true => noted(ledger, &*self.log.reader(), entries(), next),
            // How far it goes is only worth a write now and then.
            false if entries().any(|entry| entry.head.is_closing()) => {
                ledger.reached(next).map_err(|error| error.to_string())
            }
            false => return,
        };
        let Err(error) = noted else { return };
        tracing::error!(%error, "the ledger of erasures cannot be written; nothing is taken back until it can");
        let waits = |due: &mut Due| matches!(due, Due::TakenBack { .. });
        for due in committed.due.extract_if(.., waits) {
            if let Due::TakenBack { reply } = due {
                drop(reply.send(Err(Error::LedgerUnavailable { is_done: true })));
            }
        }
    }
}

fn noted<'e>(
    ledger: &mut Keeper,
    reader: &dyn LogReader,
    entries: impl Iterator<Item = &'e Entry>,
    next_offset: u64,
) -> Result<(), String> {
    for entry in entries {
        ledger.take(reader, entry).map_err(|error| error.to_string())?;
    }
    ledger.flush(next_offset).map_err(|error| error.to_string())
}
