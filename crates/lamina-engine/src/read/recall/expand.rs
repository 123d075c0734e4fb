//! Expand: the conversation that a hit is part of, and the turns beside it.

use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;

use lamina_core::read::retrieve::weigh_channels;
use lamina_core::read::score::order;
use lamina_core::read::tuning::Tuning;
use lamina_store::kv::Space;
use lamina_types::stdx::quick::Map;
use lamina_types::{EpisodeId, EventId};

use super::Trail;
use super::plan::Frame;
use super::retrieve::Hits;
use crate::Error;
use crate::derive::key::episodes as key;
use crate::derive::read::{Turns, row, turns_of};
use crate::derive::rows::episodes::{EpisodeEventRow, MemberRow};
use crate::engine::Inner;

/// Turns on each side of a hit that are looked at.
const BESIDE: usize = 2;

impl Inner {
    /// Finds out which conversations the hits are part of, and brings in what stands beside the best.
    pub(super) fn expand(
        &self,
        frame: &Frame<'_>,
        tuning: &Tuning,
        hits: &mut Hits,
        trail: &mut Trail,
    ) -> Result<(), Error> {
        for found in &mut hits.events {
            found.thread = self.thread_of(frame, found.row.id)?;
        }
        let own = weigh_channels(&hits.channels(), &tuning.first).sums();
        let mut threads: Map<EpisodeId, Arc<Turns>> = Map::default();
        for at in order(&own).into_iter().take(tuning.surrounded) {
            let Some(found) = hits.events.get(at) else { continue };
            let Some(thread) = found.thread else { continue };
            let turns = match threads.entry(thread) {
                Slot::Occupied(known) => known.into_mut(),
                Slot::Vacant(slot) => {
                    slot.insert(turns_of(&self.views, frame.tenant, thread, frame.recorded)?)
                }
            };
            let Some(place) = turns.place(found.row.id) else { continue };
            let beside =
                turns.events.iter().skip(place.saturating_sub(BESIDE)).take(2 * BESIDE + 1);
            for event in beside.copied().collect::<Vec<_>>() {
                let known = hits.events.len();
                if let Some(at) = self.event_in(frame, hits, event)?
                    && at >= known
                    && let Some(found) = hits.events.get_mut(at)
                {
                    found.thread = Some(thread);
                    trail.neighbours += 1;
                }
            }
        }
        for found in &mut hits.events {
            let turns = found.thread.and_then(|thread| threads.get(&thread));
            let place = turns.and_then(|turns| turns.place(found.row.id));
            found.position = place.map(|place| place as u64);
        }
        Ok(())
    }

    /// The conversation that an event is part of, if that is known yet.
    fn thread_of(&self, frame: &Frame<'_>, event: EventId) -> Result<Option<EpisodeId>, Error> {
        let member = key::member(frame.tenant, event);
        let member = row(&self.views, Space::Sources, &member, MemberRow::decode)?;
        let Some(MemberRow { episode, observed }) = member else { return Ok(None) };
        if !frame.in_the_past {
            return Ok(Some(episode));
        }
        let joined = key::event(frame.tenant, episode, observed, event);
        let joined = row(&self.views, Space::Records, &joined, EpisodeEventRow::decode)?;
        Ok(joined.filter(|row| row.joined <= frame.recorded).map(|_| episode))
    }
}
