//! Claims: facts told one value at a time.
//!
//! A version of a fact is one claim; a version of a conflict is as many as it has sides, each with an id
//! by which it can be picked.

use std::collections::BTreeSet;

use lamina_core::derive::facts::Basis;
use lamina_types::{ConflictId, RecordId, RecordedAt, ScopePath, ValidAt};

use crate::derive::conflicts::side_id;
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::read::conflicts::ConflictRecord;
use crate::read::facts::{EntityRef, FactObject, FactRecord, FactsPage, FactsQuery};
use crate::{Engine, Error};

/// One value that is or was claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRecord {
    /// Its id.
    pub id: RecordId,
    /// Its scope.
    pub scope: ScopePath,
    /// Whom it is about.
    pub subject: EntityRef,
    /// The relation.
    pub predicate: String,
    /// What is said.
    pub object: FactObject,
    /// From when; `None` if it is only known that it was so at some time.
    pub valid_from: Option<ValidAt>,
    /// How that is known.
    pub valid_from_basis: Option<Basis>,
    /// Until when.
    pub valid_to: Option<ValidAt>,
    /// How that is known.
    pub valid_to_basis: Option<Basis>,
    /// When this version was recorded.
    pub recorded_from: RecordedAt,
    /// When another one came in its place.
    pub recorded_to: Option<RecordedAt>,
    /// Whether it counts.
    pub status: ClaimStatus,
    /// The conflict it is a side of.
    pub conflict: Option<ConflictId>,
    /// The version in whose place it came.
    pub supersedes: Option<RecordId>,
}

/// Whether a claim counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimStatus {
    /// It does.
    Active,
    /// Something else is claimed of the same time.
    Disputed,
    /// Another version came in its place.
    Superseded,
}

impl ClaimStatus {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            ClaimStatus::Active => "active",
            ClaimStatus::Disputed => "disputed",
            ClaimStatus::Superseded => "superseded",
        }
    }
}

impl Engine {
    /// One page of the versions of facts that a question is about, and the conflicts among them.
    pub async fn claims_history(
        &self,
        permit: ReadPermit,
        query: FactsQuery,
    ) -> Result<(FactsPage, Vec<ConflictRecord>), Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.claims_history(&permit, &query)).await
    }
}

impl Inner {
    fn claims_history(
        &self,
        permit: &ReadPermit,
        query: &FactsQuery,
    ) -> Result<(FactsPage, Vec<ConflictRecord>), Error> {
        let page = self.facts(permit, query)?;
        let tenant = permit.caller().tenant;
        let among = page.items.iter().filter_map(|fact| fact.conflict);
        let among: BTreeSet<(RecordedAt, ConflictId)> = among.map(|(id, at)| (at, id)).collect();
        let mut conflicts = Vec::new();
        for (_, id) in among {
            conflicts.extend(self.conflict(tenant, id, query.pins.recorded)?);
        }
        Ok((page, conflicts))
    }
}

impl FactRecord {
    /// The claims that it is.
    pub fn claims(&self) -> Vec<ClaimRecord> {
        let status = match (self.recorded_to, self.conflict) {
            (Some(_), _) => ClaimStatus::Superseded,
            (None, Some(_)) => ClaimStatus::Disputed,
            (None, None) => ClaimStatus::Active,
        };
        let of_side = |object: &FactObject| match self.conflict {
            Some((conflict, detected)) => side_id(conflict, detected, object.value),
            None => RecordId::from_bytes(*self.id.as_bytes()),
        };
        let supersedes = self.supersedes.map(|id| RecordId::from_bytes(*id.as_bytes()));
        let claim = |object: &FactObject| ClaimRecord {
            id: of_side(object),
            scope: self.scope.clone(),
            subject: self.subject.clone(),
            predicate: self.predicate.clone(),
            object: object.clone(),
            valid_from: self.valid_from,
            valid_from_basis: self.valid_from_basis,
            valid_to: self.valid_to,
            valid_to_basis: self.valid_to_basis,
            recorded_from: self.recorded_from,
            recorded_to: self.recorded_to,
            status,
            conflict: self.conflict.map(|(conflict, _)| conflict),
            supersedes,
        };
        self.objects.iter().map(claim).collect()
    }
}
