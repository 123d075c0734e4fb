//! What episodes claim: the claims that are counted, and those of the events with a label.

use std::sync::Arc;

use lamina_store::kv::Space;
use lamina_store::view::Tag;
use lamina_types::EpisodeId;

use super::KnownAt;
use crate::Error;
use crate::derive::concepts::key;
use crate::derive::concepts::rows::{Claimed, DigestRow, ThingsRow};
use crate::derive::read::row;
use crate::engine::Inner;

impl Inner {
    /// What an episode contributes to a scope.
    pub(super) fn digest_of(
        &self,
        tenant: u32,
        scope: u64,
        episode: EpisodeId,
    ) -> Result<Option<Arc<DigestRow>>, Error> {
        let stored = key::digest(tenant, scope, episode);
        Ok(self.views.derived_record(Space::Sources, &stored, DigestRow::decode)?)
    }

    /// What an episode claims about its things.
    pub(super) fn claims(
        &self,
        tenant: u32,
        scope: u64,
        digest: &DigestRow,
        at: KnownAt,
    ) -> Result<Vec<Claimed>, Error> {
        if at.past().is_some() {
            self.stated(tenant, scope, digest)
        } else {
            Ok(digest.facts.clone())
        }
    }

    /// Everything that the answers of an episode claim about its things, whether or not it is counted
    /// still.
    fn stated(&self, tenant: u32, scope: u64, digest: &DigestRow) -> Result<Vec<Claimed>, Error> {
        let mut claims = Vec::new();
        for answer in &digest.answers {
            let stored = key::things(tenant, *answer);
            let things = row(&self.views, Space::Sources, &stored, ThingsRow::decode)?;
            let facts = things.map_or_else(Vec::new, |things| things.facts);
            let here = facts.iter().filter(|stated| stated.scope == scope);
            claims.extend(here.filter_map(|stated| stated.among(&digest.items)));
        }
        Ok(claims)
    }

    /// Everything that the events of an episode claim that have a label.
    pub(super) fn labelled(
        &self,
        tenant: u32,
        scope: u64,
        digest: &DigestRow,
        label: Tag,
    ) -> Result<Vec<Claimed>, Error> {
        let mut claims = Vec::new();
        for answer in &digest.answers {
            let stored = key::things(tenant, *answer);
            let things = row(&self.views, Space::Sources, &stored, ThingsRow::decode)?;
            let Some(things) = things.filter(|things| things.labels.contains(&label)) else {
                continue;
            };
            let here = things.facts.iter().filter(|stated| stated.scope == scope);
            claims.extend(here.filter_map(|stated| stated.among(&digest.items)));
        }
        Ok(claims)
    }
}
