//! The concepts that an event, or an episode, is part of.

use std::collections::BTreeSet;

use lamina_core::derive::concepts::{Graph as _, Item, Standing};
use lamina_store::kv::Space;
use lamina_types::{ConceptId, EpisodeId, EventId};

use crate::Error;
use crate::derive::concepts::graph::Stored;
use crate::derive::concepts::key;
use crate::derive::concepts::rows::{ConceptRow, DigestRow, ThingsRow};
use crate::derive::read::{answers_to, row};
use crate::engine::Inner;

impl Inner {
    /// The concepts that an event supports: those that gather at least two things of its episode.
    pub(crate) fn concepts_of_event(
        &self,
        tenant: u32,
        event: EventId,
    ) -> Result<Vec<ConceptId>, Error> {
        let event = self.views.event_again(tenant, event)?;
        let Some(event) = event else { return Ok(Vec::new()) };
        let mut found = BTreeSet::new();
        for answer in answers_to(&self.views, tenant, event.offset)? {
            let stored = key::things(tenant, answer);
            let things = row(&self.views, Space::Sources, &stored, ThingsRow::decode)?;
            let Some((things, episode)) = things.and_then(|row| row.episode.map(|id| (row, id)))
            else {
                continue;
            };
            let labels: Vec<Item> = things.labels.iter().copied().map(Item::Label).collect();
            for scope in things.scopes {
                for id in self.concepts_of_episode(tenant, scope, episode)? {
                    let stored = key::concept(tenant, id);
                    let known = row(&self.views, Space::Records, &stored, ConceptRow::decode)?;
                    // A name that a label gives is of the events that have the label.
                    let leader = known.map(|known| known.concept.leader);
                    if leader.is_none_or(|leader| !leader.is_label() || labels.contains(&leader)) {
                        found.insert(id);
                    }
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    /// The concepts that gather at least two things of a sealed episode, and those that its labels name.
    pub(crate) fn concepts_of_episode(
        &self,
        tenant: u32,
        scope: u64,
        episode: EpisodeId,
    ) -> Result<Vec<ConceptId>, Error> {
        let stored = key::digest(tenant, scope, episode);
        let digest = self.views.derived_record(Space::Sources, &stored, DigestRow::decode)?;
        let items = digest.as_ref().map_or(&[][..], |digest| &digest.items);
        let graph = Stored::new(&*self.views, tenant, scope);
        let ids: BTreeSet<ConceptId> =
            items.iter().filter_map(|item| graph.concept_of(*item)).collect();
        let concepts = ids.into_iter().filter_map(|id| graph.concept(id));
        let gathering = concepts.filter(|one| {
            let here = items.iter().filter(|item| one.members.contains(item)).count();
            let least = if one.leader.is_label() { 1 } else { 2 };
            one.standing == Standing::Held && here >= least
        });
        let found = gathering.map(|one| one.id).collect();
        Ok(graph.finish(found)?)
    }
}
