//! What the writer can be asked to do, and how requests form a group.

use lamina_store::log::{NewEntry, Section};
use lamina_types::BlobId;
use lamina_types::limits::{BATCH_BYTES_MAX, ENTRY_BYTES_MAX};
use tokio::sync::oneshot;

use crate::Error;
use crate::write::capture::{Placed, PreparedWrite};

/// Bytes the log needs for an entry beyond its sections, rounded up.
const ENTRY_OVERHEAD: usize = 512;
/// Entries of one group: keeps the pause between two syncs short.
pub const GROUP_ENTRIES_MAX: usize = 1_024;

/// Where the answer to a request goes.
pub type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What became of the registration of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registered {
    /// The tenant has this ordinal.
    Is(u32),
    /// Nothing was written: the next tenant has this ordinal, and its key must be there first.
    Next(u32),
}

/// What the writer is asked to do.
#[derive(Debug)]
pub enum Request {
    /// Write experiences, all or none.
    Write {
        /// The experiences.
        items: Vec<PreparedWrite>,
        /// The answer: one place per item.
        reply: Reply<Vec<Placed>>,
    },
    /// Cancel the remaining stages of an event.
    Cancel {
        /// The entry to append.
        entry: Box<NewEntry>,
        /// The answer.
        reply: Reply<()>,
    },
    /// Announce a blob that is already durable in its file.
    BlobAdd {
        /// The tenant.
        tenant: u32,
        /// Who uploaded it.
        who: Section,
        /// Its metadata.
        what: Section,
        /// The answer.
        reply: Reply<()>,
    },
    /// Remove a blob that nothing refers to.
    BlobRemove {
        /// The tenant.
        tenant: u32,
        /// The blob.
        blob: BlobId,
        /// Who asks.
        who: Section,
        /// The answer: its metadata.
        reply: Reply<()>,
    },
    /// Make a tenant, unless there is one of this name.
    Tenant {
        /// Its name.
        name: String,
        /// The ordinal that a key was made for.
        ordinal: u32,
        /// The answer.
        reply: Reply<Registered>,
    },
}

impl Request {
    /// Entries and bytes it will take in the log, rounded up.
    pub fn size(&self) -> (usize, usize) {
        let bytes =
            |who: &Section, what: &Section| ENTRY_OVERHEAD + who.bytes().len() + what.bytes().len();
        match self {
            Request::Write { items, .. } => {
                // A first write to a scope brings the scope's own entry with it.
                let total = items.iter().map(|item| {
                    let words = item.scope.as_str().len() + item.owner.as_str().len();
                    2 * ENTRY_OVERHEAD + words + bytes(&item.who, &item.what)
                });
                (items.len() * 2, total.sum())
            }
            Request::Cancel { entry, .. } => (1, bytes(&entry.who, &entry.what)),
            Request::BlobAdd { who, what, .. } => (1, bytes(who, what)),
            Request::BlobRemove { who, .. } => (1, 2 * ENTRY_OVERHEAD + who.bytes().len()),
            Request::Tenant { name, .. } => (1, ENTRY_OVERHEAD + name.len()),
        }
    }

    /// Whether it is refused when room runs out; what takes something back is not.
    pub(super) fn grows(&self) -> bool {
        matches!(self, Request::Write { .. } | Request::BlobAdd { .. } | Request::Tenant { .. })
    }

    /// What is too large for the log in any batch; it must not take the rest of a group with it.
    pub(super) fn too_large(&self) -> Option<Error> {
        let fits = |who: &Section, what: &Section| {
            ENTRY_OVERHEAD + who.bytes().len() + what.bytes().len() <= ENTRY_BYTES_MAX
        };
        let fits = match self {
            Request::Write { items, .. } => items.iter().all(|item| fits(&item.who, &item.what)),
            Request::Cancel { entry, .. } => fits(&entry.who, &entry.what),
            Request::BlobAdd { who, what, .. } => fits(who, what),
            Request::BlobRemove { .. } | Request::Tenant { .. } => true,
        };
        (!fits).then_some(Error::TooLarge { limit: "ENTRY_BYTES_MAX" })
    }

    pub(crate) fn refuse(self, error: Error) {
        // A receiver that is gone does not wait for an answer.
        match self {
            Request::Write { reply, .. } => drop(reply.send(Err(error))),
            Request::Cancel { reply, .. }
            | Request::BlobAdd { reply, .. }
            | Request::BlobRemove { reply, .. } => {
                drop(reply.send(Err(error)));
            }
            Request::Tenant { reply, .. } => drop(reply.send(Err(error))),
        }
    }
}

/// Takes requests off a queue until a group is full. What did not fit is given back.
pub fn next_group(
    first: Request,
    mut more: impl FnMut() -> Option<Request>,
) -> (Vec<Request>, Option<Request>) {
    let (mut entries, mut bytes) = first.size();
    let mut group = vec![first];
    while entries < GROUP_ENTRIES_MAX
        && let Some(request) = more()
    {
        let (more_entries, more_bytes) = request.size();
        if bytes + more_bytes > BATCH_BYTES_MAX {
            return (group, Some(request));
        }
        entries += more_entries;
        bytes += more_bytes;
        group.push(request);
    }
    (group, None)
}
