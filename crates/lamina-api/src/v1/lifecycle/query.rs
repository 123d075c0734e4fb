//! The parameters of the lifecycle stream and list (R309, R310, R313, C20).

use lamina_types::limits::PAGE_DEFAULT_LIFECYCLE;
use lamina_types::{
    BatchId, ErasureId, EventId, ExportId, ImportId, JobId, LifecycleId, ScopePath,
};
use sha2::{Digest, Sha256};

use super::EVENT_NAMES;
use crate::cursor::{self, Mac};
use crate::error::ApiError;
use crate::page::PageStart;
use crate::query::{self, Params};

/// What a reader of lifecycle events wants to see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamQuery {
    /// Events of this scope.
    pub scope: Option<ScopePath>,
    /// Of this memory event.
    pub event_id: Option<EventId>,
    /// Of this job.
    pub job_id: Option<JobId>,
    /// Of this import.
    pub import_id: Option<ImportId>,
    /// Of this export.
    pub export_id: Option<ExportId>,
    /// Of this erasure.
    pub erasure_id: Option<ErasureId>,
    /// Of this bulk write.
    pub batch_id: Option<BatchId>,
    /// Only these names; all if empty. Sorted, without repetition.
    pub events: Vec<&'static str>,
    /// Only what came after this one.
    pub since: Option<LifecycleId>,
}

/// A page of lifecycle events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifecycleQuery {
    /// What to list.
    pub filter: StreamQuery,
    /// At most so many.
    pub limit: usize,
    /// Where the caller says it stopped.
    pub cursor: Option<String>,
}

impl StreamQuery {
    /// Reads decoded query pairs and the `Last-Event-ID` header. The header wins: a browser repeats
    /// the first URL when it reconnects, and the header is what it has seen since.
    pub fn parse(
        pairs: &[(String, String)],
        last_event_id: Option<&str>,
    ) -> Result<StreamQuery, ApiError> {
        let params = Params::new(pairs);
        let since = params.id("since_lifecycle_id")?;
        let last = last_event_id
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(|text| query::id("Last-Event-ID", text))
            .transpose()?;
        Ok(StreamQuery {
            scope: params.scope_opt()?,
            event_id: params.id("event_id")?,
            job_id: params.id("job_id")?,
            import_id: params.id("import_id")?,
            export_id: params.id("export_id")?,
            erasure_id: params.id("erasure_id")?,
            batch_id: params.id("batch_id")?,
            events: events(&params)?,
            since: last.or(since),
        })
    }

    /// Whether only events of jobs are asked for that announce none.
    pub fn asks_for_job(&self) -> bool {
        self.job_id.is_some()
    }
}

fn events(params: &Params<'_>) -> Result<Vec<&'static str>, ApiError> {
    let mut names = params
        .all("events")
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| {
            EVENT_NAMES.iter().copied().find(|known| *known == name).ok_or_else(|| {
                let reason = format!("must be of {}", EVENT_NAMES.join(", "));
                ApiError::invalid_parameter("events", reason)
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

impl LifecycleQuery {
    /// Reads decoded query pairs.
    pub fn parse(pairs: &[(String, String)]) -> Result<LifecycleQuery, ApiError> {
        let params = Params::new(pairs);
        Ok(LifecycleQuery {
            filter: StreamQuery::parse(pairs, None)?,
            limit: params.limit(PAGE_DEFAULT_LIFECYCLE)?,
            cursor: params.one("cursor")?.map(str::to_owned),
        })
    }

    /// What a cursor is bound to: the filters.
    pub fn binding(&self) -> [u8; 32] {
        let StreamQuery {
            scope,
            event_id,
            job_id,
            import_id,
            export_id,
            erasure_id,
            batch_id,
            events,
            since,
        } = &self.filter;
        let ids = (event_id, job_id, import_id, export_id, erasure_id, batch_id);
        // Debug forms of ids and scopes are their wire forms, and none of them contains a quote.
        let text = format!("lifecycle {scope:?} {ids:?} {events:?} {since:?}");
        Sha256::digest(text.as_bytes()).into()
    }

    /// Where the page starts.
    pub fn start(&self, mac: Mac<'_>) -> Result<PageStart, ApiError> {
        cursor::decode(self.cursor.as_deref(), &self.binding(), mac)
    }

    /// The cursor of the page after this position.
    pub fn next_cursor(&self, position: &[u8], mac: Mac<'_>) -> String {
        cursor::encode(position, &self.binding(), mac)
    }
}
