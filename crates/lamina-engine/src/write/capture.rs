//! The single writer: decides, appends, syncs.
//!
//! Requests that arrive while a sync is under way are committed together by the next one. Whether a
//! key was used before, which ordinal a scope has, whether a blob exists: all of it is decided here,
//! by one thread, against the views plus everything appended since.

use std::collections::HashMap;
use std::sync::Arc;

use lamina_env::Rng;
use lamina_store::codec::control::PolicyTarget;
use lamina_store::entry::{Kind, Place, SYSTEM_SCOPE, control};
use lamina_store::log::{Appended, Log, LogError, LogStats, NewEntry, Section};
use lamina_store::view::Views;
use lamina_types::{ActorId, BlobId, EventId, RecordedAt, ScopePath};

use crate::Error;
use crate::ledger::Keeper;
use crate::write::applied::Applied;
use crate::write::apply::Answers;
use crate::write::recent::{Recent, Remembered};
pub use crate::write::request::{
    BlobPlaced, DeclareRequest, GROUP_ENTRIES_MAX, PolicyChange, Registered, Remains, Reply,
    Request, ScopeChange, ScopeRequest, next_group,
};
use crate::write::room::{self, Room};

mod admin;
mod blobs;
mod declare;
mod erase;
mod import;
mod ledger;

pub(super) use admin::PolicyAt;

/// Ordinals of scopes kept in memory.
const SCOPES_CACHED_MAX: usize = if cfg!(test) { 4 } else { 65_536 };

/// An experience whose sections are sealed, so that the writer only numbers and copies it.
#[derive(Debug)]
pub struct PreparedWrite {
    pub(crate) tenant: u32,
    pub(crate) scope: ScopePath,
    pub(crate) owner: ActorId,
    pub(crate) registers: bool,
    pub(crate) idem_mac: [u8; 32],
    /// Nobody can have used the key before.
    pub(crate) key_drawn: bool,
    pub(crate) body_mac: [u8; 32],
    pub(crate) blobs: Vec<BlobId>,
    pub(crate) who: Section,
    pub(crate) what: Section,
}

/// Where an experience stands in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Its id.
    pub event_id: EventId,
    /// The tenant's sequence number.
    pub wal_offset: u64,
    /// When the log accepted it.
    pub recorded_at: RecordedAt,
    /// Position in the log.
    pub offset: u64,
    /// Where the log keeps it.
    pub place: Place,
    /// It was there before this request.
    pub replayed: bool,
}

/// An answer that is due once the entries are applied to the views.
#[derive(Debug)]
pub(crate) enum Due {
    Write {
        slots: Vec<Slot>,
        reply: Reply<Vec<Placed>>,
    },
    Plain {
        reply: Reply<()>,
    },
    /// Something is gone, and noted in the ledger.
    TakenBack {
        reply: Reply<()>,
    },
    Blob {
        placed: BlobPlaced,
        reply: Reply<BlobPlaced>,
    },
    Tenant {
        ordinal: u32,
        reply: Reply<Registered>,
    },
    Version {
        version: u64,
        reply: Reply<u64>,
    },
}

/// One item of a write: found, or the index of its entry in the batch.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slot {
    Known(Placed),
    New(usize),
    /// The same item twice in one group.
    Twin(usize),
}

/// What the writer found out about one item before it promised anything.
#[derive(Debug, Clone, Copy)]
enum Found {
    Known(Placed),
    Twin,
    New,
}

/// What a commit leaves: entries to fold, answers to give.
#[derive(Debug, Default)]
pub struct Committed {
    pub(crate) appended: Vec<Appended>,
    pub(crate) due: Vec<Due>,
    /// No read has to wait for it.
    pub(crate) hidden: bool,
    /// What it takes back was hidden from reads before: what they keep of anything else stays.
    pub(crate) veiled: bool,
}

impl Committed {
    /// Nothing was appended and nobody waits.
    pub fn is_empty(&self) -> bool {
        self.appended.is_empty() && self.due.is_empty()
    }

    /// Answers the writers whose entries are durable; reads wait for the views by themselves. What
    /// takes something back is left for the applier.
    pub fn answer_durable(&mut self) {
        let is_write = |due: &mut Due| matches!(due, Due::Write { .. });
        let due = self.due.extract_if(.., is_write).collect();
        Answers::new(due).give();
    }
}

/// The state of the writer thread.
#[derive(Debug)]
pub struct Capture {
    log: Box<dyn Log>,
    views: Arc<Views>,
    rng: Arc<dyn Rng>,
    applied: Arc<Applied>,
    /// Ordinals that the views know too: can be dropped at any time.
    scope_cache: HashMap<(u32, ScopePath), u64>,
    /// Scopes that the views know as removed; looked up anew for each group.
    scope_gone: HashMap<(u32, ScopePath), u64>,
    /// The next ordinal of each tenant.
    scope_next: HashMap<u32, u64>,
    recent: Recent,
    /// What must stay free on the disk; `None`: write until it is full.
    room: Option<Room>,
    /// The last look found too little room.
    low: bool,
    /// Where it is noted what was taken back.
    ledger: Option<Keeper>,
}

/// The batch that is being put together.
#[derive(Debug, Default)]
struct Group {
    entries: Vec<NewEntry>,
    due: Vec<Due>,
    /// By key: the index of its entry and the body it came with.
    keys: HashMap<[u8; 32], (usize, [u8; 32])>,
    /// Scopes registered by this batch: ordinal and index of the entry.
    scopes: HashMap<(u32, ScopePath), (u64, usize)>,
    /// Blobs that entries of this batch refer to.
    blobs: Vec<(BlobId, usize)>,
    /// Uploads of this batch by their keys: index of the entry, blob, and what was uploaded.
    blob_keys: HashMap<[u8; 32], (usize, BlobId, [u8; 32])>,
    /// Blobs that this batch removes, by the index of the entry.
    removed_blobs: HashMap<BlobId, usize>,
    /// Tenants that this batch makes: ordinal and index of the entry.
    tenants: HashMap<String, (u32, usize)>,
    /// Scopes that this batch removes: ordinal and index of the entry.
    removed_scopes: HashMap<(u32, ScopePath), (u64, usize)>,
    /// Policies that this batch sets: version and index of the entry.
    policies: HashMap<(u32, PolicyTarget), (u64, usize)>,
}

impl Capture {
    /// A writer over an opened log whose entries are all applied to the views.
    pub fn new(
        log: Box<dyn Log>,
        views: Arc<Views>,
        rng: Arc<dyn Rng>,
        applied: Arc<Applied>,
    ) -> Capture {
        Capture {
            log,
            views,
            rng,
            applied,
            scope_cache: HashMap::new(),
            scope_gone: HashMap::new(),
            scope_next: HashMap::new(),
            recent: Recent::default(),
            room: None,
            low: false,
            ledger: None,
        }
    }

    /// The same, but writes are refused while there is less room than this.
    pub fn with_room(self, room: Room) -> Capture {
        Capture { room: Some(room), ..self }
    }

    fn look(&mut self) {
        self.low = self.room.as_ref().is_some_and(Room::is_low);
    }

    /// Commits a group of requests as one batch. Requests that are refused are answered here; the
    /// others are answered by the applier.
    pub fn commit(&mut self, requests: Vec<Request>) -> Committed {
        self.recent.forget_before(self.applied.offset());
        self.scope_gone.clear();
        // Only between groups: an ordinal that was looked up must still be there when it is used.
        if self.scope_cache.len() >= SCOPES_CACHED_MAX {
            self.scope_cache.clear();
        }
        let mut group = Group::default();
        let (mut erasures, mut checkpoints) = (Vec::new(), Vec::new());
        self.look();
        let hidden = requests.iter().all(Request::is_hidden);
        let veiled = requests.iter().all(Request::is_veiled);
        for request in requests {
            if self.waits_for_ledger(&request) {
                request.refuse(Error::LedgerUnavailable { is_done: false });
            } else if let Request::Erase { tenant, targets, remains, reply } = request {
                erasures.push((tenant, targets, remains, reply));
            } else if let Request::Checkpoint { reply } = request {
                checkpoints.push(reply);
            } else if self.low && request.grows() {
                request.refuse(room::refusal());
            } else {
                self.decide(request, &mut group);
            }
        }
        let mut committed = self.append(group);
        // After what came with them: an answer that is appended now is found and erased with its event.
        for (tenant, targets, remains, reply) in erasures {
            self.take_erasure(tenant, (&targets, &remains), reply, &mut committed);
        }
        for reply in checkpoints {
            self.take_checkpoint(reply, &mut committed);
        }
        self.note(&mut committed);
        Committed { hidden, veiled, ..committed }
    }

    fn append(&mut self, mut group: Group) -> Committed {
        if group.entries.is_empty() {
            return Committed { due: group.due, ..Committed::default() };
        }
        let entries = std::mem::take(&mut group.entries);
        // With little room only what takes something back is left in a group.
        let appended = match self.low {
            true => self.log.append_urgent(entries),
            false => self.log.append(entries, None),
        };
        match appended {
            Ok(appended) => self.remember(appended, group),
            Err(error) => {
                refuse_all(group.due, error);
                // The ordinals that were handed out went nowhere: read them again.
                self.scope_next.clear();
                Committed::default()
            }
        }
    }

    fn remember(&mut self, appended: Appended, group: Group) -> Committed {
        let Group { entries: _, mut due, keys, scopes, blobs, .. } = group;
        let Group { removed_blobs, blob_keys, tenants, removed_scopes, policies, .. } = group;
        let mut order = Vec::with_capacity(keys.len() + scopes.len() + blobs.len());
        let offset =
            |index: usize| appended.entries.get(index).map_or(0, |entry| entry.head.offset);
        for entry in appended.entries.iter().filter(|entry| entry.head.kind == Kind::Answer) {
            for event in &entry.head.causes {
                self.recent
                    .answers
                    .entry(*event)
                    .or_default()
                    .push((entry.head.offset, entry.place));
                order.push((entry.head.offset, Remembered::Answer(*event)));
            }
        }
        for (mac, (index, body)) in keys {
            if let Some(placed) = placed(&appended, index) {
                self.recent.keys.insert(mac, (Placed { replayed: true, ..placed }, body));
                order.push((placed.offset, Remembered::Key(mac)));
            }
        }
        for (key, (ordinal, index)) in scopes {
            self.recent.removed_scopes.remove(&key);
            self.recent.scopes.insert(key.clone(), (ordinal, offset(index)));
            order.push((offset(index), Remembered::Scope(key)));
        }
        for (key, (ordinal, index)) in removed_scopes {
            self.scope_cache.remove(&key);
            self.recent.scopes.remove(&key);
            self.recent.removed_scopes.insert(key.clone(), (ordinal, offset(index)));
            order.push((offset(index), Remembered::RemovedScope(key)));
        }
        for (key, (version, index)) in policies {
            let at = PolicyAt { offset: offset(index), version };
            self.recent.policies.insert(key.clone(), at);
            order.push((offset(index), Remembered::Policy(key)));
        }
        for (blob, index) in blobs {
            self.recent.blobs.insert(blob, offset(index));
            order.push((offset(index), Remembered::Blob(blob)));
        }
        for (mac, (index, blob, body)) in blob_keys {
            self.recent.blob_keys.insert(mac, (blob, body, offset(index)));
            order.push((offset(index), Remembered::BlobKey(mac)));
        }
        for (blob, index) in removed_blobs {
            self.recent.removed_blobs.insert(blob);
            order.push((offset(index), Remembered::RemovedBlob(blob)));
        }
        for (name, (ordinal, index)) in tenants {
            self.recent.tenants.insert(name.clone(), ordinal);
            order.push((offset(index), Remembered::Tenant(name)));
        }
        order.sort_by_key(|(offset, _)| *offset);
        self.recent.order.extend(order);
        for due in &mut due {
            if let Due::Write { slots, .. } = due {
                for slot in slots.iter_mut() {
                    *slot = resolve(*slot, &appended);
                }
            }
        }
        Committed { appended: vec![appended], due, ..Committed::default() }
    }

    fn decide(&mut self, request: Request, group: &mut Group) {
        if let Some(error) = request.too_large() {
            return request.refuse(error);
        }
        match request {
            Request::Write { items, reply } => match self.decide_write(&items, group) {
                Ok(found) => self.take_write(items, found, reply, group),
                Err(error) => drop(reply.send(Err(error))),
            },
            Request::Import { items, step, reply } => match self.decide_write(&items, group) {
                Ok(_) => self.take_import(items, *step, reply, group),
                Err(error) => drop(reply.send(Err(error))),
            },
            Request::Answers { entries, reply } => {
                group.entries.extend(entries.into_iter().filter(|answer| !self.is_erased(answer)));
                group.due.push(Due::Plain { reply });
            }
            Request::TakeBack { entry, reply } => {
                group.entries.push(*entry);
                group.due.push(Due::TakenBack { reply });
            }
            Request::Control { entry, reply } => {
                group.entries.push(*entry);
                group.due.push(Due::Plain { reply });
            }
            // Taken apart before: they are no entries of a batch.
            Request::Erase { reply, .. } => group.due.push(Due::Plain { reply }),
            Request::Checkpoint { reply } => group.due.push(Due::Version { version: 0, reply }),
            Request::BlobAdd { tenant, blob, key, who, what, reply } => {
                let entry = system_entry(control::BLOB, tenant, who, what);
                self.take_blob(blob, key, entry, reply, group);
            }
            Request::BlobRemove { tenant, blob, who, reply } => {
                self.take_blob_removal(tenant, blob, who, reply, group);
            }
            Request::Tenant { name, ordinal, key_check, reply } => {
                self.take_tenant(name, ordinal, key_check, reply, group);
            }
            Request::Policy { change, reply } => self.take_policy(change, reply, group),
            Request::Scope { request, reply } => self.take_scope(*request, reply, group),
            Request::Declare { request, reply } => self.take_declared(*request, reply, group),
        }
    }

    /// Whether the words that an answer was made of are gone by now.
    fn is_erased(&self, answer: &NewEntry) -> bool {
        answer.causes.iter().any(|event| self.recent.erased.contains(event))
    }

    /// For each item: where it already stands, or `None` if it is new. Nothing is promised before
    /// every item is decided, so a refusal leaves no trace.
    fn decide_write(
        &mut self,
        items: &[PreparedWrite],
        group: &Group,
    ) -> Result<Vec<Found>, Error> {
        let mut found = Vec::with_capacity(items.len());
        let mut own: HashMap<[u8; 32], [u8; 32]> = HashMap::new();
        for (index, item) in items.iter().enumerate() {
            let twin = own
                .get(&item.idem_mac)
                .or_else(|| group.keys.get(&item.idem_mac).map(|(_, body)| body));
            let (what, body) = match (twin, self.known(item)?) {
                (Some(body), _) => (Found::Twin, *body),
                (None, Some((placed, body))) => (Found::Known(placed), body),
                (None, None) => (Found::New, item.body_mac),
            };
            if body != item.body_mac {
                return Err(Error::IdempotencyConflict { index });
            }
            if matches!(what, Found::New) {
                self.check_blobs(index, item, group)?;
                self.look_up_scope(item.tenant, &item.scope)?;
                own.insert(item.idem_mac, item.body_mac);
            }
            found.push(what);
        }
        Ok(found)
    }

    fn known(&self, item: &PreparedWrite) -> Result<Option<(Placed, [u8; 32])>, Error> {
        if item.key_drawn {
            return Ok(None);
        }
        if let Some(recent) = self.recent.keys.get(&item.idem_mac) {
            return Ok(Some(*recent));
        }
        let Some(row) = self.views.idempotency(item.tenant, &item.idem_mac)? else {
            return Ok(None);
        };
        if row.is_expired(self.log.tip().recorded_at) {
            return Ok(None);
        }
        let event = self.views.event(item.tenant, row.event_id)?;
        let Some(event) = event else { return Ok(None) };
        if event.is_erased() {
            return Err(Error::Deleted);
        }
        let placed = Placed {
            event_id: row.event_id,
            wal_offset: event.tenant_seq,
            recorded_at: row.recorded_at,
            offset: row.offset,
            place: row.place,
            replayed: true,
        };
        Ok(Some((placed, row.body_mac)))
    }

    fn take_write(
        &mut self,
        items: Vec<PreparedWrite>,
        found: Vec<Found>,
        reply: Reply<Vec<Placed>>,
        group: &mut Group,
    ) {
        let mut slots = Vec::with_capacity(items.len());
        for (item, found) in items.into_iter().zip(found) {
            slots.push(match found {
                Found::Known(placed) => Slot::Known(placed),
                Found::Twin => {
                    Slot::Twin(group.keys.get(&item.idem_mac).map_or(0, |(index, _)| *index))
                }
                Found::New => Slot::New(self.push(item, group)),
            });
        }
        group.due.push(Due::Write { slots, reply });
    }

    fn push(&mut self, item: PreparedWrite, group: &mut Group) -> usize {
        let owner = item.registers.then_some(&item.owner);
        let scope = match owner {
            Some(owner) => self.ordinal(item.tenant, &item.scope, owner, group),
            None => self.ordinal_only(item.tenant, &item.scope, &item.owner, group),
        };
        let index = group.entries.len();
        group.keys.insert(item.idem_mac, (index, item.body_mac));
        group.blobs.extend(item.blobs.iter().map(|blob| (*blob, index)));
        group.entries.push(NewEntry {
            kind: Kind::Experience,
            sub: 0,
            tenant: item.tenant,
            scope,
            causes: Vec::new(),
            who: item.who,
            what: item.what,
        });
        index
    }

    /// To be called when nothing was asked for a while: a mark, or a checkpoint that is due.
    pub fn idle(&mut self) -> Result<Committed, LogError> {
        self.look();
        self.mend_ledger();
        // With little room nothing is appended that nobody asked for, but erasures are finished.
        if self.low && self.log.stats().erasures_open == 0 {
            return Ok(Committed::default());
        }
        // One append at a time: if a second one failed, the first would never reach the views. The
        // log itself appends a checkpoint that is due, and a mark when it is asked again.
        let appended = self.log.idle()?.into_iter().collect();
        Ok(self.noted(appended))
    }

    /// A checkpoint, if one is due while writes go on.
    pub fn checkpoint_if_due(&mut self) -> Result<Committed, LogError> {
        let is_due = !self.low && self.log.checkpoint_due();
        let appended = if is_due { vec![self.log.checkpoint()?] } else { Vec::new() };
        // Nobody asked for it.
        Ok(Committed { hidden: true, ..self.noted(appended) })
    }

    /// The last entries before the process ends.
    pub fn close(&mut self) -> Result<Committed, LogError> {
        self.look();
        if self.low {
            // The next start would have to fold them, and there may be no space for that either.
            return Ok(Committed::default());
        }
        let appended = self.log.close()?;
        Ok(self.noted(appended))
    }

    /// Numbers of the log.
    pub fn stats(&self) -> LogStats {
        let stats = self.log.stats();
        LogStats { full: stats.full || self.low, ..stats }
    }

    /// `recorded_at` of the last entry.
    pub fn recorded_last(&self) -> RecordedAt {
        self.log.tip().recorded_at
    }
}

fn system_entry(sub: u16, tenant: u32, who: Section, what: Section) -> NewEntry {
    NewEntry {
        kind: Kind::Control,
        sub,
        tenant,
        scope: SYSTEM_SCOPE,
        causes: Vec::new(),
        who,
        what,
    }
}

fn resolve(slot: Slot, appended: &Appended) -> Slot {
    match slot {
        Slot::Known(_) => slot,
        Slot::New(index) => placed(appended, index).map_or(slot, Slot::Known),
        Slot::Twin(index) => placed(appended, index)
            .map_or(slot, |placed| Slot::Known(Placed { replayed: true, ..placed })),
    }
}

fn placed(appended: &Appended, index: usize) -> Option<Placed> {
    let entry = appended.entries.get(index)?;
    Some(Placed {
        event_id: entry.head.event_id(),
        wal_offset: entry.head.tenant_seq,
        recorded_at: entry.head.recorded_at,
        offset: entry.head.offset,
        place: entry.place,
        replayed: false,
    })
}

/// Every waiting writer gets the same reason; the first keeps the original error.
fn refuse_all(due: Vec<Due>, error: LogError) {
    // A group of several requests fits by its estimate, so this one is alone and to blame.
    let limit = match &error {
        LogError::TooLarge { limit } => Some(*limit),
        _ => None,
    };
    let mut first = Some(error);
    for due in due {
        let error = match limit {
            Some(limit) => Error::TooLarge { limit },
            None => Error::LogUnavailable(Box::new(first.take().unwrap_or(LogError::Poisoned))),
        };
        match due {
            Due::Write { reply, .. } => drop(reply.send(Err(error))),
            Due::Plain { reply } | Due::TakenBack { reply } => drop(reply.send(Err(error))),
            Due::Blob { reply, .. } => drop(reply.send(Err(error))),
            Due::Tenant { reply, .. } => drop(reply.send(Err(error))),
            Due::Version { reply, .. } => drop(reply.send(Err(error))),
        }
    }
}

#[cfg(test)]
mod tests;
