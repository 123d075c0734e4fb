//! The fold: one entry at a time, over the store and what the batch has changed so far.
//!
//! It reads heads, control entries, and of an experience only what it hashes or counts. What must
//! survive an erasure (ordinals, causes, positions) it takes from heads alone.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use lamina_types::{BlobId, ForeignCitation, MemberRole, RecordedAt};

use crate::codec::CodecError;
use crate::codec::control::{Blob, BlobKey, Scope, Tenant};
use crate::codec::experience::{ExperienceWhat, ExperienceWho};
use crate::entry::{DEPLOYMENT, Entry, Head, Kind, SectionState, control};
use crate::kv::{Batch, Kv, Space};
use crate::log::{ChainHead, Tip};
use crate::view::derived::Work;
use crate::view::known::Known;
use crate::view::members::Registration;
use crate::view::residue::Residues;
use crate::view::revoked::Ends;
use crate::view::row::{
    BlobRow, BlobUse, EventAt, EventFacets, EventRow, IdempotencyRow, Made, ScopeRow, TenantRow,
    decode_chain, encode_chain, encode_tip,
};
use crate::view::sweep::{STEPS_PER_ENTRY, Sweep, expired};
use crate::view::tag::{Tag, Tags, cut, is_indexed};
use crate::view::{Counts, State, ViewError, encode_fold, key, number, number_row};

/// Changes of one batch, before they are written.
#[derive(Debug)]
pub(crate) struct Fold<'a> {
    pub(super) kv: &'a dyn Kv,
    pub(super) tags: &'a Tags,
    /// Sorted and without duplicates: the last change of a key wins.
    pub(super) pending: BTreeMap<Space, BTreeMap<Vec<u8>, Option<Vec<u8>>>>,
    /// Rows of the store that need not be read again.
    pub(super) known: RefCell<Known>,
    /// What derivation did.
    pub(super) worked: Cell<Work>,
    pub(crate) counts: Counts,
    /// What is left of erased entries.
    pub(super) residues: Arc<Residues>,
    sweep: Sweep,
    pub(super) ends: Ends,
    /// The same for keys that are refused.
    pub(super) refused: Ends,
}

impl<'a> Fold<'a> {
    pub(crate) fn start(
        kv: &'a dyn Kv,
        tags: &'a Tags,
        state: &State,
        entries: usize,
        last: RecordedAt,
    ) -> Result<Fold<'a>, ViewError> {
        let sweep = Sweep::start(kv, state.sweep, entries, last)
            .map_err(|source| ViewError::Kv { doing: "looking for old keys", source })?;
        Ok(Fold {
            kv,
            tags,
            pending: BTreeMap::new(),
            known: RefCell::default(),
            worked: Cell::default(),
            counts: state.counts,
            residues: Arc::default(),
            sweep: sweep.map_err(row_error(Space::Events))?,
            ends: Ends::start(state.revoked_earliest),
            refused: Ends::of_refused(state.refused_earliest),
        })
    }

    /// With rows that folds before this one have read or written.
    pub(crate) fn knowing(self, known: Known) -> Fold<'a> {
        Fold { known: RefCell::new(known), ..self }
    }

    /// Counts what derivation did.
    pub(super) fn work(&self, work: Work) {
        self.worked.set(self.worked.get().and(work));
    }

    /// Applies one entry.
    pub(crate) fn entry(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let head = &entry.head;
        if head.kind != Kind::Experience {
            self.link(head.tenant, head.scope, link(head))?;
        }
        self.put(Space::Chains, key::chain_tenant(head.tenant), number_row(head.tenant_seq));
        self.counts.entries += 1;
        match (head.kind, head.sub) {
            (Kind::Experience, _) => self.experience(entry)?,
            (Kind::Control, control::TENANT) => self.tenant(entry)?,
            (Kind::Control, control::SCOPE) => self.scope(entry)?,
            (Kind::Control, control::CANCEL) => self.cancel(entry)?,
            (Kind::Control, control::ERASE) => self.erase(entry)?,
            (Kind::Control, control::BLOB) => self.blob(entry)?,
            (Kind::Control, control::BLOB_REMOVED) => self.blob_removed(entry)?,
            (Kind::Control, control::POLICY_SET) => self.policy(entry)?,
            (Kind::Control, control::TOKEN_REVOKED) => self.token_revoked(entry)?,
            (Kind::Control, control::SCOPE_SET) => self.scope_set(entry)?,
            (Kind::Control, control::SCOPE_REMOVED) => self.scope_removed(entry)?,
            _ => {}
        }
        self.forget_revoked(head.at())?;
        self.free_refused(head.at())?;
        self.forget_keys(head.recorded_at)
    }

    /// The changes as one batch, the state after it, and the rows that are known before it.
    pub(crate) fn finish(mut self, tip: Tip) -> (Batch, State, Known) {
        let state = State {
            tip: Some(tip),
            counts: self.counts,
            sweep: self.sweep.finish(),
            revoked_earliest: self.ends.earliest,
            refused_earliest: self.refused.earliest,
        };
        let meta = self.pending.entry(Space::Meta).or_default();
        meta.insert(key::TIP.to_vec(), Some(encode_tip(&tip)));
        meta.insert(key::FOLD.to_vec(), Some(encode_fold(&state.counts, &state.sweep)));
        let writes = self
            .pending
            .into_iter()
            .flat_map(|(space, changes)| {
                changes.into_iter().map(move |(key, value)| (space, key, value))
            })
            .collect();
        (Batch { writes }, state, self.known.into_inner())
    }

    fn experience(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let head = &entry.head;
        let id = head.event_id();
        self.counts.events += 1;
        let facets = self.facets(entry)?;
        // From the head alone: an event keeps its number when its words are gone.
        let count_key = key::events_count(head.tenant, head.scope);
        let number = self.number(Space::Chains, &count_key)? + 1;
        self.put(Space::Chains, count_key, number_row(number));
        let by_number = key::event_number(head.tenant, head.scope, number);
        self.put(Space::Entries, by_number, *id.as_bytes());
        let row = EventRow {
            id,
            tenant: head.tenant,
            offset: head.offset,
            place: entry.place,
            tenant_seq: head.tenant_seq,
            scope: head.scope,
            number,
            link: link(head),
            recorded_at: head.recorded_at,
            facets,
        };
        match &row.facets {
            Some(facets) => {
                self.index(&row, facets);
                for blob in &facets.blobs {
                    let reference = key::blob_reference(row.tenant, blob, row.offset);
                    self.put(Space::Blobs, reference, *id.as_bytes());
                }
                if let Some(cited) = &facets.cited {
                    let reference = key::cited_origin(row.tenant, cited, row.offset);
                    self.put(Space::Entries, reference, *id.as_bytes());
                }
            }
            None => {
                self.counts.erased += 1;
                self.link(row.tenant, row.scope, row.link)?;
            }
        }
        self.put(Space::Events, key::event(row.tenant, &id), row.encode());
        let at = EventAt { tenant: row.tenant, id };
        self.put(Space::Entries, key::event_at(row.offset), at.encode());
        self.sweep.push(row.offset, at, row.recorded_at);
        Ok(())
    }

    /// What the sections of an experience say, and its idempotency key with it; `None` if either
    /// is erased.
    fn facets(&mut self, entry: &Entry) -> Result<Option<EventFacets>, ViewError> {
        let offset = entry.head.offset;
        let tenant = entry.head.tenant;
        let (Some(who), Some(what)) = (
            section(offset, &entry.who, ExperienceWho::decode)?,
            section(offset, &entry.what, ExperienceWhat::decode)?,
        ) else {
            return Ok(None);
        };
        let mut tags = Vec::with_capacity(2 + what.context.labels.len());
        tags.push(self.tags.modality(tenant, what.modality.as_str())?);
        tags.push(self.tags.actor(tenant, who.observed_actor.id.as_str())?);
        for label in &what.context.labels {
            let tag = self.tags.label(tenant, label)?;
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        let mut blobs: Vec<BlobId> = Vec::new();
        for blob in what.content.blobs() {
            if !blobs.contains(&blob) {
                blobs.push(blob);
            }
        }
        let cited = what.origin.as_deref().and_then(ForeignCitation::of_origin);
        let cited =
            cited.map(|cited| self.tags.citation(tenant, &cited.short_form())).transpose()?;
        let identity = what.identity;
        let idempotency = cut(&identity.idem_mac);
        let mut uses = self.key_uses(tenant, &idempotency)?;
        uses.push(IdempotencyRow {
            event_id: entry.head.event_id(),
            offset,
            place: entry.place,
            body_mac: identity.body_mac,
            recorded_at: entry.head.recorded_at,
            batch_id: identity.batch_id,
        });
        self.put_key_uses(tenant, &idempotency, &uses);
        Ok(Some(EventFacets {
            observed_at: what.context.observed_at,
            excluded: false,
            tags,
            blobs,
            idempotency,
            batch_id: identity.batch_id,
            cited,
        }))
    }

    fn index(&mut self, row: &EventRow, facets: &EventFacets) {
        for (space, key) in index_keys(row, facets) {
            self.put(space, key, *row.id.as_bytes());
        }
    }

    /// Removes an event from every list.
    pub(crate) fn unindex(
        &mut self,
        row: &EventRow,
        facets: &EventFacets,
    ) -> Result<(), ViewError> {
        for (space, key) in index_keys(row, facets) {
            self.delete(space, key);
        }
        self.link(row.tenant, row.scope, row.link)
    }

    /// Notes a link of a scope's chain that the list by recorded time does not lead to. The last
    /// event there and this row together say where the chain ends: most entries are events, and
    /// they need no row of their own for it.
    fn link(&mut self, tenant: u32, scope: u64, link: ChainHead) -> Result<(), ViewError> {
        let key = key::chain_scope(tenant, scope);
        let before = self.get(Space::Chains, &key)?.map(|bytes| decode_chain(&bytes)).transpose();
        let before = before.map_err(row_error(Space::Chains))?;
        if before.is_none_or(|before| before.seq < link.seq) {
            self.put(Space::Chains, key, encode_chain(&link));
        }
        Ok(())
    }

    fn tenant(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let head = &entry.head;
        if head.tenant == DEPLOYMENT {
            return Err(contradiction(entry, "the deployment is not a tenant"));
        }
        if self.get(Space::Scopes, &key::tenant(head.tenant))?.is_some() {
            return Err(contradiction(entry, "the tenant is there already"));
        }
        let payload = section(head.offset, &entry.what, Tenant::decode)?;
        if let Some(key_check) = payload.as_ref().and_then(|tenant| tenant.key_check.as_ref()) {
            self.tags.verify_key(head.tenant, key_check)?;
        }
        let name = payload.map(|tenant| self.tags.tenant_name(&tenant.name));
        let name = name.transpose()?;
        if let Some(name) = &name {
            let by_name = key::tenant_by_name(name);
            if self.get(Space::Scopes, &by_name)?.is_some() {
                return Err(contradiction(entry, "the tenant's name is taken"));
            }
            self.put(Space::Scopes, by_name, number_row(u64::from(head.tenant)));
        }
        let row = TenantRow { ordinal: head.tenant, offset: head.offset, place: entry.place, name };
        self.counts.tenants += 1;
        self.put(Space::Scopes, key::tenant(head.tenant), row.encode());
        self.made(entry, Made::Tenant);
        Ok(())
    }

    fn scope(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let head = &entry.head;
        let count_key = key::scopes_count(head.tenant);
        // Counted, not read from the payload: an erased registration keeps its ordinal.
        let ordinal = self.scopes_count(head.tenant)? + 1;
        let mut paths = Vec::new();
        let payload = section(head.offset, &entry.what, Scope::decode)?;
        if let Some(scope) = &payload {
            if scope.ordinal != ordinal {
                return Err(contradiction(entry, "scope ordinals are not dense"));
            }
            for path in scope.path.self_and_ancestors() {
                paths.push(self.tags.path(head.tenant, path.as_str())?);
            }
        }
        if let Some(own) = paths.first() {
            let by_path = key::scope_by_path(head.tenant, own);
            if self.get(Space::Scopes, &by_path)?.is_some() {
                return Err(contradiction(entry, "the scope is registered already"));
            }
            self.put(Space::Scopes, by_path, number_row(ordinal));
        }
        for ancestor in &paths {
            let below = key::scope_below(head.tenant, ancestor, ordinal);
            self.put(Space::Scopes, below, []);
        }
        let row = ScopeRow {
            ordinal,
            offset: head.offset,
            place: entry.place,
            recorded_at: head.recorded_at,
            paths,
        };
        self.counts.scopes += 1;
        self.put(Space::Scopes, key::scope(head.tenant, ordinal), row.encode());
        self.put(Space::Scopes, count_key, number_row(ordinal));
        self.made(entry, Made::Scope(ordinal));
        match payload {
            Some(Scope { owner, auto, .. }) => {
                let registration = if auto { Registration::Auto } else { Registration::Explicit };
                self.stand(entry, ordinal, registration, &[(owner, MemberRole::Owner)])
            }
            None => self.stand(entry, ordinal, Registration::Erased, &[]),
        }
    }

    fn blob(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let head = &entry.head;
        let payload = section(head.offset, &entry.what, Blob::decode)?;
        if let Some(blob) = &payload {
            let row = BlobRow {
                id: blob.id,
                tenant: head.tenant,
                offset: head.offset,
                place: entry.place,
                recorded_at: head.recorded_at,
                size: blob.size,
                file: blob.file,
                content: self.tags.blob_content(head.tenant, &blob.sha256)?,
                perceptual_hash: blob.perceptual_hash,
                idempotency: blob.key.map(|key| cut(&key.idem_mac)),
            };
            let blob_key = key::blob(head.tenant, &blob.id);
            if self.get(Space::Blobs, &blob_key)?.is_some() {
                return Err(contradiction(entry, "the blob is stored already"));
            }
            if let Some(BlobKey { idem_mac, body_mac }) = blob.key {
                let (id, recorded_at) = (blob.id, head.recorded_at);
                let used = key::blob_key(head.tenant, &cut(&idem_mac), head.offset);
                self.put(Space::Blobs, used, BlobUse { id, body_mac, recorded_at }.encode());
            }
            self.counts.blobs += 1;
            self.put(Space::Blobs, blob_key, row.encode());
        }
        self.made(entry, Made::Blob(payload.map(|blob| blob.id)));
        Ok(())
    }

    /// Notes what an entry made, so that it can be taken back by offset.
    pub(crate) fn made(&mut self, entry: &Entry, made: Made) {
        let head = &entry.head;
        self.put(Space::Entries, key::made_at(head.offset), made.encode(head.tenant));
    }

    /// Forgets keys whose day is over.
    fn forget_keys(&mut self, now: RecordedAt) -> Result<(), ViewError> {
        for _ in 0..STEPS_PER_ENTRY {
            let Some(step) = self.sweep.front() else {
                return Ok(());
            };
            if step.recorded_at.is_some_and(|recorded_at| !expired(recorded_at, now)) {
                return Ok(());
            }
            let Some(row) = self.event(step.at.tenant, &step.at.id)? else {
                return Err(row_error(Space::Events)(CodecError::Missing { field: "event" }));
            };
            if !expired(row.recorded_at, now) {
                self.sweep.stop_at(row.recorded_at);
                return Ok(());
            }
            self.sweep.pass();
            if let Some(facets) = row.facets {
                self.forget_key(row.tenant, &facets.idempotency, row.offset)?;
            }
        }
        Ok(())
    }

    /// Forgets the use of a key by one entry.
    pub(crate) fn forget_key(
        &mut self,
        tenant: u32,
        key: &Tag,
        offset: u64,
    ) -> Result<(), ViewError> {
        let mut uses = self.key_uses(tenant, key)?;
        let before = uses.len();
        uses.retain(|row| row.offset != offset);
        if uses.len() != before {
            self.put_key_uses(tenant, key, &uses);
        }
        Ok(())
    }

    pub(crate) fn key_uses(
        &self,
        tenant: u32,
        key: &Tag,
    ) -> Result<Vec<IdempotencyRow>, ViewError> {
        match self.get(Space::Idempotency, &key::idempotency(tenant, key))? {
            None => Ok(Vec::new()),
            Some(bytes) => {
                IdempotencyRow::decode_all(&bytes).map_err(row_error(Space::Idempotency))
            }
        }
    }

    pub(crate) fn put_key_uses(&mut self, tenant: u32, key: &Tag, uses: &[IdempotencyRow]) {
        let key = key::idempotency(tenant, key);
        if uses.is_empty() {
            self.delete(Space::Idempotency, key);
        } else {
            self.put(Space::Idempotency, key, IdempotencyRow::encode_all(uses));
        }
    }

    pub(crate) fn event(
        &self,
        tenant: u32,
        id: &lamina_types::EventId,
    ) -> Result<Option<EventRow>, ViewError> {
        self.get(Space::Events, &key::event(tenant, id))?
            .map(|bytes| EventRow::decode(tenant, *id, &bytes))
            .transpose()
            .map_err(row_error(Space::Events))
    }

    /// The ordinal of a registered scope.
    pub(crate) fn scope_ordinal(&self, tenant: u32, path: &str) -> Result<Option<u64>, ViewError> {
        let tag = self.tags.path(tenant, path)?;
        self.scope_of_tag(tenant, &tag)
    }

    /// Whether a scope is the one of a path or below it.
    pub(crate) fn scope_is_within(
        &self,
        tenant: u32,
        ordinal: u64,
        path: &str,
    ) -> Result<bool, ViewError> {
        let path = self.tags.path(tenant, path)?;
        Ok(self.get(Space::Scopes, &key::scope_below(tenant, &path, ordinal))?.is_some())
    }

    /// The same by the keyed hash of the path.
    pub(crate) fn scope_of_tag(&self, tenant: u32, path: &Tag) -> Result<Option<u64>, ViewError> {
        let bytes = self.get(Space::Scopes, &key::scope_by_path(tenant, path))?;
        bytes.map(|bytes| number(&bytes).map_err(row_error(Space::Scopes))).transpose()
    }

    fn number(&self, space: Space, key: &[u8]) -> Result<u64, ViewError> {
        self.get(space, key)?.map_or(Ok(0), |bytes| number(&bytes).map_err(row_error(space)))
    }

    pub(crate) fn scopes_count(&self, tenant: u32) -> Result<u64, ViewError> {
        self.number(Space::Scopes, &key::scopes_count(tenant))
    }

    /// A row as this batch has left it so far.
    pub(crate) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, ViewError> {
        if let Some(change) = self.pending.get(&space).and_then(|rows| rows.get(key)) {
            return Ok(change.clone());
        }
        if let Some(value) = self.known.borrow().get(space, key) {
            return Ok(value.map(<[u8]>::to_vec));
        }
        let value = self
            .kv
            .get(space, key)
            .map_err(|source| ViewError::Kv { doing: "reading a row to change it", source })?;
        // Whoever walks over what is known may ask for more, which is then not remembered.
        if let Ok(mut known) = self.known.try_borrow_mut() {
            known.learn(space, key, value.as_deref());
        }
        Ok(value)
    }

    /// Whether this batch deletes a row.
    pub(crate) fn is_deleted(&self, space: Space, key: &[u8]) -> bool {
        matches!(self.pending.get(&space).and_then(|rows| rows.get(key)), Some(None))
    }

    /// The first row that this batch puts between two keys.
    pub(crate) fn first_pending(&self, space: Space, from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
        let bounds = (Bound::Included(from), Bound::Excluded(to));
        let mut rows = self.pending.get(&space)?.range::<[u8], _>(bounds);
        rows.find(|(_, value)| value.is_some()).map(|(key, _)| key.clone())
    }

    pub(crate) fn put(&mut self, space: Space, key: Vec<u8>, value: impl Into<Vec<u8>>) {
        let rows = self.pending.entry(space).or_default();
        rows.insert(key, Some(value.into()));
    }

    pub(crate) fn delete(&mut self, space: Space, key: Vec<u8>) {
        self.pending.entry(space).or_default().insert(key, None);
    }
}

/// The link that an entry is in the chain of its scope.
fn link(head: &Head) -> ChainHead {
    ChainHead { seq: head.scope_seq, seal: head.seal }
}

/// The keys under which lists find an event.
fn index_keys(row: &EventRow, facets: &EventFacets) -> Vec<(Space, Vec<u8>)> {
    let (tenant, scope, seq) = (row.tenant, row.scope, row.tenant_seq);
    let recorded = (row.recorded_at.0.0, seq);
    let observed = (facets.observed_at.0.0, seq);
    let mut keys = Vec::with_capacity(2 + facets.tags.len());
    keys.push((Space::ByRecorded, key::by_axis(tenant, scope, recorded)));
    keys.push((Space::ByObserved, key::by_axis(tenant, scope, observed)));
    for tag in facets.tags.iter().filter(|tag| is_indexed(tag)) {
        keys.push((Space::ByTag, key::by_tag(tenant, scope, tag, observed)));
    }
    keys
}

/// Reads a section that an entry of this kind always has; `None` if it is erased.
pub(crate) fn section<T>(
    offset: u64,
    state: &SectionState,
    decode: impl Fn(&[u8]) -> Result<T, CodecError>,
) -> Result<Option<T>, ViewError> {
    match state {
        SectionState::Live(bytes) => match decode(bytes) {
            Ok(payload) => Ok(Some(payload)),
            Err(source) => Err(ViewError::Entry { offset, source }),
        },
        SectionState::Erased => Ok(None),
        SectionState::Absent => Err(ViewError::Contradiction {
            offset,
            what: "a section that its kind always has is absent",
        }),
    }
}

pub(crate) fn contradiction(entry: &Entry, what: &'static str) -> ViewError {
    ViewError::Contradiction { offset: entry.head.offset, what }
}

pub(crate) fn row_error(space: Space) -> impl Fn(CodecError) -> ViewError {
    move |source| ViewError::Row { space: space.name(), source }
}
