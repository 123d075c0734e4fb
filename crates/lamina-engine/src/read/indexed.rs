//! Holding the search index against the views: which events it lacks, and how one event is in it.

use lamina_core::policy::Permit;
use lamina_index::{Change, Layer, RecordKey};
use lamina_store::kv::Direction;
use lamina_store::view::{EventRow, EventScan};
use lamina_types::capability::{AdminHealth, ScopeReadLocal};
use lamina_types::{EventId, ScopePath};

use crate::admin::Sight;
use crate::engine::Inner;
use crate::index::Search;
use crate::index::document::{self, parts, readable};
use crate::{Engine, Error};

/// Events that are looked at in one audit.
const EVENTS_MAX: u64 = 1_000_000;
/// Events that are looked at together.
const PAGE: usize = 512;
/// Scopes that are looked at.
const SCOPES_MAX: usize = 100_000;
/// Ids of missing events that are told.
const TOLD_MAX: usize = 100;

/// What an audit found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexAudit {
    /// Events that were looked at.
    pub checked: u64,
    /// Those that cannot be found by their words.
    pub missing: u64,
    /// Those that cannot be found by their meaning, though they have one.
    pub unembedded: u64,
    /// The first of them.
    pub examples: Vec<EventId>,
    /// Those that were put in again.
    pub repaired: u64,
    /// Entries that the index has not come to yet; their events are not counted as missing.
    pub behind: u64,
    /// Whether everything was looked at.
    pub complete: bool,
}

/// A part of an event, as it is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Which of its parts, from 0.
    pub number: u32,
    /// Where in the text it stands, in bytes.
    pub bytes: (usize, usize),
    /// The words.
    pub text: String,
    /// Found by words.
    pub lexical: bool,
    /// Found by meaning.
    pub vector: bool,
}

impl Engine {
    /// Looks for events of the tenant that the index lacks, in the scopes in sight or in all of them,
    /// and puts them in again if that is wanted.
    pub async fn index_audit(
        &self,
        permit: &Permit<AdminHealth>,
        sight: Option<Sight<ScopeReadLocal>>,
        scope: Option<ScopePath>,
        repair: bool,
    ) -> Result<IndexAudit, Error> {
        self.inner.caught_up().await;
        let tenant = permit.caller().tenant;
        let look = move |inner: &Inner| inner.index_audit(tenant, sight, scope.as_ref(), repair);
        self.blocking(look).await
    }

    /// How an event is in the index.
    pub async fn chunks(
        &self,
        permit: Permit<ScopeReadLocal>,
        id: EventId,
    ) -> Result<Vec<Chunk>, Error> {
        self.inner.caught_up().await;
        let tenant = permit.caller().tenant;
        self.blocking(move |inner| inner.chunks(tenant, id)).await
    }
}

impl Inner {
    fn index_audit(
        &self,
        tenant: u32,
        mut sight: Option<Sight<ScopeReadLocal>>,
        scope: Option<&ScopePath>,
        repair: bool,
    ) -> Result<IndexAudit, Error> {
        let search = self.search.as_ref().ok_or(Error::NoIndex)?;
        let scopes = match scope {
            Some(scope) => self.views.scopes_below(tenant, scope, None, SCOPES_MAX)?,
            None => self.views.scopes(tenant, None, SCOPES_MAX)?,
        };
        let (end, found) = (self.shared.applied.offset(), search.found.offset());
        let mut audit = IndexAudit {
            behind: end.saturating_sub(found),
            complete: scopes.len() < SCOPES_MAX,
            ..IndexAudit::default()
        };
        for scope in scopes {
            if let Some(sight) = &mut sight
                && !sight.sees(scope)?
            {
                continue;
            }
            let mut after = None;
            loop {
                let page = self.views.event_scan(&EventScan {
                    after,
                    ..EventScan::recorded(tenant, vec![scope], Direction::Forward, PAGE)
                })?;
                let there = page.rows.iter().filter(|row| row.offset < found);
                self.audit_page(search, tenant, there.collect(), repair, &mut audit)?;
                after = page.next;
                if audit.checked >= EVENTS_MAX {
                    audit.complete = false;
                    return Ok(audit);
                }
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(audit)
    }

    fn audit_page(
        &self,
        search: &Search,
        tenant: u32,
        rows: Vec<&EventRow>,
        repair: bool,
        audit: &mut IndexAudit,
    ) -> Result<(), Error> {
        let key = |row: &&EventRow| RecordKey::first(Layer::Event, *row.id.as_bytes());
        let keys: Vec<RecordKey> = rows.iter().map(key).collect();
        let held = search.index.holds(tenant, &keys)?;
        let mut changes = Vec::new();
        for (row, held) in rows.iter().zip(held) {
            audit.checked += 1;
            if held.lexical && held.vector {
                continue;
            }
            let Some(facets) = row.listed() else { continue };
            let entry = self.reader.entry(row.offset, row.place)?;
            let Some(document) = document::of_event(&entry, facets, &|text| search.meaning(text))
            else {
                continue;
            };
            let Some(first) = document.parts.first() else { continue };
            let unembedded = !held.vector && first.vector.is_some();
            if held.lexical && !unembedded {
                continue;
            }
            audit.missing += u64::from(!held.lexical);
            audit.unembedded += u64::from(unembedded);
            if audit.examples.len() < TOLD_MAX {
                audit.examples.push(row.id);
            }
            changes.push(Change::Put(document));
        }
        if repair && !changes.is_empty() {
            // How far the index is does not change: these are entries that it has passed.
            search.index.apply(tenant, &changes, 0)?;
            audit.repaired += changes.len() as u64;
        }
        Ok(())
    }

    fn chunks(&self, tenant: u32, id: EventId) -> Result<Vec<Chunk>, Error> {
        let row = self.event_row(tenant, id)?;
        let event = self.record(&row)?;
        let text = readable(&event.experience.content);
        let parts = parts(&text);
        let key = |part: usize| RecordKey {
            part: u32::try_from(part).unwrap_or(u32::MAX),
            ..RecordKey::first(Layer::Event, *id.as_bytes())
        };
        let keys: Vec<RecordKey> = (0..parts.len()).map(key).collect();
        let held = match &self.search {
            Some(search) => search.index.holds(tenant, &keys)?,
            None => Vec::new(),
        };
        let mut from = 0;
        let mut chunks = Vec::with_capacity(parts.len());
        for (at, part) in parts.into_iter().enumerate() {
            let start =
                text.get(from..).and_then(|rest| rest.find(part)).map_or(from, |by| from + by);
            from = start + part.len();
            let held = held.get(at);
            chunks.push(Chunk {
                number: u32::try_from(at).unwrap_or(u32::MAX),
                bytes: (start, from),
                text: part.to_owned(),
                lexical: held.is_some_and(|held| held.lexical),
                vector: held.is_some_and(|held| held.vector),
            });
        }
        Ok(chunks)
    }
}
