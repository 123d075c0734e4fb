//! A log in memory for the tests of the views: it numbers, chains and erases, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use lamina_types::{
    Actor, AuditId, BlobId, Content, Context, Directives, Experience, Hints, MediaRef, MemberRole,
    Micros, Modality, RecordedAt, ValidAt,
};
use sha2::{Digest, Sha256};

use crate::codec::control::{
    Blob, BlobKey, BlobRemoved, Cancel, PolicySet, PolicyTarget, Scope, ScopeRemoved, ScopeSet,
    Tenant, TokenRevoked,
};
use crate::codec::experience::{Admission, FAMILY_EXPERIENCE, Identity, split};
use crate::entry::{DEPLOYMENT, Entry, Head, Kind, Place, SYSTEM_SCOPE, SectionState, control};
use crate::kv::{Direction, Kv, MemKv, Space};
use crate::log::{ErasePayload, EraseTarget, Tip};
use crate::view::derived::NoRecords;
use crate::view::{Hasher, REPLAYED, Views};

/// The only tenant of most tests.
pub(crate) const TENANT: u32 = 1;

#[derive(Debug)]
pub(crate) struct TestHasher;

/// The key that a blob of the tests was uploaded with.
pub(crate) fn blob_key(id: BlobId) -> [u8; 32] {
    let mut key = [7; 32];
    key[..16].copy_from_slice(id.as_bytes());
    key
}

impl Hasher for TestHasher {
    fn mac(&self, tenant: u32, label: &str, parts: &[&[u8]]) -> Option<[u8; 32]> {
        let mut hash = Sha256::new();
        hash.update(tenant.to_be_bytes());
        for part in std::iter::once(label.as_bytes()).chain(parts.iter().copied()) {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Some(hash.finalize().into())
    }
}

/// What a test says of one event; the rest is the same for all.
#[derive(Debug, Clone)]
pub(crate) struct Say {
    pub(crate) scope: u64,
    pub(crate) text: String,
    pub(crate) key: String,
    pub(crate) observed_at: i64,
    pub(crate) labels: Vec<String>,
    pub(crate) modality: String,
    pub(crate) actor: String,
    pub(crate) media: Vec<BlobId>,
}

impl Default for Say {
    fn default() -> Say {
        Say {
            scope: 1,
            text: "hello".to_owned(),
            key: "k".to_owned(),
            observed_at: 0,
            labels: Vec::new(),
            modality: "observation".to_owned(),
            actor: "user:x".to_owned(),
            media: Vec::new(),
        }
    }
}

pub(crate) fn idem_mac(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

#[derive(Debug, Clone, Default)]
pub(crate) struct TestLog {
    pub(crate) entries: Vec<Entry>,
    pub(crate) now: i64,
    tenant_seq: BTreeMap<u32, u64>,
    chains: BTreeMap<(u32, u64), (u64, [u8; 32])>,
    scopes: u64,
    policies: BTreeMap<PolicyTarget, (u64, u64)>,
}

impl TestLog {
    /// A log with one tenant and so many scopes, `user:s1` and on.
    pub(crate) fn new(scopes: u64) -> TestLog {
        let mut log = TestLog { now: 1_000_000, ..TestLog::default() };
        log.tenant(TENANT, "default");
        for n in 1..=scopes {
            log.scope(&format!("user:s{n}"));
        }
        log
    }

    pub(crate) fn tenant(&mut self, ordinal: u32, name: &str) -> u64 {
        let what = Tenant { name: name.to_owned(), key_check: None };
        self.control(ordinal, control::TENANT, Vec::new(), what.encode())
    }

    pub(crate) fn scope(&mut self, path: &str) -> u64 {
        self.scopes += 1;
        let what = Scope {
            path: path.parse().unwrap(),
            ordinal: self.scopes,
            owner: "user:owner".parse().unwrap(),
            auto: true,
        };
        self.control(TENANT, control::SCOPE, Vec::new(), what.encode())
    }

    pub(crate) fn say(&mut self, say: &Say) -> u64 {
        let text = say.text.clone();
        let media = say.media.iter();
        let media = media.map(|id| MediaRef { blob_id: *id }).collect();
        let experience = Experience {
            scope: "user:any".parse().unwrap(),
            observed_actor: Actor::new(say.actor.parse().unwrap()),
            subject: "user:x".parse().unwrap(),
            modality: Modality(say.modality.clone()),
            content: Content::Text { text, media },
            context: Context {
                observed_at: ValidAt(Micros(say.observed_at)),
                source_recorded_at: None,
                location: None,
                preceded_by: Vec::new(),
                intent: None,
                labels: say.labels.clone(),
                refers_to: None,
            },
            directives: Directives::default(),
            source: None,
            origin: None,
            hints: Hints::default(),
            idempotency_key: say.key.clone(),
        };
        let admission = Admission {
            caller: "agent:a".parse().unwrap(),
            request_id: "req_01".to_owned(),
            audit_id: AuditId::from_bytes([2; 16]),
            decision: String::new(),
            home: None,
            as_system: false,
        };
        let identity = Identity {
            family: FAMILY_EXPERIENCE,
            idem_mac: idem_mac(&say.key),
            body_mac: [7; 32],
            batch_id: None,
        };
        let (who, what) = split(admission, experience, identity);
        let sections = (who.encode(), what.encode());
        self.push(Kind::Experience, 0, (TENANT, say.scope), Vec::new(), sections)
    }

    pub(crate) fn cancel(&mut self, offset: u64) -> u64 {
        let what = Cancel {
            event_id: self.entries[offset as usize].head.event_id(),
            audit_id: AuditId::from_bytes([3; 16]),
            note: String::new(),
        };
        self.control(TENANT, control::CANCEL, vec![offset], what.encode())
    }

    pub(crate) fn blob(&mut self, id: BlobId) -> u64 {
        let what = Blob {
            id,
            size: 10,
            content_type: "image/png".to_owned(),
            sha256: [1; 32],
            perceptual_hash: Some(5),
            file: *id.as_bytes(),
            uploader: "user:x".parse().unwrap(),
            key: Some(BlobKey { idem_mac: blob_key(id), body_mac: [8; 32] }),
        };
        self.control(TENANT, control::BLOB, Vec::new(), what.encode())
    }

    pub(crate) fn blob_removed(&mut self, offset: u64) -> u64 {
        let id = BlobId::from_bytes([0; 16]);
        let what = BlobRemoved { id };
        self.control(TENANT, control::BLOB_REMOVED, vec![offset], what.encode())
    }

    pub(crate) fn policy(&mut self, target: &PolicyTarget, document: &str) -> u64 {
        let before = self.policies.get(target).copied();
        let version = before.map_or(0, |(_, version)| version) + 1;
        let what =
            PolicySet { target: target.clone(), document: Some(document.to_owned()), version };
        let causes = before.map(|(offset, _)| offset).into_iter().collect();
        let offset = self.control(TENANT, control::POLICY_SET, causes, what.encode());
        self.policies.insert(target.clone(), (offset, version));
        offset
    }

    pub(crate) fn revoke(&mut self, token: &str, exp: i64) -> u64 {
        let what = TokenRevoked { token: idem_mac(token), exp: Micros(exp) };
        self.control(DEPLOYMENT, control::TOKEN_REVOKED, Vec::new(), what.encode())
    }

    pub(crate) fn members(&mut self, scope: u64, members: &[(&str, MemberRole)]) -> u64 {
        let members = members.iter().map(|(actor, role)| (actor.parse().unwrap(), *role));
        let what = ScopeSet {
            path: "user:any".parse().unwrap(),
            members: members.collect(),
            policies: String::new(),
            auto: false,
        };
        let sections = (Vec::new(), what.encode());
        self.push(Kind::Control, control::SCOPE_SET, (TENANT, scope), Vec::new(), sections)
    }

    pub(crate) fn scope_removed(&mut self, scope: u64) -> u64 {
        let what = ScopeRemoved { path: "user:any".parse().unwrap() };
        let sections = (Vec::new(), what.encode());
        self.push(Kind::Control, control::SCOPE_REMOVED, (TENANT, scope), Vec::new(), sections)
    }

    /// Appends the erasure and zeroes what it names.
    pub(crate) fn erase(&mut self, targets: &[EraseTarget]) -> u64 {
        let payload = ErasePayload { targets: targets.to_vec(), residue: Vec::new() };
        let offset = self.control(TENANT, control::ERASE, Vec::new(), payload.encode());
        for target in targets {
            let entry = &mut self.entries[target.offset as usize];
            if target.who && entry.who != SectionState::Absent {
                entry.who = SectionState::Erased;
            }
            if target.what {
                entry.what = SectionState::Erased;
            }
        }
        offset
    }

    pub(crate) fn mark(&mut self) -> u64 {
        let sections = (Vec::new(), Vec::new());
        self.push(Kind::Mark, 0, (0, SYSTEM_SCOPE), Vec::new(), sections)
    }

    pub(crate) fn control(
        &mut self,
        tenant: u32,
        sub: u16,
        causes: Vec<u64>,
        what: Vec<u8>,
    ) -> u64 {
        let place = (tenant, SYSTEM_SCOPE);
        self.push(Kind::Control, sub, place, causes, (Vec::new(), what))
    }

    fn push(
        &mut self,
        kind: Kind,
        sub: u16,
        (tenant, scope): (u32, u64),
        causes: Vec<u64>,
        (who, what): (Vec<u8>, Vec<u8>),
    ) -> u64 {
        self.now += 1;
        let offset = self.entries.len() as u64;
        let tenant_seq = self.tenant_seq.entry(tenant).or_default();
        *tenant_seq += 1;
        let (scope_seq, prev_seal) = self.chains.get(&(tenant, scope)).copied().unwrap_or_default();
        let seal: [u8; 32] = Sha256::digest(offset.to_be_bytes()).into();
        self.chains.insert((tenant, scope), (scope_seq + 1, seal));
        let section = |bytes: Vec<u8>| match bytes.is_empty() {
            true => SectionState::Absent,
            false => SectionState::Live(bytes),
        };
        let mut id = [0; 16];
        id[8..].copy_from_slice(&(offset + 1).to_be_bytes());
        self.entries.push(Entry {
            head: Head {
                version: 1,
                kind,
                sub,
                flags: 0,
                codec_who: 0,
                codec_what: 0,
                key_id: 0,
                offset,
                batch: offset,
                tenant,
                tenant_seq: *tenant_seq,
                scope,
                scope_seq: scope_seq + 1,
                id,
                recorded_at: RecordedAt(Micros(self.now)),
                causes,
                who_len: 0,
                what_len: 0,
                who_commit: [0; 32],
                what_commit: [0; 32],
                prev_seal,
                seal,
            },
            who: section(who),
            what: section(what),
            place: Place(offset * 100),
        });
        offset
    }

    /// The tip after the first `len` entries.
    pub(crate) fn tip(&self, len: usize) -> Tip {
        Tip {
            next_offset: len as u64,
            batch: len as u64,
            hash: [len as u8; 32],
            recorded_at: self.entries[len - 1].head.recorded_at,
            place: Place(len as u64 * 100),
        }
    }

    /// Applies everything that is not applied yet, so many entries at a time.
    pub(crate) fn apply(&self, views: &Views, step: usize) {
        let mut from = views.applied().map_or(0, |tip| tip.next_offset as usize);
        while from < self.entries.len() {
            let to = (from + step).min(self.entries.len());
            views.apply(&self.entries[from..to], &self.tip(to)).unwrap();
            from = to;
        }
    }

    /// The views of this log, all applied, so many entries at a time.
    pub(crate) fn views(&self, step: usize) -> Views {
        let views = empty();
        self.apply(&views, step);
        views
    }
}

pub(crate) fn empty() -> Views {
    open(Arc::new(MemKv::new()))
}

pub(crate) fn open(kv: Arc<dyn Kv>) -> Views {
    Views::open(kv, Arc::new(TestHasher), Arc::new(NoRecords)).unwrap()
}

/// Every row of the replayed spaces.
pub(crate) fn dump(kv: &dyn Kv) -> Vec<(Space, Vec<u8>, Vec<u8>)> {
    let mut rows = Vec::new();
    for space in REPLAYED {
        kv.scan(*space, &[], &[], Direction::Forward, &mut |key, value| {
            rows.push((*space, key.to_vec(), value.to_vec()));
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    }
    rows
}
