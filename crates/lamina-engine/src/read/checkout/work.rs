//! The typed events that change the working set, found by their labels: `type:task.created`.

use lamina_core::read::checkout::typed::{INVALIDATED, TypedEvent};
use lamina_core::read::checkout::work::{self, InvalidatedEntity, KINDS, WorkEvent, WorkingSet};
use lamina_core::read::prompt::RecordAuthor;
use lamina_models::structured::invalidation;
use lamina_store::kv::Direction;
use lamina_store::view::{Axis, EventRow, EventScan};
use lamina_types::{Content, EventRecord, RecordedAt};

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
            for row in &self.rows_of_kind(kind)? {
                let Some(event) = self.record(row)? else { continue };
                // The label is the caller's; the document says what it is.
                if let Some(typed) = facts::typed(&event).filter(|typed| typed.kind == *kind) {
                    events.push(work_event(&event, typed));
                }
            }
        }
        Ok(work::fold_without(events, self.invalidated()?))
    }

    /// Entities whose statements are over at the instant.
    fn invalidated(&mut self) -> Result<Vec<InvalidatedEntity>, Error> {
        let mut found = Vec::new();
        for row in self.rows_of_kind(INVALIDATED)? {
            let Some(event) = self.record(&row)? else { continue };
            let Content::Json { data, .. } = &event.experience.content else { continue };
            if let Some(closed) = invalidation(data).filter(|closed| closed.at <= self.at) {
                found.push(InvalidatedEntity {
                    name: closed.entity_name.to_lowercase(),
                    recorded: event.recorded_at,
                });
            }
        }
        Ok(found)
    }

    /// The rows of the typed events of a kind, the last first.
    fn rows_of_kind(&self, kind: &str) -> Result<Vec<EventRow>, Error> {
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
        let mut rows = page.rows;
        rows.retain(|row| !self.inner.is_hidden(row));
        Ok(rows)
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
