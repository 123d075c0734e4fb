//! Rows of an import: events and the entry that has their identities, in one append.

use lamina_store::log::NewEntry;

use super::{Capture, Due, Group, Placed, PreparedWrite, Reply, Slot};

impl Capture {
    /// Takes rows that the job knows to be new, and the entry of the step behind them.
    pub(super) fn take_import(
        &mut self,
        items: Vec<PreparedWrite>,
        step: NewEntry,
        reply: Reply<Vec<Placed>>,
        group: &mut Group,
    ) {
        let indexes: Vec<usize> = items.into_iter().map(|item| self.push(item, group)).collect();
        // The log numbers entries densely, in the order of the batch.
        let next_offset = self.log.tip().next_offset;
        let causes = indexes.iter().map(|index| next_offset + *index as u64).collect();
        group.entries.push(NewEntry { causes, ..step });
        let slots = indexes.into_iter().map(Slot::New).collect();
        group.due.push(Due::Write { slots, reply });
    }
}
