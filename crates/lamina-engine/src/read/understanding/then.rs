//! What was understood of an episode at an instant.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;

use lamina_core::derive::concepts::{Item, Standing};
use lamina_store::kv::Space;
use lamina_types::{ConceptId, EpisodeId, RecordedAt};

use super::record::Version;
use crate::Error;
use crate::derive::concepts::key;
use crate::derive::concepts::rows::DigestRow;
use crate::engine::Inner;
use crate::read::facts::FactKey;

/// The concepts of scopes as they were at an instant.
#[derive(Debug)]
pub(crate) struct ConceptsThen {
    tenant: u32,
    recorded: RecordedAt,
    /// What each concept of a scope gathered.
    scopes: BTreeMap<u64, Vec<(ConceptId, Vec<Item>)>>,
}

impl ConceptsThen {
    pub(crate) fn new(tenant: u32, recorded: RecordedAt) -> ConceptsThen {
        ConceptsThen { tenant, recorded, scopes: BTreeMap::new() }
    }
}

impl Inner {
    /// The concepts that gathered at least two things of a sealed episode at an instant. What belongs to which concept is known of the present only, so all of the scope are
    /// looked through.
    pub(crate) fn concepts_then(
        &self,
        then: &mut ConceptsThen,
        scope: u64,
        episode: EpisodeId,
    ) -> Result<Vec<ConceptId>, Error> {
        let (tenant, recorded) = (then.tenant, then.recorded);
        let stored = key::digest(tenant, scope, episode);
        let digest = self.views.derived_record(Space::Sources, &stored, DigestRow::decode)?;
        let Some(digest) = digest.filter(|digest| digest.at <= recorded) else {
            return Ok(Vec::new());
        };
        let known = match then.scopes.entry(scope) {
            Slot::Occupied(known) => known.into_mut(),
            Slot::Vacant(slot) => slot.insert(self.gathered(tenant, scope, recorded)?),
        };
        let gathers = |members: &[Item]| {
            digest.items.iter().filter(|item| members.contains(item)).count() >= 2
        };
        let here = known.iter().filter(|(_, members)| gathers(members));
        let mut found: Vec<ConceptId> = here.map(|(id, _)| *id).collect();
        found.sort_unstable();
        Ok(found)
    }

    /// The concepts of a scope that were held at an instant, with what they gathered.
    fn gathered(
        &self,
        tenant: u32,
        scope: u64,
        recorded: RecordedAt,
    ) -> Result<Vec<(ConceptId, Vec<Item>)>, Error> {
        let later = FactKey { at: recorded.0.0.saturating_add(1), id: [0; 16] };
        let mut gathered = Vec::new();
        for at in self.concepts_listed(tenant, scope, Some(later))? {
            let seen = self.concept_at(tenant, ConceptId::from_bytes(at.id), recorded)?;
            let Some(Version { row, .. }) = seen else { continue };
            if row.concept.standing == Standing::Held {
                gathered.push((row.concept.id, row.concept.members));
            }
        }
        Ok(gathered)
    }
}
