//! The events of one scope by number, with those that were erased: a session that leaves as a whole.
//!
//! Every entry is read from the log and held against its seal, its commitments and its place in the chain
//! of the scope. A scope that does not hold is not exported.

use std::sync::Arc;

use lamina_store::view::EventRow;
use lamina_types::{EventRecord, RecordedAt};

use super::{EXPORT_EVENTS_MAX, ExportPoint};
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::{Engine, Error};

/// An event of a scope, at its number.
#[derive(Debug, Clone)]
pub struct NumberedEvent {
    /// Its number, from 1.
    pub number: u64,
    /// The seal of its entry.
    pub seal: [u8; 32],
    /// When it was recorded.
    pub recorded_at: RecordedAt,
    /// The event; `None` once its words are erased.
    pub record: Option<EventRecord>,
}

/// One page of numbered events.
#[derive(Debug, Clone)]
pub struct NumberedPage {
    /// The events, cancelled ones among them.
    pub items: Vec<NumberedEvent>,
    /// The link that the next page begins behind; `None` at the end.
    pub next: Option<NumberedLink>,
}

/// The place of an event in the chain of its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedLink {
    number: u64,
    position: u64,
    seal: [u8; 32],
}

impl Engine {
    /// One page of the events of the scope of an export, by number. Scopes below it are left alone.
    pub async fn export_numbered(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
        after: Option<NumberedLink>,
    ) -> Result<NumberedPage, Error> {
        self.inner.caught_up().await;
        let (permit, point) = (Arc::clone(permit), point.clone());
        self.blocking(move |inner| inner.export_numbered(&permit, &point, after)).await
    }
}

/// The chain of the scope does not hold.
fn broken() -> Error {
    Error::Undecodable { what: "the chain of a scope" }
}

impl Inner {
    fn export_numbered(
        &self,
        permit: &ReadPermit,
        point: &ExportPoint,
        after: Option<NumberedLink>,
    ) -> Result<NumberedPage, Error> {
        let (tenant, scopes) = self.scopes_of(permit, &point.scope)?;
        let own = self.views.scope_ordinal(tenant, &point.scope)?;
        let Some(scope) = own.filter(|own| scopes.contains(own)) else {
            return Ok(NumberedPage { items: Vec::new(), next: None });
        };
        let last = self.views.last_event_number(tenant, scope)?;
        let mut link = after;
        let mut items = Vec::new();
        while items.len() < EXPORT_EVENTS_MAX {
            let number = link.map_or(0, |link| link.number) + 1;
            if number > last {
                return Ok(NumberedPage { items, next: None });
            }
            let row = self.views.event_by_number(tenant, scope, number)?.ok_or_else(broken)?;
            if row.recorded_at > point.recorded {
                return Ok(NumberedPage { items, next: None });
            }
            items.push(self.numbered(permit, &row, link)?);
            link = Some(NumberedLink { number, position: row.link.seq, seal: row.link.seal });
        }
        Ok(NumberedPage { items, next: link })
    }

    /// Reads an event and checks its place in the chain.
    fn numbered(
        &self,
        permit: &ReadPermit,
        row: &EventRow,
        before: Option<NumberedLink>,
    ) -> Result<NumberedEvent, Error> {
        // The reader has held the head against its seal.
        let head = self.reader.entry(row.offset, row.place)?.head;
        let is_own = head.seal == row.link.seal
            && (head.scope, head.scope_seq) == (row.scope, row.link.seq)
            && head.event_id() == row.id;
        let follows = before.is_none_or(|before| {
            let is_next = row.link.seq == before.position + 1;
            row.link.seq > before.position && (!is_next || head.prev_seal == before.seal)
        });
        if !is_own || !follows {
            return Err(broken());
        }
        let record = match self.is_hidden(row) {
            true => None,
            false => match self.record(row) {
                Ok(record) if permit.covers(&record.experience.scope) => Some(record),
                Ok(_) => return Err(Error::OutsidePermit),
                Err(Error::Deleted) => None,
                Err(error) => return Err(error),
            },
        };
        Ok(NumberedEvent {
            number: row.number,
            seal: row.link.seal,
            recorded_at: row.recorded_at,
            record,
        })
    }
}
