//! The typed events that change the working set, found by their labels: `type:task.created`.

use lamina_core::read::checkout::typed::TypedEvent;
use lamina_core::read::checkout::work::{self, KINDS, WorkEvent, WorkingSet};
use lamina_core::read::prompt::RecordAuthor;
use lamina_store::kv::Direction;
use lamina_store::view::{Axis, EventScan};
use lamina_types::{EventRecord, RecordedAt};

use super::{Reading, cite, facts};
use crate::Error;

/// What the label of a typed event begins with.
pub(super) const LABEL: &str = "type:";
/// Events of one kind that are looked at, the last first.
const OF_KIND_MAX: usize = 32;
/// Rows of one kind that are passed over for them.
const ROWS_MAX: usize = 2_048;

impl Reading<'_> {
    /// What typed events leave open at the instant.
    pub(super) fn working_set(&mut self) -> Result<WorkingSet, Error> {
        let mut events = Vec::new();
        if self.frame.scopes.is_empty() {
            return Ok(WorkingSet::default());
        }
        for (kind, _) in KINDS {
            let tag = self.inner.views.tag_label(self.frame.tenant, &format!("{LABEL}{kind}"))?;
            let page = self.inner.views.event_scan(&EventScan {
                tenant: self.frame.tenant,
                scopes: self.frame.scopes.clone(),
                axis: Axis::Observed,
                direction: Direction::Backward,
                observed_from: None,
                observed_to: None,
                recorded_from: None,
                recorded_to: Some(RecordedAt(self.frame.recorded.0.plus(1))),
                tags: vec![vec![tag]],
                after: None,
                skip: 0,
                limit: OF_KIND_MAX,
                scan_max: ROWS_MAX,
            })?;
            for row in &page.rows {
                if self.inner.is_hidden(row) {
                    continue;
                }
                let Some(event) = self.record(row)? else { continue };
                // The label is the caller's; the document says what it is.
                if let Some(typed) = facts::typed(&event).filter(|typed| typed.kind == *kind) {
                    events.push(work_event(&event, typed));
                }
            }
        }
        Ok(work::fold(events))
    }
}

fn work_event(event: &EventRecord, typed: TypedEvent) -> WorkEvent {
    WorkEvent {
        event: typed,
        author: RecordAuthor::of(event).to_string(),
        at: event.experience.context.observed_at.0,
        recorded: event.recorded_at,
        citation: cite(event),
    }
}
