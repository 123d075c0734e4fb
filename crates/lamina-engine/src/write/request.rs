//! What the writer can be asked to do, and how requests form a group.

use std::collections::BTreeMap;

use lamina_store::codec::control::{BlobKey, PolicyTarget};
use lamina_store::entry::{Kind, control};
use lamina_store::log::{EraseTarget, NewEntry, Section};
use lamina_types::limits::{BATCH_BYTES_MAX, ENTRY_BYTES_MAX, SCOPE_CHARS_MAX};
use lamina_types::{ActorId, BlobId, MemberRole, ScopePath};
use tokio::sync::oneshot;

use crate::Error;
use crate::write::capture::{Placed, PreparedWrite};

/// Bytes the log needs for an entry beyond its sections, rounded up.
const ENTRY_OVERHEAD: usize = 512;
/// Bytes of a cause in the head of an entry, at most.
const CAUSE_BYTES_MAX: usize = 10;
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

/// The blob that an upload came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobPlaced {
    /// Its id.
    pub id: BlobId,
    /// It was there before this request.
    pub replayed: bool,
}

/// A policy to be set. The writer knows which one it replaces.
#[derive(Debug)]
pub struct PolicyChange {
    /// The tenant; the deployment for its own policy.
    pub tenant: u32,
    /// What it is about.
    pub target: PolicyTarget,
    /// The document; `None` removes it.
    pub document: Option<String>,
    /// Who sets it.
    pub who: Section,
}

/// A scope to be changed. The writer knows its ordinal.
#[derive(Debug)]
pub struct ScopeRequest {
    /// The tenant.
    pub tenant: u32,
    /// The scope.
    pub path: ScopePath,
    /// Who is noted as the owner of a scope that is registered now.
    pub owner: ActorId,
    /// What becomes of it.
    pub change: ScopeChange,
    /// Who changes it.
    pub who: Section,
}

/// What becomes of a scope.
#[derive(Debug)]
pub enum ScopeChange {
    /// A first write to it, unless it is there.
    Begin {
        /// Whether that makes the caller its owner.
        registers: bool,
    },
    /// These belong to it, and nobody else. Registers it if need be.
    Set {
        /// Who belongs to it.
        members: Vec<(ActorId, MemberRole)>,
        /// What it asks of derivation.
        policies: String,
    },
    /// It is not registered any more.
    Remove,
}

/// A belief to be declared in a scope. The writer knows its ordinal.
#[derive(Debug)]
pub struct DeclareRequest {
    /// The tenant.
    pub tenant: u32,
    /// The scope.
    pub path: ScopePath,
    /// Who is noted as the owner of a scope that is registered now.
    pub owner: ActorId,
    /// Whether a first write makes the caller owner of the scope.
    pub registers: bool,
    /// Who declares it.
    pub who: Section,
    /// What is declared.
    pub what: Section,
}

/// What becomes of events beyond their words.
#[derive(Debug, Clone, Default)]
pub struct Remains {
    /// Events that others refer to, by their offsets, and the scopes in which what was made of them stays.
    /// What is made of the others goes as if they had never been written.
    pub stays: BTreeMap<u64, Vec<u64>>,
    /// Their idempotency keys are refused for a day; otherwise they are free at once.
    pub refuse_keys: bool,
    /// No read shows anything of them: nobody has to wait until they are gone from the views.
    pub hidden: bool,
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
    /// Write rows of an import and the entry that has their identities, all or none.
    Import {
        /// The rows.
        items: Vec<PreparedWrite>,
        /// The entry of the step; the writer adds its causes.
        step: Box<NewEntry>,
        /// The answer: one place per row.
        reply: Reply<Vec<Placed>>,
    },
    /// Append what was made of the words of events, in their order. An answer to an event whose words
    /// were erased in the meantime is not appended.
    Answers {
        /// The answers; the first cause of each is its event.
        entries: Vec<NewEntry>,
        /// The answer.
        reply: Reply<()>,
    },
    /// Append an entry that takes something back: a cancellation, a revocation. Taken also when
    /// room runs out.
    TakeBack {
        /// The entry to append.
        entry: Box<NewEntry>,
        /// The answer.
        reply: Reply<()>,
    },
    /// Erase sections of entries that are applied, and the answers that were made of their words. Taken
    /// also when room runs out.
    Erase {
        /// The tenant.
        tenant: u32,
        /// The sections.
        targets: Vec<EraseTarget>,
        /// What becomes of them beyond that.
        remains: Remains,
        /// The answer: the bytes are gone.
        reply: Reply<()>,
    },
    /// Sign where the log stands.
    Checkpoint {
        /// The answer: the offset of the entry.
        reply: Reply<u64>,
    },
    /// Append a control entry that needs no decision of the writer.
    Control {
        /// The entry to append.
        entry: Box<NewEntry>,
        /// The answer.
        reply: Reply<()>,
    },
    /// Announce a blob that is already durable in its file.
    BlobAdd {
        /// The tenant.
        tenant: u32,
        /// Its id.
        blob: BlobId,
        /// The idempotency key of the upload.
        key: Option<BlobKey>,
        /// Who uploaded it.
        who: Section,
        /// Its metadata.
        what: Section,
        /// The answer: this blob, or the one that was uploaded under the key before.
        reply: Reply<BlobPlaced>,
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
        /// The check value of its key.
        key_check: [u8; 16],
        /// The answer.
        reply: Reply<Registered>,
    },
    /// Set a policy.
    Policy {
        /// Which, and to what.
        change: PolicyChange,
        /// The answer: its version.
        reply: Reply<u64>,
    },
    /// Declare a belief.
    Declare {
        /// Where, and what.
        request: Box<DeclareRequest>,
        /// The answer: its place.
        reply: Reply<Vec<Placed>>,
    },
    /// Change who belongs to a scope.
    Scope {
        /// Which, and how.
        request: Box<ScopeRequest>,
        /// The answer.
        reply: Reply<()>,
    },
}

impl PolicyChange {
    /// Bytes of its entry, rounded up.
    fn bytes(&self) -> usize {
        // The longest target is a scope's path.
        let document = self.document.as_ref().map_or(0, String::len);
        2 * ENTRY_OVERHEAD + SCOPE_CHARS_MAX + document + self.who.bytes().len()
    }
}

impl ScopeRequest {
    /// Bytes of its entries, rounded up.
    fn bytes(&self) -> usize {
        let members = match &self.change {
            ScopeChange::Remove | ScopeChange::Begin { .. } => 0,
            ScopeChange::Set { members, policies } => {
                let words = members.iter().map(|(actor, _)| 8 + actor.as_str().len());
                policies.len() + words.sum::<usize>()
            }
        };
        let words = 2 * self.path.as_str().len() + self.owner.as_str().len();
        3 * ENTRY_OVERHEAD + words + members + self.who.bytes().len()
    }
}

impl DeclareRequest {
    /// Bytes of its entries, rounded up.
    fn bytes(&self) -> usize {
        let words = 2 * self.path.as_str().len() + self.owner.as_str().len();
        3 * ENTRY_OVERHEAD + words + self.who.bytes().len() + self.what.bytes().len()
    }
}

impl Request {
    /// Whether it takes nothing back, or only what no read has looked at for a while.
    pub(crate) fn is_veiled(&self) -> bool {
        matches!(self, Request::Write { .. } | Request::Import { .. }) || self.is_hidden()
    }

    /// Whether no read has to wait for it: it only takes away what none shows, or it is derived, and whoever waits for that is
    /// told when the views have it. Nobody but the erasure itself is answered that one went a step further.
    pub(crate) fn is_hidden(&self) -> bool {
        match self {
            Request::Erase { remains, .. } => remains.hidden,
            Request::Answers { .. } => true,
            Request::TakeBack { entry, .. } => {
                entry.kind == Kind::Control && entry.sub == control::ERASURE_STEP
            }
            _ => false,
        }
    }

    /// Entries and bytes it will take in the log, rounded up.
    pub fn size(&self) -> (usize, usize) {
        let bytes =
            |who: &Section, what: &Section| ENTRY_OVERHEAD + who.bytes().len() + what.bytes().len();
        match self {
            Request::Write { items, .. } => (items.len() * 3, items_bytes(items)),
            Request::Import { items, step, .. } => {
                let causes = items.len() * CAUSE_BYTES_MAX;
                let step = bytes(&step.who, &step.what) + causes;
                (items.len() * 3 + 1, items_bytes(items) + step)
            }
            Request::Answers { entries, .. } => {
                let total = entries.iter().map(|entry| bytes(&entry.who, &entry.what));
                (entries.len(), total.sum())
            }
            Request::TakeBack { entry, .. } | Request::Control { entry, .. } => {
                (1, bytes(&entry.who, &entry.what))
            }
            // Written as batches of its own.
            Request::Erase { .. } | Request::Checkpoint { .. } => (1, 0),
            Request::BlobAdd { who, what, .. } => (1, bytes(who, what)),
            Request::BlobRemove { who, .. } => (1, 2 * ENTRY_OVERHEAD + who.bytes().len()),
            Request::Tenant { name, .. } => (1, ENTRY_OVERHEAD + name.len()),
            Request::Policy { change, .. } => (1, change.bytes()),
            Request::Scope { request, .. } => (2, request.bytes()),
            // A first write to a scope brings the scope's own entries with it.
            Request::Declare { request, .. } => (3, request.bytes()),
        }
    }

    /// Whether it is refused when room runs out; what takes something back is not.
    pub(super) fn grows(&self) -> bool {
        matches!(
            self,
            Request::Write { .. }
                | Request::Import { .. }
                | Request::Answers { .. }
                | Request::Control { .. }
                | Request::BlobAdd { .. }
                | Request::Tenant { .. }
                | Request::Declare { .. }
        )
    }

    /// What is too large for the log in any batch; it must not take the rest of a group with it.
    pub(super) fn too_large(&self) -> Option<Error> {
        let fits = |who: &Section, what: &Section| {
            ENTRY_OVERHEAD + who.bytes().len() + what.bytes().len() <= ENTRY_BYTES_MAX
        };
        let fits = match self {
            Request::Write { items, .. } | Request::Import { items, .. } => {
                items.iter().all(|item| fits(&item.who, &item.what))
            }
            Request::Answers { entries, .. } => {
                entries.iter().all(|entry| fits(&entry.who, &entry.what))
            }
            Request::TakeBack { entry, .. } | Request::Control { entry, .. } => {
                fits(&entry.who, &entry.what)
            }
            Request::BlobAdd { who, what, .. } => fits(who, what),
            Request::Policy { change, .. } => change.bytes() <= ENTRY_BYTES_MAX,
            Request::Scope { request, .. } => request.bytes() <= ENTRY_BYTES_MAX,
            Request::Declare { request, .. } => request.bytes() <= ENTRY_BYTES_MAX,
            Request::BlobRemove { .. }
            | Request::Erase { .. }
            | Request::Checkpoint { .. }
            | Request::Tenant { .. } => true,
        };
        (!fits).then_some(Error::TooLarge { limit: "ENTRY_BYTES_MAX" })
    }

    pub(crate) fn refuse(self, error: Error) {
        // A receiver that is gone does not wait for an answer.
        match self {
            Request::Write { reply, .. }
            | Request::Import { reply, .. }
            | Request::Declare { reply, .. } => {
                drop(reply.send(Err(error)));
            }
            Request::Answers { reply, .. }
            | Request::TakeBack { reply, .. }
            | Request::Control { reply, .. }
            | Request::Erase { reply, .. }
            | Request::BlobRemove { reply, .. } => {
                drop(reply.send(Err(error)));
            }
            Request::BlobAdd { reply, .. } => drop(reply.send(Err(error))),
            Request::Scope { reply, .. } => drop(reply.send(Err(error))),
            Request::Policy { reply, .. } | Request::Checkpoint { reply } => {
                drop(reply.send(Err(error)));
            }
            Request::Tenant { reply, .. } => drop(reply.send(Err(error))),
        }
    }
}

/// Bytes of the entries of experiences, rounded up. A first write to a scope brings the scope's own
/// entries with it.
fn items_bytes(items: &[PreparedWrite]) -> usize {
    let bytes = |item: &PreparedWrite| {
        let words = 2 * item.scope.as_str().len() + item.owner.as_str().len();
        let sections = item.who.bytes().len() + item.what.bytes().len();
        4 * ENTRY_OVERHEAD + words + sections
    };
    items.iter().map(bytes).sum()
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
