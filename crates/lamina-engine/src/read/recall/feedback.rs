//! What feedback does to a pack: records that were useful stand a little higher, those that were not a little lower.
//!
//! It counts in the scopes that the question reads, and with the knowledge that it is asked with. Whether there is
//! anything to answer with is decided without it, and so is what replaced what. A question about how things
//! changed is told as it was found: that the old was useful once does not put it before what came after it.

use lamina_core::read::reinforce::reinforced;
use lamina_types::recall::Layer;
use lamina_types::{Micros, RecordedAt};

use super::derived::Standing;
use super::plan::Frame;
use super::retrieve::Hits;
use crate::Error;
use crate::derive::rated::Rated;
use crate::engine::Inner;

impl Inner {
    /// The feedback that a question sees, if there is any.
    pub(super) fn rated(&self, frame: &Frame<'_>) -> Result<Option<Rated<'_>>, Error> {
        if frame.plan.wants_history() {
            return Ok(None);
        }
        let known = if frame.in_the_past { frame.recorded } else { RecordedAt(Micros::MAX) };
        Ok(Rated::within(&self.views, frame.tenant, &frame.scopes, known)?)
    }

    /// Adds to the scores of events what feedback on them gives.
    pub(super) fn reinforce(&self, frame: &Frame<'_>, hits: &mut Hits) -> Result<(), Error> {
        let Some(rated) = self.rated(frame)? else { return Ok(()) };
        for found in &mut hits.events {
            let share = reinforced(rated.net(Layer::Events, found.row.id.as_bytes())?);
            if share != 0.0 {
                found.rated = share * found.score.max(0.0);
                found.contributions.importance += found.rated;
                found.score += found.rated;
            }
        }
        Ok(())
    }

    /// The same for what stands on events.
    pub(super) fn reinforce_derived(
        &self,
        frame: &Frame<'_>,
        standing: &mut Standing,
    ) -> Result<(), Error> {
        let Some(rated) = self.rated(frame)? else { return Ok(()) };
        let Standing { facts, beliefs, episodes, threads: _ } = standing;
        let facts = facts.iter_mut().map(|(id, score)| (Layer::Facts, id.as_bytes(), score));
        let beliefs = beliefs.iter_mut().map(|(id, score)| (Layer::Beliefs, id.as_bytes(), score));
        let episodes =
            episodes.iter_mut().map(|(id, score)| (Layer::Episodes, id.as_bytes(), score));
        for (layer, id, score) in facts.chain(beliefs).chain(episodes) {
            raise_by(score, reinforced(rated.net(layer, id)?));
        }
        Ok(())
    }
}

/// Adds a share of a score to it.
pub(super) fn raise_by(score: &mut f64, share: f64) {
    if share != 0.0 {
        *score += share * score.max(0.0);
    }
}
