//! Events that wait for the search index: it follows the views in its own time, and an event is indexed
//! when it has come past it.

use lamina_core::write::pipeline::Action;
use lamina_store::view::ViewError;
use lamina_types::{EventId, Stage};

use super::Stages;

impl Stages {
    /// The index has come this far, or goes no further: whoever waited for it is looked at again.
    pub(super) fn indexed(&mut self, through: u64) -> Result<(), ViewError> {
        let later = self.unindexed.split_off(&through);
        let there: Vec<EventId> =
            std::mem::replace(&mut self.unindexed, later).into_values().collect();
        if there.is_empty() {
            return Ok(());
        }
        for event in there {
            self.perform(vec![Action::Run { event, stage: Stage::Indexed, attempt: 1 }])?;
        }
        self.catch_up()?;
        let through = self.through();
        self.views.pipeline_watermark_put(&mut self.out.batch, through);
        self.flush()
    }
}
