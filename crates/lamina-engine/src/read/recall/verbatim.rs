//! Events by their words alone: what somebody said or wrote, scored as BM25 scores it, without any floor.

use lamina_core::read::plan::plan;
use lamina_store::view::remembering;
use lamina_types::EventRecord;
use lamina_types::recall::Recall;

use super::{INDEX_WAIT_MAX, MayRecall, Ranked};
use crate::engine::Inner;
use crate::{Engine, Error};

/// Hits at most.
pub const VERBATIM_MAX: usize = 200;

impl Engine {
    /// The events that share words with a question, the best first. Where the index is behind, events are read.
    pub async fn verbatim(
        &self,
        may: MayRecall,
        question: Recall,
        limit: usize,
    ) -> Result<Vec<Ranked<EventRecord>>, Error> {
        let answered = self.inner.caught_up().await;
        if let Some(search) = &self.inner.search {
            search.reached(answered, INDEX_WAIT_MAX).await;
        }
        self.blocking(move |inner| {
            remembering(|| inner.verbatim(&may, &question, (answered, limit)))
        })
        .await
    }
}

impl Inner {
    fn verbatim(
        &self,
        may: &MayRecall,
        question: &Recall,
        (answered, limit): (u64, usize),
    ) -> Result<Vec<Ranked<EventRecord>>, Error> {
        let frame = self.frame(may, question, plan(&question.query), answered)?;
        let limit = limit.min(VERBATIM_MAX);
        let channel = self.found(&frame, &question.query, limit)?.lexical;
        let mut events = Vec::new();
        for (id, score, _) in channel.hits.into_iter().take(limit) {
            let row = self.event_row(frame.tenant, id)?;
            if self.is_hidden(&row) || row.is_excluded() || row.recorded_at > frame.recorded {
                continue;
            }
            match self.record(&row) {
                Ok(record) if may.reach.covers(&record.experience.scope) => {
                    events.push(Ranked { record, score });
                }
                Ok(_) | Err(Error::Deleted) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(events)
    }
}
