//! Decisions that no event holds: merges of entities, declared beliefs, and how conflicts were decided,
//! with the words by which another server finds the same things.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use lamina_core::derive::beliefs::ledger::Piece;
use lamina_store::codec::control::{BeliefDeclared, NamedSupport};
use lamina_store::kv::{Direction, Space};
use lamina_types::layer::{Confidence, EntityKind, Term};
use lamina_types::{EntityId, EventId, FactId, RecordedAt, ScopePath, ValidAt};

use super::{EXPORT_RECORDS_MAX, ExportPoint};
use crate::derive::key;
use crate::derive::key::beliefs as belief_key;
use crate::derive::read::walk;
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::read::beliefs::claim_of;
use crate::read::conflicts::{
    ConflictRecord, ConflictStatus, ConflictsPage, ConflictsQuery, FOREVER, Resolve,
};
use crate::read::facts::{Answers, FactRecord};
use crate::{Engine, Error};

/// An entity of a merge, as its scope calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedMember {
    /// Its id.
    pub id: EntityId,
    /// What kind of thing.
    pub kind: EntityKind,
    /// As it was called first.
    pub name: Term,
}

/// Two entities that are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityMerge {
    /// The scope that speaks of both.
    pub scope: ScopePath,
    /// The one that is found under the other.
    pub from: NamedMember,
    /// The one that stays.
    pub into: NamedMember,
    /// The entry of the log that says so.
    pub offset: u64,
}

/// A record that a declaration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeclaredSupport {
    /// An event.
    Event(EventId),
    /// A fact.
    Fact(Box<FactRecord>),
}

/// A belief as somebody declared it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The scope.
    pub scope: ScopePath,
    /// The entry of the log.
    pub offset: u64,
    /// When it was declared.
    pub recorded: RecordedAt,
    /// The declaration.
    pub declared: DeclaredWords,
    /// Its supports that the reader may read.
    pub supports: Vec<DeclaredSupport>,
}

/// The words of a declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredWords {
    /// The claim, in the words of its author.
    pub statement: String,
    /// The subject, as its author calls it.
    pub subject: Option<String>,
    /// The name of the subject in the scope, if its author gave an id.
    pub subject_term: Option<Term>,
    /// The relation.
    pub predicate: String,
    /// How sure its author is.
    pub confidence: Confidence,
    /// From when it holds.
    pub valid_from: ValidAt,
}

/// An entry that declares a belief.
struct DeclarationEntry {
    offset: u64,
    recorded: RecordedAt,
    declared: BeliefDeclared,
}

/// A conflict that somebody decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictDecision {
    /// The conflict.
    pub conflict: ConflictRecord,
    /// The record that brought new information, if one did.
    pub news: Option<FactRecord>,
}

impl Engine {
    /// The merges of entities that the scopes of an export speak of, in the order of the log.
    pub async fn export_merges(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
    ) -> Result<Vec<EntityMerge>, Error> {
        self.inner.caught_up().await;
        let (permit, point) = (Arc::clone(permit), point.clone());
        self.blocking(move |inner| inner.export_merges(&permit, &point)).await
    }

    /// The declared beliefs of an export, in the order of the log.
    pub async fn export_declarations(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
    ) -> Result<Vec<Declaration>, Error> {
        self.inner.caught_up().await;
        let (permit, point) = (Arc::clone(permit), point.clone());
        self.blocking(move |inner| inner.export_declarations(&permit, &point)).await
    }

    /// One page of decided conflicts, the last found first, and before which instant the next one begins.
    pub async fn export_decisions(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
        before: Option<RecordedAt>,
    ) -> Result<(Vec<ConflictDecision>, Option<RecordedAt>), Error> {
        self.inner.caught_up().await;
        let (permit, point) = (Arc::clone(permit), point.clone());
        self.blocking(move |inner| inner.export_decisions(&permit, &point, before)).await
    }
}

impl Inner {
    fn export_merges(
        &self,
        permit: &ReadPermit,
        point: &ExportPoint,
    ) -> Result<Vec<EntityMerge>, Error> {
        let (tenant, scopes) = self.scopes_of(permit, &point.scope)?;
        let mut merges = Vec::new();
        for scope in scopes {
            let path = self.scope_path(tenant, scope)?;
            for home in self.subjects_of(tenant, scope)? {
                for member in self.group_at(tenant, home, point.recorded)? {
                    let Some(row) = self.home_row(tenant, member)?.filter(|_| member != home)
                    else {
                        continue;
                    };
                    let from = self.named_member(tenant, member, scope)?;
                    let into = self.named_member(tenant, row.into, scope)?;
                    if let (Some(from), Some(into)) = (from, into) {
                        let (scope, offset) = (path.clone(), row.by);
                        merges.push(EntityMerge { scope, from, into, offset });
                    }
                }
            }
        }
        merges.sort_by(|one, other| (one.offset, &one.scope).cmp(&(other.offset, &other.scope)));
        Ok(merges)
    }

    /// The entities that facts of a scope are about.
    fn subjects_of(&self, tenant: u32, scope: u64) -> Result<BTreeSet<EntityId>, Error> {
        let (mut from, end) = key::facts_about_all(tenant, scope);
        let mut found = BTreeSet::new();
        loop {
            let mut next = None;
            walk(&self.views, Space::Records, (&from, &end), Direction::Forward, &mut |key, _| {
                next = key::subject_of(key);
                ControlFlow::Break(())
            })?;
            let Some(id) = next else { return Ok(found) };
            from = key::facts_about(tenant, scope, id).1;
            found.insert(id);
        }
    }

    /// An entity by the first name that a scope has for it alone.
    fn named_member(
        &self,
        tenant: u32,
        id: EntityId,
        scope: u64,
    ) -> Result<Option<NamedMember>, Error> {
        let Some(row) = self.entity_row(tenant, id)? else { return Ok(None) };
        let (name, _) = self.names_in(tenant, &[id], &[scope])?;
        Ok(name.map(|name| NamedMember { id, kind: row.kind, name }))
    }

    fn export_declarations(
        &self,
        permit: &ReadPermit,
        point: &ExportPoint,
    ) -> Result<Vec<Declaration>, Error> {
        let (tenant, scopes) = self.scopes_of(permit, &point.scope)?;
        let mut found = Vec::new();
        for scope in scopes {
            let (from, to) = belief_key::all_listed(tenant, scope);
            let mut claims = BTreeSet::new();
            let bounds = (from.as_slice(), to.as_slice());
            walk(&self.views, Space::Records, bounds, Direction::Forward, &mut |_, value| {
                claims.extend(claim_of(scope, value));
                ControlFlow::Continue(())
            })?;
            for claim in claims {
                for (source, piece) in self.said_about(tenant, &claim)? {
                    if !matches!(piece.piece, Piece::Declared(_)) || !piece.counts(point.recorded) {
                        continue;
                    }
                    let entry = self.reader.entry(source.offset, piece.place)?;
                    // Erased words are declared by nobody.
                    let Some(bytes) = entry.what.live() else { continue };
                    let declared = BeliefDeclared::decode(bytes)
                        .map_err(|_| Error::Undecodable { what: "a declared belief" })?;
                    let (offset, recorded) = (source.offset, entry.head.recorded_at);
                    let entry = DeclarationEntry { offset, recorded, declared };
                    found.push(self.declaration_of(permit, scope, entry)?);
                }
            }
        }
        found.sort_by_key(|declaration| declaration.offset);
        found.dedup_by_key(|declaration| declaration.offset);
        Ok(found)
    }

    fn declaration_of(
        &self,
        permit: &ReadPermit,
        scope: u64,
        entry: DeclarationEntry,
    ) -> Result<Declaration, Error> {
        let DeclarationEntry { offset, recorded, declared } = entry;
        let tenant = permit.caller().tenant;
        let BeliefDeclared {
            statement,
            subject: _,
            subject_name,
            predicate,
            confidence,
            supports: named,
            valid_from,
        } = declared;
        let mut supports = Vec::new();
        for support in named {
            match support {
                NamedSupport::Event(id) => {
                    let row = self.event_seen(tenant, id)?.filter(|row| row.listed().is_some());
                    let Some(row) = row else { continue };
                    if permit.covers(&self.scope_path(tenant, row.scope)?) {
                        supports.push(DeclaredSupport::Event(id));
                    }
                }
                NamedSupport::Fact(id) => {
                    let fact = self.fact_known(tenant, id)?;
                    let fact = fact.filter(|fact| permit.covers(&fact.scope));
                    supports.extend(fact.map(Box::new).map(DeclaredSupport::Fact));
                }
            }
        }
        let by_id = subject_name.as_deref().and_then(|name| name.parse::<EntityId>().ok());
        let subject_term = match by_id {
            Some(id) => self.names_in(tenant, &[id], &[scope])?.0,
            None => None,
        };
        let scope = self.scope_path(tenant, scope)?;
        let declared = DeclaredWords {
            statement,
            subject: subject_name,
            subject_term,
            predicate,
            confidence,
            valid_from,
        };
        Ok(Declaration { scope, offset, recorded, declared, supports })
    }

    /// A fact with its words, with all that is known.
    fn fact_known(&self, tenant: u32, id: FactId) -> Result<Option<FactRecord>, Error> {
        let Some(row) = self.fact_row(tenant, id)? else { return Ok(None) };
        self.fact(tenant, id, &row, FOREVER, &mut Answers::new())
    }

    fn export_decisions(
        &self,
        permit: &ReadPermit,
        point: &ExportPoint,
        before: Option<RecordedAt>,
    ) -> Result<(Vec<ConflictDecision>, Option<RecordedAt>), Error> {
        let query = ConflictsQuery {
            scope: point.scope.clone(),
            open_only: false,
            recorded: Some(point.recorded),
            before,
            limit: EXPORT_RECORDS_MAX,
        };
        let ConflictsPage { items, total: _, next } = self.conflicts(permit, &query)?;
        let tenant = permit.caller().tenant;
        let mut decided = Vec::new();
        for conflict in items {
            let news = match &conflict.status {
                ConflictStatus::Open | ConflictStatus::Overtaken { .. } => continue,
                ConflictStatus::Resolved { action: Resolve::NewInformation { record }, .. } => {
                    self.fact_known(tenant, FactId::from_bytes(*record.as_bytes()))?
                }
                ConflictStatus::Resolved { .. } => None,
            };
            decided.push(ConflictDecision { conflict, news });
        }
        Ok((decided, next))
    }
}
