//! Nothing in particular is asked for: the latest, as a diary would be opened at its last page.

use std::sync::Arc;

use super::Hits;
use crate::Error;
use crate::engine::Inner;
use crate::read::recall::plan::Frame;
use lamina_types::recall::Layer;

/// Events that are looked at unless more are asked for.
const EVENTS: usize = 100;

impl Inner {
    /// The latest events.
    pub(super) fn latest(&self, frame: &Frame<'_>) -> Result<Hits, Error> {
        let asked = frame.question.layer_limits.get(Layer::Events as usize).copied().flatten();
        let limit = asked.unwrap_or(0).max(EVENTS);
        let mut hits = Hits::default();
        for (place, row) in self.rows_in(frame, limit)?.into_iter().enumerate() {
            let Some(observed) = row.listed().map(|facets| facets.observed_at) else { continue };
            let at = hits.add(Arc::new(row), observed);
            if let Some(found) = hits.events.get_mut(at) {
                found.score = 1.0 / (1.0 + place as f64);
            }
        }
        Ok(hits)
    }
}
